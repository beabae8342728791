"""Transforms of whole tiles: Fourier, Hadamard, Haar, cosine."""

from __future__ import annotations

from collections.abc import Iterator

import cuda.tile as ct

from ..build.draft import Array, Draft, Number, moderate, output

TAU = 6.283185307179586


@ct.kernel
def fft(re, im, out_re, out_im, N: ct.Constant[int], L: ct.Constant[int]):
    """Radix 2, Stockham's order, a row a block: L passes that halve the distance and double the stride."""
    i = ct.bid(0)
    a = ct.reshape(ct.load(re, index=(i, 0), shape=(1, N)), (N, 1))
    b = ct.reshape(ct.load(im, index=(i, 0), shape=(1, N)), (N, 1))
    for level in ct.static_iter(range(L)):
        half = N >> (level + 1)
        stride = 1 << level
        ra, ia = ct.reshape(a, (2, half, stride)), ct.reshape(b, (2, half, stride))
        r0, r1 = ct.extract(ra, (0, 0, 0), (1, half, stride)), ct.extract(ra, (1, 0, 0), (1, half, stride))
        i0, i1 = ct.extract(ia, (0, 0, 0), (1, half, stride)), ct.extract(ia, (1, 0, 0), (1, half, stride))
        p = ct.reshape(ct.astype(ct.arange(half, dtype=ct.int32), ct.float32), (1, half, 1))
        angle = p * (-6.283185307179586 / (2 * half))
        c, s = ct.cos(angle), ct.sin(angle)
        dr, di = r0 - r1, i0 - i1
        sums_r, sums_i = ct.reshape(r0 + r1, (half, 1, stride)), ct.reshape(i0 + i1, (half, 1, stride))
        turned_r = ct.reshape(dr * c - di * s, (half, 1, stride))
        turned_i = ct.reshape(dr * s + di * c, (half, 1, stride))
        a = ct.reshape(ct.cat((sums_r, turned_r), 1), (N, 1))
        b = ct.reshape(ct.cat((sums_i, turned_i), 1), (N, 1))
    ct.store(out_re, index=(i, 0), tile=ct.reshape(a, (1, N)))
    ct.store(out_im, index=(i, 0), tile=ct.reshape(b, (1, N)))


@ct.kernel
def hadamard(x, y, scale, N: ct.Constant[int], L: ct.Constant[int]):
    """Sums and differences of the halves, quarters, eighths, ...: exact in f32 before the last scaling."""
    i = ct.bid(0)
    tile = ct.astype(ct.load(x, index=(i, 0), shape=(1, N)), ct.float32)
    for level in ct.static_iter(range(L)):
        half = N >> (level + 1)
        pairs = ct.reshape(tile, (1 << level, 2, half))
        a = ct.extract(pairs, (0, 0, 0), (1 << level, 1, half))
        b = ct.extract(pairs, (0, 1, 0), (1 << level, 1, half))
        tile = ct.reshape(ct.cat((a + b, a - b), 1), (1, N))
    ct.store(y, index=(i, 0), tile=ct.astype(tile * scale, y.dtype))


@ct.kernel
def haar(x, y, N: ct.Constant[int], L: ct.Constant[int]):
    """A wavelet transform: each level leaves half as many averages, and the differences as they are."""
    i = ct.bid(0)
    averages = ct.load(x, index=(i, 0), shape=(1, N))
    for level in ct.static_iter(range(L)):
        half = N >> (level + 1)
        pairs = ct.reshape(averages, (half, 2))
        a, b = ct.extract(pairs, (0, 0), (half, 1)), ct.extract(pairs, (0, 1), (half, 1))
        ct.store(y, index=(i, 1), tile=ct.reshape((a - b) * 0.5, (1, half)))
        averages = ct.reshape((a + b) * 0.5, (1, half))
    ct.store(y, index=(i, 0), tile=averages)


