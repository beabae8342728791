"""The plain reading of the dialect: everything in order, everything rounded correctly."""

from __future__ import annotations

from tileir.module import Operation
from tileir.ops.matrix import MmaF, MmaFScaled, MmaI
from tileir.ops.reduction import Reduce, Scan

from ..formats import Array
from ..numerics.conversion import ftof, itof
from ..numerics.formats import FloatFormat
from ..numerics.nan import canonical
from .model import Choice, Model
from .orders import LeftFold, LeftScan, Order
from .products import FusedChain, Product


def reduce_order(_operation: Reduce) -> Choice[Order]:
    """The left fold."""
    return Choice(LeftFold(), True, "the model's definition: a left fold")


def scan_order(_operation: Scan) -> Choice[Order]:
    """The running left fold."""
    return Choice(LeftScan(), True, "the model's definition: a running left fold")


def product(_operation: MmaF | MmaFScaled) -> Choice[Product]:
    """One fused multiply-add a step."""
    return Choice(FusedChain(), True, "the model's definition: one fused multiply-add a step")


def integer_steps(_operation: MmaI) -> int | None:
    """Wrap."""
    return None


def float_operation(_operation: Operation) -> Choice[None]:
    """Correctly rounded."""
    return Choice(None, True, "the model's definition: correctly rounded")


SIGN_OPERATIONS = ("absf", "negf")
"""Operations that touch the sign alone, a NaN's too."""


def nan(result: Array, operands: tuple[Array, ...], fmt: FloatFormat, operation: str) -> None:
    """The canonical quiet NaN, but for what only changes a sign."""
    if operation not in SIGN_OPERATIONS:
        canonical(result, operands, fmt, operation)


SPEC = Model(
    name="spec",
    summary="The plain reading: left folds, one fused multiply-add a step, everything correctly rounded",
    nan=nan,
    propagated_nan=nan,
    math_in_f32=False,
    programs={},
    ftof=ftof,
    itof=itof,
    flushes_before_rounding=False,
    integer_steps=integer_steps,
    flushes_atomics=frozenset(),
    reduce_order=reduce_order,
    scan_order=scan_order,
    product=product,
    float_operation=float_operation,
)
