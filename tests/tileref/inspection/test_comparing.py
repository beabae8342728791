"""Two models on one kernel: where they part, against what is known of the two."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tileir
import tileref
from tests.tileref.inspection.kernels import LOOP
from tests.tileref.support import pointers
from tests.tileref.test_cli import run as command
from tileir.errors import ArgumentError, TileError
from tileref.cli import Code
from tileref.copies import copied

LANES = 8
TWICE = f"""
entry @twice(%x: tile<ptr<f64>>, %scratch: tile<ptr<f32>>, %y: tile<ptr<f32>>) {{
  %b, %by, %bz = get_tile_block_id : tile<i32>
  %eight = constant <i32: 8> : tile<i32>
  %from = muli %b, %eight : tile<i32>
  %from1 = reshape %from : tile<i32> -> tile<1xi32>
  %from8 = broadcast %from1 : tile<1xi32> -> tile<8xi32>
  %lane = iota : tile<8xi32>
  %i = addi %from8, %lane : tile<8xi32>
  {pointers("x", "px", "f64", 8, "i")}
  {pointers("scratch", "ps", "f32", 8, "i")}
  {pointers("y", "py", "f32", 8, "i")}
  %wide, %t = load_ptr_tko weak %px : tile<8xptr<f64>> -> tile<8xf64>, token
  %small = ftof %wide rounding<nearest_even> : tile<8xf64> -> tile<8xf8E4M3FN>
  %single = ftof %small rounding<nearest_even> : tile<8xf8E4M3FN> -> tile<8xf32>
  %u = store_ptr_tko weak %ps, %single token = %t : tile<8xptr<f32>>, tile<8xf32> -> token
  %again, %v = load_ptr_tko weak %ps token = %u : tile<8xptr<f32>> -> tile<8xf32>, token
  %sum = addf %again, %single rounding<nearest_even> : tile<8xf32>
  %w = store_ptr_tko weak %py, %sum token = %v : tile<8xptr<f32>>, tile<8xf32> -> token
  return
}}
"""
"""Rounds to an 8-bit float, which sm_90 does by way of f32, and the plain reading at once."""
ABOVE = 1.0625 + 2.0**-40
"""Just above the midpoint of 1.0 and 1.125: rounded to f32 first it is on it, and goes to the even 1.0."""


def arguments(blocks: int = 2) -> list[Any]:
    x = np.linspace(0.5, 2.0, blocks * LANES)
    x[[1, 9, 11]] = ABOVE, -ABOVE, ABOVE
    return [x, np.zeros(x.size, np.float32), np.zeros(x.size, np.float32)]


def test_the_operation_that_rounds_twice_is_where_they_part() -> None:
    args = arguments()
    found = tileref.compare(tileir.parse(TWICE), 2, args)
    assert not found.same
    [origin] = found.origins
    assert origin is found.first
    assert (origin.operation, origin.type) == ("ftof", "tile<8xf8E4M3FN>")
    assert (origin.first.block, origin.first.lane) == ((0, 0, 0), (1,))
    assert origin.first.values == ("1.125", "1")
    assert origin.first.bits == ("0x39", "0x38")
    assert (origin.tiles, origin.arises, origin.elements, origin.of, origin.ulps) == (2, 2, 3, 16, 1.0)
    assert origin.reasons is not None
    # What comes after only passes it on: the conversion back, what memory gave back, and the sum of both.
    assert [p.operation for p in found.parts[1:]] == ["ftof", "load_ptr_tko", "addf"]
    assert all(p.arises == 0 and p.reasons is None for p in found.parts[1:])
    [end] = [a for i, a in found.arguments.items() if i == 2]
    assert np.flatnonzero(end.lanes).tolist() == [1, 9, 11]
    assert (end.index, end.values) == ((1,), ("2.25", "2.0"))
    # Nobody else's memory is touched.
    np.testing.assert_array_equal(args[2], 0)


def test_a_model_agrees_with_itself() -> None:
    for model in ("spec", "sm_90"):
        found = tileref.compare(tileir.parse(TWICE), 2, arguments(), models=(model, model))
        assert found.same
        assert str(found) == f"{model} and {model} agree in every bit"


def test_a_selection_knows_whether_its_operands_differ() -> None:
    [part] = tileref.compare(tileir.parse(TWICE), 2, arguments(), selection="addf block=1").parts
    assert (part.operation, part.arises, part.tiles, part.elements) == ("addf", 0, 1, 2)
    assert part.first.block == (1, 0, 0)
    [part] = tileref.compare(tileir.parse(TWICE), 2, arguments(), blocks="1").parts[:1]
    assert (part.operation, part.first.block, part.first.lane) == ("ftof", (1, 0, 0), (1,))


@pytest.mark.parametrize("together", [1, 2])
def test_blocks_together_or_one_by_one(monkeypatch: pytest.MonkeyPatch, together: int) -> None:
    monkeypatch.setattr("tileref.schedule.blocks_together", lambda *_: together)
    one = tileref.compare(tileir.parse(TWICE), 2, arguments())
    assert [(p.value, p.tiles, p.elements) for p in one.parts[:1]] == [(one.parts[0].value, 2, 3)]


COUNTING = """
entry @counting(%x: tile<ptr<f64>>, %y: tile<ptr<i32>>) {
  %wide, %t = load_ptr_tko weak %x : tile<ptr<f64>> -> tile<f64>, token
  %small = ftof %wide rounding<nearest_even> : tile<f64> -> tile<f8E4M3FN>
  %single = ftof %small rounding<nearest_even> : tile<f8E4M3FN> -> tile<f32>
  %one = constant <f32: 1.0> : tile<f32>
  %zero = constant <i32: 0> : tile<i32>
  %step = constant <i32: 1> : tile<i32>
  %three = constant <i32: 3> : tile<i32>
  %more = cmpf greater_than ordered %single, %one : tile<f32> -> tile<i1>
  %last = select %more, %three, %step : tile<i1>, tile<i32>
  %sum = for %i in (%zero to %last, step %step) : tile<i32> iter_values(%acc = %zero) -> (tile<i32>) {
    %next = addi %acc, %step : tile<i32>
    continue %next : tile<i32>
  }
  %u = store_ptr_tko weak %y, %sum token = %t : tile<ptr<i32>>, tile<i32> -> token
  return
}
"""
"""A loop that goes round three times under the plain reading of ``ABOVE``, and once under sm_90."""


def test_control_flow_that_parts() -> None:
    args = [np.array([ABOVE]), np.zeros(1, np.int32)]
    found = tileref.compare(tileir.parse(COUNTING), 1, args)
    assert found.apart == 0
    assert [p.operation for p in found.origins] == ["ftof"]
    # Sm_90 leaves the loop after a turn, whose values were the same.
    assert [p.operation for p in found.parts] == ["ftof", "ftof", "cmpf", "select", "for"]
    assert found.parts[-1].first.values == ("3", "1")
    found = tileref.compare(tileir.parse(COUNTING), 1, args, models=("sm_90", "spec"))
    # Two turns that sm_90 never came to: the counter, what is carried, and the sum of each.
    assert found.apart == 6
    assert found.parts[-1].first.values == ("1", "3")
    assert "6 tiles of spec are of blocks and turns that sm_90 never came to" in str(found)


def test_what_an_atomic_addition_flushed_is_found_where_it_is_read() -> None:
    text = """
    entry @flushes(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>) {
      %v = constant <f32: 1.0e-40> : tile<f32>
      %old, %t = atomic_rmw_tko relaxed device %x, addf, %v : tile<ptr<f32>>, tile<f32> -> tile<f32>, token
      %new, %u = load_ptr_tko weak %x token = %t : tile<ptr<f32>> -> tile<f32>, token
      %w = store_ptr_tko weak %y, %new token = %u : tile<ptr<f32>>, tile<f32> -> token
      return
    }
    """
    found = tileref.compare(tileir.parse(text), 1, [np.zeros(1, np.float32), np.zeros(1, np.float32)])
    [origin] = found.origins
    assert origin.operation == "load_ptr_tko"
    assert origin.reasons is not None
    assert "atomic" in origin.reasons[0]
    # 1e-40 is the 71362nd subnormal, and there are as many values between it and zero.
    assert origin.ulps == np.float32(1e-40).view(np.uint32) == 71362


def test_what_cannot_be_compared_is_an_error() -> None:
    kernel = tileir.parse(LOOP)
    args = [np.arange(16, dtype=np.float32), np.zeros(16, np.float32), 1]
    with pytest.raises(ArgumentError, match="two models are compared"):
        tileref.compare(kernel, 4, args, models=["spec"])
    with pytest.raises(ArgumentError, match="no model of this name"):
        tileref.compare(kernel, 4, args, models=["spec", "sm_1"])
    for selection in ("nan", "first", "bodies", ">1", "differs=x.npz"):
        with pytest.raises(ArgumentError, match="what is compared is named by"):
            tileref.compare(kernel, 4, args, selection=selection)
    with pytest.raises(TileError, match=r"take more than 0 MiB.* fewer blocks") as caught:
        tileref.compare(kernel, 4, args, limit=100)
    assert caught.value.operation is not None


def test_copies_share_what_the_arrays_shared() -> None:
    base = np.arange(24, dtype=np.int32)
    args = [base[4:12], 7, base[::-2], base[6:20].reshape(2, 7), np.zeros(3, ml_dtypes.bfloat16)]
    args.append(args[0])
    made = copied(args)
    for old, new in zip(args, made, strict=True):
        np.testing.assert_array_equal(old, new)
        if isinstance(old, np.ndarray):
            assert not np.may_share_memory(old, new)
            assert (old.strides, old.dtype) == (new.strides, new.dtype)
    assert made[5] is made[0]
    made[0][2] = -1
    assert made[3][0, 0] == -1
    made[2][:] = -2
    assert made[0].tolist() == [4, -2, -1, -2, 8, -2, 10, -2]
    assert base.tolist() == list(range(24))


def test_apart_from_each_other_they_stay_apart() -> None:
    base = np.zeros(16, np.float32)
    low, high = copied([base[:8], base[8:]])
    assert not np.shares_memory(low, high)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    kernel, x = tmp_path / "twice.tilebc", tmp_path / "x.npy"
    kernel.write_bytes(tileir.write(tileir.parse(TWICE)))
    np.save(x, arguments()[0])
    return str(kernel), str(x)


def test_the_command(files: tuple[str, str]) -> None:
    kernel, x = files
    rest = ("--grid", "2", "--arg", x, "--arg", "zeros:f32:16", "--arg", "zeros:f32:16")
    code, out, _ = command("compare", kernel, *rest)
    assert code == 1
    lines = out.splitlines()
    assert lines[0] == (
        "block=0 %6 = ftof : tile<8xf8E4M3FN> arises here: 3 of 16 elements in 2 tiles, by at most 1 ulp; "
        "the first is [1]: 1.125 (0x39) and 1 (0x38)"
    )
    assert [line.partition(":")[0] for line in lines[1:3]] == ["    spec", "    sm_90"]
    assert lines[-1].startswith("argument 2: 3 of 16 elements differ, by at most ")
    code, out, _ = command("compare", kernel, *rest, "--origins")
    assert len(out.splitlines()) == 5
    code, out, _ = command("compare", kernel, *rest, "--models", "sm_90,sm_90")
    assert (code, out) == (0, "sm_90 and sm_90 agree in every bit\n")
    code, out, _ = command("compare", kernel, *rest, "--json")
    assert code == 1
    found = json.loads(out)
    assert found["same"] is False
    assert [p["operation"] for p in found["parts"]] == ["ftof", "ftof", "load_ptr_tko", "addf"]
    assert found["parts"][0]["first"]["values"] == ["1.125", "1"]
    assert [a["argument"] for a in found["arguments"]] == [1, 2]


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (("--models", "spec"), Code.USAGE, "is not two models"),
        (("--models", "spec,gtx"), Code.USAGE, "no model of this name"),
        (("--at", "mulff"), Code.USAGE, "no operation mulff"),
        (("--at", "nan"), Code.USAGE, "what is compared is named by"),
        (("--blocks", "9"), Code.USAGE, "no such block"),
        (("--entry", "other"), Code.USAGE, "other"),
    ],
)
def test_commands_that_are_wrong(files: tuple[str, str], options: Any, code: int, says: str) -> None:
    kernel, x = files
    rest = ("--grid", "2", "--arg", x, "--arg", "zeros:f32:16", "--arg", "zeros:f32:16")
    found, out, err = command("compare", kernel, *rest, *options)
    assert (found, out) == (code, "")
    assert says in err
