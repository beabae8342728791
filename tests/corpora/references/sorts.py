"""The cases of ``corpora/sources/sorts.py``."""

from __future__ import annotations

import numpy as np

from .register import reference


@reference("sort/bitonic_*")
def bitonic(x, y):
    return (np.sort(x, axis=1),)


@reference("sort/odd_even_pairs_*")
def odd_even_pairs(keys, values, out_keys, out_values):
    order = np.argsort(keys, axis=1, kind="stable")
    return np.take_along_axis(keys, order, 1), np.take_along_axis(values, order, 1)


@reference("sort/merge_*")
def merge(a, b, y):
    assert (np.diff(a) >= 0).all()
    assert (np.diff(b) >= 0).all()
    return (np.sort(np.concatenate([a, b])),)


@reference("sort/radix_*")
@reference("sort/ranks_*")
def argsort(x, y, order):
    places = np.argsort(x, axis=1, kind="stable")
    return np.take_along_axis(x, places, 1), places


@reference("sort/top_k_*")
def top_k(x, values, places):
    order = np.argsort(-x, axis=1, kind="stable")[:, : values.shape[1]]
    return np.take_along_axis(x, order, 1), order


@reference("sort/compact_*")
def compact(x, y, count, limit):
    kept = x[x > limit]
    y[: len(kept)] = kept
    return y, np.array([len(kept)])


@reference("sort/median_*")
def median(x, y):
    return (np.sort(x, axis=1)[:, x.shape[1] // 2 - 1],)


@reference("sort/nucleus_*")
def nucleus(p, y, share):
    result = np.zeros_like(p)
    for row, out in zip(p, result, strict=True):
        order = np.argsort(-row)
        reached = np.cumsum(row[order]) / row.sum()
        kept = order[: np.searchsorted(reached, share) + 1]
        out[kept] = row[kept] / row[kept].sum()
    return (result,)
