"""Small kernels that other compilers and interpreters of tiles have got wrong in public."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.tileref.kernels import apply, at
from tests.tileref.scalar.compare import launch
from tests.tileref.scalar.programs import Programs
from tests.tileref.support import run
from tileref.evaluators import EVALUATORS
from tileref.undefined import Marks
from tileref.values import Tensor, Tile, View

SUM = "(%p: tile<f32>, %q: tile<f32>) { %s0 = addf %p, %q : tile<f32> yield %s0 : tile<f32> }"
PRODUCT = """
      %ones = constant <f32: 1.0> : tile<32x32xf32>
      %zeros = constant <f32: 0.0> : tile<1x32xf32>
      %new = mmaf %row, %ones, %zeros : tile<1x32xf32>, tile<32x32xf32>, tile<1x32xf32>
"""
REDUCTION = f"""
      %sum = reduce %row dim=1 identities=[0.0 : f32] : tile<1x32xf32> -> tile<1xf32> {SUM}
      %sum_2 = reshape %sum : tile<1xf32> -> tile<1x1xf32>
      %new = broadcast %sum_2 : tile<1x1xf32> -> tile<1x32xf32>
"""


@pytest.mark.parametrize("work", [REDUCTION, PRODUCT], ids=["reduced", "multiplied"])
@pytest.mark.parametrize("same", [True, False], ids=["same addresses", "another buffer"])
def test_a_slice_by_computed_rows_is_written_back(work: str, same: bool) -> None:
    text = f"""
    entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>, %row_: tile<i32>) {{
      %rows = iota : tile<1xi32>
      %first = reshape %row_ : tile<i32> -> tile<1xi32>
      %at_ = addi %rows, %first : tile<1xi32>
      %width = constant <i32: 32> : tile<1xi32>
      %start = muli %at_, %width : tile<1xi32>
      %start_2 = reshape %start : tile<1xi32> -> tile<1x1xi32>
      %start_n = broadcast %start_2 : tile<1x1xi32> -> tile<1x32xi32>
      %lane = iota : tile<32xi32>
      %lane_2 = reshape %lane : tile<32xi32> -> tile<1x32xi32>
      %where = addi %start_n, %lane_2 : tile<1x32xi32>
      %a_1 = reshape %a : tile<ptr<f32>> -> tile<1x1xptr<f32>>
      %a_n = broadcast %a_1 : tile<1x1xptr<f32>> -> tile<1x32xptr<f32>>
      %from = offset %a_n, %where : tile<1x32xptr<f32>>, tile<1x32xi32> -> tile<1x32xptr<f32>>
      %b_1 = reshape %b : tile<ptr<f32>> -> tile<1x1xptr<f32>>
      %b_n = broadcast %b_1 : tile<1x1xptr<f32>> -> tile<1x32xptr<f32>>
      %other = offset %b_n, %where : tile<1x32xptr<f32>>, tile<1x32xi32> -> tile<1x32xptr<f32>>
      %row, %t = load_ptr_tko weak %from : tile<1x32xptr<f32>> -> tile<1x32xf32>, token
      {work}
      %u = store_ptr_tko weak %{"from" if same else "other"}, %new token = %t
        : tile<1x32xptr<f32>>, tile<1x32xf32> -> token
      return
    }}
    """
    a, b = np.arange(96, dtype=np.float32).reshape(3, 32), np.full((3, 32), -1, np.float32)
    expected = [a.copy(), b.copy()]
    expected[0 if same else 1][1] = a[1].sum()
    result = run(text, 1, [a, b, 1])
    np.testing.assert_array_equal([a, b], expected)
    assert not result.undefined


def test_one_tensor_through_pointers_and_through_a_view() -> None:
    view = "partition_view<tile=(64x4), tensor_view<64x8xf32, strides=[8,1]>>"
    text = f"""
    entry @k(%x: tile<ptr<f32>>, %stage: tile<ptr<f32>>) {{
      %zero = constant <i32: 0> : tile<i32>
      %one = constant <i32: 1> : tile<i32>
      %two = constant <i32: 2> : tile<i32>
      %eight = constant <i32: 8> : tile<64xi32>
      %rows = iota : tile<64xi32>
      %starts = muli %rows, %eight : tile<64xi32>
      %start = make_token : token
      %v = make_tensor_view %x, shape = [64, 8], strides = [8, 1] : tensor_view<64x8xf32, strides=[8,1]>
      %tiles = make_partition_view %v : {view}
      %done = for %i in (%zero to %two, step %one) : tile<i32> iter_values(%t0 = %start) -> (token) {{
        {at("from", "x", "f32", 64, "i").replace("%from_l = iota : tile<64xi32>", "").replace("%from_l", "%starts")}
        {at("to", "stage", "f32", 64, "zero")}
        %column, %t1 = load_ptr_tko weak %from token = %t0 : tile<64xptr<f32>> -> tile<64xf32>, token
        %t2 = store_ptr_tko weak %to, %column token = %t1 : tile<64xptr<f32>>, tile<64xf32> -> token
        %again, %t3 = load_ptr_tko weak %to token = %t2 : tile<64xptr<f32>> -> tile<64xf32>, token
        %tile, %t4 = load_view_tko weak %tiles[%zero, %i] token = %t3
          : {view}, tile<i32> -> tile<64x4xf32>, token
        %sums = reduce %tile dim=1 identities=[0.0 : f32] : tile<64x4xf32> -> tile<64xf32> {SUM}
        %more = addf %sums, %again : tile<64xf32>
        %more_2 = reshape %more : tile<64xf32> -> tile<64x1xf32>
        %wide = broadcast %more_2 : tile<64x1xf32> -> tile<64x4xf32>
        %t5 = store_view_tko weak %wide, %tiles[%zero, %i] token = %t4
          : tile<64x4xf32>, {view}, tile<i32> -> token
        continue %t5 : token
      }}
      return
    }}
    """
    x = np.arange(512, dtype=np.float32).reshape(64, 8)
    expected = x.copy()
    for i in range(2):
        columns = slice(4 * i, 4 * i + 4)
        expected[:, columns] = (expected[:, columns].sum(1) + expected[:, i])[:, None]
    stage = np.zeros(64, np.float32)
    result = run(text, 1, [x, stage])
    np.testing.assert_array_equal(x, expected)
    # Column 1 was read when the first turn had already written over it.
    np.testing.assert_array_equal(stage, expected[:, 1])
    assert not result.undefined


def test_rows_by_indices_that_are_loaded_under_an_unsigned_bound() -> None:
    text = f"""
    entry @k(%x: tile<ptr<f16>>, %ids: tile<ptr<i32>>, %bound: tile<i32>, %stride: tile<i32>) {{
      %zero = constant <i32: 0> : tile<i32>
      {at("id_at", "ids", "i32", 8, "zero")}
      %lanes = iota : tile<8xi32>
      %bound_1 = reshape %bound : tile<i32> -> tile<1xi32>
      %bound_n = broadcast %bound_1 : tile<1xi32> -> tile<8xi32>
      %inside = cmpi less_than %lanes, %bound_n, unsigned : tile<8xi32> -> tile<8xi1>
      %pad = constant <i32: 0> : tile<8xi32>
      %id, %t = load_ptr_tko weak %id_at, %inside, %pad
        : tile<8xptr<i32>>, tile<8xi1>, tile<8xi32> -> tile<8xi32>, token
      %stride_1 = reshape %stride : tile<i32> -> tile<1xi32>
      %stride_n = broadcast %stride_1 : tile<1xi32> -> tile<8xi32>
      %row = muli %id, %stride_n : tile<8xi32>
      %row_2 = reshape %row : tile<8xi32> -> tile<8x1xi32>
      %row_n = broadcast %row_2 : tile<8x1xi32> -> tile<8x4xi32>
      %column = iota : tile<4xi32>
      %column_2 = reshape %column : tile<4xi32> -> tile<1x4xi32>
      %column_n = broadcast %column_2 : tile<1x4xi32> -> tile<8x4xi32>
      %where = addi %row_n, %column_n : tile<8x4xi32>
      %x_1 = reshape %x : tile<ptr<f16>> -> tile<1x1xptr<f16>>
      %x_n = broadcast %x_1 : tile<1x1xptr<f16>> -> tile<8x4xptr<f16>>
      %to = offset %x_n, %where : tile<8x4xptr<f16>>, tile<8x4xi32> -> tile<8x4xptr<f16>>
      %active_2 = reshape %inside : tile<8xi1> -> tile<8x1xi1>
      %active = broadcast %active_2 : tile<8x1xi1> -> tile<8x4xi1>
      %value = itof %where signed : tile<8x4xi32> -> tile<8x4xf16>
      %u = store_ptr_tko weak %to, %value, %active : tile<8x4xptr<f16>>, tile<8x4xf16>, tile<8x4xi1> -> token
      return
    }}
    """
    ids, x = np.array([5, 2, 7, 0, 99, 99, 99, 99], np.int32), np.full((8, 6), -1, np.float16)
    expected = x.copy()
    for row in (5, 2, 7, 0):
        expected[row, :4] = row * 6 + np.arange(4)
    result = run(text, 1, [x, ids, 4, 6])
    np.testing.assert_array_equal(x, expected)
    assert not result.undefined


@pytest.mark.parametrize(
    ("name", "expected"),
    [("addi", [0, 1, 1, 0]), ("subi", [0, 1, 1, 0]), ("muli", [1, 0, 0, 0]), ("xori", [0, 1, 1, 0])],
)
def test_one_bit_wraps(name: str, expected: list[int]) -> None:
    a, b = np.array([1, 1, 0, 0], bool), np.array([1, 0, 1, 0], bool)
    found = apply(f"{name} %a, %b : {{R}}", [a, b], ["i1", "i1"], shape=(2,)).array
    assert found.astype(int).tolist() == expected
    wide = apply(
        f"%n = {name} %a, %b : {{A}}\n%r = exti %n signed : {{A}} -> {{R}}", [a, b], ["i1", "i1"], "i8", (2,)
    )
    assert wide.array.tolist() == [-x for x in expected]
    fold = "(%p: tile<i1>, %q: tile<i1>) {{ %s0 = addi %p, %q : tile<i1> yield %s0 : tile<i1> }}"
    text = f"reduce %a dim=0 identities=[false] : {{A}} -> {{R}} {fold}"
    assert apply(
        text, [np.array([1, 1, 1, 0], bool)], ["i1"], shape=(2,), result_shape=()
    ).array.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("sign", "given", "expected"),
    [("unsigned", 48, 0), ("signed", 8, -8), ("unsigned", 200, 8), ("signed", -56, -8)],
)
def test_a_pair_of_shifts_wraps_at_eight_bits(sign: str, given: int, expected: int) -> None:
    text = f"""
      %four = constant <i8: 4> : {{A}}
      %up = shli %a, %four : {{A}}
      %r = shri %up, %four {sign} : {{A}}
    """
    found = apply(text, [np.full(4, given).astype(np.int8)], ["i8"], shape=(2,)).array
    assert (found == expected).all()


def test_200_is_more_than_50_where_it_is_read_unsigned() -> None:
    a, b = np.full(4, -56, np.int8), np.full(4, 50, np.int8)
    for sign, more in (("unsigned", True), ("signed", False)):
        less = apply(
            f"cmpi less_than %a, %b, {sign} : {{A}} -> {{R}}", [a, b], ["i8", "i8"], "i1", (2,)
        ).array
        assert (less != more).all()
        assert (
            apply(f"maxi %a, %b {sign} : {{R}}", [a, b], ["i8"] * 2, shape=(2,)).array
            == (-56 if more else 50)
        ).all()
        assert (
            apply(f"mini %a, %b {sign} : {{R}}", [a, b], ["i8"] * 2, shape=(2,)).array
            == (50 if more else -56)
        ).all()
        wide = apply(f"exti %a {sign} : {{A}} -> {{R}}", [a], ["i8"], "i32", (2,)).array
        assert (wide == (200 if more else -56)).all()
    negative = apply("constant <i8: -7> : {R}", [a], ["i8"], shape=(2,)).array
    assert negative.tolist() == [-7] * 4


def _bytes(value: Any) -> Any:
    """Everything that a value is made of."""
    match value:
        case Tile():
            return value.data.tobytes(), _bytes(value.undefined)
        case Marks():
            return value.lanes.tobytes(), [lanes.tobytes() for _, lanes in value.parts]
        case Tensor():
            return [a.tobytes() for a in (value.base, *value.shape, *value.strides)]
        case View():
            return _bytes(value.tensor)
        case tuple():
            return [_bytes(v) for v in value]
    return None


def test_no_operation_changes_its_operands(monkeypatch: pytest.MonkeyPatch) -> None:
    changed, seen = [], set()

    def watched(evaluate: Any) -> Any:
        def evaluator(frame: Any, op: Any, *operands: Any) -> Any:
            before = [_bytes(v) for v in operands]
            answer = evaluate(frame, op, *operands)
            seen.add(op.mnemonic)
            if [_bytes(v) for v in operands] != before:
                changed.append(op.mnemonic)
            return answer

        return evaluator

    for kind, evaluate in list(EVALUATORS.items()):
        monkeypatch.setitem(EVALUATORS, kind, watched(evaluate))
    for seed in range(200, 230):
        launch(Programs(seed).program)
    assert not changed
    assert len(seen) > 60


def test_masks_are_heeded() -> None:
    text = """
    entry @k(%p: tile<ptr<i32>>, %on: tile<i1>) {
      %v = constant <i32: 5> : tile<i32>
      %t = store_ptr_tko weak %p, %v, %on : tile<ptr<i32>>, tile<i32>, tile<i1> -> token
      return
    }
    """
    for on in (False, True):
        array = np.zeros(1, np.int32)
        run(text, 1, [array, on])
        assert array[0] == (5 if on else 0)


def test_a_padding_of_zero_is_a_padding() -> None:
    text = f"""
    entry @k(%x: tile<ptr<f32>>, %to: tile<ptr<f32>>) {{
      %zero = constant <i32: 0> : tile<i32>
      {at("from", "x", "f32", 256, "zero")}
      %sixteen = constant <i32: 16> : tile<256xi32>
      %on = cmpi less_than %from_l, %sixteen, signed : tile<256xi32> -> tile<256xi1>
      %pad = constant <f32: 0.0> : tile<256xf32>
      %v, %t = load_ptr_tko weak %from, %on, %pad
        : tile<256xptr<f32>>, tile<256xi1>, tile<256xf32> -> tile<256xf32>, token
      %s = reduce %v dim=0 identities=[0.0 : f32] : tile<256xf32> -> tile<f32> {SUM}
      %u = store_ptr_tko weak %to, %s : tile<ptr<f32>>, tile<f32> -> token
      return
    }}
    """
    out = np.zeros(1, np.float32)
    result = run(text, 1, [np.arange(16, dtype=np.float32), out])
    assert out[0] == 120
    assert not result.undefined
    assert not result.undefined_elements


@pytest.mark.parametrize("masked", [True, False])
def test_an_atomic_addition_of_some_lanes(masked: bool) -> None:
    mask, mask_type = (", %on", ", tile<64xi1>") if masked else ("", "")
    text = f"""
    entry @k(%sum: tile<ptr<f32>>) {{
      %lanes = iota : tile<64xi32>
      %limit = constant <i32: 33> : tile<64xi32>
      %on = cmpi less_than %lanes, %limit, signed : tile<64xi32> -> tile<64xi1>
      %one = constant <f32: 1.0> : tile<64xf32>
      %p_1 = reshape %sum : tile<ptr<f32>> -> tile<1xptr<f32>>
      %p = broadcast %p_1 : tile<1xptr<f32>> -> tile<64xptr<f32>>
      %old, %t = atomic_rmw_tko relaxed device %p, addf, %one{mask}
        : tile<64xptr<f32>>, tile<64xf32>{mask_type} -> tile<64xf32>, token
      return
    }}
    """
    total = np.zeros(1, np.float32)
    run(text, 3, [total])
    assert total[0] == 3 * (33 if masked else 64)


def test_a_branch_that_is_always_taken_and_stores_elsewhere_changes_no_product() -> None:
    view = "partition_view<tile=(4x4), tensor_view<4x4xf32, strides=[4,1]>>"
    text = f"""
    entry @k(%a: tile<ptr<f32>>, %scratch: tile<ptr<f32>>, %c: tile<ptr<f32>>, %yes: tile<i1>) {{
      %x, %y, %z = get_tile_block_id : tile<i32>
      %zero = constant <i32: 0> : tile<i32>
      %a_v = make_tensor_view %a, shape = [4, 4], strides = [4, 1] : tensor_view<4x4xf32, strides=[4,1]>
      %a_p = make_partition_view %a_v : {view}
      %m, %t = load_view_tko weak %a_p[%zero, %zero] : {view}, tile<i32> -> tile<4x4xf32>, token
      if %yes {{
        %first = cmpi equal %x, %zero, signed : tile<i32> -> tile<i1>
        %two = constant <f32: 2.0> : tile<f32>
        %u = store_ptr_tko weak %scratch, %two, %first : tile<ptr<f32>>, tile<f32>, tile<i1> -> token
      }}
      %zeros = constant <f32: 0.0> : tile<4x4xf32>
      %r = mmaf %m, %m, %zeros : tile<4x4xf32>, tile<4x4xf32>, tile<4x4xf32>
      %c_v = make_tensor_view %c, shape = [4, 4], strides = [4, 1] : tensor_view<4x4xf32, strides=[4,1]>
      %c_p = make_partition_view %c_v : {view}
      %w = store_view_tko weak %r, %c_p[%zero, %zero] : tile<4x4xf32>, {view}, tile<i32> -> token
      return
    }}
    """
    for taken in (True, False):
        scratch, c = np.zeros(1, np.float32), np.zeros((4, 4), np.float32)
        run(text, 1, [np.ones((4, 4), np.float32), scratch, c, taken])
        assert (c == 4).all()
        assert scratch[0] == (2 if taken else 0)
