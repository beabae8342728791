"""An independent oracle: exact integers in, one correctly rounded pattern out, lane by lane in plain Python.

Nothing here imports the code under test, so that the two can only agree by both being right; formats are
written down again from IEEE 754 and the OCP specifications. A number is `(sign, m, e, more)`: the value
(m + t) * 2**e with its sign, where 0 < t < 1 if `more` is set and t = 0 if not, or `m` is INF or NAN.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import gmpy2
import numpy as np
from numpy.typing import NDArray

INF = -1
NAN = -2
Number = tuple[int, int, int, bool]
NOT_A_NUMBER: Number = (0, NAN, 0, False)


@dataclass(frozen=True)
class Layout:
    """One format as its specification words it, in storage patterns."""

    width: int
    exponent_width: int
    fraction_width: int
    bias: int
    kind: str
    """"ieee", "fn" (f8E4M3FN), "finite" (f4E2M1FN) or "scale" (f8E8M0FNU)."""
    low_zeros: int = 0

    @cached_property
    def largest(self) -> int:
        """Pattern of the largest finite value."""
        if self.kind == "ieee":
            every = ((1 << self.exponent_width) - 1) << self.fraction_width
            return (every - 1) << self.low_zeros
        return {"fn": 0x7E, "finite": 0x7, "scale": 0xFE}[self.kind]

    @cached_property
    def canonical_nan(self) -> int:
        """Pattern of the canonical NaN, and for a format without NaN what one converts to."""
        if self.kind == "ieee":
            return (((1 << (self.exponent_width + 1)) - 1) << (self.fraction_width - 1)) << self.low_zeros
        return {"fn": 0x7F, "finite": 0x7, "scale": 0xFF}[self.kind]


LAYOUTS = {
    "f64": Layout(64, 11, 52, 1023, "ieee"),
    "f32": Layout(32, 8, 23, 127, "ieee"),
    "tf32": Layout(32, 8, 10, 127, "ieee", low_zeros=13),
    "f16": Layout(16, 5, 10, 15, "ieee"),
    "bf16": Layout(16, 8, 7, 127, "ieee"),
    "f8E5M2": Layout(8, 5, 2, 15, "ieee"),
    "f8E4M3FN": Layout(8, 4, 3, 7, "fn"),
    "f4E2M1FN": Layout(4, 2, 1, 1, "finite"),
    "f8E8M0FNU": Layout(8, 8, 0, 127, "scale"),
}


def decode(pattern: int, name: str) -> Number:
    """The number that a pattern stands for."""
    f = LAYOUTS[name]
    if f.kind == "scale":
        return NOT_A_NUMBER if pattern == 0xFF else (0, 1, pattern - f.bias, False)
    pattern >>= f.low_zeros
    field = (pattern >> f.fraction_width) & ((1 << f.exponent_width) - 1)
    fraction = pattern & ((1 << f.fraction_width) - 1)
    sign = pattern >> (f.fraction_width + f.exponent_width)
    if f.kind == "ieee" and field == (1 << f.exponent_width) - 1:
        return NOT_A_NUMBER if fraction else (sign, INF, 0, False)
    if f.kind == "fn" and field == 15 and fraction == 7:
        return NOT_A_NUMBER
    if field == 0:
        return sign, fraction, 1 - f.bias - f.fraction_width, False
    return sign, fraction | 1 << f.fraction_width, field - f.bias - f.fraction_width, False


def decode_all(patterns: NDArray[Any], name: str) -> list[Number]:
    """`decode` of an array of unsigned integers."""
    distinct, places = np.unique(patterns, return_inverse=True)
    known = [decode(p, name) for p in distinct.tolist()]
    return [known[i] for i in places.reshape(-1).tolist()]


def _overflow(sign: int, f: Layout, saturate: bool) -> int:
    """Pattern of what lies beyond the largest finite value: an infinity or what stands for it."""
    if f.kind == "scale":
        return 0xFE if saturate else 0xFF
    top = sign << (f.width - 1)
    if saturate or f.kind == "finite":
        return top | f.largest
    if f.kind == "fn":
        return f.canonical_nan
    return top | (f.largest + (1 << f.low_zeros))


def _rounds_up(low_bit: int, rest: int, half: int, more: bool, negative: int, rounding: str) -> bool:
    """Whether the magnitude goes up, where `rest` is left over and `half` is half of the last place."""
    if rounding == "nearest_even":
        return rest > half or (rest == half and half > 0 and (more or low_bit == 1))
    if rounding == "nearest_away":
        return half > 0 and rest >= half
    if rounding == "zero":
        return False
    return (rest > 0 or more) and bool(negative) == (rounding == "negative_inf")


def encode(number: Number, name: str, rounding: str, saturate: bool = False) -> int:
    """Pattern of the number rounded to the format."""
    sign, m, e, more = number
    f = LAYOUTS[name]
    if m == NAN:
        return f.canonical_nan
    if f.kind == "scale":
        return _encode_scale(number, f, rounding, saturate)
    if m == INF:
        return _overflow(sign, f, saturate)
    top = sign << (f.width - 1)
    if m == 0:
        return top
    emin = 1 - f.bias
    exponent = max(m.bit_length() + e - 1, emin)
    shift = exponent - f.fraction_width - e
    if shift <= 0:
        assert not more, "too few bits to say where the rest lies"
        count = m << -shift
    else:
        count = m >> shift
        rest = m - (count << shift)
        count += _rounds_up(count & 1, rest, 1 << (shift - 1), more, sign, rounding)
    if count >> (f.fraction_width + 1):
        count >>= 1
        exponent += 1
    if count >> f.fraction_width:
        code = (exponent - emin + 1) << f.fraction_width | (count & ((1 << f.fraction_width) - 1))
    else:
        code = count
    code <<= f.low_zeros
    if code > f.largest:
        towards_zero = rounding == "zero" or (
            rounding in ("negative_inf", "positive_inf") and bool(sign) != (rounding == "negative_inf")
        )
        return top | f.largest if towards_zero else _overflow(sign, f, saturate)
    return top | code


def _encode_scale(number: Number, f: Layout, rounding: str, saturate: bool) -> int:
    """f8E8M0FNU: a power of two, no zero, no sign."""
    sign, m, e, more = number
    if sign and m != 0:
        if not saturate:
            return 0xFF
        sign = 0
    if m == INF:
        return _overflow(0, f, saturate)
    if m == 0:
        return 0
    exponent = m.bit_length() + e - 1
    rest = m - (1 << (m.bit_length() - 1))
    if exponent < -127 or (exponent == -127 and rest == 0 and not more):
        return 0
    code = exponent + 127
    # Twice over, so that half of the last place is an integer.
    code += _rounds_up(code & 1, 2 * rest, 1 << (m.bit_length() - 1), more, sign, rounding)
    if code > 0xFE:
        return 0xFE if rounding in ("zero", "negative_inf") else _overflow(0, f, saturate)
    return code


def negate(x: Number) -> Number:
    """Number of the opposite sign."""
    return 1 - x[0], *x[1:]


def add(x: Number, y: Number, rounding: str) -> Number:
    """Sum of x and y, with IEEE 754's sign of a zero."""
    if NAN in (x[1], y[1]):
        return NOT_A_NUMBER
    if INF in (x[1], y[1]):
        if x[1] == y[1] and x[0] != y[0]:
            return NOT_A_NUMBER
        return x if x[1] == INF else y
    e = min(x[2], y[2])
    a, b = x[1] << (x[2] - e), y[1] << (y[2] - e)
    total = (-a if x[0] else a) + (-b if y[0] else b)
    if total == 0:
        sign = x[0] if a == 0 and x[0] == y[0] else int(rounding == "negative_inf")
        return sign, 0, 0, False
    return int(total < 0), abs(total), e, False


