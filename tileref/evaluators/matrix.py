"""Matrix multiply-accumulate."""

from __future__ import annotations

from functools import partial

import numpy as np

from tileir.attributes import Signedness
from tileir.ops import matrix as ops
from tileir.types import TileType, Type

from ..formats import Array, float_format
from ..frame import Frame
from ..numerics.conversion import ftof
from ..numerics.error_free import two_sum
from ..numerics.formats import F32, F64, FloatFormat
from ..numerics.rounding import to_odd
from ..undefined import Lanes, Marks, join
from ..values import Tile
from .registry import evaluates


def _marks(lhs: Tile, rhs: Tile, acc: Tile) -> Marks | None:
    """A product's lane has no value if anything in its row, its column or its accumulator has none."""
    found = [acc.undefined]
    for tile, axis in ((lhs, -1), (rhs, -2)):
        if tile.undefined is not None:
            found.append(tile.undefined.map(partial(_along, shape=tile.type.shape, axis=axis)))
    return join(found)


def _along(lanes: Lanes, shape: tuple[int, ...], axis: int) -> Lanes:
    return np.asarray(np.broadcast_to(lanes, (lanes.shape[0], *shape)).any(axis=axis, keepdims=True))


def factors(
    op: ops.MmaF | ops.MmaFScaled, lhs: Tile, rhs: Tile, _acc: Tile, *scales: Tile
) -> tuple[Array, Array, FloatFormat]:
    """What a product multiplies, and in which format.

    Scales are powers of two or narrow, so that scaling in f32 is exact, or beyond its largest value.
    """
    if isinstance(op, ops.MmaF):
        return lhs.data, rhs.data, float_format(op.lhs.type)
    a = _scaled(lhs.data, scales[0].data, op.lhs.type, op.lhs_scale.type, axis=-1)
    b = _scaled(rhs.data, scales[1].data, op.rhs.type, op.rhs_scale.type, axis=-2)
    return a, b, F32


@evaluates()
def mmaf(frame: Frame, op: ops.MmaF, lhs: Tile, rhs: Tile, acc: Tile) -> Tile:
    """Multiply float matrices, as the model sums and rounds them."""
    model = frame.run.model
    product = model.product(op).value
    a, b, source = factors(op, lhs, rhs, acc)
    with np.errstate(all="ignore"):
        data = product(a, b, acc.data, source, float_format(op.result.type), model.nan)
    assert isinstance(op.result.type, TileType)
    return Tile(op.result.type, data, _marks(lhs, rhs, acc))


@evaluates()
def mmaf_scaled(
    frame: Frame, op: ops.MmaFScaled, lhs: Tile, rhs: Tile, acc: Tile, lhs_scale: Tile, rhs_scale: Tile
) -> Tile:
    """Multiply scaled matrices."""
    model = frame.run.model
    product = model.product(op).value
    a, b, source = factors(op, lhs, rhs, acc, lhs_scale, rhs_scale)
    with np.errstate(all="ignore"):
        if _overflows(a, lhs, lhs_scale) or _overflows(b, rhs, rhs_scale):
            data = _scaled_chain(op, lhs, rhs, acc, lhs_scale, rhs_scale)
        else:
            data = product(a, b, acc.data, source, F32, model.nan)
    assert isinstance(op.result.type, TileType)
    undefined = join([_marks(lhs, rhs, acc), _any(lhs_scale), _any(rhs_scale)])
    return Tile(op.result.type, data, undefined)


def _scaled(
    array: Array, scale: Array, type_: Type, scale_type: Type, axis: int, fmt: FloatFormat = F32
) -> Array:
    wide, factors = ftof(array, float_format(type_), fmt), ftof(scale, float_format(scale_type), fmt)
    with np.errstate(all="ignore"):
        result: Array = wide * np.repeat(factors, wide.shape[axis] // factors.shape[axis], axis=axis)
    return result


def _overflows(scaled: Array, tile: Tile, scale: Tile) -> bool:
    """Whether an element of ``tile`` has left f32's range by being scaled."""
    infinite = int(np.isinf(scaled).sum())
    if not infinite:
        return False
    blocks = scaled.shape[0]
    given = np.isinf(ftof(tile.full(blocks), float_format(tile.type), F32))
    return infinite > int(given.sum()) or bool(
        np.isinf(ftof(scale.data, float_format(scale.type), F32)).any()
    )


def _scaled_chain(op: ops.MmaFScaled, lhs: Tile, rhs: Tile, acc: Tile, *scales: Tile) -> Array:
    """The chain of fused multiply-adds where f32 cannot hold the scaled factors, but perhaps their products.

    A scaled factor has 8 bits at most, a product 16, and f64 room for all their exponents.
    """
    a = _scaled(lhs.data, scales[0].data, op.lhs.type, op.lhs_scale.type, -1, F64)
    b = _scaled(rhs.data, scales[1].data, op.rhs.type, op.rhs_scale.type, -2, F64)
    total = acc.data
    for k in range(a.shape[-1]):
        step = a[..., :, k, None] * b[..., None, k, :]
        high, low = two_sum(*np.broadcast_arrays(total.astype(np.float64), step))
        total = ftof(to_odd(high, low), F64, F32)
    return total


def _any(tile: Tile) -> Marks | None:
    """Marks on everything that may use any lane of ``tile``."""
    if tile.undefined is None:
        return None
    return tile.undefined.map(lambda m: np.asarray(m.any(axis=tuple(range(1, m.ndim)), keepdims=True)))


@evaluates()
def mmai(frame: Frame, op: ops.MmaI, lhs: Tile, rhs: Tile, acc: Tile) -> Tile:
    """Multiply integer matrices; a sum beyond i32 wraps, or stops at its ends every so many products.

    Sums of up to 2^37 products of two 8-bit integers are exact in f64, which has the fast matrix product.
    """
    a, b = _read(lhs.data, op.signedness_lhs), _read(rhs.data, op.signedness_rhs)
    steps = frame.run.model.integer_steps(op)
    total = np.asarray(acc.data, np.float64)
    for first in range(0, a.shape[-1], steps or a.shape[-1]):
        k = slice(first, first + (steps or a.shape[-1]))
        total = np.matmul(a[..., k], b[..., k, :]) + total
        if steps is not None:
            total = np.clip(total, -(2.0**31), 2.0**31 - 1)
    assert isinstance(op.result.type, TileType)
    return Tile(op.result.type, total.astype(np.int64).astype(np.int32), _marks(lhs, rhs, acc))


def _read(array: Array, signedness: Signedness) -> Array:
    return (array if signedness is Signedness.SIGNED else array.view(np.uint8)).astype(np.float64)
