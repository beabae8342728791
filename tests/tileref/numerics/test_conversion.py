"""Conversions of every pair of formats, against exact integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.tileref.numerics import hard, oracle
from tests.tileref.numerics.agree import assert_patterns
from tileref import numerics as n
from tileref.numerics.formats import (
    BF16,
    F4E2M1FN,
    F8E4M3FN,
    F8E5M2,
    F8E8M0FNU,
    F16,
    F32,
    F64,
    FLOAT_FORMATS,
    FORMATS,
    I1,
    I4,
    I8,
    I16,
    I32,
    I64,
    INTEGER_FORMATS,
    TF32,
    FloatFormat,
    IntegerFormat,
    Rounding,
)

pytestmark = pytest.mark.filterwarnings("error")

Array = NDArray[Any]
BY_NAME = {"ids": lambda f: f.name}
EVERY_MODE = pytest.mark.parametrize("rounding", Rounding, ids=lambda r: r.value)
EVERY_TARGET = pytest.mark.parametrize("target", FLOAT_FORMATS, **BY_NAME)


def check_ftof(
    x: Array, source: FloatFormat, target: FloatFormat, rounding: Rounding, saturate: bool | None
) -> None:
    before = x.tobytes()
    numbers = oracle.decode_all(x.view(source.bits_dtype), source.name)
    expected = oracle.encode_all(numbers, target.name, rounding.value, bool(saturate))
    assert_patterns(n.ftof(x, source, target, rounding, saturate), expected, target, x)
    assert x.tobytes() == before


@EVERY_TARGET
@EVERY_MODE
@pytest.mark.parametrize("source", [F8E4M3FN, F8E5M2, F8E8M0FNU, F4E2M1FN], **BY_NAME)
def test_ftof_of_every_value_of_the_small_formats(
    source: FloatFormat, target: FloatFormat, rounding: Rounding
) -> None:
    x = np.arange(1 << source.width).astype(np.uint8).view(source.dtype)
    for saturate in (None, True):
        check_ftof(x, source, target, rounding, saturate)


@EVERY_TARGET
@pytest.mark.parametrize("source", [F16, BF16], **BY_NAME)
def test_ftof_of_every_value_of_the_16_bit_formats(source: FloatFormat, target: FloatFormat) -> None:
    x = np.arange(1 << 16).astype(np.uint16).view(source.dtype)
    if target is source or target in (F64, F32, TF32):
        check_ftof(x, source, target, Rounding.NEAREST_EVEN, None)
        return
    # All of them in the directions of the dialect, and a part in the others.
    dialect = {F8E8M0FNU: (Rounding.ZERO, Rounding.POSITIVE_INF), F16: (Rounding.NEAREST_EVEN, Rounding.ZERO)}
    dialect[BF16] = dialect[F16]
    for rounding in Rounding:
        whole = rounding in dialect.get(target, (Rounding.NEAREST_EVEN,))
        check_ftof(x if whole else x[::7], source, target, rounding, None)
        if target not in (F16, BF16):
            check_ftof(x if whole else x[::7], source, target, rounding, True)


@EVERY_TARGET
@EVERY_MODE
@pytest.mark.parametrize("source", [F64, F32, TF32, F16, BF16], **BY_NAME)
def test_ftof_of_hard_values(source: FloatFormat, target: FloatFormat, rounding: Rounding) -> None:
    rng = np.random.default_rng(51)
    if source in (F64, F32) and target is not source:
        if source is F32 and target is F64:
            x = hard.values(F32, rng, 500)
        else:
            x = hard.borders(source, target, rng, 80)
    else:
        x = hard.values(source, rng, 500)
    for saturate in (None, True):
        check_ftof(x, source, target, rounding, saturate)


def test_ftof_keeps_the_shape() -> None:
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)[:, ::-1, ::2]
    found = n.ftof(x, F32, F16)
    assert found.shape == x.shape
    assert found.tolist() == x.tolist()
    assert n.ftof(np.float32(1), F32, F16).shape == ()
    assert n.ftof(x[:0], F32, BF16).shape == (0, 3, 2)
    long = np.resize(hard.values(F32, np.random.default_rng(52), 5000), 100_001)
    for target in FLOAT_FORMATS:
        whole = n.ftof(long, F32, target)
        assert (
            whole.tobytes()
            == np.concatenate(
                [n.ftof(long[i::1][:999], F32, target) for i in range(0, long.size, 999)]
            ).tobytes()
        )


def integers(fmt: IntegerFormat, rng: np.random.Generator, count: int) -> Array:
    """Every value, or the ends, powers of two and their neighbours, and random values of every length."""
    if fmt is I1:
        return np.array([False, True])
    if fmt.width <= 16:
        return np.arange(fmt.minimum, fmt.maximum + 1).astype(fmt.dtype)
    lengths = rng.integers(0, fmt.width, count)
    whole = np.array(
        [
            int(v) >> (63 - int(k)) if k else 0
            for v, k in zip(rng.integers(0, 1 << 63, count), lengths, strict=True)
        ]
    )
    # A run of zeros below the top bits and then a bit or none: halfway points and next to them.
    cut = rng.integers(0, fmt.width, count)
    whole = np.where(rng.random(count) < 0.5, whole & (-1 << cut), whole) + rng.integers(-1, 2, count)
    whole = np.where(rng.random(count) < 0.5, whole, -whole)
    ends = [fmt.minimum, fmt.minimum + 1, -1, 0, 1, fmt.maximum - 1, fmt.maximum]
    whole[: len(ends)] = ends
    return whole.astype(fmt.dtype)


def as_ints(x: Array, fmt: IntegerFormat, signed: bool) -> list[int]:
    """The lanes as Python ints."""
    mask = (1 << fmt.width) - 1
    values = [int(v) & mask for v in x.tolist()]
    return [v - (1 << fmt.width) if signed and v >> (fmt.width - 1) else v for v in values]


@EVERY_TARGET
@EVERY_MODE
@pytest.mark.parametrize("source", INTEGER_FORMATS, **BY_NAME)
def test_itof(source: IntegerFormat, target: FloatFormat, rounding: Rounding) -> None:
    x = integers(source, np.random.default_rng(53), 600)
    if source is I16:
        x = x[::37]
    for signed in (True, False):
        numbers = [oracle.integer(v) for v in as_ints(x, source, signed)]
        expected = oracle.encode_all(numbers, target.name, rounding.value)
        assert_patterns(n.itof(x, source, target, rounding, signed), expected, target, x)


@pytest.mark.parametrize("source", FLOAT_FORMATS, **BY_NAME)
@pytest.mark.parametrize("target", INTEGER_FORMATS, **BY_NAME)
@pytest.mark.parametrize("signed", [True, False])
def test_ftoi(source: FloatFormat, target: IntegerFormat, signed: bool) -> None:
    rng = np.random.default_rng(54)
    least, most = (target.minimum, target.maximum) if signed else (0, target.unsigned_maximum)
    if source.width <= 8:
        x = np.arange(1 << source.width).astype(np.uint8).view(source.dtype)
    else:
        # Around the ends of the range, between the integers and on them.
        ends = np.array([least, most, 0], np.float64)
        near = (ends[:, None] + np.array([-2, -1, -0.75, -0.5, 0, 0.5, 0.75, 1, 2])).reshape(-1)
        rounded = near if source is F64 else n.ftof(near, F64, source)
        x = np.concatenate([rounded, hard.nudged(rounded, source, rng), hard.values(source, rng, 800)])
    found, undefined = n.ftoi(x, source, target, signed)
    expected, marks = [], []
    for number in oracle.decode_all(x.view(source.bits_dtype), source.name):
        if number[1] == oracle.NAN:
            value, inside = 0, False
        elif number[1] == oracle.INF:
            value, inside = (least if number[0] else most), False
        else:
            whole = oracle.as_int(number)
            value, inside = min(max(whole, least), most), least <= whole <= most
        expected.append(value)
        marks.append(not inside)
    assert found.dtype == target.dtype
    assert as_ints(found, target, signed) == expected
    if target is I4:
        assert all(-8 <= v <= 7 for v in found.tolist())
    assert undefined.tolist() == marks if undefined is not None else not any(marks)
    saturated, none = n.ftoi(x, source, target, signed, saturating=True)
    assert none is None
    assert saturated.tobytes() == found.tobytes()


def test_ftoi_shapes() -> None:
    x = np.array([[1.5, np.nan], [-2.5, 3e9]])[:, ::-1]
    found, undefined = n.ftoi(x, F64, I32)
    assert found.tolist() == [[0, 1], [2**31 - 1, -2]]
    assert undefined is not None
    assert undefined.tolist() == [[True, False], [True, False]]
    assert n.ftoi(np.float64(3.9), F64, I8)[0].shape == ()
    assert n.ftoi(x[:, 1:], F64, I32)[1] is None


@pytest.mark.parametrize(
    ("floating", "whole"),
    [(F64, I64), (F32, I32), (F16, I16), (BF16, I16), (F8E4M3FN, I8), (F8E8M0FNU, I8), (F4E2M1FN, I4)],
    ids=lambda f: f.name,
)
def test_bitcast_there_and_back(floating: FloatFormat, whole: IntegerFormat) -> None:
    x = np.random.default_rng(55).integers(whole.minimum, whole.maximum, 500, whole.dtype, endpoint=True)
    there = n.bitcast(x, whole, floating)
    assert there.dtype == floating.dtype
    mask = (1 << whole.width) - 1
    bits = there.view(floating.bits_dtype)
    assert [int(b) for b in bits] == [int(v) & mask for v in x]
    back = n.bitcast(there, floating, whole)
    assert back.tolist() == x.tolist()
    assert not np.shares_memory(there, x)
    assert not np.shares_memory(there, back)
    assert (
        n.bitcast(there.reshape(5, 100)[:, ::2], floating, whole).tolist()
        == x.reshape(5, 100)[:, ::2].tolist()
    )
    assert n.bitcast(there[0], floating, whole).shape == ()


def test_bitcast_to_tf32_clears_the_unused_bits() -> None:
    x = np.array([0x3F801FFF, -1], np.int32)
    assert n.bitcast(x, I32, TF32).view(np.uint32).tolist() == [0x3F800000, 0xFFFFE000]
    with pytest.raises(ValueError, match="i16 and f32"):
        n.bitcast(np.zeros(1, np.int16), I16, F32)


def test_pack_puts_the_even_lane_in_the_low_nibble() -> None:
    lanes = np.arange(16, dtype=np.uint8).view(F4E2M1FN.dtype)
    assert n.pack(lanes, F4E2M1FN).view(np.uint8).tolist() == [0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE]
    assert n.pack(np.array([-8, 7, -1, 1], np.int8), I4).view(np.uint8).tolist() == [0x78, 0x1F]
    bits = np.array([True, False, False, True, False, False, False, True])
    assert n.pack(bits, I1).view(np.uint8).tolist() == [0b10001001]
    assert n.pack(np.array([0x0102, -2], np.int16), I16).tolist() == [2, 1, -2, -1]
    assert n.pack(np.array([1.0], np.float32), F32).view(np.uint8).tolist() == [0, 0, 0x80, 0x3F]


@pytest.mark.parametrize("fmt", FORMATS.values(), **BY_NAME)
def test_unpack_is_the_inverse_of_pack(fmt: FloatFormat | IntegerFormat) -> None:
    octets = np.random.default_rng(56).integers(-128, 128, (3, 7, 64), np.int8)
    if fmt is TF32:
        octets = octets.copy()
        octets[..., 0::4] = 0
        octets[..., 1::4] &= np.int8(-32)
    lanes = n.unpack(octets, fmt)
    assert lanes.dtype == fmt.dtype
    assert lanes.shape == (3, 7, 64 * 8 // fmt.width)
    assert n.pack(lanes, fmt).tobytes() == octets.tobytes()
    flipped = n.unpack(octets[:, ::-1], fmt)
    assert flipped.tobytes() == lanes[:, ::-1].tobytes()
    assert n.pack(lanes[::2], fmt).tobytes() == octets[::2].tobytes()


def test_pack_and_unpack_refuse_what_does_not_fill() -> None:
    with pytest.raises(ValueError, match="3 lanes of i4"):
        n.pack(np.zeros(3, np.int8), I4)
    with pytest.raises(ValueError, match="6 bytes do not fill lanes of f32"):
        n.unpack(np.zeros(6, np.int8), F32)
    with pytest.raises(ValueError, match="scalar"):
        n.pack(np.int8(1), I8)
    with pytest.raises(ValueError, match="scalar"):
        n.unpack(np.int8(1), I8)


@settings(max_examples=200, deadline=None)
@given(
    value=st.integers(-(2**63), 2**64 - 1),
    name=st.sampled_from([f.name for f in FLOAT_FORMATS]),
    rounding=st.sampled_from(list(Rounding)),
)
def test_itof_of_any_64_bit_integer(value: int, name: str, rounding: Rounding) -> None:
    target = FORMATS[name]
    assert isinstance(target, FloatFormat)
    signed = value < 2**63
    x = np.array([value & (2**64 - 1)], np.uint64).view(np.int64)
    expected = oracle.encode_all([oracle.integer(value)], name, rounding.value)
    assert_patterns(n.itof(x, I64, target, rounding, signed), expected, target, x)
