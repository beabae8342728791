"""Matrices that are hard on a product: any bits, zeros, wide and narrow ranges, whole empty columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from tileref.numerics.formats import TF32, FloatFormat

KINDS = ("normal", "wide", "zeros", "any exponent", "empty", "bits")


def matrix(
    rng: np.random.Generator, fmt: FloatFormat, shape: tuple[int, ...], kind: str
) -> np.ndarray[Any, Any]:
    """Elements of ``fmt``; those of ``bits`` hold infinities, NaNs and subnormals."""
    if kind == "bits":
        patterns = rng.integers(0, 1 << fmt.storage_width, shape, dtype=np.uint64).astype(fmt.bits_dtype)
        return _fit(patterns.view(fmt.dtype), fmt)
    values = rng.standard_normal(shape)
    if kind == "wide":
        values *= 2.0 ** rng.integers(-40, 10, shape)
    elif kind == "zeros":
        values *= rng.random(shape) < 0.3
        values *= np.where(rng.random(shape) < 0.5, 1.0, -1.0)
    elif kind == "any exponent":
        values *= 2.0 ** rng.integers(-140, 60, shape)
    elif kind == "empty":
        values[..., : shape[-2] // 2, :] = 0.0
        values[..., : shape[-1] // 2] = -0.0
    with np.errstate(all="ignore"):
        return _fit(values.astype(np.float32).astype(fmt.dtype), fmt)


def _fit(array: np.ndarray[Any, Any], fmt: FloatFormat) -> np.ndarray[Any, Any]:
    if fmt is not TF32:
        return array
    return (array.view(np.uint32) & np.uint32(0xFFFFFFFF << fmt.unused_bits & 0xFFFFFFFF)).view(np.float32)
