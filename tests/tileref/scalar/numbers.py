"""Formats and arithmetic on single patterns, by Python's integers and fractions; None is a lane without a value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Float:
    """A float format: its width, bits of exponent and of trailing significand, and what its top codes are.

    ``top`` is "ieee", "nan" (the one all-ones pattern is a NaN) or "none" (every pattern is a number).
    """

    name: str
    width: int
    exponent: int
    fraction: int
    top: str = "ieee"

    @property
    def bias(self) -> int:
        """What is added to an exponent."""
        return (1 << (self.exponent - 1)) - 1

    @property
    def sign(self) -> int:
        """The sign's bit."""
        return 1 << (self.exponent + self.fraction)

    @property
    def infinity(self) -> int | None:
        """The pattern of infinity."""
        return ((1 << self.exponent) - 1) << self.fraction if self.top == "ieee" else None

    @property
    def nan(self) -> int | None:
        """The quiet NaN with nothing else in it."""
        if self.top == "ieee":
            return ((1 << (self.exponent + 1)) - 1) << (self.fraction - 1)
        return self.sign - 1 if self.top == "nan" else None

    @property
    def largest(self) -> int:
        """The pattern of the largest number."""
        if self.top == "ieee":
            return (((1 << self.exponent) - 1) << self.fraction) - 1
        return self.sign - 1 - (self.top == "nan")


FLOATS = {
    f.name: f
    for f in (
        Float("f16", 16, 5, 10),
        Float("bf16", 16, 8, 7),
        Float("f32", 32, 8, 23),
        Float("tf32", 19, 8, 10),
        Float("f64", 64, 11, 52),
        Float("f8E4M3FN", 8, 4, 3, "nan"),
        Float("f8E5M2", 8, 5, 2),
        Float("f4E2M1FN", 4, 2, 1, "none"),
    )
}
WIDTHS = {"i1": 1, "i4": 4, "i8": 8, "i16": 16, "i32": 32, "i64": 64}

INFINITY = math.inf
Number = Fraction | float
"""A finite number as a fraction, or one of Python's infinities and NaN."""


def width(element: str) -> int:
    """Bits of a pattern."""
    return WIDTHS[element] if element in WIDTHS else FLOATS[element].width


def signed(bits: int, width: int) -> int:
    """A pattern read as two's complement."""
    return bits - (1 << width) if bits >> (width - 1) & 1 else bits


def read(bits: int, signedness: str, width: int) -> int:
    """A pattern read as the operation says."""
    return signed(bits, width) if signedness == "signed" else bits


def negative(bits: int, fmt: Float) -> bool:
    """Whether the sign is set."""
    return bool(bits & fmt.sign)


def value(bits: int, fmt: Float) -> Number:
    """What a pattern stands for; zeros lose their sign."""
    sign = -1 if bits & fmt.sign else 1
    exponent = bits >> fmt.fraction & ((1 << fmt.exponent) - 1)
    fraction = bits & ((1 << fmt.fraction) - 1)
    if fmt.top == "ieee" and exponent == (1 << fmt.exponent) - 1:
        return math.nan if fraction else sign * INFINITY
    if fmt.top == "nan" and bits & (fmt.sign - 1) == fmt.sign - 1:
        return math.nan
    if exponent == 0:
        return sign * Fraction(fraction) * Fraction(2) ** (1 - fmt.bias - fmt.fraction)
    whole = fraction + (1 << fmt.fraction)
    return sign * whole * Fraction(2) ** (exponent - fmt.bias - fmt.fraction)


def is_nan(bits: int, fmt: Float) -> bool:
    """Whether a pattern is a NaN."""
    return value(bits, fmt) != value(bits, fmt)


def flushed(bits: int, fmt: Float) -> int:
    """A subnormal number as a zero of its sign."""
    if bits & (fmt.sign - 1) < 1 << fmt.fraction:
        return bits & fmt.sign
    return bits


def exponent_of(x: Fraction) -> int:
    """The greatest e with 2^e <= x, of a positive x."""
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e - 1 if Fraction(2) ** e > x else e


