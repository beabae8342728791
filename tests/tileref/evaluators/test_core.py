"""Shape operations against numpy's own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tileir
import tileref
from tests.tileref.operations import operation
from tests.tileref.support import pointers, run

powers = st.sampled_from([1, 2, 4])
shapes = st.lists(powers, min_size=1, max_size=3).map(tuple)


def shown(shape: tuple[int, ...], element: str = "i32") -> str:
    return f"tile<{''.join(f'{d}x' for d in shape)}{element}>"


def unary(body: str, before: tuple[int, ...], after: tuple[int, ...]) -> str:
    """A kernel that reads ``%x`` of one shape, computes ``%r`` of another and writes it."""
    n, m = math.prod(before), math.prod(after)
    return f"""
    entry @k(%a: tile<ptr<i32>>, %b: tile<ptr<i32>>, %i: tile<i32>, %j: tile<i32>, %l: tile<i32>) {{
      %la = iota : tile<{n}xi32>
      %lb = iota : tile<{m}xi32>
      {pointers("a", "from", "i32", n, "la")}
      {pointers("b", "to", "i32", m, "lb")}
      %v, %t = load_ptr_tko weak %from : tile<{n}xptr<i32>> -> tile<{n}xi32>, token
      %x = reshape %v : tile<{n}xi32> -> {shown(before)}
      {body}
      %w = reshape %r : {shown(after)} -> tile<{m}xi32>
      %u = store_ptr_tko weak %to, %w token = %t : tile<{m}xptr<i32>>, tile<{m}xi32> -> token
      return
    }}
    """


def apply(body: str, before: tuple[int, ...], after: tuple[int, ...], index: Any = (0, 0, 0)) -> Any:
    source = np.arange(math.prod(before), dtype=np.int32) + 1
    out = np.zeros(math.prod(after), np.int32)
    result = run(unary(body, before, after), 1, [source, out, *index])
    return source.reshape(before), out.reshape(after), result


@operation("permute", oracle="numpy")
@settings(max_examples=40, deadline=None)
@given(shapes, st.data())
def test_permute(shape: tuple[int, ...], data: st.DataObject) -> None:
    if len(shape) < 2:
        return
    order = data.draw(st.permutations(range(len(shape))))
    after = tuple(shape[d] for d in order)
    body = f"%r = permute %x [{', '.join(map(str, order))}] : {shown(shape)} -> {shown(after)}"
    source, out, _ = apply(body, shape, after)
    np.testing.assert_array_equal(out, source.transpose(order))


@operation("broadcast", oracle="numpy")
@settings(max_examples=40, deadline=None)
@given(shapes, st.data())
def test_broadcast(shape: tuple[int, ...], data: st.DataObject) -> None:
    after = tuple(data.draw(powers) if d == 1 else d for d in shape)
    body = f"%r = broadcast %x : {shown(shape)} -> {shown(after)}"
    source, out, _ = apply(body, shape, after)
    np.testing.assert_array_equal(out, np.broadcast_to(source, after))


@operation("extract", "insert", oracle="numpy")
@settings(max_examples=60, deadline=None)
@given(shapes, st.data())
def test_extract_and_insert(shape: tuple[int, ...], data: st.DataObject) -> None:
    part = tuple(data.draw(st.sampled_from([p for p in (1, 2, 4) if d % p == 0])) for d in shape)
    numbers = [data.draw(st.integers(0, d // p)) for d, p in zip(shape, part, strict=True)]
    there = all(n < d // p for n, d, p in zip(numbers, shape, part, strict=True))
    names = ", ".join(("%i", "%j", "%l")[: len(shape)])
    index = [*numbers, 0, 0][:3]
    body = f"%r = extract %x[{names}] : {shown(shape)} -> {shown(part)}"
    source, out, result = apply(body, shape, part, index)
    where = tuple(slice(n * p, n * p + p) for n, p in zip(numbers, part, strict=True))
    if there:
        np.testing.assert_array_equal(out, source[where])
        assert not result.undefined_elements
    else:
        assert result.undefined_elements[1].all()

    body = f"""
      %c = constant <i32: -5> : {shown(part)}
      %r = insert %c, %x[{names}] : {shown(part)}, {shown(shape)}
    """
    source, out, result = apply(body, shape, shape, index)
    if there:
        expected = source.copy()
        expected[where] = -5
        np.testing.assert_array_equal(out, expected)
    else:
        assert result.undefined_elements[1].all()


@operation("cat", oracle="numpy")
@settings(max_examples=30, deadline=None)
@given(shapes, st.data())
def test_cat(shape: tuple[int, ...], data: st.DataObject) -> None:
    dim = data.draw(st.integers(0, len(shape) - 1))
    after = tuple(2 * d if k == dim else d for k, d in enumerate(shape))
    body = f"""
      %c = constant <i32: 7> : {shown(shape)}
      %r = cat %x, %c dim = {dim} : {shown(shape)}, {shown(shape)} -> {shown(after)}
    """
    source, out, _ = apply(body, shape, after)
    np.testing.assert_array_equal(out, np.concatenate([source, np.full_like(source, 7)], dim))


@operation("iota", oracle="numpy")
@pytest.mark.parametrize(("element", "count"), [("i1", 2), ("i8", 128), ("i16", 16), ("i32", 16), ("i64", 4)])
def test_iota(element: str, count: int) -> None:
    text = f"""
    entry @k(%b: tile<ptr<{element}>>) {{
      %l = iota : tile<{count}xi32>
      %v = iota : tile<{count}x{element}>
      {pointers("b", "to", element, count, "l")}
      %u = store_ptr_tko weak %to, %v : tile<{count}xptr<{element}>>, tile<{count}x{element}> -> token
      return
    }}
    """
    dtype = {"i1": np.uint8, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}[element]
    out = np.full(count, 99, dtype)
    run(text, 1, [out])
    np.testing.assert_array_equal(out, np.arange(count))


@operation("select", oracle="written")
def test_select_needs_a_value_of_the_chosen_lane_alone() -> None:
    body = """
      %zero = constant <i32: 0> : tile<4xi32>
      %two = constant <i32: 2> : tile<4xi32>
      %ten = constant <i32: 10> : tile<4xi32>
      %d = subi %x, %two : tile<4xi32>
      %q = divi %ten, %d signed : tile<4xi32>
      %safe = cmpi not_equal %d, %zero, signed : tile<4xi32> -> tile<4xi1>
      %r = select %safe, %q, %ten : tile<4xi1>, tile<4xi32>
    """
    _, out, result = apply(body, (4,), (4,))
    np.testing.assert_array_equal(out, [-10, 10, 10, 5])
    assert not result.undefined_elements
    _, _, result = apply(body.replace("%safe, %q, %ten", "%safe, %ten, %q"), (4,), (4,))
    np.testing.assert_array_equal(result.undefined_elements[1], [False, True, False, False])
    _, _, result = apply(
        body.replace("%r = select", "%r0 = select") + "\n%r = addi %q, %x : tile<4xi32>", (4,), (4,)
    )
    np.testing.assert_array_equal(result.undefined_elements[1], [False, True, False, False])


FLOATS = ["f64", "f32", "tf32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "f4E2M1FN"]


@operation("constant", oracle="written")
@pytest.mark.parametrize("splat", [False, True])
@pytest.mark.parametrize("element", [*FLOATS, "f8E8M0FNU", "i64", "i32", "i16", "i8", "i4"])
def test_a_constant_of_every_format_has_its_value(element: str, splat: bool) -> None:
    """Values that every format holds, written as text, sent through bytecode, and widened by a conversion."""
    kinds = {"f8E8M0FNU": [0.5, 1.0, 2.0, 4.0]}
    values = kinds.get(element, [1.0, -1.5, 4.0, -0.5] if element in FLOATS else [1, -3, 7, -8])
    written = values[1] if splat else values
    wide = "f64" if "f" in element else "i64"
    if element == wide:
        convert = f"%w = reshape %c : tile<4x{element}> -> tile<4x{wide}>"
    elif wide == "f64":
        convert = f"%w = ftof %c rounding<nearest_even> : tile<4x{element}> -> tile<4xf64>"
    else:
        convert = f"%w = exti %c signed : tile<4x{element}> -> tile<4xi64>"
    module = tileir.parse(f"""
    entry @k(%a: tile<ptr<{wide}>>) {{
      %la = iota : tile<4xi32>
      {pointers("a", "to", wide, 4, "la")}
      %c = constant <{element}: {written}> : tile<4x{element}>
      {convert}
      %u = store_ptr_tko weak %to, %w : tile<4xptr<{wide}>>, tile<4x{wide}> -> token
      return
    }}
    """)
    out = np.zeros(4, np.float64 if wide == "f64" else np.int64)
    tileref.launch(tileir.write(module, version=module.version), 1, [out])
    np.testing.assert_array_equal(out, [written] * 4 if splat else values)


@operation("reshape", oracle="numpy")
@settings(max_examples=30, deadline=None)
@given(shapes, st.data())
def test_reshape(shape: tuple[int, ...], data: st.DataObject) -> None:
    size = math.prod(shape)
    rank = data.draw(st.integers(1, 4))
    after = [1] * rank
    while math.prod(after) < size:
        after[data.draw(st.integers(0, rank - 1))] *= 2
    body = f"%r = reshape %x : {shown(shape)} -> {shown(tuple(after))}"
    source, out, _ = apply(body, shape, tuple(after))
    np.testing.assert_array_equal(out, source.reshape(after))


@operation("reshape", "broadcast", oracle="numpy")
def test_a_scalar_becomes_a_tile() -> None:
    body = "%n = reshape %x : tile<1xi32> -> tile<i32>\n%m = reshape %n : tile<i32> -> tile<1x1xi32>\n"
    body += "%r = broadcast %m : tile<1x1xi32> -> tile<2x4xi32>"
    _, out, _ = apply(body, (1,), (2, 4))
    np.testing.assert_array_equal(out, np.ones((2, 4)))
