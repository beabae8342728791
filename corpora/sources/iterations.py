"""Loops that end when the numbers say so, simulations, and long chains of arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import cuda.tile as ct

from ..build.draft import Array, Draft, Number, integers, moderate, output


@ct.kernel
def cube_roots(x, y, steps, tolerance, T: ct.Constant[int]):
    """Newton until no lane of the block moves by more than a tolerance, and how many steps that took."""
    i = ct.bid(0)
    a = ct.load(x, index=(i,), shape=(T,))
    r = ct.full((T,), 1.0, dtype=ct.float64)
    moved = ct.full((), 1.0, dtype=ct.float64)
    n = 0
    while (moved > tolerance) & (n < 60):
        better = r - (r * r * r - a) / (3.0 * r * r)
        moved = ct.max(ct.abs(better - r) / ct.abs(better))
        r = better
        n = n + 1
    ct.store(y, index=(i,), tile=r)
    ct.store(steps, index=(i,), tile=ct.full((1,), n, dtype=ct.int32))


@ct.kernel
def collatz_peaks(x, steps, peaks, T: ct.Constant[int]):
    """All lanes of a tile together, until the last is at one: each one's steps and highest number."""
    i = ct.bid(0)
    n = ct.load(x, index=(i,), shape=(T,))
    count = ct.zeros((T,), dtype=ct.int32)
    peak = n
    while ct.max(n) > 1:
        odd = (n & 1) == 1
        following = ct.where(odd, 3 * n + 1, n >> 1)
        count = count + ct.where(n > 1, 1, 0)
        n = ct.where(n > 1, following, n)
        peak = ct.maximum(peak, n)
    ct.store(steps, index=(i,), tile=count)
    ct.store(peaks, index=(i,), tile=peak)


@ct.kernel
def common_divisors(a, b, y, T: ct.Constant[int]):
    """Euclid on every lane until all remainders are zero."""
    i = ct.bid(0)
    u, v = ct.load(a, index=(i,), shape=(T,)), ct.load(b, index=(i,), shape=(T,))
    while ct.max(v) > 0:
        safe = ct.where(v == 0, 1, v)
        u, v = ct.where(v == 0, u, v), ct.where(v == 0, 0, u % safe)
    ct.store(y, index=(i,), tile=u)


@ct.kernel
def bisection(c, y, T: ct.Constant[int]):
    """Where x + x**3 / 3 is c: the sign decides which half is kept, 40 times."""
    i = ct.bid(0)
    target = ct.load(c, index=(i,), shape=(T,))
    low = ct.full((T,), -4.0, dtype=ct.float64)
    high = ct.full((T,), 4.0, dtype=ct.float64)
    for _ in range(40):
        middle = 0.5 * (low + high)
        above = middle + middle * middle * middle / 3.0 > target
        low, high = ct.where(above, low, middle), ct.where(above, middle, high)
    ct.store(y, index=(i,), tile=0.5 * (low + high))


@ct.kernel
def search(x, needle, place, T: ct.Constant[int]):
    """The first place of a number: a block whose tile does not have it returns early."""
    i = ct.bid(0)
    tile = ct.load(x, index=(i,), shape=(T,))
    hits = tile == needle
    if not ct.max(ct.astype(hits, ct.int32)) > 0:
        return
    first = ct.min(ct.where(hits, ct.arange(T, dtype=ct.int32) + i * T, 1 << 30))
    ct.atomic_min(place, 0, first)


@ct.kernel
def nearest_centre(
    points, centres, labels, sums, counts, N: ct.Constant[int], K: ct.Constant[int], D: ct.Constant[int]
):
    """A step of k-means: the nearest centre by a product, the sums for the next by atomics on integers."""
    i = ct.bid(0)
    p = ct.load(points, index=(i, 0), shape=(N, D))
    c = ct.load(centres, index=(0, 0), shape=(K, D))
    inner = ct.mma(p, ct.transpose(c), ct.zeros((N, K), dtype=ct.float32))
    wide = ct.astype(c, ct.float32)
    squares = ct.reshape(ct.sum(wide * wide, axis=1), (1, K))
    label = ct.argmin(squares - 2.0 * inner, axis=1)
    ct.store(labels, index=(i,), tile=label)
    column = ct.reshape(ct.arange(D, dtype=ct.int32), (1, D))
    ct.atomic_add(sums, (ct.reshape(label, (N, 1)), column), ct.astype(p, ct.float32))
    ct.atomic_add(counts, label, 1)


