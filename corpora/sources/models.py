"""Kernels as models run them: softmax, normalisations, activations, attention."""

from __future__ import annotations

from collections.abc import Iterator

import cuda.tile as ct

from ..build.draft import Draft, Number, integers, moderate, output


@ct.kernel
def softmax(x, y, T: ct.Constant[int]):
    i = ct.bid(0)
    row = ct.astype(ct.load(x, index=(i, 0), shape=(1, T)), ct.float32)
    e = ct.exp(row - ct.max(row, axis=1, keepdims=True))
    ct.store(y, index=(i, 0), tile=ct.astype(e / ct.sum(e, axis=1, keepdims=True), y.dtype))


@ct.kernel
def layer_norm(x, weight, bias, y, epsilon, T: ct.Constant[int]):
    i = ct.bid(0)
    row = ct.astype(ct.load(x, index=(i, 0), shape=(1, T)), ct.float32)
    mean = ct.sum(row, axis=1, keepdims=True) / T
    centred = row - mean
    variance = ct.sum(centred * centred, axis=1, keepdims=True) / T
    w = ct.reshape(ct.astype(ct.load(weight, index=(0,), shape=(T,)), ct.float32), (1, T))
    b = ct.reshape(ct.astype(ct.load(bias, index=(0,), shape=(T,)), ct.float32), (1, T))
    normal = centred * ct.rsqrt(variance + epsilon) * w + b
    ct.store(y, index=(i, 0), tile=ct.astype(normal, y.dtype))


@ct.kernel
def rms_norm(x, weight, y, epsilon, T: ct.Constant[int]):
    i = ct.bid(0)
    row = ct.astype(ct.load(x, index=(i, 0), shape=(1, T)), ct.float32)
    mean_square = ct.sum(row * row, axis=1, keepdims=True) / T
    w = ct.reshape(ct.astype(ct.load(weight, index=(0,), shape=(T,)), ct.float32), (1, T))
    scaled = row / ct.sqrt(mean_square + epsilon) * w
    ct.store(y, index=(i, 0), tile=ct.astype(scaled, y.dtype))


@ct.kernel
def gelu(x, y, T: ct.Constant[int]):
    """The approximation by tanh."""
    i = ct.bid(0)
    a = ct.astype(ct.load(x, index=(i,), shape=(T,)), ct.float32)
    inner = 0.7978845608 * (a + 0.044715 * a * a * a)
    ct.store(y, index=(i,), tile=ct.astype(0.5 * a * (1.0 + ct.tanh(inner)), y.dtype))


@ct.kernel
def swiglu(x, gate, y, T: ct.Constant[int]):
    i = ct.bid(0)
    a = ct.load(x, index=(i,), shape=(T,))
    g = ct.load(gate, index=(i,), shape=(T,))
    ct.store(y, index=(i,), tile=g / (1.0 + ct.exp(-g)) * a)


@ct.kernel
def attention(q, k, v, out, scale, M: ct.Constant[int], N: ct.Constant[int], D: ct.Constant[int]):
    """One head with a running maximum and sum, a tile of keys at a time."""
    i = ct.bid(0)
    queries = ct.load(q, index=(i, 0), shape=(M, D))
    largest = ct.full((M, 1), -1.0e30, dtype=ct.float32)
    total = ct.zeros((M, 1), dtype=ct.float32)
    acc = ct.zeros((M, D), dtype=ct.float32)
    for j in range(ct.num_tiles(k, axis=0, shape=(N, D))):
        keys = ct.load(k, index=(j, 0), shape=(N, D))
        scores = ct.mma(queries, ct.transpose(keys), ct.zeros((M, N), dtype=ct.float32)) * scale
        larger = ct.maximum(largest, ct.max(scores, axis=1, keepdims=True))
        weights = ct.exp2(scores - larger)
        shrink = ct.exp2(largest - larger)
        total = total * shrink + ct.sum(weights, axis=1, keepdims=True)
        values = ct.load(v, index=(j, 0), shape=(N, D))
        acc = ct.mma(ct.astype(weights, v.dtype), values, acc * shrink)
        largest = larger
    ct.store(out, index=(i, 0), tile=ct.astype(acc / total, out.dtype))


