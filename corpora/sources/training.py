"""Steps of optimizers, on parameters in place, and what goes with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import cuda.tile as ct

from ..build.draft import Array, Draft, Number, integers, moderate, output

ZEROS = {"kind": "fill", "bits": "0"}


@ct.kernel
def adam(p, g, m, v, rate, beta1, beta2, epsilon, decay, correct1, correct2, T: ct.Constant[int]):
    """AdamW: two moments, corrected for their start, and decay of the weights apart from the gradient."""
    i = ct.bid(0)
    grad = ct.load(g, index=(i,), shape=(T,))
    first = beta1 * ct.load(m, index=(i,), shape=(T,)) + (1.0 - beta1) * grad
    second = beta2 * ct.load(v, index=(i,), shape=(T,)) + (1.0 - beta2) * grad * grad
    old = ct.load(p, index=(i,), shape=(T,))
    step = (first / correct1) / (ct.sqrt(second / correct2) + epsilon)
    ct.store(m, index=(i,), tile=first)
    ct.store(v, index=(i,), tile=second)
    ct.store(p, index=(i,), tile=old - rate * (step + decay * old))


@ct.kernel
def mixed_momentum(p, half, g, velocity, rate, momentum, T: ct.Constant[int]):
    """Nesterov's momentum on f32 masters, whose f16 copies the model uses."""
    i = ct.bid(0)
    grad = ct.astype(ct.load(g, index=(i,), shape=(T,)), ct.float32)
    speed = momentum * ct.load(velocity, index=(i,), shape=(T,)) + grad
    new = ct.load(p, index=(i,), shape=(T,)) - rate * (grad + momentum * speed)
    ct.store(velocity, index=(i,), tile=speed)
    ct.store(p, index=(i,), tile=new)
    ct.store(half, index=(i,), tile=ct.astype(new, half.dtype))


@ct.kernel
def lion(p, g, m, rate, beta1, beta2, T: ct.Constant[int]):
    """Steps of one size, up or down by the sign of a mean."""
    i = ct.bid(0)
    grad = ct.astype(ct.load(g, index=(i,), shape=(T,)), ct.float32)
    mean = ct.astype(ct.load(m, index=(i,), shape=(T,)), ct.float32)
    blend = beta1 * mean + (1.0 - beta1) * grad
    sign = ct.where(blend > 0.0, 1.0, ct.where(blend < 0.0, -1.0, 0.0))
    new = ct.astype(ct.load(p, index=(i,), shape=(T,)), ct.float32) - rate * sign
    ct.store(p, index=(i,), tile=ct.astype(new, p.dtype))
    ct.store(m, index=(i,), tile=ct.astype(beta2 * mean + (1.0 - beta2) * grad, m.dtype))


@ct.kernel
def squared_length(g, total, tickets, length, T: ct.Constant[int]):
    """The gradient's length: blocks add whole numbers atomically, and the last to come takes the root."""
    i = ct.bid(0)
    tile = ct.load(g, index=(i,), shape=(T,))
    ct.atomic_add(total, 0, ct.sum(tile * tile, axis=0))
    if ct.atomic_add(tickets, 0, 1) == ct.num_blocks(0) - 1:
        ct.store(length, index=(0,), tile=ct.sqrt(ct.atomic_add(total, ct.zeros((1,), dtype=ct.int32), 0.0)))


@ct.kernel
def clip(g, length, limit, T: ct.Constant[int]):
    """Gradients scaled in place if their length is above a limit."""
    i = ct.bid(0)
    norm = ct.load(length, index=(0,), shape=()).item()
    if norm > limit:
        tile = ct.astype(ct.load(g, index=(i,), shape=(T,)), ct.float32)
        ct.store(g, index=(i,), tile=ct.astype(tile * (limit / (norm + 1e-6)), g.dtype))


@ct.kernel
def averaged(p, ema, decay, T: ct.Constant[int]):
    """An exponential mean of the parameters, kept in bf16, rounded once."""
    i = ct.bid(0)
    new = ct.astype(ct.load(p, index=(i,), shape=(T,)), ct.float32)
    old = ct.astype(ct.load(ema, index=(i,), shape=(T,)), ct.float32)
    ct.store(ema, index=(i,), tile=ct.astype(old + (1.0 - decay) * (new - old), ema.dtype))


