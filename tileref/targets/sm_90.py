"""What an sm_90 GPU was measured to do.

Measured on an NVIDIA H200 with driver 580.159.04, cubins assembled by tileiras 13.4.92. Every choice says on
which shapes and formats it was measured; anything wider is taken for likely and not claimed.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import prod

import numpy as np

from tileir.attributes import RoundingMode
from tileir.module import Function, Operation
from tileir.ops import floating, view
from tileir.ops.reduction import Reduce, Scan
from tileir.types import PaddingValue, TileType

from ..formats import Array
from ..numerics.bits import any_nan, bits_of, nan_mask
from ..numerics.bounds import ulp_bound
from ..numerics.formats import BF16, F16, F32, F64, FloatFormat
from ..numerics.nan import canonical
from .bodies import is_order_free, only_operation
from .model import Choice, Model
from .orders import Order, SegmentedKoggeStone, StridedThenHalves
from .own_folds import OwnFold, ascending, by_neighbours, in_two_chains
from .sm_90_conversions import ftof, itof
from .sm_90_layout import MOST_WARPS, WARPS, layout, shape_of, warps_of
from .sm_90_made import Made, made_by
from .sm_90_math import PROGRAMS
from .sm_90_products import integer_steps, product

ALL_ONES = {F16: 0x7FFF, BF16: 0x7FFF, F32: 0x7FFFFFFF}
"""The pattern of a NaN that arithmetic of these formats answers: every significand bit set."""
F64_INVALID = 0xFFF8000000000000
"""The pattern of an invalid f64 operation."""
QUIET = np.uint64(1 << 51)


def _by_precedence(operands: tuple[Array, ...], operation: str) -> tuple[Array, ...]:
    """f64 operands, the one whose NaN is passed on last."""
    match operation:
        case "divf" | "atan2":
            return operands[::-1]
        case "fma":
            lhs, rhs, acc = operands
            return lhs, acc, rhs
    return operands


def nan(result: Array, operands: tuple[Array, ...], fmt: FloatFormat, operation: str) -> None:
    """The pattern of every NaN an sm_90 GPU answers, as far as it was measured.

    f16, bf16 and f32 answer every significand bit set and the sign clear. f64 passes on the last operand that
    is a NaN (a division and atan2 the first, a fused multiply-add the right factor before the addend before
    the left), made quiet, and answers 0xFFF8000000000000 for an invalid operation.
    Conversions have patterns of their own (``sm_90_conversions``).
    """
    if not any_nan(result, fmt):
        return
    mask = nan_mask(result, fmt)
    bits = bits_of(result, fmt)
    if fmt in ALL_ONES:
        bits[mask] = ALL_ONES[fmt]
    elif fmt is F64:
        answer = np.full(result.shape, F64_INVALID, np.uint64)
        for operand in _by_precedence(operands, operation):
            if operand.dtype == np.float64:
                there = np.broadcast_to(np.isnan(operand), result.shape)
                pattern = np.broadcast_to(operand, result.shape)[there].view(np.uint64)
                answer[there] = pattern | QUIET
        bits[mask] = answer[mask]
    else:
        bits[mask] = fmt.canonical_nan


def propagated_nan(result: Array, operands: tuple[Array, ...], fmt: FloatFormat, operation: str) -> None:
    """The same for an extreme that propagates NaNs; in f64 it is the canonical one."""
    rule = canonical if fmt is F64 else nan
    rule(result, operands, fmt, operation)


def _unspread(operation: Reduce | Scan) -> str:
    return f"how {operation.operands[0].type} is spread over threads was not measured"


def reduce_order(operation: Reduce, warps: int = WARPS) -> Choice[Order]:
    """Each thread folds its own elements, then the lanes of a warp by halves, then the warps by halves."""
    source = operation.operands[0]
    spread = layout(source, warps)
    lanes, warps = spread.lanes[operation.dim], spread.warps[operation.dim]
    made = made_by(source)
    shape, across = shape_of(source), spread.without(operation.dim)
    # How many reductions' elements a thread holds.
    held = prod(shape) // shape[operation.dim] // prod((*across.lanes, *across.warps))
    measured = made is not Made.PARTLY_BF16
    if made is Made.BF16 and held > MOST_HELD:
        made, measured = Made.PLAIN, False
    order = StridedThenHalves(lanes * warps, lanes, OWN_FOLDS[made])
    if is_order_free(operation):
        return Choice(order, True, "every order answers the same bits")
    if not spread.known:
        return Choice(order, False, _unspread(operation))
    if shape[operation.dim] <= 2 * order.threads or (made is Made.PLAIN and measured):
        return Choice(order, True, "measured on 253 reductions of 94 shapes, in f16, bf16, f32 and f64")
    if not measured or not isinstance(only_operation(operation), floating.AddF):
        return Choice(order, False, "in which order a thread folds its own elements was not measured")
    return Choice(order, True, "measured on 189 sums of 12 shapes, converted, multiplied, carried by loops")


MOST_HELD = 2
"""Reductions of converted bf16 that a thread may do side by side for two chains to be what it does.

