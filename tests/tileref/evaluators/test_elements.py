"""Operations that move elements, with elements of every format, pointers among them, against numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.tileref.evaluators.test_pointers import STORED, random_array
from tests.tileref.kernels import apply, at, first_of_block
from tests.tileref.operations import operation
from tests.tileref.support import run
from tileref.numerics.formats import FORMATS

Move = Callable[[NDArray[Any]], NDArray[Any]]

MOVES: list[tuple[str, str, tuple[int, ...], tuple[int, ...], Move]] = [
    ("reshape", "%r = reshape {x} : {X} -> {Y}", (4, 2), (2, 2, 2), lambda a: a.reshape(2, 2, 2)),
    ("permute", "%r = permute {x} [1, 0] : {X} -> {Y}", (4, 2), (2, 4), lambda a: a.T),
    ("broadcast", "%r = broadcast {x} : {X} -> {Y}", (4, 1), (4, 2), lambda a: np.repeat(a, 2, 1)),
    ("cat", "%r = cat {x}, {x} dim = 1 : {X}, {X} -> {Y}", (4, 2), (4, 4), lambda a: np.tile(a, 2)),
    ("extract", "%i = constant <i32: 1> : tile<i32>\n%r = extract {x}[%i, %i] : {X} -> {Y}",
     (4, 4), (2, 2), lambda a: a[2:, 2:]),
    ("insert", "%i = constant <i32: 1> : tile<i32>\n%j = constant <i32: 0> : tile<i32>\n"
     "%part = extract {x}[%j, %j] : {X} -> tile<2x2x{E}>\n%r = insert %part, {x}[%i, %i] : tile<2x2x{E}>, {Y}",
     (4, 4), (4, 4), lambda a: np.block([[a[:2, :2], a[:2, 2:]], [a[2:, :2], a[:2, :2]]])),
    ("select", "%c = constant <i1: [[true, false], [false, true], [true, true], [false, false]]> : tile<4x2xi1>\n"
     "%same = permute {x} [0, 1] : {X} -> {X}\n%w = reshape {x} : {X} -> tile<8x{E}>\n"
     "%o = reshape %w : tile<8x{E}> -> tile<2x4x{E}>\n%t4 = permute %o [1, 0] : tile<2x4x{E}> -> {X}\n"
     "%r = select %c, %same, %t4 : tile<4x2xi1>, {Y}",
     (4, 2), (4, 2),
     lambda a: np.where([[True, False], [False, True], [True, True], [False, False]], a, a.reshape(2, 4).T)),
]  # fmt: skip
EVERY_MOVE = pytest.mark.parametrize(
    ("text", "shape", "after", "move"),
    [pytest.param(*rest, marks=operation(name, oracle="numpy"), id=name) for name, *rest in MOVES],
)


def spelled(shape: tuple[int, ...], element: str) -> str:
    return f"tile<{'x'.join(map(str, shape))}x{element}>"


def expected(move: Move, given: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    return np.concatenate([move(block).reshape(-1) for block in given.reshape(-1, *shape)])


@EVERY_MOVE
@pytest.mark.parametrize("element", STORED)
def test_moved(text: str, shape: Any, after: Any, move: Move, element: str) -> None:
    given = random_array(element, 2 * int(np.prod(shape)))
    body = text.replace("{x}", "%a").replace("{X}", "{A}").replace("{Y}", "{R}").replace("{E}", element)
    found = apply(body, [given], [element], element, shape, after).array
    bits = given.view(f"u{given.dtype.itemsize}")
    assert found.tobytes() == expected(move, bits, shape).tobytes()


@EVERY_MOVE
@pytest.mark.parametrize("element", ["i4", "f4E2M1FN"])
def test_four_bits_moved(text: str, shape: Any, after: Any, move: Move, element: str) -> None:
    codes = np.random.default_rng(1).integers(0, 16, 2 * int(np.prod(shape))).astype(np.int8)
    # Four bits on the way in and out: of integers by truncation, of floats by way of their bits.
    size = spelled(shape, "i4")
    narrow = f"%n = trunci %a : {{A}} -> {size}"
    x, back = "%n", "%r"
    if element != "i4":
        narrow += f"\n%f = bitcast %n : {size} -> {spelled(shape, element)}"
        x, back = "%f", "%g"
    moved = (
        text.replace("{x}", x).replace("{X}", spelled(shape, element)).replace("{Y}", spelled(after, element))
    )
    moved = moved.replace("{E}", element).replace("%r = ", "%moved = ")
    wide = (
        ""
        if element == "i4"
        else f"%g = bitcast %moved : {spelled(after, element)} -> {spelled(after, 'i4')}\n"
    )
    source = "%moved" if element == "i4" else back
    body = f"{narrow}\n{moved}\n{wide}%r = exti {source} unsigned : {spelled(after, 'i4')} -> {{R}}"
    found = apply(body, [codes], ["i8"], "i8", shape, after).array
    np.testing.assert_array_equal(found, expected(move, codes, shape))


@EVERY_MOVE
def test_pointers_moved(text: str, shape: Any, after: Any, move: Move) -> None:
    given = np.arange(2 * int(np.prod(shape)), dtype=np.int64) * 4 + 4096
    size, pointers = spelled(shape, "ptr<f32>"), spelled(after, "ptr<f32>")
    moved = text.replace("{x}", "%p").replace("{X}", size).replace("{Y}", pointers).replace("{E}", "ptr<f32>")
    body = (
        f"%p = int_to_ptr %a : {{A}} -> {size}\n{moved.replace('%r = ', '%moved = ')}\n"
        f"%r = ptr_to_int %moved : {pointers} -> {{R}}"
    )
    found = apply(body, [given], ["i64"], "i64", shape, after).array
    np.testing.assert_array_equal(found, expected(move, given, shape))


ORDERINGS = {
    "load": ("weak", "relaxed device", "relaxed sys", "relaxed tl_blk", "acquire device", "acquire sys", "acquire tl_blk"),
    "store": ("weak", "relaxed device", "relaxed sys", "relaxed tl_blk", "release device", "release sys", "release tl_blk"),
}  # fmt: skip
ALL_ORDERINGS = [(load, store) for load, store in zip(ORDERINGS["load"], ORDERINGS["store"], strict=True)]


def copied(element: str, load: str = "weak", store: str = "weak", index: str = "i32") -> str:
    """A kernel that copies tiles of 2x4 elements from one tensor view to another, whose padding is never stored."""
    tensor = f"tensor_view<4x6x{element}, strides=[6,1]>"
    # A format without a zero has no such padding; what lies outside is not stored anyway.
    padding = "" if element == "f8E8M0FNU" else "padding_value = zero, "
    view = f"partition_view<tile=(2x4), {padding}{tensor}>"
    narrow = (
        "reshape %x : tile<i32> -> tile<i32>" if index == "i32" else f"trunci %x : tile<i32> -> tile<{index}>"
    )
    if index == "i64":
        narrow = "exti %x unsigned : tile<i32> -> tile<i64>"
    return f"""
    entry @k(%a: tile<ptr<{element}>>, %b: tile<ptr<{element}>>) {{
      %x, %y, %z = get_tile_block_id : tile<i32>
      %n = {narrow}
      %one = constant <{index}: 1> : tile<{index}>
      %row = andi %n, %one : tile<{index}>
      %column = shri %n, %one unsigned : tile<{index}>
      %ta = make_tensor_view %a, shape = [4, 6], strides = [6, 1] : {tensor}
      %tb = make_tensor_view %b, shape = [4, 6], strides = [6, 1] : {tensor}
      %va = make_partition_view %ta : {view}
      %vb = make_partition_view %tb : {view}
      %none = make_token : token
      %v, %t = load_view_tko {load} %va[%row, %column] token = %none : {view}, tile<{index}> -> tile<2x4x{element}>, token
      %u = store_view_tko {store} %v, %vb[%row, %column] token = %t : tile<2x4x{element}>, {view}, tile<{index}> -> token
      return
    }}
    """


@operation("load_view_tko", "store_view_tko", "make_tensor_view", "make_partition_view", oracle="numpy")
@pytest.mark.parametrize("element", STORED)
def test_tiles_of_every_format_are_copied(element: str) -> None:
    source, target = random_array(element, 24), np.zeros(24, FORMATS[element].dtype)
    result = run(copied(element), 4, [source, target])
    assert target.tobytes() == source.tobytes()
    assert not result.undefined


@operation("load_view_tko", "store_view_tko", oracle="numpy")
@pytest.mark.parametrize(("load", "store"), ALL_ORDERINGS)
def test_an_ordering_changes_no_value_of_a_view(load: str, store: str) -> None:
    source, target = random_array("f32", 24), np.zeros(24, np.float32)
    assert not run(copied("f32", load, store), 4, [source, target]).undefined
    assert target.tobytes() == source.tobytes()


@operation("load_view_tko", "store_view_tko", oracle="numpy")
@pytest.mark.parametrize("index", ["i8", "i16", "i32", "i64"])
def test_indices_of_every_width(index: str) -> None:
    source, target = random_array("f32", 24), np.zeros(24, np.float32)
    assert not run(copied("f32", index=index), 4, [source, target]).undefined
    assert target.tobytes() == source.tobytes()


@operation("load_ptr_tko", "store_ptr_tko", oracle="numpy")
@pytest.mark.parametrize(("load", "store"), ALL_ORDERINGS)
def test_an_ordering_changes_no_value_behind_a_pointer(load: str, store: str) -> None:
    text = f"""
    entry @k(%a: tile<ptr<i16>>, %b: tile<ptr<i16>>) {{
      {first_of_block(8)}
      {at("from", "a", "i16", 8)}
      {at("to", "b", "i16", 8)}
      %v, %t = load_ptr_tko {load} %from : tile<8xptr<i16>> -> tile<8xi16>, token
      %u = store_ptr_tko {store} %to, %v token = %t : tile<8xptr<i16>>, tile<8xi16> -> token
      return
    }}
    """
    source, target = random_array("i16", 24), np.zeros(24, np.int16)
    assert not run(text, 3, [source, target]).undefined
    np.testing.assert_array_equal(target, source)


@operation("atomic_rmw_tko", "atomic_cas_tko", oracle="numpy")
@pytest.mark.parametrize("scope", ["tl_blk", "device", "sys"])
@pytest.mark.parametrize("ordering", ["relaxed", "acquire", "release", "acq_rel"])
def test_an_ordering_changes_no_value_of_an_atomic(ordering: str, scope: str) -> None:
    how = f"{ordering} {scope}"
    text = f"""
    entry @k(%a: tile<ptr<i32>>, %b: tile<ptr<i32>>) {{
      {first_of_block(4)}
      {at("cells", "a", "i32", 4)}
      {at("to", "b", "i32", 4)}
      %five = constant <i32: 5> : tile<4xi32>
      %nine = constant <i32: 9> : tile<4xi32>
      %none = make_token : token
      %was, %t = atomic_rmw_tko {how} %cells, add, %five token=%none : tile<4xptr<i32>>, tile<4xi32> -> tile<4xi32>, token
      %saw, %t2 = atomic_cas_tko {how} %cells, %nine, %five token=%t : tile<4xptr<i32>>, tile<4xi32> -> tile<4xi32>, token
      %d = subi %saw, %was : tile<4xi32>
      %u = store_ptr_tko weak %to, %d token = %t2 : tile<4xptr<i32>>, tile<4xi32> -> token
      return
    }}
    """
    memory, out = np.arange(8, dtype=np.int32), np.zeros(8, np.int32)
    assert not run(text, 2, [memory, out]).undefined
    # Where the sum is nine, five takes its place.
    np.testing.assert_array_equal(memory, np.where(np.arange(8) + 5 == 9, 5, np.arange(8) + 5))
    np.testing.assert_array_equal(out, np.full(8, 5))


@operation("for", "continue", oracle="numpy")
@pytest.mark.parametrize("element", ["i8", "i16", "i64"])
@pytest.mark.parametrize("unsigned", [False, True])
def test_loops_that_count_in_every_width(element: str, unsigned: bool) -> None:
    flag = " unsigned" if unsigned else ""
    text = f"""
      %low = constant <{element}: 3> : tile<{element}>
      %step = constant <{element}: 2> : tile<{element}>
      %zero = constant <{element}: 0> : tile<{element}>
      %r = for{flag} %i in (%low to %a, step %step) : tile<{element}> iter_values(%s = %zero) -> (tile<{element}>) {{{{
        %t1 = addi %s, %i : tile<{element}>
        continue %t1 : tile<{element}>
      }}}}"""
    bounds = np.array([0, 3, 4, 5, 11, 12, -5, 2], FORMATS[element].dtype)
    if unsigned:
        bounds[6] = 13
    found = apply(text, [bounds], [element], element, ()).array
    np.testing.assert_array_equal(found, [sum(range(3, int(b), 2)) for b in bounds])
