"""pow, the dialect's fpowf: 2^(y log2 |x|), with the sign of an odd power.

The exponent y log2 |x| is at most some 1,000 where the result is finite, and its absolute error is the
result's relative error; the logarithm must be that much finer.

A power of numbers of a format can be exactly halfway between two of the format, which no approximation can
tell: 4097^2 has 25 bits. Such a power is m^y times a power of two with m odd, y a whole number and m^y of
one bit more than the format at most, or y is a fraction and x a square, a fourth power, ... The first kind
is computed in whole numbers, the second left to MPFR.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from tileref.numerics.formats import F64, FloatFormat
from tileref.numerics.math import constants, exponential, logarithm
from tileref.numerics.math import double_double as dd
from tileref.numerics.math.double_double import Array
from tileref.numerics.math.evaluate import Function, Known, Scaled, evaluate
from tileref.numerics.math.rounding_test import round_double, round_pair
from tileref.numerics.math.settle import settle
from tileref.numerics.nan import NanRule, canonical


def pow(x: Array, y: Array, fmt: FloatFormat, nan: NanRule = canonical) -> Array:
    """x^y, correctly rounded to nearest even; ``x``, ``y`` and the result in ``fmt`` (f16, bf16, f32 or f64).

    The special cases are C's and IEEE 754's: x^0 and 1^y are 1 even for a NaN, (-1)^+-infinity is 1, a
    negative number to a power that is no whole number is NaN, a zero to a negative power is infinite.
    """
    return evaluate(POW, (x, y), fmt, nan)


def _whole(y: Array) -> Array:
    return np.asarray(np.rint(y) == y)


def _odd(y: Array) -> Array:
    """Whether y is an odd whole number; from 2^53 up all float64 numbers are even."""
    return np.asarray(_whole(y) & ~_whole(0.5 * y))


def _sign(x: Array, y: Array) -> Array:
    return np.where(np.signbit(x) & _odd(y), -1.0, 1.0)


def _known(x: Array, y: Array) -> Known | None:
    magnitude = np.abs(x)
    ordinary = (magnitude > 0.0) & (magnitude < np.inf) & (np.abs(y) < np.inf) & ((x > 0.0) | _whole(y))
    if ordinary.all():
        return None
    # Zero or infinite, by whether the magnitude lies above 1 and the power above 0.
    grows = (magnitude > 1.0) == (y > 0.0)
    values = np.where(grows, np.inf, 0.0) * _sign(x, y)
    values = np.where((x < 0.0) & (magnitude < np.inf) & ~_whole(y), np.nan, values)
    values = np.where(np.isinf(y) & (x == -1.0), 1.0, values)
    values = np.where(np.isnan(x) | np.isnan(y), np.nan, values)
    values = np.where((x == 1.0) | (y == 0.0), 1.0, values)
    return ~ordinary, values


# float64 for the formats up to f32.

_UNIT = 2.0**-40
_PER_LN2 = constants.parts(constants.quotient(1, constants.LN2), 25, 1)


@functools.cache
def _table() -> tuple[NDArray[np.float64], ...]:
    """-log2 c for the c of the logarithm's table, as a multiple of 2^-40 and a rest."""
    reciprocal, _ = logarithm.narrow_table(True)

    def row(cell: int) -> tuple[float, float]:
        log2 = constants.WORKING.log2(float(reciprocal[cell]))
        return constants.aligned_pair(constants.WORKING.minus(log2), _UNIT)

    return constants.table(row, logarithm.NARROW_CELLS)


