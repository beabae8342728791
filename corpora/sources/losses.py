"""Losses and their gradients."""

from __future__ import annotations

from collections.abc import Iterator

import cuda.tile as ct

from ..build.draft import Draft, Number, integers, moderate, output


@ct.kernel
def cross_entropy_backward(x, labels, dx, smoothing, T: ct.Constant[int]):
    """With smoothed labels; a row whose label is negative is left out and has no gradient."""
    i = ct.bid(0)
    row = ct.astype(ct.load(x, index=(i, 0), shape=(1, T)), ct.float32)
    label = ct.load(labels, index=(i,), shape=()).item()
    weights = ct.exp(row - ct.max(row, axis=1, keepdims=True))
    p = weights / ct.sum(weights, axis=1, keepdims=True)
    here = ct.reshape(ct.arange(T, dtype=ct.int32), (1, T)) == label
    wanted = ct.where(here, 1.0 - smoothing, 0.0) + smoothing / T
    grad = p - wanted
    if label < 0:
        grad = ct.zeros((1, T), dtype=ct.float32)
    ct.store(dx, index=(i, 0), tile=ct.astype(grad, dx.dtype))


@ct.kernel
def chunked_cross_entropy(x, labels, loss, logsums, T: ct.Constant[int]):
    """A vocabulary longer than a tile: the sum runs along in logarithms, the label's logit is read alone."""
    i = ct.bid(0)
    largest = ct.full((1, 1), -1.0e30, dtype=ct.float32)
    total = ct.zeros((1, 1), dtype=ct.float32)
    for k in range(ct.num_tiles(x, axis=1, shape=(1, T))):
        tile = ct.load(x, index=(i, k), shape=(1, T), padding_mode=ct.PaddingMode.NEG_INF)
        part = ct.astype(tile, ct.float32)
        larger = ct.maximum(largest, ct.max(part, axis=1, keepdims=True))
        total = total * ct.exp(largest - larger) + ct.sum(ct.exp(part - larger), axis=1, keepdims=True)
        largest = larger
    logsum = ct.reshape(largest + ct.log(total), (1,))
    label = ct.load(labels, index=(i,), shape=(1,))
    chosen = ct.astype(ct.gather(x, (i, label)), ct.float32)
    ct.store(loss, index=(i,), tile=logsum - chosen)
    ct.store(logsums, index=(i,), tile=logsum)


@ct.kernel
def divergence(p_logits, q_logits, loss, temperature, R: ct.Constant[int], T: ct.Constant[int]):
    """Kullback and Leibler's, of two rows of logits at a temperature, as in distillation."""
    i = ct.bid(0)
    p = ct.load(p_logits, index=(i, 0), shape=(R, T)) / temperature
    q = ct.load(q_logits, index=(i, 0), shape=(R, T)) / temperature
    p = p - ct.max(p, axis=1, keepdims=True)
    q = q - ct.max(q, axis=1, keepdims=True)
    log_p = p - ct.log(ct.sum(ct.exp(p), axis=1, keepdims=True))
    log_q = q - ct.log(ct.sum(ct.exp(q), axis=1, keepdims=True))
    ct.store(
        loss, index=(i,), tile=ct.sum(ct.exp(log_p) * (log_p - log_q), axis=1) * (temperature * temperature)
    )


@ct.kernel
def focal(x, labels, loss, gamma, alpha, T: ct.Constant[int]):
    """Binary, from logits, with easy examples weighed down by a power."""
    i = ct.bid(0)
    logit = ct.load(x, index=(i,), shape=(T,))
    yes = ct.load(labels, index=(i,), shape=(T,)) == 1
    signed = ct.where(yes, logit, -logit)
    p = 1.0 / (1.0 + ct.exp(-signed))
    entropy = ct.log(1.0 + ct.exp(-ct.abs(signed))) + ct.maximum(-signed, 0.0)
    weight = ct.where(yes, alpha, 1.0 - alpha)
    ct.store(loss, index=(i,), tile=weight * ct.pow(1.0 - p, gamma) * entropy)


@ct.kernel
def huber(x, target, loss, grad, delta, T: ct.Constant[int]):
    """The loss of each element, and its gradient."""
    i = ct.bid(0)
    error = ct.load(x, index=(i,), shape=(T,)) - ct.load(target, index=(i,), shape=(T,))
    size = ct.abs(error)
    near = size <= delta
    ct.store(loss, index=(i,), tile=ct.where(near, 0.5 * error * error, delta * (size - 0.5 * delta)))
    ct.store(grad, index=(i,), tile=ct.where(near, error, ct.where(error > 0.0, delta, -delta)))


@ct.kernel
def mean_squared(x, target, partials, T: ct.Constant[int]):
    """Half precision in, each block's mean in f64 out, by a loop whose tiles are dealt in turn."""
    b = ct.bid(0)
    acc = ct.zeros((T,), dtype=ct.float64)
    for k in range(b, ct.num_tiles(x, axis=0, shape=(T,)), ct.num_blocks(0)):
        a = ct.load(x, index=(k,), shape=(T,), padding_mode=ct.PaddingMode.ZERO)
        z = ct.load(target, index=(k,), shape=(T,), padding_mode=ct.PaddingMode.ZERO)
        error = ct.astype(a, ct.float64) - ct.astype(z, ct.float64)
        acc = acc + error * error
    mean = ct.sum(acc, axis=0) / ct.astype(x.shape[0], ct.float64)
    ct.store(partials, index=(b,), tile=ct.reshape(mean, (1,)))


