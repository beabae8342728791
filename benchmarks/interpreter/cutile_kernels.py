"""The timed work as cuda-tile kernels."""

from __future__ import annotations

import cuda.tile as ct


@ct.kernel
def add(x, y, z, TILE: ct.Constant[int]):
    """One tile a block."""
    i = ct.bid(0)
    a = ct.load(x, index=(i,), shape=(TILE,))
    b = ct.load(y, index=(i,), shape=(TILE,))
    ct.store(z, index=(i,), tile=a + b)


@ct.kernel
def softmax(x, y, N: ct.Constant[int]):
    """One row a block."""
    i = ct.bid(0)
    row = ct.load(x, index=(i, 0), shape=(1, N))
    e = ct.exp(row - ct.max(row, axis=1, keepdims=True))
    ct.store(y, index=(i, 0), tile=e / ct.sum(e, axis=1, keepdims=True))


@ct.kernel
def layer_norm(x, w, b, y, N: ct.Constant[int]):
    """One row a block: the mean, the variance about it, the normalised row scaled and shifted."""
    i = ct.bid(0)
    row = ct.load(x, index=(i, 0), shape=(1, N))
    centred = row - ct.sum(row, axis=1, keepdims=True) / N
    variance = ct.sum(centred * centred, axis=1, keepdims=True) / N
    scale = ct.load(w, index=(0,), shape=(N,)).reshape((1, N))
    shift = ct.load(b, index=(0,), shape=(N,)).reshape((1, N))
    ct.store(y, index=(i, 0), tile=centred / ct.sqrt(variance + 1e-5) * scale + shift)


@ct.kernel
def product(x, y, z, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    """One tile of the result a block, a loop over K, the sum in f32."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((M, N), dtype=ct.float32)
    for k in range(ct.num_tiles(x, axis=1, shape=(M, K))):
        a = ct.load(x, index=(i, k), shape=(M, K))
        b = ct.load(y, index=(k, j), shape=(K, N))
        acc = ct.mma(a, b, acc)
    ct.store(z, index=(i, j), tile=acc)


@ct.kernel
def attention(
    q, k, v, out, scale: ct.Constant[float], M: ct.Constant[int], N: ct.Constant[int], D: ct.Constant[int]
):
    """Flash attention forward: M queries of one head a block, keys and values N at a time."""
    head, i = ct.bid(1), ct.bid(0)
    queries = ct.load(q, index=(head, i, 0), shape=(1, M, D)).reshape((M, D))
    largest = ct.full((M, 1), -float("inf"), dtype=ct.float32)
    total = ct.zeros((M, 1), dtype=ct.float32)
    acc = ct.zeros((M, D), dtype=ct.float32)
    for j in range(ct.num_tiles(k, axis=1, shape=(1, N, D))):
        keys = ct.load(k, index=(head, j, 0), shape=(1, N, D)).reshape((N, D))
        scores = ct.mma(queries, ct.transpose(keys), ct.zeros((M, N), dtype=ct.float32)) * scale
        new = ct.maximum(largest, ct.max(scores, axis=1, keepdims=True))
        weights = ct.exp2(scores - new)
        factor = ct.exp2(largest - new)
        total = total * factor + ct.sum(weights, axis=1, keepdims=True)
        values = ct.load(v, index=(head, j, 0), shape=(1, N, D)).reshape((N, D))
        acc = ct.mma(ct.astype(weights, ct.float16), values, acc * factor)
        largest = new
    ct.store(out, index=(head, i, 0), tile=(acc / total).reshape((1, M, D)))
