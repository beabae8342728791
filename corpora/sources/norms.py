"""Normalisations and their gradients."""

from __future__ import annotations

from collections.abc import Iterator

import cuda.tile as ct

from ..build.draft import Draft, Number, moderate, output


@ct.kernel
def layer_norm_backward(x, weight, dy, dx, dweight, dbias, epsilon, R: ct.Constant[int], T: ct.Constant[int]):
    """R rows a block; the gradients of weight and bias are each block's share, a row of them."""
    i = ct.bid(0)
    rows = ct.astype(ct.load(x, index=(i, 0), shape=(R, T)), ct.float32)
    grad = ct.astype(ct.load(dy, index=(i, 0), shape=(R, T)), ct.float32)
    w = ct.reshape(ct.astype(ct.load(weight, index=(0,), shape=(T,)), ct.float32), (1, T))
    centred = rows - ct.sum(rows, axis=1, keepdims=True) / T
    inverse = ct.rsqrt(ct.sum(centred * centred, axis=1, keepdims=True) / T + epsilon)
    normal = centred * inverse
    weighted = grad * w
    shift = ct.sum(weighted, axis=1, keepdims=True) / T
    turn = ct.sum(weighted * normal, axis=1, keepdims=True) / T
    ct.store(dx, index=(i, 0), tile=ct.astype(inverse * (weighted - shift - normal * turn), dx.dtype))
    ct.store(dweight, index=(i, 0), tile=ct.sum(grad * normal, axis=0, keepdims=True))
    ct.store(dbias, index=(i, 0), tile=ct.sum(grad, axis=0, keepdims=True))


@ct.kernel
def rms_norm_backward(x, weight, dy, dx, epsilon, T: ct.Constant[int]):
    i = ct.bid(0)
    row = ct.astype(ct.load(x, index=(i, 0), shape=(1, T)), ct.float32)
    grad = ct.astype(ct.load(dy, index=(i, 0), shape=(1, T)), ct.float32)
    w = ct.reshape(ct.astype(ct.load(weight, index=(0,), shape=(T,)), ct.float32), (1, T))
    inverse = 1.0 / ct.sqrt(ct.sum(row * row, axis=1, keepdims=True) / T + epsilon)
    normal = row * inverse
    weighted = grad * w
    turn = ct.sum(weighted * normal, axis=1, keepdims=True) / T
    ct.store(dx, index=(i, 0), tile=ct.astype(inverse * (weighted - normal * turn), dx.dtype))


@ct.kernel
def add_rms_norm(x, residual, weight, y, updated, epsilon, T: ct.Constant[int]):
    """The residual stream takes the addend and goes on; what is normalised is their sum."""
    i = ct.bid(0)
    row = ct.astype(ct.load(x, index=(i, 0), shape=(1, T)), ct.float32)
    row = row + ct.astype(ct.load(residual, index=(i, 0), shape=(1, T)), ct.float32)
    ct.store(updated, index=(i, 0), tile=ct.astype(row, updated.dtype))
    inverse = ct.rsqrt(ct.sum(row * row, axis=1, keepdims=True) / T + epsilon)
    w = ct.reshape(ct.astype(ct.load(weight, index=(0,), shape=(T,)), ct.float32), (1, T))
    ct.store(y, index=(i, 0), tile=ct.astype(row * inverse * w, y.dtype))


@ct.kernel
def batch_norm(x, weight, bias, y, means, variances, epsilon, N: ct.Constant[int], S: ct.Constant[int]):
    """A block a channel: the statistics are those of the batch, and are kept."""
    c = ct.bid(0)
    tile = ct.load(x, index=(0, c, 0), shape=(N, 1, S))
    mean = ct.sum(ct.sum(tile, axis=2, keepdims=True), axis=0, keepdims=True) / (N * S)
    centred = tile - mean
    squares = ct.sum(ct.sum(centred * centred, axis=2, keepdims=True), axis=0, keepdims=True)
    variance = squares / (N * S)
    w = ct.reshape(ct.load(weight, index=(c,), shape=(1,)), (1, 1, 1))
    b = ct.reshape(ct.load(bias, index=(c,), shape=(1,)), (1, 1, 1))
    ct.store(y, index=(0, c, 0), tile=centred * ct.rsqrt(variance + epsilon) * w + b)
    ct.store(means, index=(c,), tile=ct.reshape(mean, (1,)))
    ct.store(variances, index=(c,), tile=ct.reshape(variance, (1,)))


