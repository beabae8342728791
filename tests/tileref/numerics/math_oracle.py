"""The correctly rounded value of a function, found another way than the code under test finds it.

MPFR evaluates at a precision far beyond the format's and plain Python integers do the rounding, asking for
more bits while a halfway point is too near to tell. A result that MPFR reports as exact is rounded as the
exact number it is, ties to even.
"""

from __future__ import annotations

import math
from typing import Any

import gmpy2
import numpy as np
from numpy.typing import NDArray

from tileref.numerics.bits import bits_of, nan_mask
from tileref.numerics.formats import FloatFormat

MPFR_NAMES = {"rsqrt": "rec_sqrt"}

UNARY = ("exp", "exp2", "log", "log2", "rsqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")
BINARY = ("atan2", "pow")


def correctly_rounded(name: str, lane: tuple[float, ...], fmt: FloatFormat) -> float:
    """The result for one lane of float64 operands, as a float64."""
    if name == "rsqrt" and lane[0] == 0.0:
        return math.copysign(math.inf, lane[0])  # 1 / sqrt(-0): MPFR chooses otherwise
    bits = 160
    while True:
        context = gmpy2.context(precision=bits, emax=1 << 20, emin=-(1 << 20))
        value = getattr(context, MPFR_NAMES.get(name, name))(*lane)
        rounded = _rounded(value, fmt)
        if rounded is not None:
            return rounded
        bits *= 4


def _rounded(value: Any, fmt: FloatFormat) -> float | None:
    """The nearest number of the format, or None where the value's own error may decide."""
    if gmpy2.is_nan(value) or gmpy2.is_infinite(value) or gmpy2.is_zero(value):
        return float(value)
    mantissa, exponent = (int(part) for part in value.as_mantissa_exp())
    sign, mantissa = (-1 if mantissa < 0 else 1), abs(mantissa)
    leading = mantissa.bit_length() - 1 + exponent
    quantum = max(leading, fmt.emin) - fmt.precision + 1
    if exponent >= quantum:
        assert value.rc == 0, "a short result that is not exact"
        count = mantissa << (exponent - quantum)
    else:
        shift = quantum - exponent
        count, rest, half = mantissa >> shift, mantissa & ((1 << shift) - 1), 1 << (shift - 1)
        if value.rc != 0 and abs(rest - half) <= 2:
            return None
        count += rest > half or (rest == half and count & 1)
    if count.bit_length() + quantum > fmt.emax + 1:
        return sign * math.inf
    return math.copysign(math.ldexp(count, quantum), sign)


def expected(name: str, operands: tuple[NDArray[Any], ...], fmt: FloatFormat) -> NDArray[Any]:
    """The results for arrays of one shape, as an array of the format."""
    with np.errstate(invalid="ignore"):  # signalling NaNs
        columns = [operand.astype(np.float64).ravel().tolist() for operand in operands]
        results = [correctly_rounded(name, lane, fmt) for lane in zip(*columns, strict=True)]
        return np.array(results, np.float64).astype(fmt.dtype).reshape(operands[0].shape)


def assert_same(got: NDArray[Any], want: NDArray[Any], fmt: FloatFormat, *operands: NDArray[Any]) -> None:
    """Every lane the same pattern, NaN for NaN."""
    assert got.dtype == fmt.dtype
    assert got.shape == want.shape
    got_nan, want_nan = nan_mask(got, fmt), nan_mask(want, fmt)
    same = np.where(got_nan | want_nan, got_nan & want_nan, bits_of(got, fmt) == bits_of(want, fmt))
    if not same.all():
        lanes = np.flatnonzero(~same)
        first = lanes[0]
        inputs = [float(operand.ravel()[first]).hex() for operand in operands]
        found = (float(got.ravel()[first]).hex(), float(want.ravel()[first]).hex())
        raise AssertionError(f"{lanes.size} lanes differ; the first of {inputs}: found, expected {found}")
