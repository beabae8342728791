"""Values as bit patterns: the views that the rest of the package reads and writes formats through.

Every function takes arrays of any shape and strides. `bits_of` gives a view, so its answer must not be
written to unless the caller made the array.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .formats import FloatFormat

Array = NDArray[Any]

_FEW = 1 << 14
"""Lanes whose mask takes no longer than a reduction."""


def bits_of(x: Array, fmt: FloatFormat) -> Array:
    """The patterns of `x` (an array of `fmt.dtype`) as unsigned integers: a view, of the same shape."""
    return x.view(fmt.bits_dtype)


def from_bits(bits: Array, fmt: FloatFormat) -> Array:
    """The values of `fmt` whose patterns are `bits` (of `fmt.bits_dtype`): a view, of the same shape."""
    return bits.view(fmt.dtype)


def sign_mask(x: Array, fmt: FloatFormat) -> NDArray[np.bool_]:
    """Where the sign bit of `x` is set, zeros and NaNs included."""
    return np.asarray((bits_of(x, fmt) & fmt.bits_dtype.type(fmt.sign_bit)) != 0)


def nan_mask(x: Array, fmt: FloatFormat) -> NDArray[np.bool_]:
    """Where `x` (an array of `fmt.dtype`) is NaN; nowhere, for a format that has none."""
    if not fmt.has_nan:
        return np.zeros(x.shape, np.bool_)
    if fmt.dtype.kind == "f" and fmt.width > 16:
        return np.asarray(np.isnan(x))
    magnitude = bits_of(x, fmt) & fmt.bits_dtype.type(fmt.magnitude_mask)
    bound = fmt.largest if fmt.infinity is None else fmt.infinity
    return np.asarray(magnitude > fmt.bits_dtype.type(bound))


def any_nan(x: Array, fmt: FloatFormat) -> bool:
    """Whether any lane of `x` (an array of `fmt.dtype`) is NaN."""
    if x.size > _FEW and fmt.dtype.kind == "f" and fmt.width > 16:
        with np.errstate(invalid="ignore"):
            return bool(np.isnan(np.maximum.reduce(x, axis=None)))
    if x.size > _FEW and fmt.width == 16 and fmt.infinity is not None:
        # The patterns beyond infinity's are the largest of either sign.
        bits = bits_of(x, fmt)
        return bool(bits.view(np.int16).max() > fmt.infinity or bits.max() > fmt.infinity | fmt.sign_bit)
    return bool(nan_mask(x, fmt).any())


def subnormal_mask(x: Array, fmt: FloatFormat) -> NDArray[np.bool_]:
    """Where `x` is subnormal; zeros are not."""
    magnitude = bits_of(x, fmt) & fmt.bits_dtype.type(fmt.magnitude_mask)
    return np.asarray((magnitude != 0) & (magnitude < fmt.bits_dtype.type(fmt.smallest_normal)))


def flushed(x: Array, fmt: FloatFormat) -> Array:
    """`x` with every subnormal replaced by the zero of its sign: `x` itself where there is none."""
    subnormal = subnormal_mask(x, fmt)
    if not subnormal.any():
        return x
    bits = bits_of(x, fmt)
    return from_bits(np.where(subnormal, bits & fmt.bits_dtype.type(fmt.sign_bit), bits), fmt)


def flush(result: Array, fmt: FloatFormat) -> None:
    """Replace the subnormals of `result` by the zeros of their signs, in place."""
    subnormal = subnormal_mask(result, fmt)
    if subnormal.any():
        bits_of(result, fmt)[subnormal] &= fmt.bits_dtype.type(fmt.sign_bit)
