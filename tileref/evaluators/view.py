"""Views: tensors in memory, and the tiles they are cut into."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tileir.module import Operation
from tileir.ops import view as ops
from tileir.types import GatherScatterViewType, NumberType, PaddingValue, TensorViewType, TileType

from ..formats import Array, dtype_of, format_of, memory_dtype
from ..frame import Frame
from ..memory import Buffer, decode, encode, resolve
from ..numerics.formats import FloatFormat
from ..undefined import Marks, marks
from ..values import TOKEN, Tensor, Tile, Token, View
from .memory import gather, report_outside, scatter
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


@dataclass(slots=True)
class Window:
    """Where a tile of a view lies, in each of the blocks.

    Attributes:
        base: addresses of the tensors' first elements, (blocks or 1,).
        starts: first coordinate along each tile dimension: (blocks or 1,), or with row numbers along the
            sparse dimension, (blocks or 1, rows).
        extents, strides: of the tensor dimension that each tile dimension runs along.
        shape: the tile's.
    """

    base: Array
    starts: list[Array]
    extents: list[Array]
    strides: list[Array]
    shape: tuple[int, ...]

    @property
    def rank(self) -> int:
        """Dimensions of the tile."""
        return len(self.shape)

    def coordinates(self, dimension: int) -> Array:
        """Coordinates along ``dimension``, (blocks or 1, 1.., extent, ..1)."""
        start = self.starts[dimension]
        along = start if start.ndim == 2 else start[:, None] + np.arange(self.shape[dimension])
        return along.reshape(along.shape[0], *self._along(dimension, along.shape[1]))

    def _along(self, dimension: int, extent: int) -> tuple[int, ...]:
        return tuple(extent if k == dimension else 1 for k in range(self.rank))

    def _wide(self, array: Array) -> Array:
        return array.reshape(-1, *(1,) * self.rank)

    def inside(self) -> Array:
        """Lanes that lie in the tensor."""
        result: Array = np.ones((1,) * (self.rank + 1), np.bool_)
        for k in range(self.rank):
            at = self.coordinates(k)
            result = result & (at >= 0) & (at < self._wide(self.extents[k]))
        return result

    def addresses(self, itemsize: int) -> Array:
        """Every lane's address."""
        result = self._wide(self.base)
        for k in range(self.rank):
            result = result + self.coordinates(k) * self._wide(self.strides[k] * itemsize)
        return result


def window(frame: Frame, op: Operation, view: View, index: tuple[Tile, ...]) -> Window:
    """The tile of ``view`` at ``index``."""
    for tile in index:
        if tile.undefined is not None:
            frame.run.report_use(frame, op, tile.undefined, "an index of a view")
    type_, tensor = view.type, view.tensor
    if isinstance(type_, GatherScatterViewType):
        # Elements, not tiles, also where the tile is dense; see get_index_space_shape.
        dims = tuple(range(len(type_.tile_shape)))
        starts = [_unsigned(t) for t in index]
    else:
        dims = type_.dim_map
        starts = [_unsigned(t) * s for t, s in zip(index, type_.traversal_strides, strict=True)]
    return Window(
        tensor.base,
        starts,
        [tensor.shape[d] for d in dims],
        [tensor.strides[d] for d in dims],
        type_.tile_shape,
    )


@dataclass(slots=True)
class Rectangles:
    """Tiles that lie whole in their tensor and in one buffer, as rectangles of its elements.

    ``first`` numbers each block's first element; all blocks share the strides.
    """

    buffer: Buffer
    first: Array
    strides: tuple[int, ...]

    def of(self, array: Array, shape: tuple[int, ...], *, writeable: bool = False) -> Array:
        """Every rectangle of ``shape`` that starts at an element of ``array``, by that element's number."""
        reach = sum((extent - 1) * stride for extent, stride in zip(shape, self.strides, strict=True))
        return np.lib.stride_tricks.as_strided(
            array,
            (array.shape[0] - reach, *shape),
            (array.itemsize, *(s * array.itemsize for s in self.strides)),
            writeable=writeable,
        )


