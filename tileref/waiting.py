"""Which loops wait for other blocks.

A loop waits if its end can depend on memory that the kernel writes: a lock, a flag, a counter. So does one
that reads in another order than weak, whoever writes. Blocks in such a loop may need others to go on first,
so that a kernel with one is run block by block (``tileref.progress``). Where it is not plain that a loop
does not wait, it is taken to: that costs time and no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from tileir.attributes import MemoryOrderingSemantics
from tileir.module import Function, Operation, Region, Value
from tileir.ops import atomic, control, debugging, memory, multimem, view
from tileir.types import (
    GatherScatterViewType,
    PartitionViewType,
    PointerType,
    StridedViewType,
    TensorViewType,
    TileType,
    TokenType,
)

READS = (
    atomic.AtomicCASTko,
    atomic.AtomicRMWTko,
    memory.LoadPtrTko,
    multimem.MultimemLoadReduceViewTko,
    view.LoadViewTko,
)
WRITES = (
    atomic.AtomicCASTko,
    atomic.AtomicRMWTko,
    atomic.AtomicRedViewTko,
    memory.StorePtrTko,
    multimem.MultimemReduceViewTko,
    multimem.MultimemStoreViewTko,
    view.StoreViewTko,
)
SHOWS = (debugging.PrintTko, debugging.Assert, memory.Alloca)
RETURN = (control.Return,)
LEAVES = (control.Break, control.Continue, control.Return)
LOOPS = (control.Loop, control.For)
VIEWS = (TensorViewType, PartitionViewType, StridedViewType, GatherScatterViewType)

Root = int | str
"""Where a pointer comes from: the number of a parameter, or the name of a global or an allocation."""
Roots = frozenset[Root] | None
"""All that a pointer may come from; None if that cannot be told."""


@dataclass(frozen=True)
class Waits:
    """The loops of a function that could wait.

    Attributes:
        loops: each with what it reads to decide whether to end, one entry a read; a read that is not weak
            counts as one of anything.
        written: what the kernel writes to.
        writers: the first operation that writes to each of that.
    """

    loops: tuple[tuple[control.Loop, tuple[Roots, ...]], ...]
    written: Roots
    writers: Mapping[Root, Operation]

    def among(self, shared: Callable[[Root, Root], bool]) -> list[control.Loop]:
        """The loops that wait; ``shared`` says which of the arguments lie in the same memory."""
        return [loop for loop, reads in self.loops if any(self._changes(read, shared) for read in reads)]

    def _changes(self, read: Roots, shared: Callable[[Root, Root], bool]) -> bool:
        if read is None or self.written is None:
            return True
        return any(a == b or shared(a, b) for a in read for b in self.written)


def find_waits(function: Function) -> Waits:
    """Look through a function for loops that could wait."""
    operations = list(function.body.walk())
    loops = [operation for operation in operations if isinstance(operation, control.Loop)]
    origins = Origins(function, operations)
    found = tuple(
        (loop, tuple(origins.of(read) if _is_weak(read) else None for read in _deciding(loop, origins)))
        for loop in loops
    )
    writers: dict[Root, Operation] = {}
    for operation in operations:
        if isinstance(operation, WRITES):
            roots = origins.of(operation)
            if roots is None:
                return Waits(found, None, {})
            writers = dict.fromkeys(roots, operation) | writers
    return Waits(found, frozenset(writers), writers)


@dataclass(frozen=True)
class Plan:
    """The loops that wait in a launch.

    Attributes:
        waiting: the ``id`` of each.
        around: the same, and the ``id`` of every operation that one of them lies in.
        spins: the ``id`` of those that hold no other, and do nothing that shows but to memory and to what
            they carry.
    """

    waiting: frozenset[int]
    around: frozenset[int]
    spins: frozenset[int]


def plan(function: Function, loops: Iterable[control.Loop]) -> Plan:
    """A plan for ``function`` in which ``loops`` wait."""
    waiting = frozenset(id(loop) for loop in loops)
    around: set[int] = set()
    spins: set[int] = set()

    def visit(region: Region) -> bool:
        holds = False
        for operation in region.operations:
            inner = [visit(r) for r in operation.regions]
            if any(inner) or id(operation) in waiting:
                around.add(id(operation))
                holds = True
                if not any(inner) and not any(
                    isinstance(o, SHOWS) for r in operation.regions for o in r.walk()
                ):
                    spins.add(id(operation))
        return holds

    visit(function.body)
    return Plan(waiting, frozenset(around), frozenset(spins))


class Origins:
    """Where the values of a function come from."""

    def __init__(self, function: Function, operations: list[Operation]) -> None:
        self.parameters = {value: number for number, value in enumerate(function.parameters)}
        self.holders = {id(region): operation for operation in operations for region in operation.regions}

    def sources(self, value: Value) -> Iterator[Value]:
        """The values that ``value`` is made of; more may be named than there are."""
        owner = value.owner
        if isinstance(owner, Operation):
            yield from owner.uses
            for region in owner.regions:
                for inner in region.walk():
                    yield from inner.uses
        elif owner is not None and id(owner) in self.holders:
            yield from self.holders[id(owner)].uses
            for inner in owner.walk():
                if isinstance(inner, LEAVES):
                    yield from inner.uses

    def of(self, access: Operation) -> Roots:
        """What the pointers and views that an operation goes to memory through come from."""
        roots: set[Root] = set()
        todo = [value for value in access.uses if _is_address(value)]
        seen = set(todo)
        while todo:
            value = todo.pop()
            if value in self.parameters:
                roots.add(self.parameters[value])
                continue
            if isinstance(value.owner, memory.GetGlobal):
                roots.add(f"global {value.owner.name}")
                continue
            if isinstance(value.owner, memory.Alloca):
                roots.add(f"allocation {id(value.owner)}")
                continue
            made_of = [source for source in self.sources(value) if _is_address(source)]
            if not made_of:
                return None  # a number that became an address
            todo += [source for source in made_of if source not in seen]
            seen.update(made_of)
        return frozenset(roots)


def _is_address(value: Value) -> bool:
    type_ = value.type
    return isinstance(type_, VIEWS) or (
        isinstance(type_, TileType) and isinstance(type_.element, PointerType)
    )


def _leaves(region: Region, kinds: tuple[type[Operation], ...]) -> bool:
    """Whether a block may leave ``region`` from within by a terminator of ``kinds``."""
    for operation in region.operations:
        within = RETURN if isinstance(operation, LOOPS) else kinds
        if isinstance(operation, kinds) or any(_leaves(r, within) for r in operation.regions):
            return True
    return False


def _conditions(region: Region, kinds: tuple[type[Operation], ...] = LEAVES) -> Iterator[Value]:
    """What decides whether a block leaves the loop with the body ``region``, or its turn of it."""
    for operation in region.operations:
        if isinstance(operation, control.If) and any(_leaves(r, kinds) for r in operation.regions):
            yield operation.condition
        for inner in operation.regions:
            yield from _conditions(inner, RETURN if isinstance(operation, LOOPS) else kinds)


def _is_weak(read: Operation) -> bool:
    return read.__dict__["memory_ordering_semantics"] is MemoryOrderingSemantics.WEAK


def _deciding(loop: control.Loop, origins: Origins) -> list[Operation]:
    """The reads of memory inside a loop whose values can decide when it ends."""
    inside: set[Value] = set(loop.body.arguments)
    for operation in loop.body.walk():
        inside.update(operation.results)
        for region in operation.regions:
            inside.update(region.arguments)
    todo = list(_conditions(loop.body))
    seen = set(todo)
    # An order among accesses decides nothing: tokens are not followed.
    reads: dict[int, Operation] = {}
    while todo:
        value = todo.pop()
        if value not in inside or isinstance(value.type, TokenType):
            continue
        if isinstance(value.owner, READS):
            reads[id(value.owner)] = value.owner
        made_of = set(origins.sources(value)) - seen
        todo += made_of
        seen |= made_of
    return list(reads.values())
