"""Time tileref against Triton's interpreter and plain numpy, on the same work in one run.

    python benchmarks/bench_interpreter.py [--large] [--only WORD] [--repeat N] [--no-triton] [--json FILE]
    python benchmarks/bench_interpreter.py [--large] [--only WORD] --profile

Triton's interpreter needs ``triton`` and ``torch`` (its CPU build will do); the kernels need cuda-tile. The
results of all sides are compared before anything is timed, and the sides take turns. ``first`` is the first
call in the process, with reading and preparing the kernel; the bytecode is compiled before it (``compile``).
``cpu`` is the processor time of all threads in the best call, and ``peak MiB`` what a call allocates at its
peak, in arrays and objects. ``--profile`` times nothing and prints where our own time goes instead, on one
thread.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Read when Triton is imported.
os.environ["TRITON_INTERPRET"] = "1"
sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from interpreter import tasks
from interpreter.measure import Times, peak_memory, seconds
from interpreter.tasks import Arrays, Task

from tileref.inspection.profiling import table


@dataclass
class Side:
    """One way to do a task: what the table calls it, how to run it, and where its answer is."""

    name: str
    run: Callable[[], object]
    answer: np.ndarray[Any, Any]
    times: Times
    compile: float | None = None


def sides(task: Task, *, triton: bool) -> list[Side]:
    """Every side of a task, each with arrays of its own."""
    made = []

    def fresh() -> Arrays:
        return task.arrays()

    if triton:
        arrays = fresh()
        made.append(Side("triton", tasks.triton(task, arrays), arrays[-1], Times()))
    for model in task.models:
        arrays = fresh()
        run, compiling = tasks.ours(task, arrays, model)
        made.append(Side(model, run, arrays[-1], Times(), compiling))
    arrays = fresh()
    made.append(Side("numpy", tasks.numpy(task, arrays), arrays[-1], Times()))
    return made


def check(task: Task, made: list[Side]) -> None:
    """Stop unless the sides agree."""
    reference = next(s for s in made if s.name == "numpy").answer
    relative, absolute = task.tolerance
    for side in made:
        if not np.allclose(side.answer, reference, rtol=relative, atol=absolute):
            worst = np.nanmax(np.abs(side.answer - reference))
            sys.exit(f"{task.name}: {side.name} differs from numpy by up to {worst}")


def measure(task: Task, *, repeat: int, triton: bool) -> list[dict[str, Any]]:
    """A row for every side."""
    made = sides(task, triton=triton)
    for side in made:
        side.times.first = seconds(side.run)
    check(task, made)
    for number in range(repeat):
        for side in made:
            if number < _calls(side.times.first):
                side.times.add(side.run)
    for side in made:
        side.times.memory = peak_memory(side.run)
    base = next((s for s in made if s.name == "triton"), None)
    goals = dict(task.goals)
    return [
        {
            "task": task.name,
            "side": side.name,
            "best_seconds": side.times.best,
            "median_seconds": side.times.median,
            "cpu_seconds": min(side.times.cpu),
            "first_seconds": side.times.first,
            "compile_seconds": side.compile,
            "peak_bytes": side.times.memory,
            "times_faster": None if base is None else base.times.best / side.times.best,
            "goal": goals.get(side.name),
        }
        for side in made
    ]


WIDTHS = (10, 10, 10, 10, 9, 9, 9, 6)


def _calls(first: float) -> int:
    """How often a side is timed at most whose first call took so many seconds."""
    return 1000 if first < 1 else 3 if first < 20 else 1


def line(row: dict[str, Any]) -> str:
    """A row of the table."""

    def ms(value: float | None) -> str:
        return "" if value is None else f"{value * 1e3:.1f}"

    memory = f"{row['peak_bytes'] / 2**20:.1f}"
    ratio = "" if row["times_faster"] is None else f"{row['times_faster']:.1f}"
    goal = "" if row["goal"] is None else f"{row['goal']:g}"
    return (
        f"  {row['side']:8}{ms(row['best_seconds']):>10}{ms(row['median_seconds']):>10}"
        f"{ms(row['cpu_seconds']):>10}{ms(row['first_seconds']):>10}{ms(row['compile_seconds']):>9}{memory:>9}{ratio:>9}{goal:>6}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Time tileref against Triton's interpreter and numpy.")
    parser.add_argument("--large", action="store_true", help="the longer list as well")
    parser.add_argument("--only", default="", help="tasks whose name contains this")
    parser.add_argument("--repeat", type=int, default=7, help="timed calls; fewer where one takes long")
    parser.add_argument("--no-triton", action="store_true", help="leave Triton out")
    parser.add_argument("--profile", action="store_true", help="where our time goes, by operation")
    parser.add_argument("--json", metavar="FILE", help="write the rows here, - for the standard output")
    chosen = parser.parse_args()
    asked = [t for t in tasks.TASKS if (chosen.large or not t.large) and chosen.only in t.name]
    if chosen.profile:
        for task in asked:
            for model in task.models:
                print(f"\n{task.name}, {model}\n{table(tasks.profiled(task, model))}", flush=True)
        return
    out = sys.stderr if chosen.json == "-" else sys.stdout
    head = zip(
        ("best ms", "median", "cpu", "first", "compile", "peak MiB", "x triton", "goal"), WIDTHS, strict=True
    )
    print(" " * 10 + "".join(f"{name:>{width}}" for name, width in head), file=out)
    rows = []
    for task in asked:
        print(task.name, file=out)
        for row in measure(task, repeat=max(1, chosen.repeat), triton=not chosen.no_triton):
            rows.append(row)
            print(line(row), file=out, flush=True)
    if chosen.json == "-":
        print(json.dumps(rows, indent=1))
    elif chosen.json:
        Path(chosen.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
