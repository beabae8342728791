"""fpowi: a float raised to a signed integer power, as the device multiplies it out.

The answer is not the correctly rounded power but that of a fixed sequence of rounded products, right-to-left
binary exponentiation, and for a negative power the rounded reciprocal of it: measured bit for bit
in f64 on sm_86, and in f64, f32, f16 and bf16 on sm_90.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .formats import BF16, F16, F32, F64, FloatFormat, Rounding
from .lanes import blockwise, broadcast, lanes_of
from .nan import NanRule, canonical
from .rounding import round_lanes
from .widening import to_f32

Array = NDArray[Any]


def _multiply_out(x: Array, n: Array) -> Array:
    """x**n of float32 or float64 lanes and int64 powers, in x's own arithmetic."""
    # The least integers of the narrower types have a magnitude in int64.
    left = np.abs(n)
    result = np.ones_like(x)
    square = x.copy()
    while True:
        odd = (left & np.int64(1)) != 0
        np.multiply(result, square, out=result, where=odd)
        left >>= np.int64(1)
        if not left.any():
            break
        # A square that no lane needs any more may overflow: nobody looks at it.
        square *= square
    np.divide(x.dtype.type(1), result, out=result, where=n < 0)
    return result


def fpowi(a: Any, n: Any, fmt: FloatFormat, nan: NanRule = canonical) -> Array:
    """`a` to the power `n`: one rounded product a step, and a reciprocal for negative powers.

    `a` is an array of `fmt.dtype` (f64, f32, f16 or bf16), `n` a signed integer array (i8, i16, i32, or i1 as
    bool, whose True is -1), of shapes that broadcast. x**0 is 1 for every x, NaN included. f16 and bf16 are
    computed in f32 and rounded once at the end, as the dialect says of fpowi. A fresh array of `fmt.dtype`;
    TypeError for another type of `n`, ValueError for another format.
    """
    if fmt not in (F64, F32, F16, BF16):
        raise ValueError(f"fpowi is of f64, f32, f16 and bf16, found {fmt.name}")
    powers = np.asarray(n)
    if powers.dtype.kind not in "bi" or powers.dtype.itemsize > 4:
        raise TypeError(f"fpowi takes a power of i1, i8, i16 or i32, found an array of {powers.dtype}")
    operands = broadcast(lanes_of(a, fmt), powers)

    def kernel(out: Array, x: Array, n: Array) -> None:
        wide = n.astype(np.int64)
        if n.dtype == np.bool_:
            np.negative(wide, out=wide)
        if fmt is F64 or fmt is F32:
            np.copyto(out, _multiply_out(x, wide))
        else:
            round_lanes(out, _multiply_out(to_f32(x, fmt), wide), F32, fmt, Rounding.NEAREST_EVEN)

    result = blockwise(kernel, fmt.dtype, *operands)
    nan(result, operands, fmt, "fpowi")
    return result
