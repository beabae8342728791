"""What has happened to each cell of a buffer: who wrote it, who read it, and when within its block.

A cell is a tile of a view where all accesses share one, otherwise a few bytes. For each role the lowest and
the highest key that touched it are kept, where a key is a block's number and an operation's: that is enough
to tell whether another block was there, and does not depend on the order in which blocks run. Within a block
the last write is kept by number, and the reads since then as a chain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..formats import Array
from .access import CONFLICTS, Access, Cells, Role
from .past import WINDOW, Past

LONGEST = 64
"""Reads of one cell between two writes that are told apart; earlier ones count as waited for."""


@dataclass(frozen=True, slots=True)
class Unwaited:
    """Cells with an earlier access that a later one does not wait for, the number of one of those accesses,
    and the cells where one of them is a write.
    """

    cells: Array
    number: int
    written: Array | None


class Chains:
    """Sets of reads, each the set before it and one more; number 0 is the empty one."""

    def __init__(self) -> None:
        self.links: list[tuple[int, int, bool, int]] = [(-1, 0, False, 0)]
        self._known: dict[tuple[int, int, bool], int] = {}

    def add(self, number: int, scoped: bool, before: int) -> int:
        """The set ``before`` and read ``number``."""
        length = self.links[before][3] + 1
        if length > LONGEST:
            before, length = 0, 1
        key = (number, before, scoped)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = len(self.links)
            self.links.append((number, before, scoped, length))
        return found

    def unwaited(self, chain: int, past: Past, floor: int, *, scoped: bool) -> int | None:
        """A read of the set that ``past`` does not hold and ``scoped`` does not excuse."""
        while chain:
            number, before, scoped_too, _ = self.links[chain]
            if number >= floor and not (scoped and scoped_too) and number not in past:
                return number
            chain = before
        return None


class Shadow:
    """The state of ``cells`` cells. ``keys`` is more than any access's key."""

    def __init__(self, cells: int, keys: int, operations: int, chains: Chains) -> None:
        self.size = cells
        self.keys = keys
        self.operations = operations
        self.chains = chains
        self.dtype = np.dtype(np.int32 if keys + 1 < 1 << 31 else np.int64)
        self.sides: dict[Role, tuple[Array, Array]] = {}
        # Zeros that nobody touches cost no memory, so that nothing is kept as 0 and keys as they count up
        # from one end and from the other.
        self.wrote = np.zeros(cells, np.int32)
        self.read = np.zeros(cells, np.int32)

    def foreign(self, cells: Cells, role: Role) -> Array | None:
        """Cells that another block accessed in a way that conflicts with ``role``; None where none."""
        result = None
        for other in CONFLICTS[role]:
            if other not in self.sides:
                continue
            up, down = self.sides[other]
            highest = up[cells.index]
            if not highest.any():
                continue
            bad = highest > cells.low + self.operations
            bad |= down[cells.index] > self.keys - cells.high
            if bad.any():
                result = bad if result is None else result | bad
        return result

    def unwaited(self, cells: Cells, access: Access) -> Unwaited | None:
        """Cells with an access of the block itself that this one does not wait for."""
        floor = max(0, access.number - WINDOW)

        def write(value: int, past: Past) -> int | None:
            number = abs(value) - 1
            excused = access.scoped and value < 0
            return None if excused or number < floor or number in past else number

        found = self._failing(self.wrote[cells.index], cells, access, write)
        if not access.role.writes:
            return None if found is None else Unwaited(*found, found[0])

        def reads(value: int, past: Past) -> int | None:
            return self.chains.unwaited(value, past, floor, scoped=access.scoped)

        more = self._failing(self.read[cells.index], cells, access, reads)
        if found is None:
            return None if more is None else Unwaited(*more, None)
        return Unwaited(found[0] if more is None else found[0] | more[0], found[1], found[0])

    def _failing(
        self,
        values: Array,
        cells: Cells,
        access: Access,
        test: Callable[[int, Past], int | None],
    ) -> tuple[Array, int] | None:
        """Cells whose value fails ``test`` with what their block waits for, and what it answered first."""
        result, first = None, 0
        for value in distinct(values):
            if value == 0:
                continue
            for group, past in enumerate(access.waits.pasts):
                number = test(value, past)
                if number is None:
                    continue
                bad = values == value
                if cells.group is not None:
                    bad &= cells.group == group
                if not bad.any():
                    continue
                if result is None:
                    result, first = bad, number
                else:
                    result |= bad
        return None if result is None else (result, first)

    def note(self, cells: Cells, access: Access) -> None:
        """Enter an access."""
        up, down = self._side(access.role)
        index = cells.index
        _raise(up, index, cells.high + (access.key + 1))
        _raise(down, index, self.keys - cells.low - access.key)
        if access.role.writes:
            self.wrote[index] = -(access.number + 1) if access.scoped else access.number + 1
            self.read[index] = 0
            return
        before = self.read[index]
        kinds = distinct(before)
        new = {k: self._chain(k, access) for k in kinds}
        if len(new) == 1:
            self.read[index] = next(iter(new.values()))
            return
        table = np.zeros(max(kinds) + 1, np.int32)
        table[kinds] = [new[k] for k in kinds]
        self.read[index] = table[before]

    def _side(self, role: Role) -> tuple[Array, Array]:
        found = self.sides.get(role)
        if found is None:
            found = self.sides[role] = (np.zeros(self.size, self.dtype), np.zeros(self.size, self.dtype))
        return found

    def _chain(self, before: int, access: Access) -> int:
        """The reads of a cell after this one, which stands for those that it waited for."""
        kept: list[tuple[int, bool]] = []
        while before:
            number, before, scoped, _ = self.chains.links[before]
            excused = access.scoped and not scoped
            if excused or not all(number in past for past in access.waits.pasts):
                kept.append((number, scoped))
        chain = 0
        for number, scoped in reversed(kept):
            chain = self.chains.add(number, scoped, chain)
        return self.chains.add(access.number, access.scoped, chain)

    def extremes(self, role: Role, index: Array) -> tuple[Array, Array]:
        """The lowest and the highest key that accessed cells in a role, -1 where none did."""
        if role not in self.sides:
            none = np.full(index.shape, -1, np.int64)
            return none, none
        up, down = self.sides[role]
        high = up[index].astype(np.int64) - 1
        return np.where(high < 0, -1, self.keys - down[index].astype(np.int64)), high

    def spread(self, other: Shadow, source: Array, index: Array) -> None:
        """Copy the state of cells ``source`` to ``index`` of a shadow with more of them."""
        for role, (up, down) in self.sides.items():
            new_up, new_down = other._side(role)
            new_up[index] = up[source]
            new_down[index] = down[source]
        other.wrote[index] = self.wrote[source]
        other.read[index] = self.read[source]

    def split(self, parts: int) -> Shadow:
        """A shadow with ``parts`` cells for each of this one's."""
        result = Shadow(self.size * parts, self.keys, self.operations, self.chains)
        for role, (up, down) in self.sides.items():
            result.sides[role] = (np.repeat(up, parts), np.repeat(down, parts))
        result.wrote = np.repeat(self.wrote, parts)
        result.read = np.repeat(self.read, parts)
        return result


def _raise(array: Array, index: Array, least: Array) -> None:
    """Make elements at least as large as ``least``; an element may be named several times."""
    wanted = np.maximum(array[index], least.astype(array.dtype))
    array[index] = wanted
    late = array[index] < wanted
    if late.any():
        np.maximum.at(array, index[late], wanted[late])


def distinct(values: Array) -> list[int]:
    """The values that occur, ascending: there are few of them, and most often one."""
    if values.size == 0:
        return []
    low, high = int(values.min()), int(values.max())
    if low == high:
        return [low]
    if high - low < 1 << 16:
        return [int(v) + low for v in np.flatnonzero(np.bincount((values - low).ravel()))]
    return [int(v) for v in np.unique(values)]