@ct.kernel
def gelu_backward(x, dy, dx, T: ct.Constant[int]):
    """The derivative of the approximation by tanh."""
    i = ct.bid(0)
    a = ct.load(x, index=(i,), shape=(T,))
    t = ct.tanh(0.7978845608 * (a + 0.044715 * a * a * a))
    slope = 0.5 * (1.0 + t) + 0.5 * a * (1.0 - t * t) * 0.7978845608 * (1.0 + 0.134145 * a * a)
    ct.store(dx, index=(i,), tile=slope * ct.load(dy, index=(i,), shape=(T,)))


@ct.kernel
def swiglu_backward(x, gate, dy, dx, dgate, T: ct.Constant[int]):
    i = ct.bid(0)
    a = ct.astype(ct.load(x, index=(i,), shape=(T,)), ct.float32)
    g = ct.astype(ct.load(gate, index=(i,), shape=(T,)), ct.float32)
    grad = ct.astype(ct.load(dy, index=(i,), shape=(T,)), ct.float32)
    open_ = 1.0 / (1.0 + ct.exp(-g))
    ct.store(dx, index=(i,), tile=ct.astype(grad * g * open_, dx.dtype))
    ct.store(dgate, index=(i,), tile=ct.astype(grad * a * open_ * (1.0 + g * (1.0 - open_)), dgate.dtype))


def drafts() -> Iterator[Draft]:
    """Each kernel once."""
    name = "train/adam_f32"
    parts = [
        _changed(moderate("f32", name + "p", (512,), high=0)),
        moderate("f32", name + "g", (512,), high=0),
    ]
    parts += [_changed(moderate("f32", name + "m", (512,), high=-1))]
    parts += [_changed(moderate("f32", name + "v", (512,), high=0, positive=True))]
    values = (0.001, 0.9, 0.999, 1e-8, 0.01, 0.41, 0.005)
    yield Draft(name, adam, (4,), [*parts, *(Number("f32", v) for v in values), 128])
    name = "train/mixed_momentum_f16"
    parts = [_changed(moderate("f32", name + "p", (512,), high=0)), output("f16", (512,))]
    parts += [moderate("f16", name + "g", (512,)), _changed(moderate("f32", name + "v", (512,), high=0))]
    yield Draft(name, mixed_momentum, (4,), [*parts, Number("f32", 0.05), Number("f32", 0.9), 128])
    name = "train/lion_bf16"
    parts = [_changed(moderate("bf16", name + "p", (512,), high=0)), moderate("bf16", name + "g", (512,))]
    parts += [_changed(moderate("bf16", name + "m", (512,), high=0))]
    yield Draft(name, lion, (4,), [*parts, *(Number("f32", v) for v in (0.01, 0.9, 0.99)), 128])
    name = "train/squared_length_f32"
    parts = [integers("f32", name, (512,), -50, 51), Array("f32", (1,), ZEROS, output=True)]
    parts += [Array("i32", (1,), ZEROS, output=True), output("f32", (1,))]
    yield Draft(name, squared_length, (4,), [*parts, 128])
    name = "train/clip_f16"
    length = Array("f32", (1,), {"kind": "explicit", "bits": ["41480000"]})
    parts = [_changed(moderate("f16", name, (512,))), length, Number("f32", 5.0)]
    yield Draft(name, clip, (4,), [*parts, 128])
    name = "train/averaged_bf16"
    parts = [moderate("bf16", name, (512,)), _changed(moderate("bf16", name + "e", (512,)))]
    yield Draft(name, averaged, (4,), [*parts, Number("f32", 0.95), 128])
    name = "train/gelu_backward_f32"
    parts = [
        moderate("f32", name, (512,), high=1),
        moderate("f32", name + "g", (512,)),
        output("f32", (512,)),
    ]
    yield Draft(name, gelu_backward, (4,), [*parts, 128])
    name = "train/swiglu_backward_bf16"
    parts = [moderate("bf16", name + part, (512,)) for part in "xgd"]
    yield Draft(name, swiglu_backward, (4,), [*parts, output("bf16", (512,)), output("bf16", (512,)), 128])


def _changed(array: Array) -> Array:
    """The array as input and output in one."""
    return replace(array, output=True)