@ct.kernel
def batch_norm_backward(
    x, dy, weight, means, variances, dx, dweight, dbias, epsilon, N: ct.Constant[int], S: ct.Constant[int]
):
    c = ct.bid(0)
    tile = ct.load(x, index=(0, c, 0), shape=(N, 1, S))
    grad = ct.load(dy, index=(0, c, 0), shape=(N, 1, S))
    w = ct.reshape(ct.load(weight, index=(c,), shape=(1,)), (1, 1, 1))
    mean = ct.reshape(ct.load(means, index=(c,), shape=(1,)), (1, 1, 1))
    variance = ct.reshape(ct.load(variances, index=(c,), shape=(1,)), (1, 1, 1))
    inverse = ct.rsqrt(variance + epsilon)
    normal = (tile - mean) * inverse
    total = ct.sum(ct.sum(grad, axis=2, keepdims=True), axis=0, keepdims=True)
    along = ct.sum(ct.sum(grad * normal, axis=2, keepdims=True), axis=0, keepdims=True)
    count = 1.0 * N * S
    ct.store(dx, index=(0, c, 0), tile=w * inverse * (grad - total / count - normal * (along / count)))
    ct.store(dweight, index=(c,), tile=ct.reshape(along, (1,)))
    ct.store(dbias, index=(c,), tile=ct.reshape(total, (1,)))


@ct.kernel
def group_norm(x, weight, bias, y, epsilon, G: ct.Constant[int], S: ct.Constant[int]):
    """A block an image and a group of G channels; each channel has a weight and a bias of its own."""
    n, g = ct.bid(0), ct.bid(1)
    tile = ct.astype(ct.load(x, index=(n, g, 0), shape=(1, G, S)), ct.float32)
    flat = ct.reshape(tile, (1, G * S))
    mean = ct.sum(flat, axis=1, keepdims=True) / (G * S)
    centred = flat - mean
    variance = ct.sum(centred * centred, axis=1, keepdims=True) / (G * S)
    normal = ct.reshape(centred * ct.rsqrt(variance + epsilon), (1, G, S))
    w = ct.reshape(ct.astype(ct.load(weight, index=(g,), shape=(G,)), ct.float32), (1, G, 1))
    b = ct.reshape(ct.astype(ct.load(bias, index=(g,), shape=(G,)), ct.float32), (1, G, 1))
    ct.store(y, index=(n, g, 0), tile=ct.astype(normal * w + b, y.dtype))


def _merge(count_a, mean_a, squares_a, count_b, mean_b, squares_b):
    """Two parts' counts, means and sums of squared deviations, as Chan, Golub and LeVeque merge them."""
    count = count_a + count_b
    delta = mean_b - mean_a
    share = ct.where(count > 0.0, count_b / ct.maximum(count, 1.0), 0.0)
    return count, mean_a + delta * share, squares_a + squares_b + delta * delta * count_a * share


@ct.kernel
def welford(x, means, variances, T: ct.Constant[int]):
    """Mean and variance of a long row, a tile at a time, by merging parts and never subtracting squares."""
    i = ct.bid(0)
    count = ct.zeros((1, 1), dtype=ct.float32)
    mean = ct.zeros((1, 1), dtype=ct.float32)
    squares = ct.zeros((1, 1), dtype=ct.float32)
    for k in range(ct.num_tiles(x, axis=1, shape=(1, T))):
        row = ct.load(x, index=(i, k), shape=(1, T))
        ones, zeros = ct.ones((1, T), dtype=ct.float32), ct.zeros((1, T), dtype=ct.float32)
        c, m, s = ct.reduce((ones, row, zeros), 1, _merge, (0.0, 0.0, 0.0), keepdims=True)
        count, mean, squares = _merge(count, mean, squares, c, m, s)
    ct.store(means, index=(i,), tile=ct.reshape(mean, (1,)))
    ct.store(variances, index=(i,), tile=ct.reshape(squares / count, (1,)))


