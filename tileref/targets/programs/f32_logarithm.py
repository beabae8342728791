"""log and log2 in f32."""

from __future__ import annotations

import numpy as np

from ...formats import Array
from ...numerics.formats import F32
from .lanewise import fma, polynomial, program

f32 = np.float32

SMALLEST_NORMAL = f32(2.0**-126)


def parts(x: Array, least: int, scale: int = 23) -> tuple[Array, Array, Array]:
    """Exponent, and significand less one, of positive ``x``; and ``x``, scaled if it was subnormal.

    ``least`` is the pattern of the smallest significand, below one: others are in [least, 2 least).
    """
    small = x < SMALLEST_NORMAL
    scaled = np.where(small, x * f32(2.0**scale), x)
    bits = scaled.view(np.int32)
    field = (bits - np.int32(least)) & np.int32(-1 << 23)
    exponent = fma(field.astype(f32), f32(2.0**-23), np.where(small, f32(-scale), f32(0)))
    return exponent, (bits - field).view(f32) - f32(1), scaled


def _specials(result: Array, x: Array) -> Array:
    """``result`` but for what is no positive number: -infinity of zeros, infinity of itself, else NaN."""
    result = np.where(x.view(np.uint32) > np.uint32(0x7F7FFFFF), fma(x, f32(np.inf), f32(np.inf)), result)
    return np.where(x == 0, f32(-np.inf), result)


@program("log", F32)
def log(x: Array) -> Array:
    """A polynomial of the significand, in [2/3, 4/3), and the exponent's part."""
    exponent, y, scaled = parts(x, 0x3F2AAAAB)
    series = polynomial(
        y,
        *(-0.13018856942653656, 0.14084610342979431, -0.12148627638816833, 0.1398061066866821),
        *(-0.16684235632419586, 0.20012299716472626, -0.24999669194221497, 0.33333182334899902, -0.5),
    )
    result = fma(exponent, f32(0.6931471824645996), fma(y * series, y, y))
    return _specials(result, scaled)


@program("log2", F32)
def log2(x: Array) -> Array:
    """A polynomial of the significand, in [1/sqrt(2), sqrt(2)), and the exponent."""
    exponent, y, scaled = parts(x, 0x3F3504F3)
    series = polynomial(
        y,
        *(0.09702014178037643, -0.1684539318084717, 0.1716887056827545, -0.17900948226451874),
        *(0.2051237225532532, -0.24046532809734344, 0.28857114911079407, -0.36067417263984680),
        *(0.48089820146560669, -0.72134751081466675),
    )
    result = exponent + fma(y, f32(1.4426950216293335), y * (y * series))
    return _specials(result, scaled)
