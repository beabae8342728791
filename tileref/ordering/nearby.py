"""Accesses by where they lie, so that few have to be compared with a new one."""

from __future__ import annotations

import numpy as np

from ..formats import Array
from .notes import Elements

KEPT = 32
"""Places of forgotten accesses that are not worth tidying up."""


class Nearby:
    """The accesses to one memory, with the bytes between which each lies."""

    def __init__(self) -> None:
        self._notes: list[Elements] = []
        self._low = np.zeros(16, np.int64)
        self._high = np.zeros(16, np.int64)
        self._forgotten = 0

    def add(self, note: Elements) -> None:
        """Note an access."""
        count = len(self._notes)
        if count == len(self._low):
            self._low = np.concatenate([self._low, self._low])
            self._high = np.concatenate([self._high, self._high])
        self._notes.append(note)
        self._low[count], self._high[count] = note.span

    def near(self, note: Elements) -> list[Elements]:
        """The accesses that may meet ``note``, as they were made."""
        count = len(self._notes)
        if not count:
            return []
        low, high = note.span
        close = (self._low[:count] < high) & (self._high[:count] > low)
        return [self._notes[i] for i in close.nonzero()[0].tolist()]

    def forget_covered(self, note: Elements) -> None:
        """Forget the accesses all of whose bytes ``note`` goes to, but for itself."""
        count = len(self._notes)
        if not count:
            return
        low, high = note.span
        within: Array = (self._low[:count] >= low) & (self._high[:count] <= high)
        within &= self._high[:count] > self._low[:count]
        places = within.nonzero()[0].tolist()
        if not note.fills_its_span:
            mine = np.unique(note.first_bytes())
            size = note.access.itemsize
            places = [
                i
                for i in places
                if self._notes[i].access.itemsize == size
                and np.isin(self._notes[i].first_bytes(), mine).all()
            ]
        gone = [i for i in places if self._notes[i] is not note]
        self._low[gone] = self._high[gone] = 0
        self._forgotten += len(gone)
        if self._forgotten > max(KEPT, count // 2):
            self._tidy(count)

    def _tidy(self, count: int) -> None:
        left = (self._high[:count] > self._low[:count]).nonzero()[0]
        self._notes = [self._notes[i] for i in left.tolist()]
        self._low[: len(left)], self._high[: len(left)] = self._low[left], self._high[left]
        self._forgotten = 0
