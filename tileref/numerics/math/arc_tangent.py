"""atan2, the angle of a point.

The dialect's ``atan2(x, y)`` is the arc tangent of x / y with the quadrant of the signs: its first operand is
the numerator, the one that C's atan2 calls y. Below, ``rise`` is the first operand and ``run`` the second.

By symmetry the smaller magnitude is divided by the larger; q = small / large lies in [0, 1]. With c the
nearest table point to q, atan q = atan c + atan t for t = (small - c large) / (large + c small).
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from tileref.numerics.formats import FloatFormat
from tileref.numerics.math import constants
from tileref.numerics.math import double_double as dd
from tileref.numerics.math.double_double import Array, Pair
from tileref.numerics.math.evaluate import Function, Known, Scaled, evaluate, known_where
from tileref.numerics.math.polynomial import polynomial
from tileref.numerics.math.rounding_test import power_of_two
from tileref.numerics.nan import NanRule, canonical


def atan2(x: Array, y: Array, fmt: FloatFormat, nan: NanRule = canonical) -> Array:
    """The arc tangent of x / y in the quadrant of the point (y, x), correctly rounded to nearest even.

    Radians in [-pi, pi]. Signed zeros and infinities as in C: atan2(+-0, -0) is +-pi, two infinities lie on
    the diagonals. ``x``, ``y`` and the result in ``fmt`` (f16, bf16, f32 or f64).
    """
    return evaluate(ATAN2, (x, y), fmt, nan)


def _known(rise: Array, run: Array) -> Known | None:
    sum_ = np.abs(rise) + np.abs(run)  # NaN exactly where an operand is
    return known_where(np.isnan(sum_), sum_)


def _finite(rise: Array, run: Array) -> tuple[Array, Array]:
    """Points at infinity replaced by finite ones in the same direction."""
    high, wide = np.isinf(rise), np.isinf(run)
    infinite = high | wide
    if not infinite.any():
        return rise, run
    return (
        np.where(infinite, np.copysign(high.astype(np.float64), rise), rise),
        np.where(infinite, np.copysign(wide.astype(np.float64), run), run),
    )


def _not_zero(large: Array) -> Array:
    """The origin counts as lying on the axis of run, at its end if run is -0."""
    return np.where(large == 0.0, 1.0, large)


@functools.cache
def _table(cells: int) -> tuple[NDArray[np.float64], ...]:
    """atan(i / cells) for i = 0 .. cells, high and low."""
    context = constants.WORKING
    return constants.table(lambda i: constants.pair(context.atan(constants.quotient(i, cells))), cells + 1)


_PI = constants.pair(constants.PI)
_HALF_PI = dd.scale(_PI, 0.5)

# float64 for the formats up to f32.

_NARROW_CELLS = 64


def _narrow(rise: Array, run: Array) -> Array:
    """Within 2^-49. c and the operands have at most 31 bits together, so the products are exact; t errs by
    two roundings of a sum and one of the quotient. |t| <= 2^-7, the series is cut at t^9/9 < 2^-59 t.
    """
    rise, run = _finite(rise, run)
    x, y = np.abs(run), np.abs(rise)
    small, large = np.minimum(x, y), _not_zero(np.maximum(x, y))
    cell = np.rint(small / large * _NARROW_CELLS)
    c = cell * (1 / _NARROW_CELLS)
    t = (small - c * large) / (large + c * small)
    q = t * t
    angle = polynomial(q, -1 / 3, 1 / 5, -1 / 7)
    angle *= q
    angle *= t
    angle += t
    angle += np.take(_table(_NARROW_CELLS)[0], cell.astype(np.int64), mode="clip")
    angle = np.where(y > x, _HALF_PI[0] - angle, angle)
    angle = np.where(np.signbit(run), _PI[0] - angle, angle)
    return np.copysign(angle, rise)


# Double-double for f64.

_CELLS = 256
_MINUS_THIRD = constants.pair(constants.quotient(-1, 3))


def _atan_rest(t: Pair) -> Pair:
    """The arc tangent of t for |t| <= 2^-8.9, within 2^-90 of itself.

    t + t q (-1/3 + w) with q = t^2 and w = q/5 - ..., below 2^-20 and kept to 2^-73, which stands for
    2^-91 of t. The series is cut at t^13/13 < 2^-110 t.
    """
    q = dd.multiply(t, t)
    w = q[0] * polynomial(q[0], 1 / 5, -1 / 7, 1 / 9, -1 / 11)
    return dd.add_smaller(t, dd.multiply(t, dd.multiply(q, dd.add_smaller(_MINUS_THIRD, (w, 0.0)))))


def _significand(x: Array) -> tuple[Array, Array]:
    """Positive x as m in [1, 2) and an exponent; zero as 1 and an exponent far below all others."""
    subnormal = x < 2.0**-1022
    bits = np.where(subnormal, x * 2.0**54, x).view(np.int64)
    m = ((bits & ((1 << 52) - 1)) | (1023 << 52)).view(np.float64)
    exponent = (bits >> 52) - 1023 - 54 * subnormal
    return np.where(x == 0.0, 1.0, m), np.where(x == 0.0, -4000, exponent)


def _wide(rise: Array, run: Array) -> Scaled:
    """Within 2^-88 of the result: t is a quotient of double-doubles, and every later sum has a leading term
    at least twice the other, or cancels by a factor of 2 at most (pi / 2 - pi / 4).
    """
    rise, run = _finite(rise, run)
    x, y = np.abs(run), np.abs(rise)
    small, small_exponent = _significand(np.minimum(x, y))
    large, large_exponent = _significand(_not_zero(np.maximum(x, y)))
    distance = small_exponent - large_exponent
    # Below 2^-60 the arc tangent is q (1 - q^2 / 3) with q^2 beyond the error bound: q alone, scaled.
    tiny = distance < -60
    small = np.where(tiny, small, small * power_of_two(np.maximum(distance, -60)))
    cell = np.where(tiny, 0.0, np.rint(small / large * _CELLS))
    c = cell * (1 / _CELLS)
    t = dd.divide(
        dd.add((small, 0.0), dd.scale(dd.two_product(c, large), -1.0)),
        dd.add_smaller((large, 0.0), dd.two_product(c, small)),
    )
    index = cell.astype(np.int64)
    base = tuple(np.take(column, index, mode="clip") for column in _table(_CELLS))
    angle = dd.choose(tiny, t, dd.add_smaller((base[0], base[1]), _atan_rest(t)))
    steep, left = y > x, np.signbit(run)
    # Where the angle is added to a right or a straight angle, a tiny one decides only which way it rounds.
    turned = dd.choose(tiny, dd.scale(t, power_of_two(np.maximum(distance, -500))), angle)
    turned = dd.choose(steep, dd.add_smaller(_HALF_PI, dd.scale(turned, -1.0)), turned)
    turned = dd.choose(left, dd.add_smaller(_PI, dd.scale(turned, -1.0)), turned)
    alone = tiny & ~steep & ~left
    value = dd.choose(alone, angle, turned)
    return dd.scale(value, np.copysign(1.0, rise)), np.where(alone, np.maximum(distance, -1200), 0)


ATAN2 = Function("atan2", "atan2", _narrow, 2.0**-47, _wide, 2.0**-86, _known)
