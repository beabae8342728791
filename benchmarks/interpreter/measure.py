"""Timing a function, and the memory that it takes beyond what was there before."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median


@dataclass
class Times:
    """Seconds of one side of a task: the first call apart from the others.

    ``cpu`` counts the processor time of all threads, which other work on the machine disturbs less.
    """

    first: float = 0.0
    later: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    memory: int = 0

    @property
    def best(self) -> float:
        """The fastest call, the first one left out."""
        return min(self.later)

    @property
    def median(self) -> float:
        """The median call, the first one left out."""
        return median(self.later)

    def add(self, call: Callable[[], object]) -> None:
        """Time one more call."""
        cpu = time.process_time()
        self.later.append(seconds(call))
        self.cpu.append(time.process_time() - cpu)


def seconds(call: Callable[[], object]) -> float:
    """How long a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def peak_memory(call: Callable[[], object]) -> int:
    """Bytes of arrays and objects that a call holds at its peak, beyond what is there before."""
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        call()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
