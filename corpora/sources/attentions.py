"""Attention: causal, windowed, grouped, split over keys, paged, in 8-bit floats, linear, and its gradient."""

from __future__ import annotations

from collections.abc import Iterator

import cuda.tile as ct

from ..build.draft import Array, Draft, Number, moderate, output, seed

LOW = -1.0e30
"""A score that has no weight; an infinity would make NaNs where a whole row is masked."""


@ct.kernel
def causal(q, k, v, out, scale, M: ct.Constant[int], N: ct.Constant[int], D: ct.Constant[int]):
    """A block stops at its diagonal, so blocks have loops of different lengths."""
    i = ct.bid(0)
    queries = ct.load(q, index=(i, 0), shape=(M, D))
    largest = ct.full((M, 1), LOW, dtype=ct.float32)
    total = ct.zeros((M, 1), dtype=ct.float32)
    acc = ct.zeros((M, D), dtype=ct.float32)
    row = ct.reshape(ct.arange(M, dtype=ct.int32), (M, 1)) + i * M
    for j in range(ct.cdiv((i + 1) * M, N)):
        keys = ct.load(k, index=(j, 0), shape=(N, D))
        scores = ct.mma(queries, ct.transpose(keys), ct.zeros((M, N), dtype=ct.float32)) * scale
        column = ct.reshape(ct.arange(N, dtype=ct.int32), (1, N)) + j * N
        scores = ct.where(column <= row, scores, LOW)
        larger = ct.maximum(largest, ct.max(scores, axis=1, keepdims=True))
        weights = ct.exp2(scores - larger)
        shrink = ct.exp2(largest - larger)
        total = total * shrink + ct.sum(weights, axis=1, keepdims=True)
        values = ct.load(v, index=(j, 0), shape=(N, D))
        acc = ct.mma(ct.astype(weights, v.dtype), values, acc * shrink)
        largest = larger
    ct.store(out, index=(i, 0), tile=ct.astype(acc / total, out.dtype))


@ct.kernel
def sliding_window(
    q, k, v, out, scale, M: ct.Constant[int], N: ct.Constant[int], D: ct.Constant[int], W: ct.Constant[int]
):
    """A query sees itself and the W - 1 keys before it; tiles that nobody sees are not read."""
    i = ct.bid(0)
    queries = ct.load(q, index=(i, 0), shape=(M, D))
    largest = ct.full((M, 1), LOW, dtype=ct.float32)
    total = ct.zeros((M, 1), dtype=ct.float32)
    acc = ct.zeros((M, D), dtype=ct.float32)
    row = ct.reshape(ct.arange(M, dtype=ct.int32), (M, 1)) + i * M
    first = max(i * M - W + 1, 0) // N
    for j in range(first, ct.cdiv((i + 1) * M, N)):
        keys = ct.load(k, index=(j, 0), shape=(N, D))
        scores = ct.mma(queries, ct.transpose(keys), ct.zeros((M, N), dtype=ct.float32)) * scale
        column = ct.reshape(ct.arange(N, dtype=ct.int32), (1, N)) + j * N
        seen = (column <= row) & (column > row - W)
        scores = ct.where(seen, scores, LOW)
        larger = ct.maximum(largest, ct.max(scores, axis=1, keepdims=True))
        weights = ct.where(seen, ct.exp2(scores - larger), 0.0)
        shrink = ct.exp2(largest - larger)
        total = total * shrink + ct.sum(weights, axis=1, keepdims=True)
        values = ct.load(v, index=(j, 0), shape=(N, D))
        acc = ct.mma(ct.astype(weights, v.dtype), values, acc * shrink)
        largest = larger
    ct.store(out, index=(i, 0), tile=ct.astype(acc / total, out.dtype))