def rounded(x: Fraction, fmt: Float, mode: str = "nearest_even", *, minus: bool = False) -> int:
    """The pattern of a number, rounded once; ``minus`` is the sign if the number is zero."""
    if x == 0:
        return fmt.sign if minus else 0
    below = x < 0
    sign = fmt.sign if below else 0
    magnitude = abs(x)
    quantum = max(exponent_of(magnitude), 1 - fmt.bias) - fmt.fraction
    scaled = magnitude / Fraction(2) ** quantum
    n = scaled.numerator // scaled.denominator
    rest = scaled - n
    up = {
        "nearest_even": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and n % 2 == 1),
        "nearest_away": rest >= Fraction(1, 2),
        "zero": False,
        "positive_inf": rest > 0 and not below,
        "negative_inf": rest > 0 and below,
    }[mode]
    n += up
    largest = value(fmt.largest, fmt)
    assert isinstance(largest, Fraction)
    if n * Fraction(2) ** quantum > largest:
        away = mode.startswith("nearest") or mode == ("negative_inf" if below else "positive_inf")
        if not away:
            return sign | fmt.largest
        return (
            sign | fmt.infinity
            if fmt.infinity is not None
            else fmt.nan
            if fmt.nan is not None
            else sign | fmt.largest
        )
    if n < 1 << fmt.fraction:
        return sign | n
    if n == 1 << (fmt.fraction + 1):
        n, quantum = n >> 1, quantum + 1
    return sign | ((quantum + fmt.fraction + fmt.bias) << fmt.fraction) | (n & ((1 << fmt.fraction) - 1))


def _done(x: Number, fmt: Float, mode: str, ftz: bool, minus: bool) -> int:
    if isinstance(x, float):
        if x != x:
            assert fmt.nan is not None
            return fmt.nan
        assert fmt.infinity is not None
        return fmt.infinity | (fmt.sign if x < 0 else 0)
    bits = rounded(x, fmt, mode, minus=minus)
    return flushed(bits, fmt) if ftz else bits


def infinite(x: float, fmt: Float) -> int:
    """The pattern of an infinity or a NaN."""
    return _done(x, fmt, "nearest_even", False, False)


def add(a: int, b: int, fmt: Float, mode: str = "nearest_even", ftz: bool = False) -> int:
    """A sum."""
    if ftz:
        a, b = flushed(a, fmt), flushed(b, fmt)
    x, y = value(a, fmt), value(b, fmt)
    total = x + y if isinstance(x, Fraction) and isinstance(y, Fraction) else _special_sum(x, y)
    both = negative(a, fmt) and negative(b, fmt)
    one = negative(a, fmt) != negative(b, fmt)
    return _done(total, fmt, mode, ftz, both or (mode == "negative_inf" and (one or (x != 0))))


def _special_sum(x: Number, y: Number) -> Number:
    """Of two numbers of which one is no finite one."""
    if x != x or y != y:
        return math.nan
    if isinstance(x, float) and isinstance(y, float):
        return x if x == y else math.nan
    return x if isinstance(x, float) else y


def negate(a: int, fmt: Float) -> int:
    """The sign flipped."""
    return a ^ fmt.sign


def _product(x: Number, y: Number) -> Number:
    if x != x or y != y:
        return math.nan
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        return x * y
    if x == 0 or y == 0:
        return math.nan
    return INFINITY if (x < 0) == (y < 0) else -INFINITY


def multiply(a: int, b: int, fmt: Float, mode: str = "nearest_even", ftz: bool = False) -> int:
    """A product."""
    if ftz:
        a, b = flushed(a, fmt), flushed(b, fmt)
    minus = negative(a, fmt) != negative(b, fmt)
    return _done(_product(value(a, fmt), value(b, fmt)), fmt, mode, ftz, minus)


