"""How matrix products are summed and rounded, each way an object of its own.

A product takes arrays of shape (..., M, K), (..., K, N) and (..., M, N) in the storage types of their formats
and answers an array like the accumulator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..formats import Array
from ..numerics.conversion import ftof
from ..numerics.float_arithmetic import addf, fma, mulf
from ..numerics.formats import F32, F64, TF32, FloatFormat
from ..numerics.nan import NanRule
from . import dot_steps, dot_steps_f32, exact_chain
from .merging import merged
from .patches import outer_operands, patches, roomy, stacked


class Product(Protocol):
    """One way to multiply matrices."""

    @property
    def name(self) -> str:
        """What reports call it."""

    def __call__(
        self, lhs: Array, rhs: Array, acc: Array, source: FloatFormat, target: FloatFormat, nan: NanRule
    ) -> Array:
        """``lhs @ rhs + acc``; ``source`` is the format of both operands, ``target`` of the accumulator."""


def widened(array: Array, source: FloatFormat, target: FloatFormat) -> Array:
    """``array`` in a format that holds all of its values."""
    if source is target:
        return array
    if source is TF32:
        source = F32
    return array if source is target else ftof(array, source, target)


@dataclass(frozen=True, slots=True)
class FusedChain:
    """The accumulator, then one fused multiply-add for each k, ascending, in the accumulator's format."""

    name: str = "one fused multiply-add a step, k ascending"

    def __call__(
        self, lhs: Array, rhs: Array, acc: Array, source: FloatFormat, target: FloatFormat, nan: NanRule
    ) -> Array:
        """Multiply."""
        wide = target if source.precision <= target.precision else F64
        merge = merged(*stacked(lhs, rhs, acc))
        a, b, start = widened(merge.a, source, wide), widened(merge.b, source, wide), merge.acc
        exact = _products_are_exact(a, b, source, target)
        with np.errstate(all="ignore"):
            if exact and exact_chain.applies(a, b, start):
                result = exact_chain.chain(a, b, start)
                nan(result, (result,), target, "mmaf")
                return merge.restored(result)
            result = roomy(start.shape, target.dtype)
            for leads, rows in patches(start.shape):
                x, y, before = a[leads, rows], b[leads], start[leads, rows]
                if exact:
                    result[leads, rows] = _exact_chain(x, y, before, target, nan)
                else:
                    result[leads, rows] = _fused_chain(x, y, before, target, nan, merge.exchanged)
        return merge.restored(result)


def _fused_chain(a: Array, b: Array, acc: Array, target: FloatFormat, nan: NanRule, exchanged: bool) -> Array:
    rows, columns = outer_operands(a, b)
    if exchanged:
        rows, columns = columns, rows
    for x, y in zip(rows, columns, strict=True):
        acc = fma(x, y, acc, target, nan=nan)
    return acc


def _exact_chain(a: Array, b: Array, acc: Array, target: FloatFormat, nan: NanRule) -> Array:
    """The chain where products are exact, so that the addition alone rounds the exact sum."""
    result = _add_products(acc.copy(), *outer_operands(a, b))
    nan(result, (result,), target, "mmaf")
    return result


def _products_are_exact(a: Array, b: Array, source: FloatFormat, target: FloatFormat) -> bool:
    """Whether every product is exact in the accumulator's format: it has the bits, and the range for them."""
    if 2 * source.precision > target.precision:
        return False
    last = target.emin - target.significand_width
    if 2 * (source.emin - source.significand_width) >= last and 2 * source.emax + 1 <= target.emax:
        return True
    (low_a, high_a), (low_b, high_b) = _exponents(a), _exponents(b)
    return low_a + low_b - 2 * source.significand_width >= last and high_a + high_b + 1 <= target.emax


def _exponents(array: Array) -> tuple[int, int]:
    """The smallest and the largest exponent of elements but zeros; (0, huge) if not all are finite."""
    size = np.abs(array)
    high = float(size.max(initial=0))
    if not np.isfinite(high):
        return 0, 1 << 20
    low = float(size.min(initial=np.inf, where=size > 0))
    return (int(np.frexp(low)[1]) - 1, int(np.frexp(high)[1]) - 1) if high else (0, 0)


@dataclass(frozen=True, slots=True)
class RoundedChain:
    """Products rounded one by one, summed from the first, k ascending, and the accumulator added last.

    All of it in f32, or in f64 for f64 operands; a narrower accumulator is widened first and the result
    rounded once.
    """

    name: str = "rounded products summed one by one, the accumulator last"

    def __call__(
        self, lhs: Array, rhs: Array, acc: Array, source: FloatFormat, target: FloatFormat, nan: NanRule
    ) -> Array:
        """Multiply."""
        work = F64 if target is F64 else F32
        merge = merged(*stacked(lhs, rhs, acc))
        a, b = widened(merge.a, source, work), widened(merge.b, source, work)
        last = widened(merge.acc, target, work)
        result = roomy(last.shape, work.dtype)
        with np.errstate(all="ignore"):
            for leads, rows in patches(last.shape):
                np.add(_sum_of_products(a[leads, rows], b[leads]), last[leads, rows], out=result[leads, rows])
            if work is F64 and np.isnan(result).any():
                # Which NaN comes through depends on each operation's operands.
                result = addf(_sum_by_operations(a, b, work, nan, merge.exchanged), last, work, nan=nan)
        result = merge.restored(result)
        if work is not F64:
            nan(result, (result,), work, "mmaf")
        if work is not target:
            result = ftof(result, work, target)
            nan(result, (result,), target, "mmaf")
        return result