def multiply(x: Number, y: Number) -> Number:
    """Product of x and y."""
    kinds = (x[1], y[1])
    if NAN in kinds or (INF in kinds and 0 in kinds):
        return NOT_A_NUMBER
    if INF in kinds:
        return x[0] ^ y[0], INF, 0, False
    return x[0] ^ y[0], x[1] * y[1], x[2] + y[2], False


def divide(x: Number, y: Number) -> Number:
    """Quotient of x and y."""
    sign = x[0] ^ y[0]
    if NAN in (x[1], y[1]) or (x[1] == y[1] and x[1] in (0, INF)):
        return NOT_A_NUMBER
    if x[1] == INF or y[1] == 0:
        return sign, INF, 0, False
    if y[1] == INF or x[1] == 0:
        return sign, 0, 0, False
    extra = 70 + y[1].bit_length()
    quotient, rest = divmod(x[1] << extra, y[1])
    return sign, quotient, x[2] - y[2] - extra, rest != 0


def fused(x: Number, y: Number, z: Number, rounding: str) -> Number:
    """Exact x * y + z."""
    return add(multiply(x, y), z, rounding)


def root(x: Number) -> Number:
    """The square root of x."""
    sign, m, e, _ = x
    if m in (0, NAN):
        return x
    if sign:
        return NOT_A_NUMBER
    if m == INF:
        return x
    extra = 160 + (e & 1)
    scaled = m << extra
    found = math.isqrt(scaled)
    return 0, found, (e - extra) // 2, found * found != scaled


