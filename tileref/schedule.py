"""Which blocks run together, and on how many threads. Never decides an answer, only how soon it is there."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from tileir.errors import ArgumentError
from tileir.module import Operation
from tileir.ops import atomic, debugging, memory

from .footprint import Footprint
from .values import Selection

CACHE_BYTES = 1 << 22
"""Bytes of one tile over all blocks that run together: what a fast cache holds a few of."""
WORTH_BYTES = 1 << 19
"""Bytes of one tile over all blocks that run together, below which a group is not worth a thread."""
ORDERED_BLOCKS = 256
"""The most blocks that run together in a kernel whose blocks see each other's work."""
IN_FLIGHT = 1024
"""The most blocks that have started and not ended at any time, where blocks run in turns."""
ORDERED_BYTES = 1 << 26
"""Bytes that blocks of either kind take together, if one alone does not take more."""
ORDERED = (
    atomic.AtomicCASTko,
    atomic.AtomicRMWTko,
    atomic.AtomicRedViewTko,
    debugging.PrintTko,
    memory.Alloca,
)


def shows_order(operations: Sequence[Operation]) -> bool:
    """Whether the order in which blocks run can show in what a kernel of these operations answers."""
    return any(isinstance(operation, ORDERED) for operation in operations)


@dataclass(frozen=True, slots=True)
class Groups:
    """How many blocks run together, and how many such groups at a time."""

    together: int
    workers: int


def groups(
    footprint: Footprint, ordered: bool, blocks: int, threads: int | None, memory_budget: int
) -> Groups:
    """How the ``blocks`` of a launch run that do not wait for each other.

    Raises:
        ArgumentError: the budget is smaller than what a single block takes, or, where the order shows, those
            that run together.
    """
    workers = 1 if ordered else threads or os.cpu_count() or 1
    least = min(_in_order(footprint), blocks) if ordered else 1
    check_budget(memory_budget, footprint.fixed + footprint.of(least))
    workers = max(1, min(workers, (memory_budget - footprint.fixed) // footprint.of(1)))
    together = blocks_together(footprint, ordered, blocks, workers, memory_budget)
    return Groups(together, min(workers, -(-blocks // together)))


def blocks_together(
    footprint: Footprint, ordered: bool, blocks: int, workers: int, memory_budget: int
) -> int:
    """How many of ``blocks`` run together.

    Enough to forget Python's overhead; few enough for a cache, for every worker to have a group, and for
    the memory that there is.
    """
    if ordered:
        return _in_order(footprint)
    shared = max(-(-blocks // workers), -(-WORTH_BYTES // footprint.largest))
    fitting = footprint.fitting((memory_budget - footprint.fixed) // workers)
    return max(1, min(CACHE_BYTES // footprint.largest, shared, fitting))


def _in_order(footprint: Footprint) -> int:
    """How many blocks run together where the order of operations between blocks shows.

    It may not depend on anything but the kernel, neither on the budget nor on the grid.
    """
    return max(1, min(ORDERED_BLOCKS, footprint.fitting(ORDERED_BYTES)))


def in_flight(footprint: Footprint, blocks: int, memory_budget: int) -> int:
    """How many of ``blocks`` have started and not ended at any time, where they run in turns.

    This depends on the kernel alone, too.

    Raises:
        ArgumentError: the budget is smaller than what they take.
    """
    room = ORDERED_BYTES - footprint.of(1)
    flying = max(1, min(IN_FLIGHT, room // footprint.paused + 1))
    check_budget(
        memory_budget, footprint.fixed + footprint.of(1) + (min(flying, blocks) - 1) * footprint.paused
    )
    return flying


def check_budget(memory_budget: int, least: int) -> None:
    """Refuse a budget that is smaller than the ``least`` that blocks take, with an ``ArgumentError``."""
    if memory_budget < least:
        raise ArgumentError(
            "the kernel's blocks take more memory than the budget is",
            rule="memory-budget",
            found=memory_budget,
            expected=f"at least {least} bytes",
        )


def run_chunks(groups: Groups, blocks: int, run: Callable[[Selection], None]) -> None:
    """Call ``run`` with the numbers of the blocks that run together, until all of ``blocks`` ran."""

    def chunk(first: int) -> None:
        run(np.arange(first, min(first + groups.together, blocks)))

    firsts = range(0, blocks, groups.together)
    if groups.workers <= 1:
        for first in firsts:
            chunk(first)
        return
    with ThreadPoolExecutor(groups.workers) as pool:
        for _ in pool.map(chunk, firsts):
            pass
