"""What an sm_90 GPU was measured to do.

Measured on an NVIDIA H200 with driver 580.159.04, cubins assembled by tileiras 13.4.92. Every choice says on
which shapes and formats it was measured; anything wider is taken for likely and not claimed.
"""

from __future__ import annotations

from math import prod

import numpy as np

from tileir.attributes import RoundingMode
from tileir.module import Operation
from tileir.ops import floating
from tileir.ops.reduction import Reduce, Scan
from tileir.types import TileType

from ..formats import Array
from ..numerics.bits import bits_of, nan_mask
from ..numerics.bounds import ulp_bound
from ..numerics.formats import BF16, F8E4M3FN, F8E5M2, F16, F32, F64, FORMATS, FloatFormat
from .bodies import is_order_free
from .model import Choice, Model
from .sm_90_math import rsqrt_f64
from .orders import GroupsByHalves, Order, SegmentedKoggeStone, StridedThenHalves
from .sm_90_products import product

ALL_ONES = {F16: 0x7FFF, BF16: 0x7FFF, F32: 0x7FFFFFFF, F8E4M3FN: 0x7F, F8E5M2: 0x7F}
"""The pattern of a NaN that arithmetic answers, and most conversions: every significand bit set."""

CONVERTED_NAN = {
    ("f64", "f32"): 0x7FC00000,
    ("f64", "f16"): 0x7E00,
    ("f64", "bf16"): 0x7FC0,
    ("bf16", "f32"): 0x7FC00000,
    ("f8E4M3FN", "f64"): 0x7FFFFC0000000000,
    ("f8E5M2", "f64"): 0x7FFFFC0000000000,
}
"""The pattern of a converted NaN, where it is not every significand bit set."""

F64_INVALID = 0xFFF8000000000000
"""The pattern of an invalid f64 operation."""
QUIET = np.uint64(1 << 51)
F64_EXTENDED = 0x7FF8000000000000
"""The pattern of a NaN converted to f64."""


def nan(result: Array, operands: tuple[Array, ...], fmt: FloatFormat, operation: str) -> None:
    """The pattern of every NaN an sm_90 GPU answers, as far as it was measured.

    f16, bf16 and f32 answer every significand bit set and the sign clear. f64 passes on an operand that is a
    NaN, made quiet (the first of two, which was not measured), and answers 0xFFF8000000000000 for an invalid
    operation. Conversions have patterns of their own.
    """
    mask = nan_mask(result, fmt)
    if not mask.any():
        return
    bits = bits_of(result, fmt)
    if operation == "ftof":
        bits[mask] = _converted(operands[0], fmt)
    elif fmt in ALL_ONES:
        bits[mask] = ALL_ONES[fmt]
    elif fmt is F64:
        answer = np.full(result.shape, F64_INVALID, np.uint64)
        for operand in reversed(operands):
            if operand.dtype == np.float64:
                there = np.broadcast_to(np.isnan(operand), result.shape)
                pattern = np.broadcast_to(operand, result.shape)[there].view(np.uint64)
                answer[there] = pattern | QUIET
        bits[mask] = answer[mask]
    else:
        bits[mask] = fmt.canonical_nan


def _converted(source: Array, target: FloatFormat) -> int:
    names = {np.dtype(np.float64): "f64", np.dtype(np.float32): "f32", np.dtype(np.float16): "f16"}
    name = names.get(source.dtype)
    if name is None:
        name = next(n for n, f in FORMATS.items() if isinstance(f, FloatFormat) and f.dtype == source.dtype)
    pattern = CONVERTED_NAN.get((name, target.name))
    if pattern is not None:
        return pattern
    if target is F64:
        return F64_EXTENDED
    return ALL_ONES.get(target, target.canonical_nan)


MEASURED_ROWS = range(1, 13)
"""log2 of the extents of a row whose sum was measured: 2 to 4096."""
MEASURED_COLUMNS = {(8, 8), (64, 64), (128, 32), (16, 256)}
"""Tiles whose sum along dimension 0 was measured."""
MEASURED_SCANS = {8, 64, 1024}
"""Extents of a row whose running sum was measured."""


