"""exp and exp2 of f64: 2 to an integer times a polynomial of the rest."""

from __future__ import annotations

import numpy as np

from ...formats import Array
from ...numerics.formats import F64
from .f64_parts import (
    INFINITY,
    LN2,
    LN2_REST,
    LOG2_E,
    SHIFTER,
    add_to_exponent,
    high,
    high_magnitude,
    low,
    patterns,
    power_of_two,
)
from .lanewise import fma, polynomial, program

EXPONENTIAL = patterns(
    0x3E5ADE1569CE2BDF,
    0x3E928AF3FCA213EA,
    0x3EC71DEE62401315,
    0x3EFA01997C89EB71,
    0x3F2A01A014761F65,
    0x3F56C16C1852B7AF,
    0x3F81111111122322,
    0x3FA55555555502A1,
    0x3FC5555555555511,
    0x3FE000000000000B,
    0x3FF0000000000000,
    0x3FF0000000000000,
)
"""Of E to a power within ln(2) / 2 of zero."""
EXP_SURELY_NORMAL, EXP_IN_RANGE = 0x4086232B, 0x40874800
"""High words of 708.396 and 745: below the first the answer is normal, from the second on 0 or infinite."""
EXP2_SURELY_NORMAL, EXP2_IN_RANGE = 0x408FF000, 0x4090CC00
"""High words of 1022 and 1075, likewise."""


def split(x: Array) -> tuple[Array, Array]:
    """The integer nearest to ``x`` / ln(2), and ``x`` less that many ln(2), from two parts of it."""
    shifted = fma(x, LOG2_E, SHIFTER)
    whole = shifted - SHIFTER
    return low(shifted), fma(-whole, LN2_REST, fma(-whole, LN2, x))


def _scaled(part: Array, power: Array, x: Array, surely_normal: int, in_range: int, beyond: Array) -> Array:
    """``part`` times 2 to ``power``, in two steps where the answer may be subnormal or infinite."""
    result = add_to_exponent(part, power)
    magnitude = high_magnitude(x)
    rare = np.flatnonzero(magnitude >= surely_normal)
    if rare.size:
        half = (power[rare] + (power[rare] < 0)) >> 1
        twice = add_to_exponent(part[rare], half) * power_of_two(power[rare] - half)
        result[rare] = np.where(magnitude[rare] < in_range, twice, beyond[rare])
    return result


def exponential(x: Array) -> Array:
    """E to a power."""
    power, rest = split(x)
    beyond = np.where(x < 0, 0.0, x + INFINITY)
    part = polynomial(rest, *EXPONENTIAL)
    return _scaled(part, power, x, EXP_SURELY_NORMAL, EXP_IN_RANGE, beyond)


@program("exp2", F64)
def exp2(x: Array) -> Array:
    """2 to a power."""
    shifted = x + SHIFTER
    rest = x - (shifted - SHIFTER)
    rest = fma(rest, LN2, rest * LN2_REST)
    beyond = np.where(np.isnan(x), x, np.where(high(x) < 0, 0.0, INFINITY))
    part = polynomial(rest, *EXPONENTIAL)
    return _scaled(part, low(shifted), x, EXP2_SURELY_NORMAL, EXP2_IN_RANGE, beyond)


@program("exp", F64)
def exp(x: Array) -> Array:
    """E to a power."""
    return exponential(x)
