"""Where the time of a launch goes: processor time by operation."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tileir.module import Function, Operation

from ..frame import Frame
from ..regions import Step
from ..undefined import describe
from .sites import Sites

REST = "everything else"
"""What the row is called that holds the time of no operation."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What an operation of a kernel cost in a launch.

    Attributes:
        operation: its name; ``everything else`` for what reading arguments, choosing blocks that run together
            and passing values from operation to operation took.
        results: what it defines, such as ``%17``.
        location: its source location.
        runs: how often it was evaluated, each time for all blocks that run together.
        seconds: of processor time, over all threads, without what operations inside of its regions took.
    """

    operation: str
    results: str
    location: str | None
    runs: int
    seconds: float


@dataclass(slots=True)
class _Sum:
    runs: int = 0
    nanoseconds: int = 0


@dataclass
class _Thread:
    """What one thread measured: a sum for each operation, and the time inside of those that are running."""

    sums: dict[Operation, _Sum] = field(default_factory=dict)
    inside: list[int] = field(default_factory=list)


class Profile:
    """The time of one launch."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._local = threading.local()
        self._threads: list[_Thread] = []
        self._started = time.process_time()

    def timed(self, steps: Mapping[int, list[Step]]) -> dict[int, list[Step]]:
        """The steps of each region, each with a clock around it."""
        return {region: [self._timed(step) for step in each] for region, each in steps.items()}

    def _timed(self, step: Step) -> Step:
        if step.evaluate is None or step.looks:
            return step
        return replace(step, evaluate=self._around(step.evaluate))

    def _around(self, evaluate: Callable[..., Any]) -> Callable[..., Any]:
        def run(frame: Frame, operation: Operation, *operands: Any) -> Any:
            thread = self._thread()
            thread.inside.append(0)
            start = time.thread_time_ns()
            try:
                return evaluate(frame, operation, *operands)
            finally:
                spent = time.thread_time_ns() - start
                found = thread.sums.setdefault(operation, _Sum())
                found.runs += 1
                found.nanoseconds += spent - thread.inside.pop()
                if thread.inside:
                    thread.inside[-1] += spent

        return run

    def _thread(self) -> _Thread:
        found: _Thread | None = getattr(self._local, "thread", None)
        if found is None:
            found = self._local.thread = _Thread()
            self._threads.append(found)
        return found

    def costs(self) -> list[Cost]:
        """What every operation cost that ran, the dearest first, and what is left of the launch."""
        total = time.process_time() - self._started
        sums: dict[Operation, _Sum] = {}
        for thread in self._threads:
            for operation, part in thread.sums.items():
                found = sums.setdefault(operation, _Sum())
                found.runs += part.runs
                found.nanoseconds += part.nanoseconds
        names = Sites(self._function).names
        rows = [
            Cost(
                operation.mnemonic,
                ", ".join(names[value] for value in operation.results),
                describe(operation)["location"],
                found.runs,
                found.nanoseconds / 1e9,
            )
            for operation, found in sums.items()
        ]
        rest = total - sum(row.seconds for row in rows)
        return sorted([*rows, Cost(REST, "", None, 1, max(0.0, rest))], key=lambda row: -row.seconds)


def table(costs: list[Cost]) -> str:
    """A line for every cost, with its share of all."""
    total = sum(cost.seconds for cost in costs) or 1.0
    lines = [f"{'ms':>10} {'share':>6} {'runs':>8}  operation"]
    for cost in costs:
        what = f"{cost.results} = {cost.operation}" if cost.results else cost.operation
        where = "" if cost.location is None else f"  {cost.location}"
        runs = "" if cost.operation == REST else str(cost.runs)
        lines.append(f"{cost.seconds * 1e3:10.3f} {cost.seconds / total:6.1%} {runs:>8}  {what}{where}")
    return "\n".join(lines)
