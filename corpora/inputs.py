"""Inputs from seeds: the same bits under every version of numpy and on every machine.

Only ``random_raw`` of the Philox bit generator is used, whose stream numpy promises to keep; distributions
are not, since their algorithms may change. From raw integers to values everything is integer arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isqrt, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileir.errors import TileError
from tileref.numerics.formats import FORMATS, FloatFormat, IntegerFormat

from .hard import hard_values

Bits = NDArray[np.unsignedinteger[Any]]
Recipe = Mapping[str, Any]
"""How to make a buffer's contents: ``kind``, and what that kind wants (see the functions below)."""


def make(format_name: str, shape: tuple[int, ...], recipe: Recipe) -> NDArray[Any]:
    """An array of ``shape`` in the array type of the format, made by ``recipe``.

    Raises:
        TileError: the format or the kind of recipe is not known, or a part of the recipe is missing.
    """
    fmt = FORMATS.get(format_name)
    kind = recipe.get("kind")
    maker = _MAKERS.get(str(kind))
    if fmt is None or maker is None:
        raise TileError("cannot make this input", rule="corpus-recipe", found=f"{kind} of {format_name}")
    try:
        bits = maker(fmt, prod(shape), recipe)
    except (KeyError, ValueError, TypeError) as error:
        raise TileError(
            f"the recipe of kind {kind} is not complete: {error!r}", rule="corpus-recipe", found=dict(recipe)
        ) from error
    return np.ascontiguousarray(_stored(fmt, bits)).view(fmt.dtype).reshape(shape)


def raw(seed: int, count: int) -> NDArray[np.uint64]:
    """``count`` raw 64-bit integers of the stream with this seed."""
    return np.asarray(np.random.Philox(key=seed).random_raw(count), dtype=np.uint64)


def _stored(fmt: FloatFormat | IntegerFormat, bits: NDArray[np.uint64]) -> Bits:
    """Bit patterns as the unsigned integers of the format's storage."""
    if isinstance(fmt, FloatFormat):
        return bits.astype(fmt.bits_dtype)
    if fmt.width == 4:
        # An i4 lane is a byte that holds -8 to 7.
        return (((bits & np.uint64(15)) ^ np.uint64(8)) - np.uint64(8)).astype(np.uint8)
    return (bits & np.uint64(fmt.unsigned_maximum)).astype(fmt.unsigned_dtype)


def _bits(fmt: FloatFormat | IntegerFormat, count: int, recipe: Recipe) -> NDArray[np.uint64]:
    """Any pattern of the format, all equally likely. Wants ``seed``."""
    patterns = raw(recipe["seed"], count) >> np.uint64(64 - fmt.width)
    if isinstance(fmt, FloatFormat) and fmt.unused_bits:
        patterns &= np.uint64(~((1 << fmt.unused_bits) - 1) & 0xFFFFFFFF)
    return patterns


def _moderate(fmt: FloatFormat | IntegerFormat, count: int, recipe: Recipe) -> NDArray[np.uint64]:
    """Floats with an exponent between ``low`` and ``high`` (-4 and 3), of both signs or ``positive``."""
    if isinstance(fmt, IntegerFormat):
        return _bits(fmt, count, recipe)
    low = max(int(recipe.get("low", -4)), fmt.emin)
    high = min(int(recipe.get("high", 3)), fmt.emax - 1)
    words = raw(recipe["seed"], count)
    # Bit 63 is the sign, 52 to 62 choose the exponent, and the low ones are the significand.
    significand = words & np.uint64((1 << fmt.significand_width) - 1)
    choice = (words >> np.uint64(52)) & np.uint64(0x7FF)
    exponent = choice % np.uint64(high - low + 1) + np.uint64(low + fmt.bias)
    patterns = (exponent << np.uint64(fmt.significand_width) | significand) << np.uint64(fmt.unused_bits)
    if fmt.signed and not recipe.get("positive"):
        patterns |= (words >> np.uint64(63)) << np.uint64(fmt.width - 1)
    return np.asarray(patterns, dtype=np.uint64)


