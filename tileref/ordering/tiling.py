"""Tiles of a view that do not overlap, so that a tile's number says which elements it is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ..formats import Array
from ..window import Placed, Window

AT_ONCE = 1 << 20
"""Elements whose places are worked out at once."""


@dataclass(frozen=True)
class Tiling:
    """How tiles lie in a buffer, by tile dimension; two views of one tiling have the same tiles.

    Attributes:
        base: number of the tensor's first element in the memory that its buffer is a part of.
        end: elements of that memory from which on the buffer has none: the tensor may claim more.
        itemsize: bytes of an element.
        extents, strides: of the tensor, in elements.
        steps: elements from one tile to the next.
        shape: a tile's extents.
    """

    base: int
    end: int
    itemsize: int
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    steps: tuple[int, ...]
    shape: tuple[int, ...]

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Tiles along each dimension."""
        return tuple(-(-e // s) for e, s in zip(self.extents, self.steps, strict=True))

    @cached_property
    def tiles(self) -> int:
        """How many tiles there are."""
        return int(np.prod(self.counts))

    def is_disjoint(self) -> bool:
        """Whether no element of the tensor has two places in it, and no two tiles share one."""
        if any(size > step for size, step in zip(self.shape, self.steps, strict=True)):
            return False
        reach = 1
        for stride, extent in reversed(list(zip(self.strides, self.extents, strict=True))):
            if extent > 1:
                if stride < reach:
                    return False
                reach = stride * extent
        return True

    def places(self, numbers: Array) -> tuple[Array, Array]:
        """For tiles, the elements that each lane goes to, and which lanes go to any, (tiles, *shape)."""
        at = np.unravel_index(numbers, self.counts) if self.counts else ()
        index = np.full((len(numbers),) + (1,) * len(self.shape), self.base, np.int64)
        valid = np.ones(index.shape, np.bool_)
        for k, (number, step, length) in enumerate(zip(at, self.steps, self.shape, strict=True)):
            along = (number * step)[:, None] + np.arange(length)
            wide = along.reshape(len(numbers), *(length if j == k else 1 for j in range(len(self.shape))))
            valid = valid & (wide < self.extents[k])
            index = index + wide * self.strides[k]
        return index, np.broadcast_to(valid & (index < self.end), index.shape)

    def elements(self, numbers: Array) -> tuple[Array, Array]:
        """For tiles, the elements that each holds, and where in ``numbers`` each one's tile is."""
        index, valid = self.places(numbers)
        owner = np.broadcast_to(np.arange(len(numbers)).reshape(-1, *(1,) * len(self.shape)), index.shape)
        return index[valid], owner[valid]


@lru_cache(maxsize=4096)
def tiling_of(
    base: int,
    end: int,
    itemsize: int,
    extents: tuple[int, ...],
    strides: tuple[int, ...],
    steps: tuple[int, ...],
    shape: tuple[int, ...],
) -> tuple[Tiling, tuple[int, ...]] | None:
    """A tiling and its dimensions among the tile's; None if elements have several places.

    The dimensions are sorted by stride, so that a view and its transpose have one tiling.
    """
    order = tuple(sorted(range(len(shape)), key=lambda k: -strides[k]))
    parts = (tuple(whole[k] for k in order) for whole in (extents, strides, steps, shape))
    tiling = Tiling(base, end, itemsize, *parts)
    return (tiling, order) if tiling.is_disjoint() else None


def tiles_of(
    where: Window, placed: Placed, itemsize: int
) -> tuple[Tiling, tuple[int, ...], Array, Array | None] | None:
    """The tiling of a window, its dimensions among the tile's, and the numbers of its tiles, (blocks or 1,).

    The last part tells the blocks whose tile is one of the index space (None for all): the others access
    nothing. None where tiles can overlap.
    """
    assert where.steps is not None
    buffer = placed.buffer
    before, uneven = divmod(buffer.start, itemsize)
    if uneven:
        return None
    size = buffer.size // itemsize
    found = tiling_of(
        placed.base + before,
        before + size,
        itemsize,
        placed.extents,
        placed.strides,
        where.steps,
        where.shape,
    )
    if found is None:
        return None
    tiling, order = found
    if tiling.tiles > size:
        return None
    number = None
    valid = None
    for k, count in zip(order, tiling.counts, strict=True):
        least, most = placed.spans[k]
        if most >= placed.extents[k] or least < 0:
            start = where.starts[k]
            inside = (start >= 0) & (start < placed.extents[k])
            valid = inside if valid is None else valid & inside
        number = where.numbers[k] if number is None else number * count + where.numbers[k]
    return tiling, order, np.zeros(1, np.int64) if number is None else number, valid
