"""exti and trunci: integers of one width as integers of another."""

import numpy as np

from tileref.numerics.formats import IntegerFormat
from tileref.numerics.integer.arithmetic import check_overflow
from tileref.numerics.integer.reading import Array, Marked, as_signed, as_unsigned, marks, wrapped


def exti(x: Array, source: IntegerFormat, target: IntegerFormat, signed: bool = True) -> Marked:
    """X in a wider format, the sign or zeros filling the new bits; never undefined."""
    if target.width <= source.width:
        raise ValueError(f"exti from {source.name} to {target.name}: the target must be wider")
    return wrapped(as_signed(x, source) if signed else as_unsigned(x, source), target), None


def trunci(x: Array, source: IntegerFormat, target: IntegerFormat, overflow: str = "none") -> Marked:
    """The low bits of x in a narrower format.

    Marked: a lane that breaks the ``overflow`` promise: signed, that the truncated bits all equal the
    result's sign; unsigned, that they are all 0.
    """
    check_overflow(overflow)
    if target.width >= source.width:
        raise ValueError(f"trunci from {source.name} to {target.name}: the target must be narrower")
    result = wrapped(x, target)
    broken = np.zeros((), np.bool_)
    # Extending the result back, with the promised kind of fill, must restore the operand.
    if overflow in ("no_signed_wrap", "no_wrap"):
        broken = broken | (as_signed(result, target) != as_signed(x, source))
    if overflow in ("no_unsigned_wrap", "no_wrap"):
        broken = broken | (as_unsigned(result, target) != as_unsigned(x, source))
    return result, marks(broken)
