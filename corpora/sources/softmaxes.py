"""Softmax and its relatives."""

from __future__ import annotations

from collections.abc import Iterator

import cuda.tile as ct

from ..build.draft import Draft, Number, moderate, output


@ct.kernel
def log_softmax(x, y, T: ct.Constant[int]):
    i = ct.bid(0)
    row = ct.astype(ct.load(x, index=(i, 0), shape=(1, T)), ct.float32)
    shifted = row - ct.max(row, axis=1, keepdims=True)
    total = ct.log(ct.sum(ct.exp(shifted), axis=1, keepdims=True))
    ct.store(y, index=(i, 0), tile=ct.astype(shifted - total, y.dtype))


@ct.kernel
def softmax_backward(probabilities, dy, dx, R: ct.Constant[int], T: ct.Constant[int]):
    """Several rows a block."""
    i = ct.bid(0)
    p = ct.astype(ct.load(probabilities, index=(i, 0), shape=(R, T)), ct.float32)
    grad = ct.astype(ct.load(dy, index=(i, 0), shape=(R, T)), ct.float32)
    inner = ct.sum(p * grad, axis=1, keepdims=True)
    ct.store(dx, index=(i, 0), tile=ct.astype(p * (grad - inner), dx.dtype))


@ct.kernel
def online_softmax(x, y, T: ct.Constant[int]):
    """A row longer than a tile: the maximum and the sum run along, and the second pass divides.

    The last tile hangs over the row's end; what it reads there is minus infinity, whose weight is zero.
    """
    i = ct.bid(0)
    largest = ct.full((1, 1), -1.0e30, dtype=ct.float32)
    total = ct.zeros((1, 1), dtype=ct.float32)
    for k in range(ct.num_tiles(x, axis=1, shape=(1, T))):
        tile = ct.load(x, index=(i, k), shape=(1, T), padding_mode=ct.PaddingMode.NEG_INF)
        part = ct.astype(tile, ct.float32)
        larger = ct.maximum(largest, ct.max(part, axis=1, keepdims=True))
        total = total * ct.exp(largest - larger) + ct.sum(ct.exp(part - larger), axis=1, keepdims=True)
        largest = larger
    for k in range(ct.num_tiles(x, axis=1, shape=(1, T))):
        tile = ct.load(x, index=(i, k), shape=(1, T), padding_mode=ct.PaddingMode.NEG_INF)
        part = ct.exp(ct.astype(tile, ct.float32) - largest) / total
        ct.store(y, index=(i, k), tile=ct.astype(part, y.dtype))


@ct.kernel
def causal_softmax(x, y, scale, R: ct.Constant[int], T: ct.Constant[int]):
    """Scores of T queries and keys: the diagonal is the last that counts."""
    i = ct.bid(0)
    scores = ct.load(x, index=(i, 0), shape=(R, T)) * scale
    query = ct.reshape(ct.arange(R, dtype=ct.int32), (R, 1)) + i * R
    key = ct.reshape(ct.arange(T, dtype=ct.int32), (1, T))
    seen = key <= query
    scores = ct.where(seen, scores, -1.0e30)
    weights = ct.where(seen, ct.exp(scores - ct.max(scores, axis=1, keepdims=True)), 0.0)
    ct.store(y, index=(i, 0), tile=weights / ct.sum(weights, axis=1, keepdims=True))


def _join(largest_a, total_a, largest_b, total_b):
    """Two parts' maxima and sums of exponentials relative to them."""
    largest = ct.maximum(largest_a, largest_b)
    return largest, total_a * ct.exp(largest_a - largest) + total_b * ct.exp(largest_b - largest)


@ct.kernel
def log_sum_exp(x, y, T: ct.Constant[int]):
    """Maximum and sum in one fold over pairs."""
    i = ct.bid(0)
    row = ct.load(x, index=(i, 0), shape=(1, T))
    ones = ct.ones((1, T), dtype=x.dtype)
    largest, total = ct.reduce((row, ones), 1, _join, (-1.0e300, 0.0))
    ct.store(y, index=(i,), tile=largest + ct.log(total))


@ct.kernel
def gumbel_choice(x, noise, choice, temperature, R: ct.Constant[int], T: ct.Constant[int]):
    """Draw from the softmax of each row: the largest logit after noise that is Gumbel's."""
    i = ct.bid(0)
    logits = ct.load(x, index=(i, 0), shape=(R, T)) / temperature
    uniform = ct.load(noise, index=(i, 0), shape=(R, T))
    ct.store(choice, index=(i,), tile=ct.argmax(logits - ct.log(-ct.log(uniform)), axis=1))


def drafts() -> Iterator[Draft]:
    """Each kernel in a format or two."""
    for fmt in ("f32", "bf16"):
        name = f"softmax/log_softmax_{fmt}"
        yield Draft(name, log_softmax, (8,), [moderate(fmt, name, (8, 256)), output(fmt, (8, 256)), 256])
    name = "softmax/backward_f32"
    parts = [moderate("f32", name + "p", (16, 64), low=-9, high=-5, positive=True)]
    parts += [moderate("f32", name + "g", (16, 64)), output("f32", (16, 64))]
    yield Draft(name, softmax_backward, (4,), [*parts, 4, 64])
    name = "softmax/online_f16"
    parts = [moderate("f16", name, (4, 300)), output("f16", (4, 300))]
    yield Draft(name, online_softmax, (4,), [*parts, 64])
    name = "softmax/causal_f32"
    parts = [moderate("f32", name, (64, 64)), output("f32", (64, 64)), Number("f32", 0.125)]
    yield Draft(name, causal_softmax, (4,), [*parts, 16, 64])
    name = "softmax/log_sum_exp_f64"
    yield Draft(name, log_sum_exp, (8,), [moderate("f64", name, (8, 128)), output("f64", (8,)), 128])
    name = "softmax/gumbel_choice_f32"
    noise = moderate("f32", name + "u", (16, 64), low=-6, high=-1, positive=True)
    parts = [moderate("f32", name, (16, 64)), noise, output("i32", (16,)), Number("f32", 0.7)]
    yield Draft(name, gumbel_choice, (4,), [*parts, 4, 64])
