"""Rules of the atomic operations, on one device and across several."""

from __future__ import annotations

from ..attributes import AtomicRMWMode, MemoryOrderingSemantics, MemoryScope, MultimemReductionKind
from ..module import Operation
from ..ops import atomic as o
from ..ops import multimem as m
from ..types import (
    BF16,
    F16,
    F32,
    F64,
    I32,
    I64,
    GatherScatterViewType,
    NumberType,
    PartitionViewType,
    PointerAttribute,
    Type,
)
from .diagnostic import Problem
from .memory import not_multicast, ordering, pointee
from .relations import element_named, same, shape_of
from .rules import Context, Problems, rule
from .view import view_type

Ordering = MemoryOrderingSemantics
ORDERED = (Ordering.RELAXED, Ordering.ACQUIRE, Ordering.RELEASE, Ordering.ACQ_REL)
Kind = MultimemReductionKind


def mode_elements(mode: AtomicRMWMode) -> tuple[NumberType, ...]:
    """The element types that a mode works on."""
    if mode is AtomicRMWMode.ADDF:
        return F16, BF16, F32, F64
    if mode is AtomicRMWMode.XCHG:
        return I32, I64, F32, F64
    return I32, I64


def _mode(mode: AtomicRMWMode, element: Type) -> Problems:
    allowed = mode_elements(mode)
    if element not in allowed:
        yield Problem(f"{mode} does not work on these elements", element, " or ".join(map(str, allowed)))


@rule(o.AtomicRMWTko, o.AtomicCASTko)
def atomic_ordering(op: o.AtomicRMWTko | o.AtomicCASTko, context: Context) -> Problems:
    """An atomic operation is not weak."""
    yield from ordering(op.memory_ordering_semantics, ORDERED)


@rule(o.AtomicRMWTko)
def atomic_types(op: o.AtomicRMWTko, context: Context) -> Problems:
    """Pointers, argument and result have one shape; argument and result are of the pointee's type."""
    names = ("pointers", "arg", "result", *(["mask"] if op.mask is not None else []))
    yield from same(op, names, "shape", (shape_of(op, n) for n in names))
    found = (pointee(op.pointers.type), element_named(op, "arg"), element_named(op, "result"))
    yield from same(op, ("pointee", "arg", "result"), "type", found)


@rule(o.AtomicRMWTko)
def atomic_mode(op: o.AtomicRMWTko, context: Context) -> Problems:
    """The mode works on these elements."""
    yield from _mode(op.mode, element_named(op, "arg"))


@rule(o.AtomicCASTko)
def exchange_types(op: o.AtomicCASTko, context: Context) -> Problems:
    """Pointers, values and result have one shape, and the values are of the pointee's type."""
    names = ("pointers", "cmp", "val", "result", *(["mask"] if op.mask is not None else []))
    yield from same(op, names, "shape", (shape_of(op, n) for n in names))
    names = ("cmp", "val", "result")
    found = (pointee(op.pointers.type), *(element_named(op, n) for n in names))
    yield from same(op, ("pointee", *names), "type", found)


@rule(o.AtomicCASTko)
def exchange_elements(op: o.AtomicCASTko, context: Context) -> Problems:
    """Elements that are exchanged have 32 or 64 bits."""
    element = element_named(op, "val")
    if element not in (I32, I64, F32, F64):
        yield Problem("elements that are exchanged have 32 or 64 bits", element)


@rule(o.AtomicRMWTko, o.AtomicCASTko)
def atomic_not_multicast(op: o.AtomicRMWTko | o.AtomicCASTko, context: Context) -> Problems:
    """A multicast pointer is for the multimem operations."""
    yield from not_multicast(element_named(op, "pointers"))


@rule(o.AtomicRedViewTko)
def reduction_ordering(op: o.AtomicRedViewTko, context: Context) -> Problems:
    """A reduction into a view is relaxed, and seen by one device."""
    yield from ordering(op.memory_ordering_semantics, (Ordering.RELAXED,))
    if op.memory_scope is MemoryScope.SYS:
        yield Problem("a reduction into a view has no such scope", op.memory_scope, "tl_blk or device")


@rule(o.AtomicRedViewTko)
def reduction_view(op: o.AtomicRedViewTko, context: Context) -> Problems:
    """The view is a partition or a strided view without padding, and not multicast."""
    view = view_type(op.view)
    if isinstance(view, GatherScatterViewType):
        yield Problem("a gather/scatter view is not reduced into", view)
    elif view.padding is not None:
        yield Problem("a view that is reduced into has no padding", view.padding)
    if view.tensor_view.attribute is PointerAttribute.MULTICAST:
        yield Problem("a multicast tensor is for the multimem operations", view)


