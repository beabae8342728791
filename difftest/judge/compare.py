"""Two arrays, bit by bit: which lanes differ, and which of them break the tier."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileref.numerics.bounds import ulp_distance
from tileref.numerics.formats import FORMATS, FloatFormat

from ..tiers import Tier
from .verdict import Difference

SHOWN = 8
"""Lanes that are shown of those that differ."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How many lanes there are, have no defined value, differ in a bit, and break the tier."""

    lanes: int
    undefined: int
    differing: int
    outside: int
    max_ulp: float | None
    differences: tuple[Difference, ...]


def compare(
    expected: NDArray[Any],
    found: NDArray[Any],
    format_name: str,
    undefined: NDArray[np.bool_] | None,
    tier: Tier,
) -> Comparison:
    """Compare an answer with what the model expects.

    Args:
        expected: the model's answer.
        found: the device's, of the same shape and array type.
        format_name: the dialect's name of the element format.
        undefined: lanes that have no defined value; they are never compared.
        tier: what may differ.
    """
    fmt = FORMATS[format_name]
    bits = np.dtype(f"u{expected.dtype.itemsize}")
    e, f = np.ascontiguousarray(expected).reshape(-1), np.ascontiguousarray(found).reshape(-1)
    differing = e.view(bits) != f.view(bits)
    if undefined is not None:
        differing &= ~undefined.reshape(-1)
    where = np.flatnonzero(differing)
    ulps = ulp_distance(e[where], f[where], fmt) if isinstance(fmt, FloatFormat) else None
    outside = where if tier.name == "exact" else where[_outside(e[where], f[where], ulps, tier)]
    shown = outside[:SHOWN] if len(outside) else where[:SHOWN]
    distance = dict(zip(where.tolist(), ulps.tolist(), strict=True)) if ulps is not None else {}
    largest = None
    if ulps is not None:
        largest = float(ulps.max(initial=0.0))
    return Comparison(
        lanes=e.size,
        undefined=0 if undefined is None else int(undefined.sum()),
        differing=len(where),
        outside=len(outside),
        max_ulp=largest,
        differences=tuple(
            _difference(e, f, int(i), expected.shape, bits, distance.get(int(i))) for i in shown
        ),
    )


def _outside(
    e: NDArray[Any], f: NDArray[Any], ulps: NDArray[np.float64] | None, tier: Tier
) -> NDArray[np.bool_]:
    """Of lanes that differ, those that a tolerance does not allow.

    Two NaNs of different patterns are within any tolerance, and so are the two zeros; a NaN and a number
    are within none.
    """
    if not tier.bounded:
        return np.zeros(e.shape, dtype=np.bool_)
    with np.errstate(all="ignore"):
        expected, answer = e.astype(np.float64), f.astype(np.float64)
        both_nan = np.isnan(expected) & np.isnan(answer)
        if tier.ulps is not None and ulps is not None:
            return np.asarray((ulps > tier.ulps) & ~both_nan)
        # A hair more than the bound, for this comparison's own rounding.
        allowed = (tier.rel * np.abs(expected) + tier.abs) * (1 + 1e-12)
        # An infinity is within reach of nothing but itself, whatever a relative bound of it would say.
        within = np.isfinite(expected) & (np.abs(expected - answer) <= allowed)
        return np.asarray(~(within | both_nan | (expected == answer)))


def _difference(
    e: NDArray[Any], f: NDArray[Any], i: int, shape: tuple[int, ...], bits: np.dtype[Any], ulps: float | None
) -> Difference:
    digits = 2 * bits.itemsize

    def side(a: NDArray[Any]) -> tuple[str, str]:
        return f"0x{int(a.view(bits)[i]):0{digits}x}", _text(a[i])

    expected_bits, expected = side(e)
    found_bits, found = side(f)
    index = tuple(int(n) for n in np.unravel_index(i, shape))
    return Difference(index, expected_bits, expected, found_bits, found, ulps)


def _text(value: Any) -> str:
    """A value so that it reads back as the same one."""
    if isinstance(value, np.floating):
        return repr(value.item()) if value.dtype.itemsize == 8 else str(value)
    text = str(value)
    return "-0.0" if text == "-0" and math.copysign(1.0, float(value)) < 0 else text
