"""Floating-point arithmetic and math, element by element."""

from __future__ import annotations

from ..attributes import ComparisonOrdering, ComparisonPredicate, RoundingMode
from ..declare import attribute, flag, operand, result_of
from ..module import Operation, Value
from ..version import V13_2, V13_3, V13_4
from .elements import BOOL, FLOAT, INTEGER


class AbsF(Operation, opcode=0):
    """Absolute value: the sign cleared."""

    source: Value = operand(FLOAT)
    result: Value = result_of(FLOAT)
    assembly = "%source : type(source, result)"


class AddF(Operation, opcode=2):
    """Sum."""

    lhs: Value = operand(FLOAT)
    rhs: Value = operand(FLOAT)
    rounding_mode: RoundingMode = attribute(RoundingMode, RoundingMode.NEAREST_EVEN)
    flush_to_zero: bool = flag(0)
    result: Value = result_of(FLOAT)
    assembly = "%lhs, %rhs {rounding<$rounding_mode>}?{ $flush_to_zero}? : type(lhs, rhs, result)"


class Ceil(Operation, opcode=13):
    """Smallest integer not below the operand."""

    source: Value = operand(FLOAT)
    result: Value = result_of(FLOAT)
    assembly = "%source : type(source, result)"


class CmpF(Operation, opcode=14):
    """Comparison; ``comparison_ordering`` says what a NaN operand answers."""

    comparison_predicate: ComparisonPredicate = attribute(ComparisonPredicate)
    comparison_ordering: ComparisonOrdering = attribute(ComparisonOrdering)
    lhs: Value = operand(FLOAT)
    rhs: Value = operand(FLOAT)
    result: Value = result_of(BOOL)
    assembly = "$comparison_predicate $comparison_ordering %lhs, %rhs : type(lhs, rhs) -> type(result)"


class Cos(Operation, opcode=18):
    """Cosine of an angle in radians."""

    source: Value = operand(FLOAT)
    result: Value = result_of(FLOAT)
    assembly = "%source : type(source, result)"


class CosH(Operation, opcode=19):
    """Hyperbolic cosine."""

    source: Value = operand(FLOAT)
    result: Value = result_of(FLOAT)
    assembly = "%source : type(source, result)"


class DivF(Operation, opcode=20):
    """Quotient ``lhs / rhs``; ``approx`` and ``full`` are the target's approximations, for f32."""

    lhs: Value = operand(FLOAT)
    rhs: Value = operand(FLOAT)
    rounding_mode: RoundingMode = attribute(RoundingMode, RoundingMode.NEAREST_EVEN)
    flush_to_zero: bool = flag(0)
    result: Value = result_of(FLOAT)
    assembly = "%lhs, %rhs {rounding<$rounding_mode>}?{ $flush_to_zero}? : type(lhs, rhs, result)"


class Exp(Operation, opcode=23):
    """e to the power of the operand."""

    source: Value = operand(FLOAT)
    rounding_mode: RoundingMode = attribute(RoundingMode, RoundingMode.FULL, since=V13_3)
    result: Value = result_of(FLOAT)
    assembly = "%source {rounding<$rounding_mode>}? : type(source, result)"


class Exp2(Operation, opcode=24):
    """2 to the power of the operand."""

    source: Value = operand(FLOAT)
    flush_to_zero: bool = flag(0)
    result: Value = result_of(FLOAT)
    assembly = "%source{ $flush_to_zero}? : type(source, result)"


class Floor(Operation, opcode=39):
    """Largest integer not above the operand."""

    source: Value = operand(FLOAT)
    result: Value = result_of(FLOAT)
    assembly = "%source : type(source, result)"


class Fma(Operation, opcode=40):
    """``lhs * rhs + acc``, rounded once."""

    lhs: Value = operand(FLOAT)
    rhs: Value = operand(FLOAT)
    acc: Value = operand(FLOAT)
    rounding_mode: RoundingMode = attribute(RoundingMode, RoundingMode.NEAREST_EVEN)
    flush_to_zero: bool = flag(0)
    result: Value = result_of(FLOAT)
    assembly = "%lhs, %rhs, %acc {rounding<$rounding_mode>}?{ $flush_to_zero}? : type(lhs, rhs, acc, result)"


class Log(Operation, opcode=63):
    """Natural logarithm."""

    source: Value = operand(FLOAT)
    result: Value = result_of(FLOAT)
    assembly = "%source : type(source, result)"


class Log2(Operation, opcode=64):
    """Logarithm to base 2."""

    source: Value = operand(FLOAT)
    result: Value = result_of(FLOAT)
    assembly = "%source : type(source, result)"


class MaxF(Operation, opcode=69):
    """Larger operand, +0 above -0; a NaN loses unless ``propagate_nan``."""

    lhs: Value = operand(FLOAT)
    rhs: Value = operand(FLOAT)
    propagate_nan: bool = flag(0)
    flush_to_zero: bool = flag(1)
    result: Value = result_of(FLOAT)
    assembly = "%lhs, %rhs{ $flush_to_zero| $propagate_nan}* : type(lhs, rhs, result)"