def _narrow_log2(x: Array) -> dd.Pair:
    """log2 x for positive x of at most 24 bits, within 2^-59 of itself, as an unevaluated sum.

    As ``logarithm``'s, with the leading terms exact: r is a multiple of 2^-36 below 2^-8, so its product with
    25 bits of 1 / ln 2 is exact, and so is the sum of k and the table. The other terms are below 2^-8 of r
    and round by 2^-61 of it.
    """
    k, m, cell = logarithm.cell(x, logarithm.NARROW_CELLS)
    reciprocal, _ = logarithm.narrow_table(True)
    minus_log, minus_log_low = _table()
    r = m * np.take(reciprocal, cell) - 1.0
    rest = r * r * logarithm.narrow_series(r)
    low = np.take(minus_log_low, cell) + (r * _PER_LN2[1] + rest * (_PER_LN2[0] + _PER_LN2[1]))
    high, error = dd.fast_two_sum(k + np.take(minus_log, cell), r * _PER_LN2[0])
    return dd.fast_two_sum(high, error + low)


def _narrow(x: Array, y: Array) -> Array:
    """Within 2^-50: the exponent, at most 150 where it matters, errs by 2^-51, the exponential by as much."""
    high, low = _narrow_log2(np.abs(x))
    # y has at most 24 bits and the upper part of the logarithm 29: their product is exact.
    upper = (high.view(np.int64) & ~0xFFFFFF).view(np.float64)
    z = np.minimum(np.maximum(y * upper, -160.0), 140.0)
    # Within 2^-19 where z is not clipped.
    rest = np.minimum(np.maximum(y * ((high - upper) + low), -1.0), 1.0)
    n = np.rint(z * exponential.NARROW_STEPS)
    r = ((z - n * (1 / exponential.NARROW_STEPS)) + rest) * exponential.LN2[0]
    return exponential.narrow_exponential(n, r) * _sign(x, y)


# Double-double for f64.


def _wide(x: Array, y: Array) -> Scaled:
    """The logarithm's 2^-94 on an exponent of at most 1,080, and ``exp2_wide``'s 2^-98: within 2^-84.

    From 2^70 on y makes no difference: either log2 |x| is 0, or at least 2^-53 and the result over- or
    underflows.
    """
    log2 = logarithm.wide(np.abs(x), base2=True)
    high, low = dd.multiply_double(log2, np.minimum(np.maximum(y, -(2.0**70)), 2.0**70))
    z = np.minimum(np.maximum(high, -1080.0), 1030.0)
    value, exponent = exponential.exp2_wide((z, np.where(z == high, low, 0.0)))
    return dd.scale(value, _sign(x, y)), exponent


# The slow path.


def _settle(operands: tuple[Array, ...], fmt: FloatFormat) -> Array:
    x, y = operands
    exact, result = _whole_power(x, y, fmt)
    others = np.flatnonzero(~exact)
    result[others] = settle("pow", (x[others], y[others]), fmt)
    return result


def _whole_power(x: Array, y: Array, fmt: FloatFormat) -> tuple[Array, Array]:
    """The lanes where m^y fits in 54 bits (x = m 2^e with m odd, y whole and positive), and their results.

    Only normal results are taken: below them ``round_pair`` is not made for exact halves.
    """
    fraction, exponent = np.frexp(np.abs(x))
    whole = np.ldexp(fraction, 53).astype(np.int64)
    trailing = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    odd = whole >> trailing
    # The powers of 1 are powers of two, never halfway between normal numbers.
    count = np.where((odd > 1) & _whole(y) & (y >= 1.0) & (y <= 34.0), y, 0.0).astype(np.int64)
    bits = count * np.log2(odd.astype(np.float64))  # only to keep far from 2^62; its last bits do not matter
    power = np.where((count > 0) & (bits < 60.0), odd, 1) ** np.where(bits < 60.0, count, 1)
    e = count * (exponent - 53 + trailing).astype(np.int64)
    exact = (power > 1) & (power < 1 << 54) & (e > fmt.emin) & (e < 2000)
    e = np.where(exact, e, 0)
    low = (power & 1).astype(np.float64)
    high = (power - (power & 1)).astype(np.float64)
    if fmt is F64:
        result, _ = round_pair((high, low), 0.0, e)
    else:
        result = round_double(np.ldexp(high + low, e), 0.0, fmt)[0].astype(np.float64)
    return exact, result * _sign(x, y)


POW = Function("fpowf", "pow", _narrow, 2.0**-48, _wide, 2.0**-82, _known, _settle)
