"""What happens before what across blocks, in kernels that synchronise through memory.

An acquire that reads what a release wrote makes everything that the release waited for happen before
everything that waits for the acquire; an atomic operation in between passes on what the release gave. Such
kernels run in an order of their own making (``tileref.schedule``), one block or a few at a time, and who read
from whom is known as it happens. All accesses are noted; who synchronised is only worked out when two
accesses are suspicious.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from ..formats import Array
from .access import ATOMIC, CONFLICTS, READS, Role
from .nearby import Nearby
from .notes import Elements
from .releases import STRONG, Acquires, Release, acquires, releases

BLOCKS = 4096
"""Blocks up to which races are looked for in kernels that synchronise."""
LANES = 1 << 20
"""Lanes of synchronising operations that are followed one by one."""
COMPARISONS = 1 << 25
"""Pairs of lanes that are compared."""
BYTES = 1 << 28
"""What the notes of accesses may take."""


@dataclass
class Happens:
    """The accesses of a launch in the order they ran, and what releases each acquire saw."""

    _notes: dict[tuple[int, Role], Nearby] = field(default_factory=lambda: defaultdict(Nearby))
    _strong: deque[Elements] = field(default_factory=deque)
    _bytes: int = 0
    _lanes: int = 0
    _compared: int = 0
    _releases: list[Release] = field(default_factory=list)
    _owned: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    _acquired: dict[int, Acquires] = field(default_factory=lambda: defaultdict(Acquires))
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
        if note.target.elements.size == 0:
            return
        self._notes[note.target.buffer.place, note.access.role].add(note)
        if note.access.role in STRONG:
            self._strong.append(note)
        self._bytes += note.target.elements.nbytes
        if self._bytes > BYTES:
            self.stop(f"notes of the accesses of blocks that synchronise take more than {BYTES >> 20} MiB")

    def unordered(self, note: Elements, suspects: Array) -> tuple[Array, Elements, int] | None:
        """Of the ``suspects`` among an access's lanes, those that some other block's access does not happen
        before; with that access and its block, for the first.
        """
        if self._stopped is not None:
            return None
        while self._strong and self._stopped is None:
            self._follow(self._strong.popleft())
        bad = np.zeros(suspects.shape, np.bool_)
        first: tuple[Elements, int] | None = None
        lanes = np.flatnonzero(suspects)
        place, role = note.target.buffer.place, note.access.role
        near = [e for other in CONFLICTS[role] for e in self._notes[place, other].near(note)]
        for earlier in near:
            if earlier is note or self._all_ordered(earlier, note):
                continue
            for block, mask in self._meeting(earlier, note, lanes):
                if not mask.any():
                    continue
                if first is None or int(np.argmax(mask)) < int(np.argmax(bad)):
                    first = (earlier, block)
                bad |= mask
            if self._stopped is not None:
                return None
            if bad[lanes].all():
                break
        if first is not None:
            return bad, *first
        if role is Role.WEAK_WRITE and bool(suspects.all()):
            # Who comes after this comes after those that it comes after and covers.
            for other in Role:
                self._notes[place, other].forget_covered(note)
        return None

    def _all_ordered(self, earlier: Elements, note: Elements) -> bool:
        """Whether it is plain that ``note`` does not race with an earlier access, wherever the two meet."""
        if len(earlier.access.blocks) > 1 or len(note.access.blocks) > 1:
            return False
        return self._ordered(earlier, int(earlier.access.blocks[0]), note, 0)

    def _meeting(self, earlier: Elements, note: Elements, lanes: Array) -> Iterable[tuple[int, Array]]:
        """For each block of an earlier access, the lanes that meet it and that it does not happen before."""
        unit = min(earlier.unit, note.unit)
        theirs, their_rows = earlier.units(unit)
        ours, rows = note.units(unit, lanes)
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
            past = note.access.past(place)
            if not self._seen(earlier.access.number, block, self._acquired[own].before(past)):
                return False
        return True

    def _seen(self, number: int, block: int, visible: int) -> bool:
        """Whether one of the ``visible`` releases is ``block``'s, and came after its access ``number``."""
        left = visible & self._owned[block]
        while left:
            # The latest first: it is the one that waited for the most.
            place = left.bit_length() - 1
            release = self._releases[place]
            if number == release.number or number in release.past:
                return True
            left ^= 1 << place
        return False

    def _follow(self, note: Elements) -> None:
        access = note.access
        operation = access.operation
        acquire, release = acquires(operation), releases(operation)
        atomic, reads = isinstance(operation, ATOMIC), isinstance(operation, READS)
        starts = note.first_bytes()
        places = np.arange(starts.size) if note.target.lanes is None else note.target.lanes
        rows = places // note.lanes
        shared = note.rows != len(access.blocks)
        self._lanes += len(starts)
        if self._lanes > LANES:
            self.stop(f"more than {LANES} lanes synchronise")
            return
        ids: dict[int, int] = {}
        for lane, (start, row) in enumerate(zip(starts.tolist(), rows.tolist(), strict=True)):
            cell = (note.target.buffer.place, start)
            given = self._given.get(cell, 0)
            writes = not reads and note.wrote(lane)
            for place in range(len(access.blocks)) if shared else (row,):
                block = int(access.blocks[place])
                past = access.past(place)
                if acquire and (atomic or reads):
                    self._acquired[block].add(access.number, past, given)
                if not writes:
                    continue
                if not release:
                    given = given if atomic else 0
                    continue
                if block not in ids:
                    ids[block] = len(self._releases)
                    self._releases.append(Release(access.number, past))
                    self._owned[block] |= 1 << ids[block]
                seen = self._acquired[block].before(past) | (given if acquire else 0) | 1 << ids[block]
                given = given | seen if atomic else seen
            self._given[cell] = given
