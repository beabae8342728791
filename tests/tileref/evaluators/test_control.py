"""Branches and loops in blocks that part, against the same program one block at a time in Python."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tileir
import tileref
from tests.tileref.operations import operation
from tests.tileref.support import pointers, run
from tileir.errors import TileError

BLOCKS = 37


def per_block(body: str, results: int = 1) -> str:
    """A kernel that stores scalar i32 ``%r0``... of each block to ``out[block * results + k]``."""
    stores = "".join(
        f"""
        %c{k} = constant <i32: {k}> : tile<i32>
        %n{k} = constant <i32: {results}> : tile<i32>
        %m{k} = muli %x, %n{k} : tile<i32>
        %o{k} = addi %m{k}, %c{k} : tile<i32>
        %q{k} = offset %out, %o{k} : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
        %s{k} = store_ptr_tko weak %q{k}, %r{k} : tile<ptr<i32>>, tile<i32> -> token
        """
        for k in range(results)
    )
    return f"""
    entry @k(%out: tile<ptr<i32>>) {{
      %x, %y, %z = get_tile_block_id : tile<i32>
      %zero = constant <i32: 0> : tile<i32>
      %one = constant <i32: 1> : tile<i32>
      %two = constant <i32: 2> : tile<i32>
      %five = constant <i32: 5> : tile<i32>
      %seven = constant <i32: 7> : tile<i32>
      %ten = constant <i32: 10> : tile<i32>
      {body}
      {stores}
      return
    }}
    """


def check(body: str, oracle: Callable[[int], tuple[int | None, ...]], results: int = 1) -> None:
    """Run ``body`` in many blocks; a None of the oracle is an element that nobody stores."""
    out = np.full(BLOCKS * results, -99, np.int32)
    result = run(per_block(body, results), BLOCKS, [out], check="strict")
    assert not result.undefined
    expected = [-99 if v is None else v for x in range(BLOCKS) for v in oracle(x)]
    np.testing.assert_array_equal(out, np.array(expected, np.int32))


@operation("if", "yield", oracle="numpy")
def test_if_else_parts_the_blocks() -> None:
    body = """
    %m = remi %x, %two signed : tile<i32>
    %c = cmpi equal %m, %one, signed : tile<i32> -> tile<i1>
    %r0 = if %c -> (tile<i32>) {
      %a = muli %x, %ten : tile<i32>
      yield %a : tile<i32>
    } else {
      %b = subi %x, %ten : tile<i32>
      yield %b : tile<i32>
    }
    """
    check(body, lambda x: (x * 10 if x % 2 else x - 10,))


@operation("for", "continue", oracle="numpy")
def test_for_with_bounds_of_each_block() -> None:
    body = """
    %r0 = for %i in (%two to %x, step %seven) : tile<i32> iter_values(%s = %zero) -> (tile<i32>) {
      %t = addi %s, %i : tile<i32>
      continue %t : tile<i32>
    }
    """
    check(body, lambda x: (sum(range(2, x, 7)),))


def test_an_empty_range_leaves_what_entered() -> None:
    body = """
    %r0 = for %i in (%ten to %two, step %one) : tile<i32> iter_values(%s = %five) -> (tile<i32>) {
      continue %zero : tile<i32>
    }
    """
    check(body, lambda _x: (5,))


@operation("for", oracle="numpy")
def test_unsigned_bounds_straddle_the_sign() -> None:
    body = """
    %low = constant <i32: 2147483646> : tile<i32>
    %high = constant <i32: -2147483645> : tile<i32>
    %r0 = for unsigned %i in (%low to %high, step %one) : tile<i32> iter_values(%s = %zero) -> (tile<i32>) {
      %t = addi %s, %one : tile<i32>
      continue %t : tile<i32>
    }
    %r1 = for %i in (%low to %high, step %one) : tile<i32> iter_values(%s = %zero) -> (tile<i32>) {
      %t = addi %s, %one : tile<i32>
      continue %t : tile<i32>
    }
    """
    check(body, lambda _x: (5, 0), results=2)


@operation("for", "continue", oracle="numpy")
def test_nested_loops_keep_their_values_apart() -> None:
    body = """
    %r0, %r1 = for %i in (%zero to %x, step %one) : tile<i32> iter_values(%s = %zero, %n = %zero)
        -> (tile<i32>, tile<i32>) {
      %inner = for %j in (%zero to %i, step %two) : tile<i32> iter_values(%q = %s) -> (tile<i32>) {
        %w = muli %i, %j : tile<i32>
        %v = addi %q, %w : tile<i32>
        continue %v : tile<i32>
      }
      %m = addi %n, %one : tile<i32>
      continue %inner, %m : tile<i32>, tile<i32>
    }
    """
    check(body, lambda x: (sum(i * j for i in range(x) for j in range(0, i, 2)), x), results=2)


@operation("loop", "break", "continue", oracle="numpy")
def test_collatz_ends_when_each_block_says_so() -> None:
    body = """
    %start = addi %x, %one : tile<i32>
    %three = constant <i32: 3> : tile<i32>
    %r0, %last = loop iter_values(%steps = %zero, %n = %start) : tile<i32>, tile<i32> -> tile<i32>, tile<i32> {
      %done = cmpi equal %n, %one, signed : tile<i32> -> tile<i1>
      if %done {
        break %steps, %n : tile<i32>, tile<i32>
      }
      %odd = remi %n, %two signed : tile<i32>
      %is = cmpi equal %odd, %one, signed : tile<i32> -> tile<i1>
      %next = if %is -> (tile<i32>) {
        %a = muli %n, %three : tile<i32>
        %b = addi %a, %one : tile<i32>
        yield %b : tile<i32>
      } else {
        %h = divi %n, %two signed : tile<i32>
        yield %h : tile<i32>
      }
      %more = addi %steps, %one : tile<i32>
      continue %more, %next : tile<i32>, tile<i32>
    }
    """

    def collatz(x: int) -> tuple[int]:
        n, steps = x + 1, 0
        while n != 1:
            n, steps = (3 * n + 1 if n % 2 else n // 2), steps + 1
        return (steps,)

    check(body, collatz)


@operation("if", "continue", oracle="numpy")
def test_continue_from_inside_a_branch() -> None:
    body = """
    %r0, %k = loop iter_values(%s = %zero, %i = %zero) : tile<i32>, tile<i32> -> tile<i32>, tile<i32> {
      %end = cmpi greater_than_or_equal %i, %x, signed : tile<i32> -> tile<i1>
      if %end {
        break %s, %i : tile<i32>, tile<i32>
      }
      %i2 = addi %i, %one : tile<i32>
      %m = remi %i, %five signed : tile<i32>
      %skip = cmpi equal %m, %two, signed : tile<i32> -> tile<i1>
      if %skip {
        continue %s, %i2 : tile<i32>, tile<i32>
      }
      %t = addi %s, %i : tile<i32>
      continue %t, %i2 : tile<i32>, tile<i32>
    }
    """
    check(body, lambda x: (sum(i for i in range(x) if i % 5 != 2),))


@operation("return", oracle="numpy")
def test_return_ends_a_block_out_of_a_loop_and_keeps_its_stores() -> None:
    body = """
    %f, %g = loop iter_values(%s = %zero, %i = %zero) : tile<i32>, tile<i32> -> tile<i32>, tile<i32> {
      %big = cmpi greater_than %s, %ten, signed : tile<i32> -> tile<i1>
      if %big {
        return
      }
      %end = cmpi equal %i, %x, signed : tile<i32> -> tile<i1>
      if %end {
        break %s, %i : tile<i32>, tile<i32>
      }
      %t = addi %s, %i : tile<i32>
      %j = addi %i, %one : tile<i32>
      continue %t, %j : tile<i32>, tile<i32>
    }
    %r0 = addi %f, %zero : tile<i32>
    """
    check(body, lambda x: (sum(range(x)) if sum(range(x)) <= 10 else None,))


def test_a_loop_that_never_ends_is_stopped() -> None:
    text = """
    entry @k() {
      loop {
        continue
      }
      return
    }
    """
    with pytest.raises(TileError) as error:
        run(text, 1, [], step_budget=1000)
    assert error.value.rule == "step-budget"
    assert error.value.operation == "loop"


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("cache", [64, 200, 1 << 22])
def test_how_many_blocks_run_together_changes_nothing(
    threads: int, cache: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lanes = 16
    text = f"""
    entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {{
      %x, %y, %z = get_tile_block_id : tile<i32>
      %n = constant <i32: {lanes}> : tile<i32>
      %first = muli %x, %n : tile<i32>
      %lanes = iota : tile<{lanes}xi32>
      %f1 = reshape %first : tile<i32> -> tile<1xi32>
      %fn = broadcast %f1 : tile<1xi32> -> tile<{lanes}xi32>
      %at = addi %fn, %lanes : tile<{lanes}xi32>
      {pointers("a", "from", "f32", lanes, "at")}
      {pointers("b", "to", "f32", lanes, "at")}
      %v, %t = load_ptr_tko weak %from : tile<{lanes}xptr<f32>> -> tile<{lanes}xf32>, token
      %zero = constant <i32: 0> : tile<i32>
      %one = constant <i32: 1> : tile<i32>
      %w = for %i in (%zero to %x, step %one) : tile<i32> iter_values(%q = %v) -> (tile<{lanes}xf32>) {{
        %s = scan %q dim=0 reverse=false identities=[0.000000e+00 : f32]
            : tile<{lanes}xf32> -> tile<{lanes}xf32>
        (%l: tile<f32>, %r: tile<f32>) {{
          %p = addf %l, %r : tile<f32>
          yield %p : tile<f32>
        }}
        %e = exp %s : tile<{lanes}xf32>
        %h = divf %q, %e : tile<{lanes}xf32>
        continue %h : tile<{lanes}xf32>
      }}
      %u = store_ptr_tko weak %to, %w token = %t : tile<{lanes}xptr<f32>>, tile<{lanes}xf32> -> token
      return
    }}
    """
    rng = np.random.Generator(np.random.PCG64(1))
    source = rng.standard_normal(BLOCKS * lanes).astype(np.float32)
    once = np.zeros_like(source)
    module = tileir.parse(text)
    tileref.launch(module, BLOCKS, [source, once], model="sm_90", threads=1)
    again = np.zeros_like(source)
    monkeypatch.setattr("tileref.schedule.CACHE_BYTES", cache)
    monkeypatch.setattr("tileref.schedule.WORTH_BYTES", 1)
    tileref.launch(module, BLOCKS, [source, again], model="sm_90", threads=threads)
    np.testing.assert_array_equal(once.view(np.uint32), again.view(np.uint32))


@operation("get_tile_block_id", "get_num_tile_blocks", oracle="numpy")
def test_grid_coordinates_count_x_first() -> None:
    text = """
    entry @k(%out: tile<ptr<i32>>) {
      %x, %y, %z = get_tile_block_id : tile<i32>
      %nx, %ny, %nz = get_num_tile_blocks : tile<i32>
      %a = muli %z, %ny : tile<i32>
      %b = addi %a, %y : tile<i32>
      %c = muli %b, %nx : tile<i32>
      %at = addi %c, %x : tile<i32>
      %h = constant <i32: 100> : tile<i32>
      %d = muli %z, %h : tile<i32>
      %e = addi %d, %y : tile<i32>
      %f = muli %e, %h : tile<i32>
      %v = addi %f, %x : tile<i32>
      %p = offset %out, %at : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %t = store_ptr_tko weak %p, %v : tile<ptr<i32>>, tile<i32> -> token
      return
    }
    """
    out = np.zeros((4, 3, 5), np.int32)
    run(text, (5, 3, 4), [out])
    z, y, x = np.indices(out.shape)
    np.testing.assert_array_equal(out, (z * 100 + y) * 100 + x)


CARRIED = """
entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {{
  %x, %y, %z = get_tile_block_id : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %four = constant <i32: 4> : tile<i32>
  %sums = constant <f32: 0.0> : tile<4xf32>
  %first = muli %x, %four : tile<i32>
  %lanes = iota : tile<4xi32>
  %a1 = reshape %a : tile<ptr<f32>> -> tile<1xptr<f32>>
  %from = broadcast %a1 : tile<1xptr<f32>> -> tile<4xptr<f32>>
  %b0 = offset %b, %first : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
  %b1 = reshape %b0 : tile<ptr<f32>> -> tile<1xptr<f32>>
  %b2 = broadcast %b1 : tile<1xptr<f32>> -> tile<4xptr<f32>>
  %to = offset %b2, %lanes : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
  %start = offset %from, %lanes : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
  %fours = constant <i32: 4> : tile<4xi32>
  {loop}
  %t = store_ptr_tko weak %to, %r : tile<4xptr<f32>>, tile<4xf32> -> token
  return
}}
"""
"""Each block sums as many rows of four as its number says, walking with a tile of pointers."""

STEP = """
    %v, %t1 = load_ptr_tko weak %p : tile<4xptr<f32>> -> tile<4xf32>, token
    %n = addf %s, %v : tile<4xf32>
    %q = offset %p, %fours : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
