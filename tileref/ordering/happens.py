"""What happens before what across blocks, in kernels that synchronise through memory.

An acquire that reads what a release wrote makes everything that the release waited for happen before
everything that waits for the acquire; an atomic operation in between passes on what the release gave. Such
kernels run in an order of their own making (``tileref.schedule``), one block or a few at a time, and who read
from whom is known as it happens. All accesses are noted; who synchronised is only worked out when two
accesses are suspicious.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from tileir.attributes import MemoryOrderingSemantics as Semantics
from tileir.module import Operation

from ..formats import Array
from .access import ATOMIC, CONFLICTS, READS, Role, role_of
from .past import Past
from .watched import Elements

BLOCKS = 4096
"""Blocks up to which races are looked for in kernels that synchronise."""
LANES = 1 << 20
"""Lanes of synchronising operations that are followed one by one."""
COMPARISONS = 1 << 25
"""Pairs of lanes that are compared."""
BYTES = 1 << 28
"""What the notes of accesses may take."""
STRONG = (Role.STRONG_READ, Role.STRONG_WRITE)


def acquires(operation: Operation) -> bool:
    """Whether an operation is an acquire to other blocks."""
    semantics = getattr(operation, "memory_ordering_semantics", None)
    return role_of(operation) in STRONG and semantics in (Semantics.ACQUIRE, Semantics.ACQ_REL)


def releases(operation: Operation) -> bool:
    """Whether an operation is a release to other blocks."""
    semantics = getattr(operation, "memory_ordering_semantics", None)
    return role_of(operation) in STRONG and semantics in (Semantics.RELEASE, Semantics.ACQ_REL)


def can_synchronise(operations: Iterable[Operation]) -> bool:
    """Whether a kernel has operations through which its blocks can synchronise."""
    found = list(operations)
    return any(map(acquires, found)) and any(map(releases, found))


@dataclass(frozen=True, slots=True)
class Release:
    """A release: its access, and what it waited for."""

    number: int
    past: Past


@dataclass
class Happens:
    """The accesses of a launch in the order they ran, and what releases each acquire saw."""

    _notes: dict[int, list[Elements]] = field(default_factory=lambda: defaultdict(list))
    _strong: list[Elements] = field(default_factory=list)
    _bytes: int = 0
    _lanes: int = 0
    _compared: int = 0
    _done: int = 0
    _releases: list[Release] = field(default_factory=list)
    _owned: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    _acquired: dict[int, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    _given: dict[tuple[int, int], int] = field(default_factory=dict)
    _stopped: str | None = None

    def unchecked(self) -> list[str]:
        """What was not looked at, a sentence."""
        return [] if self._stopped is None else [self._stopped]

    def stop(self, why: str) -> None:
        """Look for races no longer."""
        self._stopped = f"races between blocks were not checked: {why}"
        self._notes.clear()
        self._strong.clear()

    def note(self, note: Elements) -> None:
        """Enter an access, in the order they run."""
        if self._stopped is not None:
            return
        self._notes[note.target.buffer.base].append(note)
        if note.access.role in STRONG:
            self._strong.append(note)
        self._bytes += note.target.elements.nbytes
        if self._bytes > BYTES:
            self.stop(f"notes of the accesses of blocks that synchronise take more than {BYTES >> 20} MiB")

    def unordered(self, note: Elements, suspects: Array) -> tuple[Array, Operation, int] | None:
        """Of the ``suspects`` among an access's lanes, those that some other block's access does not happen
        before; with that operation and its block, for the first.
        """
        if self._stopped is not None:
            return None
        self._synchronise()
        bad = np.zeros(suspects.shape, np.bool_)
        first: tuple[Operation, int] | None = None
        lanes = np.flatnonzero(suspects)
        for earlier in self._notes[note.target.buffer.base]:
            if earlier.access is note.access or earlier.access.role not in CONFLICTS[note.access.role]:
                continue
            for block, mask in self._meeting(earlier, note, lanes):
                if not mask.any():
                    continue
                if first is None or int(np.argmax(mask)) < int(np.argmax(bad)):
                    first = (earlier.access.operation, block)
                bad |= mask
            if self._stopped is not None:
                return None
        return None if first is None else (bad, *first)

    def _meeting(self, earlier: Elements, note: Elements, lanes: Array) -> Iterable[tuple[int, Array]]:
        """For each block of an earlier access, the lanes that meet it and that it does not happen before."""
        unit = min(earlier.access.itemsize, note.access.itemsize)
        theirs, their_rows = _units(earlier, unit)
        ours, rows = _units(note, unit, lanes)
        if theirs.size == 0 or ours.size == 0 or theirs.max() < ours.min() or ours.max() < theirs.min():
            return
        order = np.argsort(theirs, kind="stable")
        theirs, their_rows = theirs[order], their_rows[order]
        low, high = np.searchsorted(theirs, ours), np.searchsorted(theirs, ours, "right")
        self._compared += int((high - low).sum()) + len(ours)
        if self._compared > COMPARISONS:
            self.stop("too many elements are shared by blocks that synchronise")
            return
        count = high - low
        pairs = np.repeat(np.arange(len(ours)), count)
        at = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + np.repeat(low, count)
        met_rows = their_rows[at]
        parts = len(ours) // max(1, len(lanes))
        for row in np.unique(met_rows):
            blocks = earlier.access.blocks if earlier.rows != len(earlier.access.blocks) else None
            for block in [int(earlier.access.blocks[row])] if blocks is None else map(int, blocks):
                mask = np.zeros(len(note.target.elements), np.bool_)
                meeting = pairs[met_rows == row]
                for own_row in np.unique(rows[meeting]):
                    if not self._ordered(earlier, block, note, int(own_row)):
                        mask[lanes[meeting[rows[meeting] == own_row] // parts]] = True
                yield block, mask

    def _ordered(self, earlier: Elements, block: int, note: Elements, row: int) -> bool:
        """Whether an earlier access of ``block`` happens before an access in the blocks of its ``row``."""
        blocks = note.access.blocks
        places = [row] if note.rows == len(blocks) else range(len(blocks))
        for place in places:
            own = int(blocks[place])
            if own == block:
                continue
            which = note.access.waits.which
            past = note.access.waits.pasts[0 if which is None else int(which[place])]
            if not self._seen(earlier.access.number, block, self._visible(own, past)):
                return False
        return True

    def _seen(self, number: int, block: int, visible: int) -> bool:
        """Whether one of the ``visible`` releases is ``block``'s, and came after its access ``number``."""
        left = visible & self._owned[block]
        while left:
            release = self._releases[(left & -left).bit_length() - 1]
            if number == release.number or number in release.past:
                return True
            left &= left - 1
        return False

    def _visible(self, block: int, past: Past) -> int:
        """The releases that happen before whatever in ``block`` waits for ``past``."""
        visible = 0
        for number, seen in self._acquired[block].items():
            if number in past:
                visible |= seen
        return visible

    def _synchronise(self) -> None:
        """Follow the strong accesses that ran since the last time, lane by lane."""
        while self._done < len(self._strong) and self._stopped is None:
            note = self._strong[self._done]
            self._done += 1
            self._follow(note)

    def _follow(self, note: Elements) -> None:
        access = note.access
        operation = access.operation
        acquire, release = acquires(operation), releases(operation)
        atomic, reads = isinstance(operation, ATOMIC), isinstance(operation, READS)
        starts, rows = _units(note, access.itemsize)
        shared = note.rows != len(access.blocks)
        self._lanes += len(starts)
        if self._lanes > LANES:
            self.stop(f"more than {LANES} lanes synchronise")
            return
        ids: dict[int, int] = {}
        for start, row in zip(starts.tolist(), rows.tolist(), strict=True):
            cell = (note.target.buffer.base, start * access.itemsize)
            given = self._given.get(cell, 0)
            for place in range(len(access.blocks)) if shared else (row,):
                block = int(access.blocks[place])
                if acquire and (atomic or reads):
                    self._acquired[block][access.number] = self._acquired[block].get(access.number, 0) | given
                if reads:
                    continue
                if not release:
                    given = given if atomic else 0
                    continue
                which = access.waits.which
                past = access.waits.pasts[0 if which is None else int(which[place])]
                if block not in ids:
                    ids[block] = len(self._releases)
                    self._releases.append(Release(access.number, past))
                    self._owned[block] |= 1 << ids[block]
                seen = self._visible(block, past) | (given if acquire else 0) | 1 << ids[block]
                given = given | seen if atomic else seen
            self._given[cell] = given


def _units(note: Elements, unit: int, lanes: Array | None = None) -> tuple[Array, Array]:
    """What an access touches in units of ``unit`` bytes (several a lane), and the row of each."""
    target = note.target
    elements = target.elements.reshape(-1)
    places = np.arange(elements.size) if target.lanes is None else target.lanes
    if lanes is not None:
        elements, places = elements[lanes], places[lanes]
    parts = note.access.itemsize // unit
    units = (elements[:, None] * parts + np.arange(parts)).reshape(-1)
    return units, np.repeat(places // note.lanes, parts)
