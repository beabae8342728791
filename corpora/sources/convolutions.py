"""Convolutions, stencils, pooling and resizing."""

from __future__ import annotations

from collections.abc import Iterator

import cuda.tile as ct

from ..build.draft import Draft, Number, integers, moderate, output


@ct.kernel
def causal_1d(x, w, bias, y, T: ct.Constant[int], W: ct.Constant[int]):
    """Each channel with its own W weights along time, and SiLU after it, as state space models have it."""
    c, t = ct.bid(0), ct.bid(1)
    lane = ct.arange(T, dtype=ct.int32) + t * T
    acc = ct.full((T,), 0.0, dtype=ct.float32) + ct.load(bias, index=(c,), shape=())
    for k in range(W):
        tap = ct.load(w, index=(c, k), shape=())
        acc = acc + tap * ct.gather(x, (c, lane - (W - 1) + k))
    ct.store(y, index=(c, t), tile=ct.reshape(acc / (1.0 + ct.exp(-acc)), (1, T)))


@ct.kernel
def direct_3x3(x, w, y, C: ct.Constant[int], F: ct.Constant[int], H: ct.Constant[int], S: ct.Constant[int]):
    """Nine products, one a tap, of the weights and the image moved by the tap; zero around the image."""
    n, h = ct.bid(0), ct.bid(1)
    channel = ct.reshape(ct.arange(C, dtype=ct.int32), (C, 1))
    place = ct.arange(H * S, dtype=ct.int32)
    row = ct.reshape(place // S, (1, H * S)) + h * H
    column = ct.reshape(place % S, (1, H * S))
    acc = ct.zeros((F, H * S), dtype=ct.float32)
    for dy in range(3):
        for dx in range(3):
            image = ct.gather(x, (n, channel, row + (dy - 1), column + (dx - 1)))
            taps = ct.reshape(ct.load(w, index=(dy, dx, 0, 0), shape=(1, 1, F, C)), (F, C))
            acc = ct.mma(taps, image, acc)
    ct.store(y, index=(n, 0, h, 0), tile=ct.reshape(ct.astype(acc, y.dtype), (1, F, H, S)))


@ct.kernel
def depthwise_3x3(x, w, y, H: ct.Constant[int], S: ct.Constant[int]):
    """A block a channel; every second row and column of the answer."""
    c = ct.bid(0)
    row = ct.reshape(ct.arange(H, dtype=ct.int32), (H, 1)) * 2
    column = ct.reshape(ct.arange(S, dtype=ct.int32), (1, S)) * 2
    acc = ct.zeros((H, S), dtype=ct.float32)
    for dy in range(3):
        for dx in range(3):
            tap = ct.load(w, index=(c, dy, dx), shape=())
            acc = acc + tap * ct.gather(x, (c, row + (dy - 1), column + (dx - 1)))
    relu6 = ct.minimum(ct.maximum(acc, 0.0), 6.0)
    ct.store(y, index=(c, 0, 0), tile=ct.reshape(relu6, (1, H, S)))


@ct.kernel
def patches(x, w, bias, y, P: ct.Constant[int], N: ct.Constant[int], E: ct.Constant[int]):
    """A picture cut into P by P patches, each an embedding of E: a convolution whose stride is its width."""
    r = ct.bid(0)
    tile = ct.load(x, index=(r, 0), shape=(P, N * P))
    cut = ct.reshape(ct.permute(ct.reshape(tile, (P, N, P)), (1, 0, 2)), (N, P * P))
    acc = ct.mma(cut, ct.load(w, index=(0, 0), shape=(P * P, E)), ct.zeros((N, E), dtype=ct.float32))
    b = ct.astype(ct.reshape(ct.load(bias, index=(0,), shape=(E,)), (1, E)), ct.float32)
    ct.store(y, index=(r, 0), tile=ct.astype(acc + b, y.dtype))


@ct.kernel
def heat(x, y, rate, R: ct.Constant[int], C: ct.Constant[int]):
    """One explicit step of the heat equation on five points; the rim stays."""
    i, j = ct.bid(0), ct.bid(1)
    row = ct.reshape(ct.arange(R, dtype=ct.int32), (R, 1)) + i * R
    column = ct.reshape(ct.arange(C, dtype=ct.int32), (1, C)) + j * C
    here = ct.load(x, index=(i, j), shape=(R, C))
    up, down = ct.gather(x, (row - 1, column)), ct.gather(x, (row + 1, column))
    left, right = ct.gather(x, (row, column - 1)), ct.gather(x, (row, column + 1))
    inner = (row > 0) & (row < x.shape[0] - 1) & (column > 0) & (column < x.shape[1] - 1)
    stepped = here + rate * (up + down + left + right - 4.0 * here)
    ct.store(y, index=(i, j), tile=ct.where(inner, stepped, here))


@ct.kernel
def laplace_3d(x, y, A: ct.Constant[int], B: ct.Constant[int], C: ct.Constant[int]):
    """Seven points on a torus."""
    i = ct.bid(0)
    a = ct.reshape(ct.arange(A, dtype=ct.int32), (A, 1, 1)) + i * A
    b = ct.reshape(ct.arange(B, dtype=ct.int32), (1, B, 1))
    c = ct.reshape(ct.arange(C, dtype=ct.int32), (1, 1, C))
    n = x.shape[0]
    total = -6.0 * ct.load(x, index=(i, 0, 0), shape=(A, B, C))
    total = total + ct.gather(x, ((a + 1) % n, b, c)) + ct.gather(x, ((a + n - 1) % n, b, c))
    total = total + ct.gather(x, (a, (b + 1) % B, c)) + ct.gather(x, (a, (b + B - 1) % B, c))
    total = total + ct.gather(x, (a, b, (c + 1) % C)) + ct.gather(x, (a, b, (c + C - 1) % C))
    ct.store(y, index=(i, 0, 0), tile=total)


@ct.kernel
def life(x, y, steps, R: ct.Constant[int], C: ct.Constant[int]):
    """Conway's game on a torus; each generation reads its neighbours from what the one before wrote."""
    board = ct.load(x, index=(0, 0), shape=(R, C))
    row = ct.reshape(ct.arange(R, dtype=ct.int32), (R, 1))
    column = ct.reshape(ct.arange(C, dtype=ct.int32), (1, C))
    ct.scatter(y, (row, column), board)
    for _ in range(steps):
        around = ct.zeros((R, C), dtype=ct.int32)
        for dr in range(3):
            for dc in range(3):
                around = around + ct.gather(y, ((row + dr + R - 1) % R, (column + dc + C - 1) % C))
        board = ct.where((around == 3) | ((around == 4) & (board == 1)), 1, 0)
        ct.scatter(y, (row, column), board)


@ct.kernel
def max_pool(x, y, places, H: ct.Constant[int], S: ct.Constant[int]):
    """Two by two, with the place of each maximum in its image, the first of equals."""
    c = ct.bid(0)
    row = ct.reshape(ct.arange(H, dtype=ct.int32), (H, 1)) * 2
    column = ct.reshape(ct.arange(S, dtype=ct.int32), (1, S)) * 2
    best = ct.gather(x, (c, row, column))
    place = row * x.shape[2] + column
    for k in range(1, 4):
        r, s = row + k // 2, column + k % 2
        other = ct.gather(x, (c, r, s))
        larger = other > best
        best = ct.where(larger, other, best)
        place = ct.where(larger, r * x.shape[2] + s, place)
    ct.store(y, index=(c, 0, 0), tile=ct.reshape(best, (1, H, S)))
    ct.store(places, index=(c, 0, 0), tile=ct.reshape(place, (1, H, S)))


@ct.kernel
def average_pool(x, y, H: ct.Constant[int], S: ct.Constant[int], P: ct.Constant[int]):
    """P by P means by reshaping: the window's two dimensions are summed away."""
    c = ct.bid(0)
    image = ct.astype(ct.load(x, index=(c, 0, 0), shape=(1, H * P, S * P)), ct.float32)
    windows = ct.reshape(image, (H, P, S, P))
    mean = ct.sum(ct.sum(windows, axis=3), axis=1) / (P * P)
    ct.store(y, index=(c, 0, 0), tile=ct.reshape(ct.astype(mean, y.dtype), (1, H, S)))


@ct.kernel
def bilinear(x, y, H: ct.Constant[int], S: ct.Constant[int]):
    """A picture made larger, pixel centres half way, the rim repeated."""
    i = ct.bid(0)
    row = ct.reshape(ct.arange(H, dtype=ct.int32), (H, 1)) + i * H
    column = ct.reshape(ct.arange(S, dtype=ct.int32), (1, S))
    rows = 1.0 * x.shape[0] / y.shape[0]
    columns = 1.0 * x.shape[1] / y.shape[1]
    v = ct.maximum((ct.astype(row, ct.float32) + 0.5) * rows - 0.5, 0.0)
    u = ct.maximum((ct.astype(column, ct.float32) + 0.5) * columns - 0.5, 0.0)
    top, left = ct.astype(ct.floor(v), ct.int32), ct.astype(ct.floor(u), ct.int32)
    bottom = ct.minimum(top + 1, x.shape[0] - 1)
    right = ct.minimum(left + 1, x.shape[1] - 1)
    fv, fu = v - ct.floor(v), u - ct.floor(u)
    above = ct.gather(x, (top, left)) * (1.0 - fu) + ct.gather(x, (top, right)) * fu
    below = ct.gather(x, (bottom, left)) * (1.0 - fu) + ct.gather(x, (bottom, right)) * fu
    ct.store(y, index=(i, 0), tile=above * (1.0 - fv) + below * fv)


@ct.kernel
def sobel(x, y, R: ct.Constant[int], C: ct.Constant[int]):
    """Edges of a picture of bytes: the rim repeated, the length of the gradient, cut to 255."""
    i, j = ct.bid(0), ct.bid(1)
    row = ct.reshape(ct.arange(R, dtype=ct.int32), (R, 1)) + i * R
    column = ct.reshape(ct.arange(C, dtype=ct.int32), (1, C)) + j * C
    across = ct.zeros((R, C), dtype=ct.int32)
    down = ct.zeros((R, C), dtype=ct.int32)
    for dr in range(3):
        for dc in range(3):
            r = ct.minimum(ct.maximum(row + (dr - 1), 0), x.shape[0] - 1)
            c = ct.minimum(ct.maximum(column + (dc - 1), 0), x.shape[1] - 1)
            pixel = ct.astype(ct.gather(x, (r, c)), ct.int32)
            across = across + pixel * ((dc - 1) * (2 - (dr - 1) * (dr - 1)))
            down = down + pixel * ((dr - 1) * (2 - (dc - 1) * (dc - 1)))
    length = ct.sqrt(ct.astype(across * across + down * down, ct.float32))
    ct.store(y, index=(i, j), tile=ct.astype(ct.minimum(ct.floor(length + 0.5), 255.0), y.dtype))


def drafts() -> Iterator[Draft]:
    """Each kernel once."""
    name = "convolution/causal_1d_f32"
    parts = [moderate("f32", name, (4, 256)), moderate("f32", name + "w", (4, 4), high=0)]
    parts += [moderate("f32", name + "b", (4,), high=0), output("f32", (4, 256))]
    yield Draft(name, causal_1d, (4, 2), [*parts, 128, 4])
    name = "convolution/direct_3x3_f16"
    parts = [
        moderate("f16", name, (2, 16, 12, 16), high=0),
        moderate("f16", name + "w", (3, 3, 32, 16), high=-1),
    ]
    yield Draft(name, direct_3x3, (2, 3), [*parts, output("f16", (2, 32, 12, 16)), 16, 32, 4, 16])
    name = "convolution/depthwise_3x3_f32"
    parts = [moderate("f32", name, (6, 32, 32)), moderate("f32", name + "w", (6, 3, 3), high=0)]
    yield Draft(name, depthwise_3x3, (6,), [*parts, output("f32", (6, 16, 16)), 16, 16])
    name = "convolution/patches_bf16"
    parts = [moderate("bf16", name, (32, 64), high=0), moderate("bf16", name + "w", (64, 32), high=-1)]
    parts += [moderate("bf16", name + "b", (32,), high=0), output("bf16", (32, 32))]
    yield Draft(name, patches, (4,), [*parts, 8, 8, 32])
    name = "stencil/heat_f32"
    parts = [moderate("f32", name, (48, 48)), output("f32", (48, 48)), Number("f32", 0.2)]
    yield Draft(name, heat, (3, 3), [*parts, 16, 16])
    name = "stencil/laplace_3d_f64"
    yield Draft(
        name, laplace_3d, (4,), [moderate("f64", name, (8, 8, 16)), output("f64", (8, 8, 16)), 2, 8, 16]
    )
    name = "stencil/life_i32"
    parts = [integers("i32", name, (16, 32), 0, 2), output("i32", (16, 32)), Number("i32", 4)]
    yield Draft(name, life, (1,), [*parts, 16, 32])
    name = "stencil/sobel_i8"
    picture = integers("i8", name, (32, 48), 0, 256, unsigned=True)
    answer = output("i8", (32, 48), unsigned=True)
    yield Draft(name, sobel, (2, 3), [picture, answer, 16, 16])
    name = "pool/max_f16"
    parts = [moderate("f16", name, (4, 32, 32)), output("f16", (4, 16, 16)), output("i32", (4, 16, 16))]
    yield Draft(name, max_pool, (4,), [*parts, 16, 16])
    name = "pool/average_bf16"
    yield Draft(
        name, average_pool, (4,), [moderate("bf16", name, (4, 32, 32)), output("bf16", (4, 8, 8)), 8, 8, 4]
    )
    name = "pool/bilinear_f32"
    parts = [moderate("f32", name, (12, 20)), output("f32", (32, 64))]
    yield Draft(name, bilinear, (4,), [*parts, 8, 64])
