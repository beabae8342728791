"""Tiers: predicted from the operations on the way to each output, with bounds that hold."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corpora
import tileir
import tileref
from difftest.errors import Unmeasured, rules
from difftest.errors.uncertain import Uncertain, interval, join, lost
from difftest.tiers import Tier, predict
from tileref import Explanation

WHY = frozenset({Explanation(False, "exp", ("f32",), "not known")})
UNIT = rules.unit_of("f32")


def tiers(name: str, model: str = "sm_90") -> list[Tier]:
    (case,) = corpora.load(name)
    claims = tileref.model(model) if model == "sm_90" else Unmeasured(tileref.model(model))
    found = predict(tileir.read(case.kernel), case.entry, case.grid, case.arguments(), claims)
    return [found[i] for i in case.outputs]


def test_exact_operations_make_exact_outputs() -> None:
    for name in (
        "binary/add_f32",
        "integer/arithmetic_i32",
        "move/transpose_f16",
        "loop/collatz_i32",
        "loop/dot_f32",
    ):
        assert all(t.name == "exact" for t in tiers(name)), name


def test_one_operation_has_its_own_bound() -> None:
    (tier,) = tiers("unary/exp_approx_f32", "spec")
    assert tier.name == "tolerance"
    assert tier.ulps == 123
    assert any(b.startswith("exp f32") for b in tier.because)


def test_errors_travel() -> None:
    (direct,) = tiers("unary/tanh_approx_f32", "spec")
    (after,) = tiers("model/gelu_f32", "spec")
    assert direct.ulps is not None
    assert after.bounded
    assert (after.ulps, after.name) == (None, "tolerance")
    assert any("tanh" in b for b in after.because)


def test_a_target_without_a_model_claims_less() -> None:
    (measured,), (unmeasured,) = tiers("reduce/sum_f32_2048"), tiers("reduce/sum_f32_2048", "spec")
    assert (measured.name, unmeasured.name) == ("exact", "tolerance")
    assert unmeasured.bounded
    assert [t.name for t in tiers("binary/add_f32", "spec")] == ["exact"]
    (math_tier,) = tiers("unary/exp_f16", "spec")
    assert math_tier.ulps == 1


def test_an_output_that_inexact_operations_do_not_reach_stays_exact() -> None:
    """Maximum of exact values beside a sum whose order is open."""
    order_open = [t.name for t in tiers("model/mean_and_variance_f32", "spec")]
    assert order_open == ["tolerance", "tolerance"]
    assert [t.name for t in tiers("reduce/extremes_f32", "spec")][:2] == ["exact"] * 2


def test_every_case_is_predicted_and_bounds_are_not_one_number() -> None:
    bounds = set()
    for case in corpora.load("model/*"):
        for tier in tiers(case.name, "spec"):
            assert tier.name in ("exact", "tolerance")
            if tier.bounded and tier.name == "tolerance":
                bounds.add((tier.ulps, tier.rel, tier.abs))
    assert len(bounds) > 5


def test_unknown_errors_have_no_bound() -> None:
    assert not Tier("tolerance", rel=math.inf).bounded
    assert rules.add(lost(WHY), interval(1, 2), UNIT).error == math.inf
    assert join([lost(WHY), interval(1, 2)]).origins == WHY
    # A divisor that may be zero.
    assert rules.divide(interval(1, 1), Uncertain(-1, 1, 0.0, 0.1, WHY), UNIT).error == math.inf


def test_a_bound_holds_where_it_is_documented() -> None:
    """The approximate division is bounded for divisors up to 2^126; this case has larger ones."""
    (tier,) = tiers("binary/divide_approx_f32", "spec")
    assert not tier.bounded
    (tier,) = tiers("binary/divide_full_f32", "spec")
    assert tier.ulps == 2


def test_exact_operands_stay_exact() -> None:
    a, b = interval(-3, 5), interval(1, 2)
    for result in (
        rules.add(a, b, UNIT),
        rules.multiply(a, b, UNIT),
        rules.divide(a, b, UNIT),
        rules.exponential(a, UNIT),
        rules.root(b, UNIT),
        rules.larger(a, b),
    ):
        assert result.exact
        assert result.error == 0


BINARY: list[tuple[Callable[..., Uncertain], Callable[..., np.ndarray]]] = [
    (lambda a, b: rules.add(a, b, UNIT), np.add),
    (lambda a, b: rules.add(a, b, UNIT, -1.0), np.subtract),
    (lambda a, b: rules.multiply(a, b, UNIT), np.multiply),
    (lambda a, b: rules.divide(a, b, UNIT), np.divide),
    (rules.larger, np.maximum),
    (rules.smaller, np.minimum),
]

UNARY: list[tuple[Callable[..., Uncertain], Callable[..., np.ndarray]]] = [
    (lambda a: rules.root(a, UNIT), lambda x: np.sqrt(np.maximum(x, 0))),
    (lambda a: rules.exponential(a, UNIT), np.exp),
    (lambda a: rules.exponential(a, UNIT, 2.0), np.exp2),
    (lambda a: rules.logarithm(a, UNIT), lambda x: np.log(np.maximum(x, 0))),
    (lambda a: rules.inverse_root(a, UNIT), lambda x: 1 / np.sqrt(np.maximum(x, 0))),
    (lambda a: rules.lipschitz(a, UNIT, -1, 1), np.sin),
    (lambda a: rules.lipschitz(a, UNIT, -1, 1), np.tanh),
    (lambda a: rules.hyperbolic(a, UNIT, even=True), np.cosh),
    (lambda a: rules.hyperbolic(a, UNIT, even=False), np.sinh),
]

errors = st.sampled_from([0.0, 1e-7, 1e-5, 1e-3])
ends = st.floats(-8, 8, width=32)


def _values(lo: float, hi: float, u: Uncertain, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Values of an interval, and each of them off by as much as is allowed."""
    rng = np.random.Generator(np.random.PCG64(seed))
    value = rng.uniform(lo, hi, 200)
    value[:2] = lo, hi
    off = (u.rel * np.abs(value) + u.abs) * rng.choice([-1.0, -0.5, 1.0], 200)
    return value, value + off


