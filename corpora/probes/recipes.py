"""What the probes are given: bit patterns made from seeds by integer arithmetic alone.

The recipes of ``corpora.inputs`` would do as well; these are the ones that the recorded answers were given,
and must stay as they are. They draw on ``random_raw`` of PCG64, whose stream numpy promises to keep.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileref.numerics.formats import FORMATS, FloatFormat

from ..case import Buffer

Words = NDArray[np.uint64]
U = np.uint64
SECOND_STREAM, THIRD_STREAM = 7919, 31
"""What is added to a seed where a value needs further random words."""


def words(seed: int, count: int) -> Words:
    """``count`` random 64-bit integers."""
    return np.asarray(np.random.PCG64(seed).random_raw(count), dtype=np.uint64)


def stored(patterns: NDArray[Any], buffer: Buffer) -> NDArray[Any]:
    """Bit patterns as an array of the buffer's format and shape; higher bits fall away.

    An i1 is a byte of which the lowest bit counts; the others stay as they come.
    """
    dtype: np.dtype[Any] = FORMATS[buffer.format].dtype
    bits = np.ascontiguousarray(patterns).astype(f"u{dtype.itemsize}")
    return bits.view(dtype).reshape(buffer.shape)


def float_format(name: str) -> FloatFormat:
    """The float format called ``name``."""
    fmt = FORMATS[name]
    assert isinstance(fmt, FloatFormat)
    return fmt


def exponent_width(fmt: FloatFormat) -> int:
    """Bits of the format's exponent."""
    return fmt.width - fmt.significand_width - 1


