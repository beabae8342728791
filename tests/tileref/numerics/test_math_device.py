"""The correctly rounded answers beside recorded answers of an sm_90 GPU, where these are at hand.

The dialect emulates f16 and bf16 mathematics in f32: the GPU answers the f32 result rounded once more, which
is the correctly rounded one unless the f32 result lies halfway between two narrow numbers. f32 and f64 must
stay within the documented bounds.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tileref.numerics import math
from tileref.numerics.bits import bits_of, from_bits, nan_mask
from tileref.numerics.bounds import ulp_bound, ulp_distance
from tileref.numerics.formats import BF16, F16, F32, F64, FloatFormat
from tileref.numerics.math.rounding_test import to_precision

FOLDER = Path(__file__).parents[3].parent / "shared" / "device-answers"
FORMATS = {"float16": F16, "bfloat16": BF16, "float32": F32, "float64": F64}
NAMES = (
    *("exp", "exp2", "log", "log2", "rsqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh"),
    *("atan2", "pow"),
)

pytestmark = pytest.mark.skipif(not (FOLDER / "manifest.json").exists(), reason="no recorded answers here")


def recorded(name: str, dtype: str) -> tuple[list[NDArray[Any]], NDArray[Any]]:
    """The operands and the answer of a case."""
    fmt = FORMATS[dtype]
    prefix = "bin" if name in ("atan2", "pow") else "un"
    case = f"{prefix}_{name}_{dtype}"
    manifest = json.loads((FOLDER / "manifest.json").read_text())
    (entry,) = (entry for entry in manifest["cases"] if entry["name"] == case)
    operands: list[NDArray[Any]] = []
    answers: list[NDArray[Any]] = []
    with np.load(FOLDER / case / "data.npz") as data:
        for parameter in (p for p in entry["params"] if "buffer" in p):
            into, key = (
                (answers, parameter["answer"]) if "answer" in parameter else (operands, parameter["buffer"])
            )
            into.append(from_bits(data[key].view(fmt.bits_dtype), fmt))
    (answer,) = answers
    return operands, answer


def test_the_operands_of_atan2_keep_their_order() -> None:
    (x, y), answer = recorded("atan2", "float32")
    ordinary = np.isfinite(x) & np.isfinite(y) & (np.abs(x) < 1e15) & (np.abs(y) < 1e15)
    assert ordinary.sum() > 1000
    close = np.arctan2(x[ordinary].astype(np.float64), y[ordinary].astype(np.float64))
    np.testing.assert_allclose(answer[ordinary], close, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", NAMES)
def test_narrow_formats_are_equal_but_for_the_second_rounding(name: str, dtype: str) -> None:
    fmt = FORMATS[dtype]
    operands, answer = recorded(name, dtype)
    once = getattr(math, name)(*operands, fmt)
    with np.errstate(invalid="ignore"):
        in_f32 = getattr(math, name)(*(operand.astype(np.float32) for operand in operands), F32)
        twice = to_precision(in_f32.astype(np.float64), fmt).astype(fmt.dtype)
    np.testing.assert_array_equal(nan_mask(twice, fmt), nan_mask(answer, fmt))
    numbers = ~nan_mask(answer, fmt)
    np.testing.assert_array_equal(bits_of(twice, fmt)[numbers], bits_of(answer, fmt)[numbers])
    differ = np.flatnonzero(numbers & (bits_of(once, fmt) != bits_of(twice, fmt)))
    assert differ.size <= 1  # of 4,096
    middle = in_f32[differ].astype(np.float64)
    halfway = (once[differ].astype(np.float64) + twice[differ].astype(np.float64)) / 2
    np.testing.assert_array_equal(middle, halfway)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_wide_formats_are_within_the_documented_bounds(name: str, dtype: str) -> None:
    fmt: FloatFormat = FORMATS[dtype]
    operands, answer = recorded(name, dtype)
    distance = ulp_distance(getattr(math, name)(*operands, fmt), answer, fmt)
    bound = ulp_bound(name, fmt.name)
    assert bound is not None
    assert distance.max() <= bound
