"""Conversions between formats: ftof, itof, ftoi, and the ones that keep the bits: bitcast, pack, unpack.

A value goes from the source to the target in one rounding. There is no way station of a precision in
between, which is where conversions "through f32" go wrong: f64 1 + 2**-8 + 2**-40 is 1 + 2**-7 in bf16, and
1 by way of f32.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bits import from_bits
from .error_free import fast_two_sum
from .formats import F32, F64, I1, I4, I8, TF32, FloatFormat, IntegerFormat, Rounding
from .lanes import BLOCK, blockwise, lanes_of
from .nan import NanRule, canonical
from .rounding import round_lanes, step_from_nearest, to_odd
from .widening import to_f32, to_f64

Array = NDArray[Any]
Bools = NDArray[np.bool_]


@cache
def _ftof_table(source: FloatFormat, target: FloatFormat, rounding: Rounding, saturate: bool | None) -> Array:
    """The converted value of every pattern of an 8-bit or smaller source."""
    every = np.arange(1 << source.storage_width, dtype=source.bits_dtype)
    every &= source.bits_dtype.type((1 << source.width) - 1)
    table = np.empty(every.shape, target.dtype)
    with np.errstate(all="ignore"):
        round_lanes(table, to_f32(from_bits(every, source), source), F32, target, rounding, saturate)
    table.flags.writeable = False
    return table


def ftof(
    x: Any,
    source: FloatFormat,
    target: FloatFormat,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    saturate: bool | None = None,
    nan: NanRule = canonical,
) -> Array:
    """Convert `x`, an array of `source.dtype` of any shape, to `target`, rounding once.

    `saturate` says what becomes of values beyond the target's largest: None leaves that to the format
    (infinity, else NaN, else the largest value), True gives the largest finite value of the sign, which is
    what sm_90 was measured to answer for both f8 formats. See `rounding` for f8E8M0FNU, which has neither
    zero nor sign. NaN converted to f4E2M1FN, which has none, is its largest value. A fresh array of
    `target.dtype`.

    Any pair and any direction works; which ones a program may write is the dialect's table.
    """
    x = lanes_of(x, source)

    def kernel(out: Array, x: Array) -> None:
        if source.storage_width == 8 and x.size > 64:
            _ftof_table(source, target, rounding, saturate).take(
                x.view(source.bits_dtype), out=out, mode="clip"
            )
        elif source is F64:
            round_lanes(out, x, F64, target, rounding, saturate)
        else:
            round_lanes(out, to_f32(x, source), F32, target, rounding, saturate)

    # The narrow kernels have few and narrow temporaries, and room for more lanes.
    result = blockwise(kernel, target.dtype, x, block=BLOCK if source is F64 else 2 * BLOCK)
    nan(result, (x,), target, "ftof")
    return result


def _integers(x: Array, source: IntegerFormat, signed: bool) -> Array:
    """The lanes' values as numpy integers: int64, or uint64 where i64 is read unsigned."""
    if source is I1:
        # True is the one value with its bit set: -1 read signed, 1 read unsigned.
        wide = x.astype(np.int64)
        return -wide if signed else wide
    if signed:
        return x.astype(np.int64)
    bits = x.view(source.unsigned_dtype).astype(np.uint64)
    if source is I4:
        bits &= np.uint64(0xF)
    return bits if source.width == 64 else bits.view(np.int64)


def itof(
    x: Any,
    source: IntegerFormat,
    target: FloatFormat,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    signed: bool = True,
    nan: NanRule = canonical,
) -> Array:
    """Convert the integers `x`, an array of `source.dtype` of any shape, to `target`, rounding once.

    `signed` says how the bits are read; i1's True is -1 read signed and 1 read unsigned. Values beyond the
    target's largest become infinity, or what `rounding` says of a format without; negative values are NaN in
    f8E8M0FNU. A fresh array of `target.dtype`.
    """
    x = lanes_of(x, source)

    def kernel(out: Array, x: Array) -> None:
        integers = _integers(x, source, signed)
        if source.width < 64:
            # At most 32 bits: exact in float64.
            round_lanes(out, integers.astype(np.float64), F64, target, rounding)
            return
        # Two halves, each exact in float64, whose sum is the integer.
        low = (integers & integers.dtype.type(0xFFFFFFFF)).astype(np.float64)
        high = (integers >> integers.dtype.type(32)).astype(np.float64)
        high *= 2.0**32
        nearest, error = fast_two_sum(high, low)
        if target is F64:
            np.copyto(out, nearest)
            step_from_nearest(out, error, rounding)
        else:
            round_lanes(out, to_odd(nearest, error), F64, target, rounding)

    result = blockwise(kernel, target.dtype, x)
    nan(result, (x,), target, "itof")
    return result


