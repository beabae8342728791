"""Operands on which a wrong last bit shows."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileref.numerics.bits import from_bits
from tileref.numerics.formats import F64, FloatFormat


def specials(fmt: FloatFormat) -> NDArray[Any]:
    """Zeros, infinities, a NaN, the subnormals' borders, one and its neighbours, the largest, halves."""
    assert fmt.infinity is not None
    one = fmt.bias << fmt.significand_width
    half_ulps = (fmt.bias - d << fmt.significand_width for d in range(fmt.precision - 1, fmt.precision + 3))
    patterns = {0, 1, 2, 3, fmt.smallest_normal - 1, fmt.smallest_normal, fmt.smallest_normal + 1}
    patterns |= {one - 1, one, one + 1, fmt.largest - 1, fmt.largest, fmt.infinity, fmt.canonical_nan}
    patterns |= {*half_ulps, one + (1 << fmt.significand_width), one - (1 << fmt.significand_width)}
    every = sorted(patterns | {p | fmt.sign_bit for p in patterns})
    return from_bits(np.array(every, fmt.bits_dtype), fmt)


def spread(fmt: FloatFormat, count: int, rng: np.random.Generator) -> NDArray[Any]:
    """Random patterns, random magnitudes around one, whole numbers and short fractions, powers of two and
    their neighbours, numbers next to one, and numbers next to multiples of a quarter turn.
    """
    size = count // 6
    sign = rng.choice([-1.0, 1.0], size)
    patterns = rng.integers(0, (1 << fmt.width) - 1, size, np.uint64, endpoint=True)
    powers = rng.integers(1, (1 << fmt.exponent_width) - 1, size).astype(np.uint64)
    powers = (powers << np.uint64(fmt.significand_width)) + rng.integers(0, 3, size).astype(np.uint64)
    powers -= np.uint64(1)
    numbers = [
        sign * 10.0 ** rng.uniform(-6, 3, size),
        rng.integers(-600, 600, size) / 2.0 ** rng.integers(0, 7, size),
        1.0 + sign * 2.0 ** -rng.uniform(0, fmt.precision, size),
        np.rint(2.0 ** rng.uniform(0, 14, size)) * sign * (np.pi / 2),
    ]
    with np.errstate(all="ignore"):
        parts = [from_bits(p.astype(fmt.bits_dtype), fmt) for p in (patterns, powers)]
        return np.concatenate([*parts, *(n.astype(fmt.dtype) for n in numbers)])


# Where each function's results leave the format, or turn subnormal, or round to one.
_EDGES = {
    "exp": (-745.2, -708.4, -103.97, -87.34, 88.73, 709.79),
    "exp2": (-1075.0, -1074.5, -1074.0, -1022.0, -150.0, -149.5, -149.0, -127.0, -126.0, 128.0, 1024.0),
    "log": (1.0, 2.718281828459045),
    "log2": (1.0, 2.0, 8.0),
    "rsqrt": (0.25, 1.0, 4.0),
    "sin": (3.141592653589793, 6.283185307179586, 1e22, 16384.0),
    "cos": (1.5707963267948966, 4.71238898038469, 1e22, 16384.0),
    "tan": (1.5707963267948966, 3.141592653589793, 0.7853981633974483, 1e22, 16384.0),
    "sinh": (89.41, 88.73, 710.48, 709.79, 2.0**-27, 2.0**-12, 0.25),
    "cosh": (89.41, 88.73, 710.48, 709.79, 2.0**-27, 2.0**-12),
    "tanh": (9.01, 19.06, 20.0, 2.0**-27, 2.0**-12, 0.25),
}


def edges(name: str, fmt: FloatFormat) -> NDArray[Any]:
    """Numbers of the format around the function's edges, both signs."""
    centres = np.array(_EDGES[name])
    near = centres[:, None] * (1.0 + np.arange(-6, 7) * 2.0 ** (1 - fmt.precision))
    wider = centres[:, None] * (1.0 + np.arange(-6, 7) * 2.0**-12)
    values = np.concatenate([near.ravel(), wider.ravel()])
    with np.errstate(over="ignore"):
        return np.concatenate([values, -values]).astype(fmt.dtype)


def unary(name: str, fmt: FloatFormat, count: int, seed: int) -> NDArray[Any]:
    """Operands for a function of one argument; ``count`` random ones."""
    rng = np.random.default_rng(seed)
    numbers = spread(fmt, count // 2, rng)
    low, high = {"exp": (-750.0, 715.0), "exp2": (-1080.0, 1030.0)}.get(name, (-715.0, 715.0))
    if fmt is not F64:
        low, high = low / 7, high / 7
    in_range = rng.uniform(low, high, count // 2).astype(fmt.dtype)
    if name in ("log", "log2", "rsqrt"):
        numbers, in_range = np.abs(numbers), np.abs(in_range)
    return np.concatenate([specials(fmt), edges(name, fmt), numbers, in_range])


def binary(name: str, fmt: FloatFormat, count: int, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Pairs of operands: all pairs of special values, and ``count`` random ones."""
    rng = np.random.default_rng(seed)
    pairs = np.array(list(itertools.product(specials(fmt), repeat=2)), fmt.dtype)
    x = spread(fmt, count // 2, rng)
    y = rng.permutation(spread(fmt, count // 2, rng))
    # For pow: results inside the format. For atan2: points near an axis or a diagonal.
    with np.errstate(all="ignore"):
        base = np.abs(spread(fmt, count // 2, rng)).astype(np.float64)
        if name == "pow":
            power = rng.uniform(fmt.emin - fmt.precision, fmt.emax + 2, base.size) / np.log2(base)
        else:
            power = base * rng.choice([-1, 1], base.size) * 2.0 ** np.rint(rng.uniform(-40, 40, base.size))
        second = np.nan_to_num(power, nan=1.0).astype(fmt.dtype)
    x = np.concatenate([pairs[:, 0], x, base.astype(fmt.dtype)])
    return x, np.concatenate([pairs[:, 1], y, second])
