"""The f32 programs of mathematical functions against MPFR, and at what is no ordinary number.

That they answer what the GPU did in every bit is tested with the probes' recorded answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.tileref.targets.programs import every_pair, largest_error, run
from tileref.numerics.formats import F32

gmpy2 = pytest.importorskip("gmpy2")

UNARY: dict[str, tuple[Callable[[Any], Any], float, float, float]] = {
    "exp": (lambda x: gmpy2.exp(x), -103, 88.7, 2),
    "sinh": (lambda x: gmpy2.sinh(x), -89, 89, 3),
    "cosh": (lambda x: gmpy2.cosh(x), -89, 89, 2),
    "tanh": (lambda x: gmpy2.tanh(x), -10, 10, 2),
    "log": (lambda x: gmpy2.log(x), 0, 10, 1),
    "log2": (lambda x: gmpy2.log2(x), 0, 10, 1),
    "sin": (lambda x: gmpy2.sin(x), -1e6, 1e6, 2),
    "cos": (lambda x: gmpy2.cos(x), -1e6, 1e6, 2),
    "tan": (lambda x: gmpy2.tan(x), -1e6, 1e6, 4),
}
"""Function, range, and the largest error in units of the last place that CUDA's guide documents."""


@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str) -> None:
    function, low, high, bound = UNARY[name]
    rng = np.random.Generator(np.random.PCG64(8))
    x = rng.uniform(low, high, 3000).astype(np.float32)
    x[:1000] = (x[:1000] * 2.0 ** rng.integers(-30, 1, 1000)).astype(np.float32)
    # More than half a unit: a function that is not correctly rounded.
    assert 0.5 < largest_error(name, F32, function, x) <= bound


def test_pow() -> None:
    rng = np.random.Generator(np.random.PCG64(9))
    x = np.exp2(rng.uniform(-6, 6, 3000)).astype(np.float32)
    y = rng.uniform(-20, 20, 3000).astype(np.float32)
    assert 0.5 < largest_error("fpowf", F32, lambda a, b: a**b, x, y) <= 4


def test_atan2() -> None:
    rng = np.random.Generator(np.random.PCG64(10))
    y, x = (rng.standard_normal(3000) * 2.0 ** rng.integers(-20, 20, 3000) for _ in range(2))
    y, x = y.astype(np.float32), x.astype(np.float32)
    assert 0.5 < largest_error("atan2", F32, lambda a, b: gmpy2.atan2(a, b), y, x) <= 3


INF, NAN = np.inf, np.nan
SPECIAL = {
    "exp": [(0.0, 1), (-0.0, 1), (INF, INF), (-INF, 0), (89, INF), (-104, 0), (NAN, NAN)],
    "sinh": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (90, INF), (NAN, NAN)],
    "cosh": [(0.0, 1), (-0.0, 1), (INF, INF), (-INF, INF), (90, INF), (NAN, NAN)],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (INF, 1), (-INF, -1), (1e-40, 1e-40), (NAN, NAN)],
    "log": [
        (1.0, 0.0),
        (0.0, -INF),
        (-0.0, -INF),
        (INF, INF),
        (-1, NAN),
        (-INF, NAN),
        (-1e-40, NAN),
        (NAN, NAN),
    ],
    "log2": [
        (1.0, 0.0),
        (8, 3),
        (0.0, -INF),
        (-0.0, -INF),
        (2.0**-149, -149),
        (INF, INF),
        (-1, NAN),
        (NAN, NAN),
    ],
    "sin": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (1e-40, 1e-40), (NAN, NAN)],
    "cos": [(0.0, 1), (-0.0, 1), (INF, NAN), (-INF, NAN), (NAN, NAN)],
    "tan": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (-1e-40, -1e-40), (NAN, NAN)],
}


@pytest.mark.parametrize("name", SPECIAL)
def test_what_is_no_ordinary_number(name: str) -> None:
    arguments, expected = np.array(SPECIAL[name], np.float32).T.copy()
    found = run(name, F32, arguments)
    same = (found.view(np.uint32) == expected.view(np.uint32)) | np.isnan(expected)
    assert same.all(), list(zip(arguments, found, strict=True))
    assert (found[np.isnan(expected)].view(np.uint32) == 0x7FFFFFFF).all()


def test_powers_of_what_is_no_ordinary_number() -> None:
    """C's table, which numpy's own pow follows: every pair of these."""
    values = [0.0, 1.0, 2.0, 3.0, 0.5, 1.5, 2.0**24, 2.0**25 + 4, 1e-40, INF]
    x, y = every_pair(values, F32)
    with np.errstate(all="ignore"):
        expected = np.power(x.astype(np.float64), y.astype(np.float64)).astype(np.float32)
    found = run("fpowf", F32, x, y)
    extreme = (expected == 0) | ~np.isfinite(expected) | (np.abs(expected) == 1)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    kept = extreme & ~np.isnan(expected)
    np.testing.assert_array_equal(found[kept].view(np.uint32), expected[kept].view(np.uint32))
    assert (np.signbit(found) == np.signbit(expected))[~np.isnan(expected)].all()


def test_angles_of_zeros_and_infinities() -> None:
    values = [0.0, 1.0, INF]
    y, x = every_pair(values, F32)
    expected = np.arctan2(y.astype(np.float64), x.astype(np.float64)).astype(np.float32)
    found = run("atan2", F32, y, x)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    kept = ~np.isnan(expected)
    np.testing.assert_array_equal(found[kept].view(np.uint32), expected[kept].view(np.uint32))


def test_multiples_of_a_quarter_turn() -> None:
    """Where the reduction loses most: the f32 next to k pi / 2, small and beyond the three-part reduction."""
    k = np.concatenate([np.arange(1, 400), 2 ** np.arange(16, 120)]).astype(np.float64)
    x = (k * (np.pi / 2)).astype(np.float32)
    assert largest_error("sin", F32, lambda v: gmpy2.sin(v), x) <= 2
    assert largest_error("cos", F32, lambda v: gmpy2.cos(v), x) <= 2
