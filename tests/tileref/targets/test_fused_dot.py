"""The fast steps of a tensor core's dot product against the plain ones and against rationals, bit for bit."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.tileref.targets.products_data import KINDS, matrix
from tileref.numerics.formats import BF16, F8E4M3FN, F8E5M2, F16, F32, TF32, FloatFormat
from tileref.targets import dot_steps, dot_steps_f32, patches
from tileref.targets.dot_steps import Alignment
from tileref.targets.products import FusedDot
from tileref.targets.sm_90 import nan

SHAPES = (
    ((), 16, 16, 16),
    ((), 64, 64, 32),
    ((3,), 32, 8, 64),
    ((2, 3), 8, 128, 16),
    ((5,), 16, 16, 8),
    ((), 1, 4, 128),
)
"""Leading extents, M, N, K."""
SCHEMES = (
    FusedDot(step=16),
    FusedDot(step=8),
    FusedDot(step=32, fraction=13, kept=13, late=128),
    FusedDot(step=32, fraction=13, kept=13),
)


def bits(array: np.ndarray[Any, Any]) -> bytes:
    return np.ascontiguousarray(array).tobytes()


def product(scheme: FusedDot, a: Any, b: Any, c: Any, source: FloatFormat, target: FloatFormat) -> Any:
    with np.errstate(all="ignore"):
        return scheme(a, b, c, source, target, nan)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", [F32, F16], ids=lambda f: f.name)
@pytest.mark.parametrize("source", [F16, BF16, TF32, F8E4M3FN, F8E5M2], ids=lambda f: f.name)
def test_fast_steps_answer_the_plain_bits(
    source: FloatFormat, target: FloatFormat, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.Generator(np.random.PCG64(len(kind) * 31 + source.width))
    for lead, m, n, k in SHAPES:
        a, b = matrix(rng, source, (*lead, m, k), kind), matrix(rng, source, (*lead, k, n), kind)
        for scheme in SCHEMES:
            for other in ("normal", "zeros", kind):
                c = matrix(rng, target, (*lead, m, n), other)
                fast = product(scheme, a, b, c, source, target)
                with monkeypatch.context() as patch:
                    patch.setattr(dot_steps_f32, "applies", lambda *_: False)
                    plain = product(scheme, a, b, c, source, target)
                assert bits(fast) == bits(plain), (lead, m, n, k, scheme, other)


def test_the_fast_steps_are_used() -> None:
    rng = np.random.Generator(np.random.PCG64(3))
    for source in (F16, BF16, TF32, F8E4M3FN, F8E5M2):
        for kind in ("normal", "wide", "zeros", "empty"):
            a, b = matrix(rng, source, (1, 16, 32), kind), matrix(rng, source, (1, 32, 16), kind)
            wide_a, wide_b = a.astype(np.float32), b.astype(np.float32)
            if np.isfinite(wide_a).all() and np.isfinite(wide_b).all():
                how = Alignment(16, 25, 23, F32)
                assert dot_steps_f32.applies(wide_a, wide_b, np.zeros((1, 16, 16), np.float32), source, how)


def test_operands_that_all_blocks_share() -> None:
    rng = np.random.Generator(np.random.PCG64(4))
    a, b = matrix(rng, F16, (1, 32, 32), "normal"), matrix(rng, F16, (4, 32, 16), "normal")
    c = matrix(rng, F32, (1, 32, 16), "normal")
    together = product(FusedDot(16), a, b, c, F16, F32)
    assert together.shape == (4, 32, 16)
    for i in range(4):
        assert bits(together[i : i + 1]) == bits(product(FusedDot(16), a, b[i : i + 1], c, F16, F32))


@pytest.mark.parametrize("size", [1, 64, 1 << 10, 1 << 20])
def test_the_size_of_patches_changes_nothing(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.Generator(np.random.PCG64(5))
    a, b = matrix(rng, F16, (3, 32, 32), "wide"), matrix(rng, F16, (3, 32, 64), "wide")
    c = matrix(rng, F32, (3, 32, 64), "normal")
    usual = product(FusedDot(16), a, b, c, F16, F32)
    monkeypatch.setattr(patches, "PATCH", size)
    assert bits(product(FusedDot(16), a, b, c, F16, F32)) == bits(usual)


def by_rationals(a: Any, b: Any, c: float, source: FloatFormat, fraction: int) -> float:
    """One step of one element, in exact arithmetic, into f32."""

    def exponent(value: float) -> int:
        return max(int(np.frexp(value)[1]) - 1, source.emin)

    def cut(value: Fraction, unit: Fraction) -> Fraction:
        whole = abs(value) // unit
        return whole * unit * (1 if value > 0 else -1)

    pairs = [(float(x), float(y)) for x, y in zip(a, b, strict=True)]
    there = [exponent(x) + exponent(y) for x, y in pairs if x and y]
    if c:
        there.append(max(int(np.frexp(c)[1]) - 1, -126))
    if not there:
        return 0.0
    unit = Fraction(2) ** (max(there) - fraction)
    total = sum((cut(Fraction(x) * Fraction(y), unit) for x, y in pairs), cut(Fraction(c), unit))
    if not total:
        return 0.0
    place = max(int(np.frexp(float(total))[1]) - 24, -149)
    return float(cut(total, Fraction(2) ** place))


@pytest.mark.parametrize("kind", ["normal", "wide", "zeros", "any exponent"])
@pytest.mark.parametrize("source", [F16, BF16, F8E5M2], ids=lambda f: f.name)
def test_one_step_in_rationals(source: FloatFormat, kind: str) -> None:
    rng = np.random.Generator(np.random.PCG64(6))
    a, b = matrix(rng, source, (4, 16), kind), matrix(rng, source, (16, 8), kind)
    c = matrix(rng, F32, (4, 8), "wide")
    a, b = (np.where(np.isfinite(x.astype(np.float32)), x, x.dtype.type(1)) for x in (a, b))
    found = product(FusedDot(16), a, b, c, source, F32)
    for i in range(4):
        for j in range(8):
            assert found[i, j] == np.float32(by_rationals(a[i], b[:, j], float(c[i, j]), source, 25))


def test_plain_steps_of_operands_that_are_wide() -> None:
    a = np.array([[[2.0**100, 1.0]]])
    b = np.array([[[2.0**26], [1.0]]])
    how = Alignment(16, 25, 23, F32)
    assert not dot_steps_f32.applies(a.astype("f4"), b.astype("f4"), np.zeros((1, 1, 1), "f4"), BF16, how)
    assert dot_steps.dot(a, b, np.zeros((1, 1, 1)), BF16, how)[0, 0, 0] == 2.0**126
