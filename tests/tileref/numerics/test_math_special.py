"""Special values, NaN patterns, flushing, shapes: what the mathematical functions promise beside rounding."""

from __future__ import annotations

import math as libm
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.tileref.numerics.math_oracle import BINARY, UNARY
from tileref.numerics import math
from tileref.numerics.bits import bits_of
from tileref.numerics.formats import BF16, F8E5M2, F16, F32, F64, TF32, FloatFormat

FORMATS = (F16, BF16, F32, F64)
INF, NAN = libm.inf, libm.nan

every_format = pytest.mark.parametrize("fmt", FORMATS, ids=lambda fmt: fmt.name)
pytestmark = pytest.mark.filterwarnings("error")

# C's annex F and IEEE 754, clause 9.2.1.
UNARY_CASES: dict[str, list[tuple[float, float]]] = {
    "exp": [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0)],
    "exp2": [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (3.0, 8.0), (-2.0, 0.25)],
    "log": [(1.0, 0.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (-1.0, NAN), (-INF, NAN)],
    "log2": [
        (1.0, 0.0),
        (0.0, -INF),
        (-0.0, -INF),
        (INF, INF),
        (-1.0, NAN),
        (-INF, NAN),
        (8.0, 3.0),
        (0.125, -3.0),
    ],
    "rsqrt": [(4.0, 0.5), (0.0, INF), (-0.0, -INF), (INF, 0.0), (-1.0, NAN), (-INF, NAN)],
    "sin": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN)],
    "cos": [(0.0, 1.0), (-0.0, 1.0), (INF, NAN), (-INF, NAN)],
    "tan": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN)],
    "sinh": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF)],
    "cosh": [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF)],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0)],
}

PI = libm.pi
ATAN2_CASES = [
    (0.0, 1.0, 0.0), (-0.0, 1.0, -0.0), (0.0, 0.0, 0.0), (-0.0, 0.0, -0.0),
    (0.0, -1.0, PI), (-0.0, -1.0, -PI), (0.0, -0.0, PI), (-0.0, -0.0, -PI),
    (1.0, 0.0, PI / 2), (1.0, -0.0, PI / 2), (-1.0, 0.0, -PI / 2), (-1.0, -0.0, -PI / 2),
    (1.0, INF, 0.0), (-1.0, INF, -0.0), (1.0, -INF, PI), (-1.0, -INF, -PI), (0.0, -INF, PI), (0.0, INF, 0.0),
    (INF, 1.0, PI / 2), (-INF, -1.0, -PI / 2), (INF, 0.0, PI / 2), (-INF, -0.0, -PI / 2),
    (INF, INF, PI / 4), (INF, -INF, 3 * PI / 4), (-INF, INF, -PI / 4), (-INF, -INF, -3 * PI / 4),
    (1.0, 1.0, PI / 4), (1.0, -1.0, 3 * PI / 4), (-1.0, 1.0, -PI / 4), (-1.0, -1.0, -3 * PI / 4),
    (NAN, 1.0, NAN), (1.0, NAN, NAN), (NAN, INF, NAN), (INF, NAN, NAN), (NAN, 0.0, NAN), (0.0, NAN, NAN),
]  # fmt: skip

POW_CASES = [
    (0.0, -3.0, INF), (-0.0, -3.0, -INF), (0.0, -2.0, INF), (-0.0, -2.0, INF), (-0.0, -1.5, INF),
    (0.0, -INF, INF), (-0.0, -INF, INF), (0.0, 3.0, 0.0), (-0.0, 3.0, -0.0), (-0.0, 2.0, 0.0),
    (-0.0, 1.5, 0.0), (0.0, INF, 0.0), (-1.0, INF, 1.0), (-1.0, -INF, 1.0),
    *((1.0, y, 1.0) for y in (0.0, -0.0, 3.0, 0.5, INF, -INF, NAN)),
    *((x, y, 1.0) for x in (0.0, -0.0, 2.0, -2.0, INF, -INF, NAN) for y in (0.0, -0.0)),
    (-2.0, 0.5, NAN), (-0.5, -1.5, NAN), (-INF, 0.5, INF), (-INF, -0.5, 0.0),
    (0.5, -INF, INF), (-0.5, -INF, INF), (2.0, -INF, 0.0), (-2.0, -INF, 0.0),
    (0.5, INF, 0.0), (-0.5, INF, 0.0), (2.0, INF, INF), (-2.0, INF, INF),
    (-INF, -3.0, -0.0), (-INF, -2.0, 0.0), (-INF, 3.0, -INF), (-INF, 2.0, INF), (INF, -1.0, 0.0),
    (INF, 1.0, INF),
    (-2.0, 3.0, -8.0), (-2.0, 2.0, 4.0), (-2.0, -1.0, -0.5), (2.0, 0.5, libm.sqrt(2.0)), (9.0, 1.5, 27.0),
    (NAN, 1.0, NAN), (2.0, NAN, NAN), (NAN, NAN, NAN), (-1.0, NAN, NAN), (0.0, NAN, NAN), (INF, NAN, NAN),
    (0.0, 0.5, 0.0), (INF, 0.5, INF), (NAN, INF, NAN), (-1.0, 2.0**14, 1.0), (-3.0, -(2.0**14), 0.0),
]  # fmt: skip


def check(got: NDArray[Any], want: list[float], fmt: FloatFormat) -> None:
    wanted = np.array(want).astype(fmt.dtype)
    wanted_bits = np.where(np.isnan(want), fmt.bits_dtype.type(fmt.canonical_nan), bits_of(wanted, fmt))
    np.testing.assert_array_equal(bits_of(got, fmt), wanted_bits)


