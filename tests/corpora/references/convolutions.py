"""The cases of ``corpora/sources/convolutions.py``."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from .register import logistic, reference


@reference("convolution/causal_1d_*")
def causal_1d(x, w, bias, y):
    width = w.shape[1]
    full = np.stack([np.convolve(x[c], w[c, ::-1])[: x.shape[1]] + bias[c] for c in range(len(x))])
    assert width == 4
    return (full * logistic(full),)


@reference("convolution/direct_3x3_*")
def direct_3x3(x, w, y):
    windows = sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), axis=(2, 3))
    return (np.einsum("nchwyx,yxoc->nohw", windows, w),)


@reference("convolution/depthwise_3x3_*")
def depthwise_3x3(x, w, y):
    windows = sliding_window_view(np.pad(x, ((0, 0), (1, 1), (1, 1))), (3, 3), axis=(1, 2))[:, ::2, ::2]
    return (np.clip(np.einsum("chwyx,cyx->chw", windows, w), 0, 6),)


@reference("convolution/patches_*")
def patches(x, w, bias, y):
    cut = x.reshape(4, 8, 8, 8).transpose(0, 2, 1, 3).reshape(32, 64)
    return (cut @ w + bias,)


@reference("stencil/heat_*")
def heat(x, y, rate):
    result = x.copy()
    around = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
    result[1:-1, 1:-1] += rate * (around - 4 * x[1:-1, 1:-1])
    return (result,)


@reference("stencil/laplace_3d_*")
def laplace_3d(x, y):
    return (sum(np.roll(x, d, axis) for d in (-1, 1) for axis in range(3)) - 6 * x,)


@reference("stencil/life_*")
def life(x, y, steps):
    for _ in range(steps):
        around = sum(np.roll(x, (r, c), (0, 1)) for r in (-1, 0, 1) for c in (-1, 0, 1)) - x
        x = ((around == 3) | ((x == 1) & (around == 2))).astype(np.int64)
    return (x,)


@reference("stencil/sobel_*")
def sobel(x, y):
    windows = sliding_window_view(np.pad(x & 255, 1, mode="edge"), (3, 3))
    across = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    gradient = np.hypot(*(np.einsum("hwyx,yx->hw", windows, k) for k in (across, across.T)))
    return (np.minimum(np.floor(gradient + 0.5), 255).astype(np.int64),)


@reference("pool/max_*")
def max_pool(x, y, places):
    c, h, w = x.shape
    windows = x.reshape(c, h // 2, 2, w // 2, 2).transpose(0, 1, 3, 2, 4).reshape(c, h // 2, w // 2, 4)
    which = windows.argmax(axis=3)
    row = np.arange(h // 2)[:, None] * 2 + which // 2
    return windows.max(axis=3), row * w + np.arange(w // 2) * 2 + which % 2


@reference("pool/average_*")
def average_pool(x, y):
    c, h, w = x.shape
    return (x.reshape(c, h // 4, 4, w // 4, 4).mean(axis=(2, 4)),)


@reference("pool/bilinear_*")
def bilinear(x, y):
    """One axis after the other, by np.interp, which repeats the ends."""
    for axis, extent in enumerate(y.shape):
        old = x.shape[axis]
        at = (np.arange(extent) + 0.5) * old / extent - 0.5
        x = np.apply_along_axis(lambda line, at=at: np.interp(at, np.arange(len(line)), line), axis, x)
    return (x,)