def rectangles(frame: Frame, where: Window, itemsize: int) -> Rectangles | None:
    """The fast way to a view's tiles: None unless all of them lie whole in one tensor with one stride."""
    if any(s.ndim == 2 for s in where.starts) or frame.run.memory.touched is not None:
        return None
    if where.base.shape[0] != 1 and (where.base != where.base[0]).any():
        return None
    for uniform in (*where.extents, *where.strides):
        if uniform.shape[0] != 1 and (uniform != uniform[0]).any():
            return None
    strides = tuple(int(s[0]) for s in where.strides)
    base = int(where.base[0])
    buffer = frame.run.memory.at(base)
    if buffer is None or (base - buffer.base) % itemsize:
        return None
    first = np.array([(base - buffer.base) // itemsize], np.int64)
    low = high = int(first[0])
    for start, extent, stride, size in zip(where.starts, where.extents, strides, where.shape, strict=True):
        least, most = int(start.min()), int(start.max())
        if least < 0 or most + size > int(extent[0]) or stride < 0:
            return None
        first = first + start * stride
        low += least * stride
        high += (most + size - 1) * stride
    if low < 0 or (high + 1) * itemsize > buffer.size:
        return None
    return Rectangles(buffer, first, strides)


def _check_promise(frame: Frame, op: ops.LoadViewTko | ops.StoreViewTko, where: Window) -> None:
    """Report tiles that reach over an edge that ``inbounds`` promised they would not."""
    for k, promised in enumerate(op.inbounds):
        if not promised:
            continue
        at = where.coordinates(k)
        over = (at < 0) | (at >= where._wide(where.extents[k]))
        if over.any():
            frame.run.report(
                frame,
                op,
                "inbounds",
                f"a tile reaches outside along dimension {k}, against its promise",
                over,
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
    fast = rectangles(frame, where, dtype.itemsize)
    if fast is not None and fast.buffer.undefined is None:
        raw = fast.of(fast.buffer.typed(dtype), where.shape)[fast.first]
        return Tile(type_, decode(raw, element)), TOKEN
    _check_promise(frame, op, where)
    inside = where.inside()
    addresses = where.addresses(dtype.itemsize)
    shape = np.broadcast_shapes(inside.shape, addresses.shape)
    blocks = shape[0]
    shape = (blocks, *where.shape)
    active = np.broadcast_to(inside, shape).reshape(-1)
    flat = np.broadcast_to(addresses, shape).reshape(-1)
    resolved = resolve(frame.run.memory, flat, None if active.all() else active, dtype.itemsize)
    report_outside(frame, op, resolved, flat, shape, element, "load")
    data, undefined = gather(resolved, flat.size, element)
    data = data.reshape(shape)
    found = None if undefined is None else Marks(undefined.reshape(shape), (op,))
    if not active.all():
        outside = ~active.reshape(shape)
        if view.type.padding is None:
            found = marks(outside if found is None else outside | found.lanes, op)
        else:
            data[outside] = padding_value(view.type.padding, element)
    return Tile(type_, data, found), TOKEN


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


@evaluates()
def store_view_tko(
    frame: Frame, op: ops.StoreViewTko, tile: Tile, view: View, index: tuple[Tile, ...], token: Token | None
) -> Token:
    """Store a tile to a view."""
    element = view.tensor.type.element
    dtype = memory_dtype(element)
    where = window(frame, op, view, index)
    fast = rectangles(frame, where, dtype.itemsize)
    blocks = frame.count
    if fast is not None and fast.buffer.undefined is None and tile.undefined is None:
        target = fast.of(fast.buffer.writable(dtype), where.shape, writeable=True)
        target[np.broadcast_to(fast.first, (blocks,))] = encode(tile.data, element)
        return TOKEN
    _check_promise(frame, op, where)
    shape = (blocks, *where.shape)
    active = np.broadcast_to(where.inside(), shape).reshape(-1)
    flat = np.broadcast_to(where.addresses(dtype.itemsize), shape).reshape(-1)
    resolved = resolve(frame.run.memory, flat, None if active.all() else active, dtype.itemsize)
    report_outside(frame, op, resolved, flat, shape, element, "store")
    scatter(resolved, tile.full(blocks).reshape(-1), tile.undefined, shape, element)
    return TOKEN
