"""How every function runs: chunk by chunk, fast, and lane by lane where fast is not sure.

A function is two approximations with proven error bounds, one in float64 for the formats up to f32 and one in
double-double for f64, and MPFR behind both. What an approximation cannot decide, MPFR settles; so a result
depends on nothing but its operands, however lanes are grouped and whatever the processor.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tileref.numerics.bits import from_bits
from tileref.numerics.formats import BF16, F16, F32, F64, FloatFormat
from tileref.numerics.math.double_double import Array, Pair
from tileref.numerics.math.rounding_test import Tested, round_double, round_pair
from tileref.numerics.math.settle import settle
from tileref.numerics.nan import NanRule

CHUNK = 1 << 15
"""Lanes evaluated at once, half as many in f64: the intermediate arrays stay in the cache."""

LEAST = 2.0**-1074
"""The least positive float64."""

FORMATS = (F16, BF16, F32, F64)
"""The formats that the dialect's math functions take."""

Scaled: TypeAlias = tuple[Pair, "Array | None"]
"""Double-doubles and the exponents of two to multiply them by, as ``round_pair`` takes them."""
Known: TypeAlias = tuple[NDArray[np.bool_], Array]
"""Lanes whose results are known beforehand, and those results as float64 (anything elsewhere)."""


def _nothing(*operands: Array) -> None:
    return None


@dataclass(frozen=True, eq=False)
class Function:
    """One mathematical function. Its callables take the operands as one-dimensional float64 arrays, and must
    not modify them.

    The approximations must hold on all lanes that ``known`` leaves, where zeros, infinities and NaNs count as
    exact; elsewhere they may answer anything.
    """

    name: str
    """The dialect's name."""
    mpfr: str
    """gmpy2's name."""
    narrow: Callable[..., Array]
    """float64 approximations, for operands of the formats up to f32."""
    narrow_error: float
    """Bound of their relative error."""
    wide: Callable[..., Scaled]
    """Double-double approximations, for any operands."""
    wide_error: float
    """Bound of their relative error."""
    known: Callable[..., Known | None] = _nothing
    """Special cases, or None when there is none."""
    settle: Callable[[tuple[Array, ...], FloatFormat], Array] | None = None
    """A slow path of the function's own, in place of MPFR's."""


def evaluate(function: Function, operands: tuple[Array, ...], fmt: FloatFormat, nan: NanRule) -> Array:
    """The correctly rounded results: a fresh array in the operands' broadcast shape."""
    if fmt not in FORMATS:
        raise ValueError(
            f"{function.name} in {fmt.name}: expected one of {', '.join(f.name for f in FORMATS)}"
        )
    if any(operand.dtype != fmt.dtype for operand in operands):
        found = ", ".join(str(operand.dtype) for operand in operands)
        raise ValueError(f"{function.name} in {fmt.name}: expected arrays of {fmt.dtype}, found {found}")
    operands = tuple(np.broadcast_arrays(*operands))
    if len(operands) == 1 and fmt.width == 16:
        result = _looked_up(function, operands[0], fmt)
    else:
        result = _evaluated(function, operands, fmt)
    nan(result, operands, fmt, function.name)
    return result


def _evaluated(function: Function, operands: tuple[Array, ...], fmt: FloatFormat) -> Array:
    result = np.empty(operands[0].shape, fmt.dtype)
    flat = result.reshape(-1)
    lanes = [operand.reshape(-1) for operand in operands]
    # NaN and the special cases run through the approximations with the rest and are replaced afterwards.
    with np.errstate(all="ignore"):
        step = CHUNK // 2 if fmt is F64 else CHUNK
        for start in range(0, flat.size, step):
            piece = slice(start, start + step)
            chunk = tuple(lane[piece].astype(np.float64, copy=False) for lane in lanes)
            flat[piece] = _chunk(function, chunk, fmt)
    return result


def _chunk(function: Function, operands: tuple[Array, ...], fmt: FloatFormat) -> Array:
    known = function.known(*operands)
    rounded, undecided = _tested(function, operands, known, fmt)
    if undecided.any():
        lanes = np.flatnonzero(undecided)
        hard = tuple(operand[lanes] for operand in operands)
        rounded[lanes] = function.settle(hard, fmt) if function.settle else settle(function.mpfr, hard, fmt)
    return rounded


def _tested(function: Function, operands: tuple[Array, ...], known: Known | None, fmt: FloatFormat) -> Tested:
    if fmt is F64:
        value, exponent = function.wide(*operands)
        result, undecided = round_pair(value, function.wide_error, exponent)
        if known is not None:
            result = np.where(known[0], known[1], result)
            undecided &= ~known[0]
        return result, undecided
    approximate = function.narrow(*operands)
    if known is not None:
        approximate = np.where(known[0], known[1], approximate)
    return round_double(approximate, function.narrow_error, fmt)


def _looked_up(function: Function, x: Array, fmt: FloatFormat) -> Array:
    return from_bits(np.asarray(np.take(_table(function, fmt), x.view(fmt.bits_dtype))), fmt)


@functools.cache
def _table(function: Function, fmt: FloatFormat) -> NDArray[np.uint16]:
    """The results of a function of one operand for all 65,536 patterns of a format of 16 bits."""
    operands = from_bits(np.arange(1 << 16, dtype=fmt.bits_dtype), fmt)
    table = _evaluated(function, (operands,), fmt).view(np.uint16)
    table.setflags(write=False)
    return table


def all_within(x: Array, low: float, high: float) -> bool:
    """Whether low <= x < high on every lane; a NaN is not. Two reductions cost less than comparing lanes."""
    return bool(x.min() >= low and x.max() < high)


def known_where(mask: Array, values: Array) -> Known | None:
    """``values`` as the known results where ``mask`` holds; None when it holds nowhere."""
    return (mask, values) if mask.any() else None
