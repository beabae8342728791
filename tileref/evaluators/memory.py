"""Memory through pointers: loads, stores, globals, allocations, and the fences between them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.errors import UnsupportedError
from tileir.module import Operation
from tileir.ops import memory as ops
from tileir.types import NumberType, PointerType, TileType

from ..formats import Array, memory_dtype
from ..frame import Frame
from ..kinds import Kind
from ..memory import Access as Target
from ..memory import Buffer, Resolved, decode, encode, resolve
from ..ordering.access import Access
from ..undefined import Marks, describe, marks
from ..undefined import join as join_marks
from ..values import TOKEN, Tile, Token, join_tokens
from .halves import are_halves
from .registry import CAUSES, evaluates


def pointee(tile: Tile) -> NumberType:
    """What a tile of pointers points at."""
    assert isinstance(tile.type.element, PointerType)
    return tile.type.element.pointee


LARGEST_ALLOCATION = 1 << 38
"""Bytes: what the addresses that a buffer has to itself have room for, and more than any GPU has."""
OUT_OF_RANGE = {
    "load": Kind.OUT_OF_RANGE_LOAD,
    "store": Kind.OUT_OF_RANGE_STORE,
    "atomic": Kind.OUT_OF_RANGE_ATOMIC,
}


@evaluates()
def offset(_frame: Frame, op: ops.Offset, ptr: Tile, offset: Tile) -> Tile:
    """Advance pointers."""
    type_ = op.result.type
    assert isinstance(type_, TileType)
    steps = offset.data.astype(np.int64)
    if offset.data.dtype == np.bool_:
        steps = -steps
    size = pointee(ptr).bytes
    data = ptr.data + steps * size
    wrapped = None
    if offset.data.dtype == np.int64:
        # Narrower offsets of what a buffer holds wrap nowhere.
        most, least = ((1 << 63) - 1) // size, -((1 << 63) // size)
        if steps.max() > most or steps.min() < least or data.min() < 0 or ptr.data.min() < 0:
            wrapped = (steps > most) | (steps < least)
            wrapped |= (steps < 0) & (ptr.data >= 0) & (data < 0)
            wrapped |= (steps > 0) & (ptr.data < 0) & (data >= 0)
    return Tile(type_, data, join_marks([ptr.undefined, offset.undefined, marks(wrapped, op)]))


@evaluates()
def load_ptr_tko(
    frame: Frame,
    op: ops.LoadPtrTko,
    source: Tile,
    mask: Tile | None,
    paddingValue: Tile | None,
    token: Token | None,
) -> tuple[Tile, Token]:
    """Load through pointers."""
    type_ = op.result.type
    assert isinstance(type_, TileType)
    element = pointee(source)
    access = begin(frame, op, token, element)
    blocks = max(t.data.shape[0] for t in (source, mask, paddingValue) if t is not None)
    shape = (blocks, *type_.shape)
    active = _active(frame, op, source, mask, shape)
    addresses = source.full(blocks).reshape(-1)
    resolved = resolve(frame.run.memory, addresses, active, memory_dtype(element).itemsize)
    report_outside(frame, op, resolved, addresses, shape, element, "load")
    racing = watch(frame, access, resolved, shape)
    data, undefined = gather(frame, op, resolved, shape, element)
    found = [marks(racing, op), marks(undefined, op)]
    if active is not None:
        hidden = ~active.reshape(shape)
        if paddingValue is not None:
            data = np.where(hidden, paddingValue.data, data)
            if paddingValue.undefined is not None:
                found.append(paddingValue.undefined.map(lambda m: m & hidden))
        else:
            found.append(marks(hidden, op))
    return Tile(type_, data, join_marks(found)), after(access, token)


def begin(frame: Frame, op: Operation, token: Token | None, element: NumberType) -> Access | None:
    """Number an access of ``op``; None where nothing is checked."""
    ordering = frame.run.ordering
    if ordering is None or id(op) in ordering.unwatched:
        return None
    return ordering.begin(frame, op, token, memory_dtype(element).itemsize)


def after(access: Access | None, token: Token | None) -> Token:
    """The token of an access that waits for ``token``; one that is not watched passes that on."""
    if access is not None:
        return access.token
    return TOKEN if token is None else token


def watch(frame: Frame, access: Access | None, resolved: Resolved, shape: tuple[int, ...]) -> Array | None:
    """Check the order of loads or atomic operations; the lanes that race with an earlier access."""
    if access is None or frame.run.ordering is None:
        return None
    lanes = None
    for target in resolved.accesses:
        racing = frame.run.ordering.elements(frame, access, target, shape)
        if racing is not None:
            lanes = np.zeros(int(np.prod(shape)), np.bool_) if lanes is None else lanes
            lanes[np.flatnonzero(racing) if target.lanes is None else target.lanes[racing]] = True
    return None if lanes is None else lanes.reshape(shape)


def _active(
    frame: Frame, op: Operation, pointers: Tile, mask: Tile | None, shape: tuple[int, ...]
) -> Array | None:
    """Lanes that take part (flat), after reporting pointers and masks that have no value."""
    if mask is not None and mask.undefined is not None:
        frame.run.report_use(frame, op, mask.undefined, "a mask")
    active = None if mask is None else np.broadcast_to(mask.data, shape).reshape(-1)
    if pointers.undefined is not None:
        part = True if active is None else active.reshape(shape)
        used = pointers.undefined.map(lambda m: np.broadcast_to(m, shape) & part)
        if used.lanes.any():
            frame.run.report_use(frame, op, used, "a pointer")
    return active


def report_outside(
    frame: Frame,
    op: Operation,
    resolved: Resolved,
    addresses: Array,
    shape: tuple[int, ...],
    element: NumberType,
    access: str,
) -> None:
    """Report the accesses that ``resolve`` found no element for."""
    memory = frame.run.memory
    size = memory_dtype(element).itemsize

    def report(kind: Kind, lanes: Array, sentence: Callable[[Buffer, int], str]) -> None:
        grid = lanes.reshape(shape)
        first = int(np.argmax(lanes))
        address = int(addresses[first])
        buffer = memory.at(address)
        if buffer is None:
            text = f"a {access} at an address that belongs to no buffer"
            frame.run.report(frame, op, Kind.WILD_POINTER, text, grid)
            return
        at = address - buffer.base
        text = sentence(buffer, at)
        frame.run.report(frame, op, kind, text, grid, buffer=buffer.argument, index=lambda _lane: at // size)

    if resolved.outside is not None:
        report(
            OUT_OF_RANGE[access],
            resolved.outside,
            lambda b, at: (
                f"a {access} of element {at // size} (byte {at}) of {b.name}, "
                f"which has {b.size // size} elements of {element}"
            ),
        )
    if resolved.misaligned is not None:
        report(
            Kind.MISALIGNED_POINTER,
            resolved.misaligned,
            lambda b, at: (
                f"a {access} of {element} at byte {at} of {b.name}, which is not a multiple of {size}"
            ),
        )


def gather(
    frame: Frame, op: Operation, resolved: Resolved, shape: tuple[int, ...], element: NumberType
) -> tuple[Array, Array | None]:
    """The elements that lanes go to; lanes that go nowhere are zero and marked."""
    dtype = memory_dtype(element)
    wrong = [w for w in (resolved.outside, resolved.misaligned) if w is not None]
    undefined = None
    if wrong:
        undefined = np.logical_or.reduce(wrong)
    if len(resolved.accesses) == 1 and resolved.accesses[0].lanes is None:
        access = resolved.accesses[0]
        raw = access.buffer.typed(dtype)[access.elements]
        if access.buffer.undefined is not None:
            undefined = access.buffer.marks(dtype.itemsize)[access.elements]
    else:
        raw = np.zeros(int(np.prod(shape)), dtype)
        for access in resolved.accesses:
            assert access.lanes is not None
            raw[access.lanes] = access.buffer.typed(dtype)[access.elements]
            if access.buffer.undefined is not None:
                if undefined is None:
                    undefined = np.zeros(raw.shape, np.bool_)
                undefined[access.lanes] |= access.buffer.marks(dtype.itemsize)[access.elements]
    report_unwritten(frame, op, resolved, shape, dtype.itemsize)
    return decode(raw, element).reshape(shape), None if undefined is None else undefined.reshape(shape)


def report_unwritten(
    frame: Frame, op: Operation, resolved: Resolved, shape: tuple[int, ...], itemsize: int
) -> None:
    """Report the lanes that read memory nobody has written."""
    lanes = None
    for access in resolved.accesses:
        never = access.buffer.never_written(access.elements, itemsize)
        if never is not None and never.any():
            lanes = np.zeros(int(np.prod(shape)), np.bool_) if lanes is None else lanes
            lanes[np.flatnonzero(never) if access.lanes is None else access.lanes[never]] = True
    if lanes is not None:
        text = "an element is read that nobody has written since its memory was allocated"
        frame.run.report(frame, op, Kind.UNWRITTEN_MEMORY, text, lanes.reshape(shape))


@evaluates()
def store_ptr_tko(
    frame: Frame, op: ops.StorePtrTko, destination: Tile, value: Tile, mask: Tile | None, token: Token | None
) -> Token:
    """Store through pointers."""
    element = pointee(destination)
    access = begin(frame, op, token, element)
    # Every block of the frame stores, so every block must have a lane of its own here.
    blocks = frame.count
    shape = (blocks, *destination.type.shape)
    active = _active(frame, op, destination, mask, shape)
    addresses = destination.full(blocks).reshape(-1)
    resolved = resolve(frame.run.memory, addresses, active, memory_dtype(element).itemsize)
    report_outside(frame, op, resolved, addresses, shape, element, "store")
    report_causes(frame, value.undefined, active, shape)
    scatter(frame, access, resolved, value.full(blocks).reshape(-1), value.undefined, shape, element)
    return after(access, token)


def report_causes(
    frame: Frame, undefined: Marks | None, active: Array | None, shape: tuple[int, ...]
) -> None:
    """Report the operations because of which lanes without a value reach memory."""
    if undefined is None:
        return
    for origin, part in undefined.parts:
        if type(origin) not in CAUSES:
            continue
        lanes = np.broadcast_to(part, shape)
        if active is not None:
            lanes = lanes & active.reshape(shape)
        if lanes.any():
            kind, message = CAUSES[type(origin)]
            frame.run.report(frame, origin, kind, f"{message} reaches memory", lanes)


def scatter(
    frame: Frame,
    access: Access | None,
    resolved: Resolved,
    data: Array,
    undefined: Marks | None,
    shape: tuple[int, ...],
    element: NumberType,
) -> None:
    """Write flat ``data`` where its lanes go; without an ``access``, the order is already checked."""
    dtype = memory_dtype(element)
    raw = encode(data, element)
    ordering = frame.run.ordering
    lanes = None if undefined is None else np.broadcast_to(undefined.lanes, shape).reshape(-1)
    for target in resolved.accesses:
        buffer = target.buffer
        memory = buffer.writable(dtype)
        stored = raw if target.lanes is None else raw[target.lanes]
        here = None if lanes is None else lanes if target.lanes is None else lanes[target.lanes]
        if access is None or ordering is None:
            _put(target, memory, stored, here)
            continue
        with ordering.lock:
            open_ = ordering.elements(frame, access, target, shape, stored)
            _put(target, memory, stored, here)
            ordering.after_store(frame, access, target, shape, stored)
            if open_ is not None:
                buffer.mark(target.elements[open_], dtype.itemsize, np.ones(int(open_.sum()), np.bool_))


def _put(target: Target, memory: Array, stored: Array, undefined: Array | None) -> None:
    """Write to memory, and note which lanes have no value."""
    buffer, itemsize = target.buffer, stored.dtype.itemsize
    memory[target.elements] = stored
    if undefined is not None:
        buffer.mark(target.elements, itemsize, undefined)
    elif buffer.undefined is not None:
        buffer.mark(target.elements, itemsize, np.zeros(target.elements.shape, np.bool_))
    buffer.note_written(target.elements, itemsize)


@evaluates()
def get_global(frame: Frame, op: ops.GetGlobal) -> Tile:
    """The address of a global."""
    type_ = op.result.type
    assert isinstance(type_, TileType)
    buffer = frame.run.globals[op.name]
    return Tile(type_, np.full((1, *type_.shape), buffer.base, np.int64))


@evaluates()
def alloca(frame: Frame, op: ops.Alloca) -> Tile:
    """Fresh memory for every block, holding nothing yet."""
    type_ = op.result.type
    assert isinstance(type_, TileType)
    assert isinstance(type_.element, PointerType)
    element = type_.element.pointee
    size = -(-op.num_elem // 2) if are_halves(element) else op.num_elem * element.bytes
    if size > LARGEST_ALLOCATION:
        raise UnsupportedError(
            "an allocation is larger than any memory",
            rule="alloca-size",
            found=f"{op.num_elem} elements of {element}",
            expected=f"at most {LARGEST_ALLOCATION} bytes a block",
            **describe(op),
        )
    bases = []
    for _ in range(frame.count):
        try:
            fresh = np.zeros(size, np.uint8)
            undefined, unwritten = np.ones(size, np.bool_), np.ones(size, np.bool_)
        except MemoryError:
            raise UnsupportedError(
                "there is not enough memory for an allocation",
                rule="alloca-size",
                found=f"{size} bytes a block",
                **describe(op),
            ) from None
        buffer = frame.run.memory.add(fresh, "an allocation")
        buffer.undefined, buffer.unwritten = undefined, unwritten
        bases.append(buffer.base)
    addresses = np.array(bases, np.int64).reshape(frame.count, *(1,) * len(type_.shape))
    return Tile(type_, np.broadcast_to(addresses, (frame.count, *type_.shape)))


@evaluates()
def make_token(_frame: Frame, _op: ops.MakeToken) -> Token:
    """A token that waits for nothing."""
    return TOKEN


@evaluates("join_tokens")
def join(_frame: Frame, _op: ops.JoinTokens, tokens: tuple[Token, ...]) -> Token:
    """A token that waits for what any of them does."""
    return join_tokens(tokens)


@evaluates("gdc_launch_dependents_tko", "gdc_wait_tko", "memory_fence_alias_tko")
def fence(_frame: Frame, _op: Operation, token: Token | None) -> Token:
    """Nothing to wait for: launches run one after another, and memory has no second name."""
    return TOKEN if token is None else token
