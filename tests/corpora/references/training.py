"""The cases of ``corpora/sources/training.py``."""

from __future__ import annotations

import numpy as np

from .register import gelu, logistic, reference


@reference("train/adam_*")
def adam(p, g, m, v, rate, beta1, beta2, epsilon, decay, correct1, correct2):
    m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g**2
    step = m / correct1 / (np.sqrt(v / correct2) + epsilon)
    return p * (1 - rate * decay) - rate * step, m, v


@reference("train/mixed_momentum_*")
def mixed_momentum(p, half, g, velocity, rate, momentum):
    velocity = momentum * velocity + g
    p = p - rate * (g + momentum * velocity)
    return p, p, velocity


@reference("train/lion_*")
def lion(p, g, m, rate, beta1, beta2):
    return p - rate * np.sign(beta1 * m + (1 - beta1) * g), beta2 * m + (1 - beta2) * g


@reference("train/squared_length_*")
def squared_length(g, total, tickets, length):
    return (g**2).sum(keepdims=True), np.array([4]), np.linalg.norm(g, keepdims=True)


@reference("train/clip_*")
def clip(g, length, limit):
    assert length[0] > limit
    return (g * limit / length[0],)


@reference("train/averaged_*")
def averaged(p, ema, decay):
    return (decay * ema + (1 - decay) * p,)


@reference("train/gelu_backward_*", 1e-4)
def gelu_backward(x, dy, dx):
    """By a difference quotient of the function itself."""
    h = 1e-5
    return ((gelu(x + h) - gelu(x - h)) / (2 * h) * dy,)


@reference("train/swiglu_backward_*")
def swiglu_backward(x, gate, dy, dx, dgate):
    h = 1e-5
    slope = ((gate + h) * logistic(gate + h) - (gate - h) * logistic(gate - h)) / (2 * h)
    return dy * gate * logistic(gate), dy * x * slope