def _row(shape: tuple[int, ...], dim: int) -> bool:
    return dim == len(shape) - 1 and prod(shape) == shape[dim]


def reduce_order(operation: Reduce) -> Choice[Order]:
    """Rows fold by threads and warps, columns by halves."""
    source = operation.operands[0].type
    assert isinstance(source, TileType)
    shape, dim = source.shape, operation.dim
    order: Order = StridedThenHalves() if dim == len(shape) - 1 else GroupsByHalves()
    if is_order_free(operation):
        return Choice(order, True, "every order answers the same bits")
    extent = shape[dim]
    if extent == 1:
        return Choice(order, True, "one element is its own fold")
    if _row(shape, dim) and extent.bit_length() - 1 in MEASURED_ROWS:
        return Choice(order, True, "measured on rows of 2 to 4096 elements in f16, f32 and f64")
    if dim == 0 and shape in MEASURED_COLUMNS:
        return Choice(order, True, "measured on columns of this tile in f32")
    return Choice(order, False, f"the order of a fold of {source} along dimension {dim} was not measured")


def scan_order(operation: Scan) -> Choice[Order]:
    """Kogge and Stone's scan within segments of 32."""
    source = operation.operands[0].type
    assert isinstance(source, TileType)
    shape, dim = source.shape, operation.dim
    order = SegmentedKoggeStone()
    if is_order_free(operation):
        return Choice(order, True, "every order answers the same bits")
    if shape[dim] == 1:
        return Choice(order, True, "one element is its own scan")
    if _row(shape, dim) and shape[dim] in MEASURED_SCANS and not operation.reverse:
        return Choice(order, True, "measured on rows of 8, 64 and 1024 elements in f16, f32 and f64")
    return Choice(order, False, f"the order of a scan of {source} along dimension {dim} was not measured")


MATH = (
    floating.Exp,
    floating.Exp2,
    floating.Log,
    floating.Log2,
    floating.Sin,
    floating.Cos,
    floating.Tan,
    floating.SinH,
    floating.CosH,
    floating.TanH,
    floating.Rsqrt,
    floating.FPowF,
    floating.Atan2,
)
APPROXIMATE = (RoundingMode.APPROX, RoundingMode.FULL)


def float_operation(operation: Operation) -> Choice[None]:
    """Arithmetic and the math of narrow formats are correctly rounded; the math of f32 and f64 is not."""
    rounding = getattr(operation, "rounding_mode", None)
    if not operation.results or not isinstance(operation.results[0].type, TileType):
        return Choice(None, True, "fixed by the dialect")
    name = str(operation.results[0].type.element)
    if isinstance(operation, MATH):
        if rounding is RoundingMode.APPROX:
            bound = ulp_bound(operation.mnemonic, name, "approx")
            return Choice(None, False, "the target's fast approximation is not modelled", bound)
        if name in ("f16", "bf16"):
            return Choice(None, True, "measured on 4096 inputs: the f32 answer, rounded")
        if isinstance(operation, floating.Rsqrt) and name == "f64":
            return Choice(None, True, "measured correctly rounded on 4096 inputs")
        bound = ulp_bound(operation.mnemonic, name)
        return Choice(None, False, "the target's math library is not modelled", bound)
    if isinstance(operation, floating.DivF | floating.Sqrt) and rounding in APPROXIMATE:
        bound = ulp_bound(operation.mnemonic, name, str(rounding))
        return Choice(None, False, "the target's approximation is not modelled", bound)
    if isinstance(operation, floating.FPowI):
        return Choice(None, False, "fpowi was not measured on this target", None)
    return Choice(None, True, "IEEE 754 arithmetic, measured correctly rounded")


SM_90 = Model(
    name="sm_90",
    summary="NVIDIA Hopper (sm_90), as measured on an H200 with cubins of tileiras 13.4.92",
    nan=nan,
    math_in_f32=True,
    math={("rsqrt", "f64"): rsqrt_f64},
    saturates=frozenset({"f8E4M3FN", "f8E5M2"}),
    flushes_atomics=frozenset({"f32"}),
    reduce_order=reduce_order,
    scan_order=scan_order,
    product=product,
    float_operation=float_operation,
)
