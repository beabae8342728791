"""Numbers as unevaluated sums of two float64, and the error-free transformations they are made of.

A double-double is a pair (high, low) with |low| at most half an ulp of high; it carries about 106 bits. Only
``+ - * /`` occur, each a numpy operation of its own, so every processor answers the same bits: no compiler
can contract a product and a sum into one rounding across two calls.

The error bounds (in u = 2^-53) are those of Joldes, Muller and Popescu, "Tight and rigorous error bounds for
basic building blocks of double-word arithmetic", ACM TOMS 44 (2017). They hold while nothing overflows and no
partial product falls below the normal range; every caller keeps its numbers well inside.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Double: TypeAlias = Any
"""A float64 array, or a Python float broadcast against one."""
Pair: TypeAlias = tuple[Double, Double]
"""A double-double: (high, low)."""

_SPLITTER = 134217729.0  # 2^27 + 1


def fast_two_sum(a: Double, b: Double) -> Pair:
    """The exact a + b, where |a| >= |b| or a is 0: the rounded sum and its error (Dekker)."""
    s = a + b
    return s, b - (s - a)


def two_sum(a: Double, b: Double) -> Pair:
    """The exact a + b: the rounded sum and its error (Knuth)."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def split(a: Double) -> Pair:
    """The number a, exactly, as a sum of two numbers of at most 26 bits (Veltkamp)."""
    c = _SPLITTER * a
    high = c - (c - a)
    return high, a - high


def two_product(a: Double, b: Double) -> Pair:
    """The exact a * b: the rounded product and its error (Dekker)."""
    p = a * b
    a_high, a_low = split(a)
    b_high, b_low = split(b)
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


def add(a: Pair, b: Pair) -> Pair:
    """The sum a + b with a relative error of at most 3 u^2, cancellation included."""
    s, e = two_sum(a[0], b[0])
    t, f = two_sum(a[1], b[1])
    s, e = fast_two_sum(s, e + t)
    return fast_two_sum(s, e + f)


def add_smaller(a: Pair, b: Pair) -> Pair:
    """The sum a + b with a relative error of at most 8 u^2, where nothing cancels: a is 0, or |b| is at most
    |a| / 2, or at most |a| with a's sign. A low part may exceed half an ulp, and adds u of itself then.
    """
    s, e = fast_two_sum(a[0], b[0])
    return fast_two_sum(s, e + (a[1] + b[1]))


def add_double(a: Pair, b: Double) -> Pair:
    """The sum a + b for a float64 b, with a relative error of at most 2 u^2."""
    s, e = two_sum(a[0], b)
    return fast_two_sum(s, e + a[1])


def multiply(a: Pair, b: Pair) -> Pair:
    """The product a * b with a relative error of at most 7 u^2."""
    p, e = two_product(a[0], b[0])
    return fast_two_sum(p, e + (a[0] * b[1] + a[1] * b[0]))


def multiply_double(a: Pair, b: Double) -> Pair:
    """The product a * b for a float64 b, with a relative error of at most 3 u^2."""
    p, e = two_product(a[0], b)
    return fast_two_sum(p, e + a[1] * b)


def divide(a: Pair, b: Pair) -> Pair:
    """The quotient a / b with a relative error of at most 15 u^2."""
    q = a[0] / b[0]
    p, e = multiply_double(b, q)
    # The remainder of a first quotient that is right to a few u: the leading subtraction is exact.
    return fast_two_sum(q, ((a[0] - p) + (a[1] - e)) / b[0])


def scale(a: Pair, power: Double) -> Pair:
    """The exact product a * power, for a power of two."""
    return a[0] * power, a[1] * power


def choose(condition: Array, a: Pair, b: Pair) -> Pair:
    """Pick a where the condition holds, else b."""
    return np.where(condition, a[0], b[0]), np.where(condition, a[1], b[1])
