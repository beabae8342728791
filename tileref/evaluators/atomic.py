"""Atomic memory operations: one lane after the other, block by block, in row-major order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.attributes import AtomicRMWMode
from tileir.module import Operation
from tileir.ops import atomic as ops
from tileir.types import NumberType, TileType

from ..formats import Array, format_of, memory_dtype
from ..frame import Frame
from ..memory import Resolved, decode, encode, resolve
from ..numerics import addf
from ..numerics.formats import FloatFormat
from ..targets.model import Model
from ..undefined import Marks, join, marks
from ..values import Tile, Token, View
from .memory import _active, after, begin, pointee, report_outside, report_unwritten, watch
from .registry import evaluates
from .view import check_promise, window

Update = Callable[[Array, Array], Array]
"""From the old values and positions among the operation's lanes to the new values."""


@evaluates()
def atomic_rmw_tko(
    frame: Frame, op: ops.AtomicRMWTko, pointers: Tile, arg: Tile, mask: Tile | None, token: Token | None
) -> tuple[Tile, Token]:
    """Combine memory with a tile and answer what was there; a lane that is masked off answers nothing."""
    combine = combiner(frame.run.model, op.mode, pointee(pointers))
    flat = arg.full(frame.count).reshape(-1)
    old, done = _through_pointers(
        frame, op, token, pointers, mask, (arg,), lambda was, lanes: combine(was, flat[lanes])
    )
    return old, done


@evaluates()
def atomic_cas_tko(
    frame: Frame,
    op: ops.AtomicCASTko,
    pointers: Tile,
    cmp: Tile,
    val: Tile,
    mask: Tile | None,
    token: Token | None,
) -> tuple[Tile, Token]:
    """Store where memory equals ``cmp`` bit for bit; a lane that is masked off answers its ``cmp``."""
    expected = cmp.full(frame.count).reshape(-1)
    wanted = val.full(frame.count).reshape(-1)
    unsigned = np.dtype(f"u{expected.dtype.itemsize}")
    written = np.zeros(expected.shape, np.bool_)

    def update(was: Array, lanes: Array) -> Array:
        same = was.view(unsigned) == expected[lanes].view(unsigned)
        written[lanes] = same
        return np.where(same, wanted[lanes], was)

    old, done = _through_pointers(frame, op, token, pointers, mask, (cmp, val), update, written)
    if mask is not None:
        hidden = ~np.broadcast_to(mask.data, old.data.shape)
        undefined = old.undefined if old.undefined is None else old.undefined.map(lambda m: m & ~hidden)
        old = Tile(old.type, np.where(hidden, cmp.data, old.data), undefined)
    return old, done


@evaluates()
def atomic_red_view_tko(
    frame: Frame,
    op: ops.AtomicRedViewTko,
    view: View,
    index: tuple[Tile, ...],
    value: Tile,
    token: Token | None,
) -> Token:
    """Combine a tile of a view with a tile."""
    element = view.tensor.type.element
    dtype = memory_dtype(element)
    where = window(frame, op, view, index)
    access = begin(frame, op, token, element)
    check_promise(frame, op, where)
    shape = (frame.count, *where.shape)
    active = np.broadcast_to(where.inside(), shape).reshape(-1)
    flat = np.broadcast_to(where.addresses(dtype.itemsize), shape).reshape(-1)
    resolved = resolve(frame.run.memory, flat, active, dtype.itemsize)
    report_outside(frame, op, resolved, flat, shape, element, "atomic")
    combine = combiner(frame.run.model, op.mode, element)
    arg = value.full(frame.count).reshape(-1)
    watch(frame, access, resolved, shape)
    apply(resolved, element, flat.size, lambda was, lanes: combine(was, arg[lanes]))
    _report_value(frame, op, value, resolved, active, shape)
    return after(access, token)


