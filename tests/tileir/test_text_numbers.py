"""Numbers: spelled as MLIR spells them, and read back to the same bits."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tileir.text.numbers import FORMATS, decode, encode, from_decimal, spell_float, spell_integer
from tileir.types import F32, F64, I1, I8, NUMBERS, NumberType

FLOATS = [t for t in NUMBERS.values() if t.is_float]


def single(value: float) -> int:
    return int.from_bytes(struct.pack("<f", value), "little")


def double(value: float) -> int:
    return int.from_bytes(struct.pack("<d", value), "little")


@pytest.mark.parametrize(
    ("name", "bits", "spelling"),
    [
        ("f32", 0x3F800000, "1.000000e+00"),
        ("f32", 0x80000000, "-0.000000e+00"),
        # Six decimals do not suffice: as many digits as the format needs, laid out by size.
        ("f32", 0x3DCCCCCD, "1.000000e-01"),
        ("f32", 0x00000001, "1.401300e-45"),
        ("f32", 0x7F800000, "0x7F800000"),
        ("f32", 0xFFC00001, "0xFFC00001"),
        ("f64", 0x3FD5555555555555, "0.33333333333333331"),
        ("f64", 0x0000000000000001, "4.940660e-324"),
        ("f64", 0x7FEFFFFFFFFFFFFF, "1.7976931348623157E+308"),
        ("bf16", 0x3F81, "1.007810e+00"),
        ("tf32", 0x1FC00, "1.000000e+00"),
        ("f8E4M3FN", 0x7E, "4.480000e+02"),
        ("f8E4M3FN", 0x7F, "0x7F"),
        ("f8E5M2", 0x7C, "0x7C"),
        ("f8E8M0FNU", 0x00, "5.877470e-39"),
        ("f8E8M0FNU", 0xFF, "0xFF"),
        ("f4E2M1FN", 0xF, "-6.000000e+00"),
    ],
)
def test_spelled_as_the_disassembler_does(name: str, bits: int, spelling: str) -> None:
    assert spell_float(bits, NUMBERS[name]) == spelling


@pytest.mark.parametrize("type_", [t for t in FLOATS if FORMATS[t.name].width <= 8], ids=str)
def test_every_narrow_number_reads_back(type_: NumberType) -> None:
    format_ = FORMATS[type_.name]
    for bits in range(1 << format_.width):
        text = spell_float(bits, type_)
        read = int(text, 16) if text.startswith("0x") else from_decimal(text, format_)
        assert read == bits
        assert text.startswith("0x") == (decode(bits, format_) is None)


@given(st.sampled_from(FLOATS), st.data())
def test_any_number_reads_back(type_: NumberType, data: st.DataObject) -> None:
    format_ = FORMATS[type_.name]
    bits = data.draw(st.integers(0, (1 << format_.width) - 1))
    text = spell_float(bits, type_)
    assert (int(text, 16) if text.startswith("0x") else from_decimal(text, format_)) == bits


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_decimals_are_rounded_as_python_rounds_them(value: float) -> None:
    # Python's conversion from decimal is correctly rounded, and repr is not the spelling under test.
    assert from_decimal(repr(value) if "." in repr(value) else f"{value:.17e}", FORMATS["f64"]) == double(
        value
    )


@given(st.integers(0, 1 << 40), st.integers(-60, 40))
def test_decimals_are_rounded_once(digits: int, power: int) -> None:
    # The nearest f32 of an exact decimal is found by comparing with its neighbours, without a wider float.
    bits = from_decimal(f"{digits}.0e{power}", FORMATS["f32"])
    assert bits is not None
    if bits >= 0x7F800000:
        assert digits * 10.0**power > 3.4e38
        return
    numerator, denominator = (digits * 10**power, 1) if power >= 0 else (digits, 10**-power)
    _, significand, exponent = decode(bits, FORMATS["f32"]) or (False, 0, 0)
    scale = 1 << 200
    exact = numerator * scale // denominator
    here = significand * scale * 2**exponent if exponent >= 0 else significand * scale // 2**-exponent
    step = scale * 2**exponent if exponent >= 0 else scale // 2**-exponent
    assert abs(exact - here) * 2 <= step + 2


def test_ties_go_to_even_and_overflow_to_infinity() -> None:
    f16 = FORMATS["f16"]
    assert from_decimal("2049.0", f16) == 0x6800
    assert from_decimal("2051.0", f16) == 0x6802
    assert from_decimal("65519.0", f16) == 0x7BFF
    assert from_decimal("65520.0", f16) == 0x7C00
    # Double rounding by way of a wider float would give 0x3F81.
    assert from_decimal("1.00390625", FORMATS["bf16"]) == 0x3F80
    assert from_decimal("1.003906250000000000001", FORMATS["bf16"]) == 0x3F81
    assert from_decimal("449.0", FORMATS["f8E4M3FN"]) == 0x7E
    assert from_decimal("465.0", FORMATS["f8E4M3FN"]) is None
    assert encode(True, 1, 1, FORMATS["f8E8M0FNU"]) is None
    assert from_decimal("0.0", FORMATS["f8E8M0FNU"]) is None


@given(st.floats(width=32))
def test_f32_agrees_with_struct(value: float) -> None:
    bits = single(value)
    parts = decode(bits, FORMATS["f32"])
    if math.isfinite(value):
        assert parts is not None
        sign, significand, exponent = parts
        assert math.ldexp(-significand if sign else significand, exponent) == value
        text = spell_float(bits, F32)
        # A number that is neither short nor has a point is spelled as its bits.
        assert (int(text, 16) if text.startswith("0x") else single(float(text))) == bits
    else:
        assert parts is None
        assert spell_float(bits, F32) == f"0x{bits:X}"


def test_integers_are_signed_and_one_bit_is_a_boolean() -> None:
    assert [spell_integer(b, I8) for b in (0, 127, 128, 255)] == ["0", "127", "-128", "-1"]
    assert [spell_integer(b, I1) for b in (0, 1, 255)] == ["false", "true", "true"]
    assert spell_float(double(-0.1), F64) == "-1.000000e-01"
