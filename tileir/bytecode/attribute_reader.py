"""Attributes: those that carry a tag, and the plain encodings that operations name."""

from __future__ import annotations

from collections.abc import Sequence

from .. import attributes as a
from ..types import TF32, FunctionType, NumberType, TileType, Type
from .constants import record_sizes, unpack
from .cursor import Cursor
from .type_reader import TypeTable

NESTING = 16
"""Attributes nest no deeper than this in any real file."""


class AttributeReader:
    """Decodes attributes against the string, type and constant tables."""

    def __init__(self, strings: Sequence[bytes], types: TypeTable, constants: Sequence[bytes]) -> None:
        self.types = types
        self._bytes = strings
        self._constants = constants
        # What is referred to often is decoded once: the work stays in proportion to the file.
        self._strings: list[str | None] = [None] * len(strings)
        self._dense: dict[tuple[int, int], a.DenseElements] = {}
        self._sizes: dict[int, int] = {}

    def string(self, cursor: Cursor) -> str:
        """The string whose number stands at ``cursor``."""
        index = cursor.varint()
        if index >= len(self._strings):
            cursor.fail(
                "there is no string of this number",
                "string-index",
                found=index,
                expected=f"below {len(self._strings)}",
            )
        known = self._strings[index]
        if known is None:
            known = self._strings[index] = self._bytes[index].decode("utf-8", "surrogateescape")
        return known

    def symbol(self, cursor: Cursor) -> str:
        """A string that names something, so that it is not empty."""
        name = self.string(cursor)
        if not name:
            cursor.fail("a name is empty", "symbol-empty")
        return name

    def dense(self, cursor: Cursor, type_: Type) -> a.DenseElements:
        """The constant whose number stands at ``cursor``, as elements of ``type_``."""
        index = cursor.varint()
        if index >= len(self._constants):
            cursor.fail(
                "there is no constant of this number",
                "constant-index",
                found=index,
                expected=f"below {len(self._constants)}",
            )
        # A type is kept by the type table, so its identity stands for it.
        known = self._dense.get((index, id(type_)))
        if known is not None:
            return known
        if not isinstance(type_, TileType) or not isinstance(type_.element, NumberType):
            cursor.fail("a constant is a tile of numbers", "constant-type", found=type_)
        size = self._sizes.get(id(type_))
        if size is None:
            size = self._sizes[id(type_)] = type_.size
        data = self._constants[index]
        one, all_ = record_sizes(type_.element, size)
        if len(data) not in (one, all_):
            cursor.fail(
                f"a constant's bytes are neither one element of {type_} nor all of them",
                "constant-size",
                found=f"{len(data)} bytes",
                expected=f"{one} or {all_}",
            )
        value = self._dense[index, id(type_)] = unpack(data, type_, size)
        return value

    def hints(self, cursor: Cursor, depth: int = 0) -> a.OptimizationHints:
        """A dictionary from architecture to dictionary of hints."""
        entries = []
        for key, value in self._entries(cursor, depth):
            if not isinstance(value, a.DictionaryAttribute):
                cursor.fail("an architecture's hints are a dictionary", "hints", found=value)
            entries.append((key, value))
        return a.OptimizationHints(tuple(entries))

    def _entries(self, cursor: Cursor, depth: int) -> tuple[tuple[str, a.Attribute], ...]:
        entries: dict[str, a.Attribute] = {}
        for _ in range(cursor.count("entries", size=2)):
            key = self.symbol(cursor)
            if key in entries:
                cursor.fail("a dictionary has a key twice", "dictionary-key", found=key)
            entries[key] = self.tagged(cursor, depth + 1)
        return tuple(entries.items())

    def array(self, cursor: Cursor, depth: int = 0) -> tuple[a.Attribute, ...]:
        """A counted array of tagged attributes."""
        return tuple([self.tagged(cursor, depth + 1) for _ in range(cursor.count("attributes", size=2))])

    def tagged(self, cursor: Cursor, depth: int = 0) -> a.Attribute:
        """An attribute that says what it is."""
        if depth > NESTING:
            cursor.fail("attributes are nested too deep", "attribute-depth", expected=f"at most {NESTING}")
        tag = cursor.byte()
        match tag:
            case 1:
                number = self._number(cursor)
                return a.IntegerAttribute(number, self._fits(cursor, cursor.varint(), number, number.width))
            case 2:
                number = self._number(cursor)
                return a.FloatAttribute(number, self._float(cursor, number))
            case 3:
                return a.BoolAttribute(cursor.byte() != 0)
            case 4:
                return a.TypeAttribute(self.types.read(cursor))
            case 5:
                return a.StringAttribute(self.string(cursor))
            case 6:
                return a.ArrayAttribute(self.array(cursor, depth))
            case 7:
                return self.dense(cursor, self.types.read(cursor))
            case 8:
                divisor = cursor.varint()
                return a.DivBy(divisor, *self._optional(cursor))
            case 9:
                return a.SameElements(cursor.integers(8, "groups"))
            case 10:
                return a.DictionaryAttribute(self._entries(cursor, depth))
            case 11:
                return self.hints(cursor, depth)
            case 12:
                return a.Bounded(*self._optional(cursor))
        cursor.position -= 1
        cursor.fail("there is no attribute with this tag", "attribute-tag", found=tag)

    @staticmethod
    def _optional(cursor: Cursor) -> tuple[int | None, int | None]:
        """Two signed numbers, of which a byte before them says which are there."""
        bits = cursor.byte()
        if bits & ~3:
            cursor.position -= 1
            cursor.fail("unknown presence bits", "attribute-bits", found=bin(bits), expected="0 to 0b11")
        first = cursor.signed_varint() if bits & 1 else None
        return first, cursor.signed_varint() if bits & 2 else None

    def _number(self, cursor: Cursor) -> NumberType:
        found = self.types.read(cursor)
        if not isinstance(found, NumberType):
            cursor.fail("a number's type is not a number format", "type-kind", found=found)
        return found

    def _float(self, cursor: Cursor, number: NumberType) -> int:
        width = 19 if number is TF32 else number.width
        if width <= 8:
            return self._fits(cursor, cursor.byte(), number, width)
        # cuda-tile writes the negative f64 with a 65th bit, which NVIDIA's readers lose (and with it the
        # sign: such a number means its absolute value to them).
        value = cursor.varint(wrap=True)
        bits = (value >> 1) ^ -(value & 1) & (1 << 64) - 1
        return self._fits(cursor, bits, number, width)

    @staticmethod
    def _fits(cursor: Cursor, value: int, number: NumberType, width: int) -> int:
        if value >> width:
            cursor.fail(f"a number does not fit {number}", "attribute-number", found=value)
        return value

    def function_type(self, cursor: Cursor) -> FunctionType:
        """The signature whose type number stands at ``cursor``."""
        found = self.types.read(cursor)
        if not isinstance(found, FunctionType):
            cursor.fail("a function's type is not a signature", "type-kind", found=found)
        return found