@ct.kernel
def cross_entropy(x, labels, y, T: ct.Constant[int]):
    i = ct.bid(0)
    row = ct.load(x, index=(i, 0), shape=(1, T))
    label = ct.reshape(ct.load(labels, index=(i,), shape=(1,)), (1, 1))
    largest = ct.max(row, axis=1, keepdims=True)
    logsum = ct.log(ct.sum(ct.exp(row - largest), axis=1, keepdims=True))
    chosen = ct.where(ct.reshape(ct.arange(T, dtype=ct.int32), (1, T)) == label, row - largest, 0.0)
    loss = logsum - ct.sum(chosen, axis=1, keepdims=True)
    ct.store(y, index=(i,), tile=ct.reshape(loss, (1,)))


@ct.kernel
def rope(x, cosines, sines, y, R: ct.Constant[int], H: ct.Constant[int]):
    """Rotary embedding: the halves of a row turned against each other."""
    i = ct.bid(0)
    a = ct.load(x, index=(i, 0), shape=(R, H))
    b = ct.load(x, index=(i, 1), shape=(R, H))
    c = ct.load(cosines, index=(i, 0), shape=(R, H))
    s = ct.load(sines, index=(i, 0), shape=(R, H))
    ct.store(y, index=(i, 0), tile=a * c - b * s)
    ct.store(y, index=(i, 1), tile=b * c + a * s)


@ct.kernel
def mean_and_variance(x, mean, variance, T: ct.Constant[int]):
    """Two outputs of one pass."""
    i = ct.bid(0)
    row = ct.load(x, index=(i, 0), shape=(1, T))
    m = ct.sum(row, axis=1) / T
    ct.store(mean, index=(i,), tile=m)
    ct.store(variance, index=(i,), tile=ct.sum(row * row, axis=1) / T - m * m)


def drafts() -> Iterator[Draft]:
    """Each kernel in f32 and in a 16-bit format or two where that makes sense."""
    for fmt in ("f32", "f16", "bf16"):
        name = f"model/softmax_{fmt}"
        yield Draft(name, softmax, (8,), [moderate(fmt, name, (8, 256)), output(fmt, (8, 256)), 256])
        name = f"model/layer_norm_{fmt}"
        weights = [moderate(fmt, name + "w", (128,), high=0), moderate(fmt, name + "b", (128,), high=0)]
        parts = [moderate(fmt, name, (8, 128)), *weights, output(fmt, (8, 128)), Number("f32", 1e-5)]
        yield Draft(name, layer_norm, (8,), [*parts, 128])
        name = f"model/rms_norm_{fmt}"
        weight = moderate(fmt, name + "w", (128,), high=0)
        parts = [moderate(fmt, name, (8, 128)), weight, output(fmt, (8, 128)), Number("f32", 1e-6)]
        yield Draft(name, rms_norm, (8,), [*parts, 128])
        name = f"model/gelu_{fmt}"
        yield Draft(name, gelu, (4,), [moderate(fmt, name, (1024,)), output(fmt, (1024,)), 256])
    for fmt in ("f16", "bf16", "f32"):
        name = f"model/attention_{fmt}"
        parts = [moderate(fmt, name + part, (64, 32), high=0) for part in "qkv"]
        scale = Number("f32", 0.25503)
        yield Draft(name, attention, (2,), [*parts, output(fmt, (64, 32)), scale, 32, 16, 32])
    name = "model/swiglu_f32"
    parts = [
        moderate("f32", name + "x", (1024,)),
        moderate("f32", name + "g", (1024,)),
        output("f32", (1024,)),
    ]
    yield Draft(name, swiglu, (4,), [*parts, 256])
    name = "model/cross_entropy_f32"
    labels = integers("i32", name + "l", (8,), 0, 128)
    yield Draft(
        name, cross_entropy, (8,), [moderate("f32", name, (8, 128)), labels, output("f32", (8,)), 128]
    )
    for fmt in ("f32", "f16"):
        name = f"model/rope_{fmt}"
        parts = [moderate(fmt, name, (32, 64)), moderate(fmt, name + "c", (32, 32), high=-1)]
        parts += [moderate(fmt, name + "s", (32, 32), high=-1), output(fmt, (32, 64))]
        yield Draft(name, rope, (2,), [*parts, 16, 32])
    name = "model/mean_and_variance_f32"
    parts = [moderate("f32", name, (8, 256)), output("f32", (8,)), output("f32", (8,))]
    yield Draft(name, mean_and_variance, (8,), [*parts, 256])
