"""How far a conforming answer may be from the correctly rounded one: documented bounds, as data.

A bound is the largest difference from the correctly rounded (nearest even) result, in units in the last
place. Where the sources disagree the larger number stands, so that a difference beyond a bound is a finding.

Sources:

- DIALECT: the dialect's text on divf, exp, rsqrt and tanh. It refers exp to the CUDA math library, and says
  that f16 and bf16 mathematics is emulated in f32.
- CUDA: the CUDA C++ Programming Guide, appendix "Mathematical Functions", tables of the maximum ulp error of
  the single and double precision functions and of the single precision intrinsics. NVIDIA calls them results
  of extensive but not exhaustive tests. expf is 2 up to release 12 and 1 later; powf was 8 up to release 11
  and is 4 since.
- PTX: the PTX ISA's sqrt.approx.f32 (maximum relative error 2^-23) and tanh.approx.f32 (2^-11). A relative
  error of 2^-n is at most 2^(24 - n) units in the last place of an f32.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from tileref.numerics.bits import Array, bits_of, nan_mask
from tileref.numerics.formats import FloatFormat, Rounding

_IEEE = frozenset(mode.value for mode in Rounding)

EXACT_OPERATIONS = frozenset(
    {
        *("addf", "subf", "mulf", "divf", "fma", "sqrt", "remf"),
        *("absf", "negf", "maxf", "minf", "floor", "ceil", "ftof"),
    }
)
"""Correctly rounded, or exact, in every format and IEEE rounding (DIALECT: native IEEE 754 arithmetic)."""

# CUDA. In f32 and f64, by the dialect's names.
_F32 = {
    "exp": 2.0,
    "exp2": 2.0,
    "log": 1.0,
    "log2": 1.0,
    "rsqrt": 2.0,
    "sin": 2.0,
    "cos": 2.0,
    "tan": 4.0,
    "sinh": 3.0,
    "cosh": 2.0,
    "tanh": 2.0,  # DIALECT says so too, of rounding full
    "atan2": 3.0,
    "pow": 4.0,
}
_F64 = {
    "exp": 1.0,
    "exp2": 1.0,
    "log": 1.0,
    "log2": 1.0,
    "rsqrt": 1.0,
    "sin": 2.0,
    "cos": 2.0,
    "tan": 2.0,
    "sinh": 2.0,
    "cosh": 1.0,
    "tanh": 1.0,  # DIALECT says so too, of rounding full
    "atan2": 2.0,
    "pow": 2.0,
}
# DIALECT: computed in f32 and rounded once more. A few f32 units are far below half a unit of f16 or bf16, so
# the second rounding lands on the correctly rounded number or on its neighbour.
_HALF = dict.fromkeys(_F32, 1.0)

_BOUNDS: MappingProxyType[str, dict[str, float]] = MappingProxyType(
    {"f16": _HALF, "bf16": _HALF, "f32": _F32, "f64": _F64}
)

_APPROXIMATE: MappingProxyType[tuple[str, str, str], float] = MappingProxyType(
    {
        # DIALECT: for |rhs| in [2^-126, 2^126]. Above 2^126 the answer is 0, or NaN for an infinite lhs.
        ("divf", "f32", "approx"): 2.0,
        ("divf", "f32", "full"): 2.0,  # DIALECT: over the full range
        # CUDA: 2 + floor(|1.173 x|), at its largest where the result is neither 0 nor infinite, |x| < 104.
        ("exp", "f32", "approx"): 123.0,
        ("sqrt", "f32", "approx"): 2.0,  # PTX
        ("tanh", "f32", "approx"): 8192.0,  # PTX
    }
)


def ulp_bound(operation: str, fmt_name: str, rounding: str | None = None) -> float | None:
    """The documented largest error in units in the last place, or None where no source gives one.

    ``operation`` and ``fmt_name`` are the dialect's names ("fpowf" is "pow"), ``rounding`` its spelling of
    the rounding mode, None for the operation's default.
    """
    operation = {"fpowf": "pow"}.get(operation, operation)
    if rounding == "approx" or (rounding == "full" and operation == "divf"):
        return _APPROXIMATE.get((operation, fmt_name, rounding))
    if operation in EXACT_OPERATIONS and (rounding is None or rounding in _IEEE):
        return 0.0
    if rounding in (None, "full"):
        return _BOUNDS.get(fmt_name, {}).get(operation)
    return None


def ulp_distance(a: Array, b: Array, fmt: FloatFormat) -> NDArray[np.float64]:
    """How many steps apart a and b are in the order of the format's values, both arrays of ``fmt.dtype``.

    The two zeros are one value, and infinity is one step beyond the largest number. Two NaNs are 0 apart,
    a NaN and a number infinitely far. Exact up to 2^53 steps, and rounded above.
    """
    a, b = np.broadcast_arrays(a, b)
    first, second = _position(a, fmt), _position(b, fmt)
    # Wrapping subtraction of the smaller from the larger, read unsigned, is exact up to 2^64.
    low, high = np.minimum(first, second), np.maximum(first, second)
    steps = np.subtract(high, low).view(np.uint64) >> np.uint64(fmt.unused_bits)
    a_nan, b_nan = nan_mask(a, fmt), nan_mask(b, fmt)
    return np.where(a_nan | b_nan, np.where(a_nan & b_nan, 0.0, np.inf), steps.astype(np.float64))


def _position(x: Array, fmt: FloatFormat) -> NDArray[np.int64]:
    """The place of x in the order of the format's values, counted from zero."""
    bits = bits_of(np.ascontiguousarray(x), fmt)
    magnitude = np.asarray(bits & fmt.bits_dtype.type(fmt.magnitude_mask)).astype(np.int64)
    negative = np.not_equal(bits & fmt.bits_dtype.type(fmt.sign_bit), 0)
    return np.asarray(np.where(negative, np.negative(magnitude), magnitude))
