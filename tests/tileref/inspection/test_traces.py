"""Traces and watches: the lines, against numpy."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tileir
import tileref
from tests.tileref.inspection.kernels import BRANCH, FOLD, LOOP
from tests.tileref.support import pointers, run
from tileir.locations import SourceLocation
from tileref.inspection import Trace, Watch
from tileref.inspection.summary import number

BLOCKS = 4


def loop_arguments() -> list[Any]:
    return [np.arange(4 * BLOCKS, dtype=np.float32) / 2, np.zeros(4 * BLOCKS, np.float32), 1]


def traced(selection: str, *, as_json: bool = False, kind: type[Trace] = Trace) -> list[Any]:
    stream = io.StringIO()
    run(LOOP, BLOCKS, loop_arguments(), observe=[kind(selection, to=stream, as_json=as_json)])
    lines = stream.getvalue().splitlines()
    return [json.loads(line) for line in lines] if as_json else lines


def test_a_line_a_value_and_block() -> None:
    x = loop_arguments()[0].reshape(BLOCKS, 4)
    expected = [
        f"block={b} %6 = mulf : tile<4xf32> [{' '.join(str(v) for v in (x[b] * np.float32(b + 1)) ** 2)}]"
        for b in range(BLOCKS)
    ]
    assert traced("mulf") == expected
    assert traced("%6 block=1-2") == expected[1:3]


def test_the_loop_that_a_value_belongs_to() -> None:
    assert traced("%8 block=2") == [
        "block=2 iteration=0 %8 = addf : tile<4xf32> [4.0 4.5 5.0 5.5]",
        "block=2 iteration=1 %8 = addf : tile<4xf32> [8.0 9.0 10.0 11.0]",
        "block=2 iteration=2 %8 = addf : tile<4xf32> [12.0 13.5 15.0 16.5]",
    ]
    assert traced("%8 iteration=2-9") == [
        "block=2 iteration=2 %8 = addf : tile<4xf32> [12.0 13.5 15.0 16.5]",
        "block=3 iteration=2 %8 = addf : tile<4xf32> [18.0 19.5 21.0 22.5]",
        "block=3 iteration=3 %8 = addf : tile<4xf32> [24.0 26.0 28.0 30.0]",
    ]
    assert traced("for !%for block=1") == [
        "block=1 iteration=0 %loopIdx = for : tile<i32> 0",
        "block=1 iteration=0 %iterArg0 = for : tile<4xf32> [0.0 0.0 0.0 0.0]",
        "block=1 iteration=1 %loopIdx = for : tile<i32> 1",
        "block=1 iteration=1 %iterArg0 = for : tile<4xf32> [2.0 2.5 3.0 3.5]",
    ]


def test_an_operation_without_results_shows_what_it_was_given() -> None:
    assert traced("store_* block=1") == [
        "block=1 store_ptr_tko %4 : tile<4xptr<f32>> [argument1+16 argument1+20 argument1+24 argument1+28]",
        "block=1 store_ptr_tko %6 : tile<4xf32> [16.0 25.0 36.0 49.0]",
    ]


def test_conditions_name_the_first_lane() -> None:
    assert traced("%6 >20") == [
        "block=1 %6 = mulf : tile<4xf32> [16.0 25.0 36.0 49.0] where >20: 3 of 4 lanes, first (1,)",
        "block=2 %6 = mulf : tile<4xf32> [144.0 182.25 225.0 272.25] where >20: 4 of 4 lanes, first (0,)",
        "block=3 %6 = mulf : tile<4xf32> [576.0 676.0 784.0 900.0] where >20: 4 of 4 lanes, first (0,)",
    ]
    assert traced("%6 >20 first=2") == traced("%6 >20")[:2]
    assert traced("addf >20 first")[0].startswith("block=3 iteration=2 %8")
    assert traced("nan inf undefined") == []


def test_changed_is_to_the_same_block_before() -> None:
    lines = traced("%loopIdx %arg2 changed")
    assert [line.split(" = ")[0] for line in lines] == [
        f"block={b} iteration={i} %loopIdx" for i in (1, 2, 3) for b in range(i, BLOCKS)
    ]


def test_coordinates_in_a_grid_of_more_dimensions() -> None:
    stream = io.StringIO()
    run(
        BRANCH,
        (2, 3),
        [np.zeros(6, np.int32)],
        observe=Trace("get_tile_block_id !%blockId_z block=1,1-2", to=stream),
    )
    assert stream.getvalue().splitlines() == [
        "block=1,1,0 %blockId_x = get_tile_block_id : tile<i32> 1",
        "block=1,2,0 %blockId_x = get_tile_block_id : tile<i32> 1",
        "block=1,1,0 %blockId_y = get_tile_block_id : tile<i32> 1",
        "block=1,2,0 %blockId_y = get_tile_block_id : tile<i32> 2",
    ]


def test_a_body_names_its_lanes() -> None:
    stream = io.StringIO()
    x = np.arange(16, dtype=np.float32)
    run(FOLD, 2, [x, np.zeros(4, np.float32)], observe=Trace("%9 block=1 iteration=1", to=stream))
    assert stream.getvalue().splitlines() == [
        "block=1 iteration=1 lane=0 %9 = addf : tile<f32> 30.0",
        "block=1 iteration=1 lane=1 %9 = addf : tile<f32> 33.0",
    ]


def test_long_tiles_are_cut_short_and_elements_without_a_value_hidden() -> None:
    text = f"""
    entry @k(%x: tile<ptr<i8>>) {{
      %i = iota : tile<16xi32>
      {pointers("x", "p", "i8", 16, "i")}
      %v, %t = load_ptr_tko weak %p : tile<16xptr<i8>> -> tile<16xi8>, token
      %m = reshape %v : tile<16xi8> -> tile<16x1xi8>
      return
    }}
    """
    stream = io.StringIO()
    run(text, 1, [np.arange(15, dtype=np.int8)], observe=Trace("load_* reshape !%reshape", to=stream))
    assert stream.getvalue().splitlines() == [
        "block=0 %result = load_ptr_tko : tile<16xi8> [0 1 2 ... 13 14 ?]",
        "block=0 %reshape_0 = reshape : tile<16x1xi8> [[0] [1] [2] ... [13] [14] [?]]",
    ]


def test_numbers_by_as_few_digits_as_tell_them_apart() -> None:
    values = {
        np.float16(2048): "2048.0",
        np.float16(0.1): "0.1",
        np.float16(65504): "65500.0",
        np.float32(1e9): "1000000000.0",
        np.float32(16777217.0): "16777216.0",
        np.float64(1e300): "1e+300",
        np.float32(1e-7): "1e-07",
        np.float64(-0.0): "-0.0",
        np.float32(np.nan): "nan",
        np.float64(-np.inf): "-inf",
        ml_dtypes.bfloat16(256): "256",
        np.int8(-5): "-5",
        np.bool_(True): "1",
    }
    for value, text in values.items():
        assert number(value) == text
        assert type(value)(float(text)).tobytes() == value.tobytes()


def test_json_has_the_elements() -> None:
    first, *_ = traced("%6 block=1 >20", as_json=True)
    assert first == {
        "event": "trace",
        "operation": "mulf",
        "location": None,
        "block": [1, 0, 0],
        "iteration": [],
        "value": "%6",
        "type": "tile<4xf32>",
        "role": "result",
        "condition": ">20",
        "lanes": 3,
        "first_lane": [1],
        "min": 16.0,
        "max": 49.0,
        "undefined": 0,
        "nan": 0,
        "first_nan": None,
        "inf": 0,
        "summary": "[16.0 25.0 36.0 49.0]",
        "elements": [16.0, 25.0, 36.0, 49.0],
    }
    operand = traced("store_* block=0", as_json=True)[1]
    assert (operand["value"], operand["role"]) == ("%6", "operand")


def test_json_has_no_nan() -> None:
    text = """
    entry @k(%x: tile<f32>, %y: tile<f16>) {
      %z = addf %x, %x : tile<f32>
      %w = addf %y, %y : tile<f16>
      return
    }
    """
    stream = io.StringIO()
    run(text, 1, [float("nan"), float("-inf")], observe=Trace("addf", to=stream, as_json=True))

    def refuse(constant: str) -> Any:
        raise AssertionError(constant)

    nan, inf = (json.loads(line, parse_constant=refuse) for line in stream.getvalue().splitlines())
    assert (nan["elements"], nan["nan"], nan["first_nan"], nan["min"]) == ("nan", 1, [], None)
    assert (inf["elements"], inf["inf"], inf["min"]) == ("-inf", 1, "-inf")


def test_the_line_begins_with_the_source_line() -> None:
    module = tileir.parse(LOOP)
    for operation in module.walk():
        if operation.mnemonic == "mulf":
            operation.location = SourceLocation(None, "kernel.py", 12, 4)
    stream = io.StringIO()
    tileref.launch(module, BLOCKS, loop_arguments(), observe=Trace("kernel.py:12 block=0", to=stream))
    assert stream.getvalue() == "kernel.py:12:4 block=0 %6 = mulf : tile<4xf32> [0.0 0.25 1.0 2.25]\n"


def test_to_a_file_and_to_standard_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "trace.txt"
    trace = Trace("mulf block=0", to=path)
    run(LOOP, BLOCKS, loop_arguments(), trace=trace)
    once = path.read_text()
    assert once.count("\n") == 1
    # A second launch of one observer goes on in its file.
    run(LOOP, BLOCKS, loop_arguments(), trace=trace)
    assert path.read_text() == once * 2
    assert capsys.readouterr().out == ""
    run(LOOP, BLOCKS, loop_arguments(), trace=["mulf block=0", "%5 block=0"])
    assert capsys.readouterr().out == "block=0 %5 = addi : tile<i32> 1\n" + once
    run(LOOP, 1, loop_arguments(), trace=True)
    assert len(capsys.readouterr().out.splitlines()) > 20
    with pytest.raises(tileir.TileError, match="cannot write the file: No space left"):
        run(LOOP, 1, loop_arguments(), trace=Trace(to="/dev/full"))
    with pytest.raises(tileir.TileError, match="cannot write the file"):
        run(LOOP, 1, loop_arguments(), trace=Trace(to=tmp_path / "no" / "file"))


def test_watching_an_accumulator() -> None:
    assert traced("%8 block=1", kind=Watch) == [
        "block=1 iteration=0 %8 = addf : tile<4xf32> new min=2.0 max=3.5 [2.0 2.5 3.0 3.5]",
        "block=1 iteration=1 %8 = addf : tile<4xf32> changed 4 of 4 first=(0) min=4.0 max=7.0 [4.0 5.0 6.0 7.0]",
    ]


def test_watching_every_block_on_its_own() -> None:
    """A block's first sum is new to it, whatever the other blocks had before."""
    found = traced("%8", as_json=True, kind=Watch)
    assert {(line["block"][0], line["iteration"][0]): line["changed"] for line in found} == {
        (b, i): None if i == 0 else 4 for b in range(BLOCKS) for i in range(b + 1)
    }
    assert all(line["first_changed"] == ([0] if line["changed"] else None) for line in found)


