"""Inputs from seeds: the same bits everywhere, and values that are hard."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from corpora import inputs
from corpora.hard import hard_values, truncated
from tileir.errors import TileError
from tileref.numerics.formats import F8E4M3FN, F16, F32, F64, FORMATS, FloatFormat

GOLDEN = {
    ("bits", "f32"): "242bbb3691cc",
    ("moderate", "f16"): "728de3d1eeb8",
    ("hard", "f64"): "b7578e253d13",
    ("range", "i32"): "d6b40584868c",
    ("permutation", "i16"): "f3e5a286531d",
}
"""Beginnings of the hashes of 1000 elements; recorded answers rest on them, so they must never change."""

RECIPES = {
    "bits": {"kind": "bits", "seed": 7},
    "moderate": {"kind": "moderate", "seed": 7},
    "hard": {"kind": "hard", "seed": 7, "role": "lhs"},
    "range": {"kind": "range", "seed": 7, "low": -50, "high": 1000},
    "permutation": {"kind": "permutation", "seed": 7},
}


@pytest.mark.parametrize(("kind", "fmt"), list(GOLDEN))
def test_golden_bits(kind: str, fmt: str) -> None:
    array = inputs.make(fmt, (10, 100), RECIPES[kind])
    assert hashlib.sha256(array.tobytes()).hexdigest()[:12] == GOLDEN[kind, fmt]


@pytest.mark.parametrize("fmt", list(FORMATS))
def test_every_format_has_its_array_type(fmt: str) -> None:
    array = inputs.make(fmt, (3, 5), {"kind": "hard", "seed": 1})
    assert array.dtype == FORMATS[fmt].dtype
    assert array.shape == (3, 5)


def test_hard_values_hold_what_is_hard() -> None:
    values = np.array(hard_values(F32), dtype=np.uint32).view(np.float32)
    assert np.isnan(values).sum() >= 4
    assert np.isinf(values).sum() == 2
    assert {0x00000000, 0x80000000, 0x00000001, 0x007FFFFF, 0x00800000, 0x7F7FFFFF} <= set(hard_values(F32))
    # 1 + half a unit of bf16 is a tie between two bf16 numbers.
    assert 0x3F808000 in hard_values(F32)
    assert len(hard_values(F32)) == len(set(hard_values(F32)))


def test_pairs_of_the_first_hard_values_all_meet() -> None:
    lhs = inputs.make("f16", (4096,), {"kind": "hard", "seed": 1, "role": "lhs"}).view(np.uint16)
    rhs = inputs.make("f16", (4096,), {"kind": "hard", "seed": 1, "role": "rhs"}).view(np.uint16)
    met = set(zip(lhs.tolist(), rhs.tolist(), strict=True))
    first = hard_values(F16)[:40]
    assert all((a, b) in met for a in first for b in first)


@pytest.mark.parametrize("fmt", [F16, F32, F64, F8E4M3FN])
def test_truncation_is_towards_zero(fmt: FloatFormat) -> None:
    rng = np.random.Generator(np.random.PCG64(5))
    for value in (10.0 ** rng.uniform(-12, 12, 300)).tolist():
        pattern = truncated(fmt, value)
        got = float(np.array(pattern, fmt.bits_dtype).view(fmt.dtype).astype(np.float64))
        above = float(np.array(pattern + 1, fmt.bits_dtype).view(fmt.dtype).astype(np.float64))
        assert got <= value
        assert pattern == fmt.largest or above > value


def test_integers_in_float_formats_are_exact() -> None:
    array = inputs.make("f16", (500,), {"kind": "range", "seed": 3, "low": -2048, "high": 2048})
    same = inputs.make("i32", (500,), {"kind": "range", "seed": 3, "low": -2048, "high": 2048})
    assert (array.astype(np.int64) == same).all()
    with pytest.raises(TileError, match="exactly"):
        inputs.make("f16", (500,), {"kind": "range", "seed": 3, "low": 0, "high": 100000})


@pytest.mark.parametrize(
    ("fmt", "recipe"),
    [
        ("f99", {"kind": "bits", "seed": 1}),
        ("f32", {"kind": "nonsense"}),
        ("f32", {"kind": "bits"}),
        ("f32", {"kind": "explicit", "bits": ["0"]}),
        ("f32", {"kind": "fill", "bits": "xyz"}),
    ],
)
def test_a_bad_recipe_is_told(fmt: str, recipe: dict) -> None:
    with pytest.raises(TileError):
        inputs.make(fmt, (4,), recipe)
