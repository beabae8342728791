"""Where a tile of a view lies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .formats import Array
from .memory import Buffer, Memory


@dataclass(slots=True)
class Window:
    """Where a tile of a view lies, in each of the blocks.

    Attributes:
        base: addresses of the tensors' first elements, (blocks or 1,).
        starts: first coordinate along each tile dimension: (blocks or 1,), or with row numbers along the
            sparse dimension, (blocks or 1, rows).
        extents, strides: of the tensor dimension that each tile dimension runs along.
        shape: the tile's.
        steps: elements from one tile to the next along each dimension, None where rows are numbered.
        numbers: the tile's index along each dimension, or the numbers of its rows.
    """

    base: Array
    starts: list[Array]
    extents: list[Array]
    strides: list[Array]
    shape: tuple[int, ...]
    steps: tuple[int, ...] | None
    numbers: list[Array]

    @property
    def rank(self) -> int:
        """Dimensions of the tile."""
        return len(self.shape)

    def coordinates(self, dimension: int) -> Array:
        """Coordinates along ``dimension``, (blocks or 1, 1.., extent, ..1)."""
        start = self.starts[dimension]
        along = start if start.ndim == 2 else start[:, None] + np.arange(self.shape[dimension])
        return along.reshape(along.shape[0], *self._along(dimension, along.shape[1]))

    def _along(self, dimension: int, extent: int) -> tuple[int, ...]:
        return tuple(extent if k == dimension else 1 for k in range(self.rank))

    def wide(self, array: Array) -> Array:
        """An array with a number a block, against the lanes of a tile."""
        return array.reshape(-1, *(1,) * self.rank)

    def inside(self) -> Array:
        """Lanes that lie in the tensor."""
        result: Array = np.ones((1,) * (self.rank + 1), np.bool_)
        for k in range(self.rank):
            at = self.coordinates(k)
            result = result & (at >= 0) & (at < self.wide(self.extents[k]))
        return result

    def addresses(self, itemsize: int) -> Array:
        """Every lane's address."""
        result = self.wide(self.base)
        for k in range(self.rank):
            result = result + self.coordinates(k) * self.wide(self.strides[k] * itemsize)
        return result


@dataclass(slots=True)
class Placed:
    """A window whose tiles all lie in one tensor of one buffer; numbers are in elements.

    Attributes:
        base: the tensor's first element in the buffer.
        extents, strides: of the tensor dimension that each tile dimension runs along.
        spans: lowest and highest first coordinate of a tile along each dimension.
    """

    buffer: Buffer
    base: int
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]


def place(memory: Memory, where: Window, itemsize: int) -> Placed | None:
    """Where a window's tiles lie, if they lie in one tensor with the same strides in all blocks."""
    if where.steps is None:
        return None
    uniform = []
    for part in (where.base, *where.extents, *where.strides):
        if part.shape[0] != 1 and (part != part[0]).any():
            return None
        uniform.append(int(part[0]))
    rank = len(where.shape)
    buffer = memory.at(uniform[0])
    if buffer is None:
        return None
    base = uniform[0] - buffer.base
    if base < 0 or base % itemsize:
        return None
    spans = []
    for start in where.starts:
        least = int(start[0]) if start.shape[0] == 1 else int(start.min())
        spans.append((least, least if start.shape[0] == 1 else int(start.max())))
    return Placed(
        buffer, base // itemsize, tuple(uniform[1 : rank + 1]), tuple(uniform[rank + 1 :]), tuple(spans)
    )
