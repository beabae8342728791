"""pow in f32."""

from __future__ import annotations

import numpy as np

from ...formats import Array
from ...numerics.formats import F32
from ..hardware import rcp_approx_ftz_f32
from .f32_logarithm import parts
from .lanewise import fma, polynomial, program

f32 = np.float32

LOG2_E = f32(1.4426950216293335)


@program("fpowf", F32)
def pow_(x: Array, y: Array) -> Array:
    """2 to ``y`` times the logarithm of the base, which is worked out to twice f32's precision."""
    power = _of_size(np.abs(x), y)
    odd = np.abs(y - f32(2) * np.trunc(y * f32(0.5))) == 1
    negative = np.where(np.trunc(y) != y, f32(np.nan), np.where(odd, -power, power))
    result = np.where(x < 0, negative, power)
    result = np.where((x == -1) & np.isinf(y), f32(1), result)
    result = np.where((x == 0) | np.isinf(x), _of_extremes(x, y, odd), result)
    result = np.where(np.isnan(x) | np.isnan(y), x + y, result)
    return np.where((x == 1) | (y == 0), f32(1), result)


def _of_extremes(x: Array, y: Array, odd: Array) -> Array:
    """A power of a zero or an infinity: itself or the other of both, with its sign if ``y`` is odd."""
    bits = (x + x).view(np.uint32)
    bits = np.where(y < 0, bits ^ np.uint32(0x7F800000), bits)
    return np.where(odd, bits, bits & np.uint32(0x7FFFFFFF)).view(f32)


def _of_size(x: Array, y: Array) -> Array:
    """A power of a positive number."""
    high, low = _log2(x)
    product = high * y
    rest = fma(low, y, fma(high, y, -product))
    whole = np.rint(product)
    fraction = (product - whole) + rest
    series = polynomial(
        fraction,
        *(0.00015239251661114395, 0.0013391353422775865, 0.009618839249014854, 0.05550358816981316),
        *(0.2402264475822449, 0.6931471824645996, 1),
    )
    # Two factors, so that a result below the normal range is rounded once.
    lower = np.where(whole > 0, np.int32(0), np.int32(-250 << 23))
    exponent = np.clip(np.nan_to_num(whole, nan=0.0), -1024, 1024).astype(np.int32) << 23
    result = series * (lower + np.int32(254 << 23)).view(f32) * (exponent - lower).view(f32)
    beyond = np.where(product < 0, f32(0), f32(np.inf))
    return np.where(np.abs(product) > 152, beyond, result)


def _log2(x: Array) -> tuple[Array, Array]:
    """The binary logarithm as a sum of two f32: from the artanh of (m - 1) / (m + 1)."""
    exponent, above, _ = parts(x, 0x3F3504F3, scale=24)
    reciprocal = rcp_approx_ftz_f32(above + f32(1) + f32(1))
    ratio = (above + above) * reciprocal
    square = ratio * ratio
    # What the ratio lacks of twice the quotient.
    missing = above - ratio
    missing = reciprocal * fma(-ratio, above, missing + missing)
    series = square * polynomial(
        square, 0.0006568862590938807, 0.0032181653659790754, 0.018033718690276146, 0.12022458761930466
    )
    total = fma(ratio, LOG2_E, exponent)
    rest = fma(missing, LOG2_E, fma(ratio, LOG2_E, exponent - total))
    rest = fma(ratio, f32(1.925136672298322e-08), rest)
    rest = fma(series, ratio, fma(series * f32(3), missing, rest))
    high = total + rest
    return high, rest - (high - total)
