"""The special function unit's reciprocal of an f64, which is the one of f32 (see ``hardware``)."""

from __future__ import annotations

import numpy as np

from ..formats import Array
from .hardware import F32, HIGH, rcp_approx_ftz_f32

SMALLEST_NORMAL = 2.0**-1022


def rcp_approx_ftz_f64(x: Array) -> Array:
    """``rcp.approx.ftz.f64``: f32's answer to the high word, cut off to 20 bits of significand."""
    high = (np.asarray(x, np.float64).view(np.uint64) & HIGH).view(np.float64)
    small = np.abs(high) < SMALLEST_NORMAL
    with np.errstate(all="ignore"):
        special = small | ~np.isfinite(high)
        significand, exponent = np.frexp(np.where(special, 1.0, high))
        seed = rcp_approx_ftz_f32(significand.astype(F32)).astype(np.float64)
        cut = (seed.view(np.uint64) & HIGH).view(np.float64)
        result = np.ldexp(cut, -exponent)
        result = np.where(np.abs(result) < SMALLEST_NORMAL, np.copysign(0.0, high), result)
        return np.where(special, 1 / np.where(small, np.copysign(0.0, high), high), result)
