"""The cases of ``corpora/sources/indices.py``."""

from __future__ import annotations

import itertools

import numpy as np

from .register import reference, softmax


@reference("index/embedding_bf16")
def embedding(table, tokens, positions, y):
    return (np.where(tokens[:, None] < 0, 0, table[tokens] + positions),)


@reference("index/embedding_backward_*", 0.0)
def embedding_backward(dy, tokens, dtable):
    np.add.at(dtable, tokens, dy)
    return (dtable,)


@reference("index/sparse_rows_*")
def sparse_rows(starts, columns, values, x, y):
    matrix = np.zeros((len(y), len(x)))
    for row in range(len(y)):
        for place in range(starts[row], starts[row + 1]):
            matrix[row, columns[place]] += values[place]
    return (matrix @ x,)


@reference("index/private_histogram_*")
def private_histogram(x, counts, bins):
    return (np.histogram(np.clip(x, -4, 4), bins=32, range=(-4, 4))[0],)


@reference("index/segment_extremes_*")
def segment_extremes(x, segments, sums, largest, smallest):
    for group in range(len(sums)):
        members = x[segments == group]
        sums[group], largest[group], smallest[group] = members.sum(), max(0, *members), min(0, *members)
    return sums, largest, smallest


@reference("index/rows_by_list_*", 0.0)
def rows_by_list(x, rows, y, first):
    y[::2] = 2 * x[rows, first : first + 32]
    return (y,)


@reference("index/expert_choice_*")
def expert_choice(logits, experts, weights, loads):
    best = np.argsort(-logits, axis=1, kind="stable")[:, :2]
    return best, softmax(np.take_along_axis(logits, best, 1)), np.bincount(best.ravel(), minlength=8)


@reference("index/hash_set_*")
def hash_set(keys, table, found):
    for k, key in enumerate(keys):
        slot = (int(key) * 0x1E35A7BD & 0xFFFFFFFF) >> 26
        while table[slot] not in (-1, key):
            slot = (slot + 1) % len(table)
        table[slot], found[k] = key, slot
    return table, found


@reference("index/trilinear_*")
def trilinear(volume, points, y):
    """Each point by the hat functions of all grid points."""
    result = np.zeros(points.shape[1])
    for cell in itertools.product(*map(range, volume.shape)):
        hats = np.maximum(1 - np.abs(points - np.array(cell)[:, None]), 0)
        result += volume[cell] * hats.prod(axis=0)
    return (result,)


@reference("index/transpose_swizzled_*")
def transpose_swizzled(x, y):
    return (x.T,)
