"""Integer arithmetic, element by element."""

from __future__ import annotations

from tileir.attributes import Signedness
from tileir.ops import integer as ops

from ..formats import Array, integer_format
from ..kinds import Kind
from ..numerics import integer as n
from ..targets.model import Model
from .registry import elementwise, partial_elementwise

Marked = tuple[Array, Array | None]


@elementwise
def absi(_model: Model, op: ops.AbsI, source: Array) -> Array:
    """Absolute value."""
    return n.absi(source, integer_format(op.result.type))[0]


@partial_elementwise(Kind.OVERFLOW, "a sum wrapped that was promised not to")
def addi(_model: Model, op: ops.AddI, lhs: Array, rhs: Array) -> Marked:
    """Add."""
    return n.addi(lhs, rhs, integer_format(op.result.type), overflow=str(op.overflow))


@elementwise
def cmpi(_model: Model, op: ops.CmpI, lhs: Array, rhs: Array) -> Array:
    """Compare."""
    fmt = integer_format(op.lhs.type)
    return n.cmpi(lhs, rhs, fmt, str(op.comparison_predicate), op.signedness is Signedness.SIGNED)


@partial_elementwise(Kind.INTEGER_DIVISION, "a division by zero, or of the minimum by -1")
def divi(_model: Model, op: ops.DivI, lhs: Array, rhs: Array) -> Marked:
    """Divide."""
    fmt = integer_format(op.result.type)
    signed = op.signedness is Signedness.SIGNED
    return n.divi(lhs, rhs, fmt, rounding=str(op.rounding), signed=signed)


@elementwise
def maxi(_model: Model, op: ops.MaxI, lhs: Array, rhs: Array) -> Array:
    """Take the larger."""
    return n.maxi(lhs, rhs, integer_format(op.result.type), signed=op.signedness is Signedness.SIGNED)[0]


@elementwise
def mini(_model: Model, op: ops.MinI, lhs: Array, rhs: Array) -> Array:
    """Take the smaller."""
    return n.mini(lhs, rhs, integer_format(op.result.type), signed=op.signedness is Signedness.SIGNED)[0]


@elementwise
def mulhii(_model: Model, op: ops.MulhiI, x: Array, y: Array) -> Array:
    """High half of the unsigned product."""
    return n.mulhii(x, y, integer_format(op.result.type))[0]


@partial_elementwise(Kind.OVERFLOW, "a product wrapped that was promised not to")
def muli(_model: Model, op: ops.MulI, lhs: Array, rhs: Array) -> Marked:
    """Multiply."""
    return n.muli(lhs, rhs, integer_format(op.result.type), overflow=str(op.overflow))


@partial_elementwise(Kind.OVERFLOW, "a negation wrapped that was promised not to")
def negi(_model: Model, op: ops.NegI, source: Array) -> Marked:
    """Negate."""
    return n.negi(source, integer_format(op.result.type), overflow=str(op.overflow))


@partial_elementwise(Kind.INTEGER_DIVISION, "a division by zero")
def remi(_model: Model, op: ops.RemI, lhs: Array, rhs: Array) -> Marked:
    """Remainder of the truncated quotient."""
    return n.remi(lhs, rhs, integer_format(op.result.type), signed=op.signedness is Signedness.SIGNED)


@partial_elementwise(Kind.SHIFT_COUNT, "a shift by the width or more, or against its promise")
def shli(_model: Model, op: ops.ShLI, lhs: Array, rhs: Array) -> Marked:
    """Shift left."""
    return n.shli(lhs, rhs, integer_format(op.result.type), overflow=str(op.overflow))


@partial_elementwise(Kind.SHIFT_COUNT, "a shift by the width or more")
def shri(_model: Model, op: ops.ShRI, lhs: Array, rhs: Array) -> Marked:
    """Shift right."""
    return n.shri(lhs, rhs, integer_format(op.result.type), signed=op.signedness is Signedness.SIGNED)


@partial_elementwise(Kind.OVERFLOW, "a difference wrapped that was promised not to")
def subi(_model: Model, op: ops.SubI, lhs: Array, rhs: Array) -> Marked:
    """Subtract."""
    return n.subi(lhs, rhs, integer_format(op.result.type), overflow=str(op.overflow))
