"""Which operation is said to have taken a lane's value away: the one that did, and no other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.tileref.kernels import apply
from tests.tileref.operations import operation

ADD = "(%p: tile<i32>, %q: tile<i32>) {{ %s0 = addi %p, %q : tile<i32> yield %s0 : tile<i32> }}"


def blamed(result: Any) -> list[tuple[str, str, int]]:
    """The operations that are reported, for what, and for how many lanes."""
    return sorted((e.operation, e.kind, e.count) for e in result.undefined)


def ones(*values: int) -> Any:
    return np.array(values, np.int32)


@operation("addi", oracle="written")
def test_lanes_of_two_operations_are_told_apart() -> None:
    # Lane 0 of a is missing, lane 1 of b is zero, and the sum has both.
    text = """
      %one = constant <i32: 1> : {A}
      %quotient = divi %one, %b signed : {A}
      %r = addi %a, %quotient : {A}
    """
    given = [ones(5, 6, 7, 8) for _ in range(2)]
    masks = [np.array([False, True, True, True] * 2), np.ones(8, np.bool_)]
    a, b = np.tile(given[0], 2), np.tile(ones(1, 0, 1, 1), 2)
    found = apply(text, [a, b], ["i32", "i32"], shape=(4,), masks=masks)
    assert list(found.undefined[:4]) == [True, True, False, False]
    assert blamed(found.result) == [("divi", "integer-division", 2)]


@operation("select", oracle="written")
def test_an_operation_is_not_blamed_for_lanes_that_something_else_took() -> None:
    # What the division took is hidden again; what is stored without a value is the load's.
    text = """
      %one = constant <i32: 1> : {A}
      %zero = constant <i32: 0> : {A}
      %quotient = divi %one, %b signed : {A}
      %sum = addi %a, %quotient : {A}
      %divided = cmpi not_equal %b, %zero, signed : {A} -> tile<4xi1>
      %r = select %divided, %sum, %one : tile<4xi1>, {A}
    """
    masks = [np.array([False, True, True, True] * 2), np.ones(8, np.bool_)]
    a, b = np.tile(ones(5, 6, 7, 8), 2), np.tile(ones(1, 0, 1, 1), 2)
    found = apply(text, [a, b], ["i32", "i32"], shape=(4,), masks=masks)
    assert list(found.undefined[:4]) == [True, False, False, False]
    assert blamed(found.result) == []


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        pytest.param("reduce", (), marks=operation("reduce", oracle="written")),
        pytest.param("scan", (4,), marks=operation("scan", oracle="written")),
    ],
)
def test_a_division_in_a_body_is_reported(kind: str, shape: tuple[int, ...]) -> None:
    reverse = "reverse=false " if kind == "scan" else ""
    text = (
        f"{kind} %a dim=0 {reverse}identities=[1 : i32] : {{A}} -> {{R}} (%p: tile<i32>, %q: tile<i32>)"
        " {{ %s0 = divi %p, %q signed : tile<i32> yield %s0 : tile<i32> }}"
    )
    found = apply(text, [ones(8, 2, 0, 1, 8, 2, 1, 1)], ["i32"], shape=(4,), result_shape=shape)
    lanes = 2 if kind == "scan" else 1
    assert found.undefined.sum() == lanes
    assert ("divi", "integer-division", lanes) in blamed(found.result)


@operation("reduce", oracle="written")
def test_a_value_that_a_body_captures_is_blamed_on_its_operation() -> None:
    text = f"""
      %k = constant <i32: 0> : tile<i32>
      %bad = divi %k, %k signed : tile<i32>
      %r = reduce %a dim=0 identities=[0 : i32] : {{A}} -> {{R}} {
        ADD.replace("%s0 =", "%s1 =").replace("yield", "%s0 = addi %s1, %bad : tile<i32> yield")
    }
    """
    found = apply(text, [ones(1, 2, 3, 4)], ["i32"], shape=(2,), result_shape=())
    assert found.undefined.all()
    assert ("divi", "integer-division", 2) in blamed(found.result)


@operation("reduce", oracle="written")
def test_a_fold_passes_on_who_took_its_operands_lanes() -> None:
    text = f"""
      %one = constant <i32: 1> : {{A}}
      %quotient = divi %one, %a signed : {{A}}
      %sum = addi %quotient, %b : {{A}}
      %r = reduce %sum dim=1 identities=[0 : i32] : {{A}} -> {{R}} {ADD}
    """
    masks = [np.ones(8, np.bool_), np.array([True, True, False, True] * 2)]
    found = apply(
        text,
        [ones(0, 1, 1, 1, 1, 0, 1, 1), ones(*range(8))],
        ["i32"] * 2,
        shape=(2, 2),
        result_shape=(2,),
        masks=masks,
    )
    # Rows 0 of both blocks hold a division by zero, rows 1 a lane that was not loaded.
    assert found.undefined.all()
    assert blamed(found.result) == [("divi", "integer-division", 2)]


@operation("insert", oracle="written")
def test_both_tiles_of_an_insertion_may_lack_values() -> None:
    text = """
      %k = constant <i32: 1> : tile<i32>
      %part = extract %b[%k] : {B} -> tile<2xi32>
      %r = insert %part, %a[%k] : tile<2xi32>, {A}
    """
    masks = [np.array([False, True, False, True] * 2), np.array([True, True, True, False] * 2)]
    found = apply(text, [ones(*range(8)), ones(*range(8))], ["i32"] * 2, shape=(4,), masks=masks)
    assert list(found.undefined) == [True, False, False, True] * 2


@operation("cat", oracle="written")
def test_both_tiles_of_a_cat_may_lack_values() -> None:
    text = """
      %k = constant <i32: 0> : tile<i32>
      %ab = cat %a, %b dim = 0 : {A}, {B} -> tile<4xi32>
      %r = cat %ab, %ab dim = 0 : tile<4xi32>, tile<4xi32> -> {R}
    """
    masks = [np.array([False, True] * 2), np.array([True, False] * 2)]
    found = apply(
        text, [ones(*range(4)), ones(*range(4))], ["i32"] * 2, shape=(2,), result_shape=(8,), masks=masks
    )
    assert list(found.undefined) == [True, False, False, True] * 4


@operation("offset", oracle="exact")
def test_an_address_that_wraps_is_none() -> None:
    offsets = [0, 1, -1, 2**60, -(2**60), 2**61, -(2**61), 2**63 - 1]
    for base in (0, 8, 2**40, -8):
        text = f"""
          %k = constant <i64: {base}> : {{A}}
          %from = int_to_ptr %k : {{A}} -> tile<8xptr<i64>>
          %there = offset %from, %a : tile<8xptr<i64>>, {{A}} -> tile<8xptr<i64>>
          %r = ptr_to_int %there : tile<8xptr<i64>> -> {{R}}
        """
        found = apply(text, [np.array(offsets * 2, np.int64)], ["i64"])
        for offset, address, lost in zip(offsets, found.array.tolist(), found.undefined, strict=False):
            exact = base % 2**64 + offset * 8
            wraps = not 0 <= exact < 2**64 or not -(2**63) <= offset * 8 < 2**63
            assert lost == wraps, (base, offset)
            assert wraps or address % 2**64 == exact


@operation("offset", oracle="written")
def test_an_offset_of_i1_is_signed() -> None:
    text = """
      %from = int_to_ptr %a : {A} -> tile<8xptr<i16>>
      %there = offset %from, %b : tile<8xptr<i16>>, {B} -> tile<8xptr<i16>>
      %r = ptr_to_int %there : tile<8xptr<i16>> -> {R}
    """
    given = np.arange(16) + 100
    found = apply(text, [given, np.array([True, False] * 8)], ["i64", "i1"], "i64")
    np.testing.assert_array_equal(found.array, given - 2 * np.array([1, 0] * 8))
