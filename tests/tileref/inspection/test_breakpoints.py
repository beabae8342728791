"""Breakpoints: where they stop, and what is at hand there."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tileir
import tileref
from tests.tileref.inspection.kernels import BRANCH, FOLD, LOOP
from tests.tileref.support import run
from tileir.locations import SourceLocation

BLOCKS = 4
Stops = list[SimpleNamespace]


@pytest.fixture
def stops(monkeypatch: pytest.MonkeyPatch) -> Stops:
    """What every stop had in its variables, with some values looked up while it stood."""
    found: Stops = []

    def hook() -> None:
        variables = dict(sys._getframe(1).f_locals)
        values = variables["values"]
        variables["looked_up"] = {name: np.array(values[name]) for name in values}
        for name in ("%6", "%66"):
            try:
                values[name]
            except KeyError as error:
                variables[f"error_{name[1:]}"] = str(error)
        found.append(SimpleNamespace(**variables))

    monkeypatch.setattr(sys, "breakpointhook", hook)
    return found


def loop_arguments() -> list[Any]:
    return [np.arange(4 * BLOCKS, dtype=np.float32), np.zeros(4 * BLOCKS, np.float32), 1]


def test_in_the_loop_of_one_block(stops: Stops) -> None:
    x = loop_arguments()[0].reshape(BLOCKS, 4)
    run(LOOP, BLOCKS, loop_arguments(), breakpoint="addf block=2 iteration=1")
    (stop,) = stops
    assert stop.op.mnemonic == "addf"
    assert stop.blocks.tolist() == [2]
    assert stop.found == "%8"
    np.testing.assert_array_equal(stop.looked_up["%8"], x[2:3] * 2)
    np.testing.assert_array_equal(stop.looked_up["%iterArg0"], x[2:3])
    np.testing.assert_array_equal(stop.looked_up["%result"], x[2:3])
    np.testing.assert_array_equal(stop.looked_up["%loopIdx"], [1])
    np.testing.assert_array_equal(stop.looked_up["%arg2"], [1])
    assert stop.value("result") is not None
    assert stop.undefined("%8") is None
    # Values past their last use are still there, values to come are not.
    assert stop.looked_up["%reshape"].tolist() == [[8]]
    assert "%6" not in stop.looked_up
    assert "%6 is not computed yet here" in stop.error_6
    assert "no tile is called %66" in stop.error_66


def test_all_blocks_together_once_an_operation(stops: Stops) -> None:
    run(LOOP, BLOCKS, loop_arguments(), breakpoint=["mulf", "get_tile_block_id"], threads=8)
    block, square = stops
    assert block.blocks.tolist() == square.blocks.tolist() == [0, 1, 2, 3]
    assert block.looked_up["%blockId_x"].tolist() == [0, 1, 2, 3]
    x = loop_arguments()[0].reshape(BLOCKS, 4)
    np.testing.assert_array_equal(
        square.looked_up["%6"], (x * np.arange(1, 5, dtype=np.float32)[:, None]) ** 2
    )


def test_a_condition_points_at_its_lane(stops: Stops) -> None:
    run(LOOP, BLOCKS, loop_arguments(), breakpoint="addf >25 first")
    (stop,) = stops
    # 13 * 2 in block 3 is the first sum beyond 25.
    assert stop.blocks.tolist() == [3]
    assert stop.event.iteration == (1,)
    assert stop.at == (0, 1)
    assert stop.value(stop.found)[stop.at] == 26.0


def test_where_blocks_have_parted(stops: Stops) -> None:
    run(BRANCH, 6, [np.zeros(6, np.int32)], breakpoint="subi if store_*")
    odd, joined, store = stops
    assert odd.blocks.tolist() == [1, 3, 5]
    # Two values are called %5; here it is that of this side.
    assert odd.looked_up["%5"].tolist() == [-1, -3, -5]
    assert odd.looked_up["%0"].tolist() == [1, 1, 1]
    assert joined.looked_up["%2"].tolist() == [0, -1, 4, -3, 8, -5]
    assert "%5" not in joined.looked_up
    assert store.looked_up["%2"].tolist() == [0, -1, 4, -3, 8, -5]


def test_in_a_body_every_lane_stands_for_itself(stops: Stops) -> None:
    x = np.arange(16, dtype=np.float32)
    run(FOLD, 2, [x, np.zeros(4, np.float32)], breakpoint="addf bodies block=1 iteration=2")
    (stop,) = stops
    rows = x.reshape(2, 4, 2)[1]
    assert stop.looked_up["%reduce_lhs"].tolist() == rows[:3].sum(axis=0).tolist()
    assert stop.looked_up["%reduce_rhs"].tolist() == rows[3].tolist()
    # Values from outside are those of the block that a lane belongs to.
    np.testing.assert_array_equal(stop.looked_up["%reshape_2"], [rows, rows])


def test_the_source_line(stops: Stops, tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "kernel.py"
    path.write_text("first\n    total = total + x  # here\n")
    module = tileir.parse(LOOP)
    for operation in module.walk():
        operation.location = SourceLocation(None, str(path), 2 if operation.mnemonic == "addf" else 9, 4)
    tileref.launch(module, 1, loop_arguments(), breakpoint=["kernel.py:2 iteration=0", "mulf"])
    add, square = stops
    assert add.location == f"{path}:2:4"
    assert add.source == "total = total + x  # here"
    assert square.source is None
    assert add.summary == f"{path}:2:4 block=0 iteration=0 %8 = addf : tile<4xf32>"
    assert capsys.readouterr().out.splitlines() == [
        f"> {path}:2:4 block=0 iteration=0 %8 = addf : tile<4xf32>",
        "-> total = total + x  # here",
        f"> {path}:9:4 block=0 %6 = mulf : tile<4xf32>",
    ]


def test_leaving_the_debugger_ends_the_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    from bdb import BdbQuit

    def leave() -> None:
        raise BdbQuit

    monkeypatch.setattr(sys, "breakpointhook", leave)
    args = loop_arguments()
    with pytest.raises(BdbQuit):
        run(LOOP, BLOCKS, args, breakpoint="mulf")
    assert not args[1].any()
