"""Conversions between float formats as an sm_90 GPU makes them.

Measured on every pair of formats and every rounding mode that tileiras 13.4.92 assembles for sm_90: all
values of the 8- and 16-bit formats and 131072 values of the wider ones, chosen around the target's midpoints.
"""

from __future__ import annotations

import numpy as np

from ..formats import Array
from ..numerics.bits import any_nan, bits_of, nan_mask
from ..numerics.conversion import ftof as rounded
from ..numerics.conversion import itof as from_integer
from ..numerics.formats import (
    BF16,
    F8E4M3FN,
    F8E5M2,
    F16,
    F32,
    F64,
    TF32,
    FloatFormat,
    IntegerFormat,
    Rounding,
)
from ..numerics.nan import canonical

SATURATED = (F8E4M3FN, F8E5M2)
"""Formats for which a value beyond the largest finite one becomes that one."""


def ftof(x: Array, source: FloatFormat, target: FloatFormat, rounding: Rounding) -> Array:
    """Convert, with the double rounding and the NaN patterns of the hardware."""
    wide = x
    if source is F64 and _through_f32(target, rounding):
        # There is no such instruction for f64: it is rounded to f32, and that rounded again.
        wide = rounded(x, F64, F32)
    saturate = True if target in SATURATED else None
    via = source if wide is x else F32
    result = rounded(wide, via, target, rounding, saturate, canonical)
    if any_nan(result, target):
        mask = nan_mask(result, target)
        patterns = _nan(bits_of(np.ascontiguousarray(x), source)[mask], source, target, rounding)
        bits_of(result, target)[mask] = patterns
    return result


def itof(x: Array, source: IntegerFormat, target: FloatFormat, rounding: Rounding, signed: bool) -> Array:
    """Convert an integer; an 8-bit float is reached by way of f16, and rounded twice.

    Measured on all values of i8 and i16 and 65536 of the wider ones, in every float format, to nearest.
    """
    if target not in SATURATED:
        return from_integer(x, source, target, rounding, signed)
    return ftof(from_integer(x, source, F16, rounding, signed), F16, target, rounding)


def _through_f32(target: FloatFormat, rounding: Rounding) -> bool:
    return target in SATURATED or (target is TF32 and rounding is Rounding.NEAREST_EVEN)


ALL_ONES = {F16: 0x7FFF, BF16: 0x7FFF, F32: 0x7FFFFFFF, TF32: 0x7FFFE000, F8E4M3FN: 0x7F, F8E5M2: 0x7F}
"""The NaN with every significand bit set and the sign clear: what most conversions answer."""
QUIET_F64 = np.uint64(0x7FF8000000000000)
SIGN = np.uint64(1 << 63)


def _nan(bits: Array, source: FloatFormat, target: FloatFormat, rounding: Rounding) -> Array | int:
    """Patterns that NaNs of the patterns ``bits`` become."""
    if target is F64:
        return _widened_to_f64(bits, source)
    if target is F32 and source in (TF32, BF16):
        return _as_f32(bits, source)
    if target is TF32 and source in (F32, BF16) and rounding is Rounding.NEAREST_AWAY:
        return _as_f32(bits, source) & np.uint32(0xFFFFE000)
    if (source is F64 and rounding is not Rounding.ZERO) or (target is F32 and source is F64):
        shift, sign = {F32: (29, 32), F16: (42, 48), BF16: (45, 48)}.get(target, (0, 0))
        if shift:
            quiet = {F32: 0x7FC00000, F16: 0x7E00, BF16: 0x7FC0}[target]
            payload = (bits & ~SIGN & np.uint64((1 << 51) - 1)) >> np.uint64(shift)
            kept = payload | np.uint64(quiet) | ((bits & SIGN) >> np.uint64(sign))
            return kept.astype(target.bits_dtype)
    return ALL_ONES.get(target, target.canonical_nan)


def _as_f32(bits: Array, source: FloatFormat) -> Array:
    """The f32 whose high half a bf16 is, or that a tf32 is stored as."""
    wide = bits.astype(np.uint32)
    return wide << np.uint32(16) if source is BF16 else wide


def _widened_to_f64(bits: Array, source: FloatFormat) -> Array | int:
    """f32 and f16 keep sign and payload and turn quiet; narrower ones go through f16."""
    if source in (F32, TF32, BF16):
        wide, sign, shift = _as_f32(bits, source), 31, 29
    elif source is F16:
        wide, sign, shift = bits, 15, 42
    else:
        return 0x7FFFFC0000000000
    wide = wide.astype(np.uint64)
    payload = (wide & np.uint64((1 << (52 - shift)) - 1)) << np.uint64(shift)
    return payload | QUIET_F64 | (wide >> np.uint64(sign)) << np.uint64(63)
