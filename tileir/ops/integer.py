"""Integer arithmetic, element by element."""

from __future__ import annotations

from ..attributes import ComparisonPredicate, IntegerOverflow, RoundingMode, Signedness
from ..declare import attribute, operand, result_of
from ..module import Operation, Value
from ..version import V13_2
from .elements import BOOL, INTEGER


class AbsI(Operation, opcode=1):
    """Absolute value of a signed operand, read as unsigned."""

    source: Value = operand(INTEGER)
    result: Value = result_of(INTEGER)
    assembly = "%source : type(source, result)"


class AddI(Operation, opcode=3):
    """Sum, wrapping around."""

    lhs: Value = operand(INTEGER)
    rhs: Value = operand(INTEGER)
    overflow: IntegerOverflow = attribute(IntegerOverflow, IntegerOverflow.NONE)
    result: Value = result_of(INTEGER)
    assembly = "%lhs, %rhs{ overflow<$overflow>}? : type(lhs, rhs, result)"


class CmpI(Operation, opcode=15):
    """Comparison."""

    comparison_predicate: ComparisonPredicate = attribute(ComparisonPredicate)
    lhs: Value = operand(INTEGER)
    rhs: Value = operand(INTEGER)
    signedness: Signedness = attribute(Signedness)
    result: Value = result_of(BOOL)
    assembly = "$comparison_predicate %lhs, %rhs, $signedness : type(lhs, rhs) -> type(result)"


class DivI(Operation, opcode=21):
    """Quotient, rounded towards zero, up or down; undefined for a zero divisor or minimum by -1."""

    lhs: Value = operand(INTEGER)
    rhs: Value = operand(INTEGER)
    signedness: Signedness = attribute(Signedness)
    rounding: RoundingMode = attribute(RoundingMode, RoundingMode.ZERO)
    result: Value = result_of(INTEGER)
    assembly = "%lhs, %rhs $signedness{ rounding<$rounding>}? : type(lhs, rhs, result)"


class MaxI(Operation, opcode=70):
    """Larger operand."""

    lhs: Value = operand(INTEGER)
    rhs: Value = operand(INTEGER)
    signedness: Signedness = attribute(Signedness)
    result: Value = result_of(INTEGER)
    assembly = "%lhs, %rhs $signedness : type(lhs, rhs, result)"


class MinI(Operation, opcode=72):
    """Smaller operand."""

    lhs: Value = operand(INTEGER)
    rhs: Value = operand(INTEGER)
    signedness: Signedness = attribute(Signedness)
    result: Value = result_of(INTEGER)
    assembly = "%lhs, %rhs $signedness : type(lhs, rhs, result)"


class MulhiI(Operation, opcode=77):
    """High half of the unsigned product."""

    x: Value = operand(INTEGER)
    y: Value = operand(INTEGER)
    result: Value = result_of(INTEGER)
    assembly = "%x, %y : type(x, y, result)"


class MulI(Operation, opcode=78):
    """Product, wrapping around."""

    lhs: Value = operand(INTEGER)
    rhs: Value = operand(INTEGER)
    overflow: IntegerOverflow = attribute(IntegerOverflow, IntegerOverflow.NONE)
    result: Value = result_of(INTEGER)
    assembly = "%lhs, %rhs{ overflow<$overflow>}? : type(lhs, rhs, result)"


class NegI(Operation, opcode=80):
    """Negation, wrapping around."""

    source: Value = operand(INTEGER)
    overflow: IntegerOverflow = attribute(IntegerOverflow, IntegerOverflow.NONE, since=V13_2)
    result: Value = result_of(INTEGER)
    assembly = "%source{ overflow<$overflow>}? : type(source, result)"


class RemI(Operation, opcode=90):
    """Remainder of the quotient truncated towards zero; undefined for a zero divisor."""

    lhs: Value = operand(INTEGER)
    rhs: Value = operand(INTEGER)
    signedness: Signedness = attribute(Signedness)
    result: Value = result_of(INTEGER)
    assembly = "%lhs, %rhs $signedness : type(lhs, rhs, result)"


class ShLI(Operation, opcode=96):
    """Left shift by an unsigned count."""

    lhs: Value = operand(INTEGER)
    rhs: Value = operand(INTEGER)
    overflow: IntegerOverflow = attribute(IntegerOverflow, IntegerOverflow.NONE)
    result: Value = result_of(INTEGER)
    assembly = "%lhs, %rhs{ overflow<$overflow>}? : type(lhs, rhs, result)"


class ShRI(Operation, opcode=97):
    """Right shift by an unsigned count, filling with zeros (unsigned) or the sign (signed)."""

    lhs: Value = operand(INTEGER)
    rhs: Value = operand(INTEGER)
    signedness: Signedness = attribute(Signedness)
    result: Value = result_of(INTEGER)
    assembly = "%lhs, %rhs $signedness : type(lhs, rhs, result)"


class SubI(Operation, opcode=104):
    """Difference, wrapping around."""

    lhs: Value = operand(INTEGER)
    rhs: Value = operand(INTEGER)
    overflow: IntegerOverflow = attribute(IntegerOverflow, IntegerOverflow.NONE)
    result: Value = result_of(INTEGER)
    assembly = "%lhs, %rhs{ overflow<$overflow>}? : type(lhs, rhs, result)"