@ct.kernel
def gravity(places, masses, pulls, softening, T: ct.Constant[int], N: ct.Constant[int]):
    """All bodies pull at T of them, a tile of N bodies at a time."""
    i = ct.bid(0)
    x = ct.reshape(ct.load(places, index=(0, i), shape=(1, T)), (T, 1))
    y = ct.reshape(ct.load(places, index=(1, i), shape=(1, T)), (T, 1))
    z = ct.reshape(ct.load(places, index=(2, i), shape=(1, T)), (T, 1))
    ax, ay, az = (
        ct.zeros((T, 1), dtype=ct.float32),
        ct.zeros((T, 1), dtype=ct.float32),
        ct.zeros((T, 1), dtype=ct.float32),
    )
    for j in range(ct.num_tiles(masses, axis=0, shape=(N,))):
        dx = ct.load(places, index=(0, j), shape=(1, N)) - x
        dy = ct.load(places, index=(1, j), shape=(1, N)) - y
        dz = ct.load(places, index=(2, j), shape=(1, N)) - z
        inverse = ct.rsqrt(dx * dx + dy * dy + dz * dz + softening)
        pull = ct.reshape(ct.load(masses, index=(j,), shape=(N,)), (1, N)) * inverse * inverse * inverse
        ax = ax + ct.sum(pull * dx, axis=1, keepdims=True)
        ay = ay + ct.sum(pull * dy, axis=1, keepdims=True)
        az = az + ct.sum(pull * dz, axis=1, keepdims=True)
    ct.store(pulls, index=(0, i), tile=ct.reshape(ax, (1, T)))
    ct.store(pulls, index=(1, i), tile=ct.reshape(ay, (1, T)))
    ct.store(pulls, index=(2, i), tile=ct.reshape(az, (1, T)))


@ct.kernel
def option_prices(spot, strike, years, calls, puts, rate, volatility, T: ct.Constant[int]):
    """Black and Scholes, with Abramowitz and Stegun's polynomial for the normal distribution (26.2.17)."""
    i = ct.bid(0)
    s, k = ct.load(spot, index=(i,), shape=(T,)), ct.load(strike, index=(i,), shape=(T,))
    t = ct.load(years, index=(i,), shape=(T,))
    spread = volatility * ct.sqrt(t)
    d1 = (ct.log(s / k) + (rate + 0.5 * volatility * volatility) * t) / spread
    n1, n2 = _normal(d1), _normal(d1 - spread)
    discounted = k * ct.exp(-rate * t)
    call = s * n1 - discounted * n2
    ct.store(calls, index=(i,), tile=call)
    ct.store(puts, index=(i,), tile=call - s + discounted)


def _normal(d):
    """The normal distribution up to d."""
    w = 1.0 / (1.0 + 0.2316419 * ct.abs(d))
    series = 1.781477937 + w * (-1.821255978 + w * 1.330274429)
    poly = w * (0.31938153 + w * (-0.356563782 + w * series))
    tail = 0.3989422804014327 * ct.exp(-0.5 * d * d) * poly
    return ct.where(d > 0.0, 1.0 - tail, tail)


@ct.kernel
def pendulum(angles, speeds, steps, dt, T: ct.Constant[int]):
    """Runge and Kutta's fourth order on states changed in place, many pendulums at once."""
    i = ct.bid(0)
    a, v = ct.load(angles, index=(i,), shape=(T,)), ct.load(speeds, index=(i,), shape=(T,))
    for _ in range(steps):
        a1, v1 = v, -ct.sin(a)
        a2, v2 = v + 0.5 * dt * v1, -ct.sin(a + 0.5 * dt * a1)
        a3, v3 = v + 0.5 * dt * v2, -ct.sin(a + 0.5 * dt * a2)
        a4, v4 = v + dt * v3, -ct.sin(a + dt * a3)
        a = a + dt / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
        v = v + dt / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4)
    ct.store(angles, index=(i,), tile=a)
    ct.store(speeds, index=(i,), tile=v)


@ct.kernel
def tone_map(red, green, blue, y, exposure, T: ct.Constant[int]):
    """Light to the bytes of a screen: a filmic curve, sRGB's gamma, a byte each of a word ending in 255."""
    i = ct.bid(0)
    r = _filmic(ct.astype(ct.load(red, index=(i,), shape=(T,)), ct.float32) * exposure)
    g = _filmic(ct.astype(ct.load(green, index=(i,), shape=(T,)), ct.float32) * exposure)
    b = _filmic(ct.astype(ct.load(blue, index=(i,), shape=(T,)), ct.float32) * exposure)
    ct.store(y, index=(i,), tile=r | (g << 8) | (b << 16) | -16777216)