@ct.kernel
def decode_split(
    q, k, v, out, largests, totals, scale, N: ct.Constant[int], D: ct.Constant[int], S: ct.Constant[int]
):
    """One query, S tiles of keys a block: each block's weighted values, its maximum and its sum."""
    i = ct.bid(0)
    query = ct.astype(ct.load(q, index=(0, 0), shape=(1, D)), ct.float32)
    largest = ct.full((1, 1), LOW, dtype=ct.float32)
    total = ct.zeros((1, 1), dtype=ct.float32)
    acc = ct.zeros((1, D), dtype=ct.float32)
    for j in range(i * S, min((i + 1) * S, ct.num_tiles(k, axis=0, shape=(N, D)))):
        keys = ct.load(k, index=(j, 0), shape=(N, D), padding_mode=ct.PaddingMode.ZERO)
        scores = ct.sum(ct.astype(keys, ct.float32) * query, axis=1, keepdims=True) * scale
        number = ct.reshape(ct.arange(N, dtype=ct.int32), (N, 1)) + j * N
        scores = ct.where(number < k.shape[0], scores, LOW)
        larger = ct.maximum(largest, ct.max(scores, axis=0, keepdims=True))
        weights = ct.exp2(scores - larger)
        shrink = ct.exp2(largest - larger)
        values = ct.load(v, index=(j, 0), shape=(N, D), padding_mode=ct.PaddingMode.ZERO)
        weighted = ct.sum(weights * ct.astype(values, ct.float32), axis=0, keepdims=True)
        acc = acc * shrink + weighted
        total = total * shrink + ct.sum(weights, axis=0, keepdims=True)
        largest = larger
    ct.store(out, index=(i, 0), tile=acc)
    ct.store(largests, index=(i,), tile=ct.reshape(largest, (1,)))
    ct.store(totals, index=(i,), tile=ct.reshape(total, (1,)))


@ct.kernel
def decode_merge(parts, largests, totals, out, P: ct.Constant[int], D: ct.Constant[int]):
    """The parts of ``decode_split`` made one; a block a head."""
    h = ct.bid(0)
    largest = ct.load(largests, index=(h, 0), shape=(1, P))
    weights = ct.exp2(largest - ct.max(largest, axis=1, keepdims=True))
    total = ct.sum(ct.load(totals, index=(h, 0), shape=(1, P)) * weights, axis=1, keepdims=True)
    tile = ct.load(parts, index=(h, 0, 0), shape=(1, P, D))
    merged = ct.sum(tile * ct.reshape(weights, (1, P, 1)), axis=1)
    ct.store(out, index=(h, 0), tile=ct.astype(merged / total, out.dtype))


@ct.kernel
def grouped_query(
    q, k, v, out, scale, G: ct.Constant[int], M: ct.Constant[int], N: ct.Constant[int], D: ct.Constant[int]
):
    """G heads of queries share a head of keys and values; a block has one head and M queries."""
    i, h = ct.bid(0), ct.bid(1)
    shared = h // G
    queries = ct.reshape(ct.load(q, index=(h, i, 0), shape=(1, M, D)), (M, D))
    largest = ct.full((M, 1), LOW, dtype=ct.float32)
    total = ct.zeros((M, 1), dtype=ct.float32)
    acc = ct.zeros((M, D), dtype=ct.float32)
    for j in range(ct.num_tiles(k, axis=1, shape=(1, N, D))):
        keys = ct.reshape(ct.load(k, index=(shared, j, 0), shape=(1, N, D)), (N, D))
        scores = ct.mma(queries, ct.transpose(keys), ct.zeros((M, N), dtype=ct.float32)) * scale
        larger = ct.maximum(largest, ct.max(scores, axis=1, keepdims=True))
        weights = ct.exp2(scores - larger)
        shrink = ct.exp2(largest - larger)
        total = total * shrink + ct.sum(weights, axis=1, keepdims=True)
        values = ct.reshape(ct.load(v, index=(shared, j, 0), shape=(1, N, D)), (N, D))
        acc = ct.mma(ct.astype(weights, v.dtype), values, acc * shrink)
        largest = larger
    result = ct.astype(acc / total, out.dtype)
    ct.store(out, index=(h, i, 0), tile=ct.reshape(result, (1, M, D)))


