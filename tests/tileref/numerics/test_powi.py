"""fpowi against the same sequence of products in MPFR, one rounding each."""

from __future__ import annotations

from typing import Any

import gmpy2
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.tileref.numerics import hard, oracle
from tests.tileref.numerics.agree import assert_patterns
from tileref import numerics as n
from tileref.numerics.formats import BF16, F8E5M2, F16, F32, F64, FloatFormat

pytestmark = pytest.mark.filterwarnings("error")


def sequence(x: float, power: int, name: str) -> Any:
    """Right-to-left binary exponentiation in MPFR, rounding every product to the format."""
    context = oracle.mpfr_context(name, "nearest_even")
    result, square, left = gmpy2.mpfr(1), gmpy2.mpfr(x, 53), abs(power)
    while left:
        if left & 1:
            result = context.mul(result, square)
        square = context.mul(square, square)
        left >>= 1
    if power >= 0:
        return result
    # The method ``div`` of a context rounds to the thread's precision up to gmpy2 2.2.1.
    with gmpy2.context(context):
        return gmpy2.div(gmpy2.mpfr(1), result)


@pytest.mark.parametrize("integer", [np.int8, np.int16, np.int32])
@pytest.mark.parametrize("fmt", [F64, F32, F16, BF16], ids=lambda f: f.name)
def test_fpowi(fmt: FloatFormat, integer: type[np.signedinteger[Any]]) -> None:
    rng = np.random.default_rng(41)
    a = hard.values(fmt, rng, 500)
    # Bases near one, whose high powers stay in range.
    a[250:] = (1 + rng.normal(0, 0.01, 250)).astype(fmt.dtype) * rng.choice([-1, 1], 250).astype(fmt.dtype)
    limits = np.iinfo(integer)
    small = rng.integers(-12, 13, a.size)
    large = rng.integers(limits.min, limits.max + 1, a.size)
    power = np.where(rng.random(a.size) < 0.7, small, large).astype(integer)
    power[:4] = [limits.min, limits.max, 0, -1]
    # Half precision is computed in f32 and rounded at the end.
    steps = fmt.name if fmt in (F64, F32) else "f32"
    wide = a if fmt is F64 else n.ftof(a, fmt, F64)
    exact = np.array(
        [float(sequence(x, p, steps)) for x, p in zip(wide.tolist(), power.tolist(), strict=True)]
    )
    numbers = oracle.decode_all(exact.view(np.uint64), "f64")
    expected = oracle.encode_all(numbers, fmt.name, "nearest_even")
    assert_patterns(n.fpowi(a, power, fmt), expected, fmt, a, power)


def test_power_zero_is_one_for_every_base() -> None:
    a = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 2.0])
    assert n.fpowi(a, np.zeros(6, np.int32), F64).tolist() == [1.0] * 6


def test_i1_is_read_signed() -> None:
    a = np.array([4.0, 4.0, 0.0, -0.0], np.float32)
    assert n.fpowi(a, np.array([True, False, True, True]), F32).tolist() == [0.25, 1.0, np.inf, -np.inf]


def test_least_powers() -> None:
    a = np.array([1.0, -1.0, 2.0, 0.5, -0.0])
    for integer in (np.int8, np.int16, np.int32):
        power = np.full(5, np.iinfo(integer).min, integer)
        big = {np.int8: 2.0**128, np.int16: np.inf, np.int32: np.inf}[integer]
        assert n.fpowi(a, power, F64).tolist() == [1.0, 1.0, 1 / big, big, np.inf]


def test_shapes_and_refusals() -> None:
    a: NDArray[Any] = np.array([[2.0], [3.0]], np.float32)
    power = np.array([0, 1, 2, -1], np.int8)
    found = n.fpowi(a, power, F32)
    assert found.tolist() == [[1, 2, 4, 0.5], [1, 3, 9, float(np.float32(1) / np.float32(3))]]
    assert n.fpowi(np.float32(3), np.int32(2), F32).shape == ()
    with pytest.raises(TypeError, match="uint8"):
        n.fpowi(a, power.view(np.uint8), F32)
    with pytest.raises(TypeError, match="int64"):
        n.fpowi(a, power.astype(np.int64), F32)
    with pytest.raises(ValueError, match="f8E5M2"):
        n.fpowi(a.astype(F8E5M2.dtype), power, F8E5M2)
