"""Observers: whatever is told what a kernel does, and finds in it what it was asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileir.errors import ArgumentError
from tileir.module import Value
from tileir.types import TileType

from ..result import Lint
from ..values import Selection
from .changes import Changes
from .conditions import Lanes
from .event import Event, Seen
from .expected import Expected
from .selections import Where, where
from .sites import Site, Sites


@dataclass(frozen=True, slots=True)
class Match:
    """A value of an event, in those of its blocks that a selection names.

    Attributes:
        event: what happened.
        seen: the value; None where the operation has no tiles.
        rows: which of the event's blocks.
        lanes: where the selection's condition holds, (rows, *shape); None if it has none.
    """

    event: Event
    seen: Seen | None
    rows: Selection
    lanes: Lanes | None


class Observer:
    """Somebody who is told about what a selection names; see ``tileref.inspection.selections``."""

    keeps_values = False
    """Whether values must stay after their last use."""
    concurrent = False
    """Whether the blocks may run on several threads, so that events come in no order."""

    @property
    def lints(self) -> list[Lint]:
        """What is wrong with the kernel, if that is what is looked for."""
        return []

    def __init__(self, selection: str | Where = "") -> None:
        self.where = where(selection)
        self._left = self.where.limit
        self._found: Mapping[Site, tuple[Value, ...]] = {}
        self._changes: dict[tuple[str, Value], Changes] = {}
        self._expected: list[Expected] = []
        self._grid = (1, 1, 1)

    def begin(self, sites: Sites, grid: tuple[int, int, int]) -> Mapping[Site, tuple[Value, ...]]:
        """Before a launch: the sites to be told about.

        Raises:
            ArgumentError: the selection names something that the kernel does not have.
        """
        self._grid = grid
        self._left = self.where.limit
        self._changes = {}
        self._found = sites.find(self.where, grid=grid)
        self._expected = [Expected(path) for path in self.where.differs]
        for each in self._expected:
            each.begin(sites, self._found, self.where, grid)
        return self._found

    def tell(self, event: Event) -> None:
        """Something happened at one of the sites."""
        for match in self.matches(event):
            self.matched(match)

    def matched(self, match: Match) -> None:
        """The selection names this."""
        raise NotImplementedError

    def finished(self, blocks: Selection) -> None:
        """These blocks are done."""
        for changes in self._changes.values():
            changes.forget(blocks)

    def end(self, *, complete: bool) -> None:
        """The launch is over."""

    def matches(self, event: Event) -> Iterator[Match]:
        """What of an event the selection names."""
        if self._left == 0:
            return
        rows = self._rows(event)
        if not len(rows):
            return
        named = self._found[event.site]
        answers = any(isinstance(value.type, TileType) for value in event.site.values)
        tiles = [s for s in event.tiles() if s.value in named or not answers]
        if not tiles and not self._conditional:
            yield from self._within_limit(Match(event, None, rows, None))
        for seen in tiles:
            match = self._match(event, seen, rows)
            if match is not None:
                yield from self._within_limit(match)

    @property
    def _conditional(self) -> bool:
        return bool(self.where.conditions or self.where.differs)

    def last(self, purpose: str, value: Value) -> Changes:
        """What ``value`` was the last time, for one of several purposes."""
        return self._changes.setdefault((purpose, value), Changes())

    def _within_limit(self, match: Match) -> Iterator[Match]:
        if self._left is not None:
            if self._left == 0:
                return
            rows = match.rows[: self._left]
            self._left -= len(rows)
            match = Match(
                match.event, match.seen, rows, None if match.lanes is None else match.lanes[: len(rows)]
            )
        yield match

    def _rows(self, event: Event) -> Selection:
        """The event's blocks that the selection names, at this time."""
        chosen = self.where
        if chosen.iterations and not any(_at(event.iteration, wanted) for wanted in chosen.iterations):
            return np.empty(0, np.intp)
        if not chosen.blocks:
            return np.arange(event.count)
        held: NDArray[np.bool_] = np.zeros(event.count, np.bool_)
        for part in chosen.blocks:
            held |= part.holds(event.blocks, self._grid)
        return np.flatnonzero(held)

    def _match(self, event: Event, seen: Seen, rows: Selection) -> Match | None:
        conditions = self.where.conditions
        if not self._conditional:
            return Match(event, seen, rows, None)
        assert seen.data is not None
        data = seen.data[rows]
        undefined = None if seen.undefined is None else seen.undefined[rows]
        changed = None
        if any(c.needs_previous for c in conditions):
            known, changed = self.last("condition", seen.value).update(event, rows, data, undefined)
            changed[~known] = False
        lanes = np.zeros(data.shape, np.bool_)
        for condition in conditions:
            lanes |= condition.lanes(data, undefined, changed)
        for each in self._expected:
            other = each.lanes(event, seen, rows)
            if other is not None:
                lanes |= other
        hit = np.flatnonzero(lanes.reshape(len(rows), -1).any(axis=1))
        return Match(event, seen, rows[hit], lanes[hit]) if len(hit) else None


def _at(iteration: tuple[int, ...], wanted: tuple[tuple[int, int], ...]) -> bool:
    """Whether the innermost loops go round for one of the wanted times."""
    if len(iteration) < len(wanted):
        return False
    inner = iteration[len(iteration) - len(wanted) :]
    return all(low <= i <= high for i, (low, high) in zip(inner, wanted, strict=True))


class Callback(Observer):
    """A function that is called with events.

    Args:
        function: takes an ``Event``.
        selection: which events; every one if not given, bodies of reductions and ends of regions included.
    """

    def __init__(self, function: Callable[[Event], Any], selection: str | Where | None = None) -> None:
        if not callable(function):
            raise ArgumentError(
                "an observer is a function of an event, or one of tileref.inspection",
                rule="observer",
                found=type(function).__name__,
            )
        super().__init__(selection or "")
        self._everything = selection is None
        self._function = function

    def begin(self, sites: Sites, grid: tuple[int, int, int]) -> Mapping[Site, tuple[Value, ...]]:
        """Everything, or what is selected."""
        found = super().begin(sites, grid)
        return {site: site.values for site in sites.all} if self._everything else found

    def tell(self, event: Event) -> None:
        """Call the function."""
        if self._everything or any(self.matches(event)):
            self._function(event)
