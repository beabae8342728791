"""Atomic operations whose lanes without a value are masked off, or outside of the view: nothing reaches memory."""

from __future__ import annotations

import numpy as np
import pytest

from tests.tileref.support import pointers, run
from tileref import kinds

MASKED = f"""
entry @masked(%x: tile<ptr<i32>>, %y: tile<ptr<i32>>, %n: tile<i32>, %m: tile<i32>) {{
  %i = iota : tile<8xi32>
  {pointers("x", "px", "i32", 8, "i")}
  {pointers("y", "py", "i32", 8, "i")}
  %n1 = reshape %n : tile<i32> -> tile<1xi32>
  %n8 = broadcast %n1 : tile<1xi32> -> tile<8xi32>
  %loaded = cmpi less_than %i, %n8, signed : tile<8xi32> -> tile<8xi1>
  %m1 = reshape %m : tile<i32> -> tile<1xi32>
  %m8 = broadcast %m1 : tile<1xi32> -> tile<8xi32>
  %added = cmpi less_than %i, %m8, signed : tile<8xi32> -> tile<8xi1>
  %v, %t = load_ptr_tko weak %px, %loaded : tile<8xptr<i32>>, tile<8xi1> -> tile<8xi32>, token
  ATOMIC
  return
}}
"""
ADD = """%old, %u = atomic_rmw_tko relaxed device %py, add, %v, %added
      : tile<8xptr<i32>>, tile<8xi32>, tile<8xi1> -> tile<8xi32>, token"""
CAS = """%old, %u = atomic_cas_tko relaxed device %py, %v, %v, %added
      : tile<8xptr<i32>>, tile<8xi32>, tile<8xi1> -> tile<8xi32>, token"""


@pytest.mark.parametrize("atomic", [ADD, CAS])
def test_lanes_that_are_masked_off(atomic: str) -> None:
    text = MASKED.replace("ATOMIC", atomic)
    for loaded, added, lanes in ((5, 5, 0), (5, 4, 0), (5, 7, 2), (0, 8, 8)):
        y = np.zeros(8, np.int32)
        found = run(text, 1, [np.arange(8, dtype=np.int32), y, loaded, added])
        used = [e for e in found.undefined if e.kind == kinds.Kind.UNDEFINED_VALUE]
        # A comparison uses the value twice.
        assert sum(e.count for e in used) == (lanes if atomic is ADD else 2 * lanes)
        if atomic is ADD:
            assert y[: min(loaded, added)].tolist() == list(range(min(loaded, added)))


VIEW = """
entry @view(%x: tile<ptr<i32>>, %y: tile<ptr<i32>>) {
  %zero = constant <i32: 0> : tile<i32>
  %in = make_tensor_view %x, shape = [5], strides = [1] : tensor_view<5xi32, strides=[1]>
  %out = make_tensor_view %y, shape = [EXTENT], strides = [1] : tensor_view<EXTENTxi32, strides=[1]>
  %from = make_partition_view %in : partition_view<tile=(8), tensor_view<5xi32, strides=[1]>>
  %to = make_partition_view %out : partition_view<tile=(8), tensor_view<EXTENTxi32, strides=[1]>>
  %v, %t = load_view_tko weak %from[%zero]
      : partition_view<tile=(8), tensor_view<5xi32, strides=[1]>>, tile<i32> -> tile<8xi32>, token
  %u = atomic_red_view_tko relaxed device %to[%zero], add, %v
      : tile<8xi32>, partition_view<tile=(8), tensor_view<EXTENTxi32, strides=[1]>>, tile<i32> -> token
  return
}
"""


@pytest.mark.parametrize(("extent", "lanes"), [(5, 0), (3, 0), (7, 2)])
def test_lanes_outside_of_the_view(extent: int, lanes: int) -> None:
    y = np.zeros(extent, np.int32)
    found = run(VIEW.replace("EXTENT", str(extent)), 1, [np.arange(5, dtype=np.int32), y])
    assert [e.count for e in found.undefined] == ([lanes] if lanes else [])
    assert y[: min(5, extent)].tolist() == list(range(min(5, extent)))
