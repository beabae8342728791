"""What a value of the IR is while a kernel runs: the same tile in many blocks at once.

Every array has a leading axis of blocks. Its extent is the number of blocks that run together, or 1 where
all of them hold the same. Values are never changed in place: an operation answers new arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileir.types import GatherScatterViewType, PartitionViewType, StridedViewType, TensorViewType, TileType

from .formats import Array, dtype_of
from .ordering.tokens import TOKEN, Token, join_tokens, merge_tokens
from .undefined import Marks, assembled

Selection = NDArray[np.intp]

__all__ = ["TOKEN", "RuntimeValue", "Selection", "Tensor", "Tile", "Token", "View", "join_tokens", "merge"]


@dataclass(slots=True)
class Tile:
    """A tile in each of the blocks.

    ``data`` has the shape (blocks or 1, *type.shape) and the array type of the element; pointers are int64
    addresses. ``undefined`` marks lanes that have no value.
    """

    type: TileType
    data: Array
    undefined: Marks | None = None

    def take(self, selection: Selection) -> Tile:
        """The tile in the selected blocks alone."""
        if self.data.shape[0] == 1:
            if self.undefined is None or self.undefined.lanes.shape[0] == 1:
                return self
            return Tile(self.type, self.data, self.undefined.map(lambda m: m[selection]))
        undefined = self.undefined
        if undefined is not None and undefined.lanes.shape[0] != 1:
            undefined = undefined.map(lambda m: m[selection])
        return Tile(self.type, self.data[selection], undefined)

    def rearrange(self, type_: TileType, function: Callable[[Array], Array]) -> Tile:
        """A tile of ``type_`` whose lanes are this one's, moved by ``function`` (marks move along)."""
        undefined = self.undefined
        if undefined is not None:
            shape = self.type.shape
            undefined = undefined.map(lambda m: function(np.broadcast_to(m, (m.shape[0], *shape))))
        return Tile(type_, function(self.data), undefined)

    def full(self, blocks: int) -> Array:
        """The data with a leading axis of exactly ``blocks``."""
        return np.broadcast_to(self.data, (blocks, *self.type.shape))

    def scalar(self) -> int | None:
        """The integer that a rank-0 tile holds in every block, or None if blocks differ."""
        first = self.data[0]
        if self.data.shape[0] > 1 and not (self.data == first).all():
            return None
        return int(first)


@dataclass(slots=True)
class Tensor:
    """A tensor view: an address, extents and strides (in elements), each (blocks or 1,) of int64."""

    type: TensorViewType
    base: Array
    shape: tuple[Array, ...]
    strides: tuple[Array, ...]

    def take(self, selection: Selection) -> Tensor:
        """The tensor in the selected blocks alone."""

        def cut(array: Array) -> Array:
            return array if array.shape[0] == 1 else array[selection]

        return Tensor(self.type, cut(self.base), tuple(map(cut, self.shape)), tuple(map(cut, self.strides)))


@dataclass(slots=True)
class View:
    """A tensor cut into tiles."""

    type: PartitionViewType | StridedViewType | GatherScatterViewType
    tensor: Tensor

    def take(self, selection: Selection) -> View:
        """The view in the selected blocks alone."""
        return View(self.type, self.tensor.take(selection))


RuntimeValue = Tile | Token | Tensor | View


def merge(blocks: int, parts: Sequence[tuple[Selection | None, RuntimeValue]]) -> RuntimeValue:
    """One value of ``blocks`` blocks from values of some of them; None selects all."""
    first = parts[0][1]
    if len(parts) == 1 and parts[0][0] is None:
        return first
    if isinstance(first, Token):
        tokens = [(selection, part) for selection, part in parts if isinstance(part, Token)]
        return merge_tokens(blocks, tokens)
    # Loop-carried and yielded values are tiles and tokens alone: the dialect forbids views there.
    assert isinstance(first, Tile)
    data = np.zeros((blocks, *first.type.shape), dtype_of(first.type))
    pieces: list[tuple[Any, Marks | None]] = []
    for selection, part in parts:
        assert isinstance(part, Tile)
        where = slice(None) if selection is None else selection
        data[where] = part.data
        pieces.append((where, part.undefined))
    return Tile(first.type, data, assembled(data.shape, pieces))