def divide(a: int, b: int, fmt: Float, mode: str = "nearest_even", ftz: bool = False) -> int:
    """A quotient."""
    if ftz:
        a, b = flushed(a, fmt), flushed(b, fmt)
    x, y = value(a, fmt), value(b, fmt)
    minus = negative(a, fmt) != negative(b, fmt)
    quotient: Number
    if x != x or y != y or (x == 0 and y == 0) or (isinstance(x, float) and isinstance(y, float)):
        quotient = math.nan
    elif isinstance(x, float) or y == 0:
        quotient = -INFINITY if minus else INFINITY
    elif isinstance(y, float):
        quotient = Fraction(0)
    else:
        quotient = x / y
    return _done(quotient, fmt, mode, ftz, minus)


def fused(a: int, b: int, c: int, fmt: Float, mode: str = "nearest_even", ftz: bool = False) -> int:
    """A product and a sum, rounded once."""
    if ftz:
        a, b, c = flushed(a, fmt), flushed(b, fmt), flushed(c, fmt)
    product, z = _product(value(a, fmt), value(b, fmt)), value(c, fmt)
    minus = negative(a, fmt) != negative(b, fmt)
    exact = isinstance(product, Fraction) and isinstance(z, Fraction)
    total = product + z if exact else _special_sum(product, z)
    both = minus and negative(c, fmt)
    one = minus != negative(c, fmt)
    return _done(total, fmt, mode, ftz, both or (mode == "negative_inf" and (one or product != 0)))


def root(a: int, fmt: Float, mode: str = "nearest_even", ftz: bool = False) -> int:
    """A square root."""
    if ftz:
        a = flushed(a, fmt)
    x = value(a, fmt)
    if x == 0:
        return a
    if x != x or x < 0 or isinstance(x, float):
        return _done(math.nan if x != x or x < 0 else x, fmt, mode, ftz, False)
    # More bits than any format has, and one below them that says whether the root goes on.
    shift = 700
    scaled = x * Fraction(4) ** shift
    whole = math.isqrt(scaled.numerator // scaled.denominator)
    exact = Fraction(whole * whole) == scaled
    near = Fraction(2 * whole + (not exact), 2) / Fraction(2) ** shift
    return _done(near, fmt, mode, ftz, False)


def whole(a: int, fmt: Float, direction: str) -> int:
    """The next integer "up" or "down"."""
    x = value(a, fmt)
    if not isinstance(x, Fraction):
        return _done(x, fmt, "nearest_even", False, False)
    n = math.ceil(x) if direction == "up" else math.floor(x)
    return rounded(Fraction(n), fmt, minus=negative(a, fmt))


def remainder(a: int, b: int, fmt: Float) -> int:
    """What a truncated quotient leaves."""
    x, y = value(a, fmt), value(b, fmt)
    if x != x or y != y or isinstance(x, float) or y == 0:
        assert fmt.nan is not None
        return fmt.nan
    if isinstance(y, float):
        return a
    assert isinstance(y, Fraction)
    quotient = abs(x) // abs(y)
    left = abs(x) - quotient * abs(y)
    return rounded(-left if x < 0 else left, fmt, minus=negative(a, fmt))


def extreme(a: int, b: int, fmt: Float, *, larger: bool, propagate: bool, ftz: bool) -> int:
    """The larger or smaller number; -0 is below +0."""
    if ftz:
        a, b = flushed(a, fmt), flushed(b, fmt)
    assert fmt.nan is not None
    nans = [is_nan(a, fmt), is_nan(b, fmt)]
    if all(nans) or (propagate and any(nans)):
        return fmt.nan
    if any(nans):
        return b if nans[0] else a
    key = lambda bits: (value(bits, fmt), not negative(bits, fmt))  # noqa: E731
    return (max if larger else min)(a, b, key=key)


def convert(a: int, source: Float, target: Float, mode: str) -> int:
    """One float format to another, rounded once."""
    x = value(a, source)
    if isinstance(x, Fraction):
        return rounded(x, target, mode, minus=negative(a, source))
    if x != x:
        return target.nan if target.nan is not None else target.largest
    sign = target.sign if x < 0 else 0
    if target.infinity is not None:
        return sign | target.infinity
    return target.nan if target.nan is not None else sign | target.largest
