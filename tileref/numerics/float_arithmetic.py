"""Float arithmetic in every format and rounding direction of IEEE 754, one rounding an operation.

All functions take arrays (or scalars) of `fmt.dtype`, of shapes that broadcast, and give a fresh array of
`fmt.dtype` in the common shape; operands are never written to. `flush_to_zero` (f32 only, ValueError
elsewhere) replaces subnormal operands, and results that are subnormal after rounding, by the zero of their
sign. `nan` writes the patterns of NaN results (see `nan`). Values beyond the format's largest become
infinity, or where the format has none what `rounding` says. TypeError where an array is not of the format's
type.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import binary64, narrow
from .bits import bits_of, flush, flushed, from_bits
from .formats import BF16, F16, F32, F64, FloatFormat, Rounding
from .integral import ceil, floor
from .lanes import blockwise, broadcast, lanes_of
from .nan import NanRule, canonical
from .remainder import remf
from .rounding import round_lanes
from .widening import to_f64

__all__ = ["absf", "addf", "ceil", "divf", "floor", "fma", "mulf", "negf", "remf", "sqrt", "subf"]

Array = NDArray[Any]


def _operands(
    operands: tuple[Any, ...], fmt: FloatFormat, flush_to_zero: bool
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """The operands as arrays of one shape, and what the operation computes with in their place."""
    arrays = broadcast(*(lanes_of(x, fmt) for x in operands))
    if not flush_to_zero:
        return arrays, arrays
    if fmt is not F32:
        raise ValueError(f"flush_to_zero applies to f32 only, found {fmt.name}")
    return arrays, tuple(flushed(x, fmt) for x in arrays)


def _native(ufunc: Callable[..., Array], fmt: FloatFormat, operands: tuple[Array, ...]) -> Array:
    """The processor's own f32 or f64 operation, which IEEE 754 makes correctly rounded to nearest even."""
    result = np.empty(operands[0].shape, fmt.dtype)
    with np.errstate(all="ignore"):
        ufunc(*operands, out=result)
    return result


def _binary(
    operation: str,
    ufunc: np.ufunc,
    directed: Callable[[Array, Array, Array, Rounding], None],
    a: Any,
    b: Any,
    fmt: FloatFormat,
    rounding: Rounding,
    flush_to_zero: bool,
    nan: NanRule,
) -> Array:
    operands, used = _operands((a, b), fmt, flush_to_zero)
    to_nearest = rounding is Rounding.NEAREST_EVEN
    if operation == "subf" and not (to_nearest and (fmt is F32 or fmt is F64)):
        # IEEE 754 defines x - y as x + (-y). Negating turns a NaN's sign, which the NaN rule settles.
        used = (used[0], negf(used[1], fmt)) if fmt.signed else used
        ufunc = np.add if fmt.signed else ufunc
    if to_nearest and (fmt is F32 or fmt is F64):
        result = _native(ufunc, fmt, used)
    else:

        def kernel(out: Array, x: Array, y: Array) -> None:
            if to_nearest and (fmt is F16 or fmt is BF16):
                narrow.in_f32(ufunc, out, fmt, x, y)
            elif fmt is F64 or (fmt is F32 and ufunc is np.add):
                directed(out, x, y, rounding)
            else:
                narrow.binary(ufunc, out, x, y, fmt, rounding)

        result = blockwise(kernel, fmt.dtype, *used)
    if flush_to_zero:
        flush(result, fmt)
    nan(result, operands, fmt, operation)
    return result


def addf(
    a: Any,
    b: Any,
    fmt: FloatFormat,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    flush_to_zero: bool = False,
    nan: NanRule = canonical,
) -> Array:
    """The sum a + b, rounded once."""
    return _binary("addf", np.add, binary64.add, a, b, fmt, rounding, flush_to_zero, nan)


