"""Integers that the probes are given, from seeds (see ``recipes``)."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileref.numerics.formats import FORMATS

from ..case import Buffer
from .recipes import U, stored, words

I32_MAX, I32_MIN = 0x7FFFFFFF, 0x80000000


@dataclass(frozen=True, slots=True)
class SmallIntegers:
    """-64 to 64, all equally likely."""

    seed: int

    def array(self, buffer: Buffer) -> NDArray[Any]:
        """A fresh array."""
        # Below zero the patterns wrap, and are cut to the format's width.
        return stored(words(self.seed, prod(buffer.shape)) % U(129) - U(64), buffer)


@dataclass(frozen=True, slots=True)
class HardToRound:
    """Integers for a conversion to a float: of every size, next to powers of two, and next to midpoints."""

    seed: int

    def array(self, buffer: Buffer) -> NDArray[Any]:
        """A fresh array."""
        width, count = FORMATS[buffer.format].width, prod(buffer.shape)
        first, second = words(self.seed, count), words(self.seed + 2, count)
        shift = words(self.seed + 1, count) % U(width)
        of_any_size = (first & U((1 << width) - 1)) >> shift
        near_power = (U(1) << shift) + second % U(5) - U(2)
        # 25 bits and a one: a midpoint of every format but f64, wherever it is shifted to.
        middle = (((second >> U(20)) >> U(39)) << U(1) | U(1)) << (shift % U(max(1, width - 26)))
        near_middle = middle + (second >> U(50)) % U(3) - U(1)
        choice = (second >> U(60)) % U(3)
        patterns = np.where(choice == 0, of_any_size, np.where(choice == 1, near_power, near_middle))
        return stored(patterns, buffer)


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor of an integer product; ``kind`` decides whether and when partial sums leave i32.

    ``random`` and ``over``: any byte. ``updown`` and ``downup``: 1 to 63, but the right factor (``right``) is
    negated in the second (first) half of its rows.
    """

    kind: str
    seed: int
    right: bool = False

    def array(self, buffer: Buffer) -> NDArray[Any]:
        """A fresh array."""
        random = words(self.seed + self.right, prod(buffer.shape)).reshape(buffer.shape)
        if self.kind in ("random", "over"):
            return stored(random, buffer)
        small = random & U(0x3F) | U(1)
        if not self.right:
            return stored(small, buffer)
        rows = buffer.shape[-2]
        first_half = (np.arange(rows) < rows // 2)[:, None]
        return stored(np.where(first_half == (self.kind == "updown"), small, -small), buffer)


@dataclass(frozen=True, slots=True)
class Accumulator:
    """An accumulator of an integer product: below 2^20 if ``random``, else close to the ends of i32."""

    kind: str
    seed: int

    def array(self, buffer: Buffer) -> NDArray[Any]:
        """A fresh array."""
        random = words(self.seed + 2, prod(buffer.shape))
        if self.kind == "random":
            return stored(random % U(1 << 20), buffer)
        if self.kind == "over":
            return stored(U(I32_MAX) - random % U(3000), buffer)
        near = (random >> U(8)) % U(200)
        return stored(np.where(random & U(1), U(I32_MAX) - near, U(I32_MIN) + near), buffer)
