"""sin, cos and tan in f32."""

from __future__ import annotations

import numpy as np

from ...formats import Array
from ...numerics.formats import F32
from ..hardware import rcp_approx_ftz_f32
from .lanewise import fma, polynomial, program

f32 = np.float32
u64 = np.uint64

TWO_OVER_PI = f32(0.63661974668502808)
HALF_PI = (f32(1.5707962512969971), f32(7.5497894158615964e-08), f32(5.3903029534742384e-15))
LARGE = f32(105615)
"""From here on three parts of pi / 2 are too few."""
WORDS = (0x3C439041, 0xDB629599, 0xF534DDC0, 0xFC2757D1, 0x4E441529, 0xA2F9836E)
"""2 / pi times 2^192, the lowest word first."""
UNIT = np.array(0x3BF921FB54442D19, u64).view(np.float64)
"""pi / 2 times 2^-62."""
LOW_WORD = u64(0xFFFFFFFF)


@program("sin", F32)
def sin(x: Array) -> Array:
    """The sine or the cosine of the rest, by the quadrant."""
    return _of_quadrant(*reduced(x))


@program("cos", F32)
def cos(x: Array) -> Array:
    """The sine a quadrant further."""
    quadrant, rest = reduced(x)
    return _of_quadrant(quadrant + 1, rest)


@program("tan", F32)
def tan(x: Array) -> Array:
    """An odd polynomial; in odd quadrants the reciprocal of its negative."""
    quadrant, rest = reduced(x)
    square = rest * rest
    series = polynomial(
        square,
        *(0.00933837890625, 0.003265380859375, 0.0242919921875, 0.053466796875),
        *(0.13337790966033936, 0.33333230018615723),
    )
    tangent = fma(series, square * rest, rest)
    # One argument for which the polynomial errs.
    tangent = np.where(np.abs(rest) == f32(0.00049096695147454739), rest, tangent)
    return np.where(quadrant & 1 != 0, rcp_approx_ftz_f32(-tangent), tangent)


def _of_quadrant(quadrant: Array, rest: Array) -> Array:
    cosine = quadrant & 1 != 0
    square = rest * rest
    start = np.where(cosine, f32(1), rest)
    series = np.where(
        cosine,
        fma(square, f32(2.4279579520225525e-05), f32(-0.0013887860113754869)),
        f32(-0.00019574658654164523),
    )
    series = fma(series, square, np.where(cosine, f32(0.041666727513074875), f32(0.00833270326256752)))
    series = fma(series, square, np.where(cosine, f32(-0.4999999701976776), f32(-0.16666662693023682)))
    result = fma(series, fma(square, start, f32(0)), start)
    return np.where(quadrant & 2 == 0, result, f32(0) - result)


def reduced(x: Array) -> tuple[Array, Array]:
    """The number of quarter turns next to ``x``, and what is left: within pi / 4 of zero, or little more."""
    # Converted to an integer and back, which a zero leaves without its sign.
    turns = np.rint(x * TWO_OVER_PI) + f32(0)
    rest = x
    for part in HALF_PI:
        rest = fma(turns, -part, rest)
    quadrant = np.where(np.abs(turns) < 2**30, turns, 0).astype(np.int32)
    large = np.abs(x) >= LARGE
    if large.any():
        finite = large & np.isfinite(x)
        quadrant[finite], rest[finite] = _reduced_exactly(x[finite])
        # Zero times infinity.
        rest[large & ~finite] = f32(np.nan)
        quadrant[large & ~finite] = 0
    return quadrant, rest


def _reduced_exactly(x: Array) -> tuple[Array, Array]:
    """The same with as many bits of 2 / pi as count, by integers: Payne and Hanek's reduction."""
    bits = x.view(np.uint32)
    significand = ((bits << np.uint32(8)) | np.uint32(1 << 31)).astype(u64)
    words, carry = [], np.zeros(x.shape, u64)
    for word in WORDS:
        carry = significand * u64(word) + carry
        words.append(carry & LOW_WORD)
        carry >>= u64(32)
    product = np.stack([*words, carry])
    exponent = (bits >> np.uint32(23)) & np.uint32(0xFF)
    first = 6 - ((exponent & np.uint32(0xE0)).astype(np.int64) - 0x80) // 32
    lanes = np.arange(x.size)
    high, middle, low = (product[first - k, lanes] for k in range(3))
    shift = (exponent & np.uint32(31)).astype(u64)
    value = (high << u64(32)) | middle
    value = np.where(shift == 0, value, (value << shift) | (low >> (u64(32) - shift)))
    quadrant = (value >> u64(62)).astype(np.int32)
    # The fraction of a quarter turn, signed: the next one's where it is above a half.
    fraction = (value << u64(2)).view(np.int64)
    quadrant += (fraction < 0).astype(np.int32)
    negative = np.signbit(x)
    quadrant = np.where(negative, -quadrant, quadrant)
    size = np.where(fraction < 0, ~fraction, fraction)
    angle = (size.astype(np.float64) * UNIT).astype(f32)
    return quadrant, np.where(negative != (fraction < 0), -angle, angle)
