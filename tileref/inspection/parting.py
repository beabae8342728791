"""Where the values of a launch part from those that another one recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileir.module import Operation, Value
from tileir.ops import control
from tileir.types import PointerType, TileType

from ..formats import Array
from ..numerics.bounds import ulp_distance
from ..numerics.formats import FLOAT_FORMATS
from ..ordering.access import ATOMIC, MEMORY
from ..targets.model import Model
from .conditions import differing
from .event import Event, Seen
from .observer import Observer
from .recording import Met, Recording
from .sites import Site, Sites
from .summary import first, number, place

CARRIED = (control.For, control.If, control.Loop)
"""Operations whose results are other operations', of their regions."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One element that differs.

    Attributes:
        place: source line, block and iteration, as in a trace.
        block: the block's coordinates.
        iteration: of each loop around, how often it went round before.
        lane: the element's index in the tile.
        values, bits: what it is under the two models, as numbers and as bits.
        ulps: how many values of its format the two are apart; None where there is no such count.
    """

    place: str
    block: tuple[int, int, int]
    iteration: tuple[int, ...]
    lane: tuple[int, ...]
    values: tuple[str, str]
    bits: tuple[str, str]
    ulps: float | None


@dataclass(frozen=True, slots=True)
class Part:
    """A value that differs.

    Attributes:
        operation, location: what computes it.
        value, type: its name and its type.
        first: the first element that differs.
        tiles: in how many blocks and turns of loops it differs.
        arises: in how many of those for operands that are the same: there the operation makes the difference,
            elsewhere it passes one on.
        elements: how many elements differ, over all tiles; ``of`` all elements of those tiles.
        ulps: the furthest that two are apart; None where there is no such count.
        reasons: what each model says about how the operation is computed, where a difference arises.
    """

    operation: str
    location: str | None
    value: str
    type: str
    first: Difference
    tiles: int
    arises: int
    elements: int
    of: int
    ulps: float | None
    reasons: tuple[str, str] | None

    def __str__(self) -> str:
        at = self.first
        how = "passed on" if not self.arises else "arises here"
        if 0 < self.arises < self.tiles:
            how = f"arises here in {self.arises} of {self.tiles} tiles"
        far = "" if self.ulps is None else f", by at most {self.ulps:g} ulp"
        return (
            f"{at.place} {self.value} = {self.operation} : {self.type} {how}: "
            f"{self.elements} of {self.of} elements in {self.tiles} tiles{far}; the first is "
            f"{list(at.lane)}: {at.values[0]} ({at.bits[0]}) and {at.values[1]} ({at.bits[1]})"
        )


class Partings(Observer):
    """Compares what a launch computes with what a ``Recording`` of another has.

    Args:
        recording: what to compare with, and by its selection, what to compare.
        names: of the two models, the recorded one first.
        models: the two, for their reasons.
    """

    def __init__(self, recording: Recording, names: tuple[str, str], models: tuple[Model, Model]) -> None:
        super().__init__(recording.where)
        self.apart = 0
        self._names = names
        self._models = models
        self._recording = recording
        self._found_parts: dict[Value, Part] = {}
        self._differs: dict[Value, NDArray[np.bool_]] = {}
        self._blocks = 1
        self._shown: set[Value] = set()
        self._memory = False

    def begin(self, sites: Sites, grid: tuple[int, int, int]) -> Mapping[Site, tuple[Value, ...]]:
        """Every place that was recorded, and every place that writes memory."""
        super().begin(sites, grid)
        self._blocks = grid[0] * grid[1] * grid[2]
        recorded = self._recording.begin(sites, grid)
        self._shown = {v for values in self._recording.selected.values() for v in values}
        writers = {s: () for s in sites.all if isinstance(s.operation, MEMORY) and s.stage == "operation"}
        self._found = {**writers, **recorded}
        return self._found

    def parts(self) -> list[Part]:
        """The values that differ, in the order in which they first did."""
        return list(self._found_parts.values())

    def tell(self, event: Event) -> None:
        """Compare the operation's results."""
        named = self._found[event.site]
        given = self._given(event)
        for seen in event.results:
            if seen.value in named and isinstance(seen.type, TileType):
                self._compare(event, seen, given)
        if isinstance(event.operation, MEMORY) and given.any():
            self._memory = True

    def _given(self, event: Event) -> NDArray[np.bool_]:
        """The event's blocks in which an operand differs."""
        found = np.zeros(event.count, np.bool_)
        operation = event.operation
        if operation is not None and event.stage == "operation":
            for value in operation.uses:
                if value in self._differs:
                    found |= self._differs[value][event.blocks]
        return found

    def _compare(self, event: Event, seen: Seen, given: NDArray[np.bool_]) -> None:
        assert seen.data is not None
        differs = np.zeros(event.count, np.bool_)
        met = np.zeros(event.count, np.bool_)
        shown = np.zeros(event.count, np.bool_)
        if seen.value in self._shown:
            shown[self._rows(event)] = True
        for found in self._recording.met(event, seen):
            met[found.rows] = True
            lanes = _lanes(seen, found)
            rows = lanes.reshape(len(found.rows), -1).any(axis=1)
            differs[found.rows[rows]] = True
            rows &= shown[found.rows]
            if rows.any():
                full = np.broadcast_to(found.data, lanes.shape)[rows]
                self._add(event, seen, found.rows[rows], full, lanes[rows], given)
        self.apart += int(np.count_nonzero(shown & ~met))
        if differs.any() or seen.value in self._differs:
            known = self._differs.setdefault(seen.value, np.zeros(self._blocks, np.bool_))
            known[event.blocks] = differs | ~met

    def _add(
        self,
        event: Event,
        seen: Seen,
        rows: NDArray[np.intp],
        before: Array,
        lanes: NDArray[np.bool_],
        given: NDArray[np.bool_],
    ) -> None:
        assert seen.data is not None
        now = seen.data[rows]
        arises = 0 if self._passes_on(event) else int(np.count_nonzero(~given[rows]))
        pointers = isinstance(seen.type, TileType) and isinstance(seen.type.element, PointerType)
        distance = None if pointers else steps(before[lanes], now[lanes])
        furthest = None if distance is None else float(distance.max())
        old = self._found_parts.get(seen.value)
        if old is None:
            lane = tuple(first(lanes[0]) or ())
            one, other = before[0][lane], now[0][lane]
            row = int(rows[0])
            x, y, z = event.coordinates[row].tolist()
            old = Part(
                event.name,
                event.location,
                seen.name,
                str(seen.type),
                Difference(
                    place(event, row),
                    (x, y, z),
                    event.iteration,
                    lane,
                    (number(one), number(other)),
                    (hexadecimal(one), hexadecimal(other)),
                    None if distance is None else float(distance[0]),
                ),
                0,
                0,
                0,
                0,
                None,
                None,
            )
        reasons = old.reasons
        if arises and reasons is None and event.operation is not None:
            reasons = self._reasons(event.operation)
        self._found_parts[seen.value] = replace(
            old,
            tiles=old.tiles + len(rows),
            arises=old.arises + arises,
            elements=old.elements + int(np.count_nonzero(lanes)),
            of=old.of + lanes.size,
            ulps=furthest if old.ulps is None else max(old.ulps, furthest or 0.0),
            reasons=reasons,
        )

    def _passes_on(self, event: Event) -> bool:
        """Whether a result is nothing of the operation's own: a region's, or memory that differs."""
        if event.stage != "operation" or isinstance(event.operation, CARRIED):
            return True
        return isinstance(event.operation, MEMORY) and self._memory

    def _reasons(self, operation: Operation) -> tuple[str, str]:
        if isinstance(operation, MEMORY):
            what = "reads" if not isinstance(operation, ATOMIC) else "finds"
            text = f"what it {what} is what an atomic operation left there, or another order of blocks"
            return text, text
        one, other = (model.explanation(operation).reason for model in self._models)
        return one, other


def _lanes(seen: Seen, met: Met) -> NDArray[np.bool_]:
    """Where a value differs from what was recorded of it."""
    assert seen.data is not None
    lanes = differing(np.broadcast_to(met.data, (len(met.rows), *seen.data.shape[1:])), seen.data[met.rows])
    if met.undefined is not None:
        lanes &= ~met.undefined
    if seen.undefined is not None:
        lanes &= ~seen.undefined[met.rows]
    return lanes


def steps(one: Array, other: Array) -> NDArray[Any] | None:
    """How many values of the type elements are apart; None if it is no type of floats."""
    for fmt in FLOAT_FORMATS:
        if fmt.dtype == one.dtype:
            return ulp_distance(one, other, fmt)
    return None


def hexadecimal(value: Any) -> str:
    """The bits of an element."""
    array = np.asarray(value)
    return f"0x{int(array.view(f'u{array.itemsize}')):0{2 * array.itemsize}x}"
