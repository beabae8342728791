"""Which accesses of different blocks were in conflict, told from a shadow when all blocks have run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..formats import Array
from .access import Role
from .watched import Watched


@dataclass(frozen=True, slots=True)
class Race:
    """Two operations whose runs in different blocks conflict.

    Attributes:
        key, block: the operation that writes, by number, and a block that it ran in.
        other_key, other_block: likewise of the other access to the same bytes.
        how: what the two did.
        places: the first byte of each cell of memory that they conflict on, ascending; the blocks are those
            of the first.
        cell: bytes of a cell.
    """

    key: int
    block: int
    other_key: int
    other_block: int
    how: str
    places: Array
    cell: int


PAIRS = (
    (Role.WEAK_WRITE, Role.WEAK_WRITE),
    (Role.WEAK_WRITE, Role.WEAK_READ),
    (Role.WEAK_WRITE, Role.STRONG_WRITE),
    (Role.WEAK_WRITE, Role.STRONG_READ),
    (Role.STRONG_WRITE, Role.WEAK_READ),
)
"""Conflicts, in the order they are told: an element is told of once."""


def races(watched: Watched) -> Iterator[Race]:
    """Every pair of operations that conflict on some cell of memory."""
    shadow = watched.shadow
    assert shadow is not None
    assert watched.tiling is None
    left = np.arange(shadow.size)
    for writes, others in PAIRS:
        if writes not in shadow.sides or others not in shadow.sides:
            continue
        low, high = shadow.extremes(writes, left)
        other_low, other_high = shadow.extremes(others, left)
        count = shadow.operations
        a, b = low // count, high // count
        c, d = other_low // count, other_high // count
        there = (low >= 0) & (other_low >= 0)
        if others is writes:
            bad = there & (a != b)
            if watched.differs is None:
                bad[:] = False
            else:
                bad &= watched.differs[left]
            first, second = high, low
        else:
            bad = there & ((a != c) | (a != d) | (b != c))
            # The lowest writer, and the lowest other access of another block, if there is one.
            first = np.where((a != c) | (a != d), low, high)
            second = np.where((a == c) & (a != d), other_high, other_low)
        yield from _told(watched.cell, count, left[bad], first[bad], second[bad], others)
        left = left[~bad]


def _told(
    cell: int, operations: int, cells: Array, first: Array, second: Array, others: Role
) -> Iterator[Race]:
    """A race for each pair of operations among conflicts of the same roles."""
    if not len(cells):
        return
    pairs = (first % operations) * operations + second % operations
    for pair in np.unique(pairs):
        here = pairs == pair
        at = int(np.argmax(here))
        yield Race(
            int(pair) // operations,
            int(first[at]) // operations,
            int(pair) % operations,
            int(second[at]) // operations,
            "written here and" + (" written by" if others.writes else " read by"),
            cells[here] * cell,
            cell,
        )
