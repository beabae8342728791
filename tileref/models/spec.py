"""The plain reading of the dialect: everything in order, everything rounded correctly."""

from __future__ import annotations

from tileir.module import Operation
from tileir.ops.matrix import MmaF, MmaFScaled
from tileir.ops.reduction import Reduce, Scan

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


def float_operation(_operation: Operation) -> Choice[None]:
    """Correctly rounded."""
    return Choice(None, True, "the model's definition: correctly rounded")


SPEC = Model(
    name="spec",
    summary="The plain reading: left folds, one fused multiply-add a step, everything correctly rounded",
    nan=canonical,
    math_in_f32=False,
    math={},
    saturates=frozenset(),
    flushes_atomics=frozenset(),
    reduce_order=reduce_order,
    scan_order=scan_order,
    product=product,
    float_operation=float_operation,
)
