"""Which blocks run together, and on how many threads. Never decides an answer, only how soon it is there."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from tileir.module import Function
from tileir.ops import atomic, debugging, memory
from tileir.types import TileType

from .formats import dtype_of
from .values import Selection

CACHE_BYTES = 1 << 20
"""Bytes of one tile over all blocks that run together: what a fast cache holds a few of."""
ORDERED_BLOCKS = 256
"""Blocks that run together in a kernel whose blocks see each other's work.

There the order of operations between blocks shows, so that it may not depend on anything but the kernel.
"""
ORDERED = (
    atomic.AtomicCASTko,
    atomic.AtomicRMWTko,
    atomic.AtomicRedViewTko,
    debugging.PrintTko,
    memory.Alloca,
)


def is_ordered(function: Function) -> bool:
    """Whether the order in which blocks run can show in what the kernel answers."""
    return any(isinstance(operation, ORDERED) for operation in function.body.walk())


def blocks_together(function: Function, memory_budget: int) -> int:
    """How many blocks run together: enough to forget Python's overhead, few enough for a cache."""
    if is_ordered(function):
        return ORDERED_BLOCKS
    largest, total = 1, 0
    for operation in function.body.walk():
        for value in operation.results:
            if isinstance(value.type, TileType):
                size = value.type.size * dtype_of(value.type).itemsize
                largest = max(largest, size)
                total += size
    return max(1, min(CACHE_BYTES // largest, memory_budget // max(total, 1)))


def run_chunks(
    function: Function,
    blocks: int,
    run: Callable[[Selection], None],
    *,
    threads: int | None,
    memory_budget: int,
) -> None:
    """Call ``run`` with the numbers of the blocks that run together, until all of ``blocks`` ran."""
    together = blocks_together(function, memory_budget)

    def chunk(first: int) -> None:
        run(np.arange(first, min(first + together, blocks)))

    firsts = range(0, blocks, together)
    workers = min(threads or os.cpu_count() or 1, len(firsts))
    if workers <= 1 or is_ordered(function):
        for first in firsts:
            chunk(first)
        return
    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(chunk, firsts):
            pass
