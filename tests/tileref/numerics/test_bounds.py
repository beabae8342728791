"""Documented bounds and the distance they are measured in."""

import itertools

import numpy as np
import pytest

from tileref.numerics.bits import from_bits
from tileref.numerics.bounds import ulp_bound, ulp_distance
from tileref.numerics.formats import BF16, F8E4M3FN, F16, F32, F64, TF32, FloatFormat

MATH = ["exp", "exp2", "log", "log2", "rsqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "atan2", "pow"]


def test_every_math_function_has_a_bound_in_every_format() -> None:
    for name, fmt in itertools.product(MATH, ("f16", "bf16", "f32", "f64")):
        bound = ulp_bound(name, fmt)
        assert bound is not None
        assert 1 <= bound <= 4
        assert ulp_bound(name, fmt, "full") == bound
    assert ulp_bound("fpowf", "f32") == ulp_bound("pow", "f32") == 4


def test_the_dialects_own_numbers() -> None:
    assert ulp_bound("tanh", "f32", "full") == 2
    assert ulp_bound("tanh", "f64", "full") == 1
    assert ulp_bound("divf", "f32", "approx") == 2
    assert ulp_bound("divf", "f32", "full") == 2
    assert ulp_bound("divf", "f32", "nearest_even") == 0
    assert ulp_bound("addf", "bf16") == 0


def test_what_nobody_documents_has_no_bound() -> None:
    assert ulp_bound("fpowi", "f32") is None
    assert ulp_bound("exp", "f8E4M3FN") is None
    assert ulp_bound("sin", "f32", "approx") is None
    assert ulp_bound("exp", "f64", "approx") is None
    assert ulp_bound("exp", "f32", "negative_inf") is None


@pytest.mark.parametrize("fmt", [F64, F32, F16, BF16], ids=lambda fmt: fmt.name)
def test_distance_counts_steps(fmt: FloatFormat) -> None:
    infinity = fmt.infinity
    assert infinity is not None
    patterns = [0, 1, 2, fmt.smallest_normal, fmt.largest, infinity]
    values = [*patterns, *(p | fmt.sign_bit for p in patterns)]
    places = [*patterns, *(-p for p in patterns)]
    for (p, i), (q, j) in itertools.product(zip(values, places, strict=True), repeat=2):
        a, b = (from_bits(np.array([v], fmt.bits_dtype), fmt) for v in (p, q))
        assert ulp_distance(a, b, fmt)[0] == float(abs(i - j))
    nan = from_bits(np.array([fmt.canonical_nan, infinity | 1], fmt.bits_dtype), fmt)
    one = np.ones(2, fmt.dtype)
    assert ulp_distance(nan, nan[::-1], fmt).tolist() == [0, 0]
    assert ulp_distance(nan, one, fmt).tolist() == [np.inf, np.inf]


def test_distance_in_formats_without_infinity_or_with_unused_bits() -> None:
    a, b = np.array([448.0, 2.0**-9]).astype(F8E4M3FN.dtype), np.array([416.0, -0.0]).astype(F8E4M3FN.dtype)
    assert ulp_distance(a, b, F8E4M3FN).tolist() == [1, 1]
    x = np.array([1.0], np.float32)
    assert ulp_distance(x, x + np.float32(2.0**-10), TF32).tolist() == [1]


def test_distance_broadcasts() -> None:
    a = np.ones((3, 1), np.float32)
    b = np.nextafter(np.ones(2, np.float32), np.float32(2))
    assert ulp_distance(a, b, F32).shape == (3, 2)
    assert (ulp_distance(a, b, F32) == 1).all()
