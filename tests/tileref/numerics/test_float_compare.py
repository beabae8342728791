"""maxf, minf and cmpf against the order of exact numbers."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.tileref.numerics import hard, oracle
from tests.tileref.numerics.agree import assert_patterns
from tileref import numerics as n
from tileref.numerics.float_compare import PREDICATES
from tileref.numerics.formats import F32, F64, FLOAT_FORMATS, FloatFormat
from tileref.numerics.nan import canonical

pytestmark = pytest.mark.filterwarnings("error")

BY_NAME = {"ids": lambda f: f.name}


def order(number: oracle.Number) -> tuple[int, int]:
    """A key that sorts numbers, -0 just below +0."""
    sign, m, e, _ = number
    if m == oracle.INF:
        m, e = 1, 2000
    scaled = m << (e + 1100)
    return (-scaled if sign else scaled), -sign


@cache
def operands(fmt: FloatFormat) -> tuple[NDArray[Any], NDArray[Any]]:
    if fmt.width > 8:
        return hard.pairs(fmt, np.random.default_rng(31), 2000)
    every = np.arange(1 << fmt.width).astype(np.uint8).view(fmt.dtype)
    canonical(every, (every,), fmt, "constant")
    return np.repeat(every, every.size), np.tile(every, every.size)


@cache
def comparisons(fmt: FloatFormat) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Where the first of `operands` is less, greater, or one of the two is NaN."""
    x, y = (oracle.decode_all(v.view(fmt.bits_dtype), fmt.name) for v in operands(fmt))
    unordered = np.array([oracle.NAN in (p[1], q[1]) for p, q in zip(x, y, strict=True)])
    # The value alone: zeros of both signs are equal.
    sizes = [(order(p)[0], order(q)[0]) for p, q in zip(x, y, strict=True)]
    return (
        np.array([left < right for left, right in sizes]) & ~unordered,
        np.array([left > right for left, right in sizes]) & ~unordered,
        unordered,
    )


@pytest.mark.parametrize("fmt", FLOAT_FORMATS, **BY_NAME)
@pytest.mark.parametrize("propagate", [False, True])
def test_maxf_and_minf(fmt: FloatFormat, propagate: bool) -> None:
    a, b = operands(fmt)
    x, y = (oracle.decode_all(v.view(fmt.bits_dtype), fmt.name) for v in (a, b))
    for function, greatest in ((n.maxf, True), (n.minf, False)):
        expected = []
        for p, q in zip(x, y, strict=True):
            if oracle.NAN in (p[1], q[1]):
                other = q if p[1] == oracle.NAN else p
                expected.append(oracle.NOT_A_NUMBER if propagate else other)
            else:
                expected.append((max if greatest else min)(p, q, key=order))
        found = function(a, b, fmt, propagate_nan=propagate)
        assert_patterns(found, oracle.encode_all(expected, fmt.name, "zero"), fmt, a, b)


@pytest.mark.parametrize("fmt", FLOAT_FORMATS, **BY_NAME)
@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("predicate", PREDICATES)
def test_cmpf(fmt: FloatFormat, predicate: str, ordered: bool) -> None:
    a, b = operands(fmt)
    less, greater, unordered = comparisons(fmt)
    holds = {
        "equal": ~less & ~greater & ~unordered,
        "not_equal": less | greater,
        "less_than": less,
        "less_than_or_equal": ~greater & ~unordered,
        "greater_than": greater,
        "greater_than_or_equal": ~less & ~unordered,
    }[predicate]
    found = n.cmpf(a, b, fmt, predicate, ordered)
    assert found.dtype == np.bool_
    assert (found == (holds if ordered else holds | unordered)).all()


def test_flush_to_zero() -> None:
    a = np.array([1e-45, -1e-45, -1e-45, 1e-45, 1e-38], np.float32)
    b = np.array([-0.0, 0.0, -1e-40, 1e-44, -1e-39], np.float32)
    assert n.maxf(a, b, F32, flush_to_zero=True).view(np.uint32).tolist() == [0, 0, 1 << 31, 0, 0]
    assert n.minf(a, b, F32, flush_to_zero=True).view(np.uint32).tolist() == [*[1 << 31] * 3, 0, 1 << 31]
    with pytest.raises(ValueError, match="f64"):
        n.maxf(np.zeros(1), np.zeros(1), F64, flush_to_zero=True)


def test_shapes() -> None:
    a = np.arange(6, dtype=np.float32).reshape(2, 3)[:, ::-1]
    assert n.cmpf(a, np.float32(2), F32, "less_than", True).tolist() == [[False, True, True], [False] * 3]
    assert n.cmpf(np.float32(1), np.float32(2), F32, "less_than", True).shape == ()
    with pytest.raises(ValueError, match="unknown predicate 'lt'"):
        n.cmpf(a, a, F32, "lt", True)
