"""Hard values of a format: where rounding, special cases and borders lie."""

from __future__ import annotations

import struct
from fractions import Fraction
from functools import cache

from tileref.numerics.formats import FloatFormat, IntegerFormat

_NARROW_PRECISIONS = (3, 4, 8, 11, 24)
"""Significand bits of the formats that a wider one is converted to."""

_BORDERS = (
    # Where exp, exp2, sinh and cosh leave f16, f32 and f64; where f64 and f32 leave the integers.
    *(11.0, 16.0, 87.5, 88.7, 89.5, 103.9, 127.0, 128.0, 149.0, 150.0, 255.5, 256.0),
    *(709.75, 710.5, 745.0, 1023.0, 1024.0, 1074.0, 2147483647.0, 2147483648.0, 9.223372036854775e18),
    # Angles: pi/4, pi/2, pi, and ones whose reduction cancels.
    *(0.785398163397448, 1.5707963267948966, 3.141592653589793, 22.0, 355.0, 105615.0, 1e15, 1e22),
    *(
        0.1,
        0.3,
        1 / 3,
        2.718281828459045,
        10.0,
        448.0,
        449.0,
        464.0,
        480.0,
        57344.0,
        61440.0,
        65504.0,
        65520.0,
    ),
)


@cache
def hard_values(fmt: FloatFormat | IntegerFormat) -> tuple[int, ...]:
    """Bit patterns, without repeats; those that matter most come first."""
    patterns = _hard_floats(fmt) if isinstance(fmt, FloatFormat) else _hard_integers(fmt)
    return tuple(dict.fromkeys(patterns))


def _hard_integers(fmt: IntegerFormat) -> list[int]:
    numbers = [0, 1, -1, 2, -2, 3, -3, 7, -7, 10, fmt.minimum, fmt.minimum + 1, fmt.maximum, fmt.maximum - 1]
    for k in range(2, fmt.width, max(1, fmt.width // 8)):
        numbers += [1 << k, (1 << k) - 1, -(1 << k)]
    return [n & fmt.unsigned_maximum for n in numbers]


def _hard_floats(fmt: FloatFormat) -> list[int]:
    unit = 1 << fmt.unused_bits
    one = fmt.bias << (fmt.significand_width + fmt.unused_bits)
    magnitudes = [0, one] if fmt.has_zero else [one]
    if fmt.infinity is not None:
        magnitudes.append(fmt.infinity)
    if fmt.has_nan:
        magnitudes.append(fmt.canonical_nan)
    magnitudes += [
        fmt.largest,
        fmt.smallest_normal,
        unit,  # the smallest subnormal
        fmt.smallest_normal - unit,  # the largest subnormal
        fmt.smallest_normal + unit,
        one + unit,
        one - unit,
    ]
    magnitudes += [truncated(fmt, value) for value in (0.5, 1.5, 2.0, 3.0, 4.0, 5.0)]
    if fmt.infinity is not None and fmt.has_nan:
        # A NaN that signals, one with a payload, and the one with every bit set.
        magnitudes += [fmt.infinity + unit, fmt.canonical_nan + unit, fmt.sign_bit - 1]
    for precision in _NARROW_PRECISIONS:
        if precision < fmt.precision:
            # 1 + half a unit of a narrower format: a tie, just above it, and the tie that rounds up.
            half = 1 << (fmt.significand_width - precision + fmt.unused_bits)
            magnitudes += [one + half, one + half + unit, one + 3 * half]
    magnitudes += [truncated(fmt, value) for value in _BORDERS]
    magnitudes = [m for m in magnitudes if 0 <= m <= fmt.magnitude_mask]
    if not fmt.signed:
        return magnitudes
    return [pattern for m in magnitudes for pattern in (m, m | fmt.sign_bit)]


def truncated(fmt: FloatFormat, value: float) -> int:
    """The pattern of ``value`` (positive) rounded towards zero; the largest finite one beyond the range."""
    exact = Fraction(value)
    (wide,) = struct.unpack("<Q", struct.pack("<d", value))
    exponent = (wide >> 52) - 1023
    if exponent > fmt.emax:
        return fmt.largest
    shift = fmt.significand_width - max(exponent, fmt.emin)
    significand = int(exact * 2**shift) if shift >= 0 else int(exact) >> -shift
    if exponent < fmt.emin:
        return significand << fmt.unused_bits
    hidden = 1 << fmt.significand_width
    pattern = (exponent + fmt.bias) << fmt.significand_width | (significand & (hidden - 1))
    return int(min(pattern << fmt.unused_bits, fmt.largest))
