"""Numbers on which other interpreters and compilers are known to have gone wrong.

Each is a small input with its exact answer, computed by hand or with exact arithmetic.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.tileref.numerics import oracle
from tileref import numerics as n
from tileref.numerics.formats import (
    BF16,
    F8E4M3FN,
    F8E5M2,
    F16,
    F32,
    F64,
    I1,
    I32,
    I64,
    FloatFormat,
    Rounding,
)

pytestmark = pytest.mark.filterwarnings("error")


def test_fma_is_not_two_roundings_nor_one_by_way_of_f64() -> None:
    a = np.array([4097.0], np.float32)
    assert n.fma(a, a, np.array([2.0**-30], np.float32), F32).tolist() == [16785410.0]
    x, y = np.array([1.4142135], np.float32), np.array([1.7320508], np.float32)
    rest = n.fma(x, y, n.negf(n.mulf(x, y, F32), F32), F32)
    assert rest.view(np.uint32).tolist() == [0x3388222A]


def test_fma_of_the_narrow_formats_and_every_direction() -> None:
    one = np.array([1.0], BF16.dtype)
    # 1.0078125**2 = 1.01568603515625; bf16 neighbours of the sum with 2**-40 are 1.015625 and 1.0234375.
    a = np.array([1.0078125], BF16.dtype)
    tiny = np.array([2.0**-40], BF16.dtype)
    assert n.fma(a, a, tiny, BF16).tolist() == [1.015625]
    assert n.fma(a, a, tiny, BF16, Rounding.POSITIVE_INF).tolist() == [1.0234375]
    # 1.5 * 1.0078125 = 1.51171875 is halfway between bf16s; the addend decides.
    b = np.array([1.5], BF16.dtype)
    assert n.fma(a, b, tiny, BF16).tolist() == [1.515625]
    assert n.fma(a, b, n.negf(tiny, BF16), BF16).tolist() == [1.5078125]
    assert n.fma(one, one, n.negf(tiny, BF16), BF16, Rounding.ZERO).tolist() == [0.99609375]
    f = np.array([2.0**-1074])
    assert n.fma(f, f, np.array([1.0]), F64, Rounding.POSITIVE_INF).tolist() == [1 + 2.0**-52]
    assert n.fma(f, f, np.array([-1.0]), F64, Rounding.ZERO).tolist() == [-(1 - 2.0**-53)]


@pytest.mark.parametrize(
    ("value", "target", "expected"),
    [
        (1 + 2.0**-8 + 2.0**-40, BF16, 1.0078125),
        (-431.99999999999994, F8E4M3FN, -416.0),
        (1 + 2.0**-11 + 2.0**-40, F16, 1 + 2.0**-10),
        (1 + 2.0**-24 + 2.0**-53 + 2.0**-52, F32, 1 + 2.0**-23),
    ],
)
def test_ftof_of_f64_rounds_once(value: float, target: FloatFormat, expected: float) -> None:
    assert n.ftof(np.array([value]), F64, target).astype(np.float64).tolist() == [expected]


def test_itof_rounds_once() -> None:
    assert n.itof(np.array([16973823]), I64, BF16).astype(np.float64).tolist() == [16908288.0]
    assert n.itof(np.array([16842753], np.int32), I32, BF16).astype(np.float64).tolist() == [16908288.0]


@pytest.mark.parametrize("target", [F8E5M2, F8E4M3FN], ids=lambda f: f.name)
@pytest.mark.parametrize("saturate", [None, True])
def test_every_f16_to_f8_and_back(target: FloatFormat, saturate: bool | None) -> None:
    patterns = np.arange(1 << 16).astype(np.uint16)
    found = n.ftof(patterns.view(np.float16), F16, target, saturate=saturate)
    numbers = oracle.decode_all(patterns, "f16")
    expected = oracle.encode_all(numbers, target.name, "nearest_even", bool(saturate))
    assert (found.view(np.uint8) == expected).all()
    again = n.ftof(n.ftof(found, target, F16), F16, target, saturate=saturate)
    assert (again.view(np.uint8) == expected).all()


def test_saturation_to_f8_is_a_choice() -> None:
    x = np.array([448.0, 464.0, 465.0, np.inf, -1e30, np.nan], np.float32)
    ieee = n.ftof(x, F32, F8E4M3FN).view(np.uint8).tolist()
    assert ieee == [0x7E, 0x7E, 0x7F, 0x7F, 0x7F, 0x7F]
    device = n.ftof(x, F32, F8E4M3FN, saturate=True).view(np.uint8).tolist()
    assert device == [0x7E, 0x7E, 0x7E, 0x7E, 0xFE, 0x7F]
    wide = np.array([57344.0, 61439.0, 61440.0, -np.inf], np.float32)
    assert n.ftof(wide, F32, F8E5M2).view(np.uint8).tolist() == [0x7B, 0x7B, 0x7C, 0xFC]
    assert n.ftof(wide, F32, F8E5M2, saturate=True).view(np.uint8).tolist() == [0x7B, 0x7B, 0x7B, 0xFB]


def test_identities_that_are_not() -> None:
    x = np.array([np.inf, -np.inf, np.nan, -1.0, -0.0], np.float32)
    zero = np.zeros(5, np.float32)
    nan = 0x7FC00000
    assert n.mulf(x, zero, F32).view(np.uint32).tolist() == [nan, nan, nan, 1 << 31, 1 << 31]
    assert n.subf(x, x, F32).view(np.uint32).tolist() == [nan, nan, nan, 0, 0]
    assert n.addf(x, n.negf(zero, F32), F32).view(np.uint32).tolist()[3:] == [0xBF800000, 1 << 31]
    assert n.divf(x, x, F32).view(np.uint32).tolist() == [nan, nan, nan, 0x3F800000, nan]


def test_sums_in_f16_stick_at_2048() -> None:
    total = np.array([0.0], np.float16)
    for _ in range(2100):
        total = n.addf(total, np.array([1.0], np.float16), F16)
    assert total.tolist() == [2048.0]


def test_products_at_the_subnormal_border_flush_by_the_attribute() -> None:
    x = np.array([2.0**-126, 2.0**-63, 2.0**-100, -(2.0**-75)], np.float32)
    y = np.array([1.0, 2.0**-64, 2.0**-49, 2.0**-75], np.float32)
    assert n.mulf(x, y, F32).tolist() == [2.0**-126, 2.0**-127, 2.0**-149, -0.0]
    flushed = n.mulf(x, y, F32, flush_to_zero=True)
    assert flushed.view(np.uint32).tolist() == [0x00800000, 0, 0, 1 << 31]


def test_i1_is_minus_one_or_one_by_its_reading() -> None:
    x = np.array([True, False])
    assert n.itof(x, I1, F32).tolist() == [-1.0, 0.0]
    assert n.itof(x, I1, F32, signed=False).tolist() == [1.0, 0.0]
    assert n.ftoi(np.array([-1.0, 0.5], np.float32), F32, I1)[0].tolist() == [True, False]


def test_remainder_and_zero_signs() -> None:
    a = np.array([-7.0, 7.0, -7.0, -6.0, 5.0, np.inf, 1.0])
    b = np.array([3.0, -3.0, -3.0, 3.0, np.inf, 2.0, 0.0])
    found = n.remf(a, b, F64)
    assert found[:5].tolist() == [-1.0, 1.0, -1.0, -0.0, 5.0]
    assert np.signbit(found[3])
    assert np.isnan(found[5:]).all()
    assert n.remf(np.array([1e308]), np.array([5e-324]), F64).tolist() == [0.0]


def test_maximum_puts_plus_zero_above_minus_zero() -> None:
    zeros = np.array([0.0, -0.0], np.float32)
    for fmt in (F64, F32, F16, BF16):
        x = zeros.astype(fmt.dtype)
        assert not np.signbit(n.maxf(x, x[::-1], fmt).astype(np.float64)).any()
        assert np.signbit(n.minf(x, x[::-1], fmt).astype(np.float64)).all()
