"""The cases of ``corpora/sources/transforms.py``."""

from __future__ import annotations

import numpy as np

from .register import reference


@reference("transform/fft_*")
def fft(re, im, out_re, out_im):
    answer = np.fft.fft(re + 1j * im, axis=1)
    return answer.real, answer.imag


@reference("transform/hadamard_*")
def hadamard(x, y, scale):
    matrix = np.ones((1, 1))
    while len(matrix) < x.shape[1]:
        matrix = np.kron([[1, 1], [1, -1]], matrix)
    return (x @ matrix * scale,)


@reference("transform/haar_*")
def haar(x, y):
    parts = []
    while x.shape[1] > 1:
        parts.insert(0, (x[:, ::2] - x[:, 1::2]) / 2)
        x = (x[:, ::2] + x[:, 1::2]) / 2
    return (np.hstack([x, *parts]),)


@reference("transform/cosine_8x8_*")
def cosine_8x8(x, y):
    k, n = np.arange(8)[:, None], np.arange(8)
    basis = np.cos((2 * n + 1) * k * np.pi / 16) * np.where(k == 0, np.sqrt(1 / 8), 0.5)
    blocks = (x - 128).reshape(4, 8, 4, 8).transpose(0, 2, 1, 3)
    return ((basis @ blocks @ basis.T).transpose(0, 2, 1, 3).reshape(x.shape),)


@reference("transform/complex_product_*")
def complex_product(ar, ai, br, bi, cr, ci):
    answer = (ar + 1j * ai) @ (br + 1j * bi)
    return answer.real, answer.imag


@reference("transform/mandelbrot_*", steps=1)
def mandelbrot(counts, left, top, step, limit):
    """In f32, as the escape of a point near the rim depends on it; a step for a product fused or not."""
    f = np.float32
    c = [
        (f(left) + f(step) * np.arange(64, dtype=f))[None, :],
        (f(top) + f(step) * np.arange(64, dtype=f))[:, None],
    ]
    zr, zi = np.zeros((64, 64), f), np.zeros((64, 64), f)
    count = np.zeros((64, 64), np.int64)
    for _ in range(limit):
        here = zr * zr + zi * zi <= 4
        zr, zi = np.where(here, zr * zr - zi * zi + c[0], zr), np.where(here, 2 * zr * zi + c[1], zi)
        count += here
    return (count,)
