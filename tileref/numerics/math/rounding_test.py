"""From an approximation and its error bound to a rounded result, or to "undecided".

Ziv's test: when the lowest and the highest number that the true value can be round to one result, that is the
result, for rounding is monotonic. A lane where they differ is undecided and goes to ``settle``. A true value
halfway between two numbers of the format is always undecided; so is one too near a halfway point.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tileref.numerics.formats import F32, FloatFormat
from tileref.numerics.math.double_double import Array, Pair, fast_two_sum

Tested: TypeAlias = tuple[Array, NDArray[np.bool_]]
"""Results, and which lanes are undecided (their results mean nothing)."""


def round_double(y: Array, error: float, fmt: FloatFormat) -> Tested:
    """float64 approximations of relative error ``error``, to a format of at most 24 bits.

    Zeros, infinities and NaNs are taken as exact.
    """
    if fmt is F32:
        # The conversion rounds once, to nearest even, subnormals and overflow included.
        low: Array = (y * (1.0 - error)).astype(np.float32)
        high: Array = (y * (1.0 + error)).astype(np.float32)
        return low, np.asarray(low.view(np.int32) != high.view(np.int32))
    low, high = to_precision(y * (1.0 - error), fmt), to_precision(y * (1.0 + error), fmt)
    return low, np.asarray(low.view(np.int64) != high.view(np.int64))


def to_precision(y: Array, fmt: FloatFormat) -> Array:
    """float64 numbers rounded to nearest even on the numbers of a narrower IEEE format, still as float64.

    Adding 1.5 * 2^52 quanta leaves the sum a last place of one quantum, so the addition rounds as wanted and
    the subtraction is exact. The quantum is that of y's binade, or of the subnormals below them.
    """
    binade = (y.view(np.int64) & (0x7FF << 52)).view(np.float64)
    quantum = np.maximum(binade, 2.0**fmt.emin) * 2.0 ** (1 - fmt.precision)
    shift = quantum * (1.5 * 2.0**52)
    result = np.copysign((y + shift) - shift, y)
    return np.where(np.abs(result) < 2.0 ** (fmt.emax + 1), result, y * np.inf)


def round_pair(value: Pair, error: float, exponent: Array | None = None) -> Tested:
    """Double-doubles of relative error ``error``, times 2^exponent, to float64.

    ``error`` must have room for 2^-105, the rounding of low +- error. Without ``exponent`` no result may be
    subnormal; with it, where it is below -1000 the high parts' magnitudes must be at least 1/2.
    """
    high, low = value
    slack = high * error
    up, down = high + (low + slack), high + (low - slack)
    undecided = (up != down) & (high == high)
    if exponent is None:
        return up, undecided
    result = _scaled(up, exponent)
    small = exponent < -1018
    if small.any():
        lanes = np.flatnonzero(small)
        result[lanes], undecided[lanes] = _round_small(high[lanes], low[lanes], error, exponent[lanes])
    return result, undecided


def _round_small(high: Array, low: Array, error: float, exponent: Array) -> Tested:
    """``round_pair`` for lanes that may be subnormal."""
    sign = np.copysign(1.0, high)
    high, low = high * sign, low * sign
    # high to [1, 2).
    shift = (high.view(np.int64) >> 52) - 1023
    factor = power_of_two(-shift)
    high, low, exponent = high * factor, low * factor, exponent + shift
    # A subnormal result is a multiple of 2^-1074, here 2^(-1074 - exponent). That is the last place of
    # anchor = 2^(-1022 - exponent), at least 2 and so above high: anchor + high rounds where it should.
    subnormal = exponent < -1022
    anchor = np.where(subnormal, power_of_two(np.minimum(-1022 - exponent, 100)), 0.0)
    near, rest = fast_two_sum(anchor, high)
    near, rest = np.where(subnormal, near, high), np.where(subnormal, rest, 0.0)
    # rest + low rounds, by at most |rest| 2^-53: that is part of the doubt.
    slack = high * error + np.abs(rest) * 2.0**-52
    up, down = near + (rest + (low + slack)), near + (rest + (low - slack))
    return _scaled((up - anchor) * sign, exponent), np.asarray((up != down) & (high == high))


def _scaled(x: Array, exponent: Array) -> Array:
    """The product x * 2^exponent in two steps, for the factor itself may leave the normal range."""
    half = exponent >> 1
    return np.asarray(x * power_of_two(half) * power_of_two(exponent - half))


def power_of_two(exponent: Array) -> Array:
    """2^exponent for int64 exponents from -1022 to 1023."""
    return ((exponent + 1023) << 52).view(np.float64)
