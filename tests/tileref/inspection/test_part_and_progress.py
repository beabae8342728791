"""Some of the blocks alone, how far a launch is, and how long it would take."""

from __future__ import annotations

import io
import time
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import tileir
import tileref
from tests.tileref.inspection.kernels import BRANCH, LOOP
from tests.tileref.support import run
from tests.tileref.waiting_kernels import CHAIN_DOWN, CHAIN_UP
from tileir.errors import ArgumentError, TileError
from tileref.inspection import Progress
from tileref.inspection.display import Display
from tileref.inspection.estimating import _extrapolated, spell

GRID = """
entry @k(%x: tile<ptr<i32>>) {
  %b, %by, %bz = get_tile_block_id : tile<i32>
  %nx, %ny, %nz = get_num_tile_blocks : tile<i32>
  %row = muli %by, %nx : tile<i32>
  %at = addi %row, %b : tile<i32>
  %n = muli %nx, %ny : tile<i32>
  %to = offset %x, %at : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
  %t = store_ptr_tko weak %to, %n : tile<ptr<i32>>, tile<i32> -> token
  return
}
"""


@pytest.mark.parametrize("together", [1, 12])
@pytest.mark.parametrize("threads", [1, 4])
def test_some_blocks_of_a_grid_that_stays_as_it_is(
    monkeypatch: pytest.MonkeyPatch, together: int, threads: int
) -> None:
    monkeypatch.setattr("tileref.schedule.blocks_together", lambda *_: together)
    out = np.zeros(12, np.int32)
    result = run(GRID, (3, 4), [out], blocks="1,2 0-1 11", threads=threads)
    np.testing.assert_array_equal(np.flatnonzero(out), [0, 1, 7, 11])
    assert set(out.tolist()) == {0, 12}
    assert result.blocks is not None
    assert result.blocks.tolist() == [0, 1, 7, 11]
    assert result.grid == (3, 4, 1)
    assert run(GRID, (3, 4), [out]).blocks is None
    with pytest.raises(ArgumentError, match="no such block"):
        run(GRID, (3, 4), [out], blocks=12)


def test_progress_counts_every_block_once(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Progress] = []
    with monkeypatch.context() as patch:
        patch.setattr("tileref.schedule.blocks_together", lambda *_: 1)
        run(GRID, (3, 4), [np.zeros(12, np.int32)], progress=told.append, threads=3)
    assert [p.done for p in told] == list(range(1, 13))
    assert {p.total for p in told} == {12}
    assert told[-1].left == 0
    assert all(a.seconds <= b.seconds for a, b in pairwise(told))
    told.clear()
    run(GRID, (3, 4), [np.zeros(12, np.int32)], progress=told.append, blocks="0-3")
    assert [(p.done, p.total) for p in told] == [(4, 4)]
    with pytest.raises(ArgumentError, match="progress is a function"):
        run(GRID, (3, 4), [np.zeros(12, np.int32)], progress=3)
    assert Progress(25, 100, 5.0).left == 15.0
    assert Progress(0, 100, 5.0).left is None


def test_an_estimate_leaves_the_arrays_alone() -> None:
    out = np.zeros(8, np.int32)
    found = tileref.estimate(tileir.parse(BRANCH), 8, [out])
    assert not out.any()
    assert (found.blocks, found.sampled) == (8, 8)
    assert 0 < found.seconds < 60
    assert "for 8 blocks (8 took" in str(found)


def test_an_estimate_of_more_blocks_than_are_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the launch itself, generously: machines have other things to do."""
    blocks = 1000
    monkeypatch.setattr("tileref.schedule.CACHE_BYTES", 1 << 11)
    monkeypatch.setattr("tileref.schedule.WORTH_BYTES", 1)
    args: list[Any] = [np.zeros(4 * blocks, np.float32), np.zeros(4 * blocks, np.float32), 3]
    module = tileir.parse(LOOP)
    # Blocks go round as often as their number says, so that a sample must be spread over all of them.
    found = tileref.estimate(module, blocks, args, threads=1)
    assert found.sampled < blocks
    started = time.process_time()
    tileref.launch(module, blocks, args, threads=1)
    took = time.process_time() - started
    assert took / 10 < found.seconds < took * 10


@pytest.mark.parametrize("text", [CHAIN_DOWN, CHAIN_UP])
def test_an_estimate_where_blocks_wait_for_each_other(text: str) -> None:
    """Of those that wait for higher blocks no part alone comes to its end."""
    flags, out = np.zeros(100, np.int32), np.zeros(100, np.int32)
    found = tileref.estimate(tileir.parse(text), 100, [flags, out])
    assert found.sampled == 100
    assert not flags.any()
    with pytest.raises(TileError, match="no sample ends in time"):
        tileref.estimate(tileir.parse(text), 100, [flags, out], seconds=0)


def test_what_blocks_cost_together_and_alone() -> None:
    # A round of the real launch: 4 blocks on each of 2 workers in 3 s, 125 rounds.
    assert _extrapolated([(1, 1.0), (8, 3.0)], 1000, 4, 2) == 375.0
    # 2 s a chunk and 0.5 s a block: 10 chunks of 100 blocks on one worker.
    assert _extrapolated([(2, 3.0), (10, 7.0)], 1000, 100, 1) == 10 * (2 + 50)
    # Blocks that take turns are one group, which begins once.
    assert _extrapolated([(8, 2.0), (64, 9.0)], 1000, 1000, 1) == 1.0 + 1000 / 8
    # A block that took longer with others around it is taken for what it cost.
    assert _extrapolated([(1, 0.1), (8, 8.0)], 1000, 16, 1) == 63 * 16 * 1.0
    # One block took too long to try more.
    assert _extrapolated([(1, 60.0)], 10, 5, 1) == 2 * 5 * 60.0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "0.001 s"), (0.0234, "0.02 s"), (12.4, "12 s"), (99.0, "99 s"), (180.0, "3 min"), (9000.0, "2 h")],
)
def test_times_as_people_say_them(seconds: float, text: str) -> None:
    assert spell(seconds) == text


def test_the_display_is_for_terminals_and_the_patient() -> None:
    def shown(terminal: bool, patience: float, wait: float) -> str:
        stream = io.StringIO()
        console = Console(file=stream, force_terminal=terminal, width=100)
        with Display(console, patience) as display:
            time.sleep(wait)
            display(Progress(30, 100, 1.0))
        return stream.getvalue()

    assert "30/100" in shown(True, 0.0, 0.2)
    assert shown(False, 0.0, 0.2) == ""
    assert shown(True, 60.0, 0.0) == ""