@rule(o.AtomicRedViewTko)
def reduction_mode(op: o.AtomicRedViewTko, context: Context) -> Problems:
    """The mode works on these elements, and is no exchange."""
    if op.mode is AtomicRMWMode.XCHG:
        yield Problem("a reduction does not exchange", op.mode)
    else:
        yield from _mode(op.mode, element_named(op, "value"))


MULTIMEM = (m.MultimemLoadReduceViewTko, m.MultimemReduceViewTko, m.MultimemStoreViewTko)


@rule(*MULTIMEM)
def multimem_view(op: Operation, context: Context) -> Problems:
    """The view is a partition of a multicast tensor."""
    view = view_type(op.__dict__["view"])
    if not isinstance(view, PartitionViewType):
        yield Problem("a multimem operation works on a partition view", view)
    if view.tensor_view.attribute is not PointerAttribute.MULTICAST:
        found = view.tensor_view.attribute or "none"
        yield Problem("a multimem operation works on a multicast tensor", found, PointerAttribute.MULTICAST)


@rule(*MULTIMEM)
def multimem_elements(op: Operation, context: Context) -> Problems:
    """Elements are 32- or 64-bit integers, or floats of 16 bits and more."""
    element = view_type(op.__dict__["view"]).tensor_view.element
    allowed = (I32, I64, F16, BF16, F32, F64)
    if element not in allowed:
        yield Problem("devices do not share such elements", element, " or ".join(map(str, allowed)))


@rule(*MULTIMEM)
def multimem_half_stride(op: Operation, context: Context) -> Problems:
    """A tensor of 16-bit floats has exactly one static stride of 1."""
    tensor = view_type(op.__dict__["view"]).tensor_view
    if tensor.element in (F16, BF16) and tensor.strides.count(1) != 1:
        yield Problem("a tensor of 16-bit floats has exactly one static stride of 1", tensor)


@rule(*MULTIMEM)
def multimem_size(op: Operation, context: Context) -> Problems:
    """A tile of floats takes whole words of 4 bytes."""
    view = view_type(op.__dict__["view"])
    size = view.tensor_view.element.width
    for extent in view.tile_shape:
        size *= extent
    if view.tensor_view.element.is_float and size % 32:
        yield Problem("a tile of floats takes whole words of 4 bytes", f"{size} bits")


@rule(m.MultimemLoadReduceViewTko, m.MultimemReduceViewTko)
def multimem_reduction(
    op: m.MultimemLoadReduceViewTko | m.MultimemReduceViewTko, context: Context
) -> Problems:
    """Floats are added; when loaded, those of 16 bits may be compared as well."""
    element = view_type(op.view).tensor_view.element
    allowed = [Kind.ADD]
    if not element.is_float:
        allowed = list(Kind)
    elif isinstance(op, m.MultimemLoadReduceViewTko) and element in (F16, BF16):
        allowed = [Kind.ADD, Kind.MIN, Kind.MAX]
    if op.reduction not in allowed:
        expected = " or ".join(map(str, allowed))
        yield Problem(f"{element} is not reduced like this", op.reduction, expected)


@rule(m.MultimemLoadReduceViewTko)
def multimem_load_ordering(op: m.MultimemLoadReduceViewTko, context: Context) -> Problems:
    """A load is weak, relaxed or acquire, and has a scope unless it is weak."""
    allowed = (Ordering.WEAK, Ordering.RELAXED, Ordering.ACQUIRE)
    yield from ordering(op.memory_ordering_semantics, allowed)
    yield from _scope(op.memory_ordering_semantics, op.memory_scope)


@rule(m.MultimemStoreViewTko)
def multimem_store_ordering(op: m.MultimemStoreViewTko, context: Context) -> Problems:
    """A store is weak, relaxed or release, and has a scope unless it is weak."""
    allowed = (Ordering.WEAK, Ordering.RELAXED, Ordering.RELEASE)
    yield from ordering(op.memory_ordering_semantics, allowed)
    yield from _scope(op.memory_ordering_semantics, op.memory_scope)


@rule(m.MultimemReduceViewTko)
def multimem_reduce_ordering(op: m.MultimemReduceViewTko, context: Context) -> Problems:
    """A reduction is relaxed or release."""
    yield from ordering(op.memory_ordering_semantics, (Ordering.RELAXED, Ordering.RELEASE))


def _scope(found: Ordering, memory_scope: MemoryScope | None) -> Problems:
    if found is Ordering.WEAK and memory_scope is not None:
        yield Problem("a weak access has no scope", memory_scope)
    if found is not Ordering.WEAK and memory_scope is None:
        yield Problem(f"{found} needs a scope")
