"""Memory that is nobody's argument, and the tokens that order accesses: globals, allocations, fences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileir
import tileref
from tests.tileref.evaluators.test_pointers import STORED, random_array
from tests.tileref.kernels import at, first_of_block
from tests.tileref.operations import operation
from tests.tileref.support import run
from tileref.numerics.formats import FORMATS

GLOBALS: dict[str, list[Any]] = {
    **{name: [7, -1, 2, 0] for name in ("i8", "i16", "i32", "i64")},
    **{name: [0.5, -1.5, 3.0, 6.0] for name in ("f64", "f32", "tf32", "f16", "bf16", "f8E4M3FN", "f8E5M2")},
    "f8E8M0FNU": [0.5, 1.0, 2.0, 4.0],
    "i1": [True, False, True, True],
}


@operation("get_global", oracle="numpy")
@pytest.mark.parametrize(("element", "values"), GLOBALS.items())
def test_a_global_holds_its_constant_and_keeps_what_is_stored(element: str, values: list[Any]) -> None:
    spelled = str(values).lower()
    text = f"""
    global @table <{element}: {spelled}> : tile<4x{element}>
    entry @k(%out: tile<ptr<{element}>>) {{
      {first_of_block(4)}
      %table = get_global @table : tile<ptr<{element}>>
      %zero = constant <i32: 0> : tile<i32>
      {at("from", "table", element, 4, "zero")}
      {at("to", "out", element, 4)}
      %v, %t = load_ptr_tko weak %from : tile<4xptr<{element}>> -> tile<4x{element}>, token
      %u = store_ptr_tko weak %to, %v token = %t : tile<4xptr<{element}>>, tile<4x{element}> -> token
      return
    }}
    """
    dtype = FORMATS[element].dtype
    out = np.zeros((3, 4), dtype)
    module = tileir.parse(text)
    result = tileref.launch(module, 3, [out])
    assert not result.undefined
    np.testing.assert_array_equal(out, np.tile(np.array(values).astype(dtype), (3, 1)))
    # A launch begins with the constant again.
    tileref.launch(module, 3, [out])
    np.testing.assert_array_equal(out, np.tile(np.array(values).astype(dtype), (3, 1)))


@operation("get_global", "atomic_rmw_tko", oracle="numpy")
def test_blocks_share_a_global() -> None:
    text = """
    global @counter <i32: [10]> : tile<1xi32>
    entry @k(%out: tile<ptr<i32>>) {
      %x, %y, %z = get_tile_block_id : tile<i32>
      %one = constant <i32: 1> : tile<i32>
      %c = get_global @counter : tile<ptr<i32>>
      %was, %t = atomic_rmw_tko relaxed device %c, add, %one : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %to = offset %out, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %u = store_ptr_tko weak %to, %was : tile<ptr<i32>>, tile<i32> -> token
      return
    }
    """
    out = np.zeros(9, np.int32)
    run(text, 9, [out])
    assert sorted(out.tolist()) == list(range(10, 19))


@operation("alloca", "offset", oracle="numpy")
@pytest.mark.parametrize("kind", ["", " global"])
@pytest.mark.parametrize("element", STORED)
def test_every_block_has_an_allocation_of_its_own(element: str, kind: str) -> None:
    text = f"""
    entry @k(%a: tile<ptr<{element}>>, %out: tile<ptr<{element}>>) {{
      {first_of_block(8)}
      %own = alloca num_elem = 8, alignment = 16{kind} : tile<ptr<{element}>>
      %zero = constant <i32: 0> : tile<i32>
      {at("from", "a", element, 8)}
      {at("mine", "own", element, 8, "zero")}
      {at("to", "out", element, 8)}
      %v, %t = load_ptr_tko weak %from : tile<8xptr<{element}>> -> tile<8x{element}>, token
      %t1 = store_ptr_tko weak %mine, %v token = %t : tile<8xptr<{element}>>, tile<8x{element}> -> token
      %w, %t2 = load_ptr_tko weak %mine token = %t1 : tile<8xptr<{element}>> -> tile<8x{element}>, token
      %u = store_ptr_tko weak %to, %w token = %t2 : tile<8xptr<{element}>>, tile<8x{element}> -> token
      return
    }}
    """
    given = random_array(element, 40)
    out = np.zeros_like(given)
    assert not run(text, 5, [given, out]).undefined
    assert out.tobytes() == given.tobytes()


@operation("alloca", oracle="numpy")
def test_an_allocation_holds_nothing_yet_and_ends() -> None:
    text = f"""
    entry @k(%out: tile<ptr<i32>>) {{
      {first_of_block(4)}
      %own = alloca num_elem = 2, alignment = 4 : tile<ptr<i32>>
      %five = constant <i32: 5> : tile<i32>
      %t = store_ptr_tko weak %own, %five : tile<ptr<i32>>, tile<i32> -> token
      %zero = constant <i32: 0> : tile<i32>
      {at("mine", "own", "i32", 4, "zero")}
      {at("to", "out", "i32", 4)}
      %w, %t2 = load_ptr_tko weak %mine token = %t : tile<4xptr<i32>> -> tile<4xi32>, token
      %u = store_ptr_tko weak %to, %w token = %t2 : tile<4xptr<i32>>, tile<4xi32> -> token
      return
    }}
    """
    out = np.zeros(8, np.int32)
    result = run(text, 2, [out])
    assert out[[0, 4]].tolist() == [5, 5]
    np.testing.assert_array_equal(result.undefined_elements[0], [False, True, True, True] * 2)
    # The second element is there and holds nothing; the others are nowhere.
    found = [(event.kind, event.count) for event in result.undefined]
    assert found == [("out-of-range-load", 4), ("unwritten-memory", 2)]


ORDERED = """
entry @k(%a: tile<ptr<i32>>) {{
  %one = constant <i32: 1> : tile<i32>
  %ten = constant <i32: 10> : tile<i32>
  %q = offset %a, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %first = store_ptr_tko weak %a, %ten : tile<ptr<i32>>, tile<i32> -> token
  {between}
  %v, %read = load_ptr_tko weak %a token = %then : tile<ptr<i32>> -> tile<i32>, token
  %w = addi %v, %one : tile<i32>
  %last = store_ptr_tko weak %q, %w token = %read : tile<ptr<i32>>, tile<i32> -> token
  return
}}
"""


@pytest.mark.parametrize(
    "between",
    [
        pytest.param(
            "%new = make_token : token\n%then = join_tokens %new, %first : token",
            marks=[operation("make_token", oracle="numpy"), operation("join_tokens", oracle="numpy")],
        ),
        pytest.param(
            "%then = memory_fence_alias_tko %first",
            marks=operation("memory_fence_alias_tko", oracle="numpy"),
        ),
        pytest.param(
            "%then = gdc_wait_tko token = %first -> token", marks=operation("gdc_wait_tko", oracle="numpy")
        ),
        pytest.param(
            "%then = gdc_launch_dependents_tko token = %first -> token",
            marks=operation("gdc_launch_dependents_tko", oracle="numpy"),
        ),
        pytest.param(
            "%w1 = gdc_wait_tko -> token\n%w2 = gdc_launch_dependents_tko -> token\n"
            "%then = join_tokens %first, %w1, %w2 : token",
            marks=operation("gdc_wait_tko", "gdc_launch_dependents_tko", "join_tokens", oracle="numpy"),
        ),
    ],
)
def test_a_load_sees_the_store_that_its_token_comes_after(between: str) -> None:
    memory = np.zeros(2, np.int32)
    result = run(ORDERED.format(between=between), 1, [memory])
    assert not result.undefined
    assert memory.tolist() == [10, 11]


@operation("offset", oracle="numpy")
@pytest.mark.parametrize("index", ["i8", "i16", "i32", "i64"])
@pytest.mark.parametrize(("element", "size"), [("i8", 1), ("f16", 2), ("f32", 4), ("f64", 8)])
def test_offsets_are_signed_numbers_of_elements(element: str, size: int, index: str) -> None:
    text = f"""
    entry @k(%a: tile<ptr<{element}>>, %i: tile<ptr<{index}>>, %out: tile<ptr<i64>>) {{
      {first_of_block(4)}
      {at("ip", "i", index, 4)}
      {at("to", "out", "i64", 4)}
      %n, %t = load_ptr_tko weak %ip : tile<4xptr<{index}>> -> tile<4x{index}>, token
      %a1 = reshape %a : tile<ptr<{element}>> -> tile<1xptr<{element}>>
      %an = broadcast %a1 : tile<1xptr<{element}>> -> tile<4xptr<{element}>>
      %p = offset %an, %n : tile<4xptr<{element}>>, tile<4x{index}> -> tile<4xptr<{element}>>
      %q = ptr_to_int %p : tile<4xptr<{element}>> -> tile<4xi64>
      %b = ptr_to_int %an : tile<4xptr<{element}>> -> tile<4xi64>
      %d = subi %q, %b : tile<4xi64>
      %u = store_ptr_tko weak %to, %d token = %t : tile<4xptr<i64>>, tile<4xi64> -> token
      return
    }}
    """
    numbers = np.array([0, 1, -1, 127, -128, 5, -7, 64], np.dtype(f"i{int(index[1:]) // 8}"))
    dtype = {"i8": np.int8, "f16": np.float16, "f32": np.float32, "f64": np.float64}[element]
    out = np.zeros(8, np.int64)
    run(text, 2, [np.zeros(4, dtype), numbers, out])
    np.testing.assert_array_equal(out, numbers.astype(np.int64) * size)