def _hard(fmt: FloatFormat | IntegerFormat, count: int, recipe: Recipe) -> NDArray[np.uint64]:
    """The format's hard values first, then half any pattern and half moderate ones. Wants ``seed``.

    ``role`` says how the hard values run: ``only`` once; ``lhs`` and ``rhs`` so that two buffers of these
    roles meet in every pair of the first hard values, as many as three quarters of the lanes can hold.
    ``nonzero`` puts 3 in the place of 0.
    """
    values = np.array(hard_values(fmt), dtype=np.uint64)
    role = recipe.get("role", "only")
    lanes = np.arange(count)
    if role == "only":
        hard_lanes = min(len(values), count)
        chosen = values[:hard_lanes]
    else:
        side = min(len(values), isqrt(count * 3 // 4))
        hard_lanes = side**2
        pair = lanes[:hard_lanes]
        chosen = values[pair % side if role == "lhs" else pair // side]
    seed = recipe["seed"]
    any_pattern = _bits(fmt, count, {"seed": seed})
    moderate = _moderate(fmt, count, {"seed": seed ^ 0x5EED, "low": -6, "high": 6})
    patterns = np.where(lanes % 2 == 0, any_pattern, moderate)
    patterns[:hard_lanes] = chosen
    if recipe.get("nonzero"):
        patterns[patterns == 0] = 3
    return patterns


def _range(fmt: FloatFormat | IntegerFormat, count: int, recipe: Recipe) -> NDArray[np.uint64]:
    """Integers from ``low`` up to but not including ``high``; in a float format if it holds them exactly."""
    low, high = int(recipe["low"]), int(recipe["high"])
    numbers = (raw(recipe["seed"], count) >> np.uint64(11)) % np.uint64(high - low)
    return _integers(fmt, numbers.astype(np.int64) + low)


def _permutation(fmt: FloatFormat | IntegerFormat, count: int, recipe: Recipe) -> NDArray[np.uint64]:
    """0 to count - 1 in a random order. Wants ``seed``."""
    return _integers(fmt, np.argsort(raw(recipe["seed"], count), kind="stable").astype(np.int64))


def _iota(fmt: FloatFormat | IntegerFormat, count: int, recipe: Recipe) -> NDArray[np.uint64]:
    """0, 1, 2, ..."""
    return _integers(fmt, np.arange(count, dtype=np.int64))


def _fill(fmt: FloatFormat | IntegerFormat, count: int, recipe: Recipe) -> NDArray[np.uint64]:
    """One pattern everywhere: ``bits``, a hexadecimal string."""
    return np.full(count, int(recipe["bits"], 16), dtype=np.uint64)


def _explicit(fmt: FloatFormat | IntegerFormat, count: int, recipe: Recipe) -> NDArray[np.uint64]:
    """The patterns themselves: ``bits``, a list of hexadecimal strings."""
    patterns = np.array([int(text, 16) for text in recipe["bits"]], dtype=np.uint64)
    if len(patterns) != count:
        raise ValueError(f"{len(patterns)} patterns for {count} elements")
    return patterns


def _integers(fmt: FloatFormat | IntegerFormat, numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """The patterns of integers, which a float format must hold exactly."""
    if isinstance(fmt, IntegerFormat):
        return numbers.view(np.uint64)
    magnitudes = np.abs(numbers)
    if magnitudes.max(initial=0) >= 1 << fmt.precision:
        raise ValueError(f"{fmt.name} does not hold {magnitudes.max()} exactly")
    # f64 holds these integers too, so its bits give exponent and significand without any rounding.
    wide = magnitudes.astype(np.float64).view(np.uint64)
    exponent = (wide >> np.uint64(52)).astype(np.int64) - 1023 + fmt.bias
    significand = (wide & np.uint64((1 << 52) - 1)) >> np.uint64(52 - fmt.significand_width)
    patterns = (exponent.astype(np.uint64) << np.uint64(fmt.significand_width)) | significand
    patterns = np.where(magnitudes == 0, np.uint64(0), patterns << np.uint64(fmt.unused_bits))
    return np.asarray(
        patterns | np.where(numbers < 0, np.uint64(fmt.sign_bit), np.uint64(0)), dtype=np.uint64
    )


_MAKERS = {
    "bits": _bits,
    "moderate": _moderate,
    "hard": _hard,
    "range": _range,
    "permutation": _permutation,
    "iota": _iota,
    "fill": _fill,
    "explicit": _explicit,
}
