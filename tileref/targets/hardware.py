"""Approximations that a GPU's special function unit answers, as tables asked of the hardware itself.

A table holds one entry for every significand the unit tells apart. It is kept as its difference from a base
that exactly rounded arithmetic makes of the same argument, the same on every host, which is small and
compresses well. ``docs/models.md`` says how each was asked for.

Functions named after a PTX instruction answer what that instruction does, NaNs apart: those are whatever the
model's rule says.
"""

from __future__ import annotations

import lzma
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from ..formats import Array

F32 = np.float32
SMALLEST_NORMAL = F32(2.0**-126)
SIGNIFICANDS = 1 << 23
HIGH = np.uint64(0xFFFFFFFF00000000)
"""The bits of an f64 that the unit sees and answers; its low word is zero."""


@cache
def _differences(name: str) -> NDArray[np.int8]:
    """The table called ``name``, one small integer an entry."""
    data = files(__package__).joinpath("data", f"sm_90_{name}.xz").read_bytes()
    return np.frombuffer(lzma.decompress(data), np.int8)


def flush(x: Array) -> Array:
    """f32 with subnormals turned to zeros of their sign."""
    return np.where(np.abs(x) < SMALLEST_NORMAL, np.copysign(F32(0), x), x)


def _parts(x: Array) -> tuple[Array, Array, Array]:
    """Significand number, exponent, and the significand in [1, 2), of normal f32."""
    bits = np.asarray(x, F32).view(np.uint32)
    number = bits & np.uint32(SIGNIFICANDS - 1)
    exponent = ((bits >> np.uint32(23)) & np.uint32(0xFF)).astype(np.int32) - 127
    return number, exponent, (number | np.uint32(127 << 23)).view(F32)


def _corrected(base: Array, difference: Array) -> Array:
    """``base`` moved by so many units in the last place, in f64 to be scaled without rounding."""
    return (base.view(np.int32) + difference).view(F32).astype(np.float64)


def _scaled(bits: Array, exponent: Array) -> Array:
    """f32 near 1, given as bits, times powers of two; flushed below the normal range, infinite above it.

    The exponents must lie within 250 of zero.
    """
    exponent <<= np.int32(23)
    exponent += bits
    np.maximum(exponent, 0, out=exponent)
    np.minimum(exponent, INFINITY, out=exponent)
    exponent[exponent < 1 << 23] = 0
    return exponent.view(F32)


INFINITY = np.int32(0x7F800000)


def rcp_approx_ftz_f32(x: Array) -> Array:
    """``rcp.approx.ftz.f32``: depends on the significand alone; within 1 ulp."""
    x = np.asarray(x, F32)
    bits = x.view(np.int32)
    number = bits & np.int32(SIGNIFICANDS - 1)
    base = (F32(1) / (number | np.int32(127 << 23)).view(F32)).view(np.int32)
    base += _differences("rcp_f32").take(number, mode="clip")
    exponent = np.int32(127) - ((bits >> np.int32(23)) & np.int32(0xFF))
    result = np.copysign(_scaled(base, exponent), x)
    size = bits & np.int32(0x7FFFFFFF)
    special = (size < 1 << 23) | (size >= INFINITY)
    if special.any():
        with np.errstate(all="ignore"):
            result[special] = F32(1) / flush(x[special])
    return result


def _root_parts(x: Array) -> tuple[Array, Array, Array]:
    """Entry of a table over [1, 4), half the exponent that is left, and the significand in [1, 4)."""
    number, exponent, significand = _parts(x)
    odd = exponent & 1
    return number + odd * SIGNIFICANDS, (exponent - odd) >> 1, significand * (1 + odd).astype(F32)


def rsqrt_approx_ftz_f32(x: Array) -> Array:
    """``rsqrt.approx.ftz.f32``: depends on the significand and on whether the exponent is odd."""
    x = flush(x)
    entry, half, significand = _root_parts(x)
    with np.errstate(all="ignore"):
        root = (1 / np.sqrt(significand.astype(np.float64))).astype(F32)
        result = np.ldexp(_corrected(root, _differences("rsqrt_f32")[entry]), -half).astype(F32)
        return np.where((x > 0) & np.isfinite(x), result, F32(1) / np.sqrt(x))


def rsqrt_approx_f32(x: Array) -> Array:
    """``rsqrt.approx.f32``: subnormal arguments are scaled first."""
    small = np.abs(x) < SMALLEST_NORMAL
    result = rsqrt_approx_ftz_f32(np.where(small, x * F32(2.0**24), x))
    return np.where(small, result * F32(2.0**12), result)


def sqrt_approx_ftz_f32(x: Array) -> Array:
    """``sqrt.approx.ftz.f32``: depends on the significand and on whether the exponent is odd."""
    x = flush(x)
    entry, half, significand = _root_parts(x)
    with np.errstate(all="ignore"):
        base = _corrected(np.sqrt(significand), _differences("sqrt_f32")[entry])
        result = np.ldexp(base, half).astype(F32)
        return np.where((x > 0) & np.isfinite(x), result, np.sqrt(x))


def sqrt_approx_f32(x: Array) -> Array:
    """``sqrt.approx.f32``: subnormal arguments are scaled first."""
    small = np.abs(x) < SMALLEST_NORMAL
    result = sqrt_approx_ftz_f32(np.where(small, x * F32(2.0**24), x))
    return np.where(small, result * F32(2.0**-12), result)


