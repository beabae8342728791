"""Bytes to module, driven by the declarations of ``tileir.ops``."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeVar

from .. import ops as _ops  # noqa: F401  (declares the operations)
from .. import registry
from ..attributes import ArrayAttribute, Attribute, OptimizationHints, SymbolVisibility
from ..errors import TileError
from ..locations import Location
from ..module import Function, Global, Module, Operation, Region, Value
from ..types import TOKEN
from ..version import V13_3, V13_5
from .attribute_reader import AttributeReader
from .cursor import Cursor
from .debug_reader import DebugTable, read_debug
from .plan import plan
from .sections import Section, read_header, read_sections, read_table
from .type_reader import TypeTable

A = TypeVar("A", bound=Attribute)

ENTRY, HINTS = 2, 4
REGION_DEPTH = 100
"""Regions nest no deeper than this in any real file."""


def read(source: str | PathLike[str] | bytes) -> Module:
    """Read a bytecode file.

    Args:
        source: a path, or the bytes themselves.

    Raises:
        TileError: the file cannot be read, is no bytecode, or breaks a rule of the format; the error names
            the byte offset and the rule.
    """
    if isinstance(source, bytes | bytearray | memoryview):
        return _Reader(bytes(source), None).module()
    path = fspath(source)
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise TileError(f"cannot read the file: {error.strerror}", rule="file", file=path) from error
    return _Reader(data, path).module()


class _Reader:
    def __init__(self, data: bytes, file: str | None) -> None:
        cursor = Cursor(data, file)
        self.file = file
        self.version = read_header(cursor)
        self.sections = read_sections(cursor, self.version)
        for needed in (Section.STRING, Section.FUNCTION):
            if needed not in self.sections:
                cursor.fail(f"the file has no {needed.name.lower()} section", "section-missing")
        # A section that would be empty may be left out, and a table of nothing is as good as none.
        strings = [c.take(c.remaining) for c in self._table(Section.STRING, 4, "strings")]
        types = TypeTable(self._table(Section.TYPE, 4, "types"), self.version)
        constants = [self._constant(c) for c in self._table(Section.CONSTANT, 8, "constants")]
        self.attributes = AttributeReader(strings, types, constants)
        self.types = types
        debug = self.sections.get(Section.DEBUG)
        self.debug = (
            read_debug(debug, self.attributes.string, self.version)
            if debug is not None and debug.remaining
            else DebugTable([], (), (), self.attributes.string, self.version)
        )

    def _table(self, section: Section, index_width: int, what: str) -> list[Cursor]:
        cursor = self.sections.get(section)
        return [] if cursor is None or not cursor.remaining else read_table(cursor, index_width, what)

    @staticmethod
    def _constant(cursor: Cursor) -> bytes:
        data = cursor.take(cursor.varint())
        cursor.finish("a constant")
        return data

    def module(self) -> Module:
        module = Module(version=self.version, source=self.file)
        cursor = self.sections.get(Section.PRODUCER)
        if cursor is not None:
            module.producer = self.attributes.string(cursor)
            cursor.finish("the producer section")
        cursor = self.sections.get(Section.GLOBAL)
        if cursor is not None:
            module.globals = [self._global(cursor) for _ in range(cursor.count("globals", size=4))]
            cursor.finish("the global section")
        cursor = self.sections[Section.FUNCTION]
        module.functions = [self._function(cursor) for _ in range(cursor.count("functions", size=5))]
        # Some writers pad the section inside.
        if cursor.remaining >= 8:
            cursor.finish("the function section")
        return module

    def _global(self, cursor: Cursor) -> Global:
        name = self.attributes.symbol(cursor)
        value = self.attributes.dense(cursor, self.types.read(cursor))
        result = Global(name, value, alignment=cursor.varint())
        if self.version >= V13_3:
            result.visibility = self._enum(cursor, SymbolVisibility)
            result.constant = cursor.varint() != 0
        return result

    def _function(self, cursor: Cursor) -> Function:
        name = self.attributes.symbol(cursor)
        signature = self.attributes.function_type(cursor)
        flags = cursor.byte()
        if flags not in (0, ENTRY, ENTRY | HINTS) or (flags & HINTS and self.version >= V13_5):
            cursor.position -= 1
            cursor.fail("unknown flags on a function", "function-flags", found=bin(flags))
        debug_number = cursor.varint()
        hints = arguments = None
        if flags & HINTS or (self.version >= V13_5 and flags & ENTRY):
            hints = self._expect(cursor, OptimizationHints, "optimization hints")
        if self.version >= V13_5:
            arguments = self._expect(cursor, ArrayAttribute, "an array of attributes of the arguments")
        length = cursor.varint()
        start = cursor.position
        data = cursor.take(length)
        body_cursor = Cursor(data, self.file, base=cursor.base + start)
        body = _Body(self, body_cursor, self.debug.of_function(debug_number, body_cursor))
        region = Region(signature.parameters)
        location = body.location()
        body.values.extend(region.arguments)
        while body.cursor.remaining:
            region.operations.append(body.operation(0))
        return Function(
            name,
            region,
            is_entry=bool(flags & ENTRY),
            result_types=signature.results,
            hints=hints if hints is not None and hints.architectures else None,
            argument_attributes=arguments if arguments is not None and arguments.elements else None,
            location=location,
        )

    def _expect(self, cursor: Cursor, kind: type[A], what: str) -> A:
        found = self.attributes.tagged(cursor)
        if not isinstance(found, kind):
            cursor.fail(f"a function has another attribute instead of {what}", "function-attribute")
        return found

    @staticmethod
    def _enum(cursor: Cursor, kind: type[Any]) -> Any:
        start = cursor.position
        value = cursor.varint()
        try:
            return kind(value)
        except ValueError:
            cursor.position = start
            expected = f"0 to {max(m.value for m in kind)}"
            cursor.fail(f"not a value of {kind.__name__}", "enum-value", found=value, expected=expected)


class _Body:
    """Decodes the operations of one function, numbering values as it goes."""

    def __init__(self, reader: _Reader, cursor: Cursor, locations: Iterator[int]) -> None:
        self.reader = reader
        self.cursor = cursor
        self.values: list[Value] = []
        self._locations = locations

    def location(self) -> Location | None:
        return self.reader.debug.get(next(self._locations), self.cursor)

    def operation(self, depth: int) -> Operation:
        cursor, reader = self.cursor, self.reader
        start = cursor.position
        opcode = cursor.varint()
        kind = registry.BY_OPCODE.get(opcode)
        if kind is None:
            cursor.position = start
            cursor.fail("there is no operation with this opcode", "opcode", found=opcode)
        if reader.version < kind.since:
            cursor.position = start
            cursor.fail(
                f"the operation needs bytecode {kind.since}",
                "operation-version",
                operation=kind.mnemonic,
                found=str(reader.version),
            )
        try:
            return self._operation(kind, depth)
        except TileError as error:
            if error.operation is None:
                error.operation = kind.mnemonic
            raise

    def _operation(self, kind: type[Operation], depth: int) -> Operation:
        cursor, reader = self.cursor, self.reader
        declaration = kind.declaration
        location = self.location()

        read_type = reader.types.read
        if declaration.count_results:
            result_types = [read_type(cursor) for _ in range(cursor.count("results"))]
        else:
            result_types = [read_type(cursor) for _ in declaration.results]
        layout = plan(kind, reader.version)

        flags = cursor.varint() if layout.has_flags else 0
        if flags & ~layout.known_bits:
            cursor.fail("unknown flags", "flags", found=bin(flags), expected=bin(layout.known_bits))
        parts: dict[str, Any] = dict(layout.defaults)
        for flag_name, bit in layout.flags:
            parts[flag_name] = bool(flags >> bit & 1)
        for attribute in layout.attributes:
            if attribute.bit is None or flags >> attribute.bit & 1:
                parts[attribute.name] = self._attribute(attribute.kind, result_types)

        values = self.values
        total = cursor.count("operands") if declaration.count_operands else -1
        taken = 0
        for name, operand_kind, operand_bit, counted, later in layout.operands:
            if operand_kind == "one":
                parts[name] = self._value()
                taken += 1
            elif operand_kind == "optional":
                there = bool(flags >> operand_bit & 1) if operand_bit is not None else taken < total
                parts[name] = self._value() if there else None
                taken += there
            else:
                count = cursor.count("operands") if counted else total - taken - later
                if count < 0:
                    cursor.fail("fewer operands than the operation needs", "operand-count", found=total)
                parts[name] = tuple([self._value() for _ in range(count)])
                taken += count
        if total >= 0 and taken != total:
            cursor.fail(
                "more operands than the operation takes", "operand-count", found=total, expected=taken
            )
        for name, fill in layout.computed_defaults:
            parts[name] = fill(parts)

        operation = kind.__new__(kind)
        operation._fill(parts, result_types, location)
        if declaration.regions:
            expected = len(declaration.regions)
            count = cursor.varint()
            if count != expected:
                cursor.fail("a wrong number of regions", "region-count", found=count, expected=expected)
            for name, part in declaration.regions.items():
                operation.__dict__[name] = self._region(depth + 1, optional=part.optional)
        if layout.implied_token:
            # Nothing in this version can use the token, so it has no number.
            if result_types:
                cursor.fail("the operation has no result in this version", "result-count")
            operation.results = (Value(TOKEN, operation, 0),)
        else:
            values.extend(operation.results)
        return operation

    def _value(self) -> Value:
        index = self.cursor.varint()
        values = self.values
        if index >= len(values):
            self.cursor.fail(
                "an operand is not defined yet",
                "value-index",
                found=f"value {index}",
                expected=f"below {len(values)}",
            )
        return values[index]

    def _region(self, depth: int, *, optional: bool) -> Region | None:
        cursor = self.cursor
        if depth > REGION_DEPTH:
            cursor.fail("regions are nested too deep", "region-depth", expected=f"at most {REGION_DEPTH}")
        blocks = cursor.varint()
        if blocks == 0 and optional:
            return None
        if blocks != 1:
            cursor.fail("a region has one block", "block-count", found=blocks, expected=1)
        outer = len(self.values)
        types = [self.reader.types.read(cursor) for _ in range(cursor.count("arguments"))]
        region = Region(types)
        self.values.extend(region.arguments)
        for _ in range(cursor.count("operations", size=1)):
            region.operations.append(self.operation(depth))
        del self.values[outer:]
        return region

    def _dimensions(self) -> tuple[int, ...]:
        """A counted array of 32-bit numbers, of which the two extremes are no dimension's."""
        values = self.cursor.integers(4, "integers")
        for value in values:
            if value in (-(1 << 31), (1 << 31) - 1):
                self.cursor.fail("an array has a number that means nothing", "attribute-number", found=value)
        return values

    def _attribute(self, kind: Any, result_types: list[Any]) -> Any:
        cursor, reader = self.cursor, self.reader
        if isinstance(kind, enum.EnumMeta):
            return reader._enum(cursor, kind)
        match kind:
            case "int":
                return cursor.varint()
            case "bool":
                return cursor.byte() != 0
            case "str":
                return reader.attributes.string(cursor)
            case "array":
                return reader.attributes.array(cursor)
            case "tagged":
                return reader.attributes.tagged(cursor)
            case "optimization_hints":
                return reader.attributes.hints(cursor)
            case "dense_int32_array":
                return self._dimensions()
            case "dense_bool_array":
                return tuple(b != 0 for b in cursor.integers(1, "booleans"))
            case "dense_typed_elements":
                return reader.attributes.dense(cursor, result_types[0])
        raise AssertionError(f"no reader for attributes of kind {kind}")
