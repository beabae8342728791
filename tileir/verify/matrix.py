"""Rules of the matrix products."""

from __future__ import annotations

from ..module import Operation
from ..ops import matrix as o
from ..types import (
    BF16,
    F4E2M1FN,
    F8E4M3FN,
    F8E5M2,
    F8E8M0FNU,
    F16,
    F32,
    F64,
    TF32,
    NumberType,
)
from .diagnostic import Problem
from .relations import element_named, same, shape_of
from .rules import Context, Problems, rule

ACCUMULATORS: dict[NumberType, tuple[NumberType, ...]] = {
    F8E4M3FN: (F16, F32),
    F8E5M2: (F16, F32),
    F16: (F16, F32),
    BF16: (F32,),
    TF32: (F32,),
    F32: (F32,),
    F64: (F64,),
}
"""The formats that products of a format are added up in."""

BLOCKS: dict[tuple[NumberType, NumberType], tuple[int, ...]] = {
    (F8E4M3FN, F8E8M0FNU): (32,),
    (F8E5M2, F8E8M0FNU): (32,),
    (F4E2M1FN, F8E8M0FNU): (16, 32),
    (F4E2M1FN, F8E4M3FN): (16,),
}
"""How many elements may share a scale, by the formats of elements and scales."""


@rule(o.MmaF, o.MmaI, o.MmaFScaled)
def product_types(op: o.MmaF | o.MmaI | o.MmaFScaled, context: Context) -> Problems:
    """The factors have one element type, and accumulator and result are of one type."""
    names = ("lhs", "rhs")
    yield from same(op, names, "element type", (element_named(op, n) for n in names))
    yield from same(op, ("acc", "result"), "type", (op.acc.type, op.result.type))


@rule(o.MmaF, o.MmaI, o.MmaFScaled)
def product_rank(op: Operation, context: Context) -> Problems:
    """Matrices have two dimensions, and batches of them three."""
    names = [p.name for p in op.declaration.operands]
    ranks = [len(shape_of(op, n)) for n in names]
    yield from same(op, names, "rank", ranks)
    if ranks[0] not in (2, 3):
        yield Problem("matrices have two dimensions, and batches of them three", ranks[0], "2 or 3")


@rule(o.MmaF, o.MmaI, o.MmaFScaled)
def product_shape(op: Operation, context: Context) -> Problems:
    """The shapes are MxK, KxN and MxN, with the same batch before them."""
    lhs, rhs, acc = (shape_of(op, n) for n in ("lhs", "rhs", "acc"))
    if len(lhs) != len(rhs) or len(lhs) != len(acc) or len(lhs) not in (2, 3):
        return
    expected = (*lhs[:-1], rhs[-1])
    if lhs[-1] != rhs[-2] or lhs[:-2] != rhs[:-2] or acc != expected:
        found = " by ".join("x".join(map(str, s)) for s in (lhs, rhs))
        yield Problem("the shapes are MxK, KxN and MxN", f"{found} into {'x'.join(map(str, acc))}")


@rule(o.MmaF)
def product_formats(op: o.MmaF, context: Context) -> Problems:
    """Products of a format are added up in certain formats."""
    factor, acc = element_named(op, "lhs"), element_named(op, "acc")
    assert isinstance(factor, NumberType)
    allowed = ACCUMULATORS[factor]
    if acc not in allowed:
        yield Problem(f"products of {factor} have another accumulator", acc, " or ".join(map(str, allowed)))


@rule(o.MmaFScaled)
def scale_types(op: o.MmaFScaled, context: Context) -> Problems:
    """Both scales have one element type, which goes with that of the factors."""
    names = ("lhs_scale", "rhs_scale")
    yield from same(op, names, "element type", (element_named(op, n) for n in names))
    pair = element_named(op, "lhs"), element_named(op, "lhs_scale")
    if pair not in BLOCKS:
        yield Problem("these formats do not go together", f"{pair[0]} scaled by {pair[1]}")


@rule(o.MmaFScaled)
def scale_shape(op: o.MmaFScaled, context: Context) -> Problems:
    """The scales are MxS and SxN, where S divides K by 16 or 32."""
    lhs, rhs, a, b = (shape_of(op, n) for n in ("lhs", "rhs", "lhs_scale", "rhs_scale"))
    if len({len(s) for s in (lhs, rhs, a, b)}) != 1 or len(lhs) not in (2, 3):
        return
    found = " and ".join("x".join(map(str, s)) for s in (a, b))
    if a[:-1] != lhs[:-1] or b[:-2] != rhs[:-2] or b[-1] != rhs[-1] or a[-1] != b[-2]:
        yield Problem("the scales are MxS and SxN", found)
        return
    pair = element_named(op, "lhs"), element_named(op, "lhs_scale")
    blocks = BLOCKS.get(pair)  # type: ignore[arg-type]
    if blocks is not None and (lhs[-1] % a[-1] or lhs[-1] // a[-1] not in blocks):
        expected = " or ".join(map(str, blocks))
        yield Problem("a scale is for another number of elements", f"{lhs[-1]} / {a[-1]}", expected)
