"""One launch while it runs: what it runs on, and what it has to say."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tileir.errors import TileError
from tileir.module import Function, Module, Operation

from .formats import Array
from .frame import Frame
from .kinds import Kind
from .memory import Buffer, Memory
from .ordering.ordering import Ordering
from .result import Assertion, Printed
from .targets.model import Model
from .undefined import Marks, Other, Undefined, describe, first_lane, named

if TYPE_CHECKING:
    from .inspection.session import Inspection

Check = Literal["on", "off", "strict"]
EVENTS = 1000
"""Kinds of events and operations a result tells apart; more are counted, not described."""


class UndefinedBehaviour(TileError):
    """Raised at the first undefined thing under ``check="strict"``."""


@dataclass
class Run:
    """The state that all blocks of a launch share."""

    module: Module
    entry: Function
    grid: tuple[int, int, int]
    memory: Memory
    model: Model
    check: Check = "on"
    step_budget: int = 10**8
    globals: dict[str, Buffer] = field(default_factory=dict)
    steps: dict[int, Any] = field(default_factory=dict)
    """The steps of each region by its ``id``; see ``tileref.regions``."""
    inspection: Inspection | None = None
    """Who looks on, if anybody does."""
    assertions: list[Assertion] = field(default_factory=list)
    waits: Callable[[], str] | None = None
    """What the blocks wait for, where they run in turns; see ``tileref.progress``."""
    ordering: Ordering | None = None
    """The watch over the order of accesses; None where nothing is checked."""
    _prints: list[tuple[int, str, Operation]] = field(default_factory=list)
    _events: dict[tuple[Any, ...], Undefined] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _steps: int = 0

    def coordinate(self, block: int) -> tuple[int, int, int]:
        """Where in the grid block number ``block`` is."""
        x, y, _ = self.grid
        return block % x, block // x % y, block // (x * y)

    @property
    def undefined(self) -> list[Undefined]:
        """What has been undefined so far, one entry a kind and operation."""
        return list(self._events.values())

    def add_print(self, operation: Operation, block: int, text: str) -> None:
        """Note what block number ``block`` printed."""
        self._prints.append((block, text, operation))

    def ordered_prints(self) -> list[Printed]:
        """Everything printed, block by block; a block's own in the order it printed them."""
        x, y, _ = self.grid
        return [
            Printed(text, (block % x, block // x % y, block // (x * y)), describe(operation)["location"])
            for block, text, operation in sorted(self._prints, key=lambda p: p[0])
        ]

    def add_assertion(
        self, operation: Operation, message: str, block: tuple[int, int, int], lane: tuple[int, ...]
    ) -> None:
        """Note an element of an assertion that was 0."""
        if len(self.assertions) < EVENTS:
            self.assertions.append(Assertion(message, block, lane, describe(operation)["location"]))

    def step(self, operation: Operation) -> None:
        """Count an iteration of a loop, and stop a launch that will not."""
        self._steps += 1
        if self._steps > self.step_budget:
            raise TileError(
                "the launch went round its loops too often; it may never end",
                rule="step-budget",
                found=None if self.waits is None else self.waits(),
                expected=f"at most {self.step_budget} iterations over all blocks that run together",
                **describe(operation),
            )

    def report(
        self,
        frame: Frame,
        operation: Operation,
        kind: Kind,
        message: str | Callable[[tuple[int, ...]], str],
        lanes: Array,
        *,
        buffer: int | None = None,
        index: Callable[[tuple[int, ...]], int] | None = None,
        other: Other | None = None,
        values: tuple[Any, ...] = (),
    ) -> None:
        """Note that ``operation`` did something undefined on ``lanes`` (blocks or 1, *shape), if on any."""
        if self.check == "off":
            return
        count = int(np.count_nonzero(lanes))
        if not count:
            return
        if lanes.shape[0] == 1 and frame.count > 1:
            count *= frame.count
        first = first_lane(lanes)
        self.add_event(
            (kind, id(operation)),
            Undefined(
                kind.value,
                message=message if isinstance(message, str) else message(first),
                count=count,
                block=frame.coordinate(first[0]),
                lane=first[1:],
                buffer=buffer,
                index=None if index is None else index(first),
                other=other,
                values=values,
                **describe(operation),
            ),
        )

    def add_event(self, key: tuple[Any, ...], event: Undefined) -> None:
        """Note an event; those of one ``key`` are counted, and the lowest block's is kept."""
        with self._lock:
            known = self._events.get(key)
            if known is not None:
                first, count = min(known, event, key=_place), known.count + event.count
                self._events[key] = replace(first, count=count)
            elif len(self._events) < EVENTS:
                self._events[key] = event
        if self.check == "strict":
            raise UndefinedBehaviour(
                event.message, rule=event.kind, operation=event.operation, location=event.location
            )

    def report_use(self, frame: Frame, operation: Operation, marks: Marks, use: str) -> None:
        """Note that ``operation`` uses lanes that have no value."""
        origins = ", ".join(dict.fromkeys(map(named, marks.origins)))
        self.report(
            frame, operation, Kind.UNDEFINED_VALUE, f"{use} has no value (from {origins})", marks.lanes
        )


def _place(event: Undefined) -> tuple[int, ...]:
    """Which block an event is of, z first, and which lane: threads meet blocks in any order."""
    return (*reversed(event.block or ()), *(event.lane or ()))