@dataclass(frozen=True, slots=True)
class Floats:
    """Finite floats of both signs with random significands; ``kind`` says of which exponents.

    ``normal``: from 2^-3 to 2, the largest most often. ``wide``: 24 binades around 1. ``bits``: all of them,
    zeros and subnormals too. ``tiny``: a third subnormal, the rest just above; a fifth of the significands
    zero. ``special``: as normal, but about one in 97 each infinite, minus infinite and NaN (f8E4M3FN has NaNs
    alone). ``tf32`` clears the bits that an f32 has and a tf32 has not.
    """

    kind: str
    seed: int
    tf32: bool = False

    def array(self, buffer: Buffer) -> NDArray[Any]:
        """A fresh array."""
        fmt, count = float_format(buffer.format), prod(buffer.shape)
        significand_width = fmt.significand_width
        first, second = words(self.seed, count), words(self.seed + SECOND_STREAM, count)
        significand = first & U((1 << significand_width) - 1)
        sign = (first >> U(60)) & U(1)
        exponent, significand = self._exponent(fmt, second, significand)
        patterns = (sign << U(fmt.width - 1)) | (exponent << U(significand_width)) | significand
        if self.kind == "special":
            patterns = self._with_specials(fmt, patterns)
        if self.tf32:
            patterns &= ~U(0x1FFF)
        return stored(patterns, buffer)

    def _exponent(self, fmt: FloatFormat, random: Words, significand: Words) -> tuple[Words, Words]:
        """Biased exponents, and the significands that go with them."""
        size = 1 << exponent_width(fmt)
        bias = size // 2 - 1
        match self.kind:
            case "normal" | "special":
                return np.minimum(random & U(7), U(4)) + U(bias - 3), significand
            case "wide":
                span = min(24, size - 4)
                exponent = random % U(span) + U(max(1, bias - span // 2))
                return np.minimum(exponent, U(size - 3)), significand
            case "bits":
                if fmt.name != "f8E4M3FN":
                    return random % U(size - 1), significand
                exponent = random % U(size)
                nan = (exponent == size - 1) & (significand == 7)
                return exponent, np.where(nan, U(6), significand)
            case "tiny":
                exponent = np.where(random % U(3) == 0, U(0), random % U(6))
                return exponent, np.where(random % U(5) == 0, U(0), significand)
        raise ValueError(f"no such kind of floats: {self.kind}")

    def _with_specials(self, fmt: FloatFormat, patterns: Words) -> Words:
        pick = words(self.seed + THIRD_STREAM, len(patterns)) % U(97)
        if fmt.name == "f8E4M3FN":
            return np.where(pick == 0, U(0x7F), patterns)
        infinity = U(((1 << exponent_width(fmt)) - 1) << fmt.significand_width)
        for choice, special in enumerate(
            (infinity, infinity | U(fmt.sign_bit), infinity | U(1 << (fmt.significand_width - 1)))
        ):
            patterns = np.where(pick == choice, special, patterns)
        return patterns


@dataclass(frozen=True, slots=True)
class NearMidpoints:
    """Floats for a conversion to ``target``: exponents around its range, half of them next to a midpoint.

    A quarter is any pattern at all. A target that is not listed counts as f32 without a significand.
    """

    seed: int
    target: str

    def array(self, buffer: Buffer) -> NDArray[Any]:
        """A fresh array."""
        fmt, count = float_format(buffer.format), prod(buffer.shape)
        target_exponent, target_significand = _TARGETS.get(self.target, (8, 0))
        first, second = words(self.seed, count), words(self.seed + 1, count)
        bias = (1 << (exponent_width(fmt) - 1)) - 1
        target_bias = (1 << (target_exponent - 1)) - 1
        low = max(1, bias - target_bias - target_significand - 3)
        high = min((1 << exponent_width(fmt)) - 2, bias + target_bias + 3)
        exponent = second % U(high - low + 1) + U(low)
        significand = first & U((1 << fmt.significand_width) - 1)
        choice = (second >> U(32)) % U(4)
        dropped = max(0, fmt.significand_width - target_significand)
        if dropped > 1:
            tail = U((1 << dropped) - 1)
            beside = U(1 << (dropped - 1)) + (first >> U(58)) % U(3) - U(1)
            significand = np.where(choice >= 2, (significand & ~tail) | (beside & tail), significand)
        sign = (first >> U(63)) << U(fmt.width - 1)
        patterns = sign | (exponent << U(fmt.significand_width)) | significand
        return stored(np.where(choice == 1, first, patterns), buffer)


_TARGETS = {
    "f16": (5, 10),
    "bf16": (8, 7),
    "f32": (8, 23),
    # A tf32 is stored as an f32, and its midpoints were taken for those of one.
    "tf32": (8, 23),
    "f64": (11, 52),
    "f8E4M3FN": (4, 3),
    "f8E5M2": (5, 2),
}
"""Bits of exponent and significand of the formats that a conversion aims at."""


@dataclass(frozen=True, slots=True)
class WithNans:
    """Half NaNs of every sign and payload, half ``normal`` floats."""

    seed: int

    def array(self, buffer: Buffer) -> NDArray[Any]:
        """A fresh array."""
        fmt = float_format(buffer.format)
        numbers = Floats("normal", self.seed).array(buffer).view(fmt.bits_dtype).astype(np.uint64)
        random = words(self.seed + 99, prod(buffer.shape)).reshape(buffer.shape)
        infinity = U(((1 << exponent_width(fmt)) - 1) << fmt.significand_width)
        nan = infinity | (random & U((1 << fmt.significand_width) - 1)) | U(1)
        nan |= (random >> U(63)) << U(fmt.width - 1)
        return stored(np.where((random >> U(60)) % U(2) == 0, nan, numbers), buffer)


@dataclass(frozen=True, slots=True)
class HalvesAndExtremes:
    """Multiples of a half from -8 to 8, zeros, infinities and NaNs: powers and angles have rules for them."""

    seed: int

    def array(self, buffer: Buffer) -> NDArray[Any]:
        """A fresh array."""
        fmt, random = float_format(buffer.format), words(self.seed, prod(buffer.shape))
        extremes = [0.0, -0.0, np.inf, -np.inf, np.nan]
        values = np.array([*(np.arange(-16, 17) / 2), *extremes]).astype(fmt.dtype).view(fmt.bits_dtype)
        return stored(values[(random >> U(20)) % U(len(values))], buffer)


@dataclass(frozen=True, slots=True)
class Patterns:
    """Any pattern of the format, all equally likely."""

    seed: int

    def array(self, buffer: Buffer) -> NDArray[Any]:
        """A fresh array."""
        return stored(words(self.seed, prod(buffer.shape)), buffer)


@dataclass(frozen=True, slots=True)
class Every:
    """The patterns 0, ``step``, 2 ``step``, ... of the format: with enough lanes, all there are."""

    step: int = 1

    def array(self, buffer: Buffer) -> NDArray[Any]:
        """A fresh array."""
        return stored(np.arange(prod(buffer.shape), dtype=np.uint64) * U(self.step), buffer)


@dataclass(frozen=True, slots=True)
class Zeros:
    """Zeros."""

    def array(self, buffer: Buffer) -> NDArray[Any]:
        """A fresh array."""
        return stored(np.zeros(prod(buffer.shape), np.uint64), buffer)