@ct.kernel
def l2_normalise(x, y, lengths, R: ct.Constant[int], T: ct.Constant[int]):
    """Columns, not rows, get length 1."""
    j = ct.bid(0)
    tile = ct.load(x, index=(0, j), shape=(R, T))
    length = ct.sqrt(ct.sum(tile * tile, axis=0, keepdims=True))
    ct.store(y, index=(0, j), tile=tile / ct.maximum(length, 1e-12))
    ct.store(lengths, index=(j,), tile=ct.reshape(length, (T,)))


def drafts() -> Iterator[Draft]:
    """Each kernel once or twice."""
    for fmt in ("f32", "bf16"):
        name = f"norm/layer_norm_backward_{fmt}"
        parts = [moderate(fmt, name + "x", (16, 128)), moderate(fmt, name + "w", (128,), high=0)]
        parts += [moderate(fmt, name + "g", (16, 128), high=0), output(fmt, (16, 128))]
        parts += [output("f32", (4, 128)), output("f32", (4, 128)), Number("f32", 1e-5)]
        yield Draft(name, layer_norm_backward, (4,), [*parts, 4, 128])
    name = "norm/rms_norm_backward_f16"
    parts = [moderate("f16", name + "x", (8, 256)), moderate("f16", name + "w", (256,), high=0)]
    parts += [moderate("f16", name + "g", (8, 256), high=0), output("f16", (8, 256)), Number("f32", 1e-6)]
    yield Draft(name, rms_norm_backward, (8,), [*parts, 256])
    name = "norm/add_rms_norm_bf16"
    parts = [moderate("bf16", name + part, (8, 256)) for part in "xr"]
    parts += [moderate("bf16", name + "w", (256,), high=0), output("bf16", (8, 256))]
    yield Draft(name, add_rms_norm, (8,), [*parts, output("bf16", (8, 256)), Number("f32", 1e-6), 256])
    shape = (4, 6, 64)
    name = "norm/batch_norm_f32"
    parts = [moderate("f32", name, shape), moderate("f32", name + "w", (6,), high=0)]
    parts += [moderate("f32", name + "b", (6,), high=0), output("f32", shape), output("f32", (6,))]
    yield Draft(name, batch_norm, (6,), [*parts, output("f32", (6,)), Number("f32", 1e-5), 4, 64])
    name = "norm/batch_norm_backward_f32"
    parts = [moderate("f32", name, shape), moderate("f32", name + "g", shape, high=0)]
    parts += [moderate("f32", name + "w", (6,), high=0), moderate("f32", name + "m", (6,), high=-1)]
    parts += [moderate("f32", name + "v", (6,), low=2, high=4, positive=True), output("f32", shape)]
    parts += [output("f32", (6,)), output("f32", (6,)), Number("f32", 1e-5)]
    yield Draft(name, batch_norm_backward, (6,), [*parts, 4, 64])
    name = "norm/group_norm_f16"
    parts = [moderate("f16", name, (2, 16, 64)), moderate("f16", name + "w", (16,), high=0)]
    parts += [moderate("f16", name + "b", (16,), high=0), output("f16", (2, 16, 64)), Number("f32", 1e-5)]
    yield Draft(name, group_norm, (2, 4), [*parts, 4, 64])
    name = "norm/welford_f32"
    parts = [moderate("f32", name, (4, 512)), output("f32", (4,)), output("f32", (4,))]
    yield Draft(name, welford, (4,), [*parts, 128])
    name = "norm/l2_normalise_f64"
    parts = [moderate("f64", name, (16, 64)), output("f64", (16, 64)), output("f64", (64,))]
    yield Draft(name, l2_normalise, (4,), [*parts, 16, 16])
