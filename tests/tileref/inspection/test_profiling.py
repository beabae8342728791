"""What operations cost."""

from __future__ import annotations

import json
import time
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

import tileir
import tileref
from tests.tileref.inspection.kernels import LOOP
from tests.tileref.test_cli import run
from tileir.ops.control import For
from tileir.ops.floating import AddF
from tileref.evaluators import EVALUATORS
from tileref.inspection.profiling import REST, Cost, Profile, table
from tileref.regions import Step

OPERATIONS = [*tileir.parse(LOOP).functions[0].body.walk()]


def launch(**options: Any) -> tuple[Any, tileref.LaunchResult]:
    x, out = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    result = tileref.launch(tileir.parse(LOOP), 4, [x, out, 1], **options)
    return out, result


def test_every_operation_once_with_how_often_it_ran() -> None:
    out, result = launch(profile=True, threads=1)
    assert out.tobytes() == launch()[0].tobytes()
    rows = {(row.operation, row.results): row for row in result.profile}
    assert len(rows) == len(result.profile)
    # Block 3 goes round four times, and nobody needs a turn of his own.
    assert rows["addf", "%8"].runs == 4
    assert rows["mulf", "%6"].runs == 1
    assert rows[REST, ""].location is None
    # What no block decides is evaluated before blocks run, and counts as the rest.
    ran = {row.operation for row in result.profile} - {REST}
    assert ran < {operation.mnemonic for operation in OPERATIONS}
    assert {"for", "load_ptr_tko", "store_ptr_tko"} < ran
    assert [row.seconds for row in result.profile] == sorted(
        (r.seconds for r in result.profile), reverse=True
    )


def test_nobody_who_did_not_ask_gets_one() -> None:
    assert launch()[1].profile == []


def test_what_is_inside_of_a_region_is_not_the_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that the operations turn themselves: a second for each addition, ten for each loop."""
    now = 0
    monkeypatch.setattr(time, "thread_time_ns", lambda: now)
    monkeypatch.setattr(time, "process_time", lambda: now / 1e9)

    def taking(evaluate: Any, nanoseconds: int) -> Any:
        def slow(*arguments: Any) -> Any:
            nonlocal now
            now += nanoseconds
            return evaluate(*arguments)

        return slow

    for kind, cost in ((AddF, 10**9), (For, 10**10)):
        monkeypatch.setitem(EVALUATORS, kind, taking(EVALUATORS[kind], cost))
    rows = {row.operation: row for row in launch(profile=True, threads=1)[1].profile}
    assert (rows["addf"].runs, rows["addf"].seconds) == (4, 4.0)
    assert (rows["for"].runs, rows["for"].seconds) == (1, 10.0)
    assert rows[REST].seconds == 0


def test_threads_are_added_up() -> None:
    function = tileir.parse(LOOP).functions[0]
    operation = function.body.operations[0]
    profile = Profile(function)

    def spin(*_: Any) -> None:
        end = time.thread_time() + 0.01
        while time.thread_time() < end:
            pass

    ((step,),) = profile.timed({0: [Step(operation, spin)]}).values()
    threads = [Thread(target=step.evaluate, args=(None, operation)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (row,) = (row for row in profile.costs() if row.operation != REST)
    assert row.runs == 3
    assert row.seconds >= 0.03


def test_the_table_is_of_shares() -> None:
    rows = [Cost("addf", "%3", "k.py:7:4", 2, 0.75), Cost(REST, "", None, 1, 0.25)]
    assert table(rows).splitlines()[1:] == [
        "   750.000  75.0%        2  %3 = addf  k.py:7:4",
        "   250.000  25.0%           everything else",
    ]


def test_from_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "loop.tilebc"
    path.write_bytes(tileir.write(tileir.parse(LOOP)))
    arguments = (str(path), "--grid", "4", "--arg", "iota:f32:16", "--arg", "zeros:f32:16", "--arg", "i32:1")
    code, out, err = run("run", *arguments, "--profile")
    assert code == 0
    assert out == ""
    assert "%8 = addf" in err
    assert REST in err
    code, out, _ = run("run", *arguments, "--profile", "--json")
    assert {"operation", "results", "location", "runs", "seconds"} == set(json.loads(out)["profile"][0])
    assert "profile" in json.loads(run("run", *arguments, "--json")[1])
