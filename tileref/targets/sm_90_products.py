"""Which matrix product an sm_90 GPU computes, by formats and shape.

Measured on 1263 products of one operation: every shape of M, N and K from 8, 16, 32, 64 and 128 in each pair
of formats (up to 32 for f32 and f64), some of 1, 2, 4, 256 and 512, batches of 1 to 64, and values of narrow
and of any size, with zeros, subnormals, infinities and NaNs among them; and 96 integer products.
"""

from __future__ import annotations

from math import prod

from tileir.ops.matrix import MmaF, MmaFScaled, MmaI
from tileir.types import NumberType, TileType

from .model import Choice
from .products import FusedDot, Product, RoundedChain

EIGHT_BITS = ("f8E4M3FN", "f8E5M2")
"""Formats of which a warp group's instruction keeps fewer bits."""
FEWEST_ROWS, FEWEST_COLUMNS, FEWEST_STEPS = 16, 8, 8
FEWEST_RESULTS = 512
"""What a product must have for tensor cores to be used; the results of a batch count together."""
WARP_GROUP_ROWS = 64
"""Rows from which on a warp group multiplies together, where the product is not batched."""
PROMOTED = 128
"""Products of 8-bit floats that a warp group sums before it adds them to the accumulator."""
INTEGER_STEP = 32
"""Products of integers that a tensor core sums at once."""
LARGEST_EXTENT = 512
"""Extents beyond this were not measured."""


def uses_tensor_cores(shape: tuple[int, ...], steps: int) -> bool:
    """Whether a product with results of ``shape`` and so many steps runs on tensor cores."""
    rows, columns = shape[-2:]
    enough = rows >= FEWEST_ROWS and columns >= FEWEST_COLUMNS and steps >= FEWEST_STEPS
    return enough and prod(shape) >= FEWEST_RESULTS


def product(operation: MmaF | MmaFScaled) -> Choice[Product]:
    """The product of one operation."""
    lhs, acc = operation.lhs.type, operation.acc.type
    assert isinstance(lhs, TileType)
    assert isinstance(acc, TileType)
    assert isinstance(lhs.element, NumberType)
    assert isinstance(acc.element, NumberType)
    if isinstance(operation, MmaFScaled):
        return Choice(RoundedChain(), False, "mmaf_scaled needs sm_100 or newer")
    source, target, steps = lhs.element.name, acc.element.name, lhs.shape[-1]
    chosen = _product(source, target, acc.shape, steps, fast=operation.fast_acc)
    extents = (*acc.shape[-2:], steps)
    shown = f"{source} into {target}, {'x'.join(map(str, extents))}"
    if max(extents) > LARGEST_EXTENT or (source == "tf32" and 2 < steps < FEWEST_STEPS):
        return Choice(chosen, False, f"products of this shape were not measured, or not explained ({shown})")
    if source == "f64":
        # The four products asked for with NaNs among their factors answer others at level 3 than at level 0.
        return Choice(chosen, False, "which NaN is passed on depends on the optimization level", 0.0)
    return Choice(chosen, True, "measured on 1263 products of these formats and shapes, every bit")


def _product(source: str, target: str, shape: tuple[int, ...], steps: int, *, fast: bool) -> Product:
    batched = len(shape) == 3
    if source in ("f32", "f64") or not uses_tensor_cores(shape, steps):
        return RoundedChain()
    if source == "tf32":
        return FusedDot(step=8)
    if source in EIGHT_BITS and not batched and shape[-2] >= WARP_GROUP_ROWS and steps >= 32:
        late = PROMOTED if target == "f32" and not fast else None
        return FusedDot(step=32, fraction=13, kept=13, late=late)
    return FusedDot(step=16)


def integer_steps(operation: MmaI) -> int | None:
    """After how many products the sum stops at the ends of i32; None if it wraps."""
    lhs, acc = operation.lhs.type, operation.acc.type
    assert isinstance(lhs, TileType)
    assert isinstance(acc, TileType)
    return INTEGER_STEP if uses_tensor_cores(acc.shape, lhs.shape[-1]) else None
