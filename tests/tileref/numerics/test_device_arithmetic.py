"""Arithmetic and conversions against bits that an sm_90 GPU answered, where the recordings are at hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tileref import numerics as n
from tileref.numerics.bits import nan_mask
from tileref.numerics.formats import (
    BF16,
    F8E4M3FN,
    F8E5M2,
    F16,
    F32,
    F64,
    I8,
    I32,
    I64,
    FloatFormat,
    IntegerFormat,
)

pytestmark = pytest.mark.filterwarnings("error")

Array = NDArray[Any]

ANSWERS = Path(__file__).parents[4] / "shared" / "device-answers"
NAMES: dict[str, FloatFormat | IntegerFormat] = {
    "float64": F64,
    "float32": F32,
    "float16": F16,
    "bfloat16": BF16,
    "float8_e4m3fn": F8E4M3FN,
    "float8_e5m2": F8E5M2,
    "int8": I8,
    "int32": I32,
    "int64": I64,
}


def floored_mod(a: Array, b: Array, fmt: FloatFormat) -> Array:
    """Python's modulo as the recorded kernels compute it: remf, and b added where the signs differ."""
    rest = n.remf(a, b, fmt)
    zero = np.zeros((), fmt.dtype)
    fix = n.cmpf(rest, zero, fmt, "less_than", True) ^ n.cmpf(b, zero, fmt, "less_than", True)
    fix &= n.cmpf(rest, zero, fmt, "not_equal", False)
    return np.where(fix, n.addf(rest, b, fmt), rest)


OPERATIONS: dict[str, Callable[..., Array]] = {
    "bin_add": n.addf,
    "bin_mul": n.mulf,
    "bin_div": n.divf,
    "bin_max": n.maxf,
    "bin_min": n.minf,
    "bin_mod": floored_mod,
    "un_sqrt": n.sqrt,
    "un_floor": n.floor,
    "un_ceil": n.ceil,
}


def cases(prefixes: tuple[str, ...]) -> list[str]:
    found = sorted(p.name for p in ANSWERS.glob("*") if p.name.startswith(prefixes))
    return found or ["absent"]


def load(case: str) -> Any:
    if case == "absent":
        pytest.skip("no recorded answers beside the repository")
    return np.load(ANSWERS / case / "data.npz", allow_pickle=False)


def stored(x: Array, fmt: FloatFormat | IntegerFormat) -> Array:
    """A recorded array, bfloat16 and 8-bit floats being recorded as unsigned integers."""
    return x.view(fmt.dtype)


def assert_answers(found: Array, answer: Array, fmt: FloatFormat | IntegerFormat, defined: Array) -> None:
    """Equal bits on defined lanes; NaN patterns are a model's matter, and any NaN does for a NaN."""
    unsigned = np.dtype(f"u{found.dtype.itemsize}")
    differ = (found.view(unsigned) != answer.view(unsigned)) & defined
    if isinstance(fmt, FloatFormat):
        differ &= ~(nan_mask(found, fmt) & nan_mask(stored(answer, fmt), fmt))
    assert not differ.any(), f"{differ.sum()} lanes differ, the first is {np.nonzero(differ)[0][0]}"


@pytest.mark.parametrize("case", cases(tuple(f"{name}_" for name in OPERATIONS)))
def test_arithmetic(case: str) -> None:
    data = load(case)
    kind, operation, name = case.split("_", 2)
    fmt = NAMES[name]
    assert isinstance(fmt, FloatFormat)
    count = 2 if kind == "bin" else 1
    operands = [stored(data[f"arg{i}"], fmt) for i in range(count)]
    found = OPERATIONS[f"{kind}_{operation}"](*operands, fmt)
    assert_answers(found, data[f"arg{count}_answer"], fmt, np.ones(found.shape, np.bool_))


@pytest.mark.parametrize("case", cases(("cast_",)))
def test_conversion(case: str) -> None:
    data = load(case)
    source, target = next((NAMES[a], NAMES[b]) for a in NAMES for b in NAMES if case == f"cast_{a}_{b}")
    x = stored(data["arg0"], source)
    undefined = None
    if isinstance(source, IntegerFormat):
        assert isinstance(target, FloatFormat)
        found = n.itof(x, source, target)
    elif isinstance(target, IntegerFormat):
        found, undefined = n.ftoi(x, source, target)
    else:
        found = n.ftof(x, source, target, saturate=True if target.width == 8 else None)
    defined = np.ones(found.shape, np.bool_) if undefined is None else ~undefined
    assert_answers(found, data["arg1_answer"], target, defined)
