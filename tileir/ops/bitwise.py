"""Bitwise logic, element by element."""

from __future__ import annotations

from ..declare import operand, result_of
from ..module import Operation, Value
from .elements import INTEGER


class AndI(Operation, opcode=4):
    """Bitwise and."""

    lhs: Value = operand(INTEGER)
    rhs: Value = operand(INTEGER)
    result: Value = result_of(INTEGER)
    assembly = "%lhs, %rhs : type(lhs, rhs, result)"


class OrI(Operation, opcode=82):
    """Bitwise or."""

    lhs: Value = operand(INTEGER)
    rhs: Value = operand(INTEGER)
    result: Value = result_of(INTEGER)
    assembly = "%lhs, %rhs : type(lhs, rhs, result)"


class XOrI(Operation, opcode=108):
    """Bitwise exclusive or."""

    lhs: Value = operand(INTEGER)
    rhs: Value = operand(INTEGER)
    result: Value = result_of(INTEGER)
    assembly = "%lhs, %rhs : type(lhs, rhs, result)"
