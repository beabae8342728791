"""Which matrix product an sm_90 GPU computes, by formats and shape.

Measured on 836 products of one operation: every shape of M, N and K from 8, 16, 32, 64 and 128 in each pair
of formats (up to 32 for f32 and f64), batches of 1, 2 and 4, and values of narrow and of any size, with
zeros, subnormals, infinities and NaNs among them.
"""

from __future__ import annotations

from math import prod

from tileir.ops.matrix import MmaF, MmaFScaled
from tileir.types import NumberType, TileType

from .model import Choice
from .products import FusedDot, Product, RoundedChain

EIGHT_BITS = ("f8E4M3FN", "f8E5M2")
"""Formats of which a warp group's instruction keeps fewer bits."""
FEWEST_ROWS = 16
FEWEST_RESULTS = 512
"""What a product must have for tensor cores to be used."""
WARP_GROUP_ROWS = 64
"""Rows from which on a warp group multiplies together, where the product is not batched."""
MEASURED = range(8, 129)
"""Extents whose products were measured."""


def product(operation: MmaF | MmaFScaled) -> Choice[Product]:
    """The product of one operation."""
    lhs, acc = operation.lhs.type, operation.acc.type
    assert isinstance(lhs, TileType)
    assert isinstance(acc, TileType)
    assert isinstance(lhs.element, NumberType)
    assert isinstance(acc.element, NumberType)
    if isinstance(operation, MmaFScaled):
        return Choice(RoundedChain(), False, "mmaf_scaled needs sm_100 or newer")
    source, target = lhs.element.name, acc.element.name
    chosen = _product(source, target, acc.shape, lhs.shape[-1])
    extents = (*acc.shape[-2:], lhs.shape[-1])
    shown = f"{source} into {target}, {'x'.join(map(str, extents))}"
    if operation.fast_acc:
        return Choice(chosen, False, f"fast_acc was not measured ({shown})")
    if any(e not in MEASURED for e in extents):
        return Choice(chosen, False, f"products of this shape were not measured ({shown})")
    return Choice(chosen, True, "measured on 836 products of these formats and shapes, every bit")


def _product(source: str, target: str, shape: tuple[int, ...], steps: int) -> Product:
    batched = len(shape) == 3
    rows = shape[-2]
    if source in ("f32", "f64") or rows < FEWEST_ROWS or prod(shape) < FEWEST_RESULTS:
        return RoundedChain()
    if source == "tf32":
        return FusedDot(step=8)
    if source in EIGHT_BITS and not batched and rows >= WARP_GROUP_ROWS and steps >= 32:
        return FusedDot(step=32, fraction=13, kept=13, late=target == "f32")
    return FusedDot(step=16)