EXPONENTIAL = tuple(0.6931471805599453**n for n in range(13))
FACTORIALS = (1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880, 3628800, 39916800, 479001600)


def _exponential_base(fraction: Array) -> Array:
    """2 to a fraction in [0, 1), to about 40 bits and the same on every host, rounded to f32."""
    total = np.full(fraction.shape, EXPONENTIAL[12] / FACTORIALS[12])
    for n in range(11, -1, -1):
        total *= fraction
        total += EXPONENTIAL[n] / FACTORIALS[n]
    return total.astype(F32)


class _Exponentials:
    """2 to every fraction that the unit tells apart, as bits of f32: worked out, and kept once that pays."""

    def __init__(self) -> None:
        self._asked = 0
        self._kept: NDArray[np.int32] | None = None

    def __call__(self, entry: NDArray[np.int32]) -> NDArray[np.int32]:
        if self._kept is None:
            self._asked += entry.size
            if self._asked < SIGNIFICANDS // 8:
                return self._worked_out(entry)
            kept = np.empty(SIGNIFICANDS, np.int32)
            for first in range(0, SIGNIFICANDS, 1 << 14):
                part = slice(first, first + (1 << 14))
                kept[part] = self._worked_out(np.arange(part.start, part.stop, dtype=np.int32))
            self._kept = kept
        return self._kept.take(entry, mode="clip")

    @staticmethod
    def _worked_out(entry: NDArray[np.int32]) -> NDArray[np.int32]:
        bits = _exponential_base(entry / SIGNIFICANDS).view(np.int32)
        bits += _differences("ex2_f32").take(entry, mode="clip")
        return bits


_exponentials = _Exponentials()


def ex2_approx_ftz_f32(x: Array) -> Array:
    """``ex2.approx.ftz.f32``: depends on the fraction in steps of 2^-23, scaled by the integer part.

    The fraction of a negative argument is the one's complement of its magnitude's, unless that is zero.
    """
    x = np.asarray(x, F32)
    with np.errstate(all="ignore"):
        within = np.minimum(np.maximum(x, F32(-160)), F32(128))
        scaled = within * F32(SIGNIFICANDS)
        steps = scaled.astype(np.int32)
    # Rounding towards zero, less one: the complement, where there was a fraction at all.
    steps -= (scaled < 0) & ((steps & np.int32(SIGNIFICANDS - 1)) != 0)
    bits = _exponentials(steps & np.int32(SIGNIFICANDS - 1))
    steps >>= np.int32(23)
    result = _scaled(bits, steps)
    nan = np.isnan(x)
    if nan.any():
        result[nan] = x[nan]
    return result


def ex2_approx_f32(x: Array) -> Array:
    """``ex2.approx.f32``: below -126 the square of the answer at half the argument."""
    result = ex2_approx_ftz_f32(x)
    low = x < F32(-126)
    if low.any():
        with np.errstate(all="ignore"):
            half = ex2_approx_ftz_f32(x[low] * F32(0.5))
            result[low] = half * half
    return result


@cache
def _tangents() -> NDArray[np.int32]:
    """Hyperbolic tangents of all arguments from 2^-8 to 8 that the unit tells apart, as bits of f32.

    The file holds their second differences.
    """
    data = files(__package__).joinpath("data", "sm_90_tanh_f32.xz").read_bytes()
    second = np.frombuffer(lzma.decompress(data), np.dtype("<i4"))
    return np.cumsum(np.cumsum(second, dtype=np.int64)).astype(np.int32)


IGNORED = np.array([6, 6, 6, 5, 5, 4, 4, 4, 3, 2, 3], np.int32)
"""Bits of the significand that the unit does not look at, by exponent, from -8 to 2."""
FIRST = np.concatenate([[0], np.cumsum(SIGNIFICANDS >> IGNORED)[:-1]]).astype(np.int32)
"""The number of each exponent's first tangent."""


def tanh_approx_f32(x: Array) -> Array:
    """``tanh.approx.f32``: the argument itself below 2^-8, 1 from 8 on."""
    x = np.asarray(x, F32)
    bits = x.view(np.int32) & np.int32(0x7FFFFFFF)
    row = (bits >> np.int32(23)) - np.int32(127 - 8)
    within = np.clip(row, 0, len(IGNORED) - 1)
    entry = FIRST[within] + ((bits & np.int32(SIGNIFICANDS - 1)) >> IGNORED[within])
    size = _tangents().take(entry, mode="clip").view(F32)
    result = np.copysign(np.where(row >= len(IGNORED), F32(1), size), x)
    return np.where((row < 0) | np.isnan(x), x, result)


def rsqrt_approx_ftz_f64(x: Array) -> Array:
    """``rsqrt.approx.ftz.f64`` of f64 in [1, 4): about 20 correct bits, from the high word alone."""
    high = (np.asarray(x, np.float64).view(np.uint64) & HIGH).view(np.float64)
    # The lowest exponent bit and the 20 significand bits of the high word number the 2^21 entries.
    entry = (high.view(np.uint64) >> np.uint64(32)).astype(np.int64) - (1023 << 20)
    nearest = (1 / np.sqrt(high)).view(np.int64) >> 32
    return ((nearest + _differences("rsqrt_f64")[entry]) << 32).view(np.float64)