def _filmic(x):
    mapped = x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14)
    mapped = ct.minimum(ct.maximum(mapped, 0.0), 1.0)
    curved = 1.055 * ct.pow(ct.maximum(mapped, 0.0031308), 0.4166667) - 0.055
    gamma = ct.where(mapped <= 0.0031308, 12.92 * mapped, curved)
    return ct.astype(gamma * 255.0 + 0.5, ct.int32)


@ct.kernel
def dot_product(x, y, out, tickets, partials, T: ct.Constant[int], B: ct.Constant[int]):
    """Tiles dealt in turn to a few blocks; the last to come adds the parts in order."""
    b = ct.bid(0)
    acc = ct.zeros((T,), dtype=ct.float32)
    for k in range(b, ct.num_tiles(x, axis=0, shape=(T,)), ct.num_blocks(0)):
        acc = acc + ct.load(x, index=(k,), shape=(T,)) * ct.load(y, index=(k,), shape=(T,))
    ct.store(partials, index=(b,), tile=ct.reshape(ct.sum(acc, axis=0), (1,)))
    if ct.atomic_add(tickets, 0, 1) == ct.num_blocks(0) - 1:
        ct.store(
            out, index=(0,), tile=ct.reshape(ct.sum(ct.load(partials, index=(0,), shape=(B,)), axis=0), (1,))
        )


def drafts() -> Iterator[Draft]:
    """Each kernel once."""
    name = "iterate/cube_roots_f64"
    parts = [moderate("f64", name, (128,), positive=True), output("f64", (128,)), output("i32", (4,))]
    yield Draft(name, cube_roots, (4,), [*parts, Number("f64", 1e-14), 32])
    name = "iterate/collatz_peaks_i32"
    parts = [integers("i32", name, (128,), 1, 10000), output("i32", (128,)), output("i32", (128,))]
    yield Draft(name, collatz_peaks, (4,), [*parts, 32])
    name = "iterate/common_divisors_i64"
    parts = [integers("i64", name + part, (128,), 1, 1000) for part in "ab"]
    yield Draft(name, common_divisors, (4,), [*parts, output("i64", (128,)), 32])
    name = "iterate/bisection_f64"
    yield Draft(name, bisection, (2,), [moderate("f64", name, (128,)), output("f64", (128,)), 64])
    name = "iterate/search_i32"
    place = Array("i32", (1,), {"kind": "fill", "bits": "40000000"}, output=True)
    yield Draft(name, search, (8,), [integers("i32", name, (512,), 0, 100), Number("i32", 37), place, 64])
    name = "iterate/nearest_centre_f16"
    parts = [integers("f16", name + "p", (64, 16), -20, 21), moderate("f16", name + "c", (8, 16))]
    parts += [
        output("i32", (64,)),
        *(
            Array(f, s, {"kind": "fill", "bits": "0"}, output=True)
            for f, s in (("f32", (8, 16)), ("i32", (8,)))
        ),
    ]
    yield Draft(name, nearest_centre, (4,), [*parts, 16, 8, 16])
    name = "iterate/gravity_f32"
    parts = [moderate("f32", name, (3, 64)), moderate("f32", name + "m", (64,), positive=True)]
    yield Draft(name, gravity, (4,), [*parts, output("f32", (3, 64)), Number("f32", 0.01), 16, 32])
    name = "iterate/option_prices_f32"
    parts = [moderate("f32", name + part, (256,), low=3, high=4, positive=True) for part in "sk"]
    parts += [moderate("f32", name + "t", (256,), low=-2, high=1, positive=True)]
    parts += [output("f32", (256,)), output("f32", (256,)), Number("f32", 0.03), Number("f32", 0.25)]
    yield Draft(name, option_prices, (2,), [*parts, 128])
    name = "iterate/pendulum_f64"
    parts = [replace(moderate("f64", name + part, (64,), high=0), output=True) for part in "av"]
    yield Draft(name, pendulum, (2,), [*parts, Number("i32", 10), Number("f64", 0.05), 32])
    name = "iterate/tone_map_f16"
    parts = [moderate("f16", name + part, (256,), low=-6, high=2, positive=True) for part in "rgb"]
    yield Draft(name, tone_map, (2,), [*parts, output("i32", (256,)), Number("f32", 0.5), 128])
    name = "iterate/dot_product_f32"
    parts = [moderate("f32", name + part, (1024,)) for part in "xy"]
    parts += [output("f32", (1,)), Array("i32", (1,), {"kind": "fill", "bits": "0"}, output=True)]
    yield Draft(name, dot_product, (4,), [*parts, output("f32", (4,)), 128, 4])