def ftoi(
    x: Any, source: FloatFormat, target: IntegerFormat, signed: bool = True, saturating: bool = False
) -> tuple[Array, Bools | None]:
    """Convert `x`, an array of `source.dtype` of any shape, to integers, rounding towards zero.

    Gives the result, a fresh array of `target.dtype`, and where it is undefined: lanes that are NaN,
    infinite, or out of the target's range after truncation (`signed` says which range), as a mask of x's
    shape, or None where there is no such lane. A lane out of range holds the nearest value of the target,
    and NaN 0. With `saturating`, the dialect defines exactly that, and the mask is None.
    """
    x = lanes_of(x, source)
    width = target.width
    low, high = (target.minimum, target.maximum) if signed else (0, target.unsigned_maximum)

    def is_above(v: Array) -> Array:
        return np.asarray(v >= float(high + 1))

    def is_below(v: Array) -> Array:
        # What lies above low - 1 truncates to low or more. Where low - 1 is no float64 (i64), the values next
        # below low are integers.
        return np.asarray(v < float(low) if signed and width == 64 else v <= float(low - 1))

    def mark(out: Array, x: Array) -> None:
        v = to_f64(x, source)
        np.logical_or(is_above(v), is_below(v), out=out)
        out |= np.isnan(v)

    undefined = blockwise(mark, np.dtype(np.bool_), x)
    any_undefined = bool(undefined.any())

    def convert(out: Array, x: Array) -> None:
        v = to_f64(x, source)
        if any_undefined:
            above, below = is_above(v), is_below(v)
            v = np.where(above | below | np.isnan(v), 0.0, v)
        if width == 64 and not signed:
            # The conversion is to int64; the upper half of the range goes by way of the lower.
            upper = v >= 2.0**63
            integers: Array = (v - np.where(upper, 2.0**63, 0.0)).astype(np.int64)
            integers ^= np.where(upper, np.int64(-(2**63)), np.int64(0))
        else:
            integers = v.astype(np.int64)
        if any_undefined:
            integers[below] = low
            integers[above] = high - (1 << 64) if high >= 1 << 63 else high
        if target is I1:
            np.copyto(out, (integers & np.int64(1)) != 0)
        elif target is I4:
            # Bit 3 is the sign of the stored value.
            np.copyto(out, ((integers & np.int64(0xF)) ^ np.int64(8)) - np.int64(8), casting="unsafe")
        else:
            np.copyto(out, integers, casting="unsafe")

    result = blockwise(convert, target.dtype, x)
    return result, undefined if any_undefined and not saturating else None


def _pattern(x: Array, fmt: FloatFormat | IntegerFormat) -> Array:
    """The lanes' bits as unsigned integers of the storage's width, unused high bits clear."""
    if isinstance(fmt, FloatFormat):
        return x.view(fmt.bits_dtype)
    bits: Array = x.view(fmt.unsigned_dtype)
    return bits & np.uint8(0xF) if fmt is I4 else bits


def _unpattern(bits: Array, fmt: FloatFormat | IntegerFormat) -> Array:
    """The fresh array of lanes whose bits are `bits`, the inverse of `_pattern`."""
    if fmt is TF32:
        # tf32's storage keeps its low bits clear, whatever wrote them.
        return np.asarray(bits & np.uint32(0xFFFFFFFF << TF32.unused_bits & 0xFFFFFFFF)).view(np.float32)
    if fmt is I4:
        return np.asarray((bits ^ np.uint8(8)).astype(np.int8) - np.int8(8))
    return np.array(bits).view(fmt.dtype)


def bitcast(x: Any, source: FloatFormat | IntegerFormat, target: FloatFormat | IntegerFormat) -> Array:
    """The bits of each lane of `x` (an array of `source.dtype`, any shape) read as `target`, of the same
    width.

    No NaN rule: no bit changes, except that a tf32 has its low 13 bits cleared. A fresh array of
    `target.dtype`; ValueError where the widths differ.
    """
    if source.width != target.width:
        raise ValueError(f"bitcast keeps the width, found {source.name} and {target.name}")
    return _unpattern(_pattern(lanes_of(x, source), source), target)


def pack(x: Any, source: FloatFormat | IntegerFormat) -> Array:
    """The bytes that the lanes of `x` occupy, as i8: the last axis turns from lanes into bytes.

    Lanes wider than a byte come least significant byte first. Of two 4-bit lanes, the even one is the low
    nibble; of eight i1 lanes, likewise, the first is the lowest bit. ValueError where the lanes do not fill
    bytes. A fresh int8 array with the leading axes of `x`.
    """
    x = lanes_of(x, source)
    if x.ndim == 0:
        raise ValueError("pack needs an axis of lanes, found a scalar")
    bits = np.ascontiguousarray(_pattern(x, source))
    if source.width >= 8:
        # The byte order of the device, whatever the host's.
        swapped = bits.astype(bits.dtype.newbyteorder("<"))
        return swapped.view(np.int8)
    lanes = 8 // source.width
    if x.shape[-1] % lanes:
        raise ValueError(f"{x.shape[-1]} lanes of {source.name} do not fill bytes")
    groups = bits.reshape(*x.shape[:-1], x.shape[-1] // lanes, lanes)
    packed = np.zeros(groups.shape[:-1], np.uint8)
    for lane in range(lanes):
        packed |= groups[..., lane] << np.uint8(lane * source.width)
    return packed.view(np.int8)


def unpack(x: Any, target: FloatFormat | IntegerFormat) -> Array:
    """The lanes of `target` that occupy the bytes `x`, an int8 array: the inverse of `pack`.

    The last axis turns from bytes into lanes. ValueError where the bytes do not fill lanes. A fresh array of
    `target.dtype` with the leading axes of `x`.
    """
    bits = np.ascontiguousarray(lanes_of(x, I8)).view(np.uint8)
    if np.ndim(x) == 0:
        raise ValueError("unpack needs an axis of bytes, found a scalar")
    if target.width >= 8:
        size = target.width // 8
        if bits.shape[-1] % size:
            raise ValueError(f"{bits.shape[-1]} bytes do not fill lanes of {target.name}")
        unsigned = target.bits_dtype if isinstance(target, FloatFormat) else target.unsigned_dtype
        lanes = bits.view(unsigned.newbyteorder("<")).astype(unsigned)
        return _unpattern(lanes, target)
    count = 8 // target.width
    shifts = np.arange(count, dtype=np.uint8) * np.uint8(target.width)
    lanes = (bits[..., np.newaxis] >> shifts) & np.uint8((1 << target.width) - 1)
    return _unpattern(lanes.reshape(*bits.shape[:-1], bits.shape[-1] * count), target)
