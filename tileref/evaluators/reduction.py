"""Reductions and scans: the body applied in the model's order."""

from __future__ import annotations

import numpy as np

from tileir.module import Operation, Value
from tileir.ops import reduction as ops
from tileir.types import TileType

from ..frame import BodyFrame, Frame
from ..regions import run_region
from ..targets.lanes import Combine, Lanes
from ..targets.orders import Order
from ..undefined import Lanes as Marked
from ..undefined import Marks, marks
from ..values import Selection, Tile
from .folds import fast_fold
from .identities import check_identities
from .registry import evaluates


@evaluates()
def reduce(frame: Frame, op: ops.Reduce, operands: tuple[Tile, ...]) -> tuple[Tile, ...]:
    """Fold along a dimension."""
    order = frame.run.model.reduce_order(op).value
    return _evaluate(frame, op, operands, order, keep=False)


@evaluates()
def scan(frame: Frame, op: ops.Scan, operands: tuple[Tile, ...]) -> tuple[Tile, ...]:
    """Running fold along a dimension."""
    order = frame.run.model.scan_order(op).value
    if op.reverse:
        operands = tuple(t.rearrange(t.type, lambda a: np.flip(a, op.dim + 1)) for t in operands)
        results = _evaluate(frame, op, operands, order, keep=True)
        return tuple(t.rearrange(t.type, lambda a: np.flip(a, op.dim + 1)) for t in results)
    return _evaluate(frame, op, operands, order, keep=True)


def _evaluate(
    frame: Frame, op: ops.Reduce | ops.Scan, operands: tuple[Tile, ...], order: Order, *, keep: bool
) -> tuple[Tile, ...]:
    axis = op.dim + 1
    looked_into = frame.run.inspection is not None and frame.run.inspection.covers(op.body)
    blocks = frame.count if looked_into or _captures(op) else max(t.data.shape[0] for t in operands)
    # The folded dimension first, and everything that folds in parallel behind it.
    data = tuple(np.moveaxis(t.full(blocks), axis, 0) for t in operands)
    found = tuple(
        None
        if t.undefined is None
        else np.moveaxis(np.broadcast_to(t.undefined.lanes, (blocks, *t.type.shape)), axis, 0)
        for t in operands
    )
    lanes = Lanes(data, found)
    result = None if looked_into else fast_fold(frame, op, lanes, order, keep=keep)
    inside: dict[Operation, None] = {}
    if result is None:
        result = order(lanes, _body(frame, op, blocks, inside))
    blamed = _blamed(operands, blocks, axis, keep=keep)
    check_identities(frame, op, result, keep=keep, combine=_body(frame, op, blocks, {}))
    tiles = []
    for value, array, lanes_ in zip(op.results, result.data, result.marks, strict=True):
        type_ = value.type
        assert isinstance(type_, TileType)
        if keep:
            array = np.moveaxis(array, 0, axis)
            lanes_ = None if lanes_ is None else np.moveaxis(lanes_, 0, axis)
        undefined = None
        if lanes_ is not None and lanes_.any():
            undefined = _marks(lanes_, blamed, [*inside] or [op])
        tiles.append(Tile(type_, array, undefined))
    return tuple(tiles)


def _blamed(operands: tuple[Tile, ...], blocks: int, axis: int, *, keep: bool) -> dict[Operation, Marked]:
    """Which operations took values from the lanes that each result was folded from."""
    found: dict[Operation, Marked] = {}
    for tile in operands:
        for origin, lanes in () if tile.undefined is None else tile.undefined.parts:
            whole = np.broadcast_to(lanes, (blocks, *tile.type.shape))
            folded = np.asarray(np.logical_or.accumulate(whole, axis) if keep else whole.any(axis))
            found[origin] = found[origin] | folded if origin in found else folded
    return found


def _marks(lanes: Marked, blamed: dict[Operation, Marked], inside: list[Operation]) -> Marks:
    """Marks on ``lanes``; what no operand is to blame for is put down to the body's operations."""
    parts = {origin: part & lanes for origin, part in blamed.items()}
    rest = lanes.copy()
    for part in parts.values():
        rest &= ~part
    for origin in inside if rest.any() else ():
        parts[origin] = parts[origin] | rest if origin in parts else rest
    return Marks(lanes, tuple(parts.items()))


def _captures(op: ops.Reduce | ops.Scan) -> bool:
    """Whether the body uses a value from outside."""
    inside = set(op.body.arguments)
    for inner in op.body.walk():
        for region in inner.regions:
            inside.update(region.arguments)
        inside.update(inner.results)
    return any(v not in inside for inner in op.body.walk() for v in inner.uses)


def _body(frame: Frame, op: ops.Reduce | ops.Scan, blocks: int, causes: dict[Operation, None]) -> Combine:
    """The body as a function of whole arrays: every lane runs it as if it were a block.

    ``causes`` collects the operations that take values away: in the body, and from what it captures.
    """
    arguments = op.body.arguments

    def combine(accumulator: Lanes, element: Lanes) -> Lanes:
        shape = np.broadcast_shapes(accumulator.shape, element.shape)
        size = int(np.prod(shape))
        axis = _axis_of_blocks(len(shape), op)
        inner = BodyFrame(frame, _owners(shape, blocks, axis), shape, axis)
        for i, value in enumerate(arguments):
            side = accumulator if i % 2 == 0 else element
            _bind(inner, op, value, side, i // 2, shape)
        exits = run_region(inner, op.body)
        results = [t for t in exits[0].values if isinstance(t, Tile)]
        for tile in results:
            origins = () if tile.undefined is None else tile.undefined.origins
            causes.update(dict.fromkeys(origin for origin in origins if origin is not op))
        data = tuple(np.broadcast_to(t.data, (size,)).reshape(shape) for t in results)
        marks = tuple(
            None if t.undefined is None else np.broadcast_to(t.undefined.lanes, (size,)).reshape(shape)
            for t in results
        )
        return Lanes(data, marks)

    return combine


def _axis_of_blocks(dimensions: int, op: ops.Reduce | ops.Scan) -> int:
    """Which axis is that of blocks: the first after those that the order made of the folded one."""
    source = op.operands[0].type
    assert isinstance(source, TileType)
    return dimensions - len(source.shape)


def _owners(shape: tuple[int, ...], blocks: int, axis: int) -> Selection:
    """For every lane of ``shape``, which block it belongs to."""
    owner = np.arange(blocks).reshape((1,) * axis + (blocks,) + (1,) * (len(shape) - axis - 1))
    return np.broadcast_to(owner, shape).ravel()


def _bind(
    frame: Frame, op: Operation, value: Value, side: Lanes, operand: int, shape: tuple[int, ...]
) -> None:
    type_ = value.type
    assert isinstance(type_, TileType)
    marked = side.marks[operand]
    data = np.broadcast_to(side.data[operand], shape).reshape(-1)
    undefined = None if marked is None else marks(np.broadcast_to(marked, shape).reshape(-1), op)
    frame.values[value] = Tile(type_, data, undefined)