"""
LOOPS = {
    "for": f"""
  %r, %end = for %i in (%zero to %x, step %one) : tile<i32> iter_values(%s = %sums, %p = %start)
      -> (tile<4xf32>, tile<4xptr<f32>>) {{{STEP}
    continue %n, %q : tile<4xf32>, tile<4xptr<f32>>
  }}""",
    "loop": f"""
  %r, %end = loop iter_values(%i = %zero, %s = %sums, %p = %start)
      : tile<i32>, tile<4xf32>, tile<4xptr<f32>> -> tile<4xf32>, tile<4xptr<f32>> {{
    %c = cmpi greater_than_or_equal %i, %x, signed : tile<i32> -> tile<i1>
    if %c {{
      break %s, %p : tile<4xf32>, tile<4xptr<f32>>
    }}{STEP}
    %j = addi %i, %one : tile<i32>
    continue %j, %n, %q : tile<i32>, tile<4xf32>, tile<4xptr<f32>>
  }}""",
    "if": f"""
  %c = cmpi greater_than %x, %zero, signed : tile<i32> -> tile<i1>
  %p, %s = if %c -> (tile<4xptr<f32>>, tile<4xf32>) {{
    yield %start, %sums : tile<4xptr<f32>>, tile<4xf32>
  }} else {{
    %far = offset %start, %fours : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
    %tens = constant <f32: 10.0> : tile<4xf32>
    yield %far, %tens : tile<4xptr<f32>>, tile<4xf32>
  }}{STEP}
  %r = addf %n, %sums : tile<4xf32>""",
}


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("for", marks=operation("for", "continue", oracle="numpy")),
        pytest.param("loop", marks=operation("loop", "break", "continue", oracle="numpy")),
        pytest.param("if", marks=operation("if", "yield", oracle="numpy")),
    ],
)
def test_tiles_and_pointers_pass_through(kind: str) -> None:
    rows = np.arange(24, dtype=np.float32).reshape(6, 4) + 1
    out = np.zeros((6, 4), np.float32)
    result = run(CARRIED.format(loop=LOOPS[kind]), 6, [rows, out])
    assert not result.undefined
    expected = np.array([rows[:x].sum(axis=0) for x in range(6)])
    if kind == "if":
        expected = np.array([rows[0] if x else rows[1] + 10 for x in range(6)])
    np.testing.assert_array_equal(out, expected)
