"""pow of f64: e to the exponent times the base's logarithm, which is a sum of two f64 until the very end."""

from __future__ import annotations

import numpy as np

from ...formats import Array
from ...numerics.formats import F64
from .f64_exponential import exponential
from .f64_logarithm import TO_NORMAL, ratio, significand_around_one
from .f64_parts import INFINITY, LN2, LN2_REST, add_to_exponent, high, high_magnitude, patterns
from .lanewise import fma, polynomial, program

Pair = tuple[Array, Array]
"""A sum of two f64, the larger first."""

ARTANH = patterns(
    0x3EB0F5FF7D2CAFE2,
    0x3ED0F5D241AD3B5A,
    0x3EF3B20A75488A3F,
    0x3F1745CDE4FAECD5,
    0x3F3C71C7258A578B,
    0x3F6249249242B910,
    0x3F89999999999DFB,
)
(TWELFTH, TWELFTH_REST) = patterns(0x3FB5555555555555, 0xBC46A4CB00B9E7B0)
"""The first coefficient of 2 artanh(x / 2) - x, in two parts; the others are ``ARTANH``."""
HUGE_POWER = 0x7F000000
"""The high word from which on an exponent is made smaller, so that no product with it overflows."""
LESS_HUGE = np.int64(~(0x00F00000 << 32))


def _sum(large: Array, small: Array) -> Pair:
    """Their sum and its error, where the first is the larger."""
    total = large + small
    return total, (large - total) + small


def _product(a: Array, b: Array) -> Pair:
    """Their product and its error."""
    product = a * b
    return product, fma(a, b, -product)


def _artanh_term(square: Array) -> Pair:
    """The sum of the series' coefficients times powers of ``square``, the first one in two parts."""
    others = polynomial(square, *ARTANH) * square
    total = others + TWELFTH
    return _sum(total, (others + (TWELFTH - total)) + TWELFTH_REST)


def _logarithm(x: Array) -> Pair:
    """The logarithm of positive finite ``x``; of others, bits that mean nothing."""
    subnormal = high(x) < 1 << 20
    significand, exponent = significand_around_one(np.where(subnormal, x * TO_NORMAL, x))
    power = (exponent - 54 * subnormal).astype(np.float64)
    twice, lost = ratio(significand)
    coefficient, coefficient_rest = _artanh_term(twice * twice)
    square, square_rest = _product(twice, twice)
    square_rest = fma(twice, add_to_exponent(lost, 1), square_rest)
    cube, cube_rest = _product(square, twice)
    cube_rest = fma(square_rest, twice, fma(square, lost, cube_rest))
    term, term_rest = _product(coefficient, cube)
    term_rest = fma(coefficient_rest, cube, fma(coefficient, cube_rest, term_rest))
    term, term_rest = _sum(term, term_rest)
    total, error = _sum(twice, term)
    total, error = _sum(total, (error + term_rest) + lost)
    with_power = fma(power, LN2, total)
    taken = fma(-power, LN2, with_power) - total
    return _sum(with_power, fma(power, LN2_REST, error - taken))


def _less_huge(y: Array) -> Array:
    """Powers from 2^993 on made smaller: a base that is not 1 leaves the range with them anyway."""
    bits = np.ascontiguousarray(y).view(np.int64)
    less = np.where(high_magnitude(y) >= HUGE_POWER, bits & LESS_HUGE, bits)
    return less.view(np.float64)


def _of_magnitudes(x: Array, y: Array) -> Array:
    """``x`` to the power ``y``, for positive finite ``x``."""
    logarithm, rest = _logarithm(x)
    y = _less_huge(y)
    product, product_rest = _product(logarithm, y)
    product, product_rest = _sum(product, fma(rest, y, product_rest))
    result = exponential(product)
    # The rest of the product is so small that its exponential is one more.
    return np.where(np.isinf(result), result, fma(result, product_rest, result))


def _is_odd(y: Array) -> Array:
    """Whether ``y`` is an odd integer."""
    halved = y * 0.5
    odd: Array = (np.trunc(y) == y) & (np.trunc(halved) != halved) & np.isfinite(y)
    return odd


@program("fpowf", F64)
def pow_(x: Array, y: Array) -> Array:
    """``x`` to the power ``y``."""
    odd, negative = _is_odd(y), np.signbit(x)
    magnitude = np.abs(x)
    result = _of_magnitudes(magnitude, y)
    result = np.where(negative & odd, -result, result)
    result = np.where(negative & (np.trunc(y) != y), np.nan, result)
    # Bases 0 and infinity: again 0 or infinity, with the base's sign if the exponent is odd.
    limit = np.where((x == 0) == np.signbit(y), INFINITY, 0.0)
    limit = np.where(negative & odd, -limit, limit)
    result = np.where((x == 0) | np.isinf(x), limit, result)
    # Exponents without end: 0 or infinity, by the side of 1 that the base's magnitude lies on.
    endless = np.where((magnitude > 1) == ~np.signbit(y), INFINITY, 0.0)
    result = np.where(np.isinf(y), np.where(x == -1, 1.0, endless), result)
    result = np.where(np.isnan(x) | np.isnan(y), np.nan, result)
    return np.where((x == 1) | (y == 0), 1.0, result)
