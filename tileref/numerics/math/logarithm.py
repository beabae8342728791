"""log and log2.

x = 2^k m with m near 1; a table gives c, a short number near 1/m, and -log c; then
log x = k log 2 - log c + log(1 + r) with r = m c - 1, which is small and exact. Where m is next to 1, c is 1
and -log c is 0, so nothing cancels.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from tileref.numerics.formats import FloatFormat
from tileref.numerics.math import constants
from tileref.numerics.math import double_double as dd
from tileref.numerics.math.double_double import Array, Pair
from tileref.numerics.math.evaluate import LEAST, Function, Known, Scaled, all_within, evaluate
from tileref.numerics.math.polynomial import polynomial
from tileref.numerics.nan import NanRule, canonical

_FIRST = 0.6875
"""m lies in [0.6875, 1.375): a table cell begins at 1, and 1 is well inside."""
_FIRST_BITS = int(np.float64(_FIRST).view(np.int64))
_FRACTION = (1 << 52) - 1


def log(x: Array, fmt: FloatFormat, nan: NanRule = canonical) -> Array:
    """The natural logarithm, correctly rounded to nearest even; -infinity at both zeros, NaN below them.

    ``x`` and the result in ``fmt`` (f16, bf16, f32 or f64).
    """
    return evaluate(LOG, (x,), fmt, nan)


def log2(x: Array, fmt: FloatFormat, nan: NanRule = canonical) -> Array:
    """The logarithm to base 2, correctly rounded to nearest even; -infinity at both zeros, NaN below them.

    ``x`` and the result in ``fmt`` (f16, bf16, f32 or f64).
    """
    return evaluate(LOG2, (x,), fmt, nan)


def _reciprocal(cell: int, cells: int, bits: int) -> float:
    """A number of few bits near 1/m for the m of a table cell; 1 for the two cells that meet at m = 1."""
    first, last = (
        float(np.int64(_FIRST_BITS + (c << 52) // cells).view(np.float64)) for c in (cell, cell + 1)
    )
    if 1.0 in (first, last):
        return 1.0
    unit = 2.0**bits
    return round(unit * 2 / (first + last)) / unit


def cell(x: Array, cells: int) -> tuple[Array, Array, Array]:
    """k, m and the table cell of m for positive normal float64 x."""
    bits = x.view(np.int64)
    offset = bits - _FIRST_BITS
    index = offset >> (53 - cells.bit_length())
    index &= cells - 1
    k = offset >> 52
    offset &= ~_FRACTION
    return k, (bits - offset).view(np.float64), index


def _known(x: Array) -> Known | None:
    if all_within(x, LEAST, np.inf):
        return None
    ordinary = (x > 0.0) & (x < np.inf)
    return ~ordinary, np.where(x == 0.0, -np.inf, np.where(x > 0.0, np.inf, np.nan))


# float64 for the formats up to f32.

NARROW_CELLS = 256


@functools.cache
def narrow_table(base2: bool) -> tuple[NDArray[np.float64], ...]:
    """c, and -log c or -log2 c."""
    function = constants.WORKING.log2 if base2 else constants.WORKING.log

    def row(cell: int) -> tuple[float, float]:
        c = _reciprocal(cell, NARROW_CELLS, 12)
        return c, 0.0 - constants.rounded(function(c))

    return constants.table(row, NARROW_CELLS)


def narrow_series(r: Array) -> Array:
    """(log(1 + r) - r) / r^2 for |r| <= 2^-8, cut where the next term is r^6/8 < 2^-51."""
    return polynomial(r, -1 / 2, 1 / 3, -1 / 4, 1 / 5, -1 / 6, 1 / 7)


def _narrow(x: Array, base2: bool) -> Array:
    """The logarithms of x for x of at most 24 bits, within 2^-49.

    m c has at most 37 bits, so r is exact. |r| <= 2^-8, and the series is cut at r^8/8 < 2^-59 of r. The sum
    of the table's terms is 0 or above twice the rest, so that no rounding grows by more than 2.
    """
    k, m, index = cell(x, NARROW_CELLS)
    reciprocal, minus_log = narrow_table(base2)
    r = m * np.take(reciprocal, index)
    r -= 1.0
    result = narrow_series(r)
    result *= r
    result *= r
    result += r
    main = k.astype(np.float64)
    if base2:
        result *= _PER_LN2[0]
    else:
        main *= _LN2
    main += np.take(minus_log, index)
    result += main
    return result


# Double-double for f64.

_CELLS = 2048

_LN2 = constants.rounded(constants.LN2)
# k has at most 11 bits, so k times the first part is exact.
_LN2_PARTS = constants.parts(constants.LN2, 42, 1)
_PER_LN2 = constants.pair(constants.quotient(1, constants.LN2))
_THIRD = constants.pair(constants.quotient(1, 3))


@functools.cache
def _table(base2: bool) -> tuple[NDArray[np.float64], ...]:
    """c, and -log c or -log2 c, high and low."""
    function = constants.WORKING.log2 if base2 else constants.WORKING.log

    def row(cell: int) -> tuple[float, float, float]:
        c = _reciprocal(cell, _CELLS, 15)
        return c, *constants.pair(constants.WORKING.minus(function(c)))

    return constants.table(row, _CELLS)


def _log1p(r: Pair) -> Pair:
    """log(1 + r) for |r| <= 2^-11, within 2^-96 of itself.

    Written r + r^2 (-1/2 + r (1/3 - r/4 + w)), with w = r^2/5 - ... below 2^-24 in float64: it rounds by
    2^-76, which stands for 2^-98 of r. The series is cut at r^10/10, below 2^-102 of r.
    """
    high, low = r
    w = high * high * polynomial(high, 1 / 5, -1 / 6, 1 / 7, -1 / 8, 1 / 9)
    inner = dd.add_smaller(_THIRD, (-0.25 * high, w - 0.25 * low))
    bracket = dd.add_smaller((-0.5, 0.0), dd.multiply(r, inner))
    return dd.add_smaller(r, dd.multiply(dd.multiply(r, r), bracket))


def wide(x: Array, base2: bool) -> Pair:
    """The logarithms of x for positive finite x, within 2^-94.

    Where -log c is not 0 it is above twice the rest, so that their sum at most doubles an error.
    """
    subnormal = x < 2.0**-1022
    k, m, index = cell(np.where(subnormal, x * 2.0**54, x), _CELLS)
    exponents = k - 54.0 * subnormal
    reciprocal, minus_log, minus_log_low = (np.take(column, index) for column in _table(base2))
    # c has at most 16 bits, the upper part of m 37: both products are exact, and so is the subtraction of 1.
    upper = (m.view(np.int64) & ~0xFFFF).view(np.float64)
    rest = _log1p(dd.two_sum(upper * reciprocal - 1.0, (m - upper) * reciprocal))
    if base2:
        high, low = dd.two_sum(exponents, minus_log)
        low = low + minus_log_low
        rest = dd.multiply(rest, _PER_LN2)
    else:
        high, low = dd.two_sum(exponents * _LN2_PARTS[0], minus_log)
        low = low + (exponents * _LN2_PARTS[1] + minus_log_low)
    # The second part of k ln 2 rounds by 2^-96 of the whole, the sum of the low parts by 2^-105.
    return dd.add_smaller(dd.fast_two_sum(high, low), rest)


def _log_wide(x: Array) -> Scaled:
    return wide(x, base2=False), None


def _log2_wide(x: Array) -> Scaled:
    return wide(x, base2=True), None


LOG = Function("log", "log", lambda x: _narrow(x, False), 2.0**-48, _log_wide, 2.0**-91, _known)
LOG2 = Function("log2", "log2", lambda x: _narrow(x, True), 2.0**-48, _log2_wide, 2.0**-91, _known)
