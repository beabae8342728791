"""log and log2 of f64: exponent and significand apart, and the significand's logarithm by 2 artanh."""

from __future__ import annotations

import numpy as np

from ...formats import Array
from ...numerics.formats import F64
from .f64_parts import INFINITY, LN2, LN2_REST, high, patterns, reciprocal
from .lanewise import fma, polynomial, program

ARTANH = patterns(
    0x3EB1380B3AE80F1E,
    0x3ED0EE258B7A8B04,
    0x3EF3B2669F02676F,
    0x3F1745CBA9AB0956,
    0x3F3C71C72D1B5154,
    0x3F624924923BE72D,
    0x3F8999999999A3C4,
    0x3FB5555555555554,
)
ABOUT_ROOT_2 = 0x3FF6A09F
"""The high word from which on a significand is halved, to lie around 1."""
TO_NORMAL = np.float64(2.0**54)
(LOG2_E, LOG2_E_REST) = patterns(0x3FF71547652B82FE, 0x3C7777D0FFDA0D24)


def significand_around_one(x: Array) -> tuple[Array, Array]:
    """Significand in about [0.7, 1.4) and exponent of positive normal ``x``; otherwise, mere bits."""
    bits = np.ascontiguousarray(x).view(np.int64)
    significand = (bits & ((1 << 52) - 1)) | (1023 << 52)
    halved = (significand >> 32) >= ABOUT_ROOT_2
    exponent = (bits >> 52) - 1023 + halved
    return (significand - (halved.astype(np.int64) << 52)).view(np.float64), exponent


def ratio(significand: Array) -> tuple[Array, Array]:
    """2 (m - 1) / (m + 1), and what rounding took from it."""
    less = significand - 1
    inverse = reciprocal(significand + 1)
    quotient = less * inverse
    twice = quotient + quotient
    rest = less - twice
    return twice, inverse * fma(-twice, less, rest + rest)


def _finite(x: Array, subnormal: Array) -> Array:
    significand, exponent = significand_around_one(x)
    power = (exponent - 54 * subnormal).astype(np.float64)
    twice, lost = ratio(significand)
    square = twice * twice
    tail = fma(polynomial(square, *ARTANH) * square, twice, lost)
    # The sum of exponent and 2 artanh, and its error, which the small terms join first.
    total = fma(power, LN2, twice)
    error = fma(-power, LN2, total) - twice
    return total + fma(power, LN2_REST, tail - error)


def logarithm(x: Array) -> Array:
    """The natural logarithm."""
    subnormal = high(x) < 1 << 20  # the negative ones, too
    x = np.where(subnormal, x * TO_NORMAL, x)
    word = high(x)
    result = _finite(x, subnormal)
    special = np.flatnonzero((word <= 0) | (word >= 0x7FF00000))
    rare = x[special]
    result[special] = np.where(rare == 0, -INFINITY, fma(rare, INFINITY, INFINITY))
    return result


@program("log", F64)
def log(x: Array) -> Array:
    """The natural logarithm."""
    return logarithm(x)


@program("log2", F64)
def log2(x: Array) -> Array:
    """The binary logarithm: the natural one times the two parts of that of e."""
    natural = logarithm(x)
    return fma(natural, LOG2_E, natural * LOG2_E_REST)
