"""Conversions between element types."""

from __future__ import annotations

from ..attributes import IntegerOverflow, RoundingMode, Signedness
from ..declare import attribute, flag, operand, result_of
from ..module import Operation, Value
from ..version import V13_3, V13_4
from .elements import ANY_FLOAT, ANY_INTEGER, I8, I64, INTEGER, NUMBER, POINTERS


class Bitcast(Operation, opcode=9):
    """The same bits read as another format of the same width."""

    source: Value = operand(NUMBER)
    result: Value = result_of(NUMBER)
    assembly = "%source : type(source) -> type(result)"


class ExtI(Operation, opcode=37):
    """To a wider integer, with zeros (unsigned) or the sign (signed)."""

    from_: Value = operand(ANY_INTEGER)
    signedness: Signedness = attribute(Signedness)
    to: Value = result_of(ANY_INTEGER)
    assembly = "%from_ $signedness : type(from_) -> type(to)"


class FToF(Operation, opcode=42):
    """From one float format to another."""

    from_: Value = operand(ANY_FLOAT)
    rounding_mode: RoundingMode = attribute(RoundingMode, RoundingMode.NEAREST_EVEN)
    to: Value = result_of(ANY_FLOAT)
    assembly = "%from_ {rounding<$rounding_mode>}? : type(from_) -> type(to)"


class FToI(Operation, opcode=43):
    """From a float to an integer, truncated; out of range is undefined unless ``saturating``."""

    from_: Value = operand(ANY_FLOAT)
    signedness: Signedness = attribute(Signedness)
    rounding_mode: RoundingMode = attribute(RoundingMode, RoundingMode.NEAREST_INT_TO_ZERO)
    saturating: bool = flag(0, since=V13_4)
    to: Value = result_of(INTEGER)
    assembly = "%from_ $signedness {rounding<$rounding_mode>}?{ $saturating}? : type(from_) -> type(to)"


class IntToPtr(Operation, opcode=51, name="int_to_ptr"):
    """Addresses as pointers."""

    source: Value = operand(I64)
    result: Value = result_of(POINTERS)
    assembly = "%source : type(source) -> type(result)"


class IToF(Operation, opcode=59):
    """From an integer to a float."""

    from_: Value = operand(INTEGER)
    signedness: Signedness = attribute(Signedness)
    rounding_mode: RoundingMode = attribute(RoundingMode, RoundingMode.NEAREST_EVEN)
    to: Value = result_of(ANY_FLOAT)
    assembly = "%from_ $signedness {rounding<$rounding_mode>}? : type(from_) -> type(to)"


class PtrToInt(Operation, opcode=86, name="ptr_to_int"):
    """Pointers as addresses."""

    source: Value = operand(POINTERS)
    result: Value = result_of(I64)
    assembly = "%source : type(source) -> type(result)"


class PtrToPtr(Operation, opcode=87, name="ptr_to_ptr"):
    """The same addresses as pointers to another element type."""

    source: Value = operand(POINTERS)
    result: Value = result_of(POINTERS)
    assembly = "%source : type(source) -> type(result)"


class TruncI(Operation, opcode=107):
    """To a narrower integer: the low bits."""

    from_: Value = operand(ANY_INTEGER)
    overflow: IntegerOverflow = attribute(IntegerOverflow, IntegerOverflow.NONE)
    to: Value = result_of(ANY_INTEGER)
    assembly = "%from_{ overflow<$overflow>}? : type(from_) -> type(to)"


class Pack(Operation, opcode=111, since=V13_3):
    """A rank-1 tile as the bytes it takes; the even lane of a sub-byte format is the low nibble."""

    source: Value = operand(NUMBER)
    result: Value = result_of(I8)
    assembly = "%source : type(source) -> type(result)"


class Unpack(Operation, opcode=112, since=V13_3):
    """A rank-1 tile of bytes as the tile they hold."""

    source: Value = operand(I8)
    result: Value = result_of(NUMBER)
    assembly = "%source : type(source) -> type(result)"
