"""The formats' data against their specifications, and against the array types that store them."""

import copy
import pickle

import numpy as np
import pytest

from tests.tileref.numerics import oracle
from tileref.numerics.formats import (
    F32,
    FLOAT_FORMATS,
    FORMATS,
    I1,
    I4,
    INTEGER_FORMATS,
    TF32,
    FloatFormat,
    IntegerFormat,
    Rounding,
)


def test_names_are_the_dialects() -> None:
    assert list(FORMATS) == [
        *("f64", "f32", "tf32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "f4E2M1FN"),
        *("i1", "i4", "i8", "i16", "i32", "i64"),
    ]
    assert [r.value for r in Rounding] == [
        *("nearest_even", "zero", "negative_inf", "positive_inf", "nearest_away"),
    ]


@pytest.mark.parametrize("fmt", FLOAT_FORMATS, ids=lambda f: f.name)
def test_float_format_against_its_layout(fmt: FloatFormat) -> None:
    layout = oracle.LAYOUTS[fmt.name]
    assert (fmt.width, fmt.exponent_width, fmt.bias) == (layout.width, layout.exponent_width, layout.bias)
    assert fmt.precision == layout.fraction_width + 1
    assert (fmt.largest, fmt.canonical_nan) == (layout.largest, layout.canonical_nan)
    assert fmt.has_infinity == (layout.kind == "ieee")
    assert fmt.has_nan == (layout.kind != "finite")
    assert fmt.unused_bits == layout.low_zeros
    assert fmt.bits_dtype.itemsize == fmt.dtype.itemsize
    _, m, e, _ = oracle.decode(fmt.largest, fmt.name)
    assert m.bit_length() + e - 1 == fmt.emax
    _, m, e, _ = oracle.decode(fmt.smallest_normal, fmt.name)
    assert m * 2.0**e == 2.0**fmt.emin


@pytest.mark.parametrize("fmt", [f for f in FLOAT_FORMATS if f.storage_width <= 16], ids=lambda f: f.name)
def test_storage_type_reads_every_pattern_as_the_layout_says(fmt: FloatFormat) -> None:
    patterns = np.arange(1 << fmt.width).astype(fmt.bits_dtype)
    with np.errstate(invalid="ignore"):
        values = patterns.view(fmt.dtype).astype(np.float64)
    for pattern, value in zip(patterns.tolist(), values.tolist(), strict=True):
        sign, m, e, _ = oracle.decode(pattern, fmt.name)
        if m == oracle.NAN:
            assert np.isnan(value)
        else:
            assert value == (np.inf if m == oracle.INF else m * 2.0**e) * (-1) ** sign


def test_tf32_is_an_f32_with_its_low_bits_clear() -> None:
    assert TF32.dtype == F32.dtype
    assert TF32.largest & 0x1FFF == 0
    assert (TF32.exponent_width, TF32.emax, TF32.emin) == (F32.exponent_width, F32.emax, F32.emin)


@pytest.mark.parametrize("fmt", INTEGER_FORMATS, ids=lambda f: f.name)
def test_integer_ranges(fmt: IntegerFormat) -> None:
    assert fmt.maximum - fmt.minimum + 1 == fmt.unsigned_maximum + 1 == 2**fmt.width
    if fmt not in (I1, I4):
        assert np.iinfo(fmt.dtype).min == fmt.minimum
        assert np.iinfo(fmt.unsigned_dtype).max == fmt.unsigned_maximum


@pytest.mark.parametrize("fmt", FORMATS.values(), ids=lambda f: f.name)
def test_copies_are_the_same_object(fmt: FloatFormat | IntegerFormat) -> None:
    assert pickle.loads(pickle.dumps(fmt)) is fmt
    assert copy.deepcopy(fmt) is fmt
