"""What the programs of f64 share: high words, exponents that are added to, and a reciprocal."""

from __future__ import annotations

import numpy as np

from ...formats import Array
from ..hardware_f64 import rcp_approx_ftz_f64
from .lanewise import fma

Coefficients = tuple[np.float64, ...]
INFINITY = np.float64(np.inf)
SHIFTER = np.float64(1.5 * 2.0**52)
"""Added to a small number, it leaves the nearest integer in the low word of the sum."""
SIGN = np.uint64(1 << 63)
MAGNITUDE = ~SIGN
LN2 = np.float64(0.6931471805599453)
LN2_REST = np.float64(float.fromhex("0x1.abc9e3b39803fp-56"))
LOG2_E = np.float64(1.4426950408889634)


def patterns(*bits: int) -> Coefficients:
    """The f64 values that have these patterns."""
    return tuple(np.array(bits, np.uint64).view(np.float64))


def high(x: Array) -> Array:
    """The upper word, signed: it orders magnitudes, and is negative where ``x`` is."""
    return np.ascontiguousarray(x).view(np.int64) >> 32


def high_magnitude(x: Array) -> Array:
    """The upper word without the sign."""
    return high(x) & 0x7FFFFFFF


def low(x: Array) -> Array:
    """The lower word, signed."""
    return np.ascontiguousarray(x).view(np.int64).astype(np.int32).astype(np.int64)


def add_to_exponent(x: Array, power: Array | int) -> Array:
    """``x`` times a power of two, as an addition to the exponent's bits, which may overflow."""
    bits = np.ascontiguousarray(x).view(np.int64)
    return (bits + (np.asarray(power, np.int64) << 52)).view(np.float64)


def power_of_two(power: Array) -> Array:
    """2 to an integer, made of its exponent's bits alone."""
    return ((np.asarray(power, np.int64) + 1023) << 52).view(np.float64)


def with_sign_of(magnitude: Array, sign: Array) -> Array:
    """The bits of ``magnitude`` with the sign bit of ``sign``, NaNs too."""
    bits = np.ascontiguousarray(magnitude).view(np.uint64) & MAGNITUDE
    return (bits | (np.ascontiguousarray(sign).view(np.uint64) & SIGN)).view(np.float64)


def reciprocal(x: Array) -> Array:
    """1 / ``x``, nearly correctly rounded: the hardware's seed, and one step of third order."""
    seed = rcp_approx_ftz_f64(x)
    error = fma(-x, seed, np.float64(1))
    return fma(fma(error, error, error), seed, seed)
