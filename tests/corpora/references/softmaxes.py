"""The cases of ``corpora/sources/softmaxes.py``."""

from __future__ import annotations

import numpy as np

from .register import reference, softmax


@reference("softmax/log_softmax_*")
def log_softmax(x, y):
    return (np.log(softmax(x)),)


@reference("softmax/backward_*")
def softmax_backward(p, dy, dx):
    return (np.stack([(np.diag(row) - np.outer(row, row)) @ g for row, g in zip(p, dy, strict=True)]),)


@reference("softmax/online_*")
def online_softmax(x, y):
    return (softmax(x),)


@reference("softmax/causal_*")
def causal_softmax(x, y, scale):
    return (softmax(np.where(np.tri(len(x)) > 0, x * scale, -np.inf)),)


@reference("softmax/log_sum_exp_*")
def log_sum_exp(x, y):
    return (np.log(np.exp(x).sum(axis=1)),)


@reference("softmax/gumbel_choice_*")
def gumbel_choice(x, noise, choice, temperature):
    return ((x / temperature - np.log(-np.log(noise))).argmax(axis=1),)
