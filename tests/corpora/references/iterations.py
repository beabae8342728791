"""The cases of ``corpora/sources/iterations.py``."""

from __future__ import annotations

import math

import numpy as np

from .register import reference


@reference("iterate/cube_roots_*")
def cube_roots(x, y, steps, tolerance):
    """The slowest lane of a block decides: each of its numbers is brought to rest with the others."""
    for block, lanes in enumerate(x.reshape(len(steps), -1)):
        r, moved = np.ones_like(lanes), np.inf
        steps[block] = 0
        while moved > tolerance:
            better = (2 * r + lanes / r**2) / 3
            moved = np.abs(better / r - 1).max()
            r, steps[block] = better, steps[block] + 1
    return np.cbrt(x), None


@reference("iterate/collatz_peaks_*")
def collatz_peaks(x, steps, peaks):
    for lane, n in enumerate(int(n) for n in x):
        steps[lane], peaks[lane] = 0, n
        while n > 1:
            n = 3 * n + 1 if n % 2 else n // 2
            steps[lane], peaks[lane] = steps[lane] + 1, max(peaks[lane], n)
    return steps, peaks


@reference("iterate/common_divisors_*")
def common_divisors(a, b, y):
    return (np.gcd(a, b),)


@reference("iterate/bisection_*", 1e-11)
def bisection(c, y):
    """Cardano's root of x**3 + 3 x - 3 c, or an end of the interval."""
    half = 1.5 * c
    root = np.sqrt(half**2 + 1)
    return (np.clip(np.cbrt(half + root) + np.cbrt(half - root), -4, 4),)


@reference("iterate/search_*")
def search(x, needle, place):
    return (np.flatnonzero(x == needle)[:1],)


@reference("iterate/nearest_centre_*")
def nearest_centre(points, centres, labels, sums, counts):
    label = ((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    np.add.at(sums, label, points)
    return label, sums, np.bincount(label, minlength=len(counts))


@reference("iterate/gravity_*", 1e-4)
def gravity(places, masses, pulls, softening):
    distance = places[:, None, :] - places[:, :, None]
    cubes = ((distance**2).sum(axis=0) + softening) ** 1.5
    return ((masses * distance / cubes).sum(axis=2),)


@reference("iterate/option_prices_*", 1e-4)
def option_prices(spot, strike, years, calls, puts, rate, volatility):
    """With the error function; the kernel's polynomial is within 1e-7 of it."""
    normal = np.vectorize(lambda d: 0.5 * math.erfc(-d / math.sqrt(2)))
    spread = volatility * np.sqrt(years)
    d = (np.log(spot / strike) + (rate + volatility**2 / 2) * years) / spread
    discounted = strike * np.exp(-rate * years)
    return (
        spot * normal(d) - discounted * normal(d - spread),
        discounted * normal(spread - d) - spot * normal(-d),
    )


@reference("iterate/pendulum_*", 1e-6)
def pendulum(angles, speeds, steps, dt):
    """Many small steps of Störmer and Verlet over the same time."""
    parts = 2000
    h = dt / parts
    for _ in range(steps * parts):
        speeds = speeds - 0.5 * h * np.sin(angles)
        angles = angles + h * speeds
        speeds = speeds - 0.5 * h * np.sin(angles)
    return angles, speeds


@reference("iterate/tone_map_*", steps=0)
def tone_map(red, green, blue, y, exposure):
    """Three bytes; none of the inputs comes near a rounding boundary of the curve."""

    def curve(x):
        x = x * exposure
        m = np.clip(x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14), 0, 1)
        s = np.where(m <= 0.0031308, 12.92 * m, 1.055 * np.maximum(m, 1e-9) ** (1 / 2.4) - 0.055)
        return np.floor(s * 255 + 0.5).astype(np.int64)

    return (curve(red) + (curve(green) << 8) + (curve(blue) << 16) + (255 << 24),)


@reference("iterate/dot_product_*")
def dot_product(x, y, out, tickets, partials):
    products = (x * y).reshape(8, 128)
    parts = np.array([products[b::4].sum() for b in range(4)])
    return parts.sum(keepdims=True), np.array([4]), parts