The three sums of which a thread was given four go upwards.
"""
OWN_FOLDS: dict[Made, OwnFold] = {
    Made.PLAIN: ascending,
    Made.CARRIED: by_neighbours,
    Made.BF16: in_two_chains,
    Made.PARTLY_BF16: in_two_chains,
}
"""How a thread folds its own elements, by what made them."""


def scan_order(operation: Scan, warps: int = WARPS) -> Choice[Order]:
    """Kogge and Stone's scan within the lanes of a warp, the segments one after the other."""
    spread = layout(operation.operands[0], warps)
    order = SegmentedKoggeStone(spread.lanes[operation.dim])
    if is_order_free(operation):
        return Choice(order, True, "every order answers the same bits")
    if not spread.known:
        return Choice(order, False, _unspread(operation))
    return Choice(order, True, "measured on 65 scans of 21 shapes, forward and reversed")


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


def float_operation(operation: Operation) -> Choice[None]:
    """Arithmetic is correctly rounded; math is claimed where its program or all of its answers are known."""
    if isinstance(operation, view.LoadViewTko) and _pads_with_nan(operation):
        # The compiler folds arithmetic on the padding, to a NaN that no instruction would answer.
        return Choice(None, False, "the pattern of a padding NaN depends on what is folded", 0.0)
    if not operation.results or not isinstance(operation.results[0].type, TileType):
        return Choice(None, True, "fixed by the dialect")
    name = str(operation.results[0].type.element)
    mode = getattr(operation, "rounding_mode", None)
    rounding = "approx" if mode is RoundingMode.APPROX else ""
    if isinstance(operation, floating.DivF) and mode is RoundingMode.FULL:
        rounding = "full"
    if not isinstance(operation, MATH) and not rounding:
        return Choice(None, True, "IEEE 754 arithmetic, measured correctly rounded")
    if isinstance(operation, floating.Atan2) and name == "f64":
        # Of two NaNs, level 3 passes on the other one.
        return Choice(None, False, "which NaN is passed on depends on the optimization level", 0.0)
    computed = "f32" if name in ("f16", "bf16") else name
    if (operation.mnemonic, computed, rounding) in PROGRAMS:
        return Choice(None, True, "the program that the assembler makes of it, rounded to the format")
    bound = ulp_bound(operation.mnemonic, name, rounding or None)
    return Choice(None, False, "the target's program for this function is not modelled", bound)


def _pads_with_nan(operation: view.LoadViewTko) -> bool:
    return getattr(operation.view.type, "padding", None) is PaddingValue.NAN


def for_entry(entry: Function) -> Model:
    """The model of a kernel: a hint of eight warps spreads its tiles wider."""
    return SM_90 if warps_of(entry) == WARPS else SM_90_WIDE


SM_90 = Model(
    name="sm_90",
    summary="NVIDIA Hopper (sm_90), as measured on an H200 with cubins of tileiras 13.4.92",
    nan=nan,
    propagated_nan=propagated_nan,
    math_in_f32=True,
    programs=PROGRAMS,
    for_entry=for_entry,
    ftof=ftof,
    itof=itof,
    flushes_before_rounding=True,
    integer_steps=integer_steps,
    flushes_atomics=frozenset({"f32"}),
    reduce_order=reduce_order,
    scan_order=scan_order,
    product=product,
    float_operation=float_operation,
)

SM_90_WIDE = replace(
    SM_90,
    reduce_order=partial(reduce_order, warps=MOST_WARPS),
    scan_order=partial(scan_order, warps=MOST_WARPS),
)
