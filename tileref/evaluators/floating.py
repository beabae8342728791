"""Floating-point arithmetic and math, element by element."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tileir.module import Operation
from tileir.ops import floating as ops

from .. import numerics as n
from ..formats import ROUNDINGS, Array, float_format
from ..targets.model import Model
from .registry import elementwise


def math(
    model: Model, op: Operation, function: Callable[..., Array], *operands: Array, **options: bool
) -> Array:
    """Evaluate a mathematical function, by the model's own program for it and in the format that it uses."""
    fmt = float_format(op.results[0].type)
    narrow = model.math_in_f32 and fmt in (n.F16, n.BF16)
    program = model.programs.get((op.mnemonic, n.F32.name if narrow else fmt.name, ""), function)
    if not narrow:
        return program(*operands, fmt, nan=model.nan, **options)
    wide = [n.ftof(o, fmt, n.F32) if o.dtype == fmt.dtype else o for o in operands]
    answer = n.ftof(program(*wide, n.F32, nan=model.nan, **options), n.F32, fmt)
    model.nan(answer, operands, fmt, op.mnemonic)
    return answer


def approximation(model: Model, op: Operation, fmt: n.FloatFormat) -> Callable[..., Array] | None:
    """The model's program for an operation's rounding mode ``approx`` or ``full``, if it has one."""
    return model.programs.get((op.mnemonic, fmt.name, str(getattr(op, "rounding_mode", ""))))


SMALLEST_NORMAL = np.float32(2.0**-126)


def flush_tiny(
    model: Model,
    op: ops.MulF | ops.DivF,
    result: Array,
    function: Callable[..., Array],
    *operands: Array,
) -> Array:
    """Flush products and quotients that were subnormal before they were rounded up, if the target does.

    Only a result of exactly the smallest normal magnitude can have been one; rounding it towards zero tells.
    """
    if not op.flush_to_zero or not model.flushes_before_rounding:
        return result
    edge = np.abs(result) == SMALLEST_NORMAL
    if edge.any():
        lanes = [np.broadcast_to(o, result.shape)[edge] for o in operands]
        towards_zero = function(*lanes, n.F32, n.Rounding.ZERO, False, model.nan)
        tiny = np.abs(towards_zero) < SMALLEST_NORMAL
        result[edge] = np.where(tiny, np.copysign(np.float32(0), result[edge]), result[edge])
    return result


@elementwise
def absf(model: Model, op: ops.AbsF, source: Array) -> Array:
    """Clear the sign."""
    fmt = float_format(op.result.type)
    result = n.absf(source, fmt)
    model.nan(result, (source,), fmt, op.mnemonic)
    return result


@elementwise
def addf(model: Model, op: ops.AddF, lhs: Array, rhs: Array) -> Array:
    """Add."""
    rounding = ROUNDINGS[str(op.rounding_mode)]
    return n.addf(lhs, rhs, float_format(op.result.type), rounding, op.flush_to_zero, model.nan)


@elementwise
def ceil(model: Model, op: ops.Ceil, source: Array) -> Array:
    """Round up to an integer."""
    return n.ceil(source, float_format(op.result.type), model.nan)


@elementwise
def cmpf(_model: Model, op: ops.CmpF, lhs: Array, rhs: Array) -> Array:
    """Compare."""
    ordered = str(op.comparison_ordering) == "ordered"
    return n.cmpf(lhs, rhs, float_format(op.lhs.type), str(op.comparison_predicate), ordered)


@elementwise
def cos(model: Model, op: ops.Cos, source: Array) -> Array:
    """Cosine."""
    return math(model, op, n.cos, source)


@elementwise
def cosh(model: Model, op: ops.CosH, source: Array) -> Array:
    """Hyperbolic cosine."""
    return math(model, op, n.cosh, source)


@elementwise
def divf(model: Model, op: ops.DivF, lhs: Array, rhs: Array) -> Array:
    """Divide; an approximation that the model has no program for answers the correctly rounded quotient."""
    program = approximation(model, op, float_format(op.result.type))
    if program is not None:
        return program(lhs, rhs, float_format(op.result.type), model.nan, flush_to_zero=op.flush_to_zero)
    rounding = ROUNDINGS.get(str(op.rounding_mode), n.Rounding.NEAREST_EVEN)
    result = n.divf(lhs, rhs, float_format(op.result.type), rounding, op.flush_to_zero, model.nan)
    return flush_tiny(model, op, result, n.divf, lhs, rhs)


@elementwise
def exp(model: Model, op: ops.Exp, source: Array) -> Array:
    """Raise e to a power."""
    program = approximation(model, op, float_format(op.result.type))
    if program is not None:
        return program(source, float_format(op.result.type), model.nan)
    return math(model, op, n.exp, source)


@elementwise
def exp2(model: Model, op: ops.Exp2, source: Array) -> Array:
    """Raise 2 to a power."""
    return math(model, op, n.exp2, source, flush_to_zero=op.flush_to_zero)


