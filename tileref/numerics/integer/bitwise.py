"""andi, ori, xori, shli and shri: operations on bit patterns.

A shift count is read unsigned. The dialect gives a count of the width or more no answer: the lane is marked
and holds what shifting every bit out leaves, zeros or copies of the sign.
"""

import numpy as np

from tileref.numerics.formats import IntegerFormat
from tileref.numerics.integer.arithmetic import check_overflow
from tileref.numerics.integer.reading import Array, Marked, as_signed, as_unsigned, marks, wrapped


def andi(a: Array, b: Array, fmt: IntegerFormat) -> Marked:
    """The bitwise and; never undefined."""
    return np.asarray(np.bitwise_and(a, b)), None


def ori(a: Array, b: Array, fmt: IntegerFormat) -> Marked:
    """The bitwise or; never undefined."""
    return np.asarray(np.bitwise_or(a, b)), None


def xori(a: Array, b: Array, fmt: IntegerFormat) -> Marked:
    """The bitwise exclusive or; never undefined."""
    return np.asarray(np.bitwise_xor(a, b)), None


def shli(a: Array, b: Array, fmt: IntegerFormat, overflow: str = "none") -> Marked:
    """A shifted left by b, zeros coming in.

    Marked: a count of the width or more (the lane holds 0), and a lane that breaks the ``overflow`` promise:
    signed, that every bit shifted out equals the result's sign; unsigned, that every bit shifted out is 0.
    """
    check_overflow(overflow)
    pattern, count, undefined = _shift_operands(as_unsigned(a, fmt), b, fmt)
    result = wrapped(np.left_shift(pattern, count), fmt)
    if undefined.any():
        result = np.where(undefined, result.dtype.type(0), result)
    # A shift keeps its promise when shifting back, with the promised kind of fill, restores the operand.
    if overflow in ("no_signed_wrap", "no_wrap"):
        back = np.right_shift(as_signed(result, fmt), count.view(as_signed(result, fmt).dtype))
        undefined = undefined | (back != as_signed(a, fmt))
    if overflow in ("no_unsigned_wrap", "no_wrap"):
        undefined = undefined | (np.right_shift(as_unsigned(result, fmt), count) != pattern)
    return result, marks(undefined)


def shri(a: Array, b: Array, fmt: IntegerFormat, signed: bool = True) -> Marked:
    """A shifted right by b, copies of the sign coming in when ``signed`` and zeros when not.

    Marked: a count of the width or more (the lane holds nothing but what came in).
    """
    reading = as_signed(a, fmt) if signed else as_unsigned(a, fmt)
    operand, count, undefined = _shift_operands(reading, b, fmt)
    result = np.right_shift(operand, count.view(operand.dtype))
    if undefined.any():
        result = np.where(undefined, np.less(operand, 0) * operand.dtype.type(-1 if signed else 0), result)
    return wrapped(result, fmt), marks(undefined)


def _shift_operands(x: Array, count: Array, fmt: IntegerFormat) -> tuple[Array, Array, Array]:
    """The operand, the counts clipped below the width (what C and numpy define), and which were clipped."""
    unsigned_count = as_unsigned(count, fmt)
    limit = unsigned_count.dtype.type(fmt.width - 1)
    undefined = np.asarray(unsigned_count > limit)
    operand, clipped, undefined = np.broadcast_arrays(x, np.minimum(unsigned_count, limit), undefined)
    return operand, clipped, undefined
