"""Correct rounding in f32 and f64, and of functions of two operands in every format."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.tileref.numerics import math_inputs
from tests.tileref.numerics.math_oracle import BINARY, UNARY, assert_same, expected
from tileref.numerics import math
from tileref.numerics.formats import BF16, F16, F32, F64, FloatFormat
from tileref.numerics.math.arc_tangent import ATAN2
from tileref.numerics.math.exponential import EXP, EXP2
from tileref.numerics.math.hyperbolic import COSH, SINH, TANH
from tileref.numerics.math.logarithm import LOG, LOG2
from tileref.numerics.math.power import POW
from tileref.numerics.math.root import RSQRT
from tileref.numerics.math.trigonometric import COS, SIN, TAN

FUNCTIONS = {f.name: f for f in (EXP, EXP2, LOG, LOG2, RSQRT, SIN, COS, TAN, SINH, COSH, TANH, ATAN2, POW)}
FUNCTIONS["pow"] = FUNCTIONS.pop("fpowf")

wide_formats = pytest.mark.parametrize("fmt", [F32, F64], ids=lambda fmt: fmt.name)


@wide_formats
@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str, fmt: FloatFormat) -> None:
    x = math_inputs.unary(name, fmt, 12_000, seed=1)
    assert_same(getattr(math, name)(x, fmt), expected(name, (x,), fmt), fmt, x)


@pytest.mark.parametrize("fmt", [F16, BF16, F32, F64], ids=lambda fmt: fmt.name)
@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str, fmt: FloatFormat) -> None:
    x, y = math_inputs.binary(name, fmt, 12_000, seed=2)
    assert_same(getattr(math, name)(x, y, fmt), expected(name, (x, y), fmt), fmt, x, y)


@wide_formats
@pytest.mark.parametrize("name", UNARY)
def test_results_near_a_halfway_point(name: str, fmt: FloatFormat) -> None:
    """Of many random lanes, those whose true value the approximation puts nearest to a halfway point."""
    rng = np.random.default_rng(3)
    x = (rng.choice([-1.0, 1.0], 1 << 17) * 2.0 ** rng.uniform(-10, 6, 1 << 17)).astype(fmt.dtype)
    if name in ("log", "log2", "rsqrt"):
        x = np.abs(x)
    x = x[np.argsort(_distance_to_halfway(name, x, fmt))[:300]]
    assert_same(getattr(math, name)(x, fmt), expected(name, (x,), fmt), fmt, x)


def _distance_to_halfway(name: str, x: NDArray[Any], fmt: FloatFormat) -> NDArray[np.float64]:
    """In ulps, of the function's own approximations."""
    function = FUNCTIONS[name]
    if fmt is F32:
        exact = np.abs(function.narrow(x.astype(np.float64)))
        rounded = exact.astype(np.float32)
        steps = (exact - rounded.astype(np.float64)) / np.spacing(rounded)
    else:
        (high, low), _ = function.wide(x)
        steps = low / np.spacing(high)
    return np.asarray(np.abs(np.abs(steps) - 0.5))


@pytest.mark.parametrize("fmt", [F16, BF16, F32, F64], ids=lambda fmt: fmt.name)
def test_powers_exactly_halfway(fmt: FloatFormat) -> None:
    """Odd numbers whose power has one bit more than the format, and their neighbours and scalings."""
    x, y = [], []
    for power in (2, 3, 4, 5, 7, 11, 16, 24, 33):
        low, high = 2 ** (fmt.precision / power), 2 ** ((fmt.precision + 1) / power)
        odd = np.arange(int(low) | 1, int(high) + 1, 2, dtype=np.float64)
        for m in odd[:: max(1, odd.size // 60)]:
            for scaled in (m, -m, m * 2.0**-3, m + 1, m + 2):
                x.append(scaled)
                y.append(float(power))
    for root, numerator in ((2, 3), (4, 5), (2, 5), (8, 9)):  # (m^root)^(numerator / root) = m^numerator
        for m in range(3, 2**12, 2):
            if (
                fmt.precision < numerator * np.log2(m) <= fmt.precision + 1
                and root * np.log2(m) < fmt.precision
            ):
                x.append(float(m**root))
                y.append(numerator / root)
    bases = np.array(x).astype(fmt.dtype)
    powers = np.array(y).astype(fmt.dtype)
    assert_same(math.pow(bases, powers, fmt), expected("pow", (bases, powers), fmt), fmt, bases, powers)


@wide_formats
@given(st.data())
def test_any_operand(fmt: FloatFormat, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(UNARY + BINARY))
    number = st.floats(width=64 if fmt is F64 else 32)
    count = 2 if name in BINARY else 1
    lanes = data.draw(st.lists(st.tuples(*[number] * count), min_size=1, max_size=4))
    operands = tuple(np.array(column).astype(fmt.dtype) for column in zip(*lanes, strict=True))
    got = getattr(math, name)(*operands, fmt)
    assert_same(got, expected(name, operands, fmt), fmt, *operands)
