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
    # From this size on every value is integral, and below it adding it rounds to the nearest integer.
    whole = number(2.0 ** (23 if x.dtype.itemsize == 4 else 52))
    size = np.abs(x)
    nearest = size + whole
    nearest -= whole
    np.copysign(nearest, x, out=nearest)
    if up:
        nearest += nearest < x
    else:
        nearest -= nearest > x
    # The sign of a zero is the operand's, and so is every other sign.
    np.copysign(nearest, x, out=nearest)
    # Infinities and NaNs fail the comparison and stay themselves.
    return np.where(size < whole, nearest, x)


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
