"""What has happened to each cell of a buffer: who wrote it, who read it, and when within its block.

A cell is a tile of a view where all accesses share one, otherwise a few bytes. For each role the lowest and
the highest key that touched it are kept, where a key is a block's number and an operation's: that is enough
to tell whether another block was there, and does not depend on the order in which blocks run. Within a block
the last weak write is kept by number, and what came since then as a chain.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..formats import Array
from .access import CONFLICTS, Access, Cells, Role
from .past import WINDOW, Past

LONGEST = 64
"""Accesses of one cell since its last weak write that are told apart; earlier ones count as waited for."""


@dataclass(frozen=True, slots=True)
class Unwaited:
    """Cells with an earlier access that a later one does not wait for, the number of one of those accesses
    for each (of other cells -1), and the cells where one of them is a write (None where none is).
    """

    cells: Array
    numbers: Array
    written: Array | None


@dataclass(frozen=True, slots=True)
class Link:
    """An access, and the set of those before it."""

    number: int
    before: int
    scoped: bool
    writes: bool
    length: int


class Chains:
    """Sets of accesses, each a set before it and one access more; number 0 is the empty one."""

    def __init__(self) -> None:
        self.links = [Link(-1, 0, scoped=False, writes=False, length=0)]
        self._known: dict[tuple[int, int, bool, bool], int] = {}

    def add(self, number: int, before: int, *, scoped: bool, writes: bool) -> int:
        """The set ``before`` and an access."""
        length = self.links[before].length + 1
        if length > LONGEST:
            before, length = 0, 1
        key = (number, before, scoped, writes)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = len(self.links)
            self.links.append(Link(number, before, scoped, writes, length))
        return found

    def members(self, chain: int) -> list[Link]:
        """The accesses of a set, latest first."""
        found = []
        while chain:
            found.append(self.links[chain])
            chain = self.links[chain].before
        return found

    def after(self, chain: int, access: Access) -> int:
        """A set with an access more, which stands for those that it waits for.

        It does so if whatever is in conflict with them is so with it.
        """
        result = 0
        for link in reversed(self.members(chain)):
            stands = access.role.writes >= link.writes and access.scoped <= link.scoped
            if not stands or not all(link.number in past for past in access.waits.pasts):
                result = self.add(link.number, result, scoped=link.scoped, writes=link.writes)
        return self.add(access.number, result, scoped=access.scoped, writes=access.role.writes)


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
        self.since = np.zeros(cells, np.int32)

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

        def written(value: int, past: Past) -> int | None:
            return None if value <= floor or value - 1 in past else value - 1

        def since(value: int, past: Past, *, writes: bool) -> int | None:
            for link in self.chains.members(value):
                conflict = (link.writes or access.role.writes) and not (link.scoped and access.scoped)
                if conflict and link.writes >= writes and link.number >= floor and link.number not in past:
                    return link.number
            return None

        chains = self.since[cells.index]
        one = self._failing(self.wrote[cells.index], cells, access, written)
        two = self._failing(chains, cells, access, lambda v, past: since(v, past, writes=True))
        three = self._failing(chains, cells, access, lambda v, past: since(v, past, writes=False))
        found = [f for f in (one, two, three) if f is not None]
        if not found:
            return None
        numbers = found[0]
        for more in found[1:]:
            numbers = np.where(numbers < 0, more, numbers)
        after_write = [f >= 0 for f in (one, two) if f is not None]
        return Unwaited(numbers >= 0, numbers, np.logical_or.reduce(after_write) if after_write else None)

    def _failing(
        self,
        values: Array,
        cells: Cells,
        access: Access,
        test: Callable[[int, Past], int | None],
    ) -> Array | None:
        """For cells whose value fails ``test`` with what their block waits for, its answer; -1 for others."""
        result = None
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
                    result = np.full(values.shape, -1, np.int64)
                result[bad] = number
        return result

    def note(self, cells: Cells, access: Access) -> None:
        """Enter an access."""
        up, down = self._side(access.role)
        index = cells.index
        _raise(up, index, cells.high + (access.key + 1))
        _raise(down, index, self.keys - cells.low - access.key)
        if access.role.writes and not access.scoped:
            self.wrote[index] = access.number + 1
            self.since[index] = 0
            return
        before = self.since[index]
        kinds = distinct(before)
        new = {k: self.chains.after(k, access) for k in kinds}
        if len(new) == 1:
            self.since[index] = next(iter(new.values()))
            return
        table = np.zeros(max(kinds, default=0) + 1, np.int32)
        table[kinds] = [new[k] for k in kinds]
        self.since[index] = table[before]

    def _side(self, role: Role) -> tuple[Array, Array]:
        found = self.sides.get(role)
        if found is None:
            found = self.sides[role] = (np.zeros(self.size, self.dtype), np.zeros(self.size, self.dtype))
        return found

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
        other.since[index] = self.since[source]

    def split(self, parts: int) -> Shadow:
        """A shadow with ``parts`` cells for each of this one's."""
        result = Shadow(self.size * parts, self.keys, self.operations, self.chains)
        for role, (up, down) in self.sides.items():
            result.sides[role] = (np.repeat(up, parts), np.repeat(down, parts))
        result.wrote = np.repeat(self.wrote, parts)
        result.since = np.repeat(self.since, parts)
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
