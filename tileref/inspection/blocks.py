"""Which blocks of a grid: ``3``, ``0-7``, ``3,0,0``, ``0-3,*,1``, ``sample=100,seed=1``."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileir.errors import ArgumentError

from ..values import Selection

FORMS = "N, A-B, X,Y,Z (each a number, A-B or *), or sample=COUNT,seed=SEED"
"""What a choice of blocks may look like."""
Grid = tuple[int, int, int]

_RANGE = re.compile(r"(\d+)(?:-(\d+))?\Z")
_SAMPLE = re.compile(r"sample=(\d+)(?:,seed=(\d+))?\Z")


@dataclass(frozen=True, slots=True)
class Box:
    """Blocks by their coordinates: along each axis the first and the last, None for all of them."""

    axes: tuple[tuple[int, int] | None, ...]

    def holds(self, numbers: Selection, grid: Grid) -> NDArray[np.bool_]:
        """Which of the blocks ``numbers`` are among these."""
        x, y, _ = grid
        found = np.ones(numbers.shape, np.bool_)
        for axis, at in zip(self.axes, (numbers % x, numbers // x % y, numbers // (x * y)), strict=True):
            if axis is not None:
                found &= (at >= axis[0]) & (at <= axis[1])
        return found

    def numbers(self, grid: Grid) -> Selection:
        """The numbers of these blocks."""
        x, y, _ = grid
        ranges = [
            np.arange(extent) if a is None else np.arange(a[0], a[1] + 1)
            for a, extent in zip(self.axes, grid, strict=True)
        ]
        at_x, at_y, at_z = np.meshgrid(*ranges, indexing="ij", sparse=True)
        return np.asarray(at_x + x * (at_y + y * at_z)).ravel()


@dataclass(frozen=True, slots=True)
class Range:
    """Blocks by their numbers, x fastest: from the first to the last."""

    first: int
    last: int

    def holds(self, numbers: Selection, _grid: Grid) -> NDArray[np.bool_]:
        """Which of the blocks ``numbers`` are among these."""
        return (numbers >= self.first) & (numbers <= self.last)

    def numbers(self, _grid: Grid) -> Selection:
        """The numbers of these blocks."""
        return np.arange(self.first, self.last + 1)


@dataclass(frozen=True, slots=True)
class Sample:
    """So many blocks by chance; the same seed finds the same ones."""

    count: int
    seed: int

    def numbers(self, grid: Grid) -> Selection:
        """The numbers of these blocks."""
        total = prod(grid)
        return np.array(random.Random(self.seed).sample(range(total), min(self.count, total)), np.intp)


Part = Box | Range


def part(text: str) -> Part:
    """The blocks that one word names.

    Raises:
        ArgumentError: it names none.
    """
    pieces = text.split(",")
    found = [None if piece == "*" else _range(text, piece) for piece in pieces]
    if len(pieces) == 1 and found[0] is not None:
        return Range(*found[0])
    if len(pieces) > 3:
        raise _wrong(text, "a block has at most three coordinates")
    missing = None if pieces == ["*"] else (0, 0)
    return Box((*found, *[missing] * (3 - len(pieces))))


def _range(text: str, piece: str) -> tuple[int, int]:
    match = _RANGE.match(piece)
    if match is None:
        raise _wrong(text, "this names no blocks")
    first = int(match[1])
    last = first if match[2] is None else int(match[2])
    if last < first:
        raise _wrong(text, "the range of blocks is empty")
    return first, last


def _wrong(found: object, message: str, expected: object = FORMS) -> ArgumentError:
    return ArgumentError(message, rule="blocks", found=found, expected=expected)


def check_inside(parts: Sequence[Part], grid: Grid) -> None:
    """Raise ``ArgumentError`` where a block is named that the grid does not have."""
    for each in parts:
        ends = [each.last] if isinstance(each, Range) else [0 if a is None else a[1] for a in each.axes]
        extents = [prod(grid)] if isinstance(each, Range) else list(grid)
        if any(end >= extent for end, extent in zip(ends, extents, strict=True)):
            raise _wrong(
                ",".join(map(str, ends)),
                "the grid has no such block",
                f"below {extents[0]}" if len(extents) == 1 else f"below {','.join(map(str, extents))}",
            )


def chosen(blocks: Any, grid: Grid) -> Selection | None:
    """The numbers of the blocks that ``blocks`` chooses from ``grid``, ascending; None for all of them.

    Args:
        blocks: None; text, as above; a number; or numbers and coordinates, one after the other.
        grid: the extents.

    Raises:
        ArgumentError: it chooses none, or one that the grid does not have.
    """
    if blocks is None:
        return None
    parts: list[Part | Sample] = []
    for word in _words(blocks):
        if isinstance(word, Box | Range):
            parts.append(word)
        elif (sample := _SAMPLE.match(word)) is not None:
            parts.append(Sample(int(sample[1]), int(sample[2] or 0)))
        else:
            parts.append(part(word))
    check_inside([p for p in parts if not isinstance(p, Sample)], grid)
    found = np.unique(np.concatenate([np.empty(0, np.intp), *(p.numbers(grid) for p in parts)]))
    if not len(found):
        raise _wrong(blocks, "no block is chosen")
    return found


def _words(blocks: Any) -> Iterable[str | Part]:
    if isinstance(blocks, str):
        return blocks.split()
    if isinstance(blocks, int | np.integer):
        return [_number(blocks, blocks)]
    try:
        each = list(blocks)
    except TypeError:
        raise _wrong(blocks, "this names no blocks", "text, a number, numbers, or coordinates") from None
    words: list[str | Part] = []
    for item in each:
        if isinstance(item, str):
            words += item.split()
        elif isinstance(item, int | np.integer):
            words.append(_number(item, blocks))
        elif isinstance(item, tuple | list | np.ndarray) and 1 <= len(item) <= 3:
            at = [_number(i, blocks).first for i in item] + [0] * (3 - len(item))
            words.append(Box(tuple((i, i) for i in at)))
        else:
            raise _wrong(item, "this names no block", "a number, or coordinates")
    return words


def _number(value: Any, where: Any) -> Range:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 0:
        raise _wrong(where, "a block's number is an integer that is not negative")
    return Range(int(value), int(value))


def spell(number: int, grid: Grid) -> str:
    """A block as a selection names it: its number in a grid of one dimension, else its coordinates."""
    x, y, z = grid
    if y == z == 1:
        return str(number)
    return f"{number % x},{number // x % y},{number // (x * y)}"
