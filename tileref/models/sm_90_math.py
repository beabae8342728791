"""Mathematical functions as an sm_90 GPU computes them: an approximation by the hardware, then a program."""

from __future__ import annotations

import numpy as np

from ..formats import Array
from ..numerics.float_arithmetic import fma
from ..numerics.formats import F64, FloatFormat
from ..numerics.nan import NanRule, canonical
from .hardware import reciprocal_root_seed


def rsqrt_f64(
    x: Array, fmt: FloatFormat = F64, nan: NanRule = canonical, *, flush_to_zero: bool = False
) -> Array:
    """Reciprocal square root in f64: the hardware's seed of about 20 bits, and one step of third order.

    With y the seed and e = 1 - x y^2, the answer is y + y e (1/2 + 3/8 e), each operation rounded once.
    """
    del flush_to_zero  # for f32 alone
    x = np.asarray(x)
    with np.errstate(all="ignore"):
        # An even power of two more or less only moves the answer's exponent.
        special = ~((x > 0) & np.isfinite(x))
        significand, exponent = np.frexp(np.where(special, 1.0, x))
        odd = exponent & 1
        scaled = np.ldexp(significand, 2 - odd)  # in [1, 4)
        y = reciprocal_root_seed(scaled)
        e = fma(scaled, -(y * y), np.float64(1), F64)
        polynomial = fma(e, np.float64(0.375), np.float64(0.5), F64)
        close = fma(polynomial, y * e, y, F64)
        result = np.ldexp(close, (2 - odd - exponent) // 2)
        result = np.where(special, 1 / np.sqrt(x), result)
    result = np.asarray(result)
    nan(result, (x,), fmt, "rsqrt")
    return result
