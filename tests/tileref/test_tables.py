"""Pointers to pointers: a table of addresses as an argument."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileref
from tests.tileref.support import run
from tileir.errors import ArgumentError

THROUGH = """
entry @through(%table: tile<ptr<i64>>, %row: tile<i32>, %at: tile<i32>) {
  %whole = make_tensor_view %table, shape = [2, 3], strides = [3, 1] : tensor_view<2x3xi64, strides=[3,1]>
  %rows = make_partition_view %whole : partition_view<tile=(1x4), tensor_view<2x3xi64, strides=[3,1]>>
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %words, %t = load_view_tko weak %rows[%row, %zero]
      : partition_view<tile=(1x4), tensor_view<2x3xi64, strides=[3,1]>>, tile<i32> -> tile<1x4xi64>, token
  %a1 = extract %words[%zero, %zero] : tile<1x4xi64> -> tile<1x1xi64>
  %a = reshape %a1 : tile<1x1xi64> -> tile<i64>
  %v1 = extract %words[%zero, %one] : tile<1x4xi64> -> tile<1x1xi64>
  %v = reshape %v1 : tile<1x1xi64> -> tile<i64>
  %p = int_to_ptr %a : tile<i64> -> tile<ptr<i64>>
  %q = offset %p, %at : tile<ptr<i64>>, tile<i32> -> tile<ptr<i64>>
  %u = store_ptr_tko weak %q, %v token = %t : tile<ptr<i64>>, tile<i64> -> token
  %view = make_tensor_view %p, shape = [4], strides = [1] : tensor_view<4xi64, strides=[1]>
  return
}
"""


def arrays() -> list[np.ndarray[Any, Any]]:
    return [np.zeros(4, np.int64), np.zeros(8, np.int64)[2:6]]


def table(of: list[np.ndarray[Any, Any]]) -> tileref.Table:
    return tileref.Table((of[0], 11, -1, of[1], 22, -1))


@pytest.mark.parametrize("row", [0, 1])
def test_an_array_is_written_through_its_address(row: int) -> None:
    a = arrays()
    result = run(THROUGH, 1, [table(a), row, 3])
    assert a[row].tolist() == [0, 0, 0, (11, 22)[row]]
    assert not a[1 - row].any()
    # The fourth word of a row is padding that nobody gave, and nobody uses.
    assert result.undefined == []


def test_an_access_beside_an_array_of_a_table_is_found() -> None:
    a = arrays()
    [event] = run(THROUGH, 1, [table(a), 1, 4]).undefined
    assert event.kind == "out-of-range-store"
    # Counted on after the three arguments.
    assert event.buffer == 4
    assert event.index == 4
    assert not a[1].base.any()


def test_a_table_is_no_array_of_floats() -> None:
    text = "entry @k(%p: tile<ptr<f32>>) { return }"
    with pytest.raises(ArgumentError) as caught:
        run(text, 1, [table(arrays())])
    assert caught.value.rule == "argument-type"
