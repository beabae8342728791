"""Attributes: those that carry a tag, and the plain encodings that operations name."""

from __future__ import annotations

from collections.abc import Iterable

from .. import attributes as a
from ..errors import WriteError
from ..types import TF32, NumberType, Type
from .constants import pack, record_sizes
from .output import Output
from .type_writer import TypeWriter


class Strings:
    """The string table, filled as strings are used."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, string: str) -> int:
        """The number of ``string``, which is added to the table if it is not there."""
        return self._numbers.setdefault(string, len(self._numbers))

    def records(self) -> list[bytes]:
        """The strings as bytes, by number."""
        return [string.encode("utf-8", "surrogateescape") for string in self._numbers]


class AttributeWriter:
    """Encodes attributes, filling the string, type and constant tables."""

    def __init__(self, strings: Strings, types: TypeWriter) -> None:
        self.strings = strings
        self.types = types
        self._constants: dict[bytes, int] = {}

    def constants(self) -> list[bytes]:
        """The records of the constant table, by number."""
        return list(self._constants)

    def string(self, out: Output, value: str) -> None:
        """The number of a string."""
        out.varint(self.strings.number(value))

    def dense(self, out: Output, value: a.DenseElements, type_: Type) -> None:
        """The number of a constant whose type, ``type_``, is known where it stands."""
        if value.type != type_:
            raise WriteError(
                "a constant's type is not that of its elements",
                rule="constant-type",
                found=value.type,
                expected=type_,
            )
        assert isinstance(value.type.element, NumberType)
        data = pack(value)
        one, all_ = record_sizes(value.type.element, value.type.size)
        if len(data) not in (one, all_) or len(value.data) % value.element_bytes:
            raise WriteError(
                f"a constant has neither one element of {type_} nor all of them",
                rule="constant-size",
                found=f"{len(value.data)} bytes",
            )
        record = Output()
        record.varint(len(data))
        record += data
        out.varint(self._constants.setdefault(bytes(record), len(self._constants)))

    def hints(self, out: Output, value: a.OptimizationHints) -> None:
        """A dictionary from architecture to dictionary of hints."""
        self._entries(out, value.architectures)

    def _entries(self, out: Output, entries: tuple[tuple[str, a.Attribute], ...]) -> None:
        out.varint(len(entries))
        for key, value in entries:
            self.string(out, key)
            self.tagged(out, value)

    def array(self, out: Output, elements: Iterable[a.Attribute]) -> None:
        """A counted array of tagged attributes."""
        elements = tuple(elements)
        out.varint(len(elements))
        for element in elements:
            self.tagged(out, element)

    def tagged(self, out: Output, value: a.Attribute) -> None:
        """An attribute that says what it is."""
        match value:
            case a.IntegerAttribute():
                self._number(out, 1, value.type, value.bits, value.type.width)
                out.varint(value.bits)
            case a.FloatAttribute():
                width = 19 if value.type is TF32 else value.type.width
                self._number(out, 2, value.type, value.bits, width)
                if width <= 8:
                    out.append(value.bits)
                else:
                    out.signed_varint(value.bits)
            case a.BoolAttribute():
                out += bytes((3, value.value))
            case a.TypeAttribute():
                out.varints((4, self.types.number(value.type)))
            case a.StringAttribute():
                out.append(5)
                self.string(out, value.value)
            case a.ArrayAttribute():
                out.append(6)
                self.array(out, value.elements)
            case a.DenseElements():
                out.varints((7, self.types.number(value.type)))
                self.dense(out, value, value.type)
            case a.DivBy():
                out.append(8)
                out.varint(value.divisor)
                self._optional(out, value.every, value.along)
            case a.SameElements():
                out.append(9)
                out.integers(value.values, 8)
            case a.DictionaryAttribute():
                out.append(10)
                self._entries(out, value.entries)
            case a.OptimizationHints():
                out.append(11)
                self.hints(out, value)
            case a.Bounded():
                out.append(12)
                self._optional(out, value.lb, value.ub)
            case _:
                raise TypeError(f"not an attribute: {value!r}")

    def _number(self, out: Output, tag: int, type_: NumberType, bits: int, width: int) -> None:
        if not 0 <= bits < 1 << width:
            raise WriteError(f"a number does not fit {type_}", rule="attribute-number", found=hex(bits))
        out.varints((tag, self.types.number(type_)))

    @staticmethod
    def _optional(out: Output, first: int | None, second: int | None) -> None:
        out.append((first is not None) | (second is not None) << 1)
        for number in (first, second):
            if number is not None:
                if not -(1 << 63) <= number < 1 << 63:
                    raise WriteError("a number has more than 64 bits", rule="attribute-number", found=number)
                out.signed_varint(number)
