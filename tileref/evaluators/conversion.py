"""Conversions between element types."""

from __future__ import annotations

import numpy as np

from tileir.attributes import Signedness
from tileir.ops import conversion as ops
from tileir.types import TileType

from .. import numerics as n
from ..formats import ROUNDINGS, Array, element_format, float_format, integer_format
from ..frame import Frame
from ..kinds import Kind
from ..targets.model import Model
from ..undefined import Lanes, Marks
from ..values import Tile
from .registry import elementwise, evaluates, partial_elementwise

Marked = tuple[Array, Array | None]


@elementwise
def bitcast(_model: Model, op: ops.Bitcast, source: Array) -> Array:
    """Read the bits as another format."""
    return n.bitcast(source, element_format(op.source.type), element_format(op.result.type))


@elementwise
def exti(_model: Model, op: ops.ExtI, from_: Array) -> Array:
    """Widen an integer."""
    signed = op.signedness is Signedness.SIGNED
    return n.exti(from_, integer_format(op.from_.type), integer_format(op.to.type), signed=signed)[0]


@elementwise
def ftof(model: Model, op: ops.FToF, from_: Array) -> Array:
    """Convert a float."""
    source, target = float_format(op.from_.type), float_format(op.to.type)
    return model.ftof(from_, source, target, ROUNDINGS[str(op.rounding_mode)])


@partial_elementwise(Kind.FLOAT_TO_INTEGER, "a float outside the integer's range")
def ftoi(_model: Model, op: ops.FToI, from_: Array) -> Marked:
    """Truncate a float to an integer."""
    signed = op.signedness is Signedness.SIGNED
    source, target = float_format(op.from_.type), integer_format(op.to.type)
    return n.ftoi(from_, source, target, signed, op.saturating)


@elementwise
def int_to_ptr(_model: Model, _op: ops.IntToPtr, source: Array) -> Array:
    """Addresses are the same number either way."""
    return source


@elementwise
def itof(model: Model, op: ops.IToF, from_: Array) -> Array:
    """Convert an integer."""
    signed = op.signedness is Signedness.SIGNED
    source, target = integer_format(op.from_.type), float_format(op.to.type)
    return model.itof(from_, source, target, ROUNDINGS[str(op.rounding_mode)], signed)


@elementwise
def ptr_to_int(_model: Model, _op: ops.PtrToInt, source: Array) -> Array:
    """Addresses are the same number either way."""
    return source


@elementwise
def ptr_to_ptr(_model: Model, _op: ops.PtrToPtr, source: Array) -> Array:
    """The same addresses."""
    return source


@partial_elementwise(Kind.OVERFLOW, "truncated bits were promised to be redundant")
def trunci(_model: Model, op: ops.TruncI, from_: Array) -> Marked:
    """Narrow an integer."""
    source, target = integer_format(op.from_.type), integer_format(op.to.type)
    return n.trunci(from_, source, target, overflow=str(op.overflow))


@evaluates()
def pack(_frame: Frame, op: ops.Pack, source: Tile) -> Tile:
    """A tile as its bytes."""
    type_ = op.result.type
    assert isinstance(type_, TileType)
    data = n.pack(source.data, element_format(op.source.type))
    return Tile(type_, data, _spread(source, type_))


@evaluates()
def unpack(_frame: Frame, op: ops.Unpack, source: Tile) -> Tile:
    """Bytes as the tile they hold."""
    type_ = op.result.type
    assert isinstance(type_, TileType)
    data = n.unpack(source.data, element_format(type_))
    return Tile(type_, data, _spread(source, type_))


def _spread(source: Tile, type_: TileType) -> Marks | None:
    """Marks of a tile whose lanes were cut or joined: a lane is marked if any of its bits was."""
    if source.undefined is None:
        return None
    old, new = source.type.size, type_.size

    def spread(marked: Lanes) -> Lanes:
        lanes = np.broadcast_to(marked, (marked.shape[0], old))
        if new >= old:
            return np.repeat(lanes, new // old, axis=1)
        return np.asarray(lanes.reshape(lanes.shape[0], new, old // new).any(axis=2))

    return source.undefined.map(spread)
