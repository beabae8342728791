"""Rules of the operations that work element by element: types that agree, and modifiers that exist."""

from __future__ import annotations

from ..attributes import IntegerOverflow, RoundingMode, Signedness
from ..module import Operation
from ..ops import bitwise, floating, integer
from ..types import F32, I1, I64, TileType
from .diagnostic import Problem
from .relations import element_named, same, shape_of, value_of
from .rules import Context, Problems, rule

IEEE = (RoundingMode.NEAREST_EVEN, RoundingMode.ZERO, RoundingMode.NEGATIVE_INF, RoundingMode.POSITIVE_INF)
"""Rounding modes of IEEE 754 that arithmetic has."""

_SAME: tuple[type[Operation], ...] = (
    *(floating.AbsF, floating.AddF, floating.Ceil, floating.Cos, floating.CosH, floating.DivF, floating.Exp),
    *(floating.Exp2, floating.Floor, floating.Fma, floating.Log, floating.Log2, floating.MaxF, floating.MinF),
    *(floating.MulF, floating.NegF, floating.FPowF, floating.RemF, floating.Rsqrt, floating.Sin),
    *(floating.SinH, floating.Sqrt, floating.SubF, floating.Tan, floating.TanH, floating.Atan2),
    *(integer.AbsI, integer.AddI, integer.DivI, integer.MaxI, integer.MinI, integer.MulhiI, integer.MulI),
    *(integer.NegI, integer.RemI, integer.ShLI, integer.ShRI, integer.SubI),
    *(bitwise.AndI, bitwise.OrI, bitwise.XOrI),
)
_FLUSHING = (
    *(floating.AddF, floating.DivF, floating.Exp2, floating.Fma, floating.MaxF, floating.MinF),
    *(floating.MulF, floating.Rsqrt, floating.Sqrt, floating.SubF),
)

_MODES: dict[type[Operation], tuple[RoundingMode, ...]] = {
    floating.AddF: IEEE,
    floating.SubF: IEEE,
    floating.MulF: IEEE,
    floating.Fma: IEEE,
    floating.DivF: (*IEEE, RoundingMode.APPROX, RoundingMode.FULL),
    floating.Sqrt: (*IEEE, RoundingMode.APPROX),
    floating.Exp: (RoundingMode.APPROX, RoundingMode.FULL),
    floating.TanH: (RoundingMode.APPROX, RoundingMode.FULL),
}
"""The rounding modes that an operation has."""


@rule(*_SAME)
def same_type(op: Operation, context: Context) -> Problems:
    """Operands and result are of one type."""
    names = [p.name for p in op.declaration.operands] + ["result"]
    yield from same(op, names, "type", (value_of(op, n).type for n in names))


@rule(floating.CmpF, integer.CmpI)
def comparison_types(op: floating.CmpF | integer.CmpI, context: Context) -> Problems:
    """Both operands are of one type, and the result is an i1 of the same shape."""
    yield from same(op, ("lhs", "rhs"), "type", (op.lhs.type, op.rhs.type))
    expected = TileType(shape_of(op, "lhs"), I1)
    if op.result.type != expected:
        yield Problem("a comparison gives i1 of its operands' shape", op.result.type, expected)


@rule(floating.FPowI)
def power_types(op: floating.FPowI, context: Context) -> Problems:
    """The result is of the source's type, and the exponent has its shape."""
    yield from same(op, ("source", "result"), "type", (op.source.type, op.result.type))
    names = ("source", "exponent")
    yield from same(op, names, "shape", (shape_of(op, n) for n in names))


@rule(floating.FPowI)
def power_exponent(op: floating.FPowI, context: Context) -> Problems:
    """An exponent has at most 32 bits."""
    if element_named(op, "exponent") is I64:
        yield Problem("the exponent has at most 32 bits", op.exponent.type)


@rule(*_MODES)
def rounding_mode(op: Operation, context: Context) -> Problems:
    """The operation has this rounding mode."""
    allowed = _MODES[type(op)]
    mode = op.__dict__["rounding_mode"]
    if mode not in allowed:
        yield Problem("the operation has no such rounding mode", mode, " or ".join(map(str, allowed)))


@rule(floating.DivF, floating.Sqrt, floating.Exp, floating.TanH)
def approx_of_f32(op: Operation, context: Context) -> Problems:
    """The approximations are for f32; the full range ones too, where the operation has another mode."""
    element = element_named(op, "result")
    mode = op.__dict__["rounding_mode"]
    if element is F32:
        return
    if mode is RoundingMode.APPROX or (mode is RoundingMode.FULL and isinstance(op, floating.DivF)):
        yield Problem(f"{mode} is for f32", element, F32)


@rule(*_FLUSHING)
def flush_of_f32(op: Operation, context: Context) -> Problems:
    """Flushing subnormal numbers to zero is for f32."""
    element = element_named(op, "result")
    if op.__dict__["flush_to_zero"] and element is not F32:
        yield Problem("flush_to_zero is for f32", element, F32)


@rule(integer.DivI)
def division_rounding(op: integer.DivI, context: Context) -> Problems:
    """A quotient is rounded to zero, up or down; down only if it may be negative."""
    allowed = [RoundingMode.ZERO, RoundingMode.POSITIVE_INF]
    if op.signedness is Signedness.SIGNED:
        allowed.append(RoundingMode.NEGATIVE_INF)
    if op.rounding not in allowed:
        yield Problem(
            f"{op.signedness} division has no such rounding mode",
            op.rounding,
            " or ".join(map(str, allowed)),
        )


@rule(integer.NegI)
def negation_overflow(op: integer.NegI, context: Context) -> Problems:
    """A negation, which is signed, cannot promise that nothing wraps as unsigned."""
    if op.overflow is IntegerOverflow.NUW:
        yield Problem("a negation has no such overflow flag", op.overflow)
