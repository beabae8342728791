"""Inputs on which a wrong rounding shows, made for every format from the format's own numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileref.numerics import ftof, mulf, negf
from tileref.numerics.formats import F32, F64, FloatFormat
from tileref.numerics.nan import canonical

Array = NDArray[Any]


def specials(fmt: FloatFormat) -> Array:
    """Zeros, subnormal borders, one, the largest, infinity and NaN, of both signs, and their neighbours."""
    unit = 1 << fmt.unused_bits
    one = fmt.bias << (fmt.significand_width + fmt.unused_bits)
    least = fmt.smallest_normal
    found = {0, unit, 2 * unit, 3 * unit, least - unit, least, least + unit, one - unit, one, one + unit}
    found |= {one + (unit << max(fmt.significand_width - 1, 0)), fmt.largest, fmt.largest - unit}
    if fmt.has_nan:
        found.add(fmt.canonical_nan)
    if fmt.infinity is not None:
        found.add(fmt.infinity)
    found = {p & fmt.magnitude_mask for p in found if p >= 0}
    ordered = sorted(found | {p | fmt.sign_bit for p in found})
    x = np.array(ordered, fmt.bits_dtype).view(fmt.dtype)
    canonical(x, (x,), fmt, "constant")
    return x


def values(fmt: FloatFormat, rng: np.random.Generator, count: int) -> Array:
    """`count` values of `fmt`, NaNs canonical: the specials, powers of two and their neighbours, short
    significands near one, values within 60 binades, and uniformly random patterns.
    """
    place = np.uint64(fmt.significand_width + fmt.unused_bits)
    fields = 1 << fmt.exponent_width
    kind = rng.integers(0, 4, count)
    anything = rng.integers(0, 1 << 63, count, dtype=np.uint64) * np.uint64(2)
    anything += rng.integers(0, 2, count, dtype=np.uint64)
    fraction = anything & np.uint64((1 << int(place)) - 1)

    def near_one(reach: int) -> Array:
        field = np.clip(rng.integers(-reach, reach + 1, count) + fmt.bias, 0, fields - 1)
        return field.astype(np.uint64) << place

    power = rng.integers(0, fields, count).astype(np.int64) << place.astype(np.int64)
    power += rng.integers(-2, 3, count) << fmt.unused_bits
    short = fraction & ~np.uint64((1 << max(int(place) - 5, 0)) - 1)
    candidates = [power.view(np.uint64), near_one(4) | short, near_one(30) | fraction, anything]
    patterns = np.choose(kind, candidates) & np.uint64(fmt.magnitude_mask & -(1 << fmt.unused_bits))
    patterns |= rng.integers(0, 2, count).astype(np.uint64) * np.uint64(fmt.sign_bit)
    x = patterns.astype(fmt.bits_dtype).view(fmt.dtype)
    fixed = specials(fmt)[:count]
    x[: fixed.size] = fixed
    canonical(x, (x,), fmt, "constant")
    return x


def nudged(x: Array, fmt: FloatFormat, rng: np.random.Generator, reach: int = 2) -> Array:
    """`x` with up to `reach` last places added or taken away."""
    steps = rng.integers(-reach, reach + 1, x.shape) << fmt.unused_bits
    bits = x.view(fmt.bits_dtype).astype(np.int64) + steps
    magnitude = np.uint64((1 << (fmt.storage_width - 1)) - 1)
    bits = bits.view(np.uint64) & (magnitude | np.uint64(1 << (fmt.storage_width - 1)))
    if fmt.width < fmt.storage_width:
        bits &= np.uint64((1 << fmt.width) - 1)
    y = bits.astype(fmt.bits_dtype).view(fmt.dtype)
    canonical(y, (y,), fmt, "constant")
    return y


def scaled(x: Array, fmt: FloatFormat, powers: Array) -> Array:
    """`x` times two to the powers, in `fmt`."""
    wide = ftof(x, fmt, F64) if fmt is not F64 else x
    with np.errstate(all="ignore"):
        y = np.ldexp(wide, powers)
    return y if fmt is F64 else ftof(y, F64, fmt)


def halfway_factors(fmt: FloatFormat, rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Factors whose exact product has one bit more than the format's precision, about half of the time: it is
    halfway between two values. The others miss a power of two by a last place each.
    """
    split = rng.integers(1, fmt.precision + 1, count)
    odd = [2 * (rng.integers(0, 1 << 62, count) >> (63 - k)) + 1 for k in (split, fmt.precision + 1 - split)]
    reach = max(fmt.emax // 2 - fmt.precision, 0)
    factors = []
    for whole in odd:
        with np.errstate(all="ignore"):
            wide = np.ldexp(whole.astype(np.float64), rng.integers(-reach - fmt.precision, reach + 1, count))
        near = np.ldexp(1.0, rng.integers(-reach, reach + 1, count))
        use = rng.random(count) < 0.2
        exact = np.where(use, near, wide)
        factor = exact if fmt is F64 else ftof(exact, F64, fmt)
        factors.append(
            np.where(use, nudged(factor, fmt, rng, 1).view(fmt.bits_dtype), factor.view(fmt.bits_dtype))
        )
    return factors[0].view(fmt.dtype), factors[1].view(fmt.dtype)


def _mixed(kind: Array, choices: list[Array], fmt: FloatFormat) -> Array:
    """Lane by lane the choice that `kind` numbers."""
    patterns = np.choose(kind, [x.view(fmt.bits_dtype) for x in choices])
    return patterns.astype(fmt.bits_dtype).view(fmt.dtype)


def pairs(fmt: FloatFormat, rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Pairs of operands: all pairs of specials first, then `count` that are hard for some operation.

    In turns: unrelated values; near cancellation; sizes so far apart that a sum is near a halfway point; a
    dividend next to the product of a halfway point and the divisor; factors of a halfway point.
    """
    special = specials(fmt)
    a, b = values(fmt, rng, count), rng.permutation(values(fmt, rng, count))
    cancelling = nudged(negf(a, fmt), fmt, rng)
    apart = nudged(scaled(a, fmt, rng.integers(-fmt.precision - 3, 3 - fmt.precision, count)), fmt, rng, 1)
    product = mulf(nudged(a, fmt, rng), b, fmt)
    first, second = halfway_factors(fmt, rng, count)
    kind = rng.integers(0, 5, count)
    x = _mixed(kind, [a, a, a, product, first], fmt)
    y = _mixed(kind, [b, cancelling, apart, b, second], fmt)
    return (
        np.concatenate([np.repeat(special, special.size), x]),
        np.concatenate([np.tile(special, special.size), y]),
    )


def triples(fmt: FloatFormat, rng: np.random.Generator, count: int) -> tuple[Array, Array, Array]:
    """Operands of a * b + c: pairs, with a third that cancels the product, or is far smaller or larger."""
    a, b = pairs(fmt, rng, count)
    product = mulf(a, b, fmt)
    c = [
        rng.permutation(values(fmt, rng, a.size)),
        nudged(negf(product, fmt), fmt, rng),
        scaled(product, fmt, rng.integers(-3 * fmt.precision - 3, 3 - fmt.precision, a.size)),
        scaled(product, fmt, rng.integers(fmt.precision - 3, 2 * fmt.precision + 3, a.size)),
        scaled(np.ones(a.size, fmt.dtype), fmt, rng.integers(fmt.emin - fmt.precision, 0, a.size)),
    ]
    return a, b, _mixed(rng.integers(0, 5, a.size), c, fmt)


def squares(fmt: FloatFormat, rng: np.random.Generator, count: int) -> Array:
    """Values next to squares of values and of halfway points."""
    a = values(fmt, rng, count)
    return nudged(mulf(a, nudged(a, fmt, rng, 1), fmt), fmt, rng)


def borders(source: FloatFormat, target: FloatFormat, rng: np.random.Generator, count: int) -> Array:
    """Values of `source` (F64 or F32) at and next to values of `target` and the halfway points between
    them.
    """
    near = values(target, rng, count)
    wide = near if target is F64 else ftof(near, target, F64)
    unit = np.where(np.isfinite(wide), np.abs(wide), 0.0)
    with np.errstate(all="ignore"):
        place = np.maximum(
            np.ldexp(1.0, np.frexp(unit)[1] - target.precision), 2.0 ** (target.emin + 1 - target.precision)
        )
        halfway = wide + place / 2
    x = np.concatenate([wide, halfway, -halfway])
    if source is F32:
        x = ftof(x, F64, F32)
    return np.concatenate([x, nudged(x, source, rng), values(source, rng, count)])
