"""sin, cos and tan of angles in radians.

An angle is reduced to one of 1,024 arcs of the circle and a rest (``circle``); the table gives the arc's sine
and cosine, Taylor polynomials the rest's, and the addition theorems join them. At the arcs where a sine or
cosine is zero the table holds an exact zero, so a result near zero keeps its relative precision.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from tileref.numerics.formats import FloatFormat
from tileref.numerics.math import circle, constants
from tileref.numerics.math import double_double as dd
from tileref.numerics.math.double_double import Array, Pair
from tileref.numerics.math.evaluate import Function, Known, Scaled, all_within, evaluate, known_where
from tileref.numerics.math.polynomial import polynomial
from tileref.numerics.nan import NanRule, canonical

TINY = 2.0**-27
"""Below this sin, tan, sinh and tanh of x are x: they differ from it by less than x^3/3 < 2^-55 x, and half
the distance to a neighbouring float64 is at least 2^-54 x."""


def sin(x: Array, fmt: FloatFormat, nan: NanRule = canonical) -> Array:
    """The sine of x radians, correctly rounded to nearest even for every finite x; NaN at infinity.

    ``x`` and the result in ``fmt`` (f16, bf16, f32 or f64).
    """
    return evaluate(SIN, (x,), fmt, nan)


def cos(x: Array, fmt: FloatFormat, nan: NanRule = canonical) -> Array:
    """The cosine of x radians, correctly rounded to nearest even for every finite x; NaN at infinity.

    ``x`` and the result in ``fmt`` (f16, bf16, f32 or f64).
    """
    return evaluate(COS, (x,), fmt, nan)


def tan(x: Array, fmt: FloatFormat, nan: NanRule = canonical) -> Array:
    """The tangent of x radians, correctly rounded to nearest even for every finite x; NaN at infinity.

    ``x`` and the result in ``fmt`` (f16, bf16, f32 or f64).
    """
    return evaluate(TAN, (x,), fmt, nan)


def odd_known(x: Array) -> Known | None:
    """The lanes of an odd function where f(x) is x: zeros, whose sign stays, and ``TINY`` numbers."""
    magnitude = np.abs(x)
    return None if all_within(magnitude, TINY, np.inf) else known_where(magnitude < TINY, x)


def _odd_known(x: Array) -> Known | None:
    magnitude = np.abs(x)
    if all_within(magnitude, TINY, np.inf):
        return None
    finite = magnitude < np.inf
    return known_where((magnitude < TINY) | ~finite, np.where(finite, x, np.nan))


def _cos_known(x: Array) -> Known | None:
    return known_where(~np.isfinite(x), np.full_like(x, np.nan))


@functools.cache
def _table() -> tuple[NDArray[np.float64], ...]:
    """The sine and the cosine at the start of each arc, high and low of each."""
    context = constants.WORKING
    quarter = circle.STEPS // 4

    def sine(arc: int) -> tuple[float, float]:
        if arc % (2 * quarter) == 0:
            return 0.0, 0.0
        return constants.pair(context.sin(constants.quotient(context.mul(arc, constants.PI), 2 * quarter)))

    return constants.table(lambda arc: (*sine(arc), *sine(arc + quarter)), circle.STEPS)


# float64 for the formats up to f32.


def _narrow_angle(x: Array) -> tuple[Array, Array, Array, Array]:
    """Sine and cosine of the arc, then of the rest the sine and the cosine less 1.

    For |r| <= 2^-8.3 the series are cut at r^7/5040 < 2^-62 r and r^6/720 < 2^-59.
    """
    limit = circle.NARROW_LIMIT
    n, r = circle.narrow_reduced(x)
    if not all_within(x, -limit, limit):
        lanes = np.flatnonzero(~(np.abs(x) <= limit))
        n[lanes], (r[lanes], _) = circle.reduced(x[lanes])
    n &= circle.STEPS - 1
    sine, _, cosine, _ = _table()
    square = r * r
    sine_rest = polynomial(square, -1 / 6, 1 / 120)
    sine_rest *= square
    sine_rest *= r
    sine_rest += r
    cosine_rest = polynomial(square, -1 / 2, 1 / 24)
    cosine_rest *= square
    return np.take(sine, n), np.take(cosine, n), sine_rest, cosine_rest


# The sum of products is either led by one term, or both have the table's term at least twice the other: a
# handful of roundings of 2^-53 each grow by 2 at most.


def _narrow_sine_of_sum(s: Array, c: Array, sine: Array, cosine_m1: Array) -> Array:
    rest = s * cosine_m1
    rest += c * sine
    rest += s
    return rest


def _narrow_cosine_of_sum(s: Array, c: Array, sine: Array, cosine_m1: Array) -> Array:
    rest = c * cosine_m1
    rest -= s * sine
    rest += c
    return rest


def _sin_narrow(x: Array) -> Array:
    return _narrow_sine_of_sum(*_narrow_angle(x))


def _cos_narrow(x: Array) -> Array:
    return _narrow_cosine_of_sum(*_narrow_angle(x))


def _tan_narrow(x: Array) -> Array:
    angle = _narrow_angle(x)
    return np.asarray(_narrow_sine_of_sum(*angle) / _narrow_cosine_of_sum(*angle))


# Double-double for f64.

_MINUS_SIXTH = constants.pair(constants.quotient(-1, 6))


def _wide_angle(x: Array) -> tuple[Pair, Pair, Pair, Pair]:
    """Sine and cosine of the arc, then of the rest the sine and the cosine less 1; all within 2^-91.

    For |r| <= 2^-8.3: sin r = r + r q (-1/6 + w) with q = r^2 and w = q/120 - ..., below 2^-23 and so kept to
    2^-76, which stands for 2^-93 of r. cos r - 1 = q (-1/2 + v) likewise. The series are cut at
    r^11/11! < 2^-108 r and r^12/12! < 2^-128.
    """
    n, r = circle.reduced(x)
    s, s_low, c, c_low = (np.take(column, n) for column in _table())
    q = dd.multiply(r, r)
    w = q[0] * polynomial(q[0], 1 / 120, -1 / 5040, 1 / 362880)
    v = q[0] * polynomial(q[0], 1 / 24, -1 / 720, 1 / 40320, -1 / 3628800)
    cube = dd.multiply(q, dd.add_smaller(_MINUS_SIXTH, (w, 0.0)))
    sine = dd.add_smaller(r, dd.multiply(r, cube))
    return (s, s_low), (c, c_low), sine, dd.multiply(q, dd.fast_two_sum(-0.5, v))


def _sine_of_sum(s: Pair, c: Pair, sine: Pair, cosine_m1: Pair) -> Pair:
    # c is 0 or at least 2^-7.4, so that |c sin r| is 0 or at least four times |s (cos r - 1)|.
    return dd.add_smaller(s, dd.add_smaller(dd.multiply(c, sine), dd.multiply(s, cosine_m1)))


def _cosine_of_sum(s: Pair, c: Pair, sine: Pair, cosine_m1: Pair) -> Pair:
    return _sine_of_sum(c, dd.scale(s, -1.0), sine, cosine_m1)


def _sin_wide(x: Array) -> Scaled:
    return _sine_of_sum(*_wide_angle(x)), None


def _cos_wide(x: Array) -> Scaled:
    return _cosine_of_sum(*_wide_angle(x)), None


def _tan_wide(x: Array) -> Scaled:
    angle = _wide_angle(x)
    return dd.divide(_sine_of_sum(*angle), _cosine_of_sum(*angle)), None


SIN = Function("sin", "sin", _sin_narrow, 2.0**-48, _sin_wide, 2.0**-85, _odd_known)
COS = Function("cos", "cos", _cos_narrow, 2.0**-48, _cos_wide, 2.0**-85, _cos_known)
TAN = Function("tan", "tan", _tan_narrow, 2.0**-48, _tan_wide, 2.0**-85, _odd_known)
