"""addi, subi, muli, negi, absi and mulhii: sums and products modulo 2^width.

``overflow`` is the dialect's promise about wrapping: ``none`` promises nothing, ``no_signed_wrap`` that the
signed reading does not wrap, ``no_unsigned_wrap`` that the unsigned one does not, ``no_wrap`` that neither
does. The result wraps whatever was promised; a lane that breaks the promise is marked.
"""

from collections.abc import Callable

import numpy as np

from tileref.numerics.formats import IntegerFormat
from tileref.numerics.integer.reading import Array, Marked, as_signed, as_unsigned, marks, wrapped

OVERFLOW = ("none", "no_signed_wrap", "no_unsigned_wrap", "no_wrap")
"""The dialect's overflow assumptions."""


def addi(a: Array, b: Array, fmt: IntegerFormat, overflow: str = "none") -> Marked:
    """The sum a + b, wrapping; a lane that breaks the ``overflow`` promise is marked."""
    return _wrapping(np.add, _signed_sum_wraps, _unsigned_sum_wraps, a, b, fmt, overflow)


def subi(a: Array, b: Array, fmt: IntegerFormat, overflow: str = "none") -> Marked:
    """The difference a - b, wrapping; a lane that breaks the ``overflow`` promise is marked."""
    return _wrapping(np.subtract, _signed_difference_wraps, _unsigned_difference_wraps, a, b, fmt, overflow)


def muli(a: Array, b: Array, fmt: IntegerFormat, overflow: str = "none") -> Marked:
    """The low half of the product a * b; a lane that breaks the ``overflow`` promise is marked."""
    return _wrapping(np.multiply, _signed_product_wraps, _unsigned_product_wraps, a, b, fmt, overflow)


def negi(x: Array, fmt: IntegerFormat, overflow: str = "none") -> Marked:
    """The negation 0 - x, wrapping: the least number is its own negation, and alone breaks a promise.

    The dialect always reads operand and result as signed, for which reason its verifier refuses
    ``no_unsigned_wrap`` (Ops.td, NegIOp) and ``no_wrap`` promises no more than ``no_signed_wrap``. Where
    ``no_unsigned_wrap`` comes unverified, the unsigned 0 - x wraps for every x but zero.
    """
    check_overflow(overflow)
    if overflow == "no_wrap":
        overflow = "no_signed_wrap"
    return subi(np.zeros((), x.dtype), x, fmt, overflow)


def absi(x: Array, fmt: IntegerFormat) -> Marked:
    """The magnitude of the signed reading of x, itself to be read unsigned: never undefined.

    The least number -2^(width - 1) answers the pattern of 2^(width - 1).
    """
    # numpy's negation wraps at the least number, to the very pattern wanted; no warning in array form.
    return wrapped(np.absolute(as_signed(x, fmt)), fmt), None


def mulhii(a: Array, b: Array, fmt: IntegerFormat) -> Marked:
    """The high half of the 2*width-bit product of the unsigned readings of a and b."""
    if fmt.width == 64:
        return wrapped(_high_half(a.view(np.uint64), b.view(np.uint64)), fmt), None
    product = np.multiply(as_unsigned(a, fmt), as_unsigned(b, fmt), dtype=np.uint64)
    return wrapped(np.right_shift(product, np.uint64(fmt.width)), fmt), None


def check_overflow(overflow: str) -> None:
    """Raise ValueError unless ``overflow`` is one of ``OVERFLOW``."""
    if overflow not in OVERFLOW:
        raise ValueError(f"overflow is {overflow!r}, expected one of {', '.join(OVERFLOW)}")


def _wrapping(
    ufunc: np.ufunc,
    signed_wraps: "_Wraps",
    unsigned_wraps: "_Wraps",
    a: Array,
    b: Array,
    fmt: IntegerFormat,
    overflow: str,
) -> Marked:
    check_overflow(overflow)
    # Modulo 2^width the signed and the unsigned operation are one, and C's unsigned types wrap by definition.
    result = wrapped(ufunc(as_unsigned(a, fmt), as_unsigned(b, fmt)), fmt)
    broken = np.zeros((), np.bool_)
    if overflow in ("no_signed_wrap", "no_wrap"):
        broken = broken | signed_wraps(a, b, result, fmt)
    if overflow in ("no_unsigned_wrap", "no_wrap"):
        broken = broken | unsigned_wraps(a, b, result, fmt)
    return result, marks(broken)


_Wraps = Callable[[Array, Array, Array, IntegerFormat], Array]
"""Whether each lane's exact result differs from the wrapped one: (a, b, result, format) -> bool array."""


def _signed_sum_wraps(a: Array, b: Array, result: Array, fmt: IntegerFormat) -> Array:
    # The operands have one sign and the result the other.
    a, b, result = as_signed(a, fmt), as_signed(b, fmt), as_signed(result, fmt)
    return np.asarray(((a ^ result) & (b ^ result)) < 0)


def _unsigned_sum_wraps(a: Array, b: Array, result: Array, fmt: IntegerFormat) -> Array:
    return np.asarray(as_unsigned(result, fmt) < as_unsigned(a, fmt))


def _signed_difference_wraps(a: Array, b: Array, result: Array, fmt: IntegerFormat) -> Array:
    # The operands differ in sign and the result has not the minuend's.
    a, b, result = as_signed(a, fmt), as_signed(b, fmt), as_signed(result, fmt)
    return np.asarray(((a ^ b) & (a ^ result)) < 0)


def _unsigned_difference_wraps(a: Array, b: Array, result: Array, fmt: IntegerFormat) -> Array:
    return np.asarray(as_unsigned(a, fmt) < as_unsigned(b, fmt))


def _signed_product_wraps(a: Array, b: Array, result: Array, fmt: IntegerFormat) -> Array:
    a, b, result = as_signed(a, fmt), as_signed(b, fmt), as_signed(result, fmt)
    if fmt.width < 64:
        return np.asarray(np.multiply(a, b, dtype=np.int64) != result)
    # The signed high half follows from the unsigned one: a negative operand read unsigned is 2^64 too
    # large, which adds the other operand to the high half. The product fits when the high half is the
    # low half's sign.
    high = _high_half(a.view(np.uint64), b.view(np.uint64)).view(np.int64)
    high = np.subtract(np.subtract(high, a >> 63 & b), b >> 63 & a)
    return np.asarray(high != result >> 63)


def _unsigned_product_wraps(a: Array, b: Array, result: Array, fmt: IntegerFormat) -> Array:
    return np.asarray(as_unsigned(mulhii(a, b, fmt)[0], fmt) != 0)


def _high_half(a: Array, b: Array) -> Array:
    """The high 64 bits of the 128-bit products of np.uint64 arrays, by halves of 32 bits."""
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a_high, a_low = a >> half, a & low
    b_high, b_low = b >> half, b & low
    # No step overflows: (2^32 - 1)^2 + 2 (2^32 - 1) = 2^64 - 1.
    middle = a_high * b_low + (a_low * b_low >> half)
    other = a_low * b_high + (middle & low)
    return np.asarray(a_high * b_high + (middle >> half) + (other >> half))
