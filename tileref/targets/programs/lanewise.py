"""What all programs share: running one over lanes, and its fused multiply-adds."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from ...formats import Array
from ...numerics import float_arithmetic
from ...numerics.formats import F32, F64, FloatFormat
from ...numerics.lanes import blockwise, broadcast
from ...numerics.nan import NanRule


def program(name: str, fmt: FloatFormat) -> Callable[[Callable[..., Array]], Callable[..., Array]]:
    """Make a function of flat arrays the program of the operation ``name``.

    It is called with a cacheful of lanes at a time, floating-point warnings off, and need not care for the
    patterns of NaNs.
    """

    def decorate(function: Callable[..., Array]) -> Callable[..., Array]:
        @wraps(function)
        def run(*arguments: Any, nan: NanRule, flush_to_zero: bool = False) -> Array:
            *operands, of = arguments
            if of is not fmt or flush_to_zero:
                raise ValueError(f"no program for {name} in {of.name}, flush_to_zero {flush_to_zero}")
            lanes = broadcast(*(np.asarray(operand, fmt.dtype) for operand in operands))

            def kernel(out: Array, *block: Array) -> None:
                out[...] = function(*block)

            result = blockwise(kernel, fmt.dtype, *lanes, block=1 << 15)
            nan(result, lanes, fmt, name)
            return result

        return run

    return decorate


def _any_pattern(result: Array, operands: tuple[Array, ...], fmt: FloatFormat, operation: str) -> None:
    """A NaN rule for steps whose NaNs are settled at the end."""


def fma(a: Any, b: Any, c: Any) -> Array:
    """``a * b + c`` rounded once, in the format of the arrays among them."""
    first = next(x for x in (a, b, c) if isinstance(x, np.ndarray))
    fmt = F64 if first.dtype == np.float64 else F32
    x, y, z = (np.asarray(each, fmt.dtype) for each in (a, b, c))
    return float_arithmetic.fma(x, y, z, fmt, nan=_any_pattern)


def polynomial(x: Array, *coefficients: float) -> Array:
    """Horner's scheme by fused multiply-adds, the highest power's coefficient first."""
    highest, *others = (x.dtype.type(c) for c in coefficients)
    total: Any = highest
    for coefficient in others:
        total = fma(total, x, coefficient)
    return np.asarray(total)
