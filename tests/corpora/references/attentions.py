"""The cases of ``corpora/sources/attentions.py``, whole matrices at a time."""

from __future__ import annotations

import numpy as np

from .register import reference, softmax

LN2 = np.log(2)


def _attend(q, k, v, scale, seen=None):
    scores = q @ k.T * scale
    return softmax(scores if seen is None else np.where(seen, scores, -np.inf)) @ v


@reference("attention/causal_*", 2.0**-9)
def causal(q, k, v, out, scale):
    return (_attend(q, k, v, scale * LN2, np.tri(len(q)) > 0),)


@reference("attention/sliding_window_*", 2.0**-6)
def sliding_window(q, k, v, out, scale):
    back = np.arange(len(q))[:, None] - np.arange(len(k))
    return (_attend(q, k, v, scale * LN2, (back >= 0) & (back < 24)),)


@reference("attention/decode_split_*")
def decode_split(q, k, v, out, largests, totals, scale):
    """64 keys a block; the last has what is left."""
    scores = (k @ q[0]) * scale
    for block in range(len(out)):
        part = slice(block * 64, (block + 1) * 64)
        largests[block] = scores[part].max()
        weights = 2 ** (scores[part] - largests[block])
        totals[block] = weights.sum()
        out[block] = weights @ v[part]
    return out, largests, totals


@reference("attention/decode_merge_*")
def decode_merge(parts, largests, totals, out):
    weights = 2.0**largests
    return ((parts * weights[:, :, None]).sum(axis=1) / (weights * totals).sum(axis=1)[:, None],)


@reference("attention/grouped_query_*", 2.0**-6)
def grouped_query(q, k, v, out, scale):
    return (np.stack([_attend(q[h], k[h // 2], v[h // 2], scale * LN2) for h in range(len(q))]),)


@reference("attention/paged_decode_*")
def paged_decode(q, k, v, pages, lengths, out, scale):
    for b, length in enumerate(lengths):
        keys, values = (np.concatenate(a[pages[b]])[:length] for a in (k, v))
        out[b] = _attend(q[b : b + 1], keys, values, scale * LN2)[0]
    return (out,)


@reference("attention/linear_*", 2.0**-6)
def linear(q, k, v, out):
    return ((q @ k.T * np.tri(len(q))) @ v,)


@reference("attention/backward_keys_*", 2.0**-8)
def backward_keys(q, k, v, dout, logsums, deltas, dk, dv, scale):
    weights = np.exp(q @ k.T * scale - logsums[:, None])
    dscores = weights * (dout @ v.T - deltas[:, None]) * scale
    return dscores.T @ q, weights.T @ dout


@reference("attention/f8*", 2.0**-3)
def small_floats(q, k, v, out, scale):
    return (_attend(q, k, v, scale * LN2),)