def remainder(x: Number, y: Number) -> Number:
    """Exact x - y * trunc(x / y), of x's sign."""
    if NAN in (x[1], y[1]) or x[1] == INF or y[1] == 0:
        return NOT_A_NUMBER
    if y[1] == INF:
        return x
    e = min(x[2], y[2])
    return x[0], (x[1] << (x[2] - e)) % (y[1] << (y[2] - e)), e, False


def integral(x: Number, up: bool) -> Number:
    """Either floor or ceil of x, of x's sign."""
    sign, m, e, _ = x
    if m < 0 or e >= 0:
        return x
    whole = m >> -e
    if (up and not sign) or (not up and sign):
        whole = -(-m >> -e)
    return sign, whole, 0, False


def integer(value: int) -> Number:
    """An int as a number."""
    return int(value < 0), abs(value), 0, False


def as_int(x: Number) -> int:
    """A finite number truncated to an int."""
    sign, m, e, _ = x
    whole = m << e if e >= 0 else m >> -e
    return -whole if sign else whole


def encode_all(
    numbers: Iterable[Number], name: str, rounding: str, saturate: bool = False
) -> NDArray[np.uint64]:
    """`encode` of every number."""
    # All pairs of a small format have few results.
    known: dict[Number, int] = {}
    for x in (numbers := list(numbers)):
        if x not in known:
            known[x] = encode(x, name, rounding, saturate)
    return np.array([known[x] for x in numbers], np.uint64)


_MPFR_ROUNDING = {
    "nearest_even": gmpy2.RoundToNearest,
    "zero": gmpy2.RoundToZero,
    "negative_inf": gmpy2.RoundDown,
    "positive_inf": gmpy2.RoundUp,
}


def mpfr_context(name: str, rounding: str) -> Any:
    """A gmpy2 context whose operations round to an IEEE format, subnormals included.

    MPFR has no rounding to nearest with ties away.
    """
    f = LAYOUTS[name]
    assert f.kind == "ieee"
    return gmpy2.context(
        precision=f.fraction_width + 1,
        # MPFR's significands lie in [1/2, 1).
        emax=f.bias + 1,
        emin=2 - f.bias - f.fraction_width,
        subnormalize=True,
        round=_MPFR_ROUNDING[rounding],
    )
