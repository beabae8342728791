"""Constants and tables, computed from MPFR when first asked for, so that no list of digits can be mistyped.

MPFR rounds correctly at any precision, so a table is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import gmpy2
import numpy as np
from numpy.typing import NDArray

Real: TypeAlias = Any
"""A gmpy2.mpfr, which gmpy2 does not type."""

WORKING = gmpy2.context(precision=320)
"""Far beyond what any table keeps. Its methods, unlike operators, use it and not the thread's context."""

_DOUBLE = gmpy2.context(precision=53)

PI: Real = gmpy2.const_pi(320)
LN2: Real = gmpy2.const_log2(320)


def rounded(x: Real) -> float:
    """The float64 nearest to x."""
    return float(_DOUBLE.plus(x))


def quotient(a: Real, b: Real, precision: int = 320) -> Real:
    """The quotient a / b to ``precision`` bits.

    Not by the method ``div`` of a context: up to gmpy2 2.2.1 that rounds to the thread's precision instead.
    """
    with gmpy2.context(precision=precision):
        return gmpy2.div(a, b)


def pair(x: Real) -> tuple[float, float]:
    """The double-double nearest to x."""
    high = rounded(x)
    return high, rounded(WORKING.sub(x, high))


def parts(x: Real, bits: int, count: int) -> tuple[float, ...]:
    """Split x into ``count`` numbers of at most ``bits`` bits each, and a float64 for what they leave."""
    context = gmpy2.context(precision=bits)
    found = []
    for _ in range(count):
        found.append(float(context.plus(x)))
        x = WORKING.sub(x, found[-1])
    return (*found, rounded(x))


def aligned_pair(x: Real, unit: float) -> tuple[float, float]:
    """Split x into a multiple of ``unit`` (a power of two) and a float64 for the rest."""
    high = float(WORKING.rint(WORKING.mul(x, 1.0 / unit))) * unit
    return high, rounded(WORKING.sub(x, high))


def table(entry: Callable[[int], Iterable[float]], count: int) -> tuple[NDArray[np.float64], ...]:
    """Read-only columns: ``entry(i)`` is row i."""
    rows = np.array([tuple(entry(i)) for i in range(count)], np.float64)
    columns = tuple(np.ascontiguousarray(column) for column in rows.T)
    for column in columns:
        column.setflags(write=False)
    return columns
