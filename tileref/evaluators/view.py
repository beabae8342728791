"""Views: tensors in memory, and the tiles they are cut into."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from tileir.module import Operation
from tileir.ops import view as ops
from tileir.ops.atomic import AtomicRedViewTko
from tileir.types import GatherScatterViewType, NumberType, PaddingValue, TensorViewType, TileType

from ..formats import Array, dtype_of, format_of, memory_dtype
from ..frame import Frame
from ..kinds import Kind
from ..memory import Buffer, decode, encode, resolve
from ..numerics.formats import FloatFormat
from ..ordering.access import Access
from ..undefined import join, marks
from ..values import Tensor, Tile, Token, View
from ..window import Placed, Window, place
from .halves import are_halves, half_of, join_halves, places
from .memory import after, begin, gather, report_causes, report_outside, scatter, watch
from .registry import evaluates


def _unsigned(tile: Tile) -> Array:
    """An integer read as unsigned, as int64 (of what no tensor holds, only the sign bit is lost)."""
    unsigned = tile.data.view(np.dtype(f"u{tile.data.dtype.itemsize}"))
    return unsigned.astype(np.int64)


def _signed(tile: Tile) -> Array:
    return tile.data.astype(np.int64)


@evaluates()
def make_tensor_view(
    frame: Frame,
    op: ops.MakeTensorView,
    base: Tile,
    dynamicShape: tuple[Tile, ...],
    dynamicStrides: tuple[Tile, ...],
) -> Tensor:
    """A tensor at an address."""
    type_ = op.result.type
    assert isinstance(type_, TensorViewType)
    for part, tiles in (("base", (base,)), ("extent", dynamicShape), ("stride", dynamicStrides)):
        for tile in tiles:
            if tile.undefined is not None:
                frame.run.report_use(frame, op, tile.undefined, f"the {part} of a tensor")
    extents, strides = iter(dynamicShape), iter(dynamicStrides)
    shape = tuple(_unsigned(next(extents)) if d is None else np.array([d], np.int64) for d in type_.shape)
    steps = tuple(_unsigned(next(strides)) if d is None else np.array([d], np.int64) for d in type_.strides)
    return Tensor(type_, base.data, shape, steps)


@evaluates("make_partition_view", "make_strided_view", "make_gather_scatter_view")
def make_view(_frame: Frame, op: ops.MakePartitionView, tensor_view: Tensor) -> View:
    """A tensor cut into tiles."""
    return View(op.result.type, tensor_view)  # type: ignore[arg-type]


@evaluates()
def get_tensor_shape(_frame: Frame, op: ops.GetTensorShape, src: Tensor) -> tuple[Tile, ...]:
    """The tensor's extents."""
    return _counts(op, src.shape)


