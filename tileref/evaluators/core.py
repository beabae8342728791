"""Tiles from nothing, and tiles of another shape."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tileir.attributes import DenseElements
from tileir.ops import core as ops
from tileir.types import I32, TileType

from ..formats import Array, constant_array, integer_format
from ..frame import Frame
from ..kinds import Kind
from ..undefined import Marks, assembled, join, marks
from ..values import Tile
from .registry import CAUSES, evaluates

for _slicing in (ops.Extract, ops.Insert):
    CAUSES[_slicing] = (Kind.SLICE, "a slice that the tile does not have")

INDEX = TileType((), I32)


def _type(value: object) -> TileType:
    assert isinstance(value, TileType)
    return value


@evaluates()
def broadcast(_frame: Frame, op: ops.Broadcast, source: Tile) -> Tile:
    """Repeat dimensions of extent 1."""
    type_ = _type(op.result.type)
    return source.rearrange(type_, lambda a: np.broadcast_to(a, (a.shape[0], *type_.shape)))


@evaluates()
def cat(_frame: Frame, op: ops.Cat, lhs: Tile, rhs: Tile) -> Tile:
    """Join two tiles."""
    axis = op.dim + 1
    blocks = max(lhs.data.shape[0], rhs.data.shape[0])
    type_, border = _type(op.result.type), lhs.type.shape[op.dim]
    before = (slice(None),) * axis
    pieces = [
        ((*before, slice(border)), lhs.undefined),
        ((*before, slice(border, None)), rhs.undefined),
    ]
    data = np.concatenate([lhs.full(blocks), rhs.full(blocks)], axis)
    return Tile(type_, data, assembled((blocks, *type_.shape), pieces))


@evaluates()
def constant(_frame: Frame, op: ops.Constant) -> Tile:
    """A tile known beforehand."""
    return Tile(_type(op.result.type), _constant(op.value))


@lru_cache(maxsize=4096)
def _constant(value: DenseElements) -> Array:
    return constant_array(value)[None]


@evaluates()
def extract(frame: Frame, op: ops.Extract, source: Tile, indices: tuple[Tile, ...]) -> Tile:
    """Take one slice along every dimension."""
    type_ = _type(op.result.type)
    starts, outside = _slices(frame, source.type.shape, type_.shape, indices)
    blocks = max(source.data.shape[0], starts[0].shape[0]) if starts else source.data.shape[0]

    def cut(array: Array) -> Array:
        return np.broadcast_to(array, (blocks, *source.type.shape))[_grid(blocks, starts, type_.shape)]

    result = source.rearrange(type_, cut)
    result.undefined = join([result.undefined, *_of_indices(indices, type_), marks(outside, op)])
    return result


@evaluates()
def insert(frame: Frame, op: ops.Insert, source: Tile, destination: Tile, indices: tuple[Tile, ...]) -> Tile:
    """Replace one slice along every dimension."""
    type_ = _type(op.result.type)
    starts, outside = _slices(frame, type_.shape, source.type.shape, indices)
    blocks = max(source.data.shape[0], destination.data.shape[0], *(s.shape[0] for s in starts), 1)
    where = _grid(blocks, starts, source.type.shape)
    data = np.array(destination.full(blocks))
    data[where] = source.data
    undefined = assembled(data.shape, [(..., destination.undefined), (where, source.undefined)])
    return Tile(type_, data, join([undefined, *_of_indices(indices, type_), marks(outside, op)]))


def _of_indices(indices: tuple[Tile, ...], type_: TileType) -> list[Marks | None]:
    """Marks on a whole tile for a slice number that has no value."""
    rank = len(type_.shape)
    return [
        None if i.undefined is None else i.undefined.map(lambda m: m.reshape(-1, *(1,) * rank))
        for i in indices
    ]


def _slices(
    _frame: Frame, whole: tuple[int, ...], part: tuple[int, ...], indices: tuple[Tile, ...]
) -> tuple[list[Array], Array | None]:
    """First element of the slices along every dimension, and the blocks whose slice is not there."""
    starts, outside = [], None
    for extent, size, index in zip(whole, part, indices, strict=True):
        number = index.data.astype(np.int64)
        wrong = (number < 0) | (number >= extent // size)
        if wrong.any():
            lanes = wrong.reshape(-1, *(1,) * len(part))
            outside = lanes if outside is None else outside | lanes
            number = np.where(wrong, 0, number)
        starts.append(number * size)
    return starts, outside


def _grid(blocks: int, starts: list[Array], part: tuple[int, ...]) -> tuple[Array, ...]:
    """Index arrays of a slice in every block."""
    rank = len(part)
    block = np.arange(blocks).reshape(blocks, *(1,) * rank)
    axes = [block]
    for k, (start, size) in enumerate(zip(starts, part, strict=True)):
        along = np.arange(size).reshape(1, *(1,) * k, size, *(1,) * (rank - k - 1))
        axes.append(start.reshape(-1, *(1,) * rank) + along)
    return tuple(axes)


@evaluates()
def get_num_tile_blocks(frame: Frame, _op: ops.GetNumTileBlocks) -> tuple[Tile, ...]:
    """The grid's extents."""
    return tuple(Tile(INDEX, np.array([extent], np.int32)) for extent in frame.run.grid)


@evaluates()
def get_tile_block_id(frame: Frame, _op: ops.GetTileBlockId) -> tuple[Tile, ...]:
    """Where the blocks are."""
    return tuple(Tile(INDEX, c.astype(np.int32)) for c in frame.coordinates())


@evaluates()
def iota(_frame: Frame, op: ops.Iota) -> Tile:
    """Count."""
    type_ = _type(op.result.type)
    fmt = integer_format(type_)
    counted = np.arange(type_.shape[0])
    data = counted % 2 == 1 if fmt.name == "i1" else counted.astype(fmt.dtype)
    return Tile(type_, data[None])


@evaluates()
def permute(_frame: Frame, op: ops.Permute, source: Tile) -> Tile:
    """Reorder dimensions."""
    axes = (0, *(d + 1 for d in op.permutation))
    return source.rearrange(_type(op.result.type), lambda a: a.transpose(axes))


@evaluates()
def reshape(_frame: Frame, op: ops.Reshape, source: Tile) -> Tile:
    """Regroup elements in row-major order."""
    type_ = _type(op.result.type)
    return source.rearrange(type_, lambda a: a.reshape(a.shape[0], *type_.shape))


@evaluates()
def select(_frame: Frame, op: ops.Select, cond: Tile, val_if_true: Tile, val_if_false: Tile) -> Tile:
    """Choose, lane by lane; only the chosen lane needs a value."""
    data = np.where(cond.data, val_if_true.data, val_if_false.data)
    undefined = cond.undefined
    if val_if_true.undefined is not None:
        undefined = join([undefined, val_if_true.undefined.map(lambda m: m & cond.data)])
    if val_if_false.undefined is not None:
        undefined = join([undefined, val_if_false.undefined.map(lambda m: m & ~cond.data)])
    return Tile(_type(op.result.type), data, undefined)
