"""One memory operation while it runs, and which accesses conflict."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from tileir.attributes import MemoryOrderingSemantics, MemoryScope
from tileir.module import Operation
from tileir.ops import atomic, memory, view

from .past import Past
from .tokens import Token

Numbers = NDArray[np.int64]


class Role(IntEnum):
    """What an access does to an element, and whether other blocks may be there at the same time."""

    WEAK_READ = 0
    WEAK_WRITE = 1
    STRONG_READ = 2
    STRONG_WRITE = 3

    @property
    def writes(self) -> bool:
        """Whether it changes the element; what reads and writes at once counts as a write."""
        return self in (Role.WEAK_WRITE, Role.STRONG_WRITE)


CONFLICTS: dict[Role, tuple[Role, ...]] = {
    Role.WEAK_READ: (Role.WEAK_WRITE, Role.STRONG_WRITE),
    Role.WEAK_WRITE: (Role.WEAK_WRITE, Role.WEAK_READ, Role.STRONG_WRITE, Role.STRONG_READ),
    Role.STRONG_READ: (Role.WEAK_WRITE,),
    Role.STRONG_WRITE: (Role.WEAK_WRITE, Role.WEAK_READ),
}
"""For each role the roles that race with it: one of the two writes, and one is weak.

Two accesses whose scopes include each other's blocks are morally strong, and never race.
"""
READS = (memory.LoadPtrTko, view.LoadViewTko)
ATOMIC = (atomic.AtomicCASTko, atomic.AtomicRMWTko, atomic.AtomicRedViewTko)
MEMORY = (*READS, memory.StorePtrTko, view.StoreViewTko, *ATOMIC)
"""Operations that access memory."""


def has_scope(operation: Operation) -> bool:
    """Whether an operation may meet other accesses of its own block: any scope includes that."""
    return getattr(operation, "memory_ordering_semantics", None) is not MemoryOrderingSemantics.WEAK


def role_of(operation: Operation) -> Role:
    """What an operation is to other blocks: with the scope of a block alone, it is weak to them."""
    weak = not has_scope(operation) or getattr(operation, "memory_scope", None) is MemoryScope.TL_BLK
    if isinstance(operation, READS):
        return Role.WEAK_READ if weak else Role.STRONG_READ
    return Role.WEAK_WRITE if weak else Role.STRONG_WRITE


@dataclass(slots=True)
class History:
    """The accesses of the blocks that run together, in the order they ran."""

    operations: list[Operation] = field(default_factory=list)

    def add(self, operation: Operation) -> int:
        """The number of the next access."""
        self.operations.append(operation)
        return len(self.operations) - 1


@dataclass(slots=True)
class Access:
    """One run of a memory operation in the blocks of a frame.

    Attributes:
        operation: what runs.
        number: its place among the accesses of the blocks that run together.
        role: what it is to other blocks.
        scoped: whether it has a scope, which includes its own block.
        blocks: numbers of the blocks in the grid, ascending.
        operations: how many there are that access memory.
        key: the operation's place among them.
        waits: what each block waits for.
        itemsize: bytes of an element.
        history: the accesses so far.
        written: which lanes of an atomic operation wrote, None if all did; known when it has run.
    """

    operation: Operation
    number: int
    role: Role
    scoped: bool
    blocks: Numbers
    operations: int
    key: int
    waits: Token
    itemsize: int
    history: History
    written: NDArray[np.bool_] | None = None

    @property
    def first(self) -> Numbers:
        """Each block's first key: its number times the operations."""
        return self.blocks * self.operations

    def past(self, place: int) -> Past:
        """What block number ``place`` of those that run waits for."""
        which = self.waits.which
        return self.waits.pasts[0 if which is None else int(which[place])]

    @property
    def token(self) -> Token:
        """The token that the operation answers."""
        return self.waits.after(self.number)


@dataclass(slots=True)
class Cells:
    """Which cells of a shadow an access touches, and for whom.

    ``index`` has a row for each block, or one row that all of them touch. ``low`` and ``high`` are the first
    keys of the lowest and the highest block that touches a cell, and broadcast against it; so does ``group``,
    which says what a cell's block waits for (None where all wait for the same, or several blocks count).
    """

    index: NDArray[np.intp]
    low: Numbers
    high: Numbers
    group: NDArray[np.intp] | None
    shared: bool


def whole(access: Access, index: NDArray[np.intp]) -> Cells:
    """The cells of an access all of whose lanes take part; ``index`` is (blocks or 1, cells)."""
    blocks = len(access.blocks)
    if index.shape[0] != blocks:
        return Cells(index, access.first[:1, None], access.first[-1:, None], None, shared=True)
    group = None if access.waits.which is None else access.waits.which[:, None]
    first = access.first[:, None]
    return Cells(index, first, first, group, shared=False)


def some(access: Access, index: NDArray[np.intp], row: NDArray[np.intp], rows: int) -> Cells:
    """The cells of an access some of whose lanes take part, (lanes, cells); ``row`` numbers their blocks."""
    if rows != len(access.blocks):
        return Cells(index, access.first[:1, None], access.first[-1:, None], None, shared=True)
    group = None if access.waits.which is None else access.waits.which[row][:, None]
    first = access.first[row][:, None]
    return Cells(index, first, first, group, shared=False)
