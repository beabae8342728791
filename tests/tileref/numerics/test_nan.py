"""NaN rules: canonical by default, and a caller's rule sees what it was promised."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tileref import numerics as n
from tileref.numerics.bits import any_nan, flush, flushed, nan_mask, sign_mask, subnormal_mask
from tileref.numerics.formats import BF16, F8E4M3FN, F16, F32, F64, FLOAT_FORMATS, FloatFormat
from tileref.numerics.nan import canonical


@pytest.mark.parametrize("fmt", FLOAT_FORMATS, ids=lambda f: f.name)
def test_canonical_replaces_every_nan_and_nothing_else(fmt: FloatFormat) -> None:
    rng = np.random.default_rng(2)
    bits = rng.integers(0, 1 << min(fmt.width, 63), 4000).astype(fmt.bits_dtype)
    bits[:100] |= fmt.bits_dtype.type(fmt.magnitude_mask)
    bits &= fmt.bits_dtype.type((1 << fmt.storage_width) - (1 << fmt.unused_bits))
    before = bits.copy()
    x = bits.view(fmt.dtype)
    mask = nan_mask(x, fmt)
    assert mask.any() == fmt.has_nan
    canonical(x, (x,), fmt, "constant")
    assert (bits[mask] == fmt.canonical_nan).all()
    assert (bits[~mask] == before[~mask]).all()


def test_canonical_on_a_scalar_and_on_nothing() -> None:
    x = np.array(-np.nan, np.float32)
    canonical(x, (x,), F32, "constant")
    assert x.view(np.uint32) == 0x7FC00000
    canonical(np.empty((0, 3), np.float32), (), F32, "constant")


@pytest.mark.parametrize("fmt", [F64, F32, F16, BF16], ids=lambda f: f.name)
def test_a_rule_gets_the_operands_the_format_and_the_name(fmt: FloatFormat) -> None:
    seen: list[tuple[Any, ...]] = []

    def rule(
        result: NDArray[Any], operands: tuple[NDArray[Any], ...], fmt: FloatFormat, operation: str
    ) -> None:
        seen.append((operation, fmt, len(operands), all(x.shape == result.shape for x in operands)))
        bits = result.view(fmt.bits_dtype)
        bits[nan_mask(result, fmt)] = fmt.bits_dtype.type(fmt.magnitude_mask)

    a = np.array([[1.0], [np.inf]], fmt.dtype)
    b = np.array([1.0, -np.inf, np.nan], fmt.dtype)
    for operation, arguments in (
        ("addf", (a, b)),
        ("subf", (a, b)),
        ("mulf", (a, b)),
        ("divf", (a, b)),
        ("remf", (a, b)),
        ("maxf", (a, b)),
        ("minf", (a, b)),
        ("fma", (a, b, b)),
        ("sqrt", (b,)),
        ("floor", (b,)),
        ("ceil", (b,)),
        ("fpowi", (b, np.array([1, 2, 3], np.int8))),
    ):
        result = getattr(n, operation)(*arguments, fmt, nan=rule)
        assert seen.pop() == (operation, fmt, len(arguments), True)
        bits = result.view(fmt.bits_dtype)
        # Both operands of maxf and minf must be NaN, and the rule need not be asked.
        if operation not in ("maxf", "minf"):
            assert (bits == fmt.magnitude_mask).any()
    n.ftof(b, fmt, F8E4M3FN, nan=rule)
    assert seen.pop() == ("ftof", F8E4M3FN, 1, True)


def test_masks_and_flushing() -> None:
    x = np.array([0.0, -0.0, 1e-45, -1e-40, 1.2e-38, -np.inf, np.nan], np.float32)
    assert subnormal_mask(x, F32).tolist() == [False, False, True, True, False, False, False]
    assert sign_mask(x, F32).tolist() == [False, True, False, True, False, True, False]
    assert any_nan(x, F32)
    assert not any_nan(x[:-1], F32)
    y = flushed(x, F32)
    assert y.view(np.uint32)[:5].tolist() == [0, 1 << 31, 0, 1 << 31, x.view(np.uint32)[4]]
    assert x[2] != 0
    flush(x, F32)
    assert x.view(np.uint32).tolist() == y.view(np.uint32).tolist()


@pytest.mark.parametrize("fmt", [f for f in FLOAT_FORMATS if f.has_nan], ids=lambda f: f.name)
def test_any_nan_finds_the_one_lane_of_a_long_array(fmt: FloatFormat) -> None:
    """A NaN next to infinity's pattern, and the last one, of either sign, among numbers and infinities."""
    x = np.zeros((3, 70_000), fmt.dtype)
    bits = x.view(fmt.bits_dtype)
    largest = fmt.largest if fmt.infinity is None else fmt.infinity
    bits[0, :2] = largest, (largest | fmt.sign_bit)
    assert not any_nan(x, fmt)
    step = 1 << fmt.unused_bits
    for pattern in (largest + step, fmt.magnitude_mask, largest + step | fmt.sign_bit):
        bits[2, 69_999] = pattern
        assert any_nan(x, fmt)
        assert any_nan(x[:, ::-1], fmt)
