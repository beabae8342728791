"""Attributes: those that carry a tag, and the plain encodings that operations name."""

from __future__ import annotations

from collections.abc import Sequence

from .. import attributes as a
from ..types import FunctionType, NumberType, TileType, Type
from .cursor import Cursor
from .type_reader import TypeTable

NESTING = 64
"""Attributes nest no deeper than this in any real file."""


class AttributeReader:
    """Decodes attributes against the string, type and constant tables."""

    def __init__(self, strings: Sequence[bytes], types: TypeTable, constants: Sequence[bytes]) -> None:
        self.strings = strings
        self.types = types
        self.constants = constants

    def string(self, cursor: Cursor) -> str:
        """The string whose number stands at ``cursor``."""
        index = cursor.varint()
        if index >= len(self.strings):
            cursor.fail(
                "there is no string of this number",
                "string-index",
                found=index,
                expected=f"below {len(self.strings)}",
            )
        return self.strings[index].decode("utf-8", "surrogateescape")

    def dense(self, cursor: Cursor, type_: Type) -> a.DenseElements:
        """The constant whose number stands at ``cursor``, as elements of ``type_``."""
        index = cursor.varint()
        if index >= len(self.constants):
            cursor.fail(
                "there is no constant of this number",
                "constant-index",
                found=index,
                expected=f"below {len(self.constants)}",
            )
        if not isinstance(type_, TileType) or not isinstance(type_.element, NumberType):
            cursor.fail("a constant is a tile of numbers", "constant-type", found=type_)
        data = self.constants[index]
        width = type_.element.bytes
        if len(data) not in (width, width * type_.size):
            cursor.fail(
                f"a constant's bytes are neither one element of {type_} nor all of them",
                "constant-size",
                found=f"{len(data)} bytes",
                expected=f"{width} or {width * type_.size}",
            )
        return a.DenseElements(type_, data)

    def hints(self, cursor: Cursor, depth: int = 0) -> a.OptimizationHints:
        """A dictionary from architecture to dictionary of hints."""
        entries = []
        for key, value in self._entries(cursor, depth):
            if not isinstance(value, a.DictionaryAttribute):
                cursor.fail("an architecture's hints are a dictionary", "hints", found=value)
            entries.append((key, value))
        return a.OptimizationHints(tuple(entries))

    def _entries(self, cursor: Cursor, depth: int) -> tuple[tuple[str, a.Attribute], ...]:
        entries: list[tuple[str, a.Attribute]] = []
        seen: set[str] = set()
        for _ in range(cursor.count("entries", size=2)):
            key = self.string(cursor)
            if key in seen:
                cursor.fail("a dictionary has a key twice", "dictionary-key", found=key)
            seen.add(key)
            entries.append((key, self.tagged(cursor, depth + 1)))
        return tuple(entries)

    def array(self, cursor: Cursor, depth: int = 0) -> tuple[a.Attribute, ...]:
        """A counted array of tagged attributes."""
        return tuple(self.tagged(cursor, depth + 1) for _ in range(cursor.count("attributes", size=2)))

    def tagged(self, cursor: Cursor, depth: int = 0) -> a.Attribute:
        """An attribute that says what it is."""
        if depth > NESTING:
            cursor.fail("attributes are nested too deep", "attribute-depth", expected=f"at most {NESTING}")
        tag = cursor.byte()
        match tag:
            case 1:
                number = self._number(cursor)
                value = cursor.varint()
                if value >> max(number.width, 1):
                    cursor.fail(f"an integer does not fit {number}", "attribute-integer", found=value)
                return a.IntegerAttribute(number, value)
            case 2:
                number = self._number(cursor)
                bits = cursor.byte() if number.width <= 8 else cursor.signed_varint()
                if not 0 <= bits < 1 << number.width:
                    bits &= (1 << number.width) - 1
                return a.FloatAttribute(number, bits)
            case 3:
                return a.BoolAttribute(bool(cursor.byte()))
            case 4:
                return a.TypeAttribute(self.types.read(cursor))
            case 5:
                return a.StringAttribute(self.string(cursor))
            case 6:
                return a.ArrayAttribute(self.array(cursor, depth))
            case 7:
                return self.dense(cursor, self.types.read(cursor))
            case 8:
                divisor, bits = cursor.varint(), cursor.byte()
                every = cursor.signed_varint() if bits & 1 else None
                return a.DivBy(divisor, every, cursor.signed_varint() if bits & 2 else None)
            case 9:
                return a.SameElements(cursor.integers(8, "groups"))
            case 10:
                return a.DictionaryAttribute(self._entries(cursor, depth))
            case 11:
                return self.hints(cursor, depth)
            case 12:
                bits = cursor.byte()
                lb = cursor.signed_varint() if bits & 1 else None
                return a.Bounded(lb, cursor.signed_varint() if bits & 2 else None)
        cursor.position -= 1
        cursor.fail("there is no attribute with this tag", "attribute-tag", found=tag)

    def _number(self, cursor: Cursor) -> NumberType:
        found = self.types.read(cursor)
        if not isinstance(found, NumberType):
            cursor.fail("a number's type is not a number format", "type-kind", found=found)
        return found

    def function_type(self, cursor: Cursor) -> FunctionType:
        """The signature whose type number stands at ``cursor``."""
        found = self.types.read(cursor)
        if not isinstance(found, FunctionType):
            cursor.fail("a function's type is not a signature", "type-kind", found=found)
        return found