class MinF(Operation, opcode=71):
    """Smaller operand, -0 below +0; a NaN loses unless ``propagate_nan``."""

    lhs: Value = operand(FLOAT)
    rhs: Value = operand(FLOAT)
    propagate_nan: bool = flag(0)
    flush_to_zero: bool = flag(1)
    result: Value = result_of(FLOAT)
    assembly = "%lhs, %rhs{ $flush_to_zero| $propagate_nan}* : type(lhs, rhs, result)"


class MulF(Operation, opcode=76):
    """Product."""

    lhs: Value = operand(FLOAT)
    rhs: Value = operand(FLOAT)
    rounding_mode: RoundingMode = attribute(RoundingMode, RoundingMode.NEAREST_EVEN)
    flush_to_zero: bool = flag(0)
    result: Value = result_of(FLOAT)
    assembly = "%lhs, %rhs {rounding<$rounding_mode>}?{ $flush_to_zero}? : type(lhs, rhs, result)"


class NegF(Operation, opcode=79):
    """The sign flipped."""

    source: Value = operand(FLOAT)
    result: Value = result_of(FLOAT)
    assembly = "%source : type(source, result)"


class FPowF(Operation, opcode=84):
    """``source`` to the power ``exponent``."""

    source: Value = operand(FLOAT)
    exponent: Value = operand(FLOAT)
    result: Value = result_of(FLOAT)
    assembly = "%source, %exponent : type(source, exponent, result)"


class RemF(Operation, opcode=89):
    """Remainder of the quotient truncated towards zero: the sign is the dividend's."""

    lhs: Value = operand(FLOAT)
    rhs: Value = operand(FLOAT)
    result: Value = result_of(FLOAT)
    assembly = "%lhs, %rhs : type(lhs, rhs, result)"


class Rsqrt(Operation, opcode=93):
    """Reciprocal square root."""

    source: Value = operand(FLOAT)
    flush_to_zero: bool = flag(0)
    result: Value = result_of(FLOAT)
    assembly = "%source{ $flush_to_zero}? : type(source, result)"


class Sin(Operation, opcode=98):
    """Sine of an angle in radians."""

    source: Value = operand(FLOAT)
    result: Value = result_of(FLOAT)
    assembly = "%source : type(source, result)"


class SinH(Operation, opcode=99):
    """Hyperbolic sine."""

    source: Value = operand(FLOAT)
    result: Value = result_of(FLOAT)
    assembly = "%source : type(source, result)"


class Sqrt(Operation, opcode=100):
    """Square root; ``approx`` is the target's approximation, for f32."""

    source: Value = operand(FLOAT)
    rounding_mode: RoundingMode = attribute(RoundingMode, RoundingMode.NEAREST_EVEN)
    flush_to_zero: bool = flag(0)
    result: Value = result_of(FLOAT)
    assembly = "%source {rounding<$rounding_mode>}?{ $flush_to_zero}? : type(source, result)"


class SubF(Operation, opcode=103):
    """Difference ``lhs - rhs``."""

    lhs: Value = operand(FLOAT)
    rhs: Value = operand(FLOAT)
    rounding_mode: RoundingMode = attribute(RoundingMode, RoundingMode.NEAREST_EVEN)
    flush_to_zero: bool = flag(0)
    result: Value = result_of(FLOAT)
    assembly = "%lhs, %rhs {rounding<$rounding_mode>}?{ $flush_to_zero}? : type(lhs, rhs, result)"


class Tan(Operation, opcode=105):
    """Tangent of an angle in radians."""

    source: Value = operand(FLOAT)
    result: Value = result_of(FLOAT)
    assembly = "%source : type(source, result)"


class TanH(Operation, opcode=106):
    """Hyperbolic tangent; ``approx`` is the target's approximation, for f32."""

    source: Value = operand(FLOAT)
    rounding_mode: RoundingMode = attribute(RoundingMode, RoundingMode.FULL, since=V13_2)
    result: Value = result_of(FLOAT)
    assembly = "%source {rounding<$rounding_mode>}? : type(source, result)"


class Atan2(Operation, opcode=110, since=V13_2):
    """Angle whose tangent is ``x / y``, in the quadrant of their signs (C's ``atan2(x, y)``)."""

    x: Value = operand(FLOAT)
    y: Value = operand(FLOAT)
    result: Value = result_of(FLOAT)
    assembly = "%x, %y : type(x, y, result)"


class FPowI(Operation, opcode=121, since=V13_4):
    """``source`` to an integer power, read as signed."""

    source: Value = operand(FLOAT)
    exponent: Value = operand(INTEGER)
    result: Value = result_of(FLOAT)
    assembly = "%source, %exponent : type(source, result), type(exponent)"