def _through_pointers(
    frame: Frame,
    op: Operation,
    token: Token | None,
    pointers: Tile,
    mask: Tile | None,
    values: tuple[Tile, ...],
    update: Update,
    written: Array | None = None,
) -> tuple[Tile, Token]:
    type_ = op.results[0].type
    assert isinstance(type_, TileType)
    element = pointee(pointers)
    dtype = memory_dtype(element)
    access = begin(frame, op, token, element)
    shape = (frame.count, *type_.shape)
    active = _active(frame, op, pointers, mask, shape)
    addresses = pointers.full(frame.count).reshape(-1)
    resolved = resolve(frame.run.memory, addresses, active, dtype.itemsize)
    report_outside(frame, op, resolved, addresses, shape, element, "atomic")
    report_unwritten(frame, op, resolved, shape, dtype.itemsize)
    racing = watch(frame, access, resolved, shape)
    if access is not None:
        access.written = written
    old = apply(resolved, element, addresses.size, update).reshape(shape)
    for tile in values:
        _report_value(frame, op, tile, resolved, active, shape)
    wrong = [w for w in (resolved.outside, resolved.misaligned) if w is not None]
    found: list[Marks | None] = [marks(np.logical_or.reduce(wrong).reshape(shape), op)] if wrong else []
    found.append(marks(racing, op))
    if active is not None:
        found.append(marks(~active.reshape(shape), op))
    return Tile(type_, old, join(found)), after(access, token)


def _report_value(
    frame: Frame, op: Operation, value: Tile, resolved: Resolved, active: Array | None, shape: tuple[int, ...]
) -> None:
    """Report lanes without a value that take part, and take away what memory holds where they went."""
    if value.undefined is None:
        return
    used = value.undefined
    if active is not None:
        used = used.map(lambda lanes: np.broadcast_to(lanes, shape) & active.reshape(shape))
    if not used.lanes.any():
        return
    frame.run.report_use(frame, op, used, "a value that atomically reaches memory")
    lanes = np.broadcast_to(used.lanes, shape).reshape(-1)
    itemsize = value.data.dtype.itemsize
    for access in resolved.accesses:
        gone = access.elements[lanes if access.lanes is None else lanes[access.lanes]]
        access.buffer.mark(gone, itemsize, np.ones(gone.shape, np.bool_))


def apply(resolved: Resolved, element: NumberType, lanes: int, update: Update) -> Array:
    """Update memory lane after lane and answer what each lane found (flat).

    Lanes that go to different elements do not see each other, so that the first lane of every element can go
    at once, then the second of every element, and so on.
    """
    dtype = memory_dtype(element)
    old = np.zeros(lanes, dtype)
    for access in resolved.accesses:
        memory = access.buffer.writable(dtype)
        positions = np.arange(lanes) if access.lanes is None else access.lanes
        elements = access.elements
        while len(elements):
            _, first = np.unique(elements, return_index=True)
            first.sort()
            here, at = positions[first], elements[first]
            was = memory[at]
            old[here] = was
            memory[at] = encode(update(decode(was, element), here), element)
            if access.buffer.undefined is not None:
                access.buffer.mark(at, dtype.itemsize, np.zeros(at.shape, np.bool_))
            access.buffer.note_written(at, dtype.itemsize)
            rest = np.ones(len(elements), np.bool_)
            rest[first] = False
            elements, positions = elements[rest], positions[rest]
    return decode(old, element)


def combiner(model: Model, mode: AtomicRMWMode, element: NumberType) -> Callable[[Array, Array], Array]:
    """What ``mode`` makes of old values and operands."""
    fmt = format_of(element)

    def unsigned(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
        kind = np.dtype(f"u{fmt.dtype.itemsize}")
        return lambda a, b: function(a.view(kind), b.view(kind)).view(fmt.dtype)

    def add(a: Array, b: Array) -> Array:
        assert isinstance(fmt, FloatFormat)
        flush = element.name in model.flushes_atomics
        return addf(a, b, fmt, flush_to_zero=flush, nan=model.nan)

    table: dict[AtomicRMWMode, Callable[[Array, Array], Array]] = {
        AtomicRMWMode.AND: np.bitwise_and,
        AtomicRMWMode.OR: np.bitwise_or,
        AtomicRMWMode.XOR: np.bitwise_xor,
        AtomicRMWMode.ADD: np.add,
        AtomicRMWMode.ADDF: add,
        AtomicRMWMode.MAX: np.maximum,
        AtomicRMWMode.MIN: np.minimum,
        AtomicRMWMode.UMAX: unsigned(np.maximum),
        AtomicRMWMode.UMIN: unsigned(np.minimum),
        AtomicRMWMode.XCHG: lambda _a, b: b,
    }
    return table[mode]
