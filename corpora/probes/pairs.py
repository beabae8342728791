"""Patterns that show in which order a fold combines its elements.

After FPRev (arXiv 2411.00442): among ones, one element is huge and another its negative. Every one that is
added to either before they meet is lost, so the sum counts the elements that join after the two have met.
The sums of all pairs give the whole tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..case import Buffer
from .recipes import exponent_width, float_format, stored

ALL_PAIRS = 64
"""Elements up to which every pair is asked for; beyond, all partners of a few elements."""
Shape = tuple[int, ...]


def pairs(count: int) -> list[tuple[int, int]]:
    """The pairs of places that are asked for among ``count`` elements, the lower place first."""
    chosen = range(count)
    if count > ALL_PAIRS:
        borders = {0, 1, 2, 3, 31, 32, 33, 63, 64, 127, 128, count // 2, count - 2}
        chosen = sorted(borders & set(range(count)))  # type: ignore[assignment]
    return [(i, j) for i in chosen for j in range(i + 1, count)]


def pair_tiles(format_name: str, shape: Shape, dim: int) -> NDArray[np.uint64]:
    """Bit patterns of shape ``(number of pairs, *shape)``: a tile a pair, with the pair along ``dim``.

    The huge value is the largest power of two; everything else is one.
    """
    fmt = float_format(format_name)
    size = 1 << exponent_width(fmt)
    one, huge = ((e << fmt.significand_width) for e in (size // 2 - 1, size - 2))
    places = pairs(shape[dim])
    tiles = np.full((len(places), shape[dim], prod(shape) // shape[dim]), one, np.uint64)
    for tile, (i, j) in zip(tiles, places, strict=True):
        tile[i], tile[j] = huge, huge | fmt.sign_bit
    moved = tiles.reshape(len(places), shape[dim], *shape[:dim], *shape[dim + 1 :])
    return np.moveaxis(moved, 1, dim + 1)


@dataclass(frozen=True, slots=True)
class Pairs:
    """A tile a pair, for a fold along ``dim`` of what is loaded."""

    dim: int

    def array(self, buffer: Buffer) -> NDArray[Any]:
        """A fresh array."""
        return stored(pair_tiles(buffer.format, buffer.shape[1:], self.dim), buffer)


@dataclass(frozen=True, slots=True)
class PairsAfterFold:
    """Tiles that a fold along ``first`` turns into pairs for another along ``second`` of its result.

    All but the first element along ``first`` are zero.
    """

    first: int
    second: int

    def array(self, buffer: Buffer) -> NDArray[Any]:
        """A fresh array."""
        shape = list(buffer.shape[1:])
        del shape[self.first]
        tiles = np.zeros(buffer.shape, np.uint64)
        front = np.moveaxis(tiles, self.first + 1, 0)
        front[0] = pair_tiles(buffer.format, tuple(shape), self.second)
        return stored(tiles, buffer)


@dataclass(frozen=True, slots=True)
class PairsAfterMove:
    """Tiles that a reshape to ``final``, or a permutation, turns into pairs for a fold along ``dim``."""

    final: Shape
    dim: int
    permutation: Shape | None = None

    def array(self, buffer: Buffer) -> NDArray[Any]:
        """A fresh array."""
        tiles = pair_tiles(buffer.format, self.final, self.dim)
        if self.permutation is not None:
            back = np.argsort(self.permutation)
            tiles = tiles.transpose(0, *(i + 1 for i in back))
        return stored(tiles, buffer)
