"""Rules of the operations on memory through pointers, and of tokens."""

from __future__ import annotations

from ..attributes import MemoryOrderingSemantics, MemoryScope
from ..module import Operation
from ..ops import memory as o
from ..ops.view import LoadViewTko, StoreViewTko
from ..types import NumberType, PointerAttribute, PointerType, TileType, Type
from .diagnostic import Problem
from .relations import element_named, same, shape_of
from .rules import Context, Problems, rule

Ordering = MemoryOrderingSemantics
LOADS = (Ordering.WEAK, Ordering.RELAXED, Ordering.ACQUIRE)
STORES = (Ordering.WEAK, Ordering.RELAXED, Ordering.RELEASE)


def pointee(type_: Type) -> NumberType:
    """What a tile of pointers points at."""
    assert isinstance(type_, TileType)
    assert isinstance(type_.element, PointerType)
    return type_.element.pointee


def ordering(found: Ordering, allowed: tuple[Ordering, ...]) -> Problems:
    """The memory ordering is one that the operation has."""
    if found not in allowed:
        yield Problem("the operation has no such memory ordering", found, " or ".join(map(str, allowed)))


def scope(found: Ordering, memory_scope: MemoryScope | None) -> Problems:
    """A weak access has no scope, and every other has one."""
    if found is Ordering.WEAK and memory_scope is not None:
        yield Problem("a weak access has no scope", memory_scope)
    if found is not Ordering.WEAK and memory_scope is None:
        yield Problem(f"{found} needs a scope")


@rule(o.LoadPtrTko, LoadViewTko)
def load_ordering(op: o.LoadPtrTko | LoadViewTko, context: Context) -> Problems:
    """A load is weak, relaxed or acquire."""
    yield from ordering(op.memory_ordering_semantics, LOADS)


@rule(o.StorePtrTko, StoreViewTko)
def store_ordering(op: o.StorePtrTko | StoreViewTko, context: Context) -> Problems:
    """A store is weak, relaxed or release."""
    yield from ordering(op.memory_ordering_semantics, STORES)


@rule(o.LoadPtrTko, LoadViewTko, o.StorePtrTko, StoreViewTko)
def access_scope(op: o.LoadPtrTko | LoadViewTko | o.StorePtrTko | StoreViewTko, context: Context) -> Problems:
    """A weak access has no scope, and every other has one."""
    yield from scope(op.memory_ordering_semantics, op.memory_scope)


@rule(o.LoadPtrTko)
def load_types(op: o.LoadPtrTko, context: Context) -> Problems:
    """The result is a tile of what the source points at."""
    expected = TileType(shape_of(op, "source"), pointee(op.source.type))
    if op.result.type != expected:
        yield Problem("the result is a tile of what the source points at", op.result.type, expected)


@rule(o.LoadPtrTko)
def load_mask(op: o.LoadPtrTko, context: Context) -> Problems:
    """The mask has the source's shape."""
    if op.mask is not None:
        names = ("source", "mask")
        yield from same(op, names, "shape", (shape_of(op, n) for n in names))


@rule(o.LoadPtrTko)
def load_padding(op: o.LoadPtrTko, context: Context) -> Problems:
    """The padding is of the result's type."""
    if op.paddingValue is not None and op.paddingValue.type != op.result.type:
        yield Problem("the padding is of the result's type", op.paddingValue.type, op.result.type)


@rule(o.StorePtrTko)
def store_types(op: o.StorePtrTko, context: Context) -> Problems:
    """The value is a tile of what the destination points at."""
    expected = TileType(shape_of(op, "destination"), pointee(op.destination.type))
    if op.value.type != expected:
        yield Problem("the value is a tile of what the destination points at", op.value.type, expected)


@rule(o.StorePtrTko)
def store_mask(op: o.StorePtrTko, context: Context) -> Problems:
    """The mask has the destination's shape."""
    if op.mask is not None:
        names = ("destination", "mask")
        yield from same(op, names, "shape", (shape_of(op, n) for n in names))


@rule(o.LoadPtrTko, o.StorePtrTko)
def access_not_multicast(op: o.LoadPtrTko | o.StorePtrTko, context: Context) -> Problems:
    """A multicast pointer is for the multimem operations."""
    name = "source" if isinstance(op, o.LoadPtrTko) else "destination"
    yield from not_multicast(element_named(op, name))


def not_multicast(element: Type) -> Problems:
    """A problem if a pointer is a multicast one."""
    if isinstance(element, PointerType) and element.attribute is PointerAttribute.MULTICAST:
        yield Problem("a multicast pointer is for the multimem operations", element)


@rule(o.Offset)
def offset_types(op: o.Offset, context: Context) -> Problems:
    """The result is of the pointers' type, and the offsets have their shape."""
    yield from same(op, ("ptr", "result"), "type", (op.ptr.type, op.result.type))
    names = ("ptr", "offset")
    yield from same(op, names, "shape", (shape_of(op, n) for n in names))


@rule(o.JoinTokens)
def join_two(op: o.JoinTokens, context: Context) -> Problems:
    """At least two tokens are joined."""
    if len(op.tokens) < 2:
        yield Problem("at least two tokens are joined", len(op.tokens))


@rule(o.Alloca, o.GetGlobal)
def address_is_scalar(op: Operation, context: Context) -> Problems:
    """The address is a scalar."""
    if shape_of(op, "result"):
        yield Problem("the address is a scalar", op.results[0].type)


@rule(o.Alloca)
def alloca_alignment(op: o.Alloca, context: Context) -> Problems:
    """The alignment is a power of two, and at least the size of an element in whole bytes."""
    size = max(1, pointee(op.result.type).width // 8)
    if op.alignment.bit_count() != 1 or op.alignment < size:
        expected = f"a power of two of at least {size}"
        yield Problem("an alignment that elements cannot have", op.alignment, expected)


@rule(o.Alloca)
def alloca_numbers(op: o.Alloca, context: Context) -> Problems:
    """Sizes fit 63 bits."""
    if op.num_elem >> 63:
        yield Problem("there are not so many elements", op.num_elem, "below 2^63")


@rule(o.GetGlobal)
def global_exists(op: o.GetGlobal, context: Context) -> Problems:
    """There is a global of this name, and the result points at its elements."""
    name = op.__dict__["name"]
    found = context.globals.get(name)
    if found is None:
        yield Problem("there is no global of this name", name)
    elif found.value.type.element != pointee(op.result.type):
        yield Problem("the result points at the global's elements", op.result.type, found.value.type.element)
