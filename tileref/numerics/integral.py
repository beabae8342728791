"""floor and ceil: the nearest integral values below and above, exact in every format."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .formats import F32, F64, FloatFormat, Rounding
from .lanes import blockwise, lanes_of
from .nan import NanRule, canonical
from .rounding import round_lanes
from .widening import to_f32

Array = NDArray[Any]


def _round_to_integral(x: Array, up: bool) -> Array:
    """Floor or ceil of a float32 or float64 array, by additions alone."""
    number = x.dtype.type
    unsigned: Any = np.uint32 if x.dtype.itemsize == 4 else np.uint64
    # From this size on every value is integral. Below it, adding it rounds to the nearest integer.
    whole = number(2.0 ** (23 if x.dtype.itemsize == 4 else 52))
    sign: Array = x.view(unsigned) & unsigned(1 << (x.dtype.itemsize * 8 - 1))
    size = np.abs(x)
    # Infinities and NaNs fail the comparison.
    small = size < whole
    size += whole
    size -= whole
    bits: Array = size.view(unsigned)
    bits |= sign
    if up:
        size += size < x
    else:
        size -= size > x
    # The sign is the operand's, on a zero too.
    bits |= sign
    if not small.all():
        np.copyto(size, x, where=~small)
    return size


def _integral(operation: str, up: bool, a: Any, fmt: FloatFormat, nan: NanRule) -> Array:
    x = lanes_of(a, fmt)

    def kernel(out: Array, x: Array) -> None:
        if fmt is F64 or fmt is F32:
            np.copyto(out, _round_to_integral(x, up))
        else:
            # An integral value of at most p bits next to a value of p bits: the conversion back is exact,
            # unless the format does not hold every small integer (f4E2M1FN, f8E8M0FNU).
            direction = Rounding.POSITIVE_INF if up else Rounding.NEGATIVE_INF
            round_lanes(out, _round_to_integral(to_f32(x, fmt), up), F32, fmt, direction)

    result = blockwise(kernel, fmt.dtype, x)
    nan(result, (x,), fmt, operation)
    return result


def floor(a: Any, fmt: FloatFormat, nan: NanRule = canonical) -> Array:
    """The largest integral value not above each lane of `a` (of `fmt.dtype`); -0 and infinities stay."""
    return _integral("floor", False, a, fmt, nan)


def ceil(a: Any, fmt: FloatFormat, nan: NanRule = canonical) -> Array:
    """The smallest integral value not below each lane of `a`; it is -0 for values in (-1, 0)."""
    return _integral("ceil", True, a, fmt, nan)