@ct.kernel
def cosine_8x8(x, y, N: ct.Constant[int]):
    """The transform of JPEG on eight by eight pixels: a matrix of cosines on both sides of each block."""
    i, j = ct.bid(0), ct.bid(1)
    k = ct.astype(ct.reshape(ct.arange(N, dtype=ct.int32), (N, 1)), ct.float32)
    n = ct.astype(ct.reshape(ct.arange(N, dtype=ct.int32), (1, N)), ct.float32)
    length = ct.where(k == 0.0, 0.35355339059327373, 0.5)
    basis = ct.cos((2.0 * n + 1.0) * k * 0.19634954084936207) * length
    block = ct.load(x, index=(i, j), shape=(N, N)) - 128.0
    half = ct.mma(basis, block, ct.zeros((N, N), dtype=ct.float32))
    ct.store(y, index=(i, j), tile=ct.mma(half, ct.transpose(basis), ct.zeros((N, N), dtype=ct.float32)))


@ct.kernel
def complex_product(ar, ai, br, bi, cr, ci, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    """Matrices of complex numbers by three real products (Gauss)."""
    i = ct.bid(0)
    x, y = ct.load(ar, index=(i, 0), shape=(M, K)), ct.load(ai, index=(i, 0), shape=(M, K))
    u, v = ct.load(br, index=(0, 0), shape=(K, N)), ct.load(bi, index=(0, 0), shape=(K, N))
    zero = ct.zeros((M, N), dtype=ct.float64)
    p, q = ct.mma(x, u, zero), ct.mma(y, v, zero)
    r = ct.mma(x + y, u + v, zero)
    ct.store(cr, index=(i, 0), tile=p - q)
    ct.store(ci, index=(i, 0), tile=r - p - q)


@ct.kernel
def mandelbrot(counts, left, top, step, limit, R: ct.Constant[int], C: ct.Constant[int]):
    """Steps until a point escapes, for a tile of points: the loop ends when all have, or at the limit."""
    i, j = ct.bid(0), ct.bid(1)
    row = ct.reshape(ct.arange(R, dtype=ct.int32), (R, 1)) + i * R
    column = ct.reshape(ct.arange(C, dtype=ct.int32), (1, C)) + j * C
    cr = left + step * ct.astype(column, ct.float32)
    ci = top + step * ct.astype(row, ct.float32)
    zr, zi = ct.zeros((R, C), dtype=ct.float32), ct.zeros((R, C), dtype=ct.float32)
    count = ct.zeros((R, C), dtype=ct.int32)
    inside = 1
    n = 0
    while (inside > 0) & (n < limit):
        here = zr * zr + zi * zi <= 4.0
        stepped = zr * zr - zi * zi + cr
        zi = ct.where(here, 2.0 * zr * zi + ci, zi)
        zr = ct.where(here, stepped, zr)
        one = ct.astype(here, ct.int32)
        count = count + one
        inside = ct.sum(one).item()
        n = n + 1
    ct.store(counts, index=(i, j), tile=count)


def drafts() -> Iterator[Draft]:
    """Each kernel once."""
    name = "transform/fft_f32"
    parts = [moderate("f32", name + "r", (4, 128)), moderate("f32", name + "i", (4, 128))]
    yield Draft(name, fft, (4,), [*parts, output("f32", (4, 128)), output("f32", (4, 128)), 128, 7])
    name = "transform/hadamard_f16"
    parts = [moderate("f16", name, (8, 128)), output("f16", (8, 128)), Number("f32", 0.08838834764831845)]
    yield Draft(name, hadamard, (8,), [*parts, 128, 7])
    name = "transform/haar_f64"
    yield Draft(name, haar, (4,), [moderate("f64", name, (4, 64)), output("f64", (4, 64)), 64, 6])
    name = "transform/cosine_8x8_f32"
    pixels = Array("f32", (32, 32), {"kind": "range", "seed": 20001, "low": 0, "high": 256})
    yield Draft(name, cosine_8x8, (4, 4), [pixels, output("f32", (32, 32)), 8])
    name = "transform/complex_product_f64"
    parts = [moderate("f64", name + part, (32, 16)) for part in ("ar", "ai")]
    parts += [moderate("f64", name + part, (16, 16)) for part in ("br", "bi")]
    parts += [output("f64", (32, 16)), output("f64", (32, 16))]
    yield Draft(name, complex_product, (2,), [*parts, 16, 16, 16])
    name = "transform/mandelbrot_i32"
    numbers = [Number("f32", -2.0), Number("f32", -1.25), Number("f32", 0.0390625), Number("i32", 60)]
    yield Draft(name, mandelbrot, (4, 4), [output("i32", (64, 64)), *numbers, 16, 16])
