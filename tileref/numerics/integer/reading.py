"""Stored integers read as signed or unsigned numbers, and numbers wrapped back into storage.

Arithmetic runs in the reading's own numpy type, never in numpy bool. For i1 and i4 that type is eight bits
wide, and that is enough: sums, differences, products and shifts modulo 2^8 have the right low bits, which
is all that ``wrapped`` keeps.
"""

from typing import Any, TypeAlias

import numpy as np

from tileref.numerics.formats import IntegerFormat

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Marked: TypeAlias = tuple[Array, "Array | None"]
"""A result and its undefined lanes: None, or a bool array of the result's shape."""


def as_signed(x: Array, fmt: IntegerFormat) -> Array:
    """The lanes of ``x`` as two's complement numbers: i1 and i4 as np.int8, the others in their own type."""
    if fmt.width == 1:
        return np.asarray(np.negative(x.view(np.int8) & np.int8(1)))
    return _sign_extended(x) if fmt.width == 4 else x


def as_unsigned(x: Array, fmt: IntegerFormat) -> Array:
    """The lanes of ``x`` as numbers 0 .. 2^width - 1: i1 and i4 as np.uint8, the others in their own type."""
    pattern = x.view(fmt.unsigned_dtype)
    return np.asarray(pattern & np.uint8(fmt.unsigned_maximum)) if fmt.width < 8 else pattern


def wrapped(x: Any, fmt: IntegerFormat) -> Array:
    """Any integers, of which the low ``fmt.width`` bits are right, as stored lanes of ``fmt``.

    ``x`` is an array or a scalar that the caller made: the answer may share its memory.
    """
    x = np.asarray(x)
    if fmt.width == 1:
        return np.asarray(np.not_equal(x & x.dtype.type(1), 0))
    stored = x.view(fmt.dtype) if x.dtype.itemsize == fmt.dtype.itemsize else x.astype(fmt.dtype)
    return _sign_extended(stored) if fmt.width == 4 else stored


def marks(undefined: Array) -> Array | None:
    """The mark of an operation: None when no lane is undefined."""
    return undefined if undefined.any() else None


def _sign_extended(nibbles: Array) -> Array:
    """The low four bits of each np.int8 lane as a signed number."""
    return np.asarray(np.right_shift(np.left_shift(nibbles, 4), 4))
