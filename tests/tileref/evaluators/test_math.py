"""Mathematical functions of every format against MPFR."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.tileref.kernels import SHAPES, apply, bits, cycle
from tests.tileref.numerics import hard, math_inputs, math_oracle, oracle
from tests.tileref.numerics.test_powi import sequence
from tests.tileref.operations import operation
from tileref.numerics.bits import nan_mask
from tileref.numerics.formats import F32, FORMATS, FloatFormat

FLOATS = ("f16", "bf16", "f32", "f64")
EVERY_FLOAT = pytest.mark.parametrize("element", FLOATS)
LANES = 160

FUNCTIONS = [
    pytest.param(name, marks=operation(name, oracle="mpfr"))
    for name in ("exp", "exp2", "log", "log2", "rsqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")
]


def fmt(element: str) -> FloatFormat:
    found = FORMATS[element]
    assert isinstance(found, FloatFormat)
    return found


def arguments(name: str, element: str) -> NDArray[Any]:
    """Lanes at the function's edges and all over the format; ``LANES`` of them."""
    some = math_inputs.unary(name, fmt(element), 400, seed=3)
    chosen = np.random.default_rng(4).permutation(some.size)[:LANES]
    return some[chosen]


def same(name: str, found: NDArray[Any], given: tuple[NDArray[Any], ...], format_: FloatFormat) -> None:
    expected = math_oracle.expected(name, given, format_)
    math_oracle.assert_same(found, expected, format_, *given)
    nans = nan_mask(found, format_)
    # NaN is one pattern in the plain reading.
    assert set(bits(found)[nans].tolist()) <= {format_.canonical_nan}


@pytest.mark.parametrize("name", FUNCTIONS)
@EVERY_FLOAT
def test_functions_of_one_argument(name: str, element: str) -> None:
    given = arguments(name, element)
    same(name, apply(f"{name} %a : {{R}}", [given], [element]).array, (given,), fmt(element))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_in_any_shape(name: str, shape: tuple[int, ...]) -> None:
    given = arguments(name, "f32")[:32]
    same(name, apply(f"{name} %a : {{R}}", [given], ["f32"], shape=shape).array, (given,), F32)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("exp %a rounding<approx>", marks=operation("exp", oracle="mpfr")),
        pytest.param("exp %a rounding<full>", marks=operation("exp", oracle="mpfr")),
        pytest.param("tanh %a rounding<approx>", marks=operation("tanh", oracle="mpfr")),
        pytest.param("tanh %a rounding<full>", marks=operation("tanh", oracle="mpfr")),
    ],
)
def test_an_approximation_is_exact_in_the_plain_reading(text: str) -> None:
    given = arguments(text.split()[0], "f32")
    same(text.split()[0], apply(f"{text} : {{R}}", [given], ["f32"]).array, (given,), F32)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=operation(n, oracle="mpfr")) for n in ("exp2", "rsqrt")]
)
def test_flushed(name: str) -> None:
    given = arguments(name, "f32")
    given[:6] = [1e-40, -1e-40, -126.5, -127.0, -140.0, -149.0]
    found = apply(f"{name} %a flush_to_zero : {{R}}", [given], ["f32"]).array
    tiny = np.abs(given) < np.float32(2.0**-126)
    used = np.where(tiny, np.copysign(np.float32(0), given), given)
    expected = math_oracle.expected(name, (used,), F32)
    expected = np.where(
        np.abs(expected) < np.float32(2.0**-126), np.copysign(np.float32(0), expected), expected
    )
    math_oracle.assert_same(found, expected, F32, given)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        pytest.param("atan2", "atan2", marks=operation("atan2", oracle="mpfr")),
        pytest.param("fpowf", "pow", marks=operation("fpowf", oracle="mpfr")),
    ],
)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@EVERY_FLOAT
def test_functions_of_two_arguments(name: str, function: str, element: str, shape: tuple[int, ...]) -> None:
    x, y = math_inputs.binary(function, fmt(element), 400, seed=5)
    chosen = np.random.default_rng(6).permutation(x.size)[:LANES]
    given = x[chosen], y[chosen]
    found = apply(f"{name} %a, %b : {{R}}", list(given), [element] * 2, shape=shape).array
    same(function, found, given, fmt(element))


@operation("fpowi", oracle="mpfr")
@pytest.mark.parametrize("integer", ["i8", "i16", "i32"])
@EVERY_FLOAT
def test_fpowi(element: str, integer: str) -> None:
    rng = np.random.default_rng(7)
    base = hard.values(fmt(element), rng, LANES)
    base[LANES // 2 :] = (1 + rng.normal(0, 0.1, LANES // 2)).astype(base.dtype)
    power = rng.integers(-12, 13, LANES).astype(FORMATS[integer].dtype)
    limits = np.iinfo(power.dtype)
    power[:4] = [limits.min, limits.max, 0, -1]
    found = apply("fpowi %a, %b : {A}, {B}", [base, power], [element, integer], element).array
    # Half precision is computed in f32 and rounded at the end.
    steps = element if element in ("f32", "f64") else "f32"
    wide = base.astype(np.float64)
    exact = np.array(
        [float(sequence(x, p, steps)) for x, p in zip(wide.tolist(), power.tolist(), strict=True)]
    )
    numbers = oracle.decode_all(exact.view(np.uint64), "f64")
    np.testing.assert_array_equal(bits(found), oracle.encode_all(numbers, element, "nearest_even"))


@operation("exp2", "exp", "rsqrt", "log2", oracle="written")
def test_results_that_have_no_rounding() -> None:
    def value(text: str, x: float) -> float:
        given = cycle(np.array([x], np.float32), 16)
        (found,) = set(apply(text, [given], ["f32"]).array.tolist())
        return float(found)

    assert value("exp2 %a : {R}", -149.0) == 2.0**-149
    assert value("exp2 %a : {R}", -150.0) == 0.0
    assert value("exp2 %a flush_to_zero : {R}", -127.0) == 0.0
    assert value("exp2 %a flush_to_zero : {R}", -126.0) == 2.0**-126
    assert value("exp %a : {R}", 0.0) == 1.0
    assert value("rsqrt %a : {R}", 0.0) == np.inf
    assert value("rsqrt %a : {R}", -0.0) == -np.inf
    assert value("log2 %a : {R}", 8.0) == 3.0
