"""Matrix products that share an operand as one larger product, and all with their longer side last.

Blocks that run together often multiply by the same matrix: keys that several blocks of queries look at, or
the columns that a row of blocks has in common. Their products are one product of a taller matrix. And what is
worked out element by element goes faster along a long row than along many short ones, so that a product with
more rows than columns is worked out as its transpose.

Neither changes a bit of a way to multiply that looks at each element of the result by itself: which of two
factors comes first matters to NaNs alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import numpy as np

from ..formats import Array

SAMPLE = 8
"""Elements of each matrix that are compared before all are."""


@dataclass(frozen=True, slots=True)
class Merged:
    """Operands of the same products in another arrangement: (L, m, K), (L, K, n) and (L, m, n).

    Attributes:
        a, b, acc: the operands.
        swapped: whether rows and columns changed places before products were merged.
        transposed: whether they changed places afterwards.
        shape: of the result as it was asked for.
    """

    a: Array
    b: Array
    acc: Array
    swapped: bool
    transposed: bool
    shape: tuple[int, ...]

    @property
    def exchanged(self) -> bool:
        """Whether ``a`` holds what was on the right, which NaN rules look at."""
        return self.swapped is not self.transposed

    def restored(self, result: Array) -> Array:
        """A result like ``acc`` in the arrangement and the shape that were asked for, contiguous."""
        if self.transposed:
            result = result.swapaxes(1, 2)
        if self.swapped:
            rows, columns = self.shape[-2:]
            result = result.reshape(-1, columns, rows).swapaxes(1, 2)
        return np.ascontiguousarray(result).reshape(self.shape)


def merged(a: Array, b: Array, acc: Array, shape: tuple[int, ...]) -> Merged:
    """The products of (L, M, K) and (L, K, N) on top of (L, M, N), for a result of ``shape``."""
    together, swapped = shared(b), False
    if together == 1 and (together := shared(a)) > 1:
        (a, b, acc), swapped = _transposed(a, b, acc), True
    if together > 1:
        lead, m, depth = a.shape
        a = a.reshape(lead // together, together * m, depth)
        acc = acc.reshape(lead // together, together * m, acc.shape[-1])
        b = b[::together]
    transposed = a.shape[1] > b.shape[2]
    if transposed:
        a, b, acc = _transposed(a, b, acc)
    a, b, acc = (np.ascontiguousarray(each) for each in (a, b, acc))
    return Merged(a, b, acc, swapped, transposed, shape)


def shared(matrices: Array) -> int:
    """The largest number such that every so many matrices after each other are the same, bit for bit."""
    count = len(matrices)
    if count < 2 or not matrices.size:
        return 1
    bits = matrices.view(f"u{matrices.itemsize}").reshape(count, -1)
    changes = np.flatnonzero((bits[1:, :SAMPLE] != bits[:-1, :SAMPLE]).any(axis=1)) + 1
    together = gcd(count, *changes.tolist())
    if together > 1:
        groups = bits.reshape(count // together, together, -1)
        if not (groups[:, 1:] == groups[:, :1]).all():
            changes = np.flatnonzero((bits[1:] != bits[:-1]).any(axis=1)) + 1
            together = gcd(count, *changes.tolist())
    return together


def _transposed(a: Array, b: Array, acc: Array) -> tuple[Array, Array, Array]:
    return b.swapaxes(1, 2), a.swapaxes(1, 2), acc.swapaxes(1, 2)
