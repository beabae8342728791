"""The cases of ``corpora/sources/products.py`` and ``schedules.py``."""

from __future__ import annotations

import numpy as np

from .register import gelu, logistic, reference


@reference("product/bias_relu_*")
def bias_relu(x, w, bias, out):
    return (np.maximum(x @ w + bias, 0),)


@reference("product/bias_gelu_*")
def bias_gelu(x, w, bias, out, before):
    return gelu(x @ w.T + bias), x @ w.T + bias


@reference("product/residual_tf32", 2.0**-9)
def residual(x, w, old, out, alpha, beta):
    return (alpha * (x @ w) + beta * old,)


@reference("product/scaled_rows_columns_*")
def scaled_rows_columns(x, w, rows, columns, out):
    return ((x @ w) * np.outer(rows, columns),)


@reference("product/scaled_blocks_*")
def scaled_blocks(x, w, xscales, wscales, out):
    """A scale for 32 columns of a row of x, and for 32 rows by 16 columns of w."""
    return ((x * np.repeat(xscales, 32, 1)) @ (w * np.repeat(np.repeat(wscales, 32, 0), 16, 1)),)


@reference("product/weight_gradient_*", 2.0**-10)
def weight_gradient(x, dy, dw, dbias):
    return x.T @ dy, dy.sum(axis=0, keepdims=True)


@reference("product/requantised_*", steps=1)
def requantised(x, w, bias, multipliers, out):
    return (np.clip(np.floor((x @ w + bias) * multipliers + 0.5), -128, 127).astype(np.int64),)


@reference("product/lower_square_*")
def lower_square(x, out, alpha):
    return (np.where(np.tri(len(x)) > 0, alpha * (x @ x.T), out),)


@reference("product/in_full_*")
def in_full(x, w, out):
    return (x @ w,)


@reference("product/gated_*")
def gated(x, up, gate, out):
    return ((x @ gate) * logistic(x @ gate) * (x @ up),)


@reference("product/batched_*", 2.0**-7)
def batched(x, w, out, scale):
    return (scale * (x @ w),)


@reference("product/matrix_vector_*")
def matrix_vector(a, x, y, out, alpha, beta):
    return (alpha * (a @ x) + beta * y,)


@reference("product/outer_update_*")
def outer_update(a, x, y, alpha):
    return (a + alpha * np.outer(x, y),)


@reference("product/forward_substitution_*", 1e-9)
def forward_substitution(lower, b, x):
    return (np.linalg.solve(np.tril(lower), b),)


@reference("product/split_k_*", 0.0)
def split_k(x, w, out):
    return (x @ w,)


@reference("product/persistent_*")
def persistent(x, w, out):
    return (x @ w,)


@reference("product/last_reduces_*")
def last_reduces(x, w, partials, tickets, out):
    """Block p of a tile has every third step of 16 along K."""
    steps = x.reshape(len(x), -1, 16)
    parts = [
        np.einsum("mks,ksn->mn", steps[:, p::3], w.reshape(-1, 16, w.shape[1])[p::3]).reshape(2, 32, -1)
        for p in range(3)
    ]
    return np.stack(parts, axis=1), np.full(2, 3), x @ w


@reference("product/grouped_*")
def grouped(x, w, offsets, out):
    for e in range(len(w)):
        rows = slice(offsets[e], offsets[e + 1])
        out[rows] = x[rows] @ w[e]
    return (out,)


@reference("product/weights_i8_*")
def weights_i8(x, w, scales, out):
    return (x @ (w * scales),)


@reference("product/weights_i4_*", 2.0**-6)
def weights_i4(x, w, scales, out):
    nibbles = np.stack([w & 15, (w >> 4) & 15], axis=1).reshape(-1, w.shape[1]) - 8
    return (x @ (nibbles * np.repeat(scales, 32, axis=0)),)
