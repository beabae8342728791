"""Angles of f64 reduced to a quarter turn: in three steps below 2^31, by the digits of 2/pi beyond."""

from __future__ import annotations

from functools import cache

import gmpy2
import numpy as np

from ...formats import Array
from .f64_parts import SIGN, patterns
from .lanewise import fma

TWO_OVER_PI, HALF_PI, HALF_PI_REST, HALF_PI_LAST = patterns(
    0x3FE45F306DC9C883, 0x3FF921FB54442D18, 0x3C91A62633145C00, 0x397B839A252049C0
)
LARGE = 2.0**31
"""From here on the digits of 2/pi are asked."""
DIGITS = 18 * 64
HALF_PI_BITS = 0xC90FDAA22168C235
"""pi/2 with 63 bits after the point."""
WORD = np.uint64(32)
LOW_WORD = np.uint64(0xFFFFFFFF)


def reduced(x: Array) -> tuple[Array, Array]:
    """Quarter turns (modulo 4 where there are many) and the angle left, of a flat array.

    An infinite angle leaves a NaN, and so does a NaN.
    """
    large = np.abs(x) >= LARGE
    near = np.where(large | np.isnan(x), 0.0, np.rint(x * TWO_OVER_PI))
    quarters = near.astype(np.int64)
    count = quarters.astype(np.float64)  # as an integer, none has no sign
    rest = fma(-count, HALF_PI_LAST, fma(-count, HALF_PI_REST, fma(-count, HALF_PI, x)))
    lanes = np.flatnonzero(large)
    if lanes.size:
        far = x[lanes]
        finite = np.isfinite(far)
        quarters[lanes], turned = _by_digits(np.where(finite, far, LARGE))
        rest[lanes] = np.where(finite, turned, far * 0.0)
    return quarters, rest


@cache
def _digits() -> Array:
    """The first 1152 binary digits of 2/pi, in words, the lowest first; a zero word follows the highest."""
    pi = gmpy2.const_pi(DIGITS + 64)
    whole = int(gmpy2.mpz(gmpy2.context(precision=DIGITS + 64).div(gmpy2.mpz(1) << (DIGITS + 1), pi)))
    words = [(whole >> (64 * i)) & 0xFFFFFFFFFFFFFFFF for i in range(DIGITS // 64)]
    return np.array([*words, 0], np.uint64)


def _product(a: Array, b: Array | np.uint64) -> tuple[Array, Array]:
    """Low and high word of the product of two words of 64 bits."""
    a0, a1, b0, b1 = a & LOW_WORD, a >> WORD, b & LOW_WORD, b >> WORD
    first = a0 * b0
    middle = a1 * b0 + (first >> WORD)
    cross = a0 * b1 + (middle & LOW_WORD)
    return (cross << WORD) | (first & LOW_WORD), a1 * b1 + (middle >> WORD) + (cross >> WORD)


def _shifted(upper: Array, lower: Array, by: Array | np.uint64) -> Array:
    """The upper word of two that move left by 0 to 63 places."""
    below: Array = (lower >> np.uint64(1)) >> (np.uint64(63) - by)
    return (upper << by) | below


def _by_digits(x: Array) -> tuple[Array, Array]:
    """Payne and Hanek's reduction: of the product with 2/pi, only the words around the point are formed."""
    bits = x.view(np.uint64)
    negative = bits >> np.uint64(63)
    exponent = ((bits >> np.uint64(52)) & np.uint64(0x7FF)).astype(np.int64) - 1024
    mantissa = (bits << np.uint64(11)) | SIGN
    first = 15 - (exponent >> 6)
    carry = np.zeros_like(bits)
    words = []
    for i in range(4):
        lower, upper = _product(mantissa, _digits()[first + i])
        lower += carry
        carry = upper + (lower < carry)
        words.append(lower)
    by = (exponent & 63).astype(np.uint64)
    high, low = _shifted(words[3], words[2], by), _shifted(words[2], words[1], by)
    # Two bits are whole quarters; the next says whether the nearest is one more, and the rest negative.
    quarters = high >> np.uint64(62)
    high, low = _shifted(high, low, np.uint64(2)), low << np.uint64(2)
    more = high >> np.uint64(63)
    count = (quarters + more).astype(np.int64)
    turned = more.astype(np.bool_)
    high = np.where(turned, ~high + (low == 0), high)
    low = np.where(turned, ~low + np.uint64(1), low)
    sign = (negative ^ more) << np.uint64(63)
    return np.where(negative.astype(np.bool_), -count, count), _angle(high, low, sign)


def _angle(high: Array, low: Array, sign: Array) -> Array:
    """The fraction of a quarter turn in two words as an angle, rounded twice: to 54 bits, then to 53."""
    zeros = _leading_zeros(high)
    lower, upper = _product(_shifted(high, low, zeros), np.uint64(HALF_PI_BITS))
    short = (upper >> np.uint64(63)) == 0
    upper = np.where(short, _shifted(upper, lower, np.uint64(1)), upper)
    exponent = np.uint64(1022) - zeros - short
    rounded = (((upper + np.uint64(1)) >> np.uint64(10)) + np.uint64(1)) >> np.uint64(1)
    angle: Array = ((exponent << np.uint64(52)) + rounded) | sign
    return angle.view(np.float64)


def _leading_zeros(x: Array) -> Array:
    """How many bits above the highest one that is set; 63 of a zero."""
    count = np.zeros_like(x)
    for step in (32, 16, 8, 4, 2, 1):
        empty = (x >> np.uint64(64 - step)) == 0
        x = np.where(empty, x << np.uint64(step), x)
        count += empty * np.uint64(step)
    return count
