"""The steps of a tensor core's dot product, evaluated plainly: one product at a time, in f64 and i64.

Slow, short and without conditions on the operands. ``dot_steps_f32`` answers the same bits faster where it
can, and is tested against this.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..formats import Array
from ..numerics.conversion import ftof
from ..numerics.formats import F32, F64, FloatFormat, Rounding

F64Array = NDArray[np.float64]

LOWEST = -600
"""Below any exponent of a product: what aligns a step whose terms are all zero."""
ZERO = np.int16(-10000)
"""The exponent of zero, which aligns nothing."""
SMALLEST = -126
"""The exponent of f32's subnormals, which an accumulator's are not below."""


@dataclass(frozen=True, slots=True)
class Alignment:
    """What a step keeps.

    Attributes:
        step: products summed at a time.
        fraction: bits kept of every term below the largest exponent among them.
        kept: fraction bits kept of the sum, where the accumulator has more.
        target: the accumulator's format.
    """

    step: int
    fraction: int
    kept: int
    target: FloatFormat


def dot(a: Array, b: Array, acc: Array, source: FloatFormat, how: Alignment) -> F64Array:
    """``a @ b + acc`` by steps: (..., M, K), (..., K, N) and (..., M, N), finite, in f32 or wider."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    ea, eb = exponents(a, source), exponents(b, source)
    total = acc.astype(np.float64)
    for first in range(0, a.shape[-1], how.step):
        k = slice(first, first + how.step)
        # An accumulator that overflowed stays where it is: products, however large, are finite.
        stuck = np.isinf(total)
        before = np.where(stuck, 0.0, total) if stuck.any() else total
        after = one_step(a[..., k], b[..., k, :], ea[..., k], eb[..., k, :], before, how)
        total = np.where(stuck, total, after) if stuck.any() else after
    return total


def one_step(a: F64Array, b: F64Array, ea: Array, eb: Array, acc: F64Array, how: Alignment) -> F64Array:
    """The accumulator after one step: ``ea`` and ``eb`` are the operands' exponents."""
    emax = accumulator_exponents(acc)
    steps = range(a.shape[-1])
    for k in steps:
        emax = np.maximum(emax, ea[..., :, k, None] + eb[..., k, None, :])
    emax = np.maximum(emax, np.int16(LOWEST))
    scale = np.ldexp(1.0, how.fraction - emax.astype(np.int32))
    total = np.zeros(acc.shape, np.int64)
    for k in steps:
        total += (a[..., :, k, None] * b[..., k, None, :] * scale).astype(np.int64)
    return cut((total + np.trunc(acc * scale)) / scale, how)


def cut(exact: F64Array, how: Alignment) -> F64Array:
    """What the accumulator keeps of an exact sum."""
    if how.target.precision < F32.precision:
        # The sum is a fixed-point number, whose zero has no sign.
        return ftof(exact, F64, how.target).astype(np.float64) + 0.0
    # Below f32's normal range fewer bits are left than the mask keeps.
    tiny = (np.abs(exact) < 2.0**SMALLEST) & (exact != 0)
    mask = np.int64(-1 << (F64.significand_width - how.kept))
    kept: F64Array = (exact.view(np.int64) & mask).view(np.float64)
    if tiny.any():
        kept[tiny] = ftof(exact[tiny], F64, F32, Rounding.ZERO).astype(np.float64) + 0.0
    overflowed = np.abs(kept) >= 2.0 ** (F32.emax + 1)
    if overflowed.any():
        kept[overflowed] = np.copysign(np.inf, kept[overflowed])
    return kept


def exponents(array: F64Array, fmt: FloatFormat) -> NDArray[np.int16]:
    """Each element's exponent as the hardware reads it: a subnormal's is the smallest normal one."""
    _, exponent = np.frexp(array)
    found = np.maximum(exponent.astype(np.int16) - np.int16(1), np.int16(fmt.emin))
    return np.where(array == 0, ZERO, found)


def accumulator_exponents(array: F64Array) -> NDArray[np.int16]:
    """Exponents of an accumulator of at most f32's range, held in f64."""
    field = (array.view(np.int64) >> F64.significand_width) & 0x7FF
    found = np.maximum((field - F64.bias).astype(np.int16), np.int16(SMALLEST))
    return np.where(array == 0, ZERO, found)
