"""How matrix products are summed and rounded, each way an object of its own.

A product takes arrays of shape (..., M, K), (..., K, N) and (..., M, N) in the storage types of their formats
and answers an array like the accumulator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..formats import Array
from ..numerics.conversion import ftof
from ..numerics.float_arithmetic import fma
from ..numerics.formats import F32, F64, TF32, FloatFormat, Rounding
from ..numerics.nan import NanRule


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
        a = widened(lhs, source, target if source.precision <= target.precision else F64)
        b = widened(rhs, source, target if source.precision <= target.precision else F64)
        result = acc
        for k in range(lhs.shape[-1]):
            x, y = a[..., :, k, None], b[..., k, None, :]
            if _product_is_exact(source, target):
                # The product has at most 22 significant bits and no exponent beyond f32's, so multiplying is
                # exact and the addition rounds the exact sum: together they are the fused operation.
                result = result + x * y
            else:
                result = fma(x, y, result, target)
        result = np.array(result, dtype=target.dtype, copy=True)
        nan(result, (lhs, rhs, acc), target, "mmaf")
        return result


def _product_is_exact(source: FloatFormat, target: FloatFormat) -> bool:
    fits = 2 * source.precision <= target.precision
    smallest = 2 * (source.emin - source.precision + 1)
    return fits and smallest >= target.emin - target.precision + 1 and 2 * source.emax + 1 <= target.emax


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
        a, b = widened(lhs, source, work), widened(rhs, source, work)
        with np.errstate(all="ignore"):
            total = a[..., :, 0, None] * b[..., 0, None, :]
            for k in range(1, lhs.shape[-1]):
                total += a[..., :, k, None] * b[..., k, None, :]
            result = total + widened(acc, target, work)
        nan(result, (lhs, rhs, acc), work, "mmaf")
        if work is not target:
            result = ftof(result, work, target)
            nan(result, (lhs, rhs, acc), target, "mmaf")
        return result


@dataclass(frozen=True, slots=True)
class FusedDot:
    """A tensor core's dot product, ``step`` products at a time.

    The products and the accumulator are aligned to the largest exponent among them (a product's being the sum
    of its operands'), each truncated to ``fraction`` bits below it and summed exactly. The sum becomes the
    next accumulator: truncated to ``kept`` fraction bits, or rounded to nearest into the accumulator's format
    if that is narrower. With ``late``, the steps start from zero and the accumulator is added at the end, in
    its own format.

    The scheme is the fused dot product of arXiv 2511.10909.
    """

    step: int
    fraction: int = 25
    kept: int = 23
    late: bool = False

    @property
    def name(self) -> str:
        """What reports call it."""
        return f"fused dot product of {self.step}, {self.fraction} fraction bits"

    def __call__(
        self, lhs: Array, rhs: Array, acc: Array, source: FloatFormat, target: FloatFormat, nan: NanRule
    ) -> Array:
        """Multiply."""
        a, b, plain = _finite(lhs, rhs, acc, source, target)
        shape = np.broadcast_shapes((*a.shape[:-1], 1), (*b.shape[:-2], 1, b.shape[-1]), acc.shape)
        start = np.zeros(shape) if self.late else np.broadcast_to(acc, shape).astype(np.float64)
        start[~np.isfinite(start)] = 0.0
        ea, eb = _exponents(a, source), _exponents(b, source)
        narrow = _fits_f32(ea) and _fits_f32(eb)
        work = np.float32 if narrow else np.float64
        a, b = a.astype(work), b.astype(work)
        # A leading axis at a time keeps everything that a step touches in a fast cache.
        result = np.empty(shape, target.dtype)
        for lead in np.ndindex(shape[:-2]):
            one = tuple(_at(x, lead) for x in (a, b, ea, eb))
            total = self._dot(*one, start[lead], target)
            if self.late:
                with np.errstate(all="ignore"):
                    result[lead] = (total.astype(np.float32) + _at(acc, lead)).astype(target.dtype)
            else:
                result[lead] = total
        if plain is not None:
            bad = ~np.isfinite(plain)
            result[bad] = plain[bad].astype(target.dtype)
        nan(result, (lhs, rhs, acc), target, "mmaf")
        return result

    def _dot(
        self, a: Array, b: Array, ea: Array, eb: Array, acc: Array, target: FloatFormat
    ) -> NDArray[np.float64]:
        """One matrix: (M, K), (K, N), their exponents and (M, N); answers the result, held in f64."""
        m, n = acc.shape
        emax = np.empty((m, n), np.int16)
        exponent = np.empty((m, n), np.int16)
        product = np.empty((m, n), a.dtype)
        # 16 truncated products of less than 2^(fraction + 2) each stay below 2^31 in magnitude.
        small = self.fraction <= 25 and self.step <= 16
        whole = np.int32 if small else np.int64
        for first in range(0, a.shape[1], self.step):
            last = min(first + self.step, a.shape[1])
            emax[...] = _exponents_of_f64(acc)
            for k in range(first, last):
                np.add(ea[:, k, None], eb[k, None, :], out=exponent)
                np.maximum(emax, exponent, out=emax)
            np.maximum(emax, LOWEST, out=emax)
            scale64 = np.ldexp(1.0, self.fraction - emax.astype(np.int32))
            scale = scale64.astype(a.dtype)
            total = np.zeros((m, n), whole)
            for k in range(first, last):
                np.multiply(a[:, k, None], b[k, None, :], out=product)
                np.multiply(product, scale, out=product)
                total += product.astype(whole)
            exact = (total + np.trunc(acc * scale64)) / scale64
            acc = self._cut(exact, target)
        return acc

    def _cut(self, exact: NDArray[np.float64], target: FloatFormat) -> NDArray[np.float64]:
        if target.precision < 24:
            return ftof(exact, F64, target).astype(np.float64)
        # Below f32's normal range fewer bits are left than the mask keeps.
        tiny = (np.abs(exact) < 2.0**-126) & (exact != 0)
        mask = np.int64(-1 << (52 - self.kept))
        cut = (exact.view(np.int64) & mask).view(np.float64)
        if tiny.any():
            cut[tiny] = ftof(exact[tiny], F64, F32, Rounding.ZERO).astype(np.float64)
        return cut


LOWEST = -600
"""Below any exponent of a product: what aligns a step whose terms are all zero."""
ZERO = np.int16(-10000)
"""The exponent of zero, which aligns nothing."""


def _at(array: Array, lead: tuple[int, ...]) -> Array:
    """The matrix of ``array`` for one index of the leading axes, which may be of extent 1."""
    return array[tuple(0 if extent == 1 else i for i, extent in zip(lead, array.shape, strict=False))]


def _exponents(array: Array, fmt: FloatFormat) -> NDArray[np.int16]:
    """Each element's exponent as the hardware reads it: a subnormal's is the smallest normal one."""
    wide = array.astype(np.float64)
    _, exponent = np.frexp(wide)
    found = np.maximum(exponent.astype(np.int16) - np.int16(1), np.int16(fmt.emin))
    return np.where(wide == 0, ZERO, found)


def _exponents_of_f64(array: NDArray[np.float64]) -> NDArray[np.int16]:
    """Exponents of an f32 accumulator, held in f64."""
    field = (array.view(np.int64) >> 52) & 0x7FF
    found = np.maximum((field - 1023).astype(np.int16), np.int16(-126))
    return np.where(array == 0, ZERO, found)


def _fits_f32(exponents: NDArray[np.int16]) -> bool:
    """Whether products of such elements, scaled or not, stay far inside f32's normal range."""
    there = exponents[exponents != ZERO]
    return there.size == 0 or (int(there.min()) > -45 and int(there.max()) < 45)


def _finite(
    lhs: Array, rhs: Array, acc: Array, source: FloatFormat, target: FloatFormat
) -> tuple[Array, Array, Array | None]:
    """The operands in f32 or wider with zeros for what is not finite, and the plain f64 answer if any is."""
    a = lhs.astype(np.float64) if source is F64 else lhs.astype(np.float32)
    b = rhs.astype(np.float64) if source is F64 else rhs.astype(np.float32)
    if np.isfinite(a).all() and np.isfinite(b).all() and np.isfinite(acc.astype(np.float64)).all():
        return a, b, None
    with np.errstate(all="ignore"):
        plain = np.matmul(a.astype(np.float64), b.astype(np.float64)) + acc.astype(np.float64)
    return np.where(np.isfinite(a), a, 0), np.where(np.isfinite(b), b, 0), plain
