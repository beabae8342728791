"""rsqrt, the reciprocal square root.

1 / sqrt(x) is never halfway between two numbers of a format: the square of a number with one bit more than
the format has, taken times x, would have to be 1, which makes both powers of two.
"""

from __future__ import annotations

import numpy as np

from tileref.numerics.bits import flush, flushed
from tileref.numerics.formats import FloatFormat
from tileref.numerics.math import double_double as dd
from tileref.numerics.math.double_double import Array
from tileref.numerics.math.evaluate import LEAST, Function, Known, Scaled, all_within, evaluate
from tileref.numerics.math.exponential import check_flush
from tileref.numerics.nan import NanRule, canonical


def rsqrt(x: Array, fmt: FloatFormat, nan: NanRule = canonical, *, flush_to_zero: bool = False) -> Array:
    """1 / sqrt(x), correctly rounded to nearest even; an infinity of the zero's sign at 0, NaN below it.

    ``x`` and the result in ``fmt`` (f16, bf16, f32 or f64). ``flush_to_zero`` (f32 alone) reads subnormal
    operands as zeros of their signs; no result is subnormal.
    """
    if not flush_to_zero:
        return evaluate(RSQRT, (x,), fmt, nan)
    check_flush(RSQRT, fmt)
    result = evaluate(RSQRT, (flushed(x, fmt),), fmt, nan)
    flush(result, fmt)
    return result


def _narrow(x: Array) -> Array:
    """Two roundings of IEEE 754, of which the division's counts whole and the root's half: within 2^-51.

    Zeros, infinities and negative numbers answer as they should.
    """
    return np.asarray(1.0 / np.sqrt(x))


def _known(x: Array) -> Known | None:
    if all_within(x, LEAST, np.inf):
        return None
    return ~((x > 0.0) & (x < np.inf)), _narrow(x)


def _wide(x: Array) -> Scaled:
    """Within 2^-98: a float64 estimate y and its correction y e / 2, where e = 1 - m y^2 < 2^-50 is exact but
    for 2^-103, and the next term 3 e^2 / 8 is below 2^-101.
    """
    subnormal = x < 2.0**-1022
    bits = np.where(subnormal, x * 2.0**108, x).view(np.int64)
    exponent = (bits >> 52) - 1023
    odd = exponent & 1
    m = ((bits & ((1 << 52) - 1)) | (1023 + odd) << 52).view(np.float64)  # in [1, 4)
    y = 1.0 / np.sqrt(m)
    p, p_low = dd.multiply_double(dd.two_product(y, y), m)
    e = (1.0 - p) - p_low
    return dd.fast_two_sum(y, 0.5 * y * e), 54 * subnormal - (exponent - odd >> 1)


RSQRT = Function("rsqrt", "rec_sqrt", _narrow, 2.0**-50, _wide, 2.0**-96, _known)
