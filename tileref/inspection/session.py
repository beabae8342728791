"""Who looks on during a launch, and how they are told.

Where nobody looks nothing is changed: the steps of a region are instrumented once, before anything runs, and
only those that an observer asked for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from tileir.module import Function, Operation, Region
from tileir.ops.control import For, Loop
from tileir.ops.reduction import Reduce, Scan

from ..frame import Frame
from ..regions import Step
from ..result import Lint
from ..values import RuntimeValue, Selection
from .event import Event
from .observer import Observer
from .sites import Site, Sites

REPEATING = (For, Loop, Reduce, Scan)
"""Operations that run their region again and again."""


def _count_turn(frame: Frame, region: Region) -> None:
    """Note in a frame which turn of its loop or fold it is for."""
    parent = frame.parent
    assert parent is not None
    turns = getattr(parent, "turns", None)
    if turns is None:
        turns = parent.turns = {}
    frame.turn = turns[id(region)] = turns.get(id(region), -1) + 1


class Inspection:
    """The observers of one launch."""

    def __init__(self, function: Function, grid: tuple[int, int, int], observers: Sequence[Observer]) -> None:
        self.observers = list(observers)
        self.sites = Sites(function)
        self.concurrent = all(o.concurrent for o in observers)
        self.keeps = any(o.keeps_values for o in observers)
        self._listeners: dict[Site, list[Observer]] = {}
        for observer in observers:
            for site in observer.begin(self.sites, grid):
                self._listeners.setdefault(site, []).append(observer)
        self._by_operation = {
            id(s.operation): s for s in self._listeners if s.stage != "arguments" and s.operation is not None
        }
        self._by_region = {id(s.region): s for s in self._listeners if s.stage == "arguments"}
        self._covered: set[int] = set()
        self._cover(function.body)
        self._lock = threading.Lock()

    def _cover(self, region: Region) -> bool:
        """Note the regions that somebody looks into."""
        inside = [self._cover(inner) for operation in region.operations for inner in operation.regions]
        found = (
            any(inside)
            or id(region) in self._by_region
            or any(id(operation) in self._by_operation for operation in region.operations)
        )
        if found:
            self._covered.add(id(region))
        return found

    def covers(self, region: Region) -> bool:
        """Whether anybody looks into ``region``."""
        return id(region) in self._covered

    def unseen(self, steps: Sequence[Step]) -> list[Step]:
        """Those of ``steps`` that nobody looks at, so that it does not matter when they are run."""
        return [step for step in steps if id(step.operation) not in self._by_operation]

    def instrumented(self, steps: Mapping[int, list[Step]]) -> dict[int, list[Step]]:
        """The steps of each region, by its identity, with those between them that tell the observers."""
        return {id(r): self.instrument(r, steps[id(r)]) for r in self.sites.regions}

    def instrument(self, region: Region, steps: list[Step]) -> list[Step]:
        """The steps of a region with those between them that tell the observers."""
        found: list[Step] = []
        owner = self.sites.owners[id(region)]
        site = self._by_region.get(id(region))
        repeats = self.covers(region) and isinstance(owner, REPEATING)
        if repeats or site is not None:
            found.append(Step(steps[0].operation, self._at_start(region, site, repeats=repeats), looks=True))
        for step in steps:
            operation, dead = step.operation, () if self.keeps else step.dead
            here = self._by_operation.get(id(operation))
            if here is None:
                found.append(replace(step, dead=dead) if self.keeps else step)
                continue
            look = Step(operation, self._at(here), (operation.uses, operation.results), looks=True)
            if step.evaluate is None:
                # A terminator is the end, and nothing comes after it.
                found += [look, step]
            else:
                found += [replace(step, dead=()), replace(look, dead=dead)]
        return found

    def _at_start(self, region: Region, site: Site | None, *, repeats: bool) -> Callable[..., None]:
        def tell(frame: Frame, _operation: Operation) -> None:
            if repeats:
                _count_turn(frame, region)
            if site is not None:
                self._tell(site, frame, (), [frame.values[a] for a in region.arguments])

        return tell

    def _at(self, site: Site) -> Callable[..., None]:
        def tell(
            frame: Frame,
            _operation: Operation,
            given: tuple[RuntimeValue, ...],
            answered: tuple[RuntimeValue, ...],
        ) -> None:
            self._tell(site, frame, given, answered)

        return tell

    def _tell(
        self, site: Site, frame: Frame, given: Sequence[RuntimeValue], answered: Sequence[RuntimeValue]
    ) -> None:
        event = Event(site, self.sites.names, frame, given, answered)
        with self._lock:
            for observer in self._listeners[site]:
                observer.tell(event)

    def finished(self, blocks: Selection) -> None:
        """Say that these blocks have run to their end."""
        with self._lock:
            for observer in self.observers:
                observer.finished(blocks)

    @property
    def lints(self) -> list[Lint]:
        """What the observers that are lints found."""
        return [lint for observer in self.observers for lint in observer.lints]

    def end(self, *, complete: bool) -> None:
        """Say that the launch is over; ``complete`` is false if an error ended it."""
        failure: BaseException | None = None
        for observer in self.observers:
            try:
                observer.end(complete=complete)
            except Exception as error:
                failure = failure or error
        if failure is not None and complete:
            raise failure


@contextmanager
def looking_on(inspection: Inspection | None) -> Iterator[None]:
    """A launch, of whose end the observers are told."""
    if inspection is None:
        yield
        return
    try:
        yield
    except BaseException:
        inspection.end(complete=False)
        raise
    inspection.end(complete=True)