def _check(result: Uncertain, value: np.ndarray, off: np.ndarray, rounded: bool = True) -> None:
    """Both rounded to f32 are no further apart than the rule says."""
    with np.errstate(all="ignore"):
        model, device = (
            v.astype(np.float32 if rounded else np.float64).astype(np.float64) for v in (value, off)
        )
        good = np.isfinite(model) & np.isfinite(device)
        if not np.isfinite(result.rel + result.abs):
            return
        allowed = (result.rel * np.abs(model) + result.abs) * (1 + 1e-9)
        assert (np.abs(model - device) <= allowed)[good].all()
    # The interval is that of the unrounded value.
    assert (model[good] >= result.lo - abs(result.lo) * 1e-6 - 1e-30).all()
    assert (model[good] <= result.hi + abs(result.hi) * 1e-6 + 1e-30).all()


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(BINARY), ends, ends, ends, ends, errors, errors, errors, errors, st.integers(0, 2**32))
def test_binary_rules_hold(rule, a1, a2, b1, b2, ra, aa, rb, ab, seed) -> None:
    a = Uncertain(min(a1, a2), max(a1, a2), ra, aa, WHY)
    b = Uncertain(min(b1, b2), max(b1, b2), rb, ab, WHY)
    x, x_off = _values(a.lo, a.hi, a, seed)
    y, y_off = _values(b.lo, b.hi, b, seed + 1)
    with np.errstate(all="ignore"):
        picks = rule[1] in (np.maximum, np.minimum)
        _check(rule[0](a, b), rule[1](x, y), rule[1](x_off, y_off), rounded=not picks)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(UNARY), ends, ends, errors, errors, st.integers(0, 2**32))
def test_unary_rules_hold(rule, a1, a2, ra, aa, seed) -> None:
    a = Uncertain(min(a1, a2), max(a1, a2), ra, aa, WHY)
    x, x_off = _values(a.lo, a.hi, a, seed)
    with np.errstate(all="ignore"):
        _check(rule[0](a), rule[1](x), rule[1](x_off))


@settings(max_examples=40, deadline=None)
@given(ends, ends, errors, errors, st.integers(2, 200), st.integers(0, 2**32))
def test_sums_in_another_order_stay_within_the_bound(a1, a2, rel, absolute, count, seed) -> None:
    a = Uncertain(min(a1, a2), max(a1, a2), rel, absolute, WHY)
    rng = np.random.Generator(np.random.PCG64(seed))
    x = rng.uniform(a.lo, a.hi, count)
    off = x + (a.rel * np.abs(x) + a.abs) * rng.choice([-1.0, 1.0], count)
    first = np.float32(0)
    for v in x.astype(np.float32):
        first = np.float32(first + v)
    second = np.float32(0)
    for v in rng.permutation(off.astype(np.float32)):
        second = np.float32(second + v)
    # Rounding the elements themselves to f32 is another half unit each, on both sides.
    inputs = Uncertain(a.lo, a.hi, a.rel + 2 * UNIT.relative, a.abs, WHY)
    result = rules.folded(inputs, count, count, UNIT)
    assert abs(float(first) - float(second)) <= result.rel * abs(float(first)) + result.abs


@pytest.mark.parametrize(
    "name", ["model/softmax_f32", "model/rms_norm_f32", "model/swiglu_f32", "unary/logistic_f32"]
)
def test_bounds_are_small_where_nothing_cancels(name: str) -> None:
    (tier,) = tiers(name, "spec")
    assert tier.bounded
    assert tier.rel < 1e-4
    assert tier.abs < 1e-4
