"""sinh, cosh and tanh of f64: polynomials near zero, and what remains of two exponentials elsewhere."""

from __future__ import annotations

import numpy as np

from ...formats import Array
from ...numerics.formats import F64
from .. import hardware
from .f64_exponential import EXPONENTIAL, split
from .f64_parts import (
    INFINITY,
    LN2,
    add_to_exponent,
    high_magnitude,
    patterns,
    power_of_two,
    reciprocal,
    with_sign_of,
)
from .lanewise import fma, polynomial, program

F32 = np.float32
LOG2_E_F32 = F32(1.4426950408889634)
SINH = patterns(
    0x3D6B4C75AB274C53,
    0x3DE611A561D87DEF,
    0x3E5AE64671B18F5C,
    0x3EC71DE3A465B1E4,
    0x3F2A01A01A02899D,
    0x3F811111111110A6,
    0x3FC5555555555556,
)
"""Of (sinh(x) / x - 1) / x^2, in the square of x."""
LESS_ONE = patterns(
    0x3E21F4076ACD15B6,
    0x3E5AF86D8EBD13CD,
    0x3E927E5092BA033D,
    0x3EC71DDE6C5F9DA1,
    0x3EFA01A018D034E6,
    0x3F2A01A01B3B6940,
    0x3F56C16C16C1B5DD,
    0x3F8111111110F74D,
    0x3FA555555555554D,
    0x3FC5555555555557,
    0x3FE0000000000000,
)
"""Of (e^x - 1 - x) / x^2, for sinh."""
TANH_LESS_ONE = patterns(
    0x3E5AE904A4741B81,
    0x3E928A27F89B6999,
    0x3EC71DE715FF7E07,
    0x3EFA019A6B0AC45A,
    0x3F2A01A017EED94F,
    0x3F56C16C17F2A71B,
    0x3F811111111173C4,
    0x3FA555555555211A,
    0x3FC5555555555540,
    0x3FE0000000000005,
)
"""The same, for tanh."""
TANH = patterns(
    0xBEF0BC46E2F5E964,
    0x3F14359F420AFC3D,
    0xBF2DF9F0728C5D84,
    0x3F4337D1CEC4F033,
    0xBF57D6E9674335B3,
    0x3F6D6D000D7AAD3D,
    0xBF8226E1F3CF1EF5,
    0x3F9664F47EC0C8CF,
    0xBFABA1BA1B80AB40,
    0x3FC111111110FA4A,
    0xBFD5555555555550,
    0x0000000000000000,
)
"""Of tanh(x) / x - 1, in the square of x."""
(OVERFLOW, TANH_FROM) = patterns(0x408633CE8FB9F87E, 0x3FE4F92224DD2F1A)
COSH_IN_RANGE, TANH_BELOW_ONE = 0x408633CF, 0x40330FC2
"""High words of 710.475 and 19.0615: where cosh overflows, and where tanh is 1."""


@program("cosh", F64)
def cosh(x: Array) -> Array:
    """A quarter of the exponential, and a sixteenth of that one's reciprocal, doubled."""
    magnitude = np.abs(x)
    power, rest = split(magnitude)
    quarter = add_to_exponent(polynomial(rest, *EXPONENTIAL), power - 2)
    half = fma(reciprocal(quarter), np.float64(0.0625), quarter)
    half = np.where(high_magnitude(magnitude) < COSH_IN_RANGE, half, INFINITY)
    return np.where(np.isnan(x), x, half + half)


def _half_less(x: Array) -> Array:
    """(e^x - 1) / 2, for positive ``x`` that does not make it overflow."""
    power, rest = split(x)
    power = power - 1
    less = fma(polynomial(rest, *LESS_ONE) * rest, rest, rest)
    # 2^1024 is none: half of it, and the answer doubled.
    topmost = power == 1024
    scale = power_of_two(power - topmost)
    half = fma(less, scale, scale - 0.5)
    return np.where(topmost, half + half, half)


def _sinh_of_magnitude(x: Array) -> Array:
    square = x * x
    result = fma(polynomial(square, *SINH) * square, x, x)
    lanes = np.flatnonzero(x >= 1)
    if lanes.size:
        large = x[lanes]
        half = _half_less(large)
        both = half + half / fma(half, np.float64(2), np.float64(1))
        result[lanes] = np.where(large >= OVERFLOW, INFINITY, both)
    return result


@program("sinh", F64)
def sinh(x: Array) -> Array:
    """A polynomial below 1, and h + h / (2 h + 1) with h = (e^x - 1) / 2 from there on."""
    return with_sign_of(_sinh_of_magnitude(np.abs(x)), x)


def _tanh_of_large(x: Array) -> Array:
    """1 - 2 / (e^2x + 1), where the exponential's power of two is the special function unit's."""
    twice = x + x
    whole = np.rint(twice.astype(F32) * LOG2_E_F32)
    rest = fma(-whole.astype(np.float64), LN2, twice)
    less = fma(polynomial(rest, *TANH_LESS_ONE) * rest, rest, rest)
    scale = hardware.ex2_approx_ftz_f32(whole).astype(np.float64)
    more = 2 - fma(-less, scale, 1 - scale)
    result = fma(-reciprocal(more), np.float64(2), np.float64(1))
    return np.where(high_magnitude(x) < TANH_BELOW_ONE, result, 1.0)


@program("tanh", F64)
def tanh(x: Array) -> Array:
    """A polynomial below 0.655, and 1 less two reciprocals of an exponential from there on."""
    square = x * x
    result = fma(polynomial(square, *TANH), x, x)
    lanes = np.flatnonzero(np.abs(x) >= TANH_FROM)
    if lanes.size:
        result[lanes] = with_sign_of(_tanh_of_large(np.abs(x[lanes])), x[lanes])
    return result
