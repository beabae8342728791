"""f64 numbers where a mathematical function does its work: ranges, binades, multiples, and what is no number.

Random patterns of f64 are nearly all huge or tiny. Everything here is made of random words by arithmetic that
is correctly rounded, and so the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..case import Buffer
from .recipes import U, Words, words

Values = NDArray[Any]
Part = Callable[[Words, Words], Values]
"""Makes numbers of random words, and of how many lanes of the part came before each."""


def between(low: float, high: float) -> Part:
    """Evenly spread."""
    return lambda random, lanes: low + (high - low) * ((random >> U(11)) * 2.0**-53)


def binades(low: int, high: int, signed: bool = True) -> Part:
    """Any significand and any exponent from ``low`` to ``high``; -1023 are the subnormals."""

    def make(random: Words, lanes: Words) -> Values:
        exponent = U(low + 1023) + lanes % U(high - low + 1)
        sign = (random >> U(63)) << U(63) if signed else U(0)
        bits: Words = sign | (exponent << U(52)) | (random & U((1 << 52) - 1))
        return bits.view(np.float64)

    return make


def multiples(of: float, bits: int) -> Part:
    """Integers of so many bits times ``of``, of both signs, and up to two units beside."""

    def make(random: Words, lanes: Words) -> Values:
        count = (random >> U(64 - bits)).astype(np.float64)
        near = (count * of).view(np.uint64) + random % U(5)
        near = np.where(near >= U(2), near - U(2), near)
        patterns: Words = near | ((random & U(1 << 10)) << U(53))
        return patterns.view(np.float64)

    return make


def wholes(low: int, high: int) -> Part:
    """Integers, all equally likely."""
    return lambda random, lanes: low + ((random >> U(20)) % U(high - low + 1)).astype(np.float64)


def specials(stride: int = 1) -> Part:
    """Zeros, infinities, NaNs and other ends, in order, each for ``stride`` lanes of the part."""

    def make(random: Words, lanes: Words) -> Values:
        special: Values = SPECIAL[(lanes // U(stride)) % U(len(SPECIAL))]
        return special

    return make


ENDS = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 2.0**31, 2.0**52 + 1, 2.0**53, 2.0**1000, np.inf])
LEAST_NORMAL, LARGEST = 2.0**-1022, np.finfo(np.float64).max
NEXT = np.array([5e-324, LEAST_NORMAL - 5e-324, LEAST_NORMAL, 1 - 2.0**-53, 1 + 2.0**-52, LARGEST])
QUIET, SIGNALLING = (0x7FF8000000000000, 0x7FFFFFFFFFFFFFFF), (0x7FF0000000000001, 0x7FF4000012345678)
NAN_PATTERNS = np.array([*QUIET, *SIGNALLING], np.uint64)
SPECIAL = np.concatenate(
    [ENDS, -ENDS, NEXT, -NEXT, NAN_PATTERNS.view(np.float64), (NAN_PATTERNS | U(1 << 63)).view(np.float64)]
)
"""42 numbers and what is none; with a stride of as many for the second operand, all pairs of them."""


@dataclass(frozen=True)
class Working:
    """The parts in turn, a lane each."""

    seed: int
    parts: tuple[Part, ...]

    def array(self, buffer: Buffer) -> NDArray[Any]:
        """A fresh array of f64."""
        count, turns = prod(buffer.shape), len(self.parts)
        random = words(self.seed, count)
        result = np.empty(count)
        for i, part in enumerate(self.parts):
            of_part = random[i::turns]
            result[i::turns] = part(of_part, np.arange(of_part.size, dtype=np.uint64))
        return result.reshape(buffer.shape)
