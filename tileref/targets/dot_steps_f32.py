"""The steps of a tensor core's dot product, for operands whose products f32 holds.

The same bits as ``dot_steps``, which says what they are. Three things make it fast:

- The largest exponent of a step comes from a matrix product. With B a power of two of at least twice the
  number of terms, the sum of B to the power of every exponent lies in [B^e, B^(e+1)) for the largest e, and
  stays there however the product rounds and in whatever order it sums.
- A term is scaled so that its truncation is the conversion to an integer, and the sum of integers is exact.
- A patch of the result that fits a fast cache is carried through all the steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..formats import Array
from ..numerics.formats import F32, F64, FloatFormat
from .dot_steps import ZERO, Alignment, cut, exponents, one_step
from .dot_steps import dot as plain_dot
from .patches import outer_operands, patches, roomy

SAFE = 32
"""Least biased exponent that a step may be aligned to: the scale is normal then, what the sum keeps is above
f32's subnormals, and a product that is below f32's normal range, and therefore not exact, is truncated to
zero all the same."""
LARGEST = 120
"""Largest exponent that a sum may reach: nothing overflows on the way to it."""

Int32Array = NDArray[np.int32]


def applies(a: Array, b: Array, acc: Array, source: FloatFormat, how: Alignment) -> bool:
    """Whether ``dot`` may be used: products are exact in f32, sums of truncated ones in i32."""
    depth = a.shape[-1]
    # A product is below four times the power of two that its exponent says.
    products = _largest(a) + _largest(b) + 2 + (depth - 1).bit_length()
    return (
        2 * source.precision <= F32.precision
        and source.emin >= F32.emin
        and how.target.precision <= F32.precision
        and how.fraction + 2 + (how.step - 1).bit_length() <= 31
        and depth % min(how.step, depth) == 0
        and max(products, _largest(acc)) < LARGEST
    )


def _largest(array: Array) -> int:
    """The largest exponent of f32 elements, for 0 a small one."""
    largest = max(float(array.max(initial=0)), -float(array.min(initial=0)))
    return int(np.frexp(largest)[1]) - 1


def dot(a: Array, b: Array, acc: Array, source: FloatFormat, how: Alignment) -> NDArray[np.float32]:
    """``a @ b + acc`` by steps: (L, M, K), (L, K, N) and (L, M, N), finite f32, where ``applies``."""
    step = min(how.step, a.shape[-1])
    powers = _powers(a, b, source, step)
    result = roomy(acc.shape, np.float32)
    scratch = np.empty(0, np.float32)
    for leads, rows in patches(acc.shape):
        part = acc[leads, rows]
        if scratch.shape[1:] != part.shape:
            scratch = np.empty((step, *part.shape), np.float32)
        largest = powers.largest(leads, rows)
        result[leads, rows] = _patch(a[leads, rows], b[leads], part, largest, scratch, source, how)
    return result


def _patch(
    a: Array,
    b: Array,
    acc: Array,
    largest: Int32Array,
    products: Array,
    source: FloatFormat,
    how: Alignment,
) -> NDArray[np.float32]:
    """All steps of one patch, whose largest exponents of products are ``largest``.

    ``products`` is where a step's products are worked out.
    """
    step = products.shape[0]
    rows, columns = outer_operands(a, b)
    narrow = how.target.precision < F32.precision
    mask = np.int64(-1 << (F64.significand_width - how.kept))
    for number in range(largest.shape[0]):
        k = slice(number * step, (number + 1) * step)
        emax = np.maximum(largest[number], _biased_exponents(acc))
        if emax.min() < SAFE:
            acc = _carefully(a[..., k], b[..., k, :], acc, source, how)
            continue
        scale = _power(2 * F32.bias + how.fraction - emax)
        np.multiply(rows[k], columns[k], out=products)
        np.multiply(products, scale, out=products)
        total = np.add.reduce(products, axis=0, dtype=np.int32)
        exact = np.add(total, np.trunc(acc * scale), dtype=np.float64)
        unit = _power(emax - how.fraction)
        if narrow:
            acc = cut(exact * unit, how).astype(np.float32)
            if not np.isfinite(acc).all():
                # The accumulator overflowed, which the plain steps know how to go on from.
                rest = slice(k.stop, None)
                return plain_dot(a[..., rest], b[..., rest, :], acc, source, how).astype(np.float32)
        else:
            acc = (exact.view(np.int64) & mask).view(np.float64).astype(np.float32) * unit
    return acc


def _carefully(a: Array, b: Array, acc: Array, source: FloatFormat, how: Alignment) -> NDArray[np.float32]:
    """One step, the plain way."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    answer = one_step(x, y, exponents(x, source), exponents(y, source), acc.astype(np.float64), how)
    return answer.astype(np.float32)


