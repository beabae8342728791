"""exp and exp2, and 2^(n / STEPS) * e^r, which pow and the hyperbolic functions share.

An argument is n steps of ln2 / STEPS (of 1 / STEPS for exp2) and a small rest r. The table gives the step
within a binade, the exponent field the binade, a Taylor polynomial the rest.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from tileref.numerics.bits import flush, flushed
from tileref.numerics.formats import F32, FloatFormat
from tileref.numerics.math import constants
from tileref.numerics.math import double_double as dd
from tileref.numerics.math.double_double import Array, Double, Pair
from tileref.numerics.math.evaluate import Function, Scaled, all_within, evaluate
from tileref.numerics.math.polynomial import polynomial
from tileref.numerics.nan import NanRule, canonical

STEPS = 2048
"""Table steps in a binade for double-double results."""
NARROW_STEPS = 128
"""The same for float64 results."""

LN2 = constants.pair(constants.LN2)


def exp(x: Array, fmt: FloatFormat, nan: NanRule = canonical) -> Array:
    """e^x, correctly rounded to nearest even; ``x`` and the result in ``fmt`` (f16, bf16, f32 or f64)."""
    return evaluate(EXP, (x,), fmt, nan)


def exp2(x: Array, fmt: FloatFormat, nan: NanRule = canonical, *, flush_to_zero: bool = False) -> Array:
    """2^x, correctly rounded to nearest even; ``x`` and the result in ``fmt`` (f16, bf16, f32 or f64).

    ``flush_to_zero`` (f32 alone) replaces subnormal operands and results by zeros of their signs; a result
    counts as subnormal when its rounded value is.
    """
    if not flush_to_zero:
        return evaluate(EXP2, (x,), fmt, nan)
    check_flush(EXP2, fmt)
    result = evaluate(EXP2, (flushed(x, fmt),), fmt, nan)
    flush(result, fmt)
    return result


def check_flush(function: Function, fmt: FloatFormat) -> None:
    """Raise ValueError unless the format may flush subnormals to zero."""
    if fmt is not F32:
        raise ValueError(f"{function.name} in {fmt.name}: flush_to_zero applies to f32 alone")


def clipped(x: Array, low: float, high: float) -> Array:
    """The number of [low, high] nearest to x; NaN stays. Often there is nothing to do."""
    return x if all_within(x, low, high) else np.minimum(np.maximum(x, low), high)


# float64 for the formats up to f32.


@functools.cache
def _narrow_table() -> NDArray[np.int64]:
    """The bits of 2^(i / NARROW_STEPS)."""
    context = constants.WORKING
    (column,) = constants.table(
        lambda i: [constants.rounded(context.exp2(constants.quotient(i, NARROW_STEPS)))], NARROW_STEPS
    )
    return column.view(np.int64)


def narrow_exponential(n: Array, r: Array) -> Array:
    """2^(n / NARROW_STEPS) * e^r for integral float64 n and |r| <= 2^-8.5, within 2^-51 of r's own error.

    The table and the last addition round by 2^-53 each, the polynomial (below 2^-8.4) and its product by
    2^-60 together, and the series is cut at r^6/720 < 2^-60.
    """
    steps = n.astype(np.int64)
    # The bits of a power of two in [1, 2), plus the binade in the exponent field.
    bits = np.take(_narrow_table(), steps & (NARROW_STEPS - 1))
    steps &= -NARROW_STEPS
    steps <<= 45
    bits += steps
    power = bits.view(np.float64)
    p = polynomial(r, 1 / 2, 1 / 6, 1 / 24, 1 / 120)
    p *= r
    p *= r
    p += r
    p *= power
    p += power
    return p


# n has at most 15 bits for |x| < 128, so a part of 38 bits makes exact products.
_NARROW_STEP = constants.parts(constants.quotient(constants.LN2, NARROW_STEPS), 38, 1)


def exp_narrow(x: Array) -> Array:
    """e^x for |x| < 128 within 2^-50: see ``narrow_exponential``.

    The first subtraction is exact: its result is below 2^-8 and a multiple of both operands' last places,
    which are at least 2^-60 (x is 0 or above 2^-9 when n is not 0). The second errs by 2^-61.
    """
    n = np.rint(x * (NARROW_STEPS / LN2[0]))
    r = x - n * _NARROW_STEP[0]
    r -= n * _NARROW_STEP[1]
    return narrow_exponential(n, r)


def _exp_narrow_clipped(x: Array) -> Array:
    # e^-110 is below half of any format's least subnormal, e^95 above every largest number.
    return exp_narrow(clipped(x, -110.0, 95.0))


def _exp2_narrow(x: Array) -> Array:
    x = clipped(x, -160.0, 140.0)
    n = np.rint(x * NARROW_STEPS)
    return narrow_exponential(n, (x - n * (1 / NARROW_STEPS)) * LN2[0])


# Double-double for f64.


@functools.cache
def _table() -> tuple[NDArray[np.float64], ...]:
    """2^(i / STEPS), high and low."""
    context = constants.WORKING
    return constants.table(lambda i: constants.pair(context.exp2(constants.quotient(i, STEPS))), STEPS)


def binade_and_step(n: Array) -> tuple[Array, Pair]:
    """For integral float64 n: the exponent k and the power F in [1, 2) with 2^(n / STEPS) = 2^k F."""
    steps = n.astype(np.int64)
    high, low = _table()
    index = steps & (STEPS - 1)
    return steps >> 11, (np.take(high, index), np.take(low, index))


_SIXTH = constants.pair(constants.quotient(1, 6))


def expm1_of_rest(r: Pair) -> Pair:
    """e^r - 1 for |r| <= 2^-12.4, within 2^-92 of itself.

    Written r + r^2 (1/2 + r/6 + w), with w = r^2/24 + ... below 2^-29 in float64: it rounds by 2^-81, which
    stands for 2^-93 of r. The series is cut at r^8/40320, below 2^-102 of r.
    """
    high = r[0]
    w = high * high * polynomial(high, 1 / 24, 1 / 120, 1 / 720, 1 / 5040)
    sixth, sixth_low = dd.multiply(r, _SIXTH)
    bracket = dd.add_smaller((0.5, 0.0), (sixth, sixth_low + w))
    return dd.add_smaller(r, dd.multiply(dd.multiply(r, r), bracket))


def exponential(n: Array, r: Pair) -> Scaled:
    """2^(n / STEPS) * e^r for integral float64 n and |r| <= 2^-12.4, within 2^-100 and r's absolute error."""
    k, step = binade_and_step(n)
    return dd.add_smaller(step, dd.multiply(step, expm1_of_rest(r))), k


