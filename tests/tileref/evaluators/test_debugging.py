"""Prints, assertions and assumptions."""

from __future__ import annotations

import numpy as np
import pytest

from tests.tileref.kernels import apply
from tests.tileref.operations import operation
from tests.tileref.support import run
from tileref.numerics.formats import FORMATS


@operation("print_tko", oracle="written")
def test_prints_come_block_by_block_in_the_order_of_each_block() -> None:
    text = """
    entry @k(%f: tile<f32>) {
      %x, %y, %z = get_tile_block_id : tile<i32>
      %t0 = print_tko "block %d of %s:%%", %x, %y : tile<i32>, tile<i32> -> token
      %v = iota : tile<4xi8>
      %t1 = print_tko "%04x|%.2f|%e", %v, %f, %f token = %t0 : tile<4xi8>, tile<f32>, tile<f32> -> token
      return
    }
    """
    result = run(text, 2, [1.5])
    second = "[0000, 0001, 0002, 0003]|1.50|1.500000e+00"
    assert result.prints == ["block 0 of 0:%", second, "block 1 of 0:%", second]


@operation("assert", oracle="written")
def test_a_failed_assertion_names_block_and_lane_and_the_kernel_goes_on() -> None:
    text = """
    entry @k(%out: tile<ptr<i32>>) {
      %x, %y, %z = get_tile_block_id : tile<i32>
      %l = iota : tile<4xi32>
      %x1 = reshape %x : tile<i32> -> tile<1xi32>
      %xn = broadcast %x1 : tile<1xi32> -> tile<4xi32>
      %c = cmpi not_equal %l, %xn, signed : tile<4xi32> -> tile<4xi1>
      assert %c, "lane is the block" : tile<4xi1>
      %p = offset %out, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %t = store_ptr_tko weak %p, %x : tile<ptr<i32>>, tile<i32> -> token
      return
    }
    """
    out = np.full(6, -1, np.int32)
    result = run(text, 6, [out])
    assert [(a.block, a.lane) for a in result.assertions] == [((b, 0, 0), (b,)) for b in range(4)]
    assert "lane is the block" in str(result.assertions[0])
    np.testing.assert_array_equal(out, range(6))


ASSUME = """
entry @k(%a: tile<ptr<i32>>, %b: tile<ptr<i32>>) {{
  %l = iota : tile<8xi32>
  %a1 = reshape %a : tile<ptr<i32>> -> tile<1xptr<i32>>
  %an = broadcast %a1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
  %from = offset %an, %l : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
  %b1 = reshape %b : tile<ptr<i32>> -> tile<1xptr<i32>>
  %bn = broadcast %b1 : tile<1xptr<i32>> -> tile<8xptr<i32>>
  %to = offset %bn, %l : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>
  %v, %t = load_ptr_tko weak %from : tile<8xptr<i32>> -> tile<8xi32>, token
  %w = assume {predicate}, %v : tile<8xi32>
  %u = store_ptr_tko weak %to, %w token = %t : tile<8xptr<i32>>, tile<8xi32> -> token
  return
}}
"""


@operation("assume", oracle="written")
@pytest.mark.parametrize(
    ("predicate", "values", "false"),
    [
        ("bounded<0, ?>", [0, 1, 2, 3, 4, 5, 6, 7], []),
        ("bounded<0, ?>", [0, -1, 2, 3, 4, 5, 6, -7], [1, 7]),
        ("bounded<?, 5>", [5, 6, -2, 0, 0, 0, 0, 0], [1]),
        ("bounded<-1, 1>", [0, 1, -1, 2, -2, 0, 0, 0], [3, 4]),
        ("div_by<4>", [0, 4, -8, 12, 16, 20, 24, 28], []),
        ("div_by<4>", [0, 4, 2, 12, 16, 20, 24, -1], [2, 7]),
        ("div_by<8, every 4 along 0>", [8, 9, 10, 11, 0, 1, 2, 3], []),
        ("div_by<8, every 4 along 0>", [8, 9, 11, 11, 4, 5, 6, 7], [2, 4, 5, 6, 7]),
        ("same_elements<[4]>", [3, 3, 3, 3, -1, -1, -1, -1], []),
        ("same_elements<[4]>", [3, 3, 3, 3, -1, -1, 0, -1], [6]),
        ("same_elements<[1]>", [0, 1, 2, 3, 4, 5, 6, 7], []),
    ],
)
def test_assumptions(predicate: str, values: list[int], false: list[int]) -> None:
    source, out = np.array(values, np.int32), np.zeros(8, np.int32)
    result = run(ASSUME.format(predicate=predicate), 1, [source, out])
    np.testing.assert_array_equal(out, source)
    found = result.undefined_elements.get(1, np.zeros(8, bool))
    assert list(np.flatnonzero(found)) == false
    assert [u.kind for u in result.undefined] == (["false-assumption"] if false else [])
    if false:
        assert result.undefined[0].count == len(false)
        assert result.undefined[0].lane == (false[0],)


