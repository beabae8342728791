"""remf: the remainder of a truncated division, exact in every format."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .error_free import two_product
from .formats import F64, FloatFormat, Rounding
from .lanes import blockwise, broadcast, lanes_of
from .nan import NanRule, canonical
from .rounding import decompose, power_of_two, round_lanes
from .widening import to_f64

Array = NDArray[Any]

# Quotient digits of one step of the long division, in bits: a quotient below 2**50 and its neighbours are
# integers that float64 holds, and so is the exact product's low part.
_STEP = 50


def _remainder(x: Array, y: Array) -> Array:
    """The remainder of float64s with the sign of x: a long division on significands, _STEP bits at a time.

    With r and m multiples of 2**-52, 0 <= r < m < 2, and q the integer nearest to r * 2**k / m or next to it,
    the difference r * 2**k - q * m is a multiple of 2**-52 below 2 in size. So it is a float64, and every
    step of its computation from the exact product q * m is exact.
    """
    size, divisor = np.abs(x), np.abs(y)
    result = x.copy()
    # x is its own remainder below y; an infinite y included.
    busy = size >= divisor
    busy &= divisor > 0
    busy &= size < np.inf
    result[(divisor == 0) | ~(size < np.inf) | np.isnan(divisor)] = np.nan
    lanes = np.nonzero(busy)[0]
    if not lanes.size:
        return result
    r, r_power = decompose(size[lanes])
    m, m_power = decompose(divisor[lanes])
    left = r_power - m_power
    r -= np.where(r >= m, m, 0.0)
    active = np.nonzero(left > 0)[0]
    while active.size:
        bits = np.minimum(left[active], np.int64(_STEP))
        divisors = m[active]
        scaled = r[active] * power_of_two(bits)
        quotient = scaled / divisors
        # Adding 2**52 rounds to an integer.
        quotient += 2.0**52
        quotient -= 2.0**52
        product, rest = two_product(quotient, divisors)
        scaled -= product
        scaled -= rest
        scaled += np.where(scaled < 0, divisors, 0.0)
        r[active] = scaled
        left[active] -= bits
        active = active[left[active] > 0]
    # The result is a multiple of y's last place, hence exact; two factors, as the power alone may not be one
    # normal float64.
    half = m_power >> np.int64(1)
    r *= power_of_two(half)
    r *= power_of_two(m_power - half)
    result[lanes] = np.copysign(r, x[lanes])
    return result


def remf(a: Any, b: Any, fmt: FloatFormat, nan: NanRule = canonical) -> Array:
    """The remainder a - b * trunc(a / b), exact: of a's sign, also where it is zero, and below b in size.

    `a` and `b` are arrays of `fmt.dtype` of shapes that broadcast; a fresh array. NaN where b is zero or a is
    infinite; a itself where only b is infinite (the dialect's special cases of remf).
    """
    operands = broadcast(lanes_of(a, fmt), lanes_of(b, fmt))

    def kernel(out: Array, x: Array, y: Array) -> None:
        v = _remainder(to_f64(x, fmt), to_f64(y, fmt))
        # Exact: a multiple of the lesser last place of the two operands, and below both in size.
        round_lanes(out, v, F64, fmt, Rounding.NEAREST_EVEN)

    result = blockwise(kernel, fmt.dtype, *operands)
    nan(result, operands, fmt, "remf")
    return result