def _power(biased: Int32Array) -> NDArray[np.float32]:
    """2 to the power of an exponent with f32's bias."""
    return (biased << F32.significand_width).view(np.float32)


def _biased_exponents(array: NDArray[np.float32]) -> Int32Array:
    """The exponent fields of f32 elements.

    A subnormal's is one too small. Truncation aligned to it loses as little as aligned to the right one:
    nothing.
    """
    return (array.view(np.int32) >> F32.significand_width) & 0xFF


@dataclass(frozen=True, slots=True)
class _Wide:
    """A float format to take powers in."""

    fmt: FloatFormat
    integer: np.dtype[Any]

    def powers(self, exponent: Int32Array, zero: Array | None) -> Array:
        """2 to the power of ``exponent``, or 0 where ``zero``."""
        bits = (exponent.astype(self.integer) + self.fmt.bias) << self.fmt.significand_width
        if zero is not None:
            bits[zero] = 0
        return bits.view(self.fmt.dtype)

    def fields(self, array: Array) -> Int32Array:
        """The exponent fields of positive elements; 0 for zero."""
        return (array.view(self.integer) >> self.fmt.significand_width).astype(np.int32, copy=False)


IN_F32 = _Wide(F32, np.dtype(np.int32))
IN_F64 = _Wide(F64, np.dtype(np.int64))
HALF = 500
"""Twice this is below f64's largest exponent."""


@dataclass(frozen=True, slots=True)
class _Powers:
    """The operands' exponents, as exponents of B.

    Attributes:
        wide: the format that the powers are in.
        a, b: the powers: (L, steps, M, step) and (L, steps, step, N).
        width: log2 of B.
        offset: what to add to a field of their product, divided by ``width``, for an exponent of f32's bias.
    """

    wide: _Wide
    a: Array
    b: Array
    width: int
    offset: int

    def largest(self, leads: slice, rows: slice) -> Int32Array:
        """The largest exponent of a product in each step, with f32's bias: (steps, leads, rows, N).

        What is too small to be told from zero in f64 is below ``SAFE`` by far.
        """
        product = np.matmul(self.a[leads, :, rows], self.b[leads])
        fields = self.wide.fields(product).swapaxes(0, 1)
        found: Int32Array = fields // np.int32(self.width) + np.int32(self.offset)
        if not fields.all():
            found[fields == 0] = ZERO
        return found


def _powers(a: Array, b: Array, source: FloatFormat, step: int) -> _Powers:
    """The powers whose matrix product tells the largest exponent of each step."""
    width = step.bit_length()
    ea, zero_a, low_a, high_a = _exponents(a, source)
    eb, zero_b, low_b, high_b = _exponents(b, source)
    # A product of powers is taken relative to a middle one.
    fits = width * (high_a - low_a + high_b - low_b + 4) < 2 * F32.bias - 2
    if fits:
        wide = IN_F32
        middle_a, middle_b = (low_a + high_a) // 2, (low_b + high_b) // 2
    else:
        # The large ones count: what underflows is too small to matter.
        wide = IN_F64
        middle_a, middle_b = high_a - HALF // width, high_b - HALF // width
    # Fields of powers of B begin at multiples of the width.
    extra = -wide.fmt.bias % width
    leads, m, depth = a.shape
    x = wide.powers((ea - middle_a) * width + extra, zero_a).reshape(leads, m, depth // step, step)
    y = wide.powers((eb - middle_b) * width, zero_b).reshape(leads, depth // step, step, b.shape[-1])
    offset = F32.bias + middle_a + middle_b - (wide.fmt.bias + extra) // width
    return _Powers(wide, x.swapaxes(1, 2), y, width, offset)


def _exponents(array: Array, source: FloatFormat) -> tuple[Int32Array, Array | None, int, int]:
    """Exponents of f32 elements as the hardware reads them; which elements are zero, if any is; and the
    smallest and the largest exponent of the others.
    """
    found = np.maximum(_biased_exponents(array) - F32.bias, source.emin)
    zero = None if array.all() else array == 0
    there = found if zero is None else found[~zero]
    if not there.size:
        return found, zero, 0, 0
    return found, zero, int(there.min()), int(there.max())
