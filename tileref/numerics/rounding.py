"""Rounding an exact value to a format: the one place where bits are lost.

An exact value comes as a float of a wider format (`round_float`), as an unevaluated sum of two float64s times
a power of two (`round_sum`), or as an integer significand and an exponent (`round_integer`). All give the
value of the target that IEEE 754 defines for the rounding direction, with gradual underflow and the value's
sign on a zero. Where the target has no such value, `saturate` decides:

* None, the reading of the format itself: beyond the largest finite value lies infinity where the format has
  one, else NaN (f8E4M3FN, f8E8M0FNU), else the largest value (f4E2M1FN). A direction that rounds towards zero
  stops at the largest finite value, as IEEE 754 says.
* True: finite values beyond the largest, and infinities, become the largest finite value of their sign.

f8E8M0FNU has neither zero nor sign. Zero and what rounds below the smallest value become that value, 2**-127.
A negative value is NaN; with saturation it loses its sign, as NVIDIA's conversion intrinsics do. Its
nearest-even ties go to the even pattern.

NaN comes out as a NaN of the target, mostly the canonical one (f8E4M3FN's overflows keep their sign);
callers apply their NaN rule afterwards.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bits import from_bits
from .error_free import two_sum
from .formats import F32, F64, FloatFormat, Rounding
from .lanes import blockwise, broadcast

Array = NDArray[Any]
Bools = NDArray[np.bool_]


def step_from_nearest(nearest: Array, error: Array, rounding: Rounding) -> None:
    """Turn a value rounded to nearest even into the value rounded by `rounding`, in place.

    `nearest` is a float32 or float64 array, and the exact value is `nearest + error`. Only the sign of
    `error` matters, for NEAREST_AWAY its size too. A zero in `nearest` must carry the sign of the exact
    value. Where `nearest` is an infinity that the exact value does not reach, `error` has the opposite sign.
    NaN in `error` changes nothing.
    """
    # The patterns of one sign are ordered like the magnitudes, zero and infinity included, so that a step of
    # one in the pattern is a step to the neighbour.
    integer: Any = np.int32 if nearest.dtype.itemsize == 4 else np.int64
    bits: Array = nearest.view(integer)
    if rounding is Rounding.NEAREST_AWAY:
        # A tie was broken towards zero exactly where the next value away from zero is as near as this one.
        # The difference of neighbours and twice the error are exact.
        away: Array = (bits + integer(1)).view(nearest.dtype)
        away -= nearest
        bits += away == error + error
    elif rounding is Rounding.ZERO:
        bits -= ((error < 0) & (nearest > 0)) | ((error > 0) & (nearest < 0))
    elif rounding is not Rounding.NEAREST_EVEN:
        outwards: Array = bits >> integer(nearest.dtype.itemsize * 8 - 1)
        outwards |= integer(1)
        if rounding is Rounding.NEGATIVE_INF:
            outwards *= error < 0
            bits -= outwards
        else:
            outwards *= error > 0
            bits += outwards


def to_odd(high: Array, low: Array) -> Array:
    """The exact `high + low` rounded to odd: the sum itself where it is a float64, else the one of its two
    neighbours whose last bit is set. `high` must be the nearest float64 to the sum; NaN in `low` counts as 0.

    A value rounded to odd with p + 2 bits or more rounds to p bits as the exact value does, in every
    direction (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using
    rounding to odd", 2008). That holds for subnormals of the target too, which only ask for fewer bits.
    """
    bits: Array = high.view(np.int64)
    # +1 where `low` points away from zero, -1 where it points towards it.
    outwards: Array = low.view(np.int64) ^ bits
    outwards >>= np.int64(63)
    outwards |= np.int64(1)
    # An even pattern that is not exact steps to the odd neighbour on the exact value's side; an odd one is
    # already one of the two neighbours.
    outwards *= np.abs(low) > 0
    outwards *= (bits & np.int64(1)) == 0
    outwards += bits
    return outwards.view(np.float64)


def _encode(
    code: Array, negative: Bools, target: FloatFormat, rounding: Rounding, saturate: bool | None
) -> Array:
    """The patterns of values given by sign and `code`, which is overwritten.

    `code` numbers the target's magnitudes from zero (from the smallest, for a format without zero) and runs
    on beyond the largest finite one.
    """
    number = code.dtype.type
    largest = target.largest >> target.unused_bits
    # Beyond the largest finite pattern comes infinity's, or f8E4M3FN's and f8E8M0FNU's NaN.
    beyond = largest if saturate or not (target.has_infinity or target.has_nan) else largest + 1
    if rounding in (Rounding.NEAREST_EVEN, Rounding.NEAREST_AWAY):
        np.minimum(code, number(beyond), out=code)
    elif rounding is Rounding.ZERO:
        np.minimum(code, number(largest), out=code)
    else:
        outwards = negative if rounding is Rounding.NEGATIVE_INF else ~negative
        np.minimum(code, np.where(outwards, number(beyond), number(largest)), out=code)
    code <<= number(target.unused_bits)
    if target.signed:
        code |= negative.astype(code.dtype) << number(target.width - 1)
    elif not saturate:
        code[negative] = target.canonical_nan
    return code.astype(target.bits_dtype)


def _specials(
    bits: Array,
    not_a_number: Bools,
    infinite: Bools,
    negative: Bools,
    target: FloatFormat,
    saturate: bool | None,
) -> None:
    """Write the patterns of NaN and infinite lanes into `bits`, in place."""
    if not_a_number.any():
        bits[not_a_number] = target.canonical_nan
    if infinite.any():
        if saturate or (target.infinity is None and not target.has_nan):
            magnitude = target.largest
        elif target.infinity is not None:
            magnitude = target.infinity
        else:
            magnitude = target.first_non_finite
        bits[infinite] = magnitude
        if target.signed:
            bits[infinite & negative] |= target.bits_dtype.type(target.sign_bit)
        elif not saturate:
            bits[infinite] = target.canonical_nan


def _increment(code: Array, remainder: Array, half: Any, negative: Bools, rounding: Rounding) -> Any:
    """Which lanes round up in magnitude: `remainder` is what the dropped bits hold, `half` their middle."""
    if rounding is Rounding.NEAREST_EVEN:
        # remainder > half, or equal and code odd.
        return remainder + (code & code.dtype.type(1)) > half
    if rounding is Rounding.NEAREST_AWAY:
        return remainder >= half
    if rounding is Rounding.ZERO:
        return False
    return (remainder != 0) & (negative if rounding is Rounding.NEGATIVE_INF else ~negative)


def _round_by_shift(
    out: Array, x: Array, source: FloatFormat, target: FloatFormat, rounding: Rounding, saturate: bool | None
) -> None:
    """Any direction, any target of less precision: shift the significand to the target's last place and look
    at what falls off.
    """
    number = source.bits_dtype.type
    bits = x.view(source.bits_dtype)
    magnitude = bits & number(source.magnitude_mask)
    negative = np.asarray(magnitude != bits)
    if not target.signed:
        negative &= magnitude != 0
    width = source.significand_width
    exponent = magnitude >> number(width)
    significand = magnitude & number((1 << width) - 1)
    significand |= np.minimum(exponent, number(1)) << number(width)
    np.maximum(exponent, number(1), out=exponent)
    # The biased source exponent of the target's smallest normal. A target as wide in range as the source
    # (bf16 and tf32 of f32) has 1 there, so that subnormals meet subnormals.
    first = number(target.emin + source.bias)
    normal = np.maximum(exponent, first)
    drop = normal - exponent
    drop += number(source.precision - target.precision)
    # With precision + 1 bits dropped nothing is left of the significand, and it is below the half.
    np.minimum(drop, number(source.precision + 1), out=drop)
    code = significand >> drop
    significand -= code << drop
    half = (number(1) << drop) >> number(1)
    normal -= first
    code += normal << number(target.precision - 1)
    if target.has_zero:
        code += _increment(code, significand, half, negative, rounding)
    else:
        # The hidden bit is the format's only one: the smallest pattern, 0, is already 2**emin.
        code += number(1)
        code += _increment(code, significand, half, negative & bool(not saturate), rounding)
        np.maximum(code, number(2), out=code)
        code -= number(2)
    result = _encode(code, negative, target, rounding, saturate)
    infinity = number(source.infinity or 0)
    _specials(result, magnitude > infinity, magnitude == infinity, negative, target, saturate)
    out[...] = from_bits(result, target)


def _round_by_addition(
    out: Array, x: Array, source: FloatFormat, target: FloatFormat, saturate: bool | None
) -> None:
    """Nearest even, faster: add a constant so large that the sum's last place is the target's.

    For |x| in [2**e, 2**(e+1)), e at least the target's emin, the target's last place is 2**(e - p + 1). The
    sum of |x| and C = 2**(e - p + 1 + w), w the source's stored significand bits, lies in [C, 2C), where the
    source's last place is the same. So the source's own addition does the rounding, ties to even included
    (C's pattern is even), and the sum's pattern minus C's is the rounded significand as an integer.
    """
    number = source.bits_dtype.type
    width = source.significand_width
    bits = x.view(source.bits_dtype)
    magnitude = bits & number(source.magnitude_mask)
    sign = bits ^ magnitude
    not_finite = bool(magnitude.max(initial=0) >= number(source.infinity or 0))
    if not_finite:
        not_a_number = magnitude > number(source.infinity or 0)
    # 2**(emax + 1) overflows like everything above it, and keeps C finite.
    np.minimum(magnitude, number((target.emax + 1 + source.bias) << width), out=magnitude)
    first = number((target.emin + source.bias) << width)
    exponent = np.maximum(magnitude, first)
    exponent &= number(((1 << source.exponent_width) - 1) << width)
    offset = exponent + number((width - target.precision + 1) << width)
    code = (magnitude.view(source.dtype) + offset.view(source.dtype)).view(source.bits_dtype)
    code -= offset
    exponent -= first
    exponent >>= number(width - target.precision + 1)
    code += exponent
    largest = target.largest >> target.unused_bits
    # Infinity, or f8E4M3FN's NaN, has the pattern after the largest finite one.
    beyond = largest if saturate or not (target.has_infinity or target.has_nan) else largest + 1
    np.minimum(code, number(beyond), out=code)
    if target.unused_bits:
        code <<= number(target.unused_bits)
    sign >>= number(source.width - target.width)
    code |= sign
    patterns = out.view(target.bits_dtype)
    np.copyto(patterns, code, casting="unsafe")
    if not_finite:
        patterns[not_a_number] = target.canonical_nan


def _round_by_carry(out: Array, x: Array, target: FloatFormat) -> None:
    """Nearest even from f32 to a format of the same exponent range (bf16, tf32).

    Add just under half of the dropped bits, one more where the last kept bit is set, and cut. A carry into
    the exponent is as it should be, infinity at the end included.
    """
    dropped = np.uint32(F32.precision - target.precision)
    bits = x.view(np.uint32)
    code = bits >> dropped
    code &= np.uint32(1)
    code += bits
    code += np.uint32((1 << (int(dropped) - 1)) - 1)
    code >>= dropped
    if target.unused_bits:
        code <<= np.uint32(target.unused_bits)
    patterns = out.view(target.bits_dtype)
    np.copyto(patterns, code, casting="unsafe")
    # The maximum of lanes one of which is NaN is NaN.
    if np.isnan(x.max(initial=0)):
        patterns[np.isnan(x)] = target.canonical_nan


def _round_to_f32(out: Array, x: Array, rounding: Rounding, saturate: bool | None) -> None:
    """f64 to f32: the processor's own conversion is IEEE 754's convertFormat, to nearest even."""
    np.copyto(out, x, casting="same_kind")
    if rounding is not Rounding.NEAREST_EVEN:
        # The difference may be rounded, but not its sign, and a tie (half the last place of an f32) is exact.
        # A finite value that overflowed has an infinite difference of the opposite sign; a true infinity NaN.
        step_from_nearest(out, x - out, rounding)
    if saturate:
        infinite = np.isinf(out)
        if infinite.any():
            out[infinite] = np.copysign(np.finfo(np.float32).max, out[infinite])


def round_lanes(
    out: Array,
    x: Array,
    source: FloatFormat,
    target: FloatFormat,
    rounding: Rounding,
    saturate: bool | None = None,
) -> None:
    """`round_float` into `out`, for kernels: flat arrays of one length, warnings already off."""
    if target is F32 and source is F64:
        _round_to_f32(out, x, rounding, saturate)
    elif target is source:
        np.copyto(out, x)
        if saturate:
            infinite = np.isinf(out)
            if infinite.any():
                out[infinite] = np.copysign(np.finfo(out.dtype).max, out[infinite])
    elif source is F32 and (target is F64 or not target.has_zero):
        # Exact. f8E8M0FNU reaches below the smallest normal f32, and f64 makes that one case less.
        wide = x.astype(np.float64)
        round_lanes(out, wide, F64, target, rounding, saturate)
    elif rounding is Rounding.NEAREST_EVEN and target.has_zero:
        if source is F32 and target.emin == F32.emin and not saturate:
            _round_by_carry(out, x, target)
        elif target.emax < source.emax:
            _round_by_addition(out, x, source, target, saturate)
        else:
            _round_by_shift(out, x, source, target, rounding, saturate)
    else:
        _round_by_shift(out, x, source, target, rounding, saturate)


def round_float(
    x: Array, source: FloatFormat, target: FloatFormat, rounding: Rounding, saturate: bool | None = None
) -> Array:
    """Round each lane of `x`, an array of any shape in `source` (F32 or F64), to `target`.

    A fresh array of `target.dtype`.
    """
    if source is not F32 and source is not F64:
        raise ValueError(f"rounding starts from f32 or f64, found {source.name}")

    def kernel(out: Array, x: Array) -> None:
        round_lanes(out, x, source, target, rounding, saturate)

    return blockwise(kernel, target.dtype, x)


def decompose(x: Array) -> tuple[Array, Array]:
    """`(m, e)` with x = m * 2**e, |m| in [1, 2) a float64 and e an int64, of a float64 array.

    Zeros give m = 0 of their sign and e = 0; infinities and NaNs themselves and e = 0.
    """
    # A subnormal becomes normal by an exact product.
    tiny = np.abs(x) < np.float64(2.0**-1022)
    scaled = x * np.where(tiny, np.float64(2.0**54), np.float64(1.0))
    bits = scaled.view(np.int64)
    field = (bits >> np.int64(52)) & np.int64(0x7FF)
    plain = (field != 0) & (field != 0x7FF)
    exponent = np.where(plain, field - np.int64(1023) - np.int64(54) * tiny, np.int64(0))
    one = np.int64(1023 << 52)
    fraction = (bits & ~np.int64(0x7FF << 52)) | one
    return np.where(plain, fraction.view(np.float64), scaled), exponent


def bit_length(significand: Array) -> Array:
    """The number of bits of each uint64, as int64; 0 for 0."""
    # Clearing the bit below the leading one leaves a value so far below the next power of two that no
    # rounding of its conversion can reach it.
    leading: Array = significand & ~(significand >> np.uint64(1))
    field: Array = leading.astype(np.float64).view(np.int64) >> np.int64(52)
    return np.asarray(np.maximum(field - np.int64(1022), np.int64(0)))


def round_integer(
    significand: Array,
    exponent: Array,
    negative: Array,
    target: FloatFormat,
    rounding: Rounding,
    sticky: Array | bool = False,
    saturate: bool | None = None,
) -> Array:
    """Round (-1)**negative * (significand + t) * 2**exponent to `target`, with 0 < t < 1 where `sticky` is
    set and t = 0 elsewhere.

    `significand` is uint64, `exponent` int64, `negative` and `sticky` bool, of shapes that broadcast. A lane
    with `sticky` set needs a significand of more bits than the target's precision, so that t lies below the
    half of its last place. A fresh array of `target.dtype`.
    """
    operands = (
        np.asarray(significand, np.uint64),
        np.asarray(exponent, np.int64),
        np.asarray(negative, np.bool_),
        np.asarray(sticky, np.bool_),
    )

    def kernel(out: Array, significand: Array, exponent: Array, negative: Array, sticky: Array) -> None:
        if not target.signed:
            negative = negative & (significand != 0)
        top = exponent + bit_length(significand)
        top -= np.int64(1)
        overflow = top > target.emax
        np.maximum(top, np.int64(target.emin), out=top)
        drop = top - np.int64(target.precision - 1) - exponent
        up = np.clip(-drop, 0, 63).astype(np.uint64)
        # A shift by the width of the type is not to be trusted, so the last dropped bit goes on its own.
        down = np.clip(drop - np.int64(1), 0, 63).astype(np.uint64)
        kept = significand >> down
        # Nothing is left of a significand that lies wholly below the dropped half.
        kept[drop > 64] = 0
        dropping = drop > 0
        below = ((kept << down) != significand) | sticky
        below &= dropping
        half = (kept & np.uint64(1)) * dropping
        code = np.where(dropping, kept >> np.uint64(1), significand << up)
        code += (top - np.int64(target.emin)).astype(np.uint64) << np.uint64(target.precision - 1)
        # Two bits stand for the whole remainder: its half, and whether anything is below that.
        remainder = half + half + below
        two = np.uint64(2)
        if target.has_zero:
            code += _increment(code, remainder, two, negative, rounding)
        else:
            code += np.uint64(1)
            code += _increment(code, remainder, two, negative & bool(not saturate), rounding)
            np.maximum(code, two, out=code)
            code -= two
        code[overflow] = target.largest + 2
        # Zero has no exponent of its own.
        code[significand == 0] = 0
        out[...] = from_bits(_encode(code, negative, target, rounding, saturate), target)

    return blockwise(kernel, target.dtype, *broadcast(*operands))


def round_sum(
    high: Array,
    low: Array,
    target: FloatFormat,
    rounding: Rounding,
    exponent: Array | int = 0,
    saturate: bool | None = None,
) -> Array:
    """Round the exact (high + low) * 2**exponent to `target`: one rounding of the unevaluated sum.

    `high` and `low` are float64 arrays, `exponent` an int64 array or an int, of shapes that broadcast; the
    sum of `high` and `low` must not overflow. A sum of exactly zero is the zero that IEEE 754 gives it: -0
    where both are -0, or where they cancel and the direction is NEGATIVE_INF, else +0. Infinities and NaNs
    in `high` go through. A fresh array of `target.dtype`.
    """
    operands = (np.asarray(high, np.float64), np.asarray(low, np.float64), np.asarray(exponent, np.int64))

    def kernel(out: Array, high: Array, low: Array, exponent: Array) -> None:
        nearest, rest = two_sum(high, low)
        finite = np.isfinite(nearest)
        rest[~finite] = 0.0
        if rounding is Rounding.NEGATIVE_INF:
            # A sum is zero only where its terms cancel or both are zeros.
            minus = (nearest == 0) & (np.signbit(high) | np.signbit(low))
            nearest[minus] = -0.0
        negative = np.signbit(nearest)
        magnitude, power = decompose(nearest)
        unit = np.where(finite, np.abs(magnitude), 0.0)
        # |nearest| is an integer of 53 bits times 2**(power - 52). Ten bits more hold the top of the rest.
        power -= np.int64(62)
        significand = (unit * 2.0**62).astype(np.uint64)
        np.negative(rest, out=rest, where=negative)
        # |rest| is at most 2**9 in units of 2**power; the clipping leaves it below one in size, of its sign.
        fraction, scale = decompose(rest)
        fraction *= power_of_two(np.clip(scale - power, -80, 62))
        floor = fraction.astype(np.int64)
        floor -= floor > fraction
        sticky = floor != fraction
        significand += floor.view(np.uint64)
        out[...] = round_integer(significand, power + exponent, negative, target, rounding, sticky, saturate)
        bits = out.view(target.bits_dtype)
        _specials(bits, np.isnan(nearest), np.isinf(nearest), negative, target, saturate)

    return blockwise(kernel, target.dtype, *broadcast(*operands))


def power_of_two(exponent: Array) -> Array:
    """2.0**exponent for an int64 array of exponents of normal float64s."""
    return ((exponent + np.int64(1023)) << np.int64(52)).view(np.float64)
