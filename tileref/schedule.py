"""Which blocks run together, and on how many threads. Never decides an answer, only how soon it is there."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from tileir.module import Operation
from tileir.ops import atomic, debugging, memory
from tileir.types import TileType

from .formats import dtype_of
from .values import Selection

CACHE_BYTES = 1 << 22
"""Bytes of one tile over all blocks that run together: what a fast cache holds a few of."""
WORTH_BYTES = 1 << 19
"""Bytes of one tile over all blocks that run together, below which a group is not worth a thread."""
LANE_BYTES = 32
"""What evaluating an operation takes besides its results, a lane: addresses, masks, wider copies."""
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


@dataclass(frozen=True, slots=True)
class Sizes:
    """What decides how many blocks of a kernel run together.

    Attributes:
        ordered: whether the order in which blocks run can show in what the kernel answers.
        largest: bytes of the largest tile.
        total: bytes that a block takes at most: of all tiles that it makes, and what evaluating the operation
            that needs the most takes besides.
    """

    ordered: bool
    largest: int
    total: int


def sizes_of(operations: Sequence[Operation]) -> Sizes:
    """The sizes of a kernel of these operations."""
    largest, total, working = 1, 0, 0
    for operation in operations:
        lanes = 1
        for value in (*operation.results, *operation.uses):
            if isinstance(value.type, TileType):
                lanes = max(lanes, value.type.size)
        for value in operation.results:
            if isinstance(value.type, TileType):
                size = value.type.size * dtype_of(value.type).itemsize
                largest = max(largest, size)
                total += size
        working = max(working, lanes * LANE_BYTES)
    ordered = any(isinstance(operation, ORDERED) for operation in operations)
    return Sizes(ordered, largest, total + working)


def blocks_together(sizes: Sizes, blocks: int, workers: int, memory_budget: int) -> int:
    """How many of ``blocks`` run together.

    Enough to forget Python's overhead; few enough for a cache, for every worker to have a group, and for
    the memory that there is.
    """
    if sizes.ordered:
        return ORDERED_BLOCKS
    shared = max(-(-blocks // workers), -(-WORTH_BYTES // sizes.largest))
    budget = memory_budget // (sizes.total * workers)
    return max(1, min(CACHE_BYTES // sizes.largest, shared, budget))


def run_chunks(
    sizes: Sizes,
    blocks: int,
    run: Callable[[Selection], None],
    *,
    threads: int | None,
    memory_budget: int,
) -> None:
    """Call ``run`` with the numbers of the blocks that run together, until all of ``blocks`` ran."""
    workers = 1 if sizes.ordered else threads or os.cpu_count() or 1
    together = blocks_together(sizes, blocks, workers, memory_budget)

    def chunk(first: int) -> None:
        run(np.arange(first, min(first + together, blocks)))

    firsts = range(0, blocks, together)
    workers = min(workers, len(firsts))
    if workers <= 1:
        for first in firsts:
            chunk(first)
        return
    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(chunk, firsts):
            pass