def claimed_falsely(predicate: tuple[str, int, int], values: list[int]) -> list[int]:
    """Lanes of which the dialect's text says that something false is claimed of signed ``values``."""
    kind, number, group = predicate
    firsts = [values[i - i % group] if group else values[i] for i in range(len(values))]
    if kind == "same_elements":
        return [i for i, v in enumerate(values) if group and v != firsts[i]]
    if kind == "every":
        return [i for i, v in enumerate(values) if v != firsts[i] + i % group or firsts[i] % number]
    return [i for i, v in enumerate(values) if v % number]


@operation("assume", oracle="exact")
@pytest.mark.parametrize("element", ["i1", "i8", "i16", "i32", "i64"])
@pytest.mark.parametrize(
    "predicate",
    [
        *(("same_elements", 0, group) for group in (0, 1, 2, 3, 8)),
        *(("every", divisor, every) for divisor in (1, 4, 256, 1 << 62) for every in (1, 3, 4, 8)),
        *(("div_by", divisor, 0) for divisor in (1, 2, 256, 1 << 62)),
    ],
    ids=str,
)
def test_assumptions_of_every_width(element: str, predicate: tuple[str, int, int]) -> None:
    kind, number, group = predicate
    text = {
        "same_elements": f"same_elements<[{group}]>",
        "every": f"div_by<{number}, every {group} along 0>",
        "div_by": f"div_by<{number}>",
    }[kind]
    width = int(element[1:])
    top = 1 << (width - 1)
    # Counting up over the end of the signed numbers is no counting up.
    for start in (0, 4, top - 4):
        values = [(start + i + top) % (1 << width) - top for i in range(8)]
        given = np.array([v % 2 == 1 for v in values] if width == 1 else values, FORMATS[element].dtype)
        found = apply(f"assume {text}, %a : {{R}}", [np.tile(given, 2)], [element])
        assert list(np.flatnonzero(found.undefined[:8])) == claimed_falsely(predicate, values), values


@operation("assume", oracle="written")
@pytest.mark.parametrize(
    ("bounds", "false"), [("-1, 0", []), ("-1, -1", [0]), ("0, 0", [1]), ("?, -1", [0]), ("0, ?", [1])]
)
def test_bounds_of_i1_are_signed(bounds: str, false: list[int]) -> None:
    found = apply(f"assume bounded<{bounds}>, %a : {{R}}", [np.array([False, True] * 4)], ["i1"], shape=(2,))
    assert list(np.flatnonzero(found.undefined[:2])) == false


@operation("assume", oracle="written")
def test_lanes_without_a_value_claim_nothing() -> None:
    values, mask = np.array([1, 0, 1, 2] * 2, np.int32), np.array([False, True, True, True] * 2)
    found = apply("assume bounded<0, 1>, %a : {R}", [values], ["i32"], shape=(4,), masks=[mask])
    assert list(found.undefined[:4]) == [True, False, False, True]
    (event,) = found.result.undefined
    assert (event.kind, event.count, event.lane) == ("false-assumption", 2, (3,))


@operation("assume", oracle="written")
@pytest.mark.parametrize(("offset", "false"), [(0, False), (4, False), (2, True)])
def test_a_claim_about_a_tensor_is_about_its_address(offset: int, false: bool) -> None:
    text = """
    entry @k(%p: tile<ptr<i32>>, %by: tile<i32>) {
      %q = offset %p, %by : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %v = make_tensor_view %q, shape = [4], strides = [1] : tensor_view<4xi32, strides=[1]>
      %w = assume div_by<16>, %v : tensor_view<4xi32, strides=[1]>
      %x = make_partition_view %w : partition_view<tile=(4), tensor_view<4xi32, strides=[1]>>
      return
    }
    """
    result = run(text, 2, [np.zeros(8, np.int32), offset])
    assert [u.kind for u in result.undefined] == (["false-assumption"] if false else [])


def test_a_branch_on_a_value_that_is_none_is_reported() -> None:
    text = """
    entry @k(%zero: tile<i32>) {
      %one = constant <i32: 1> : tile<i32>
      %q = divi %one, %zero signed : tile<i32>
      %c = cmpi equal %q, %one, signed : tile<i32> -> tile<i1>
      if %c {
      }
      return
    }
    """
    (event,) = run(text, 1, [0]).undefined
    assert event.kind == "undefined-value"
    assert event.operation == "if"
    assert "divi" in event.message
    assert not run(text, 1, [1]).undefined
