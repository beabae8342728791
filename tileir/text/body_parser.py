"""Regions and operations from text, and the names of values in them."""

from __future__ import annotations

from enum import EnumMeta
from typing import Any

from .. import registry
from ..errors import TileError
from ..locations import Location
from ..module import Operation, Region, Value
from ..types import TOKEN, NumberType, TileType, Type
from .attribute_parser import AttributeParser
from .format_parser import Parsed, keywords, steps
from .generic_parser import parse_generic
from .scanner import Scanner, token_pattern
from .type_parser import TypeParser

REGION_DEPTH = 200
"""Regions nest no deeper than this in any real file."""

_LABEL = token_pattern(r"\^[A-Za-z0-9_$.-]+")

FORMER_NAMES = {"pow": "fpowf"}
"""What operations were called in the text of older versions."""

TERMINATORS = frozenset({"break", "continue", "return", "yield"})


class BodyParser:
    """Reads what stands in an entry, at a scanner's position."""

    scanner: Scanner
    types: TypeParser
    attributes: AttributeParser

    def __init__(self, scanner: Scanner, types: TypeParser, attributes: AttributeParser) -> None:
        self.scanner = scanner
        self.types = types
        self.attributes = attributes
        self._values: dict[str, tuple[Value, ...]] = {}
        self._defined: list[str] = []
        self._depth = 0

    def signature(self) -> list[tuple[str, int, Type]]:
        """Take ``(%a: type, ...)``."""
        scanner = self.scanner

        def argument() -> tuple[str, int, Type]:
            start = scanner.position
            name = self.new_name()
            scanner.expect(":")
            type_ = self.types.type()
            self.attributes.locations.trailing()
            return name, start, type_

        return self.types.listed("(", argument)

    def new_name(self) -> str:
        """Take the name of an argument."""
        start = self.scanner.position
        name, number = self.scanner.value()
        if number is not None:
            self.scanner.fail(
                "an argument is a single value", "value-name", at=start, found=f"%{name}#{number}"
            )
        return name

    def define(self, name: str, values: tuple[Value, ...], at: int) -> None:
        """Give ``name`` to ``values``."""
        if name in self._values:
            self.scanner.fail("a value's name is given twice", "value-name", at=at, found="%" + name)
        self._values[name] = values
        self._defined.append(name)

    def use(self) -> Value:
        """Take a value that is defined."""
        start = self.scanner.position
        name, number = self.scanner.value()
        values = self._values.get(name)
        if values is None:
            self.scanner.fail("a value is not defined yet", "value-undefined", at=start, found="%" + name)
        if number is None:
            # Without a number, the first of those that share the name is meant.
            return values[0]
        if number >= len(values):
            self.scanner.fail(
                "there is no value of this number",
                "value-number",
                at=start,
                found=f"%{name}#{number}",
                expected=f"below {len(values)}",
            )
        return values[number]

    def uses(self) -> tuple[Value, ...]:
        """Take values parted by commas."""
        values: list[Value] = []
        scanner = self.scanner
        if scanner.at("%"):
            values.append(self.use())
            while scanner.accept(","):
                values.append(self.use())
        return tuple(values)

    def region(
        self, arguments: list[tuple[str, int, Type]], *, implicit: str | None, labelled: bool = False
    ) -> Region:
        """Take a block in braces. A terminator called ``implicit`` is added if there is none.

        ``labelled`` blocks may begin with ``^name(%a: type):``, which gives their arguments.
        """
        scanner = self.scanner
        self._depth += 1
        if self._depth > REGION_DEPTH:
            scanner.fail("regions are nested too deep", "region-depth", expected=f"at most {REGION_DEPTH}")
        if labelled:
            arguments = self.open_block()
        else:
            scanner.expect("{")
        region = Region([type_ for _, _, type_ in arguments])
        outer = len(self._defined)
        for (name, at, _), value in zip(arguments, region.arguments, strict=True):
            self.define(name, (value,), at)
        operations = region.operations
        while not scanner.accept("}"):
            if scanner.at("^"):
                scanner.fail("a region has one block", "block-count", found=scanner.next_token())
            operations.append(self.operation())
        if implicit is not None and (not operations or operations[-1].mnemonic not in TERMINATORS):
            operations.append(registry.BY_NAME[implicit](operands=()))
        for name in self._defined[outer:]:
            del self._values[name]
        del self._defined[outer:]
        self._depth -= 1
        return region

    def open_block(self) -> list[tuple[str, int, Type]]:
        """Take ``{`` and the label behind it, ``^name(%a: type):``, if there is one."""
        self.scanner.expect("{")
        if self.scanner.match(_LABEL) is None:
            return []
        arguments = self.signature() if self.scanner.at("(") else []
        self.scanner.expect(":")
        return arguments

    def operation(self) -> Operation:
        """Take an operation."""
        scanner = self.scanner
        names: list[tuple[str, int, int]] = []
        if scanner.at("%"):
            names.append(self._result_name())
            while scanner.accept(","):
                names.append(self._result_name())
            scanner.expect("=")
        count = sum(count for _, count, _ in names) if names else None
        if scanner.at('"'):
            start = scanner.position
            operation = parse_generic(self)
            self._check_count(count, len(operation.results), start)
        else:
            operation = self._custom(count)
        at = 0
        for name, number, position in names:
            self.define(name, operation.results[at : at + number], position)
            at += number
        return operation

    def _custom(self, result_count: int | None) -> Operation:
        """Take an operation in its own form, which is given names for ``result_count`` results."""
        scanner = self.scanner
        start = scanner.position
        word = scanner.word("an operation")
        mnemonic = word.removeprefix("cuda_tile.")
        mnemonic = FORMER_NAMES.get(mnemonic, mnemonic)
        kind = registry.BY_NAME.get(mnemonic)
        if kind is None:
            scanner.fail("there is no such operation", "operation-name", at=start, found=word)
        parsed = Parsed(kind, result_count)
        try:
            for step in steps(kind):
                step(self, parsed)
            return self._build(parsed, self.attributes.locations.trailing(), start)
        except TileError as error:
            if error.operation is None:
                error.operation = mnemonic
            raise

    def _result_name(self) -> tuple[str, int, int]:
        scanner = self.scanner
        start = scanner.position
        name = self.new_name()
        count = scanner.integer(1, 1 << 20) if scanner.accept(":") else 1
        return name, count, start

    def _build(self, parsed: Parsed, location: Location | None, start: int) -> Operation:
        kind, parts = parsed.kind, parsed.parts
        declaration = kind.declaration
        missing = declaration.required - parts.keys()
        if missing:
            raise AssertionError(f"the format of {kind.mnemonic} does not spell {', '.join(missing)}")
        result_types: list[Type] = []
        for part in declaration.results:
            # A single result that the format does not spell is a token.
            result_types += parsed.types.get(part.name, [] if part.variadic else [TOKEN])
        self._check_count(parsed.result_count, len(result_types), start)
        filled = {**declaration.defaults, **parts}
        for name, value in filled.items():
            if callable(value):
                filled[name] = value(filled)
        self.no_attributes()
        operation = kind.__new__(kind)
        operation._fill(filled, result_types, location)
        return operation

    def _check_count(self, named: int | None, count: int, at: int) -> None:
        """Check that as many results are given names as there are, if any are."""
        if named is not None and named != count:
            self.scanner.fail(
                "the operation has another number of results than it is given names",
                "result-count",
                at=at,
                found=named,
                expected=count,
            )

    def no_attributes(self) -> None:
        """Fail if ``{name = value}`` stands here: such attributes are MLIR's, and in no file."""
        if self.scanner.at("{"):
            self.scanner.fail("the bytecode cannot hold such attributes", "attribute-name", found="{")

    def constant(self) -> Any:
        """Take ``<i32: 1> : tile<i32>``."""
        scanner = self.scanner
        scanner.expect("<")
        start = scanner.position
        element = self.types.number()
        scanner.expect(":")
        inside = scanner.position
        found = self.attributes.constants.elements(element)
        scanner.expect(">")
        scanner.expect(":")
        at = scanner.position
        type_ = self.types.type()
        if not isinstance(type_, TileType) or not isinstance(type_.element, NumberType):
            scanner.fail("a constant is a tile of numbers", "constant-type", at=at, found=type_)
        if type_.element != element:
            scanner.fail(
                "a constant's elements are of another format than its type",
                "constant-type",
                at=start,
                found=element,
                expected=type_.element,
            )
        return self.attributes.constants.constant(found, type_, inside)

    def keyword(self, kind: EnumMeta) -> Any:
        """Take a keyword of an enumeration."""
        start = self.scanner.position
        word = self.scanner.word("a keyword")
        member = keywords(kind).get(word)
        if member is None:
            self.scanner.fail(
                "there is no such keyword",
                "keyword",
                at=start,
                found=word,
                expected=" or ".join(keywords(kind)),
            )
        return member

    def check_type(self, value: Value, type_: Type, at: int) -> None:
        """Check that ``value`` has the type that is spelled for it at ``at``."""
        if value.type is not type_ and value.type != type_:
            self.scanner.fail(
                "a value has another type than is spelled here",
                "value-type",
                at=at,
                found=type_,
                expected=value.type,
            )
