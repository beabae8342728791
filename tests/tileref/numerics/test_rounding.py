"""Rounding of exact values to every format in every direction, against exact integers."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.tileref.numerics import hard, oracle
from tests.tileref.numerics.agree import assert_patterns
from tileref.numerics.error_free import fast_two_sum, split, two_product, two_sum
from tileref.numerics.formats import F16, F32, F64, FLOAT_FORMATS, FORMATS, FloatFormat, Rounding
from tileref.numerics.nan import canonical
from tileref.numerics.rounding import (
    bit_length,
    decompose,
    power_of_two,
    round_float,
    round_integer,
    round_sum,
    step_from_nearest,
    to_odd,
)

pytestmark = pytest.mark.filterwarnings("error")

BY_NAME = {"ids": lambda f: f.name}
EVERY_MODE = pytest.mark.parametrize("rounding", Rounding, ids=lambda r: r.value)
EVERY_FORMAT = pytest.mark.parametrize("target", FLOAT_FORMATS, **BY_NAME)


def settled(x: NDArray[Any], fmt: FloatFormat) -> NDArray[Any]:
    canonical(x, (x,), fmt, "ftof")
    return x


@EVERY_FORMAT
@EVERY_MODE
@pytest.mark.parametrize("source", [F64, F32], **BY_NAME)
def test_round_float(source: FloatFormat, target: FloatFormat, rounding: Rounding) -> None:
    if source is F32 and target is F64:
        return
    x = hard.borders(source, target, np.random.default_rng(3), 250)
    numbers = oracle.decode_all(x.view(source.bits_dtype), source.name)
    for saturate in (None, True):
        expected = oracle.encode_all(numbers, target.name, rounding.value, bool(saturate))
        found = settled(round_float(x, source, target, rounding, saturate), target)
        assert_patterns(found, expected, target, x)


@EVERY_FORMAT
@EVERY_MODE
def test_round_integer(target: FloatFormat, rounding: Rounding) -> None:
    rng = np.random.default_rng(4)
    count = 1500
    length = rng.integers(0, 65, count)
    whole = [int(w) * 2 + 1 for w in rng.integers(0, 1 << 63, count)]
    # A one and zeros below the target's last place make halfway points.
    cut = [w >> (64 - int(k)) if k else 0 for w, k in zip(whole, length, strict=True)]
    ties = rng.random(count) < 0.4
    below = [max(int(k) - target.precision - 1, 0) for k in length]
    significands = [
        ((w >> k) | 1) << k if tie and w >> k else w for w, k, tie in zip(cut, below, ties, strict=True)
    ]
    exponent = np.where(
        rng.random(count) < 0.5,
        target.emin - length + rng.integers(-target.precision - 3, 5, count),
        rng.integers(target.emin - 70, target.emax + 5, count) - length // 2,
    )
    exponent[:60] = rng.integers(-3000, 3000, 60)
    exponent[60:80] = rng.choice([-(2**40), 2**40], 20)
    negative = rng.random(count) < 0.5
    sticky = (rng.random(count) < 0.5) & np.array([s.bit_length() > target.precision for s in significands])
    numbers = [
        (int(s), w, max(min(int(e), 10**4), -(10**4)), bool(more))
        for s, w, e, more in zip(negative, significands, exponent, sticky, strict=True)
    ]
    for saturate in (None, True):
        found = round_integer(
            np.array(significands, np.uint64), exponent, negative, target, rounding, sticky, saturate
        )
        expected = oracle.encode_all(numbers, target.name, rounding.value, bool(saturate))
        assert_patterns(settled(found, target), expected, target)


@EVERY_FORMAT
@EVERY_MODE
def test_round_sum(target: FloatFormat, rounding: Rounding) -> None:
    rng = np.random.default_rng(5)
    high = np.concatenate([hard.values(F64, rng, 700), hard.borders(F64, target, rng, 100)])
    high = high[np.abs(high) < 1e300]
    high[:4] = [0.0, -0.0, 0.0, -0.0]
    with np.errstate(under="ignore"):
        low = high * rng.choice([0.0, 1, -1, 0.75, 2.0**-52, 0.3], high.size)
        low = np.ldexp(low, -rng.integers(0, 140, high.size))
    low[:4] = [0.0, -0.0, -0.0, 0.0]
    cancel = rng.random(high.size) < 0.1
    low[cancel] = -high[cancel]
    tiny = rng.random(high.size) < 0.3
    low[tiny] = np.ldexp(rng.choice([1.0, -1.0], tiny.sum()), -rng.integers(0, 1075, tiny.sum()))
    exponent = np.where(rng.random(high.size) < 0.5, 0, rng.integers(-200, 200, high.size))
    exponent[100:200] = rng.integers(-3000, 3000, 100)
    numbers = []
    for h, w, e in zip(high.view(np.uint64).tolist(), low.view(np.uint64).tolist(), exponent, strict=True):
        sign, m, place, _ = oracle.add(oracle.decode(h, "f64"), oracle.decode(w, "f64"), rounding.value)
        numbers.append((sign, m, place + int(e), False))
    expected = oracle.encode_all(numbers, target.name, rounding.value)
    found = settled(round_sum(high, low, target, rounding, exponent), target)
    assert_patterns(found, expected, target, high, low)


def test_round_sum_passes_infinities_and_nans() -> None:
    high = np.array([np.inf, -np.inf, np.nan])
    low = np.array([1.0, np.inf, 0.0])
    found = round_sum(high[:1], low[:1], F32, Rounding.ZERO)
    assert found.tolist() == [np.inf]
    assert round_sum(high[:2], low[:1], F16, Rounding.ZERO, saturate=True).tolist() == [65504.0, -65504.0]
    assert np.isnan(round_sum(high[1:], low[1:], F32, Rounding.ZERO)).all()


def test_scalars_and_shapes_that_broadcast() -> None:
    high = np.array([[1.0], [2.0]])
    found = round_sum(high, 2.0**-60, F16, Rounding.POSITIVE_INF, np.arange(3))
    assert found.tolist() == [
        [1 + 2.0**-10, 2 + 2.0**-9, 4 + 2.0**-8],
        [2 + 2.0**-9, 4 + 2.0**-8, 8 + 2.0**-7],
    ]
    whole = round_integer(3, 0, True, F32, Rounding.ZERO)
    assert whole.shape == ()
    assert whole == -3.0


@settings(max_examples=300, deadline=None)
@given(
    x=st.floats(width=64),
    name=st.sampled_from([f.name for f in FLOAT_FORMATS]),
    rounding=st.sampled_from(list(Rounding)),
    saturate=st.sampled_from([None, True]),
)
def test_round_float_of_anything(x: float, name: str, rounding: Rounding, saturate: bool | None) -> None:
    target = FORMATS[name]
    assert isinstance(target, FloatFormat)
    array = np.array([x])
    number = oracle.decode(int(array.view(np.uint64)[0]), "f64")
    found = settled(round_float(array, F64, target, rounding, saturate), target)
    expected = oracle.encode(number, name, rounding.value, bool(saturate))
    assert int(found.view(target.bits_dtype)[0]) == expected


def test_round_float_takes_f32_and_f64_alone() -> None:
    with pytest.raises(ValueError, match="f16"):
        round_float(np.zeros(1, np.float16), F16, F32, Rounding.ZERO)


@settings(max_examples=300, deadline=None)
@given(
    high=st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300),
    low=st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300),
)
def test_sums_and_products_are_error_free(high: float, low: float) -> None:
    a, b = np.array([high]), np.array([low])

    def exact(*terms: Any) -> tuple[int, int]:
        total = (0, 0, 0, False)
        for term in terms:
            total = oracle.add(total, oracle.decode(int(term.view(np.uint64)[0]), "f64"), "zero")
        m, e = total[1], total[2]
        while m and m % 2 == 0:
            m, e = m // 2, e + 1
        return (-m if total[0] else m), e if m else 0

    s, error = two_sum(a, b)
    assert exact(s, error) == exact(a, b)
    odd = to_odd(s, error)
    assert odd[0] == s[0] if error[0] == 0 else int(odd.view(np.uint64)[0]) & 1 == 1
    if abs(high) >= abs(low):
        assert fast_two_sum(a, b)[1][0] == error[0]
    if 1e-130 < abs(high) < 1e130 and 1e-130 < abs(low) < 1e130:
        p, rest = two_product(a, b)
        x, y = (
            oracle.decode(int(a.view(np.uint64)[0]), "f64"),
            oracle.decode(int(b.view(np.uint64)[0]), "f64"),
        )
        product = oracle.multiply(x, y)
        negative = oracle.negate(product)
        total = oracle.add(oracle.decode(int(p.view(np.uint64)[0]), "f64"), negative, "zero")
        total = oracle.add(total, oracle.decode(int(rest.view(np.uint64)[0]), "f64"), "zero")
        assert total[1] == 0
        upper, lower = split(a)
        assert upper[0] + lower[0] == high


@EVERY_MODE
def test_steps_stop_at_infinity_and_cross_zero_by_sign(rounding: Rounding) -> None:
    for dtype in (np.float32, np.float64):
        largest, least = np.finfo(dtype).max, np.finfo(dtype).smallest_subnormal
        nearest = np.array([np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 3.0], dtype)
        error = np.array([-1.0, 1.0, least, -least, 0.0, 0.0, np.nan], dtype)
        expected = {
            "nearest_even": [np.inf, -np.inf, 0.0, -0.0],
            "nearest_away": [np.inf, -np.inf, 0.0, -0.0],
            "zero": [largest, -largest, 0.0, -0.0],
            "negative_inf": [largest, -np.inf, 0.0, -least],
            "positive_inf": [np.inf, -largest, least, -0.0],
        }[rounding.value]
        with np.errstate(all="ignore"):
            step_from_nearest(nearest, error, rounding)
        assert nearest.tolist() == [*expected, 1.0, -1.0, 3.0]
        assert np.signbit(nearest[:4]).tolist() == [False, True, False, True]


def test_decompose_and_bit_length() -> None:
    x = hard.values(F64, np.random.default_rng(6), 3000)
    m, e = decompose(x)
    plain = np.isfinite(x) & (x != 0)
    assert (np.abs(m[plain]) >= 1).all()
    assert (np.abs(m[plain]) < 2).all()
    assert (np.ldexp(m[plain], e[plain]) == x[plain]).all()
    assert (m[~plain].view(np.uint64) == x[~plain].view(np.uint64)).all()
    assert (e[~plain] == 0).all()
    whole = np.array(
        [0, 1, 2, 3, 2**53 - 1, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64 - 2**10], np.uint64
    )
    assert bit_length(whole).tolist() == [int(w).bit_length() for w in whole]
    powers = np.array([-1022, -1, 0, 1, 1023])
    assert power_of_two(powers).tolist() == [2.0 ** int(p) for p in powers]
