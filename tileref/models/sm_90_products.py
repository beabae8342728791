"""Which matrix product an sm_90 GPU computes, by formats and shape."""

from __future__ import annotations

from tileir.ops.matrix import MmaF, MmaFScaled
from tileir.types import NumberType, TileType

from .model import Choice
from .products import FusedDot, Product, RoundedChain

MEASURED = {
    (16, 16, 16),
    (16, 8, 32),
    (64, 64, 16),
    (64, 64, 64),
    (128, 128, 64),
    (32, 32, 128),
}
"""Shapes (M, N, K) of one operation whose every bit was compared, for every format."""
WITHOUT_TENSOR_CORE = {(16, 16, 16), (16, 8, 32)}
EIGHT_BITS = ("f8E4M3FN", "f8E5M2")
"""Formats whose wide products keep fewer bits."""


def product(operation: MmaF | MmaFScaled) -> Choice[Product]:
    """The product of one operation."""
    lhs, acc = operation.lhs.type, operation.acc.type
    rhs = operation.rhs.type
    assert isinstance(lhs, TileType)
    assert isinstance(rhs, TileType)
    assert isinstance(acc, TileType)
    if isinstance(operation, MmaFScaled):
        return Choice(RoundedChain(), False, "mmaf_scaled needs sm_100 or newer")
    assert isinstance(lhs.element, NumberType)
    source = lhs.element.name
    shape = (lhs.shape[-2], rhs.shape[-1], lhs.shape[-1])
    measured = shape in MEASURED and len(lhs.shape) == 2 and not operation.fast_acc
    reason = (
        "measured on this shape, every bit"
        if measured
        else f"{source} products of {'x'.join(map(str, shape))} were not measured"
    )
    return Choice(_product(source, shape), measured, reason)


def _product(source: str, shape: tuple[int, int, int]) -> Product:
    m, n, k = shape
    if source in ("f32", "f64") or shape in WITHOUT_TENSOR_CORE or m * n < 512:
        return RoundedChain()
    if source == "tf32":
        return FusedDot(step=8)
    if source in EIGHT_BITS and m >= 64 and k >= 32:
        return FusedDot(step=32, fraction=13, kept=13, late=True)
    return FusedDot(step=16)
