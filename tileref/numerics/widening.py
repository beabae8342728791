"""Exact widening: every format but f64 fits f32, and every format fits f64.

No bit is rounded here. For lanes inside kernels: flat arrays, warnings off.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .formats import BF16, F32, F64, TF32, FloatFormat

Array = NDArray[Any]


@cache
def _table(fmt: FloatFormat) -> Array:
    """The f32 value of every pattern of a format of at most 16 bits of storage."""
    every = np.arange(1 << fmt.storage_width, dtype=fmt.bits_dtype)
    if fmt.width < fmt.storage_width:
        every &= fmt.bits_dtype.type((1 << fmt.width) - 1)
    values = every.view(fmt.dtype).astype(np.float32)
    values.flags.writeable = False
    return values


def to_f32(x: Array, fmt: FloatFormat) -> Array:
    """`x` of any format but f64 as f32; `x` itself where it is stored as one."""
    if fmt is F32 or fmt is TF32:
        return x
    if fmt is BF16:
        bits = x.view(np.uint16).astype(np.uint32)
        bits <<= np.uint32(16)
        return bits.view(np.float32)
    if fmt is F64:
        raise ValueError("f64 does not fit f32")
    # A gather from a table in the cache is faster than the arithmetic, and than a conversion lane by lane.
    return _table(fmt).take(x.view(fmt.bits_dtype), mode="clip")


def to_f64(x: Array, fmt: FloatFormat) -> Array:
    """`x` of any format as f64; `x` itself where it is f64."""
    return x if fmt is F64 else to_f32(x, fmt).astype(np.float64)
