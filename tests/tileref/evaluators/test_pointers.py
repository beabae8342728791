"""Loads and stores of every format through pointers, constants, and claims that hold, against numpy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.tileref.kernels import SHAPES, apply, at, first_of_block, tile
from tests.tileref.operations import operation
from tests.tileref.support import run
from tileref.numerics.formats import FORMATS

STORED = [name for name in FORMATS if name not in ("i4", "f4E2M1FN")]
"""Formats that memory holds: a host's array has a byte for an element of four bits, and so has the interpreter."""
BLOCKS = 3


def random_array(element: str, count: int) -> NDArray[Any]:
    """Any patterns of a format: a copy changes none."""
    data = np.random.default_rng(len(element)).bytes(count * FORMATS[element].dtype.itemsize)
    if element == "i1":
        return np.frombuffer(data, np.uint8) % 2 == 1
    array = np.frombuffer(data, FORMATS[element].dtype).copy()
    if element == "tf32":
        array.view(np.uint32)[:] &= np.uint32(0xFFFF_E000)
    return array


@operation("load_ptr_tko", "store_ptr_tko", oracle="numpy")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("element", STORED)
def test_scattered_copies(element: str, shape: tuple[int, ...]) -> None:
    size = math.prod(shape)
    pointers = tile(shape, f"ptr<{element}>")
    text = f"""
    entry @k(%a: tile<ptr<{element}>>, %i: tile<ptr<i32>>, %m: tile<ptr<i1>>, %b: tile<ptr<{element}>>) {{
      {first_of_block(size)}
      {at("from", "a", element, size)}
      {at("ip", "i", "i32", size)}
      {at("mp", "m", "i1", size)}
      %index, %t0 = load_ptr_tko weak %ip : tile<{size}xptr<i32>> -> tile<{size}xi32>, token
      %on_flat, %t1 = load_ptr_tko weak %mp : tile<{size}xptr<i1>> -> tile<{size}xi1>, token
      %on = reshape %on_flat : tile<{size}xi1> -> {tile(shape, "i1")}
      %b1 = reshape %b : tile<ptr<{element}>> -> tile<1xptr<{element}>>
      %bn = broadcast %b1 : tile<1xptr<{element}>> -> tile<{size}xptr<{element}>>
      %to_flat = offset %bn, %index : tile<{size}xptr<{element}>>, tile<{size}xi32> -> tile<{size}xptr<{element}>>
      %to = reshape %to_flat : tile<{size}xptr<{element}>> -> {pointers}
      %source = reshape %from : tile<{size}xptr<{element}>> -> {pointers}
      %v, %t2 = load_ptr_tko weak %source : {pointers} -> {tile(shape, element)}, token
      %t3 = store_ptr_tko weak %to, %v, %on token = %t2 : {pointers}, {tile(shape, element)}, {tile(shape, "i1")} -> token
      return
    }}
    """
    count = size * BLOCKS
    rng = np.random.default_rng(1)
    source, index, mask = (
        random_array(element, count),
        rng.permutation(count).astype(np.int32),
        rng.random(count) < 0.6,
    )
    target = random_array(element, count)[::-1].copy()
    expected = target.copy()
    expected[index[mask]] = source[mask]
    result = run(text, BLOCKS, [source, index, mask, target])
    assert target.tobytes() == expected.tobytes()
    assert not result.undefined
    assert not result.undefined_elements


@operation("constant", oracle="numpy")
@pytest.mark.parametrize("shape", [(), (4,), (2, 4), (2, 2, 2)], ids=str)
@pytest.mark.parametrize("element", ["i8", "i16", "i32", "i64", "f32", "f64"])
def test_constants(element: str, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(2)
    dtype = FORMATS[element].dtype
    # Dyadic fractions, which decimals spell exactly.
    values = rng.integers(-100, 100, shape) / (8 if element.startswith("f") else 1)
    array = np.asarray(values).astype(dtype)
    spelled = str(array.tolist())
    text = f"constant <{element}: {spelled}> : {{R}}"
    found = apply(text, [np.zeros(2 * math.prod(shape), np.int8)], ["i8"], element, shape).array
    np.testing.assert_array_equal(found.reshape(2, *shape), np.stack([array, array]))


@operation("assume", oracle="numpy")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("predicate", ["div_by<4>", "bounded<-400, 400>", "bounded<?, ?>", "same_elements"])
@pytest.mark.parametrize("element", ["i8", "i16", "i32", "i64"])
def test_a_claim_that_holds_changes_nothing(element: str, predicate: str, shape: tuple[int, ...]) -> None:
    if predicate == "same_elements":
        predicate = f"same_elements<{[1] * len(shape)}>"
    given = (np.arange(-8, 8) * 4).astype(FORMATS[element].dtype)
    found = apply(f"assume {predicate}, %a : {{R}}", [given], [element], shape=shape)
    np.testing.assert_array_equal(found.array, given)
    assert not found.undefined.any()


@operation("assume", oracle="numpy")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_claim_about_addresses(shape: tuple[int, ...]) -> None:
    given = np.arange(16, dtype=np.int64) * 16
    given[5] += 8
    pointers = tile(shape, "ptr<f32>")
    text = (
        f"%p = int_to_ptr %a : {{A}} -> {pointers}\n%q = assume div_by<16>, %p : {pointers}\n"
        f"%r = ptr_to_int %q : {pointers} -> {{R}}"
    )
    found = apply(text, [given], ["i64"], shape=shape)
    np.testing.assert_array_equal(found.array, given)
    np.testing.assert_array_equal(found.undefined, given % 16 != 0)


@operation("assert", oracle="written")
def test_an_assertion_of_a_scalar() -> None:
    text = """
    entry @k(%n: tile<i32>) {
      %x, %y, %z = get_tile_block_id : tile<i32>
      %c = cmpi less_than %x, %n, signed : tile<i32> -> tile<i1>
      assert %c, "a block too many" : tile<i1>
      return
    }
    """
    found = run(text, 4, [3]).assertions
    assert [(a.block, a.lane) for a in found] == [((3, 0, 0), ())]