@elementwise
def floor(model: Model, op: ops.Floor, source: Array) -> Array:
    """Round down to an integer."""
    return n.floor(source, float_format(op.result.type), model.nan)


@elementwise
def fma(model: Model, op: ops.Fma, lhs: Array, rhs: Array, acc: Array) -> Array:
    """Multiply and add, rounded once."""
    rounding = ROUNDINGS[str(op.rounding_mode)]
    return n.fma(lhs, rhs, acc, float_format(op.result.type), rounding, op.flush_to_zero, model.nan)


@elementwise
def log(model: Model, op: ops.Log, source: Array) -> Array:
    """Natural logarithm."""
    return math(model, op, n.log, source)


@elementwise
def log2(model: Model, op: ops.Log2, source: Array) -> Array:
    """Logarithm to base 2."""
    return math(model, op, n.log2, source)


@elementwise
def maxf(model: Model, op: ops.MaxF, lhs: Array, rhs: Array) -> Array:
    """Take the larger."""
    fmt = float_format(op.result.type)
    nan = model.propagated_nan if op.propagate_nan else model.nan
    return n.maxf(lhs, rhs, fmt, op.propagate_nan, op.flush_to_zero, nan)


@elementwise
def minf(model: Model, op: ops.MinF, lhs: Array, rhs: Array) -> Array:
    """Take the smaller."""
    fmt = float_format(op.result.type)
    nan = model.propagated_nan if op.propagate_nan else model.nan
    return n.minf(lhs, rhs, fmt, op.propagate_nan, op.flush_to_zero, nan)


@elementwise
def mulf(model: Model, op: ops.MulF, lhs: Array, rhs: Array) -> Array:
    """Multiply."""
    rounding = ROUNDINGS[str(op.rounding_mode)]
    result = n.mulf(lhs, rhs, float_format(op.result.type), rounding, op.flush_to_zero, model.nan)
    return flush_tiny(model, op, result, n.mulf, lhs, rhs)


@elementwise
def negf(model: Model, op: ops.NegF, source: Array) -> Array:
    """Flip the sign."""
    fmt = float_format(op.result.type)
    result = n.negf(source, fmt)
    model.nan(result, (source,), fmt, op.mnemonic)
    return result


@elementwise
def fpowf(model: Model, op: ops.FPowF, source: Array, exponent: Array) -> Array:
    """Raise to a power."""
    return math(model, op, n.pow, source, exponent)


@elementwise
def remf(model: Model, op: ops.RemF, lhs: Array, rhs: Array) -> Array:
    """Remainder of the truncated quotient."""
    return n.remf(lhs, rhs, float_format(op.result.type), model.nan)


@elementwise
def rsqrt(model: Model, op: ops.Rsqrt, source: Array) -> Array:
    """Reciprocal square root."""
    return math(model, op, n.rsqrt, source, flush_to_zero=op.flush_to_zero)


@elementwise
def sin(model: Model, op: ops.Sin, source: Array) -> Array:
    """Sine."""
    return math(model, op, n.sin, source)


@elementwise
def sinh(model: Model, op: ops.SinH, source: Array) -> Array:
    """Hyperbolic sine."""
    return math(model, op, n.sinh, source)


@elementwise
def sqrt(model: Model, op: ops.Sqrt, source: Array) -> Array:
    """Square root; an approximation that the model has no program for answers the correctly rounded one."""
    program = approximation(model, op, float_format(op.result.type))
    if program is not None:
        return program(source, float_format(op.result.type), model.nan, flush_to_zero=op.flush_to_zero)
    rounding = ROUNDINGS.get(str(op.rounding_mode), n.Rounding.NEAREST_EVEN)
    return n.sqrt(source, float_format(op.result.type), rounding, op.flush_to_zero, model.nan)


@elementwise
def subf(model: Model, op: ops.SubF, lhs: Array, rhs: Array) -> Array:
    """Subtract."""
    rounding = ROUNDINGS[str(op.rounding_mode)]
    return n.subf(lhs, rhs, float_format(op.result.type), rounding, op.flush_to_zero, model.nan)


@elementwise
def tan(model: Model, op: ops.Tan, source: Array) -> Array:
    """Tangent."""
    return math(model, op, n.tan, source)


@elementwise
def tanh(model: Model, op: ops.TanH, source: Array) -> Array:
    """Hyperbolic tangent."""
    program = approximation(model, op, float_format(op.result.type))
    if program is not None:
        return program(source, float_format(op.result.type), model.nan)
    return math(model, op, n.tanh, source)


@elementwise
def atan2(model: Model, op: ops.Atan2, x: Array, y: Array) -> Array:
    """Angle of a point, the numerator first."""
    return math(model, op, n.atan2, x, y)


@elementwise
def fpowi(model: Model, op: ops.FPowI, source: Array, exponent: Array) -> Array:
    """Raise to an integer power."""
    return math(model, op, n.fpowi, source, exponent)
