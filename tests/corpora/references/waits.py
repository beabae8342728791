"""The cases of ``corpora/sources/waits.py``."""

from __future__ import annotations

import numpy as np

from .register import reference


@reference("wait/stream_k_*")
def stream_k(x, w, partials, flags, out):
    """What is left in the scratch depends on where the shares end: not compared."""
    return None, None, x @ w


@reference("wait/look_back_*")
def look_back(x, totals, prefixes, flags, y):
    total = x.reshape(len(totals), -1).sum(axis=1)
    return total, total.cumsum(), np.full(len(totals), 2), x.cumsum()


@reference("wait/grid_barrier_*")
def grid_barrier(x, y, arrived, steps):
    line = x[0]
    for _ in range(steps):
        line = 0.25 * np.roll(line, 1) + 0.5 * line + 0.25 * np.roll(line, -1)
    return None, line, np.array([4 * steps])


@reference("wait/locked_sum_*")
def locked_sum(x, lock, total):
    return np.array([0]), x.sum(keepdims=True)
