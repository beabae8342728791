"""Accesses by where they lie, so that few have to be compared with a new one."""

from __future__ import annotations

import numpy as np

from .notes import Elements


class Nearby:
    """The accesses to one memory, with the bytes between which each lies."""

    def __init__(self) -> None:
        self.notes: list[Elements | None] = []
        self._low = np.zeros(16, np.int64)
        self._high = np.zeros(16, np.int64)

    def add(self, note: Elements) -> None:
        """Note an access."""
        count = len(self.notes)
        if count == len(self._low):
            self._low = np.concatenate([self._low, self._low])
            self._high = np.concatenate([self._high, self._high])
        self.notes.append(note)
        self._low[count], self._high[count] = note.span()

    def near(self, note: Elements) -> list[int]:
        """Places of the accesses that may meet ``note``."""
        low, high = note.span()
        count = len(self.notes)
        close = (self._low[:count] < high) & (self._high[:count] > low)
        return [int(i) for i in np.flatnonzero(close)]

    def drop(self, place: int) -> None:
        """Forget an access."""
        self.notes[place] = None
        self._low[place] = self._high[place] = 0
