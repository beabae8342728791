"""Memory through pointers: loads, stores, globals, allocations, and the fences between them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.module import Operation
from tileir.ops import memory as ops
from tileir.types import NumberType, PointerType, TileType

from ..formats import Array, memory_dtype
from ..frame import Frame
from ..memory import Buffer, Resolved, decode, encode, resolve
from ..undefined import Marks, join, marks
from ..values import TOKEN, Tile, Token
from .registry import evaluates


def pointee(tile: Tile) -> NumberType:
    """What a tile of pointers points at."""
    assert isinstance(tile.type.element, PointerType)
    return tile.type.element.pointee


@evaluates()
def offset(_frame: Frame, op: ops.Offset, ptr: Tile, offset: Tile) -> Tile:
    """Advance pointers."""
    type_ = op.result.type
    assert isinstance(type_, TileType)
    data = ptr.data + offset.data.astype(np.int64) * pointee(ptr).bytes
    return Tile(type_, data, join([ptr.undefined, offset.undefined]))


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
    blocks = max(t.data.shape[0] for t in (source, mask, paddingValue) if t is not None)
    shape = (blocks, *type_.shape)
    active = _active(frame, op, source, mask, shape)
    addresses = source.full(blocks).reshape(-1)
    resolved = resolve(frame.run.memory, addresses, active, memory_dtype(element).itemsize)
    report_outside(frame, op, resolved, addresses, shape, element, "load")
    data, undefined = gather(resolved, addresses.size, element)
    data = data.reshape(shape)
    found: list[Marks | None] = [None if undefined is None else Marks(undefined.reshape(shape), (op,))]
    if active is not None:
        hidden = ~active.reshape(shape)
        if paddingValue is not None:
            data = np.where(hidden, paddingValue.data, data)
            if paddingValue.undefined is not None:
                found.append(paddingValue.undefined.map(lambda m: m & hidden))
        else:
            found.append(marks(hidden, op))
    return Tile(type_, data, join(found)), TOKEN


def _active(
    frame: Frame, op: Operation, pointers: Tile, mask: Tile | None, shape: tuple[int, ...]
) -> Array | None:
    """Lanes that take part (flat), after reporting pointers and masks that have no value."""
    if mask is not None and mask.undefined is not None:
        frame.run.report_use(frame, op, mask.undefined, "a mask")
    active = None if mask is None else np.broadcast_to(mask.data, shape).reshape(-1)
    if pointers.undefined is not None:
        used = np.broadcast_to(pointers.undefined.lanes, shape)
        if active is not None:
            used = used & active.reshape(shape)
        if used.any():
            frame.run.report_use(frame, op, Marks(used, pointers.undefined.origins), "a pointer")
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

    def report(kind: str, lanes: Array, sentence: Callable[[Buffer, int], str]) -> None:
        grid = lanes.reshape(shape)
        first = int(np.argmax(lanes))
        address = int(addresses[first])
        buffer = memory.at(address)
        if buffer is None:
            text = f"a {access} at an address that belongs to no buffer"
            frame.run.report(frame, op, "wild-pointer", text, grid)
            return
        at = address - buffer.base
        text = sentence(buffer, at)
        frame.run.report(frame, op, kind, text, grid, buffer=buffer.argument, index=lambda _lane: at // size)

    if resolved.outside is not None:
        report(
            f"out-of-range-{access}",
            resolved.outside,
            lambda b, at: (
                f"a {access} of element {at // size} (byte {at}) of {b.name}, "
                f"which has {b.size // size} elements of {element}"
            ),
        )
    if resolved.misaligned is not None:
        report(
            "misaligned-pointer",
            resolved.misaligned,
            lambda b, at: (
                f"a {access} of {element} at byte {at} of {b.name}, which is not a multiple of {size}"
            ),
        )


def gather(resolved: Resolved, lanes: int, element: NumberType) -> tuple[Array, Array | None]:
    """The elements that lanes go to (flat); lanes that go nowhere are zero and marked."""
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
        return decode(raw, element), undefined
    raw = np.zeros(lanes, dtype)
    for access in resolved.accesses:
        assert access.lanes is not None
        raw[access.lanes] = access.buffer.typed(dtype)[access.elements]
        if access.buffer.undefined is not None:
            if undefined is None:
                undefined = np.zeros(lanes, np.bool_)
            undefined[access.lanes] |= access.buffer.marks(dtype.itemsize)[access.elements]
    return decode(raw, element), undefined


@evaluates()
def store_ptr_tko(
    frame: Frame, op: ops.StorePtrTko, destination: Tile, value: Tile, mask: Tile | None, token: Token | None
) -> Token:
    """Store through pointers."""
    element = pointee(destination)
    # Every block of the frame stores, so every block must have a lane of its own here.
    blocks = frame.count
    shape = (blocks, *destination.type.shape)
    active = _active(frame, op, destination, mask, shape)
    addresses = destination.full(blocks).reshape(-1)
    resolved = resolve(frame.run.memory, addresses, active, memory_dtype(element).itemsize)
    report_outside(frame, op, resolved, addresses, shape, element, "store")
    scatter(resolved, value.full(blocks).reshape(-1), value.undefined, shape, element)
    return TOKEN


def scatter(
    resolved: Resolved, data: Array, undefined: Marks | None, shape: tuple[int, ...], element: NumberType
) -> None:
    """Write flat ``data`` to the elements that its lanes go to."""
    dtype = memory_dtype(element)
    raw = encode(data, element)
    lanes = None if undefined is None else np.broadcast_to(undefined.lanes, shape).reshape(-1)
    for access in resolved.accesses:
        buffer = access.buffer
        buffer.writable(dtype)[access.elements] = raw if access.lanes is None else raw[access.lanes]
        if lanes is not None:
            here = lanes if access.lanes is None else lanes[access.lanes]
            buffer.mark(access.elements, dtype.itemsize, here)
        elif buffer.undefined is not None:
            buffer.mark(access.elements, dtype.itemsize, np.zeros(access.elements.shape, np.bool_))


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
    bases = []
    for _ in range(frame.count):
        fresh = np.zeros(op.num_elem * memory_dtype(element).itemsize, np.uint8)
        buffer = frame.run.memory.add(fresh, "an allocation")
        buffer.undefined = np.ones(buffer.size, np.bool_)
        bases.append(buffer.base)
    addresses = np.array(bases, np.int64).reshape(frame.count, *(1,) * len(type_.shape))
    return Tile(type_, np.broadcast_to(addresses, (frame.count, *type_.shape)))


@evaluates()
def make_token(_frame: Frame, _op: ops.MakeToken) -> Token:
    """A token."""
    return TOKEN


@evaluates()
def join_tokens(_frame: Frame, _op: ops.JoinTokens, tokens: tuple[Token, ...]) -> Token:
    """A token; program order already holds."""
    return TOKEN


@evaluates("gdc_launch_dependents_tko", "gdc_wait_tko", "memory_fence_alias_tko")
def fence(_frame: Frame, _op: Operation, token: Token | None) -> Token:
    """Nothing to wait for: launches run one after another, and memory has no second name."""
    return TOKEN
