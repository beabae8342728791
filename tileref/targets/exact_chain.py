"""Running sums of products that are exact, each step rounded: the accumulator, then k after k.

Where a product is exact, a multiplication and an addition round as one fused operation would, so that any
loop that walks k in order gives the bits. numpy's einsum is such a loop where the columns are the innermost
axis: it then adds a multiple of a row to a row of sums, for one k after the other. Which axis is innermost is
numpy's own choice, so that it is tried for each shape, once, on sums that another order rounds otherwise.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..formats import Array
from .patches import roomy

FEWEST_COLUMNS = 8
"""Shorter rows are not worth a loop of their own."""
FEWEST_TOGETHER = 256
"""Elements of a row, over all products, that make a call on one row of each worth it."""
TOGETHER = 64


def applies(a: Array, b: Array, acc: Array) -> bool:
    """Whether ``chain`` can multiply (L, m, K) and (L, K, n) on top of (L, m, n), and pays."""
    lead, rows, steps = a.shape
    columns = b.shape[-1]
    if a.dtype not in (np.float32, np.float64) or columns < FEWEST_COLUMNS or steps < 2:
        return False
    if _is_positive_zero(acc):
        return _matrices_walk_in_order(min(lead, 2), min(rows, 2), steps, columns, a.dtype.name)
    # A sum that starts from nothing loses the sign of a negative zero.
    negative_zeros = (acc == 0) & np.signbit(acc)
    if lead * columns < FEWEST_TOGETHER or bool(negative_zeros.any()):
        return False
    return _rows_walk_in_order(min(lead, 2), steps + 1, columns, a.dtype.name)


def chain(a: Array, b: Array, acc: Array) -> Array:
    """``acc`` with the products of (L, m, K) and (L, K, n) added, k ascending; all of them contiguous."""
    if _is_positive_zero(acc):
        return _matrices(a, b)
    lead, rows, steps = a.shape
    result = roomy(acc.shape, acc.dtype)
    for first in range(0, lead, TOGETHER):
        here = slice(first, first + TOGETHER)
        # The accumulator is the row before the first, taken once.
        factors = np.empty((rows, len(a[here]), steps + 1), a.dtype)
        factors[..., 0] = 1
        factors[..., 1:] = a[here].transpose(1, 0, 2)
        terms = np.empty((len(a[here]), steps + 1, b.shape[-1]), b.dtype)
        terms[:, 1:] = b[here]
        for row in range(rows):
            terms[:, 0] = acc[here, row]
            result[here, row] = np.einsum("lk,lkj->lj", factors[row], terms)
    return result


def _matrices(a: Array, b: Array) -> Array:
    return np.einsum("lik,lkj->lij", a, b, out=roomy((*a.shape[:-1], b.shape[-1]), a.dtype))


def _is_positive_zero(acc: Array) -> bool:
    return not acc.any() and not np.signbit(acc).any()


def _telling(shape: tuple[int, ...], dtype: str) -> Array:
    """Small integers times powers of two, whose products are exact and whose sums are not."""
    random = np.random.Generator(np.random.PCG64(len(shape)))
    whole = random.integers(-99, 99, shape).astype(dtype)
    telling: Array = np.ldexp(whole, random.integers(0, np.finfo(whole.dtype).nmant // 2 + 1, shape))
    return telling


@lru_cache(maxsize=1024)
def _matrices_walk_in_order(lead: int, rows: int, steps: int, columns: int, dtype: str) -> bool:
    a, b = _telling((lead, rows, steps), dtype), _telling((lead, steps, columns), dtype)
    return _same(_matrices(a, b), a[..., None] * b[:, None])


@lru_cache(maxsize=1024)
def _rows_walk_in_order(lead: int, steps: int, columns: int, dtype: str) -> bool:
    a, b = _telling((lead, steps), dtype), _telling((lead, steps, columns), dtype)
    return _same(np.einsum("lk,lkj->lj", a, b), a[..., None] * b)


def _same(found: Array, products: Array) -> bool:
    """Whether ``found`` is the sum of ``products`` along the last axis but one, one by one."""
    total = np.zeros(found.shape, found.dtype)
    for k in range(products.shape[-2]):
        total += products[..., k, :]
    return bool((found == total).all())