@every_format
@pytest.mark.parametrize("name", UNARY)
def test_unary_special_values(name: str, fmt: FloatFormat) -> None:
    operands, want = zip(*UNARY_CASES[name], (NAN, NAN), (-NAN, NAN), strict=True)
    check(getattr(math, name)(np.array(operands).astype(fmt.dtype), fmt), list(want), fmt)


@every_format
@pytest.mark.parametrize(("name", "cases"), [("atan2", ATAN2_CASES), ("pow", POW_CASES)])
def test_binary_special_values(name: str, cases: list[tuple[float, float, float]], fmt: FloatFormat) -> None:
    first, second, want = (list(column) for column in zip(*cases, strict=True))
    operands = (np.array(column).astype(fmt.dtype) for column in (first, second))
    check(getattr(math, name)(*operands, fmt), want, fmt)


def test_angles_of_any_size() -> None:
    """Values that are known far and wide: a turn has to be subtracted to hundreds of bits."""
    x = np.array([1e22, np.finfo(np.float64).max, 2.0**1023])
    assert math.sin(x[:1], F64)[0] == -0.8522008497671888
    assert math.cos(x[:1], F64)[0] == 0.523214785395139
    assert math.sin(x[1:2], F64)[0] == 0.004961954789184062
    assert math.cos(x[1:2], F64)[0] == -0.9999876894265599
    assert math.tan(x[1:2], F64)[0] == -0.004962015874444895


def test_a_nan_rule_sees_the_operation_and_writes_every_nan() -> None:
    calls: list[tuple[str, int]] = []

    def rule(result: Any, operands: tuple[Any, ...], fmt: FloatFormat, operation: str) -> None:
        calls.append((operation, len(operands)))
        assert all(operand.shape == result.shape for operand in operands)
        bits_of(result, fmt)[np.isnan(result)] = 0x7FFFFFFF

    x = np.array([[-1.0], [np.nan], [4.0]], np.float32)
    assert bits_of(math.log(x, F32, rule), F32).ravel()[:2].tolist() == [0x7FFFFFFF] * 2
    math.pow(x, np.ones(3, np.float32), F32, rule)
    math.atan2(x, x, F32, rule)
    math.exp2(x, F32, rule, flush_to_zero=True)
    assert calls == [("log", 1), ("fpowf", 2), ("atan2", 2), ("exp2", 1)]


def test_flush_to_zero() -> None:
    x = np.array([-126.0, -127.0, -149.0, -150.0], np.float32)
    assert math.exp2(x, F32).tolist() == [2.0**-126, 2.0**-127, 2.0**-149, 0.0]
    assert math.exp2(x, F32, flush_to_zero=True).tolist() == [2.0**-126, 0.0, 0.0, 0.0]
    subnormal = np.array([2.0**-127, -(2.0**-127)], np.float32)
    assert math.rsqrt(subnormal, F32, flush_to_zero=True).tolist() == [np.inf, -np.inf]
    assert math.rsqrt(subnormal[:1], F32)[0] == np.float32(2.0**63.5)
    assert math.exp2(subnormal, F32, flush_to_zero=True).tolist() == [1.0, 1.0]
    for function in (math.exp2, math.rsqrt):
        with pytest.raises(ValueError, match="flush_to_zero applies to f32 alone"):
            function(np.ones(1), F64, flush_to_zero=True)


def test_exponentials_where_results_are_subnormal() -> None:
    x = np.array([-87.3, -87.34, -88.0, -100.0, -103.0, -103.97, -103.98, -104.0], np.float32)
    want = [libm.exp(float(v)) for v in x]  # float64 has ample bits there
    np.testing.assert_array_equal(math.exp(x, F32), np.array(want, np.float32))


@pytest.mark.parametrize("fmt", [TF32, F8E5M2], ids=lambda fmt: fmt.name)
def test_a_format_without_mathematics_is_refused(fmt: FloatFormat) -> None:
    with pytest.raises(ValueError, match="expected one of f16, bf16, f32, f64"):
        math.exp(np.ones(1, fmt.dtype), fmt)


def test_an_array_of_another_type_is_refused() -> None:
    with pytest.raises(ValueError, match="expected arrays of float32, found float32, float64"):
        math.pow(np.ones(1, np.float32), np.ones(1), F32)


@every_format
@pytest.mark.parametrize("name", UNARY + BINARY)
def test_shapes_strides_and_untouched_operands(name: str, fmt: FloatFormat) -> None:
    function = getattr(math, name)
    rng = np.random.default_rng(0)
    first = rng.uniform(0.1, 3.0, (4, 6)).astype(fmt.dtype)
    second = rng.uniform(0.1, 3.0, 6).astype(fmt.dtype)
    operands = (first, second) if name in BINARY else (first,)
    copies = [operand.copy() for operand in operands]
    result = function(*operands, fmt)
    assert result.shape == (4, 6)
    assert result.dtype == fmt.dtype
    assert result.flags.writeable
    for operand, copy in zip(operands, copies, strict=True):
        np.testing.assert_array_equal(bits_of(operand, fmt), bits_of(copy, fmt))
        assert not np.shares_memory(result, operand)
    views = tuple(operand[..., ::-2] for operand in operands)
    np.testing.assert_array_equal(function(*views, fmt), result[..., ::-2])
    scalars = tuple(operand[(0,) * operand.ndim + (...,)] for operand in operands)
    point = function(*scalars, fmt)
    assert isinstance(point, np.ndarray)
    assert point.shape == ()
    assert point == result[0, 0]
    assert function(*(operand[..., :0] for operand in operands), fmt).shape == (4, 0)
