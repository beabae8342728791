"""maxf, minf and cmpf: order, not arithmetic; no bit is rounded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bits import any_nan, bits_of, flushed, nan_mask
from .formats import F32, F64, FloatFormat
from .lanes import blockwise, broadcast, lanes_of
from .nan import NanRule, canonical
from .widening import to_f32

Array = NDArray[Any]
Bools = NDArray[np.bool_]


def _key(bits: Array, fmt: FloatFormat) -> Array:
    """Integers in the order of the values, -0 below +0: a fresh array of the patterns' width.

    A negative value's pattern grows with its magnitude, so that turning all its bits but the sign puts it in
    order among the two's complement integers. f8E8M0FNU's patterns are in order as they are. The function is
    its own inverse.
    """
    if not fmt.signed:
        return bits.copy()
    signed: Any = np.dtype(f"int{fmt.storage_width}").type
    key: Array = bits.view(signed)
    turned: Array = key >> signed(fmt.storage_width - 1)
    turned &= signed((1 << (fmt.storage_width - 1)) - 1)
    turned ^= key
    return turned


def _greatest(out: Array, x: Array, y: Array, fmt: FloatFormat, least: bool) -> None:
    """The greater, or the lesser, of lanes without NaN; a NaN's lane gets either operand or a NaN."""
    patterns = out.view(fmt.bits_dtype)
    a, b = x.view(fmt.bits_dtype), y.view(fmt.bits_dtype)
    choose = np.minimum if least else np.maximum
    if fmt.dtype.kind == "f" and fmt.storage_width > 16:
        choose(x, y, out=out)
        # Equal operands of different patterns are zeros, of which numpy may give either.
        equal = x == y
        if equal.any():
            (np.bitwise_or if least else np.bitwise_and)(a, b, out=patterns, where=equal)
        return
    # The sign of f4E2M1FN is moved to where the storage has its own.
    spare = fmt.bits_dtype.type(fmt.storage_width - fmt.width)
    keys = _key(a << spare, fmt)
    choose(keys, _key(b << spare, fmt), out=keys)
    np.right_shift(_key(keys.view(fmt.bits_dtype), fmt).view(fmt.bits_dtype), spare, out=patterns)


def _extreme(
    operation: str,
    least: bool,
    a: Any,
    b: Any,
    fmt: FloatFormat,
    propagate_nan: bool,
    flush_to_zero: bool,
    nan: NanRule,
) -> Array:
    operands = broadcast(lanes_of(a, fmt), lanes_of(b, fmt))
    used = operands
    if flush_to_zero:
        if fmt is not F32:
            raise ValueError(f"flush_to_zero applies to f32 only, found {fmt.name}")
        used = tuple(flushed(x, fmt) for x in operands)

    def kernel(out: Array, x: Array, y: Array) -> None:
        _greatest(out, x, y, fmt, least)
        patterns = out.view(fmt.bits_dtype)
        for this, other in ((x, y), (y, x)):
            if any_nan(this, fmt):
                lost = nan_mask(this, fmt)
                # The other operand, which may itself be NaN; or a NaN, which the rule settles.
                patterns[lost] = bits_of(this if propagate_nan else other, fmt)[lost]

    result = blockwise(kernel, fmt.dtype, *used)
    nan(result, operands, fmt, operation)
    return result


def maxf(
    a: Any,
    b: Any,
    fmt: FloatFormat,
    propagate_nan: bool = False,
    flush_to_zero: bool = False,
    nan: NanRule = canonical,
) -> Array:
    """The greater of a and b, +0 above -0.

    `propagate_nan`: NaN where either is NaN (IEEE 754-2019's maximum); else only where both are, and where
    one is the other operand (maximumNumber). `flush_to_zero` (f32 only) replaces subnormals by the zeros of
    their signs. Arrays of `fmt.dtype` of shapes that broadcast; a fresh array.
    """
    return _extreme("maxf", False, a, b, fmt, propagate_nan, flush_to_zero, nan)


def minf(
    a: Any,
    b: Any,
    fmt: FloatFormat,
    propagate_nan: bool = False,
    flush_to_zero: bool = False,
    nan: NanRule = canonical,
) -> Array:
    """The lesser of a and b, -0 below +0; the rest as for `maxf`."""
    return _extreme("minf", True, a, b, fmt, propagate_nan, flush_to_zero, nan)


def _differs(a: Array, b: Array) -> Array:
    return np.asarray((a < b) | (a > b))


_ORDERED: Mapping[str, Callable[[Array, Array], Array]] = MappingProxyType(
    {
        "equal": np.equal,
        "not_equal": _differs,
        "less_than": np.less,
        "less_than_or_equal": np.less_equal,
        "greater_than": np.greater,
        "greater_than_or_equal": np.greater_equal,
    }
)

_OPPOSITE: Mapping[str, str] = MappingProxyType(
    {
        "equal": "not_equal",
        "not_equal": "equal",
        "less_than": "greater_than_or_equal",
        "less_than_or_equal": "greater_than",
        "greater_than": "less_than_or_equal",
        "greater_than_or_equal": "less_than",
    }
)

PREDICATES: tuple[str, ...] = tuple(_ORDERED)
"""The dialect's comparison predicates."""


def cmpf(a: Any, b: Any, fmt: FloatFormat, predicate: str, ordered: bool) -> Bools:
    """Compare lanes: a fresh bool array, the dialect's i1.

    `predicate` is one of `PREDICATES`. A comparison with a NaN is False where `ordered` and True where not;
    +0 and -0 are equal. Arrays of `fmt.dtype` of shapes that broadcast; ValueError for an unknown predicate.
    """
    if predicate not in _ORDERED:
        raise ValueError(f"unknown predicate {predicate!r}, expected one of {', '.join(PREDICATES)}")
    operands = broadcast(lanes_of(a, fmt), lanes_of(b, fmt))
    # Without NaN a predicate is the opposite's complement, and with NaN the ordered opposite is False.
    compare = _ORDERED[predicate if ordered else _OPPOSITE[predicate]]

    def kernel(out: Array, x: Array, y: Array) -> None:
        if fmt is not F64 and fmt is not F32:
            x, y = to_f32(x, fmt), to_f32(y, fmt)
        np.copyto(out, compare(x, y))
        if not ordered:
            np.logical_not(out, out=out)

    return blockwise(kernel, np.dtype(np.bool_), *operands)