@ct.kernel
def cosine_similarity(x, y, out, R: ct.Constant[int], T: ct.Constant[int]):
    i = ct.bid(0)
    a = ct.astype(ct.load(x, index=(i, 0), shape=(R, T)), ct.float32)
    b = ct.astype(ct.load(y, index=(i, 0), shape=(R, T)), ct.float32)
    lengths = ct.sum(a * a, axis=1) * ct.sum(b * b, axis=1)
    ct.store(out, index=(i,), tile=ct.sum(a * b, axis=1) * ct.rsqrt(ct.maximum(lengths, 1e-12)))


@ct.kernel
def contrastive(x, y, loss, scale, N: ct.Constant[int], D: ct.Constant[int]):
    """Pairs of a batch against all others: the diagonal of a product is what should be large."""
    a, b = ct.load(x, index=(0, 0), shape=(N, D)), ct.load(y, index=(0, 0), shape=(N, D))
    scores = ct.mma(a, ct.transpose(b), ct.zeros((N, N), dtype=ct.float32)) * scale
    largest = ct.max(scores, axis=1, keepdims=True)
    logsum = ct.log(ct.sum(ct.exp(scores - largest), axis=1, keepdims=True)) + largest
    row = ct.reshape(ct.arange(N, dtype=ct.int32), (N, 1))
    own = ct.where(row == ct.reshape(ct.arange(N, dtype=ct.int32), (1, N)), scores, 0.0)
    ct.store(loss, index=(0,), tile=ct.reshape(logsum - ct.sum(own, axis=1, keepdims=True), (N,)))


@ct.kernel
def margin_ranking(x, labels, loss, margin, T: ct.Constant[int]):
    """Hinge: by how much other classes come within a margin of the right one, the most of them."""
    i = ct.bid(0)
    row = ct.load(x, index=(i, 0), shape=(1, T))
    label = ct.reshape(ct.load(labels, index=(i,), shape=(1,)), (1, 1))
    here = ct.reshape(ct.arange(T, dtype=ct.int32), (1, T)) == label
    right = ct.sum(ct.where(here, row, 0.0), axis=1, keepdims=True)
    over = ct.where(here, 0.0, ct.maximum(row - right + ct.astype(margin, ct.float64), 0.0))
    ct.store(loss, index=(i,), tile=ct.max(over, axis=1))


def drafts() -> Iterator[Draft]:
    """Each kernel once."""
    name = "loss/cross_entropy_backward_bf16"
    parts = [moderate("bf16", name, (8, 128)), integers("i32", name + "l", (8,), -20, 128)]
    yield Draft(
        name, cross_entropy_backward, (8,), [*parts, output("bf16", (8, 128)), Number("f32", 0.1), 128]
    )
    name = "loss/chunked_cross_entropy_f16"
    parts = [moderate("f16", name, (8, 300)), integers("i32", name + "l", (8,), 0, 300)]
    yield Draft(name, chunked_cross_entropy, (8,), [*parts, output("f32", (8,)), output("f32", (8,)), 128])
    name = "loss/divergence_f32"
    parts = [moderate("f32", name + part, (16, 64)) for part in "pq"]
    yield Draft(name, divergence, (4,), [*parts, output("f32", (16,)), Number("f32", 2.0), 4, 64])
    name = "loss/focal_f32"
    parts = [moderate("f32", name, (512,)), integers("i32", name + "l", (512,), 0, 2), output("f32", (512,))]
    yield Draft(name, focal, (4,), [*parts, Number("f32", 2.0), Number("f32", 0.25), 128])
    name = "loss/huber_f32"
    parts = [moderate("f32", name + "x", (512,)), moderate("f32", name + "t", (512,))]
    parts += [output("f32", (512,)), output("f32", (512,)), Number("f32", 1.5)]
    yield Draft(name, huber, (4,), [*parts, 128])
    name = "loss/mean_squared_f16"
    parts = [moderate("f16", name + "x", (1000,)), moderate("f16", name + "t", (1000,)), output("f64", (3,))]
    yield Draft(name, mean_squared, (3,), [*parts, 128])
    name = "loss/cosine_similarity_bf16"
    parts = [moderate("bf16", name + part, (16, 128)) for part in "xy"]
    yield Draft(name, cosine_similarity, (4,), [*parts, output("f32", (16,)), 4, 128])
    name = "loss/contrastive_f16"
    parts = [moderate("f16", name + part, (32, 64), high=-1) for part in "xy"]
    yield Draft(name, contrastive, (1,), [*parts, output("f32", (32,)), Number("f32", 2.5), 32, 64])
    name = "loss/margin_ranking_f64"
    parts = [moderate("f64", name, (8, 64)), integers("i32", name + "l", (8,), 0, 64), output("f64", (8,))]
    yield Draft(name, margin_ranking, (8,), [*parts, Number("f32", 1.0), 64])
