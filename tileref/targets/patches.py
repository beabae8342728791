"""Cutting a matrix product into parts whose every intermediate fits a fast cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..formats import Array

PATCH = 1 << 14
"""Elements of the result that are worked on together: enough that an array operation's own cost vanishes."""


def stacked(lhs: Array, rhs: Array, acc: Array) -> tuple[Array, Array, Array, tuple[int, ...]]:
    """Operands of shapes (..., M, K), (..., K, N) and (..., M, N) with one leading axis each: (L, M, K),
    (L, K, N) and (L, M, N); and the result's shape.
    """
    shape = np.broadcast_shapes((*lhs.shape[:-1], 1), (*rhs.shape[:-2], 1, rhs.shape[-1]), acc.shape)

    def stack(array: Array, matrix: tuple[int, ...]) -> Array:
        return np.broadcast_to(array, (*shape[:-2], *matrix)).reshape(-1, *matrix)

    return stack(lhs, lhs.shape[-2:]), stack(rhs, rhs.shape[-2:]), stack(acc, shape[-2:]), shape


def patches(shape: tuple[int, ...]) -> Iterator[tuple[slice, slice]]:
    """Leading indices and rows of the parts of a result of ``shape`` (L, M, N)."""
    lead, m, n = shape
    leads, rows = max(1, PATCH // (m * n)), max(1, PATCH // n)
    for i in range(0, lead, leads):
        for row in range(0, m, rows):
            yield slice(i, i + leads), slice(row, row + rows)


def outer_operands(a: Array, b: Array) -> tuple[Array, Array]:
    """(l, m, K) and (l, K, n) as (K, l, m, 1) and (K, l, 1, n), which multiply to the products of each k."""
    return np.ascontiguousarray(a.transpose(2, 0, 1))[..., None], b.transpose(1, 0, 2)[:, :, None, :]


def roomy(shape: tuple[int, ...], dtype: Any) -> Array:
    """An empty array to be transposed later, whose rows do not start a large power of two apart.

    Elements that do share a set of a processor's cache, so that columns of such rows push each other out.
    """
    columns = shape[-1]
    spare = ROOM if columns * np.dtype(dtype).itemsize % 1024 == 0 else 0
    return np.empty((*shape[:-1], columns + spare), dtype)[..., :columns]


ROOM = 16
"""Elements between two rows."""