@evaluates()
def get_index_space_shape(_frame: Frame, op: ops.GetIndexSpaceShape, src: View) -> tuple[Tile, ...]:
    """How many tiles there are along each dimension: a partial tile counts.

    A gather/scatter view is indexed by elements in every dimension: its index space is the tensor's shape
    (``tileiras`` 13.4 answers so for sm_90, and cuda-tile's ``Slice`` has an element to start from).
    """
    type_ = src.type
    if isinstance(type_, GatherScatterViewType):
        return _counts(op, src.tensor.shape)
    dims, steps = type_.dim_map, type_.traversal_strides
    return _counts(op, tuple(-(-src.tensor.shape[d] // s) for d, s in zip(dims, steps, strict=True)))


def _counts(op: Operation, extents: tuple[Array, ...]) -> tuple[Tile, ...]:
    tiles = []
    for value, extent in zip(op.results, extents, strict=True):
        type_ = value.type
        assert isinstance(type_, TileType)
        tiles.append(Tile(type_, extent.astype(dtype_of(type_))))
    return tuple(tiles)


def window(frame: Frame, op: Operation, view: View, index: tuple[Tile, ...]) -> Window:
    """The tile of ``view`` at ``index``."""
    for tile in index:
        if tile.undefined is not None:
            frame.run.report_use(frame, op, tile.undefined, "an index of a view")
    type_, tensor = view.type, view.tensor
    numbers = [_unsigned(tile) for tile in index]
    if isinstance(type_, GatherScatterViewType):
        # Elements, not tiles, also where the tile is dense; see get_index_space_shape.
        dims, steps = tuple(range(len(type_.tile_shape))), None
        starts = numbers
    else:
        dims, steps = type_.dim_map, type_.traversal_strides
        starts = [n * s for n, s in zip(numbers, steps, strict=True)]
    return Window(
        tensor.base,
        starts,
        [tensor.shape[d] for d in dims],
        [tensor.strides[d] for d in dims],
        type_.tile_shape,
        steps,
        numbers,
    )


@dataclass(slots=True)
class Rectangles:
    """Tiles that lie whole in their tensor and in one buffer, as rectangles of its elements.

    ``first`` numbers each block's first element; all blocks share the strides.
    """

    buffer: Buffer
    first: Array
    strides: tuple[int, ...]

    def read(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
        """The rectangles of ``shape``: those of memory itself, read-only, where nobody will write to it."""
        elements = self.buffer.typed(dtype)
        evenly = self._evenly(elements, shape)
        if evenly is None:
            return self._all(elements, shape)[self.first]
        if not self.buffer.unchanged:
            return evenly.copy()
        evenly.flags.writeable = False
        return evenly

    def write(self, dtype: np.dtype[Any], shape: tuple[int, ...], data: Array, blocks: int) -> None:
        """Store the tiles of ``blocks`` blocks."""
        elements = self.buffer.writable(dtype)
        evenly = self._evenly(elements, shape)
        if evenly is not None and len(self.first) == blocks and self._step() >= self._reach(shape) + 1:
            evenly[...] = data
        else:
            self._all(elements, shape)[np.broadcast_to(self.first, (blocks,))] = data

    def _reach(self, shape: tuple[int, ...]) -> int:
        """How many elements lie between the first and the last of a rectangle."""
        return sum((extent - 1) * stride for extent, stride in zip(shape, self.strides, strict=True))

    def _step(self) -> int:
        """From one block's first element to the next one's."""
        return int(self.first[1] - self.first[0]) if len(self.first) > 1 else self.buffer.size

    def _evenly(self, elements: Array, shape: tuple[int, ...]) -> Array | None:
        """The blocks' rectangles in ``elements``, or None if not all of them are equally far apart."""
        step = self._step()
        if len(self.first) > 2 and (self.first[1:] - self.first[:-1] != step).any():
            return None
        size = elements.itemsize
        return np.ndarray(
            (len(self.first), *shape),
            elements.dtype,
            elements,
            int(self.first[0]) * size,
            (step * size, *(s * size for s in self.strides)),
        )

    def _all(self, elements: Array, shape: tuple[int, ...]) -> Array:
        """Every rectangle that starts at one of ``elements``, by that element's number."""
        return np.lib.stride_tricks.as_strided(
            elements,
            (elements.shape[0] - self._reach(shape), *shape),
            (elements.itemsize, *(s * elements.itemsize for s in self.strides)),
        )


def rectangles(frame: Frame, where: Window, placed: Placed | None, itemsize: int) -> Rectangles | None:
    """The fast way to a view's tiles: None unless all of them lie whole in one tensor with one stride."""
    if placed is None or frame.run.memory.touched is not None:
        return None
    first = np.array([placed.base], np.int64)
    low = high = placed.base
    for start, extent, stride, size, (least, most) in zip(
        where.starts, placed.extents, placed.strides, where.shape, placed.spans, strict=True
    ):
        if least < 0 or most + size > extent or stride < 0:
            return None
        first = first + start * stride
        low += least * stride
        high += (most + size - 1) * stride
    if low < 0 or (high + 1) * itemsize > placed.buffer.size:
        return None
    return Rectangles(placed.buffer, first, placed.strides)


def check_promise(
    frame: Frame, op: ops.LoadViewTko | ops.StoreViewTko | AtomicRedViewTko, where: Window
) -> None:
    """Report tiles that reach over an edge that ``inbounds`` promised they would not."""
    for k, promised in enumerate(op.inbounds):
        if not promised:
            continue
        at = where.coordinates(k)
        over = (at < 0) | (at >= where.wide(where.extents[k]))
        if over.any():
            frame.run.report(
                frame,
                op,
                Kind.INBOUNDS,
                f"a tile reaches outside along dimension {k}, against its promise",
                np.broadcast_to(over, (over.shape[0], *where.shape)),
            )


@evaluates()
def load_view_tko(
    frame: Frame, op: ops.LoadViewTko, view: View, index: tuple[Tile, ...], token: Token | None
) -> tuple[Tile, Token]:
    """Load a tile of a view."""
    type_ = op.tile.type
    assert isinstance(type_, TileType)
    element = view.tensor.type.element
    dtype = memory_dtype(element)
    where = window(frame, op, view, index)
    access = begin(frame, op, token, element)
    halves = are_halves(element)
    placed = None if halves else place(frame.run.memory, where, dtype.itemsize)
    quiet = is_quiet(frame, access, where, placed)
    fast = rectangles(frame, where, placed, dtype.itemsize) if quiet else None
    if fast is not None and fast.buffer.undefined is None:
        return Tile(type_, decode(fast.read(dtype, where.shape), element)), after(access, token)
    check_promise(frame, op, where)
    inside = where.inside()
    addresses, high = places(where) if halves else (where.addresses(dtype.itemsize), None)
    shape = np.broadcast_shapes(inside.shape, addresses.shape)
    blocks = shape[0]
    shape = (blocks, *where.shape)
    active = np.broadcast_to(inside, shape).reshape(-1)
    flat = np.broadcast_to(addresses, shape).reshape(-1)
    resolved = resolve(frame.run.memory, flat, None if active.all() else active, dtype.itemsize)
    report_outside(frame, op, resolved, flat, shape, element, "load")
    racing = None if quiet else watch(frame, access, resolved, shape)
    data, undefined = gather(frame, op, resolved, shape, element)
    if high is not None:
        data = half_of(data, high)
    found = [marks(racing, op), marks(undefined, op)]
    if not active.all():
        outside = ~active.reshape(shape)
        if view.type.padding is None:
            found.append(marks(outside, op))
        else:
            data[outside] = padding_value(view.type.padding, element)
    return Tile(type_, data, join(found)), after(access, token)


def is_quiet(frame: Frame, access: Access | None, where: Window, placed: Placed | None) -> bool:
    """Whether the order of an access to whole tiles is checked, and nothing wrong with it."""
    if access is None or frame.run.ordering is None:
        return True
    return placed is not None and frame.run.ordering.tiles_are_quiet(access, where, placed)


def padding_value(padding: PaddingValue, element: NumberType) -> Array:
    """The value of a padded lane."""
    fmt = format_of(element)
    bits = 0
    if isinstance(fmt, FloatFormat):
        bits = {
            PaddingValue.ZERO: 0,
            PaddingValue.NEG_ZERO: fmt.sign_bit,
            PaddingValue.NAN: fmt.canonical_nan,
            PaddingValue.POS_INF: fmt.infinity if fmt.infinity is not None else fmt.largest,
            PaddingValue.NEG_INF: fmt.sign_bit | (fmt.infinity if fmt.infinity is not None else fmt.largest),
        }[padding]
        return np.array(bits, fmt.bits_dtype).view(fmt.dtype)
    return np.zeros((), fmt.dtype)


def _store_rectangles(
    frame: Frame, tile: Tile, where: Window, placed: Placed | None, element: NumberType
) -> bool:
    """Store the fast way, if there is one."""
    dtype = memory_dtype(element)
    fast = rectangles(frame, where, placed, dtype.itemsize)
    if fast is None or fast.buffer.undefined is not None or tile.undefined is not None:
        return False
    fast.write(dtype, where.shape, encode(tile.data, element), frame.count)
    return True


@evaluates()
def store_view_tko(
    frame: Frame, op: ops.StoreViewTko, tile: Tile, view: View, index: tuple[Tile, ...], token: Token | None
) -> Token:
    """Store a tile to a view."""
    element = view.tensor.type.element
    dtype = memory_dtype(element)
    where = window(frame, op, view, index)
    access = begin(frame, op, token, element)
    halves = are_halves(element)
    placed = None if halves else place(frame.run.memory, where, dtype.itemsize)
    with nullcontext() if frame.run.ordering is None else frame.run.ordering.lock:
        quiet = is_quiet(frame, access, where, placed)
        if quiet and _store_rectangles(frame, tile, where, placed, element):
            return after(access, token)
    blocks = frame.count
    check_promise(frame, op, where)
    shape = (blocks, *where.shape)
    active = np.broadcast_to(where.inside(), shape).reshape(-1)
    report_causes(frame, tile.undefined, active, shape)
    data, undefined = tile.full(blocks), tile.undefined
    addresses, high = places(where) if halves else (where.addresses(dtype.itemsize), None)
    flat = np.broadcast_to(addresses, shape).reshape(-1)
    if high is not None:
        rows = (blocks, -1)
        at = np.broadcast_to(high, shape).reshape(rows)
        pairs = join_halves(op, flat.reshape(rows), at, active.reshape(rows))
        active, data = pairs.storing(), pairs.bytes_of(data)
        if undefined is not None:
            undefined = undefined.map(lambda m: pairs.either(np.broadcast_to(m, shape)))
    resolved = resolve(frame.run.memory, flat, None if active.all() else active, dtype.itemsize)
    report_outside(frame, op, resolved, flat, shape, element, "store")
    scatter(frame, None if quiet else access, resolved, data.reshape(-1), undefined, shape, element)
    return after(access, token)
