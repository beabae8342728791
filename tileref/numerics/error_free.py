"""Error-free transformations: a sum or product as the nearest float and the exact rest.

All of these use nothing but IEEE 754 additions, subtractions and multiplications, each rounded to nearest
even, and work on float32 and float64 arrays alike, of one dimension or more. References: Dekker, "A
floating-point technique for extending the available precision" (1971); Knuth, "The Art of Computer
Programming", volume 2, section 4.2.2; Muller et al., "Handbook of Floating-Point Arithmetic", chapter 4.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def two_sum(a: Array, b: Array, out: Array | None = None) -> tuple[Array, Array]:
    """`(s, e)` with s = the rounded a + b, put into `out` where that is given, and s + e = a + b exactly.

    Exact whatever the sizes of a and b, subnormals included, as long as nothing overflows. Where an operand
    is not finite or something overflows, e is not finite.
    """
    s: Array = np.add(a, b, out=out)
    b_part = s - a
    a_part = s - b_part
    np.subtract(b, b_part, out=b_part)
    np.subtract(a, a_part, out=a_part)
    a_part += b_part
    return s, a_part


def fast_two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """`two_sum` for operands with |a| >= |b|, or a = 0."""
    s = a + b
    e = s - a
    np.subtract(b, e, out=e)
    return s, e


def split(a: Array) -> tuple[Array, Array]:
    """`(h, l)` with h + l = a exactly, each of at most half the significand (26 bits of float64's 53).

    Overflows where |a| exceeds the format's largest value over 2**(half + 1), about 2**996 for float64.
    """
    factor = a.dtype.type((1 << 27) + 1 if a.dtype.itemsize == 8 else (1 << 12) + 1)
    t = a * factor
    h = t - a
    np.subtract(t, h, out=h)
    return h, np.subtract(a, h, out=t)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """`(p, e)` with p = the rounded a * b and p + e = a * b exactly.

    Exact unless `split` overflows or the product is so small that e would need bits below the least
    subnormal: for float64 the exponents of a and b must stay below 996 and their sum above -968.
    """
    p = a * b
    a_high, a_low = split(a)
    b_high, b_low = split(b)
    e = a_high * b_high
    e -= p
    a_high *= b_low
    e += a_high
    b_high *= a_low
    e += b_high
    a_low *= b_low
    e += a_low
    return p, e
