"""atan2 of f64: a polynomial of the smaller magnitude divided by the larger, turned into its octant."""

from __future__ import annotations

import numpy as np

from ...formats import Array
from ...numerics.formats import F64
from .f64_parts import patterns, with_sign_of
from .lanewise import fma, polynomial, program

ARCTANGENT = patterns(
    0xBEF53E1D2A25FF7E,
    0x3F2D3B63DBB65B49,
    0xBF5312788DDE082E,
    0x3F6F9690C8249315,
    0xBF82CF5AABC7CF0D,
    0x3F9162B0B2A3BFDE,
    0xBF9A7256FEB6FC6B,
    0x3FA171560CE4A489,
    0xBFA4F44D841450E4,
    0x3FA7EE3D3F36BB95,
    0xBFAAD32AE04A9FD1,
    0x3FAE17813D66954F,
    0xBFB11089CA9A5BCD,
    0x3FB3B12B2DB51738,
    0xBFB745D022F8DC5C,
    0x3FBC71C709DFE927,
    0xBFC2492491FA1744,
    0x3FC99999999840D2,
    0xBFD555555555544C,
)
"""Of (atan(x) / x - 1) / x^2, in the square of x."""
QUARTER_PI, HALF_PI, THREE_QUARTERS_PI, PI = patterns(
    0x3FE921FB54442D18, 0x3FF921FB54442D18, 0x4002D97C7F3321D2, 0x400921FB54442D18
)


@program("atan2", F64)
def atan2(y: Array, x: Array) -> Array:
    """The angle of the point ``x``, ``y``."""
    tall, wide = np.abs(y), np.abs(x)
    steep = tall > wide
    larger, smaller = np.where(steep, tall, wide), np.where(steep, wide, tall)
    quotient = smaller / larger
    square = quotient * quotient
    first = fma(polynomial(square, *ARCTANGENT) * square, quotient, quotient)
    left = np.signbit(x)
    angle = np.where(steep, HALF_PI + np.where(left, first, -first), np.where(left, PI - first, first))
    # Two zeros and two infinities have no quotient.
    angle = np.where(tall == wide, np.where(left, THREE_QUARTERS_PI, QUARTER_PI), angle)
    angle = np.where(larger == 0, np.where(left, PI, 0.0), angle)
    return np.where(np.isnan(x) | np.isnan(y), x + y, with_sign_of(angle, y))
