"""Merged products against every product by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tileref.targets.products_data import KINDS, matrix
from tileref.numerics.formats import F16, F32, F64, FloatFormat
from tileref.targets import sm_90
from tileref.targets.merging import merged, shared
from tileref.targets.products import FusedChain, FusedDot, Product, RoundedChain

RUNS = {"none": (1,) * 6, "all": (6,), "pairs": (2, 2, 2), "threes": (3, 3), "uneven": (1, 3, 2)}
SHAPES = ((16, 8, 32), (8, 16, 32), (4, 32, 16), (1, 64, 16), (64, 1, 16))


def repeated(array: Any, runs: tuple[int, ...]) -> Any:
    return np.repeat(array[: len(runs)], runs, axis=0)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=8), st.integers(0, 5), st.integers(0, 2))
def test_runs_of_the_same_matrix(runs: list[int], row: int, column: int) -> None:
    """The numbers differ in one element alone, wherever that is; a NaN is the same as itself."""
    matrices = np.full((len(runs), 6, 3), np.nan, np.float32)
    matrices[:, row, column] = np.arange(len(runs)) % 2
    found = shared(np.repeat(matrices, runs, axis=0))
    assert found == np.gcd.reduce([int(n) for n in runs])


def test_zeros_of_two_signs_are_not_the_same() -> None:
    assert shared(np.array([[[0.0]], [[-0.0]]], np.float16)) == 1


@given(
    st.sampled_from(sorted(RUNS)),
    st.sampled_from(sorted(RUNS)),
    st.sampled_from([(2, 3, 4), (3, 2, 4), (1, 5, 2), (5, 1, 2), (4, 4, 1)]),
)
def test_an_arrangement_loses_nothing(runs_a: str, runs_b: str, shape: tuple[int, int, int]) -> None:
    """Integers, so that any way to sum gives the same."""
    m, n, k = shape
    rng = np.random.Generator(np.random.PCG64(5))
    a = repeated(rng.integers(-9, 9, (6, m, k)), RUNS[runs_a])
    b = repeated(rng.integers(-9, 9, (6, k, n)), RUNS[runs_b])
    acc = rng.integers(-9, 9, (6, m, n))
    merge = merged(a, b, acc, (2, 3, m, n))
    assert all(each.flags.c_contiguous for each in (merge.a, merge.b, merge.acc))
    assert merge.a.shape[1] <= merge.b.shape[2]
    found = merge.restored(np.matmul(merge.a, merge.b) + merge.acc)
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(found, (np.matmul(a, b) + acc).reshape(2, 3, m, n))


@pytest.mark.parametrize(
    ("product", "source", "target"),
    [
        *((FusedChain(), F16, F32), (FusedChain(), F32, F32), (FusedChain(), F64, F64)),
        *((RoundedChain(), F16, F32), (RoundedChain(), F64, F64)),
        *((FusedDot(16), F16, F32), (FusedDot(8, 13, 13), F16, F32)),
    ],
    ids=str,
)
def test_the_same_bits_as_one_by_one(product: Product, source: FloatFormat, target: FloatFormat) -> None:
    rng = np.random.Generator(np.random.PCG64(6))

    def operand(fmt: FloatFormat, shape: tuple[int, ...], kind: str) -> Any:
        if kind != "NaNs":
            return matrix(rng, fmt, shape, kind)
        numbers, patterns = matrix(rng, fmt, shape, "normal"), matrix(rng, fmt, shape, "bits")
        nans = patterns.view(fmt.bits_dtype) | fmt.bits_dtype.type(fmt.canonical_nan)
        return np.where(rng.random(shape) < 0.2, nans.view(fmt.dtype), numbers)

    for kind in (*KINDS, "NaNs"):
        for m, n, k in SHAPES:
            for runs_a, runs_b in (("none", "threes"), ("pairs", "none"), ("all", "none"), ("uneven", "all")):
                a = repeated(operand(source, (6, m, k), kind), RUNS[runs_a])
                b = repeated(operand(source, (6, k, n), kind), RUNS[runs_b])
                c = matrix(rng, target, (6, m, n), "wide")
                together = product(a, b, c, source, target, sm_90.nan)
                for i in range(6):
                    alone = product(a[i], b[i], c[i], source, target, sm_90.nan)
                    assert together[i].tobytes() == alone.tobytes(), (kind, m, n, k, runs_a, runs_b)
