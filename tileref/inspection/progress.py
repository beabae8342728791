"""How far a launch is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tileir.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a launch is.

    Attributes:
        done, total: blocks.
        seconds: since the first block began.
    """

    done: int
    total: int
    seconds: float

    @property
    def left(self) -> float | None:
        """Seconds until the last block is done, if the others take as long; None before the first is done."""
        return self.seconds / self.done * (self.total - self.done) if self.done else None


class Counter:
    """Counts blocks, from any thread, and says how far it is."""

    def __init__(self, total: int, tell: Callable[[Progress], Any]) -> None:
        if not callable(tell):
            raise ArgumentError(
                "progress is a function", rule="progress", found=type(tell).__name__, expected="of a Progress"
            )
        self._total = total
        self._tell = tell
        self._done = 0
        self._started = time.perf_counter()
        self._lock = threading.Lock()

    def add(self, blocks: int) -> None:
        """So many blocks more are done."""
        with self._lock:
            self._done += blocks
            self._tell(Progress(self._done, self._total, time.perf_counter() - self._started))
