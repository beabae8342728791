"""Arithmetic of formats of at most 24 bits of precision: kernels on flat arrays.

Each function gives, in float64, a value that rounds to such a format as the exact result does, in every
direction. Write p for the precision (at most 24) and call the format's values and the halfway points between
them its borders: numbers of at most p + 1 bits. float64's exponents are wide enough that nothing below
overflows or underflows.

* A product has 2p <= 48 bits: exact.
* A sum is exact, or rounded to odd (see `rounding.to_odd`; 53 >= p + 2).
* A quotient a / b that is not itself a border m differs from it by the relative |a - m b| / |m b|. The
  product m b has at most 2p + 1 bits, and a has p. The difference is a multiple of the lesser of their last
  places: at least 2**-(2p + 1) of m b, or 2**-p of a, which are both above the 2**-53 by which float64 may
  err. So the quotient rounded to float64 lies on the same side of every border.
* A square root that is not itself a border m: a - m**2 is at least the last place of m**2, which has 2p + 2
  bits, so that the root differs from m by the relative 2**-(2p + 3) or more, and 2p + 3 <= 51: the same.

A rounded value of 2p + 2 bits or more is thus as good as the exact one for these operations, and rounding
it to p bits is not a double rounding. float32 has 24 >= 2 * 11 + 2 bits and so does the same for f16 and
bf16, to nearest even; see `in_f32` for its range.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .binary64 import zero_signs
from .error_free import two_sum
from .formats import BF16, F16, F32, F64, FloatFormat, Rounding
from .rounding import round_lanes, to_odd
from .widening import to_f32, to_f64

Array = NDArray[Any]


def sums_are_exact(fmt: FloatFormat) -> bool:
    """Whether float64 holds every sum of two values, from the largest down to the last place of the least."""
    return fmt.emax + 2 - (fmt.emin - fmt.significand_width) <= F64.precision


def add(a: Array, b: Array, fmt: FloatFormat, rounding: Rounding) -> Array:
    """A float64 that rounds like a + b, with the right sign on a zero; a and b are float64s."""
    v: Array = a + b if sums_are_exact(fmt) else to_odd(*two_sum(a, b))
    if rounding is Rounding.NEGATIVE_INF:
        zero_signs(v, v == 0, a, b, rounding)
    return v


def fma(a: Array, b: Array, c: Array, fmt: FloatFormat, rounding: Rounding) -> Array:
    """A float64 that rounds like a * b + c, with the right sign on a zero; all are float64s."""
    product = a * b
    v = to_odd(*two_sum(product, c))
    if rounding is Rounding.NEGATIVE_INF:
        zero_signs(v, v == 0, product, c, rounding)
    return v


def binary(ufunc: np.ufunc, out: Array, a: Array, b: Array, fmt: FloatFormat, rounding: Rounding) -> None:
    """Add, multiply or divide by way of float64, in any direction."""
    x, y = to_f64(a, fmt), to_f64(b, fmt)
    v = add(x, y, fmt, rounding) if ufunc is np.add else ufunc(x, y)
    round_lanes(out, v, F64, fmt, rounding)


def in_f32(ufunc: Callable[..., Array], out: Array, fmt: FloatFormat, *operands: Array) -> None:
    """Add, subtract, multiply, divide or take the root of f16 or bf16 to nearest even, by way of float32.

    Above float32's subnormals the module's argument holds. f16's sums, products and quotients never come
    near those. In bf16, which shares float32's exponents: a sum is a multiple of 2**-133, and exact there.
    A product has 16 bits, so at 2**-134 (half of the least bf16) and above it is a multiple of 2**-149 and
    exact, and below that it goes to 2**-134 at most, which rounds to zero as it should. A quotient misses a
    border m, at least 2**-134, by m 2**-(8 + bits of m) > 2**-143, and float32 errs by at most 2**-150.
    Beyond the largest float32 both formats round to infinity.
    """
    assert fmt is F16 or fmt is BF16
    round_lanes(out, ufunc(*(to_f32(x, fmt) for x in operands)), F32, fmt, Rounding.NEAREST_EVEN)


_LOW_WORD = 0 if sys.byteorder == "little" else 1


def fma_f32(out: Array, a: Array, b: Array, c: Array) -> None:
    """The f32 a * b + c to nearest even, on float32 arrays.

    The product is exact in float64. The rounded sum s is nearest to the exact one, so that it rounds to
    float32 like it unless s is itself a border of float32 that the exact sum only comes near: a halfway
    point, whose low 29 bits are a one and zeros for a normal result. Those lanes, and subnormal results,
    whose halfway points lie elsewhere, are summed again with the exact error.
    """
    total = np.multiply(a, b, dtype=np.float64)
    total += c
    np.copyto(out, total, casting="same_kind")
    low = total.view(np.uint32)[_LOW_WORD::2] & np.uint32((1 << 29) - 1)
    unsure = low == np.uint32(1 << 28)
    if np.abs(out).min(initial=1.0) < 2.0**-126:
        size = np.abs(total)
        unsure |= (size < 2.0**-126) & (size > 0)
    if unsure.any():
        product = np.multiply(a[unsure], b[unsure], dtype=np.float64)
        v = to_odd(*two_sum(product, c[unsure].astype(np.float64)))
        out[unsure] = v.astype(np.float32)
