"""maxf, minf and cmpf: order, not arithmetic; no bit is rounded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bits import bits_of, flushed, nan_mask
from .formats import F32, F64, FloatFormat
from .lanes import blockwise, broadcast, lanes_of
from .nan import NanRule, canonical
from .widening import to_f32

Array = NDArray[Any]
Bools = NDArray[np.bool_]


def _ordered_key(bits: Array, fmt: FloatFormat) -> Array:
    """Integers in the order of the values, -0 below +0: its own inverse, a fresh array.

    A negative value's pattern grows with its magnitude, so that turning all its bits but the sign puts it in
    order among the two's complement integers. f8E8M0FNU's patterns are in order as they are.
    """
    if not fmt.signed:
        return bits.copy()
    if fmt.width < fmt.storage_width:
        # The sign of f4E2M1FN is not the storage's.
        shift = np.uint8(fmt.storage_width - fmt.width)
        key: Array = (bits << shift).view(np.int8)
        return np.asarray(key ^ ((key >> np.int8(7)) & np.int8(0x70)))
    signed: Any = np.dtype(f"int{fmt.width}").type
    key = bits.view(signed)
    mask = key >> signed(fmt.width - 1)
    mask &= signed(fmt.magnitude_mask)
    mask ^= key
    return mask


def _from_key(key: Array, fmt: FloatFormat) -> Array:
    """The patterns with these keys."""
    if not fmt.signed:
        return key
    if fmt.width < fmt.storage_width:
        turned: Array = key ^ ((key >> np.int8(7)) & np.int8(0x70))
        return np.asarray(turned.view(np.uint8) >> np.uint8(fmt.storage_width - fmt.width))
    back: Array = _ordered_key(key.view(fmt.bits_dtype), fmt).view(fmt.bits_dtype)
    return back


def _extreme(
    operation: str,
    choose: Callable[..., Array],
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
        keys = _ordered_key(x.view(fmt.bits_dtype), fmt)
        choose(keys, _ordered_key(y.view(fmt.bits_dtype), fmt), out=keys)
        patterns = out.view(fmt.bits_dtype)
        np.copyto(patterns, _from_key(keys, fmt))
        for this, other in ((x, y), (y, x)):
            lost = nan_mask(this, fmt)
            if lost.any():
                # The other operand, which may itself be NaN; or a NaN, which the rule settles.
                chosen = this if propagate_nan else other
                patterns[lost] = bits_of(chosen, fmt)[lost]

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
    return _extreme("maxf", np.maximum, a, b, fmt, propagate_nan, flush_to_zero, nan)


def minf(
    a: Any,
    b: Any,
    fmt: FloatFormat,
    propagate_nan: bool = False,
    flush_to_zero: bool = False,
    nan: NanRule = canonical,
) -> Array:
    """The lesser of a and b, -0 below +0; the rest as for `maxf`."""
    return _extreme("minf", np.minimum, a, b, fmt, propagate_nan, flush_to_zero, nan)


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
