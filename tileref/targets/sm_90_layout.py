"""How an sm_90 GPU's compiler spreads a tile's elements over threads, as far as it shows in an answer.

Only reductions and scans show it: each thread folds its own elements before lanes and warps meet.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tileir.attributes import IntegerAttribute
from tileir.module import Function, Operation, Value
from tileir.ops import bitwise, control, conversion, core, floating, integer, memory, view
from tileir.ops.reduction import Reduce, Scan
from tileir.types import TileType

LANES, WARPS, MOST_WARPS = 32, 4, 8
"""Threads that a tile is spread over: the lanes of a warp, and the warps of a block.

A kernel gets four warps, or eight if it is hinted to have eight or more.
"""


@dataclass(frozen=True, slots=True)
class Layout:
    """Lanes and warps that a tile is spread over along each dimension.

    Element i along a dimension belongs to thread ``i % (lanes * warps)`` of it. ``known`` says whether such a
    tile's layout was measured.
    """

    lanes: tuple[int, ...]
    warps: tuple[int, ...]
    known: bool = True

    def without(self, dim: int) -> Layout:
        """The layout of a reduction's result: the threads stay, one dimension goes."""
        return Layout(
            self.lanes[:dim] + self.lanes[dim + 1 :], self.warps[:dim] + self.warps[dim + 1 :], self.known
        )


def fresh(shape: tuple[int, ...], warps: int, *, known: bool = True) -> Layout:
    """The layout of a tile that comes from memory.

    The lanes of a warp are given out from dimension 0 on, each dimension taking no more than it has elements;
    then the warps likewise.
    """
    lanes, groups = [], []
    left = LANES
    for extent in shape:
        lanes.append(min(left, extent))
        left //= lanes[-1]
    for extent, taken in zip(shape, lanes, strict=True):
        groups.append(min(warps, extent // taken))
        warps //= groups[-1]
    return Layout(tuple(lanes), tuple(groups), known)


TARGET = "sm_90"
FROM_MEMORY = (memory.LoadPtrTko, view.LoadViewTko)
ELEMENTWISE_FAMILIES = {m.__name__ for m in (floating, integer, bitwise, conversion)}
DEPTH = 10_000
"""Operations that a layout is followed through; no real kernel has a chain of so many."""


def warps_of(entry: Function) -> int:
    """The warps of a kernel's blocks."""
    hinted = None
    for architecture, hints in entry.hints.architectures if entry.hints is not None else ():
        value = hints.get("num_worker_warps_per_cta")
        if isinstance(value, IntegerAttribute) and (architecture == TARGET or hinted is None):
            hinted = value.bits if architecture in (TARGET, "default") else hinted
    return MOST_WARPS if hinted is not None and hinted >= MOST_WARPS else WARPS


def layout(value: Value, warps: int) -> Layout:
    """How the tile ``value`` is spread over the threads of so many warps."""
    dropped: list[int] = []
    for _ in range(DEPTH):
        found = _step(value, warps)
        if isinstance(found, Layout):
            for dim in reversed(dropped):
                found = found.without(dim)
            # What a reduction leaves is spread otherwise than a guess at it says; it was not measured enough.
            return replace(found, known=False) if dropped else found
        value, gone = found
        if gone is not None:
            dropped.append(gone)
    return fresh(shape_of(value), warps, known=False)


def shape_of(value: Value) -> tuple[int, ...]:
    assert isinstance(value.type, TileType)
    return value.type.shape


def _step(value: Value, warps: int) -> Layout | tuple[Value, int | None]:
    """The layout of ``value``, or the value that it has its layout from (less one dimension)."""
    owner, shape = value.owner, shape_of(value)
    match owner:
        case Reduce():
            return owner.operands[value.index], owner.dim
        case Scan():
            return owner.operands[value.index], None
        case core.Reshape():
            before = shape_of(owner.source)
            same = [e for e in before if e != 1] == [e for e in shape if e != 1]
            return fresh(shape, warps, known=same and layout(owner.source, warps).known)
        case core.Constant() | core.Iota() | control.For() | control.Loop() | control.If():
            return fresh(shape, warps)
        case Operation():
            if isinstance(owner, FROM_MEMORY):
                return fresh(shape, warps)
            if isinstance(owner, core.Select) or type(owner).__module__ in ELEMENTWISE_FAMILIES:
                source = _source(owner, shape)
                return fresh(shape, warps) if source is None else (source, None)
            return fresh(shape, warps, known=False)
    # A region's argument: what a loop carries.
    return fresh(shape, warps)


def _source(operation: Operation, shape: tuple[int, ...]) -> Value | None:
    """The operand an element-by-element operation has its layout from: the first that is not made anew."""
    made = (core.Constant, core.Broadcast, core.Iota)
    for operand in operation.uses:
        if shape_of(operand) == shape and not isinstance(operand.owner, made):
            return operand
    return None
