"""Reductions and scans whose body is one operation that numpy applies along an axis by itself."""

from __future__ import annotations

import numpy as np

from tileir.attributes import RoundingMode, Signedness
from tileir.ops import bitwise, floating, integer
from tileir.ops.reduction import Reduce, Scan

from ..formats import float_format
from ..frame import Frame
from ..models.bodies import is_order_free, only_operation
from ..models.lanes import Lanes
from ..models.orders import LeftFold, LeftScan, Order


def fast_fold(frame: Frame, op: Reduce | Scan, lanes: Lanes, order: Order, *, keep: bool) -> Lanes | None:
    """The same bits as ``order`` with ``op``'s body, in one numpy call; None if there is none.

    A left fold of ``addf`` or ``mulf`` in f32 or f64 is numpy's ``accumulate``, which is sequential by
    definition; integer sums and the like are the same in any order, so that ``reduce`` may pick its own.
    """
    if any(m is not None for m in lanes.marks):
        return None
    single = only_operation(op)
    if single is None:
        return None
    array = lanes.data[0]
    if is_order_free(op):
        match single:
            case integer.AddI() if array.dtype != np.bool_:
                ufunc, dtype = np.add, array.dtype
            case integer.MaxI(signedness=Signedness.SIGNED) if array.dtype != np.bool_:
                ufunc, dtype = np.maximum, array.dtype
            case integer.MinI(signedness=Signedness.SIGNED) if array.dtype != np.bool_:
                ufunc, dtype = np.minimum, array.dtype
            case bitwise.AndI():
                ufunc, dtype = np.bitwise_and, array.dtype
            case bitwise.OrI():
                ufunc, dtype = np.bitwise_or, array.dtype
            case bitwise.XOrI():
                ufunc, dtype = np.bitwise_xor, array.dtype
            case floating.MaxF() | floating.MinF() if array.dtype in (np.float32, np.float64):
                return _extreme(single, array, keep=keep)
            case _:
                return None
        if keep:
            return Lanes((ufunc.accumulate(array, axis=0, dtype=dtype),), (None,))
        return Lanes((ufunc.reduce(array, axis=0, dtype=dtype),), (None,))
    if not isinstance(order, LeftFold | LeftScan) or array.dtype not in (np.float32, np.float64):
        return None
    if not isinstance(single, floating.AddF | floating.MulF) or single.flush_to_zero:
        return None
    if single.rounding_mode is not RoundingMode.NEAREST_EVEN:
        return None
    function = np.add if isinstance(single, floating.AddF) else np.multiply
    with np.errstate(all="ignore"):
        result = function.accumulate(array, axis=0)
    if not keep:
        result = result[-1].copy()
    fmt = float_format(op.results[0].type)
    # A NaN of the first element is passed through a fold of one and rewritten by a longer one.
    if array.shape[0] > 1:
        first = array[:1].copy() if keep else None
        frame.run.model.nan(result, (result,), fmt, single.mnemonic)
        if first is not None:
            result[:1] = first
    return Lanes((result,), (None,))


def _extreme(single: floating.MaxF | floating.MinF, array: np.ndarray, *, keep: bool) -> Lanes | None:  # type: ignore[type-arg]
    """The largest or smallest of floats, where no NaN and no zero makes numpy's answer depend on the order."""
    if single.flush_to_zero or keep:
        return None
    function = np.maximum if isinstance(single, floating.MaxF) else np.minimum
    result = function.reduce(array, axis=0)
    if np.isnan(result).any() or (result == 0).any():
        return None
    return Lanes((result,), (None,))
