"""sinh, cosh and tanh, from e^|x| = 2^k F.

sinh and tanh need e^|x| - 1 without cancellation; in double-double it comes out of the table step as
G = F - 2^-k, so that e^|x| - 1 = 2^k G and 1 - e^-|x| = G / F.
"""

from __future__ import annotations

import numpy as np

from tileref.numerics.formats import FloatFormat
from tileref.numerics.math import double_double as dd
from tileref.numerics.math import exponential
from tileref.numerics.math.double_double import Array, Pair
from tileref.numerics.math.evaluate import Function, Scaled, evaluate
from tileref.numerics.math.polynomial import polynomial
from tileref.numerics.math.rounding_test import power_of_two
from tileref.numerics.math.trigonometric import odd_known
from tileref.numerics.nan import NanRule, canonical


def sinh(x: Array, fmt: FloatFormat, nan: NanRule = canonical) -> Array:
    """The hyperbolic sine, correctly rounded to nearest even; ``x`` and the result in ``fmt``
    (f16, bf16, f32 or f64).
    """
    return evaluate(SINH, (x,), fmt, nan)


def cosh(x: Array, fmt: FloatFormat, nan: NanRule = canonical) -> Array:
    """The hyperbolic cosine, correctly rounded to nearest even; ``x`` and the result in ``fmt``
    (f16, bf16, f32 or f64).
    """
    return evaluate(COSH, (x,), fmt, nan)


def tanh(x: Array, fmt: FloatFormat, nan: NanRule = canonical) -> Array:
    """The hyperbolic tangent, correctly rounded to nearest even; ``x`` and the result in ``fmt``
    (f16, bf16, f32 or f64).
    """
    return evaluate(TANH, (x,), fmt, nan)


# float64 for the formats up to f32. sinh(95) and cosh(95) overflow all of them; tanh(20) is 1 - 2^-56.7,
# which rounds to 1 in every format, f64 included.

_SMALL = 0.25


def _sinh_series(x: Array) -> Array:
    """The sinh of x for |x| <= 0.25 within 2^-51: the series is cut at x^15/15! < 2^-68 x."""
    q = x * x
    series = polynomial(q, 1 / 6, 1 / 120, 1 / 5040, 1 / 362880, 1 / 39916800, 1 / 6227020800)
    series *= q
    series *= x
    series += x
    return series


def _sinh_narrow(x: Array) -> Array:
    """Above 0.25, e^x - e^-x is at least 1 / 4.1 of their sum, so errors of 2^-50 grow to 2^-47.9."""
    magnitude = np.abs(x)
    e = exponential.exp_narrow(np.minimum(magnitude, 95.0))
    result = np.copysign(0.5 * (e - 1.0 / e), x)
    small = np.flatnonzero(magnitude < _SMALL)
    result[small] = _sinh_series(x[small])
    return result


def _cosh_narrow(x: Array) -> Array:
    e = exponential.exp_narrow(np.minimum(np.abs(x), 95.0))
    return np.asarray(0.5 * (e + 1.0 / e))


def _tanh_narrow(x: Array) -> Array:
    """1 - 2 / (e^2x + 1) from 0.25 up, where it is at least 0.24; sinh / sqrt(1 + sinh^2) below."""
    magnitude = np.abs(x)
    e = exponential.exp_narrow(2.0 * np.minimum(magnitude, 20.0))
    e += 1.0
    result = np.copysign(1.0 - 2.0 / e, x)
    small = np.flatnonzero(magnitude < _SMALL)
    s = _sinh_series(x[small])
    result[small] = s / np.sqrt(1.0 + s * s)
    return result


# Double-double for f64. No sum below cancels: every relative error stays near that of e^r - 1, 2^-92.


def _wide_exponential(magnitude: Array) -> tuple[Pair, Pair, Array]:
    """F, G and k. F - 2^-k before the rise is 0, or at least twice the rise."""
    n, r = exponential.reduced(magnitude)
    k, step = exponential.binade_and_step(n)
    rise = dd.multiply(step, exponential.expm1_of_rest(r))
    less = dd.two_sum(step[0], -power_of_two(-np.minimum(k, 200)))
    return dd.add_smaller(step, rise), dd.add_smaller((less[0], less[1] + step[1]), rise), k


def _signed(value: Pair, x: Array) -> Pair:
    return dd.scale(value, np.copysign(1.0, x))


def _sinh_wide(x: Array) -> Scaled:
    """2^(k-1) (G + 2^-k G / F). From 711 up the result overflows."""
    f, g, k = _wide_exponential(np.minimum(np.abs(x), 711.0))
    falling = dd.scale(dd.divide(g, f), power_of_two(-np.minimum(k, 200)))
    return _signed(dd.add_smaller(g, falling), x), k - 1


def _cosh_wide(x: Array) -> Scaled:
    """2^(k-1) (F + 2^-2k / F)."""
    f, _, k = _wide_exponential(np.minimum(np.abs(x), 711.0))
    falling = dd.divide((power_of_two(-2 * np.minimum(k, 200)), 0.0), f)
    return dd.add_smaller(f, falling), k - 1


def _tanh_wide(x: Array) -> Scaled:
    """G / (G + 2^(1-k)), which is (e^2x - 1) / (e^2x + 1)."""
    _, g, k = _wide_exponential(2.0 * np.minimum(np.abs(x), 20.0))
    return _signed(dd.divide(g, dd.add_double(g, power_of_two(1 - k))), x), None


SINH = Function("sinh", "sinh", _sinh_narrow, 2.0**-46, _sinh_wide, 2.0**-88, odd_known)
COSH = Function("cosh", "cosh", _cosh_narrow, 2.0**-48, _cosh_wide, 2.0**-95)
TANH = Function("tanh", "tanh", _tanh_narrow, 2.0**-46, _tanh_wide, 2.0**-88, odd_known)
