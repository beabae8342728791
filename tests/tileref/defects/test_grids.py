"""Grids at the limit and beyond: nothing runs where block numbers would be wrong, or no launch would start."""

from __future__ import annotations

import numpy as np
import pytest

import tileir
import tileref
from tileir.errors import ArgumentError

NUMBERS = """
entry @k(%a: tile<ptr<i32>>) {
  %x, %y, %z = get_tile_block_id : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %two = constant <i32: 2> : tile<i32>
  %px = offset %a, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %pz = offset %a, %two : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %t = store_ptr_tko weak %a, %x : tile<ptr<i32>>, tile<i32> -> token
  %u = store_ptr_tko weak %px, %y : tile<ptr<i32>>, tile<i32> -> token
  %v = store_ptr_tko weak %pz, %z : tile<ptr<i32>>, tile<i32> -> token
  return
}"""
LAST_X = (1 << 24) - 2


@pytest.mark.parametrize(
    ("grid", "axis"),
    [
        (1 << 24, "x"),
        ((1, 65536), "y"),
        ((1, 1, 65536), "z"),
        ((1 << 31, 1, 1), "x"),
        ((2, 1 << 24, 1), "y"),
        ((1, 65535, 70000), "z"),
        ((1, 0), "y"),
    ],
)
def test_a_grid_beyond_the_limit_is_refused(grid: int | tuple[int, ...], axis: str) -> None:
    memory = np.full(3, -1, np.int32)
    with pytest.raises(ArgumentError) as error:
        tileref.launch(tileir.parse(NUMBERS), grid, [memory], blocks="0")
    assert error.value.rule == "grid"
    assert f"along {axis}" in str(error.value)
    assert memory.tolist() == [-1, -1, -1]


@pytest.mark.parametrize(
    ("grid", "last"),
    [
        (LAST_X + 1, (LAST_X, 0, 0)),
        ((1, 65535), (0, 65534, 0)),
        ((1, 1, 65535), (0, 0, 65534)),
        ((LAST_X + 1, 65535, 65535), (LAST_X, 65534, 65534)),
    ],
)
def test_the_last_block_within_it_has_its_number(
    grid: int | tuple[int, ...], last: tuple[int, int, int]
) -> None:
    memory = np.full(3, -1, np.int32)
    where = ",".join(map(str, last))
    result = tileref.launch(tileir.parse(NUMBERS), grid, [memory], blocks=where)
    assert memory.tolist() == list(last)
    assert not result.undefined