_STEP = constants.parts(constants.quotient(constants.LN2, STEPS), 31, 2)


def reduced(x: Array) -> tuple[Array, Pair]:
    """Find n and r with x = n ln2 / STEPS + r, |r| <= 2^-12.4, for |x| <= 746, r within an absolute 2^-104.

    n has at most 22 bits, so its products with the parts of 31 bits are exact, and the first subtraction is
    too, as in ``exp_narrow``. The third part of the step stands for 2^-74 and less, and rounds by 2^-127.
    """
    n = np.rint(x * (STEPS / LN2[0]))
    high, low = dd.two_sum(x - n * _STEP[0], -(n * _STEP[1]))
    return n, dd.two_sum(high, low - n * _STEP[2])


def _exp_wide(x: Array) -> Scaled:
    return exponential(*reduced(clipped(x, -746.0, 710.0)))


def exp2_wide(x: Pair) -> Scaled:
    """2^x for double-double x, |x| <= 1100, within 2^-98 and 0.7 of x's absolute error."""
    n: Double = np.rint(x[0] * STEPS)
    return exponential(n, dd.multiply(dd.two_sum(x[0] - n * (1 / STEPS), x[1]), LN2))


def _exp2_wide(x: Array) -> Scaled:
    return exp2_wide((clipped(x, -1080.0, 1030.0), 0.0))


EXP = Function("exp", "exp", _exp_narrow_clipped, 2.0**-50, _exp_wide, 2.0**-95)
EXP2 = Function("exp2", "exp2", _exp2_narrow, 2.0**-50, _exp2_wide, 2.0**-95)