def subf(
    a: Any,
    b: Any,
    fmt: FloatFormat,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    flush_to_zero: bool = False,
    nan: NanRule = canonical,
) -> Array:
    """The difference a - b, rounded once."""
    return _binary("subf", np.subtract, binary64.add, a, b, fmt, rounding, flush_to_zero, nan)


def mulf(
    a: Any,
    b: Any,
    fmt: FloatFormat,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    flush_to_zero: bool = False,
    nan: NanRule = canonical,
) -> Array:
    """The product a * b, rounded once."""
    return _binary("mulf", np.multiply, binary64.multiply, a, b, fmt, rounding, flush_to_zero, nan)


def divf(
    a: Any,
    b: Any,
    fmt: FloatFormat,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    flush_to_zero: bool = False,
    nan: NanRule = canonical,
) -> Array:
    """The quotient a / b, rounded once: the dialect's IEEE division, not its `approx` and `full` modes."""
    return _binary("divf", np.divide, binary64.divide, a, b, fmt, rounding, flush_to_zero, nan)


def fma(
    a: Any,
    b: Any,
    c: Any,
    fmt: FloatFormat,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    flush_to_zero: bool = False,
    nan: NanRule = canonical,
) -> Array:
    """Fused a * b + c with one rounding of the exact value. 0 * infinity + NaN is NaN like the rest."""
    operands, used = _operands((a, b, c), fmt, flush_to_zero)

    def kernel(out: Array, x: Array, y: Array, z: Array) -> None:
        if fmt is F64:
            binary64.fma(out, x, y, z, rounding)
        elif fmt is F32 and rounding is Rounding.NEAREST_EVEN:
            narrow.fma_f32(out, x, y, z)
        else:
            v = narrow.fma(to_f64(x, fmt), to_f64(y, fmt), to_f64(z, fmt), fmt, rounding)
            round_lanes(out, v, F64, fmt, rounding)

    result = blockwise(kernel, fmt.dtype, *used)
    if flush_to_zero:
        flush(result, fmt)
    nan(result, operands, fmt, "fma")
    return result


def sqrt(
    a: Any,
    fmt: FloatFormat,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    flush_to_zero: bool = False,
    nan: NanRule = canonical,
) -> Array:
    """The square root, rounded once: the dialect's IEEE root, not its `approx` mode. -0 gives -0."""
    operands, used = _operands((a,), fmt, flush_to_zero)
    to_nearest = rounding is Rounding.NEAREST_EVEN
    if to_nearest and (fmt is F32 or fmt is F64):
        result = _native(np.sqrt, fmt, used)
    else:

        def kernel(out: Array, x: Array) -> None:
            if fmt is F64:
                binary64.square_root(out, x, rounding)
            elif to_nearest and (fmt is F16 or fmt is BF16):
                narrow.in_f32(np.sqrt, out, fmt, x)
            else:
                round_lanes(out, np.sqrt(to_f64(x, fmt)), F64, fmt, rounding)

        result = blockwise(kernel, fmt.dtype, *used)
    if flush_to_zero:
        flush(result, fmt)
    nan(result, operands, fmt, "sqrt")
    return result


def absf(a: Any, fmt: FloatFormat) -> Array:
    """`a` with its sign bit clear: a bit operation, which leaves a NaN's payload."""
    x = lanes_of(a, fmt)
    result = np.empty(x.shape, fmt.bits_dtype)
    np.bitwise_and(bits_of(x, fmt), fmt.bits_dtype.type(fmt.magnitude_mask), out=result)
    return from_bits(result, fmt)


def negf(a: Any, fmt: FloatFormat) -> Array:
    """`a` with its sign bit turned: a bit operation, which leaves a NaN's payload.

    NaN for f8E8M0FNU, which has no negative values.
    """
    x = lanes_of(a, fmt)
    result = np.empty(x.shape, fmt.bits_dtype)
    if fmt.signed:
        np.bitwise_xor(bits_of(x, fmt), fmt.bits_dtype.type(fmt.sign_bit), out=result)
    else:
        result[...] = fmt.canonical_nan
    return from_bits(result, fmt)
