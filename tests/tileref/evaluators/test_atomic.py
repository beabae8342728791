"""Atomic operations against the same operations one lane after the other in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.tileref.kernels import at, bits, first_of_block, tile
from tests.tileref.numerics import hard, oracle
from tests.tileref.operations import operation
from tests.tileref.support import run
from tileref.numerics.formats import FORMATS, FloatFormat

LANES, CELLS, BLOCKS = 16, 8, 3
DTYPES = {name: FORMATS[name].dtype for name in ("i32", "i64", "f16", "bf16", "f32", "f64")}


def text_of(operation_text: str, element: str, values: str) -> str:
    """A kernel whose lanes go to cells that ``%i`` names, where ``%m`` is true; ``%out`` is what they found."""
    loads = "".join(
        at(f"{v}_s", f"p{v}", element, LANES)
        + f"%{v}, %{v}_t = load_ptr_tko weak %{v}_s : tile<{LANES}xptr<{element}>> -> tile<{LANES}x{element}>, token\n"
        for v in values
    )
    parameters = ", ".join(f"%p{v}: tile<ptr<{element}>>" for v in values)
    return f"""
    entry @k(%mem: tile<ptr<{element}>>, %i: tile<ptr<i32>>, %m: tile<ptr<i1>>, {parameters}, %out: tile<ptr<{element}>>) {{
      {first_of_block(LANES)}
      {at("ip", "i", "i32", LANES)}
      {at("mp", "m", "i1", LANES)}
      {at("to", "out", element, LANES)}
      {loads}
      %index, %t0 = load_ptr_tko weak %ip : tile<{LANES}xptr<i32>> -> tile<{LANES}xi32>, token
      %on, %t1 = load_ptr_tko weak %mp : tile<{LANES}xptr<i1>> -> tile<{LANES}xi1>, token
      %c1 = reshape %mem : tile<ptr<{element}>> -> tile<1xptr<{element}>>
      %cn = broadcast %c1 : tile<1xptr<{element}>> -> tile<{LANES}xptr<{element}>>
      %cells = offset %cn, %index : tile<{LANES}xptr<{element}>>, tile<{LANES}xi32> -> tile<{LANES}xptr<{element}>>
      %was, %t2 = {operation_text}
      %t3 = store_ptr_tko weak %to, %was token = %t2 : tile<{LANES}xptr<{element}>>, tile<{LANES}x{element}> -> token
      return
    }}
    """


def check(
    text: str,
    element: str,
    memory: NDArray[Any],
    operands: list[NDArray[Any]],
    step: Callable[..., int],
    *,
    masked: bool,
    hidden: Callable[[int], int] | None = None,
) -> None:
    """Memory and what was found are those of ``step(old, *operands)`` lane by lane, on patterns.

    ``hidden`` gives what a lane answers that does not take part; None: it has no value.
    """
    rng = np.random.default_rng(11)
    index = rng.integers(0, CELLS, LANES * BLOCKS).astype(np.int32)
    mask = rng.random(LANES * BLOCKS) < 0.7
    found, cells = np.zeros(LANES * BLOCKS, DTYPES[element]), memory.copy()
    result = run(text, BLOCKS, [cells, index, mask, *operands, found], model="spec")
    expected_cells = [int(v) for v in bits(memory)]
    expected: list[int | None] = []
    for lane in range(LANES * BLOCKS):
        if masked and not mask[lane]:
            expected.append(None if hidden is None else hidden(lane))
            continue
        old = expected_cells[index[lane]]
        expected.append(old)
        expected_cells[index[lane]] = step(old, *(int(bits(o)[lane]) for o in operands))
    assert [int(v) for v in bits(cells)] == expected_cells
    unknown = result.undefined_elements.get(4 + len(operands) - 1, np.zeros(found.shape, np.bool_))
    assert unknown.tolist() == [e is None for e in expected]
    assert [int(v) for v, e in zip(bits(found), expected, strict=True) if e is not None] == [
        e for e in expected if e is not None
    ]
    assert not result.undefined


def signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) else value


MODES: dict[str, Callable[[int, int, int], int]] = {
    "and": lambda a, b, _w: a & b,
    "or": lambda a, b, _w: a | b,
    "xor": lambda a, b, _w: a ^ b,
    "add": lambda a, b, w: (a + b) % (1 << w),
    "max": lambda a, b, w: max(a, b, key=lambda v: signed(v, w)),
    "min": lambda a, b, w: min(a, b, key=lambda v: signed(v, w)),
    "umax": lambda a, b, _w: max(a, b),
    "umin": lambda a, b, _w: min(a, b),
    "xchg": lambda _a, b, _w: b,
}


@operation("atomic_rmw_tko", oracle="numpy")
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("element", ["i32", "i64"])
@pytest.mark.parametrize("mode", MODES)
def test_integers(mode: str, element: str, masked: bool) -> None:
    width = FORMATS[element].width
    rng = np.random.default_rng(12)
    memory, values = (
        np.frombuffer(rng.bytes(n * width // 8), DTYPES[element]).copy() for n in (CELLS, LANES * BLOCKS)
    )
    tail, types = (", %on", f", tile<{LANES}xi1>") if masked else ("", "")
    text = (
        f"atomic_rmw_tko relaxed device %cells, {mode}, %v{tail} : tile<{LANES}xptr<{element}>>, "
        f"tile<{LANES}x{element}>{types} -> tile<{LANES}x{element}>, token"
    )
    step = MODES[mode]
    check(
        text_of(text, element, "v"), element, memory, [values], lambda a, b: step(a, b, width), masked=masked
    )


@operation("atomic_rmw_tko", oracle="exact")
@pytest.mark.parametrize(
    ("element", "mode"),
    [("f16", "addf"), ("bf16", "addf"), ("f32", "addf"), ("f64", "addf"), ("f32", "xchg"), ("f64", "xchg")],
)
def test_floats(element: str, mode: str) -> None:
    fmt = FORMATS[element]
    assert isinstance(fmt, FloatFormat)
    rng = np.random.default_rng(13)
    values = hard.values(fmt, rng, LANES * BLOCKS)
    memory = rng.normal(0, 1, CELLS).astype(fmt.dtype)

    def step(old: int, new: int) -> int:
        if mode == "xchg":
            return new
        total = oracle.add(oracle.decode(old, element), oracle.decode(new, element), "nearest_even")
        return oracle.encode(total, element, "nearest_even")

    text = (
        f"atomic_rmw_tko acq_rel sys %cells, {mode}, %v : tile<{LANES}xptr<{element}>>, "
        f"tile<{LANES}x{element}> -> tile<{LANES}x{element}>, token"
    )
    check(text_of(text, element, "v"), element, memory, [values], step, masked=False)


@operation("atomic_cas_tko", oracle="numpy")
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("element", ["i32", "i64", "f32", "f64"])
def test_compare_and_swap(element: str, masked: bool) -> None:
    rng = np.random.default_rng(14)
    # Few values, so that many comparisons hold; zeros of both signs are different patterns.
    few = np.array([0, 1, 2, -1], DTYPES[element])
    if element.startswith("f"):
        few[3] = -0.0
    memory, expected, wanted = (rng.choice(few, n) for n in (CELLS, LANES * BLOCKS, LANES * BLOCKS))
    tail, types = (", %on", f", tile<{LANES}xi1>") if masked else ("", "")
    text = (
        f"atomic_cas_tko relaxed device %cells, %c, %w{tail} : tile<{LANES}xptr<{element}>>, "
        f"tile<{LANES}x{element}>{types} -> tile<{LANES}x{element}>, token"
    )
    check(
        text_of(text, element, "cw"),
        element,
        memory,
        [expected, wanted],
        lambda old, compared, new: new if old == compared else old,
        masked=masked,
        # A lane that is masked off answers what it would have compared with.
        hidden=lambda lane: int(bits(expected)[lane]),
    )


@operation("atomic_red_view_tko", oracle="numpy")
@pytest.mark.parametrize("strided", [False, True])
@pytest.mark.parametrize("element", ["i32", "i64"])
@pytest.mark.parametrize("mode", [m for m in MODES if m != "xchg"])
def test_reduction_into_a_view(mode: str, element: str, strided: bool) -> None:
    tensor = f"tensor_view<6x8x{element}, strides=[8,1]>"
    kind = "strided_view" if strided else "partition_view"
    # Tiles that start two columns apart overlap: what one adds the next finds.
    step = 2 if strided else 4
    view = f"{kind}<tile=(4x4), {f'traversal_strides=[4,{step}], ' if strided else ''}{tensor}>"
    text = f"""
    entry @k(%mem: tile<ptr<{element}>>, %v: tile<ptr<{element}>>) {{
      {first_of_block(16)}
      {at("from", "v", element, 16)}
      %flat, %t = load_ptr_tko weak %from : tile<16xptr<{element}>> -> tile<16x{element}>, token
      %value = reshape %flat : tile<16x{element}> -> tile<4x4x{element}>
      %tensor = make_tensor_view %mem, shape = [6, 8], strides = [8, 1] : {tensor}
      %view = make_{kind} %tensor : {view}
      %one = constant <i32: 1> : tile<i32>
      %row = andi %x, %one : tile<i32>
      %column = shri %x, %one unsigned : tile<i32>
      %u = atomic_red_view_tko relaxed device %view[%row, %column], {mode}, %value token = %t
        : tile<4x4x{element}>, {view}, tile<i32> -> token
      return
    }}
    """
    width = FORMATS[element].width
    rng = np.random.default_rng(15)
    blocks = 4
    memory = np.frombuffer(rng.bytes(48 * width // 8), DTYPES[element]).copy().reshape(6, 8)
    values = np.frombuffer(rng.bytes(16 * blocks * width // 8), DTYPES[element]).reshape(blocks, 4, 4)
    expected = bits(memory).astype(object).reshape(6, 8)
    for block in range(blocks):
        for r, c in np.ndindex(4, 4):
            row, column = (block & 1) * 4 + r, (block >> 1) * step + c
            if row < 6 and column < 8:
                new = int(bits(values[block])[r, c])
                expected[row, column] = MODES[mode](int(expected[row, column]), new, width)
    result = run(text, blocks, [memory, values.copy()])
    assert bits(memory).astype(object).tolist() == expected.tolist()
    assert not result.undefined


@operation("atomic_red_view_tko", oracle="written")
@pytest.mark.parametrize("scope", ["tl_blk", "device"])
@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64"])
def test_floats_are_added_into_a_view(element: str, scope: str) -> None:
    view = "partition_view<tile=(4), tensor_view<6xf32, strides=[1]>>"
    text = f"""
    entry @k(%mem: tile<ptr<f32>>, %x: tile<f32>) {{
      %b, %by, %bz = get_tile_block_id : tile<i32>
      %tensor = make_tensor_view %mem, shape = [6], strides = [1] : tensor_view<6xf32, strides=[1]>
      %view = make_partition_view %tensor : {view}
      %one = reshape %x : tile<f32> -> tile<1xf32>
      %v = broadcast %one : tile<1xf32> -> tile<4xf32>
      %u = atomic_red_view_tko relaxed {scope} %view[%b], addf, %v : tile<4xf32>, {view}, tile<i32> -> token
      return
    }}
    """
    memory = np.array([1, 2, 3, 4, 5, 6, 99, 99]).astype(FORMATS[element].dtype)
    run(text.replace("f32", element), 2, [memory[:6], 0.5])
    assert memory.astype(np.float64).tolist() == [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 99, 99]


@operation("atomic_rmw_tko", "atomic_cas_tko", oracle="written")
@pytest.mark.parametrize("shape", [(), (2, 2)], ids=str)
def test_in_other_shapes(shape: tuple[int, ...]) -> None:
    size = int(np.prod(shape))
    values, pointers = tile(shape, "i32"), tile(shape, "ptr<i32>")
    text = f"""
    entry @k(%mem: tile<ptr<i32>>, %out: tile<ptr<i32>>) {{
      {first_of_block(size)}
      %zero = constant <i32: 0> : tile<i32>
      {at("flat", "mem", "i32", size, "zero")}
      {at("to", "out", "i32", size)}
      %cells = reshape %flat : tile<{size}xptr<i32>> -> {pointers}
      %one = constant <i32: 1> : {values}
      %two = constant <i32: 2> : {values}
      %was, %t1 = atomic_rmw_tko relaxed device %cells, add, %one : {pointers}, {values} -> {values}, token
      %saw, %t2 = atomic_cas_tko relaxed device %cells, %two, %one token=%t1 : {pointers}, {values} -> {values}, token
      %d = addi %was, %saw : {values}
      %r = reshape %d : {values} -> tile<{size}xi32>
      %t3 = store_ptr_tko weak %to, %r token = %t2 : tile<{size}xptr<i32>>, tile<{size}xi32> -> token
      return
    }}
    """
    memory, out = np.zeros(size, np.int32), np.zeros(2 * size, np.int32)
    run(text, 2, [memory, out])
    # Whoever comes second makes two of one, and one of the two makes one of it again.
    assert memory.tolist() == [1] * size
    assert sorted(out.reshape(2, size)[:, 0].tolist()) in ([1, 3], [2, 2])
    assert (out.reshape(2, size) == out.reshape(2, size)[:, :1]).all()
