"""The cases of ``corpora/sources/models.py``."""

from __future__ import annotations

import numpy as np

from .register import gelu, logistic, reference, softmax


@reference("model/softmax_*")
def softmax_rows(x, y):
    return (softmax(x),)


@reference("model/layer_norm_*")
def layer_norm(x, weight, bias, y, epsilon):
    centred = x - x.mean(axis=1, keepdims=True)
    return (centred / np.sqrt(x.var(axis=1, keepdims=True) + epsilon) * weight + bias,)


@reference("model/rms_norm_*")
def rms_norm(x, weight, y, epsilon):
    return (x / np.sqrt((x**2).mean(axis=1, keepdims=True) + epsilon) * weight,)


@reference("model/gelu_*")
def gelu_elements(x, y):
    return (gelu(x),)


@reference("model/swiglu_*")
def swiglu(x, gate, y):
    return (gate * logistic(gate) * x,)


@reference("model/attention_f32")
@reference("model/attention_f16", 2.0**-9)
@reference("model/attention_bf16", 2.0**-6)
def attention(q, k, v, out, scale):
    return (softmax(q @ k.T * scale * np.log(2)) @ v,)


@reference("model/cross_entropy_*")
def cross_entropy(x, labels, y):
    return (-np.log(softmax(x)[np.arange(len(x)), labels]),)


@reference("model/rope_*")
def rope(x, cosines, sines, y):
    a, b = np.split(x, 2, axis=1)
    return (np.hstack([a * cosines - b * sines, b * cosines + a * sines]),)


@reference("model/mean_and_variance_*")
def mean_and_variance(x, mean, variance):
    return x.mean(axis=1), x.var(axis=1)
