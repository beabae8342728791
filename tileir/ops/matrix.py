"""Matrix multiply-accumulate."""

from __future__ import annotations

from ..attributes import Signedness
from ..declare import Elements, attribute, flag, operand, result_of
from ..module import Operation, Value
from ..version import V13_3
from .elements import I8, I32

OPERANDS: Elements = frozenset({"f16", "bf16", "f32", "tf32", "f64", "f8E4M3FN", "f8E5M2"})
ACCUMULATORS: Elements = frozenset({"f16", "f32", "f64"})
SCALED_OPERANDS: Elements = frozenset({"f8E4M3FN", "f8E5M2", "f4E2M1FN"})
SCALES: Elements = frozenset({"f8E8M0FNU", "f8E4M3FN"})
F32: Elements = frozenset({"f32"})


class MmaF(Operation, opcode=73):
    """``lhs @ rhs + acc`` of float matrices, or of batches of them."""

    lhs: Value = operand(OPERANDS)
    rhs: Value = operand(OPERANDS)
    acc: Value = operand(ACCUMULATORS)
    fast_acc: bool = flag(0, since=V13_3)
    result: Value = result_of(ACCUMULATORS)
    assembly = "%lhs, %rhs, %acc{ $fast_acc}? : type(lhs), type(rhs), type(acc, result)"


class MmaI(Operation, opcode=74):
    """``lhs @ rhs + acc`` of i8 matrices into i32, or of batches of them."""

    lhs: Value = operand(I8)
    rhs: Value = operand(I8)
    acc: Value = operand(I32)
    signedness_lhs: Signedness = attribute(Signedness)
    signedness_rhs: Signedness = attribute(Signedness)
    result: Value = result_of(I32)
    assembly = "%lhs, %rhs, %acc $signedness_lhs $signedness_rhs : type(lhs), type(rhs), type(acc, result)"


class MmaFScaled(Operation, opcode=114, name="mmaf_scaled", since=V13_3):
    """``mmaf`` of narrow formats whose elements share scales, block by block along K."""

    lhs: Value = operand(SCALED_OPERANDS)
    rhs: Value = operand(SCALED_OPERANDS)
    acc: Value = operand(F32)
    lhs_scale: Value = operand(SCALES)
    rhs_scale: Value = operand(SCALES)
    result: Value = result_of(F32)
    assembly = (
        "%lhs, %rhs, %acc, %lhs_scale, %rhs_scale"
        " : type(lhs), type(rhs), type(acc, result), type(lhs_scale), type(rhs_scale)"
    )
