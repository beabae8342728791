"""Small kernels that the tests of inspections look into."""

from __future__ import annotations

from tests.tileref.support import pointers

LOOP = """
entry @loop(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>, %trips: tile<i32>) {
  %b, %by, %bz = get_tile_block_id : tile<i32>
  %four = constant <i32: 4> : tile<i32>
  %lanes = iota : tile<4xi32>
  %first = muli %b, %four : tile<i32>
  %first1 = reshape %first : tile<i32> -> tile<1xi32>
  %firstn = broadcast %first1 : tile<1xi32> -> tile<4xi32>
  %at = addi %firstn, %lanes : tile<4xi32>
  POINTERS
  %v, %t = load_ptr_tko weak %px : tile<4xptr<f32>> -> tile<4xf32>, token
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %none = constant <f32: 0.0> : tile<4xf32>
  %last = addi %b, %trips : tile<i32>
  %sum = for %i in (%zero to %last, step %one) : tile<i32> iter_values(%acc = %none) -> (tile<4xf32>) {
    %more = addf %acc, %v : tile<4xf32>
    continue %more : tile<4xf32>
  }
  %twice = mulf %sum, %sum : tile<4xf32>
  %u = store_ptr_tko weak %pout, %twice token = %t : tile<4xptr<f32>>, tile<4xf32> -> token
  return
}
""".replace("POINTERS", pointers("x", "px", "f32", 4, "at") + pointers("out", "pout", "f32", 4, "at"))
"""Block b adds its four elements of ``x`` b + ``trips`` times, squares the sum and stores it.

The text's ``%acc`` is called ``%iterArg0``, ``%more`` ``%8`` and ``%twice`` ``%6``.
"""

BRANCH = """
entry @branch(%x: tile<ptr<i32>>) {
  %b, %by, %bz = get_tile_block_id : tile<i32>
  %two = constant <i32: 2> : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  %odd = remi %b, %two signed : tile<i32>
  %even = cmpi equal %odd, %zero, signed : tile<i32> -> tile<i1>
  %r = if %even -> (tile<i32>) {
    %p = muli %b, %two : tile<i32>
    yield %p : tile<i32>
  } else {
    %q = subi %zero, %b : tile<i32>
    yield %q : tile<i32>
  }
  %to = offset %x, %b : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %t = store_ptr_tko weak %to, %r : tile<ptr<i32>>, tile<i32> -> token
  return
}
"""
"""Even blocks store 2 b, odd ones -b."""

FOLD = """
entry @fold(%x: tile<ptr<f32>>, %out: tile<ptr<f32>>) {
  %b, %by, %bz = get_tile_block_id : tile<i32>
  %eight = constant <i32: 8> : tile<i32>
  %lanes = iota : tile<8xi32>
  %first = muli %b, %eight : tile<i32>
  %first1 = reshape %first : tile<i32> -> tile<1xi32>
  %firstn = broadcast %first1 : tile<1xi32> -> tile<8xi32>
  %at = addi %firstn, %lanes : tile<8xi32>
  POINTERS
  %v, %t = load_ptr_tko weak %px : tile<8xptr<f32>> -> tile<8xf32>, token
  %m = reshape %v : tile<8xf32> -> tile<4x2xf32>
  %r = reduce %m dim=0 identities=[0.0 : f32] : tile<4x2xf32> -> tile<2xf32>
  (%l: tile<f32>, %q: tile<f32>) {
    %s = addf %l, %q : tile<f32>
    yield %s : tile<f32>
  }
  %lane = iota : tile<2xi32>
  %two = constant <i32: 2> : tile<i32>
  %to = muli %b, %two : tile<i32>
  %to1 = reshape %to : tile<i32> -> tile<1xi32>
  %ton = broadcast %to1 : tile<1xi32> -> tile<2xi32>
  %there = addi %ton, %lane : tile<2xi32>
  OUT
  %u = store_ptr_tko weak %pout, %r token = %t : tile<2xptr<f32>>, tile<2xf32> -> token
  return
}
""".replace("POINTERS", pointers("x", "px", "f32", 8, "at")).replace(
    "OUT", pointers("out", "pout", "f32", 2, "there")
)
"""Block b sums the rows of its 4x2 elements of ``x``."""
