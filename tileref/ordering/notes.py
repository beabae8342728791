"""Accesses as they are kept: to whole tiles of a view, or to elements by number; and who was where.

Places are bytes of the memory that a buffer is a part of, so that buffers that share memory meet there.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from math import prod

import numpy as np

from ..formats import Array
from ..memory import Access as Target
from ..memory import Buffer
from .access import Access
from .tiling import Tiling

TRAIL_BYTES = 1 << 26
"""Memory that the accesses of a launch may take that are kept to tell a report's lanes."""
NOTE_BYTES = 512
"""What a kept access takes beside its arrays."""


@dataclass(frozen=True, slots=True)
class Spot:
    """One lane's access: the lane, and the element of the buffer that it goes to."""

    lane: tuple[int, ...]
    index: int
    buffer: Buffer


@dataclass(slots=True)
class Tiles:
    """An access to whole tiles of ``buffer``: by number, (blocks or 1, 1).

    ``order`` says for each dimension of the tiling which one it is of the operation's tile.
    """

    access: Access
    buffer: Buffer
    tiling: Tiling
    order: tuple[int, ...]
    numbers: Array

    @property
    def bytes(self) -> int:
        """What its arrays take."""
        return self.numbers.nbytes

    @property
    def unit(self) -> int:
        """Bytes that divide its elements and where they begin."""
        return self.access.itemsize

    def spot(self, block: int, low: int, high: int) -> Spot | None:
        """The first lane of ``block`` that goes to a byte from ``low`` up to ``high``."""
        row = _row(self.access, block, self.numbers.shape[0])
        if row is None:
            return None
        size = self.access.itemsize
        index, valid = self.tiling.places(self.numbers[row])
        meets = (valid & (index * size < high) & ((index + 1) * size > low))[0]
        if not meets.any():
            return None
        at = np.unravel_index(int(np.argmax(meets)), meets.shape)
        lane = [0] * len(self.order)
        for along, position in zip(self.order, at, strict=True):
            lane[along] = int(position)
        return Spot(tuple(lane), int(index[0][at]) - self.buffer.start // size, self.buffer)


@dataclass(slots=True)
class Elements:
    """An access to elements by number, as ``memory.resolve`` found them, by lanes of ``shape``."""

    access: Access
    target: Target
    shape: tuple[int, ...]
    lanes: int = field(init=False)
    _span: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        """Count the lanes of a block."""
        self.lanes = prod(self.shape[1:])

    @property
    def rows(self) -> int:
        """Blocks, or 1 where all of them do the same."""
        return self.shape[0]

    @property
    def buffer(self) -> Buffer:
        """Where the elements are."""
        return self.target.buffer

    @property
    def bytes(self) -> int:
        """What its arrays take."""
        return self.target.elements.nbytes

    @property
    def unit(self) -> int:
        """Bytes that divide its elements and where they begin."""
        both = self.access.itemsize | self.target.buffer.start
        return both & -both

    def first_bytes(self) -> Array:
        """Where each element begins."""
        return self.target.elements.reshape(-1) * self.access.itemsize + self.target.buffer.start

    def units(self, unit: int, lanes: Array | None = None) -> tuple[Array, Array]:
        """What it touches in units of ``unit`` bytes (several a lane), and the row of each."""
        places = np.arange(self.target.elements.size) if self.target.lanes is None else self.target.lanes
        first = self.first_bytes() // unit
        if lanes is not None:
            first, places = first[lanes], places[lanes]
        parts = self.access.itemsize // unit
        return (first[:, None] + np.arange(parts)).reshape(-1), np.repeat(places // self.lanes, parts)

    @property
    def span(self) -> tuple[int, int]:
        """The bytes between which it lies."""
        if self._span is None:
            elements = self.target.elements
            size, start = self.access.itemsize, self.target.buffer.start
            if elements.size == 0:
                self._span = 0, 0
            else:
                self._span = int(elements.min()) * size + start, (int(elements.max()) + 1) * size + start
        return self._span

    @property
    def fills_its_span(self) -> bool:
        """Whether it goes to every byte there, as is plain where its elements ascend."""
        elements = self.target.elements.reshape(-1)
        low, high = self.span
        if elements.size * self.access.itemsize != high - low:
            return False
        return elements.size == 1 or bool((elements[1:] > elements[:-1]).all())

    def wrote(self, number: int) -> bool:
        """Whether lane ``number`` of the target wrote, if the operation writes at all."""
        written = self.access.written
        if written is None:
            return True
        return bool(written[number if self.target.lanes is None else int(self.target.lanes[number])])

    def spot(self, block: int, low: int, high: int) -> Spot | None:
        """The first lane of ``block`` that goes to a byte from ``low`` up to ``high``."""
        row = _row(self.access, block, self.rows)
        if row is None:
            return None
        first = self.first_bytes()
        places = np.arange(first.size) if self.target.lanes is None else self.target.lanes
        meets = (first < high) & (first + self.access.itemsize > low) & (places // self.lanes == row)
        if not meets.any():
            return None
        return self.spot_at(int(np.argmax(meets)))

    def spot_at(self, number: int) -> Spot:
        """Where lane ``number`` of the target goes."""
        place = number if self.target.lanes is None else int(self.target.lanes[number])
        lane = np.unravel_index(place % self.lanes, self.shape[1:]) if len(self.shape) > 1 else ()
        index = int(self.target.elements.reshape(-1)[number])
        return Spot(tuple(int(i) for i in lane), index, self.target.buffer)


def _row(access: Access, block: int, rows: int) -> int | None:
    """The row of a block in arrays that have one for each, or one for all; None if it is not there."""
    at = int(np.searchsorted(access.blocks, block))
    if at >= len(access.blocks) or access.blocks[at] != block:
        return None
    return at if rows == len(access.blocks) else 0


class Trail:
    """The accesses of a launch, to say of two that are in conflict which lanes made them.

    All are forgotten once they take more than ``TRAIL_BYTES``: reports then name blocks and no lanes.
    """

    def __init__(self) -> None:
        self._left: int = TRAIL_BYTES
        self._by_key: dict[int, list[Tiles | Elements]] = defaultdict(list)
        self._by_number: dict[tuple[int, int], list[Tiles | Elements]] = {}

    def add(self, note: Tiles | Elements) -> None:
        """Keep an access."""
        if self._left < 0:
            return
        self._left -= note.bytes + NOTE_BYTES
        if self._left < 0:
            self._by_key.clear()
            self._by_number.clear()
            return
        access = note.access
        self._by_key[access.key].append(note)
        # A history lives as long as the accesses that are kept, so that its identity is its own.
        self._by_number.setdefault((id(access.history), access.number), []).append(note)

    def of_operation(self, key: int, place: int, block: int, low: int, high: int) -> Spot | None:
        """Where operation number ``key`` went in ``block``, of some bytes of a memory; None if forgotten."""
        return self._first(self._by_key.get(key, []), place, block, low, high)

    def of_access(
        self, access: Access, number: int, place: int, block: int, low: int, high: int
    ) -> Spot | None:
        """The same of access ``number`` of those that ``access`` is one of."""
        return self._first(self._by_number.get((id(access.history), number), []), place, block, low, high)

    def _first(
        self, notes: list[Tiles | Elements], place: int, block: int, low: int, high: int
    ) -> Spot | None:
        for note in notes:
            if note.buffer.place == place:
                found = note.spot(block, low, high)
                if found is not None:
                    return found
        return None
