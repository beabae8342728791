"""Reductions and scans whose body is one operation: the same bits as the body, applied to whole arrays.

The body's evaluator runs on every pair of lanes as if it were a block of its own. Where the body is one
operation that numpy has, applied in the same order it gives the same numbers. What it may give otherwise is
the pattern of a NaN and the sign of an extreme zero: lanes that end so are folded again by the evaluator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tileir.attributes import RoundingMode, Signedness
from tileir.module import Operation
from tileir.ops import bitwise, floating, integer
from tileir.ops.reduction import Reduce, Scan

from ..formats import Array, float_format
from ..frame import Frame
from ..numerics.formats import BF16, F16, F32, F64
from ..targets.bodies import is_order_free, only_operation
from ..targets.lanes import Combine, Lanes
from ..targets.orders import GroupsByHalves, LeftFold, LeftScan, Order
from ..values import Tile
from .registry import EVALUATORS

FLOATS = (floating.AddF, floating.MulF, floating.MaxF, floating.MinF)
"""Bodies whose evaluator looks at numbers alone."""
NUMPY: dict[type[Operation], np.ufunc] = {
    floating.AddF: np.add,
    floating.MulF: np.multiply,
    floating.MaxF: np.maximum,
    floating.MinF: np.minimum,
}


def fast_fold(frame: Frame, op: Reduce | Scan, lanes: Lanes, order: Order, *, keep: bool) -> Lanes | None:
    """The same bits as ``order`` with ``op``'s body, with less ado; None if the body must run as it is.

    ``keep`` tells a scan, which keeps the folded axis, from a reduction.
    """
    if any(m is not None for m in lanes.marks):
        return None
    single = only_operation(op)
    if single is None:
        return None
    array = lanes.data[0]
    if array.shape[0] == 1:
        return _one(np.array(array if keep else array[0]))
    if isinstance(single, FLOATS):
        exact = _evaluator(frame, single)
        if is_order_free(op) and not keep:
            return _one(_extreme(single, array, exact))
        if _is_native(single):
            return _one(_native(single, array, order, exact, keep=keep))
        return order(lanes, exact)
    ufunc = _integer_ufunc(single, array) if is_order_free(op) else None
    if ufunc is None:
        return None
    # Wrapping integers answer the same in any order.
    along = ufunc.accumulate if keep else ufunc.reduce
    return _one(along(array, axis=0, dtype=array.dtype))


def _one(array: Array) -> Lanes:
    return Lanes((array,), (None,))


def _evaluator(frame: Frame, single: Operation) -> Combine:
    """The operation's own evaluator, on lanes of any shape."""
    evaluate = EVALUATORS[type(single)]
    type_: Any = single.results[0].type

    def combine(accumulator: Lanes, element: Lanes) -> Lanes:
        tiles = [Tile(type_, side.data[0]) for side in (accumulator, element)]
        return _one(evaluate(frame, single, *tiles).data)

    return combine


def _integer_ufunc(single: Operation, array: Array) -> Any:
    if array.dtype == np.bool_ and not isinstance(single, bitwise.AndI | bitwise.OrI | bitwise.XOrI):
        return None
    match single:
        case integer.AddI():
            return np.add
        case integer.MaxI(signedness=Signedness.SIGNED):
            return np.maximum
        case integer.MinI(signedness=Signedness.SIGNED):
            return np.minimum
        case bitwise.AndI():
            return np.bitwise_and
        case bitwise.OrI():
            return np.bitwise_or
        case bitwise.XOrI():
            return np.bitwise_xor
    return None


def _is_native(single: Operation) -> bool:
    """Whether the processor's own operation rounds like this one."""
    return (
        isinstance(single, floating.AddF | floating.MulF)
        and single.rounding_mode is RoundingMode.NEAREST_EVEN
        and not single.flush_to_zero
        and float_format(single.results[0].type) in (F32, F64)
    )


def _native(single: Operation, array: Array, order: Order, exact: Combine, *, keep: bool) -> Array:
    """A fold or a scan by the processor's own addition or multiplication."""
    ufunc = NUMPY[type(single)]
    with np.errstate(all="ignore"):
        if isinstance(order, LeftFold | LeftScan):
            result = _in_sequence(ufunc, array, keep=keep)
        else:
            result = order(_one(array), lambda a, b: _one(ufunc(a.data[0], b.data[0]))).data[0]
    # A NaN stays one to the end of its fold, so that lanes without one at the end never had any.
    wrong = np.asarray(np.isnan(result).any(axis=0) if keep else np.isnan(result))
    return _again(result, wrong, array, lambda lanes: order(lanes, exact), keep=keep)


def _in_sequence(ufunc: Any, array: Array, *, keep: bool) -> Array:
    """One element after the other: ``accumulate`` is sequential by definition."""
    if keep:
        return np.asarray(ufunc.accumulate(array, axis=0))
    inner = array[0]
    if inner.size >= WIDE and inner.flags.c_contiguous:
        total = inner.copy()
        for element in array[1:]:
            ufunc(total, element, out=total)
        return np.asarray(total)
    return np.asarray(ufunc.accumulate(array, axis=0)[-1].copy())


WIDE = 4096
"""Lanes from which on a call for each element costs less than keeping every partial result."""


def _extreme(single: Operation, array: Array, exact: Combine) -> Array:
    """The largest or smallest of floats.

    numpy's is the dialect's but where NaNs or zeros are in play, or subnormals that are flushed.
    """
    ufunc = NUMPY[type(single)]
    fmt = float_format(single.results[0].type)

    def again(lanes: Lanes) -> Lanes:
        # Any order will do, and this one takes the fewest steps.
        return GroupsByHalves()(lanes, exact)

    if fmt not in (F16, BF16, F32, F64) or getattr(single, "flush_to_zero", False):
        folded: Array = again(_one(array)).data[0]
        return folded
    # One of the elements is the answer, so that a wider format holds it.
    with np.errstate(all="ignore"):
        wide = array if fmt in (F32, F64) else array.astype(np.float32)
        found = np.asarray(ufunc.reduce(wide, axis=0))
        narrow = found.astype(array.dtype)
    wrong = np.isnan(found) | (found == 0)
    return _again(narrow, wrong, array, again, keep=False)


def _again(result: Array, wrong: Array, array: Array, fold: Callable[[Lanes], Lanes], *, keep: bool) -> Array:
    """``result`` with the lanes that are ``wrong`` folded anew from ``array``."""
    if not wrong.any():
        return result
    where: tuple[Any, ...] = np.nonzero(wrong)
    along = (slice(None), *where)
    result[along if keep else where] = fold(_one(array[along])).data[0]
    return result