@ct.kernel
def paged_decode(q, k, v, pages, lengths, out, scale, P: ct.Constant[int], D: ct.Constant[int]):
    """One query a sequence; its keys lie in pages of P that a table names, as many as its length wants."""
    b = ct.bid(0)
    length = ct.load(lengths, index=(b,), shape=()).item()
    query = ct.astype(ct.load(q, index=(b, 0), shape=(1, D)), ct.float32)
    largest = ct.full((1, 1), LOW, dtype=ct.float32)
    total = ct.zeros((1, 1), dtype=ct.float32)
    acc = ct.zeros((1, D), dtype=ct.float32)
    j = 0
    while j * P < length:
        page = ct.load(pages, index=(b, j), shape=()).item()
        keys = ct.reshape(ct.load(k, index=(page, 0, 0), shape=(1, P, D)), (P, D))
        scores = ct.sum(ct.astype(keys, ct.float32) * query, axis=1, keepdims=True) * scale
        number = ct.reshape(ct.arange(P, dtype=ct.int32), (P, 1)) + j * P
        scores = ct.where(number < length, scores, LOW)
        larger = ct.maximum(largest, ct.max(scores, axis=0, keepdims=True))
        weights = ct.exp2(scores - larger)
        shrink = ct.exp2(largest - larger)
        values = ct.reshape(ct.load(v, index=(page, 0, 0), shape=(1, P, D)), (P, D))
        acc = acc * shrink + ct.sum(weights * ct.astype(values, ct.float32), axis=0, keepdims=True)
        total = total * shrink + ct.sum(weights, axis=0, keepdims=True)
        largest = larger
        j = j + 1
    ct.store(out, index=(b, 0), tile=ct.astype(acc / total, out.dtype))


@ct.kernel
def linear(q, k, v, out, C: ct.Constant[int], D: ct.Constant[int]):
    """Without a softmax, in chunks of C: a state of D by D goes from chunk to chunk."""
    state = ct.zeros((D, D), dtype=ct.float32)
    row = ct.reshape(ct.arange(C, dtype=ct.int32), (C, 1))
    column = ct.reshape(ct.arange(C, dtype=ct.int32), (1, C))
    for j in range(ct.num_tiles(q, axis=0, shape=(C, D))):
        queries = ct.load(q, index=(j, 0), shape=(C, D))
        keys = ct.load(k, index=(j, 0), shape=(C, D))
        values = ct.load(v, index=(j, 0), shape=(C, D))
        scores = ct.mma(queries, ct.transpose(keys), ct.zeros((C, C), dtype=ct.float32))
        scores = ct.where(column <= row, scores, 0.0)
        before = ct.mma(queries, ct.astype(state, q.dtype), ct.zeros((C, D), dtype=ct.float32))
        within = ct.mma(ct.astype(scores, q.dtype), values, before)
        ct.store(out, index=(j, 0), tile=ct.astype(within, out.dtype))
        state = ct.mma(ct.transpose(keys), values, state)


@ct.kernel
def backward_keys(
    q,
    k,
    v,
    dout,
    logsums,
    deltas,
    dk,
    dv,
    scale,
    M: ct.Constant[int],
    N: ct.Constant[int],
    D: ct.Constant[int],
):
    """Gradients of a tile of keys and values: the weights are made again from the kept logarithms."""
    j = ct.bid(0)
    keys = ct.load(k, index=(j, 0), shape=(N, D))
    values = ct.load(v, index=(j, 0), shape=(N, D))
    dkeys = ct.zeros((N, D), dtype=ct.float32)
    dvalues = ct.zeros((N, D), dtype=ct.float32)
    for i in range(ct.num_tiles(q, axis=0, shape=(M, D))):
        queries = ct.load(q, index=(i, 0), shape=(M, D))
        grad = ct.load(dout, index=(i, 0), shape=(M, D))
        logsum = ct.reshape(ct.load(logsums, index=(i,), shape=(M,)), (M, 1))
        delta = ct.reshape(ct.load(deltas, index=(i,), shape=(M,)), (M, 1))
        scores = ct.mma(queries, ct.transpose(keys), ct.zeros((M, N), dtype=ct.float32)) * scale
        weights = ct.exp(scores - logsum)
        dvalues = ct.mma(ct.transpose(ct.astype(weights, v.dtype)), grad, dvalues)
        dweights = ct.mma(grad, ct.transpose(values), ct.zeros((M, N), dtype=ct.float32))
        dscores = weights * (dweights - delta) * scale
        dkeys = ct.mma(ct.transpose(ct.astype(dscores, q.dtype)), queries, dkeys)
    ct.store(dk, index=(j, 0), tile=ct.astype(dkeys, dk.dtype))
    ct.store(dv, index=(j, 0), tile=ct.astype(dvalues, dv.dtype))


