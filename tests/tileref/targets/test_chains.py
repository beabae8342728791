"""Chains of multiplications and additions against themselves written out, one operation at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.tileref.targets.products_data import KINDS, matrix
from tileref.numerics.conversion import ftof
from tileref.numerics.float_arithmetic import addf, fma, mulf
from tileref.numerics.formats import BF16, F8E4M3FN, F8E5M2, F16, F32, F64, FloatFormat
from tileref.numerics.nan import canonical
from tileref.targets import exact_chain, sm_90
from tileref.targets.products import FusedChain, RoundedChain, widened

SHAPES = (
    *(((), 16, 16, 16), ((3,), 32, 8, 64), ((2, 3), 8, 128, 16), ((1,), 1, 1, 4), ((), 64, 256, 8)),
    # Enough of them for a row of each to be summed at once; and one more than go together.
    *(((12,), 8, 16, 32), ((65,), 2, 8, 2)),
)
PAIRS = (
    *((F16, F32), (F16, F16), (BF16, F32), (F32, F32), (F64, F64)),
    *((F8E4M3FN, F32), (F8E4M3FN, F16), (F8E5M2, F32)),
)
RULES = {"spec": canonical, "sm_90": sm_90.nan}


def cases(source: FloatFormat, target: FloatFormat) -> Any:
    rng = np.random.Generator(np.random.PCG64(source.width + target.width))
    for lead, m, n, k in SHAPES:
        for kind in KINDS:
            a, b = matrix(rng, source, (*lead, m, k), kind), matrix(rng, source, (*lead, k, n), kind)
            start = matrix(rng, target, (*lead, m, n), "wide")
            yield a, b, start, kind
        zero = np.zeros_like(start)
        yield a, b, zero, "from nothing"
        yield a, b, np.where(rng.random(zero.shape) < 0.5, start, -zero), "from -0"
        yield a, b, matrix(rng, target, (*lead, m, n), "bits"), "bits"


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("source", "target"), PAIRS, ids=lambda f: f.name)
def test_fused_chain(source: FloatFormat, target: FloatFormat, rule: str) -> None:
    nan = RULES[rule]
    for a, b, c, kind in cases(source, target):
        wide = target if source.precision <= target.precision else F64
        x, y = widened(a, source, wide), widened(b, source, wide)
        expected = np.broadcast_to(c, c.shape)
        for k in range(a.shape[-1]):
            expected = fma(x[..., :, k, None], y[..., k, None, :], expected, target, nan=nan)
        found = FusedChain()(a, b, c, source, target, nan)
        assert found.tobytes() == expected.tobytes(), (a.shape, kind)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("source", "target"), PAIRS, ids=lambda f: f.name)
def test_rounded_chain(source: FloatFormat, target: FloatFormat, rule: str) -> None:
    nan = RULES[rule]
    for a, b, c, kind in cases(source, target):
        work = F64 if target is F64 else F32
        x, y, last = widened(a, source, work), widened(b, source, work), widened(c, target, work)
        total = None
        for k in range(a.shape[-1]):
            product = mulf(x[..., :, k, None], y[..., k, None, :], work, nan=nan)
            total = product if total is None else addf(total, product, work, nan=nan)
        expected = addf(total, last, work, nan=nan)
        if work is not target:
            expected = ftof(expected, work, target)
            nan(expected, (expected,), target, "mmaf")
        found = RoundedChain()(a, b, c, source, target, nan)
        assert found.tobytes() == expected.tobytes(), (a.shape, kind)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_sum_in_another_order_is_noticed(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether numpy walks the steps in order is found out, not believed."""
    rng = np.random.Generator(np.random.PCG64(3))
    a, b = (np.ldexp(rng.integers(-99, 99, s), 0).astype(dtype) for s in ((8, 4, 40), (8, 40, 32)))
    zero, start = np.zeros((8, 4, 32), dtype), np.ones((8, 4, 32), dtype)
    assert exact_chain.applies(a, b, zero)
    assert exact_chain.applies(a, b, start)
    inner = np.einsum

    def backwards(how: str, x: Any, y: Any, **out: Any) -> Any:
        return inner(how, np.ascontiguousarray(x[..., ::-1]), np.ascontiguousarray(y[..., ::-1, :]), **out)

    monkeypatch.setattr(np, "einsum", backwards)
    for asked in (exact_chain._matrices_walk_in_order, exact_chain._rows_walk_in_order):
        asked.cache_clear()
    assert not exact_chain.applies(a, b, zero)
    assert not exact_chain.applies(a, b, start)
    for asked in (exact_chain._matrices_walk_in_order, exact_chain._rows_walk_in_order):
        asked.cache_clear()
