"""divi and remi: quotients in three roundings, and the remainder of the truncated one.

numpy's ``//`` and ``%`` round down and are the wrong default here; its ``fmod`` truncates, as the dialect
does.
"""

import numpy as np

from tileref.numerics.formats import IntegerFormat
from tileref.numerics.integer.reading import Array, Marked, as_signed, as_unsigned, marks, wrapped

DIVISION_ROUNDINGS = ("zero", "negative_inf", "positive_inf")
"""The roundings of ``divi``: truncation, floor and ceiling."""


def divi(a: Array, b: Array, fmt: IntegerFormat, rounding: str = "zero", signed: bool = True) -> Marked:
    """The quotient a / b rounded to an integer.

    Marked: a zero divisor (the lane holds 0) and the signed overflow minimum / -1 (the lane holds the
    minimum). Unsigned operands with ``negative_inf``, which the dialect refuses, truncate.
    """
    if rounding not in DIVISION_ROUNDINGS:
        raise ValueError(f"rounding is {rounding!r}, expected one of {', '.join(DIVISION_ROUNDINGS)}")
    dividend, divisor = _read(a, b, fmt, signed)
    one, zero = divisor.dtype.type(1), divisor.dtype.type(0)
    by_zero = np.asarray(divisor == 0)
    undefined = by_zero
    if signed:
        undefined = by_zero | ((dividend == fmt.minimum) & (divisor == -1))
    if undefined.any():
        # Dividing by one leaves the minimum as it is.
        divisor = np.where(undefined, one, divisor)
        dividend = np.where(by_zero, zero, dividend)
    remainder = np.fmod(dividend, divisor)
    quotient = np.floor_divide(np.subtract(dividend, remainder), divisor)  # exact, so nothing is rounded
    if rounding != "zero":
        # A remainder means that truncation went towards zero, which is up exactly when the signs differ.
        inexact = np.not_equal(remainder, 0)
        negative = np.less(np.bitwise_xor(dividend, divisor), 0)
        if rounding == "negative_inf":
            quotient = np.subtract(quotient, np.logical_and(inexact, negative), dtype=quotient.dtype)
        else:
            quotient = np.add(quotient, np.greater(inexact, negative), dtype=quotient.dtype)
    return wrapped(quotient, fmt), marks(undefined)


def remi(a: Array, b: Array, fmt: IntegerFormat, signed: bool = True) -> Marked:
    """The remainder a - trunc(a / b) * b, of the sign of the dividend.

    Marked: a zero divisor (the lane holds 0). The minimum by -1 leaves 0 and is not marked: the dialect's
    formula gives it that value, and its text calls only the division by zero undefined.
    """
    dividend, divisor = _read(a, b, fmt, signed)
    undefined = np.asarray(divisor == 0)
    # By 1 and by -1 the remainder is 0 alike, and 1 spares the processor an overflowing division.
    unit = undefined | (divisor == -1) if signed else undefined
    if unit.any():
        divisor = np.where(unit, divisor.dtype.type(1), divisor)
    return wrapped(np.fmod(dividend, divisor), fmt), marks(undefined)


def _read(a: Array, b: Array, fmt: IntegerFormat, signed: bool) -> tuple[Array, Array]:
    reading = as_signed if signed else as_unsigned
    dividend, divisor = np.broadcast_arrays(reading(a, fmt), reading(b, fmt))
    return dividend, divisor