@ct.kernel
def small_floats(q, k, v, out, scale, M: ct.Constant[int], N: ct.Constant[int], D: ct.Constant[int]):
    """Queries, keys, values and weights in an 8-bit format, the weights times 256 so as to be normal."""
    i = ct.bid(0)
    queries = ct.load(q, index=(i, 0), shape=(M, D))
    largest = ct.full((M, 1), LOW, dtype=ct.float32)
    total = ct.zeros((M, 1), dtype=ct.float32)
    acc = ct.zeros((M, D), dtype=ct.float32)
    for j in range(ct.num_tiles(k, axis=0, shape=(N, D))):
        keys = ct.load(k, index=(j, 0), shape=(N, D))
        scores = ct.mma(queries, ct.transpose(keys), ct.zeros((M, N), dtype=ct.float32)) * scale
        larger = ct.maximum(largest, ct.max(scores, axis=1, keepdims=True))
        weights = ct.exp2(scores - larger) * 256.0
        shrink = ct.exp2(largest - larger)
        total = total * shrink + ct.sum(weights, axis=1, keepdims=True)
        values = ct.load(v, index=(j, 0), shape=(N, D))
        acc = ct.mma(ct.astype(weights, v.dtype), values, acc * shrink)
        largest = larger
    ct.store(out, index=(i, 0), tile=ct.astype(acc / total, out.dtype))


def drafts() -> Iterator[Draft]:
    """Each kernel once; the scales hold the logarithm of e where the kernel takes powers of 2."""
    scale = Number("f32", 0.25503)
    name = "attention/causal_f16"
    parts = [moderate("f16", name + part, (64, 32), high=0) for part in "qkv"]
    yield Draft(name, causal, (2,), [*parts, output("f16", (64, 32)), scale, 32, 16, 32])
    name = "attention/sliding_window_bf16"
    parts = [moderate("bf16", name + part, (96, 32), high=0) for part in "qkv"]
    yield Draft(name, sliding_window, (6,), [*parts, output("bf16", (96, 32)), scale, 16, 16, 32, 24])
    name = "attention/decode_split_f16"
    parts = [moderate("f16", name + "q", (1, 64), high=0)]
    parts += [moderate("f16", name + part, (200, 64), high=0) for part in "kv"]
    answers = [output("f32", (4, 64)), output("f32", (4,)), output("f32", (4,))]
    yield Draft(name, decode_split, (4,), [*parts, *answers, Number("f32", 0.18034), 32, 64, 2])
    name = "attention/decode_merge_f32"
    parts = [moderate("f32", name, (8, 4, 32)), moderate("f32", name + "m", (8, 4))]
    parts += [moderate("f32", name + "s", (8, 4), low=0, high=5, positive=True)]
    yield Draft(name, decode_merge, (8,), [*parts, output("f32", (8, 32)), 4, 32])
    name = "attention/grouped_query_bf16"
    parts = [moderate("bf16", name + "q", (4, 32, 32), high=0)]
    parts += [moderate("bf16", name + part, (2, 48, 32), high=0) for part in "kv"]
    yield Draft(name, grouped_query, (2, 4), [*parts, output("bf16", (4, 32, 32)), scale, 2, 16, 16, 32])
    name = "attention/paged_decode_f16"
    table = Array("i32", (3, 4), {"kind": "permutation", "seed": seed(name)})
    parts = [moderate("f16", name + "q", (3, 32), high=0)]
    parts += [moderate("f16", name + part, (12, 16, 32), high=0) for part in "kv"]
    lengths = Array("i32", (3,), {"kind": "explicit", "bits": ["25", "40", "7"]})
    yield Draft(name, paged_decode, (3,), [*parts, table, lengths, output("f16", (3, 32)), scale, 16, 32])
    name = "attention/linear_bf16"
    parts = [moderate("bf16", name + part, (64, 32), high=-2) for part in "qkv"]
    yield Draft(name, linear, (1,), [*parts, output("bf16", (64, 32)), 16, 32])
    name = "attention/backward_keys_f16"
    parts = [moderate("f16", name + part, (64, 32), high=-1) for part in "qkvg"]
    parts += [moderate("f32", name + "l", (64,), low=2, high=2, positive=True)]
    parts += [moderate("f32", name + "d", (64,), high=-1)]
    answers = [output("f16", (64, 32)), output("f16", (64, 32)), Number("f32", 0.17678)]
    yield Draft(name, backward_keys, (2,), [*parts, *answers, 16, 32, 32])
    name = "attention/f8E4M3FN"
    parts = [moderate("f8E4M3FN", name + part, (64, 32), high=0) for part in "qkv"]
    yield Draft(name, small_floats, (2,), [*parts, output("f32", (64, 32)), scale, 32, 32, 32])