def _sum_by_operations(a: Array, b: Array, fmt: FloatFormat, nan: NanRule, exchanged: bool) -> Array:
    rows, columns = outer_operands(a, b)
    if exchanged:
        rows, columns = columns, rows
    total = mulf(rows[0], columns[0], fmt, nan=nan)
    for x, y in zip(rows[1:], columns[1:], strict=True):
        total = addf(total, mulf(x, y, fmt, nan=nan), fmt, nan=nan)
    return total


def _sum_of_products(a: Array, b: Array) -> Array:
    """Products rounded one by one and summed from the first: (l, m, K) and (l, K, n)."""
    rows, columns = outer_operands(a, b)
    return _add_products(rows[0] * columns[0], rows[1:], columns[1:])


def _add_products(total: Array, rows: Array, columns: Array) -> Array:
    """``total`` with each row times its column added, one after the other, in place."""
    products = np.empty((min(TOGETHER, len(rows)), *total.shape), total.dtype)
    for first in range(0, len(rows), TOGETHER):
        k = slice(first, first + TOGETHER)
        for product in np.multiply(rows[k], columns[k], out=products[: len(rows[k])]):
            np.add(total, product, out=total)
    return total


TOGETHER = 4
"""Products of a patch that are multiplied at once."""


@dataclass(frozen=True, slots=True)
class FusedDot:
    """A tensor core's dot product, ``step`` products at a time.

    The products and the accumulator are aligned to the largest exponent among them (a product's being the sum
    of its operands'), each truncated to ``fraction`` bits below it and summed exactly. The sum becomes the
    next accumulator: truncated to ``kept`` fraction bits, or rounded to nearest into the accumulator's format
    if that is narrower. With ``late``, that many products at a time are summed from zero and then added to
    the accumulator, in its own format.

    The scheme is the fused dot product of arXiv 2511.10909.
    """

    step: int
    fraction: int = 25
    kept: int = 23
    late: int | None = None

    @property
    def name(self) -> str:
        """What reports call it."""
        return f"fused dot product of {self.step}, {self.fraction} fraction bits"

    def __call__(
        self, lhs: Array, rhs: Array, acc: Array, source: FloatFormat, target: FloatFormat, nan: NanRule
    ) -> Array:
        """Multiply."""
        wide_acc = acc.astype(np.float32)
        a, b, plain = _finite(lhs, rhs, wide_acc)
        if plain is not None:
            wide_acc = np.where(np.isfinite(wide_acc), wide_acc, np.float32(0))
        merge = merged(*stacked(a, b, wide_acc))
        a, b, start = merge.a, merge.b, merge.acc
        how = dot_steps.Alignment(self.step, self.fraction, self.kept, target)
        if self.late is None:
            total = _dot(a, b, start, source, how)
        else:
            total = start
            for first in range(0, a.shape[-1], self.late):
                k = slice(first, first + self.late)
                part = _dot(a[..., k], b[..., k, :], np.zeros(start.shape, np.float32), source, how)
                total = total + part.astype(np.float32)
        result = np.array(merge.restored(total), dtype=target.dtype)
        if plain is not None:
            _not_finite(result, plain)
        nan(result, (result,), target, "mmaf")
        return result


def _dot(a: Array, b: Array, start: Array, source: FloatFormat, how: dot_steps.Alignment) -> Array:
    evaluate = dot_steps_f32.dot if dot_steps_f32.applies(a, b, start, source, how) else dot_steps.dot
    return evaluate(a, b, start, source, how)


def _not_finite(result: Array, plain: Array) -> None:
    """Put what infinities and NaNs among the operands lead to in its place."""
    bad = ~np.isfinite(plain)
    with np.errstate(all="ignore"):
        # An accumulator that overflowed before it met an infinity of the other sign makes a NaN.
        met = np.where(np.isinf(result[bad]), result[bad].astype(np.float64) + plain[bad], plain[bad])
    result[bad] = met.astype(result.dtype)


def _finite(lhs: Array, rhs: Array, acc: Array) -> tuple[Array, Array, Array | None]:
    """The operands in f32 with zeros for what is not finite, and the plain f64 answer if any is not."""
    a, b = lhs.astype(np.float32), rhs.astype(np.float32)
    if np.isfinite(a).all() and np.isfinite(b).all() and np.isfinite(acc).all():
        return a, b, None
    with np.errstate(all="ignore"):
        plain = np.matmul(a.astype(np.float64), b.astype(np.float64)) + acc.astype(np.float64)
    return np.where(np.isfinite(a), a, 0), np.where(np.isfinite(b), b, 0), plain
