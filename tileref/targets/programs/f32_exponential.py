"""exp in f32, and what hyperbolic functions take from it."""

from __future__ import annotations

import numpy as np

from ...formats import Array
from ...numerics.formats import F32
from ..hardware import ex2_approx_ftz_f32, flush, rcp_approx_ftz_f32
from .lanewise import fma, polynomial, program

f32 = np.float32

LOG2_E = f32(1.4426950216293335)
LOG2_E_REST = f32(1.925963033500011e-08)
LN_2 = f32(0.6931471824645996)
LN_2_REST = f32(-1.9046542121259336e-09)
POWERS = f32(252)
"""From the smallest to the largest power of two that a result is scaled by."""
LOWEST = -126


@program("exp", F32)
def exp(x: Array) -> Array:
    """A power of two by its exponent, and the rest, which lies around zero, by the hardware's.

    The power is found from x log2(e) mapped to [0, 1], so that it stays within bounds by saturating; a NaN
    saturates to 0.
    """
    place = np.fmax(np.minimum(fma(x, LOG2_E / POWERS, f32(0.5)), f32(1)), f32(0))
    # Exact, and rounded down by adding a number whose last bit counts one.
    power = (place.astype(np.float64) * POWERS).astype(np.int32) + np.int32(LOWEST)
    rest = fma(x, LOG2_E_REST, fma(x, LOG2_E, -power.astype(f32)))
    result: Array = ex2_approx_ftz_f32(rest) * _power_of_two(power)
    return result


def _power_of_two(exponent: Array) -> Array:
    """For exponents of normal f32."""
    bits: Array = (exponent + np.int32(127)) << np.int32(23)
    return bits.view(f32)


def quarter_exp(x: Array) -> Array:
    """A fourth of e to the power of ``x``, which is not negative: finite where the half of it is."""
    power = np.minimum(np.trunc(x * LOG2_E), f32(126))
    rest = fma(power, -LN_2_REST, fma(power, -LN_2, x)) * LOG2_E
    result: Array = ex2_approx_ftz_f32(rest) * _power_of_two(np.fmax(power, f32(0)).astype(np.int32) - 2)
    return result


@program("sinh", F32)
def sinh(x: Array) -> Array:
    """Half the difference of the exponentials; an odd polynomial below 1."""
    size = np.abs(x)
    quarter = quarter_exp(size)
    other = flush(f32(-0.125) * rcp_approx_ftz_f32(quarter))
    large = np.copysign(fma(quarter, f32(2), other), x)
    square = x * x
    series = polynomial(
        square, 2.8169511097075883e-06, 0.00019836159481201321, 0.008333349600434304, 0.1666666716337204
    )
    small = fma(square * series, x, x)
    return np.where(size >= 1, large, small)


@program("cosh", F32)
def cosh(x: Array) -> Array:
    """Half the sum of the exponentials."""
    quarter = quarter_exp(np.abs(x))
    return fma(quarter, f32(2), flush(f32(0.125) * rcp_approx_ftz_f32(quarter)))


@program("tanh", F32)
def tanh(x: Array) -> Array:
    """1 - 2 / (e^2x + 1), which is 1 from 9.01 on; an odd polynomial below 0.6."""
    size = np.abs(x)
    power = ex2_approx_ftz_f32(size * f32(2.885390043258667)) + f32(1)
    large = np.where(size >= f32(9.010913848876953), f32(1), fma(rcp_approx_ftz_f32(power), f32(-2), f32(1)))
    square = x * x
    series = polynomial(
        square, 0.01573968306183815, -0.05230396240949631, 0.1331529766321182, -0.33332768082618713, 0
    )
    return np.where(size >= f32(0.6), np.copysign(large, x), fma(series, x, x))
