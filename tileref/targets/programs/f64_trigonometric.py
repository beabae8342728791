"""sin, cos and tan of f64: a polynomial of the angle that is left of a quarter turn."""

from __future__ import annotations

import numpy as np

from ...formats import Array
from ...numerics.formats import F64
from .f64_parts import patterns, reciprocal
from .f64_quarter_turns import reduced
from .lanewise import fma, polynomial, program

SINE = patterns(
    0x3DE5DB65F9785EBA,
    0xBE5AE5F12CB0D246,
    0x3EC71DE369ACE392,
    0xBF2A01A019DB62A1,
    0x3F81111111110818,
    0xBFC5555555555554,
    0x0000000000000000,
)
"""Of sin(x) / x - 1, in the square of x."""
COSINE = patterns(
    0xBDA8FF8320FD8164,
    0x3E21EEA7C1EF8528,
    0xBE927E4F8E06E6D9,
    0x3EFA01A019DDBCE9,
    0xBF56C16C16C15D47,
    0x3FA5555555555551,
    0xBFE0000000000000,
    0x3FF0000000000000,
)
TANGENT = patterns(
    0x3EE48DAC2799BCB9,
    0xBEF9757C5B27EBB1,
    0x3F0980E90FD91E04,
    0xBEFAE2B0417D7E1D,
    0x3F119F5341BFBA57,
    0x3F15E791A00F6919,
    0x3F2FF2E7FADEC73A,
    0x3F434BC1B206DA62,
    0x3F57DB18EF2F83F9,
    0x3F6D6D2E7AE49FBC,
    0x3F8226E3A816A776,
    0x3F9664F485D25660,
    0x3FABA1BA1BABF31D,
    0x3FC11111111105D2,
    0x3FD555555555555E,
)
"""Of (tan(x) / x - 1) / x^2, in the square of x."""


def _turned(x: Array, more: int) -> Array:
    """The sine of ``x`` and so many quarter turns more."""
    quarters, rest = reduced(x)
    quarters += more
    square = rest * rest
    odd = (quarters & 1).astype(np.bool_)
    result = np.empty_like(rest)
    result[odd] = polynomial(square[odd], *COSINE)
    result[~odd] = fma(polynomial(square[~odd], *SINE), rest[~odd], rest[~odd])
    return np.where((quarters & 2) != 0, 0.0 - result, result)


@program("sin", F64)
def sin(x: Array) -> Array:
    """The sine."""
    return _turned(x, 0)


@program("cos", F64)
def cos(x: Array) -> Array:
    """The cosine: the sine a quarter turn on."""
    return _turned(x, 1)


def _negative_reciprocal(nearest: Array, tail: Array, rest: Array) -> Array:
    """-1 / (``tail`` ``rest`` + ``rest``), whose sum, rounded, is ``nearest``."""
    lost = fma(tail, rest, -(nearest - rest))
    inverse = -reciprocal(nearest)
    return fma(fma(inverse, lost, fma(nearest, inverse, np.float64(1))), inverse, inverse)


@program("tan", F64)
def tan(x: Array) -> Array:
    """The tangent: a polynomial, or minus its reciprocal after an odd number of quarter turns."""
    quarters, rest = reduced(x)
    square = rest * rest
    tail = polynomial(square, *TANGENT) * square
    result = fma(tail, rest, rest)
    odd = (quarters & 1).astype(np.bool_)
    result[odd] = _negative_reciprocal(result[odd], tail[odd], rest[odd])
    return result