def test_watching_what_becomes_nan() -> None:
    text = """
    entry @k(%x: tile<f32>) {
      %zero = constant <i32: 0> : tile<i32>
      %one = constant <i32: 1> : tile<i32>
      %three = constant <i32: 3> : tile<i32>
      %start = constant <f32: [1.0, 2.0]> : tile<2xf32>
      %factor = constant <f32: [1.0, 1.0e38]> : tile<2xf32>
      %r = for %i in (%zero to %three, step %one) : tile<i32> iter_values(%a = %start) -> (tile<2xf32>) {
        %b = mulf %a, %factor : tile<2xf32>
        %d = subf %b, %b : tile<2xf32>
        %c = addf %d, %b : tile<2xf32>
        continue %c : tile<2xf32>
      }
      return
    }
    """
    stream = io.StringIO()
    run(text, 1, [0.0], observe=Watch("addf", to=stream))
    assert stream.getvalue().splitlines() == [
        "block=0 iteration=0 %2 = addf : tile<2xf32> new min=1.0 max=2e+38 [1.0 2e+38]",
        "block=0 iteration=1 %2 = addf : tile<2xf32> changed 1 of 2 first=(1) min=1.0 max=1.0 nan=1 first_nan=(1)"
        " [1.0 nan]",
        # The same pattern of a NaN as before is no change.
        "block=0 iteration=2 %2 = addf : tile<2xf32> changed 0 of 2 min=1.0 max=1.0 nan=1 first_nan=(1) [1.0 nan]",
    ]
