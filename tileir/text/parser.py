"""Text to module, driven by the assembly formats of the declarations."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import EnumMeta
from typing import Any

from .. import ops as _ops  # noqa: F401  (declares the operations)
from .. import registry
from ..attributes import BoolAttribute, IntegerAttribute, OptimizationHints, StringAttribute, SymbolVisibility
from ..declare import AttributePart, FlagPart
from ..errors import TileError
from ..locations import Location
from ..module import Function, Global, Module, Operation, Region, Value
from ..types import I1, TOKEN, NumberType, TileType, Type
from ..version import DEFAULT
from .assembly import AnyOrder, Attr, Block, Each, Element, Group, Literal, Symbol, TypeOf, Use, parse_format
from .attribute_parser import AttributeParser
from .scanner import SPACE, Scanner, token_pattern
from .type_parser import TypeParser

REGION_DEPTH = 200
"""Regions nest no deeper than this in any real file."""
LARGEST = (1 << 64) - 1

_DEFINITION = r"([#!][A-Za-z_$.-][A-Za-z0-9_$.-]*)[ \t\r\n]*=" + SPACE
_ALIAS = re.compile(_DEFINITION)
_ALIASES = re.compile(r"^[ \t]*" + _DEFINITION, re.MULTILINE)
_OUTER = token_pattern(r"(?:builtin\.)?module[ \t\r\n]*\{")
_PUNCTUATION = re.compile(r"[#A-Za-z_][A-Za-z0-9_.]*|->|[^\s\w]")


def parse(text: str, *, file: str | None = None) -> Module:
    """Read the text form of a module.

    What the disassembler prints is read, with or without its locations, and what the dialect's own tools
    print: the ``cuda_tile.`` before operations and types and the ``cuda_tile.module`` around all may be there
    or not, and terminators that say nothing may be left out. Values keep no names. The module's version is
    13.4, or that of its newest operation if that is newer.

    Args:
        text: the text.
        file: its name, for messages.

    Raises:
        TextError: the text is not well-formed; the error names line and column, the rule, and what was found
            and expected. Whether the module is legal is for ``tileir.verify`` to say.
    """
    scanner = Scanner(text, file)
    try:
        return Parser(scanner).module()
    except RecursionError:
        scanner.fail("the text is nested too deep", "region-depth")


class Parsed:
    """An operation while it is read: its parts so far, and the types its format spells for results."""

    __slots__ = ("kind", "parts", "result_count", "types")

    def __init__(self, kind: type[Operation], result_count: int | None) -> None:
        self.kind = kind
        self.parts: dict[str, Any] = {}
        self.types: dict[str, list[Type]] = {}
        self.result_count = result_count
        """How many results the text names; None if it names none."""


Step = Callable[["Parser", Parsed], None]


class Parser:
    """Reads a module at a scanner's position."""

    def __init__(self, scanner: Scanner) -> None:
        self.scanner = scanner
        text = scanner.text
        aliases: dict[str, int] = {}
        for match in _ALIASES.finditer(text) if "#" in text or "!" in text else ():
            aliases.setdefault(match[1], match.end())
        self.types = TypeParser(self.scanner, aliases)
        self.attributes = AttributeParser(self.scanner, self.types, aliases)
        self._symbols: set[str] = set()
        self._values: dict[str, tuple[Value, ...]] = {}
        self._defined: list[str] = []
        self._depth = 0
        self._alias_ends: dict[int, int] = {}
        # In the order of the text, where what an alias is made of mostly comes before it.
        for start in aliases.values():
            self.scanner.position = start
            self._alias()
        self.scanner.position = 0
        self.scanner.skip()

    # Modules

    def module(self) -> Module:
        """Take all of the text."""
        scanner = self.scanner
        module = Module(source=scanner.file)
        self._items(module)
        module.version = max([DEFAULT, *(op.since for op in module.walk())])
        return module

    def _items(self, module: Module) -> None:
        scanner = self.scanner
        self._aliases()
        # The dialect's own tools may put a module of MLIR's around the dialect's.
        around = scanner.match(_OUTER) is not None
        if scanner.accept("cuda_tile.module") or scanner.accept("module"):
            if scanner.at("@"):
                module.name = scanner.symbol()
            if scanner.accept("attributes"):
                self._module_attributes(module)
            scanner.expect("{")
            while not scanner.accept("}"):
                self._item(module)
            self.attributes.trailing_location()
            self._aliases()
        else:
            while scanner.position != len(scanner.text) and not (around and scanner.at("}")):
                self._item(module)
                self._aliases()
        if around:
            scanner.expect("}")
            self.attributes.trailing_location()
            self._aliases()
        if scanner.position != len(scanner.text):
            scanner.unexpected("the end of the text")

    def _module_attributes(self, module: Module) -> None:
        start = self.scanner.position
        for key, value in self.attributes.dictionary().entries:
            if key != "producer" or not isinstance(value, StringAttribute):
                self.scanner.fail(
                    "a module has a producer and nothing else", "module-attribute", at=start, found=key
                )
            module.producer = value.value

    def _aliases(self) -> None:
        """Step over what names are given to; they are read where they are used, which may be earlier."""
        scanner = self.scanner
        while (match := _ALIAS.match(scanner.text, scanner.position)) is not None:
            scanner.position = match.end()
            self._alias()

    def _alias(self) -> None:
        """Take what an alias stands for; once."""
        scanner = self.scanner
        start = scanner.position
        end = self._alias_ends.get(start)
        if end is not None:
            scanner.position = end
            return
        name = scanner.text[:start].rstrip("= \t\r\n")
        if name[max(name.rfind("\n"), 0) :].strip().startswith("!"):
            self.types.type()
        else:
            self.attributes.value()
        self._alias_ends[start] = scanner.position

    def _item(self, module: Module) -> None:
        scanner = self.scanner
        word = scanner.peek_word().removeprefix("cuda_tile.")
        if word not in ("entry", "global"):
            scanner.unexpected("entry or global")
        scanner.word("an item")
        start = scanner.position
        if word == "global":
            item: Global | Function = self._global()
        else:
            item = self._entry()
        if item.name in self._symbols:
            scanner.fail("a name is given twice", "symbol", at=start, found=item.name)
        self._symbols.add(item.name)
        if isinstance(item, Global):
            module.globals.append(item)
        else:
            module.functions.append(item)

    def _global(self) -> Global:
        scanner = self.scanner
        visibility = SymbolVisibility.PUBLIC
        if not scanner.accept("public") and scanner.accept("private"):
            visibility = SymbolVisibility.PRIVATE
        constant = scanner.accept("constant")
        name = scanner.symbol()
        alignment = 0
        if scanner.accept("alignment"):
            scanner.expect("=")
            alignment = scanner.integer(0, LARGEST)
        value = self.constant()
        location = self.attributes.trailing_location()
        return Global(name, value, alignment, visibility, constant, location)

    def _entry(self) -> Function:
        scanner = self.scanner
        name = scanner.symbol()
        arguments = self.signature()
        results: list[Type] = []
        if scanner.accept("->"):
            results = self.types.listed("(", self.types.type) if scanner.at("(") else [self.types.type()]
        hints: OptimizationHints | None = None
        if scanner.accept("optimization_hints"):
            scanner.expect("=")
            hints = self.attributes.hints()
        body = self.region(arguments, implicit="return")
        location = self.attributes.trailing_location()
        return Function(name, body, result_types=tuple(results), hints=hints, location=location)

    # Regions and values

    def signature(self) -> list[tuple[str, int, Type]]:
        """Take ``(%a: type, ...)``."""
        scanner = self.scanner

        def argument() -> tuple[str, int, Type]:
            start = scanner.position
            name = self.new_name()
            scanner.expect(":")
            type_ = self.types.type()
            self.attributes.trailing_location()
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
            if len(values) != 1:
                self.scanner.fail(
                    "several values share this name",
                    "value-number",
                    at=start,
                    found="%" + name,
                    expected=f"%{name}#0 to %{name}#{len(values) - 1}",
                )
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

    def region(self, arguments: list[tuple[str, int, Type]], *, implicit: str | None) -> Region:
        """Take a block in braces. A terminator called ``implicit`` is added if there is none."""
        scanner = self.scanner
        self._depth += 1
        if self._depth > REGION_DEPTH:
            scanner.fail("regions are nested too deep", "region-depth", expected=f"at most {REGION_DEPTH}")
        region = Region([type_ for _, _, type_ in arguments])
        outer = len(self._defined)
        for (name, at, _), value in zip(arguments, region.arguments, strict=True):
            self.define(name, (value,), at)
        scanner.expect("{")
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

    def operation(self) -> Operation:
        """Take an operation."""
        scanner = self.scanner
        names: list[tuple[str, int, int]] = []
        if scanner.at("%"):
            names.append(self._result_name())
            while scanner.accept(","):
                names.append(self._result_name())
            scanner.expect("=")
        start = scanner.position
        word = scanner.word("an operation")
        mnemonic = word.removeprefix("cuda_tile.")
        kind = registry.BY_NAME.get(mnemonic)
        if kind is None:
            scanner.fail("there is no such operation", "operation-name", at=start, found=word)
        parsed = Parsed(kind, sum(count for _, count, _ in names) if names else None)
        try:
            for step in steps(kind):
                step(self, parsed)
            operation = self._build(parsed, self.attributes.trailing_location(), start)
        except TileError as error:
            if error.operation is None:
                error.operation = mnemonic
            raise
        results = operation.results
        if names:
            at = 0
            for name, count, position in names:
                self.define(name, results[at : at + count], position)
                at += count
        return operation

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
        if parsed.result_count is not None and parsed.result_count != len(result_types):
            self.scanner.fail(
                "the operation has another number of results than it is given names",
                "result-count",
                at=start,
                found=parsed.result_count,
                expected=len(result_types),
            )
        filled = {**declaration.defaults, **parts}
        for name, value in filled.items():
            if callable(value):
                filled[name] = value(filled)
        operation = kind.__new__(kind)
        operation._fill(filled, result_types, location)
        return operation

    # Parts

    def constant(self) -> Any:
        """Take ``<i32: 1> : tile<i32>``."""
        scanner = self.scanner
        scanner.expect("<")
        start = scanner.position
        element = self.types.number()
        scanner.expect(":")
        inside = scanner.position
        found = self.attributes.elements(element)
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
        return self.attributes.constant(found, type_, inside)

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


TERMINATORS = frozenset({"break", "continue", "return", "yield"})
_KEYWORDS: dict[EnumMeta, dict[str, Any]] = {}
_STEPS: dict[type[Operation], tuple[Step, ...]] = {}


def keywords(kind: EnumMeta) -> dict[str, Any]:
    """The members of an enumeration by their keywords."""
    known = _KEYWORDS.get(kind)
    if known is None:
        members: list[Any] = list(kind)
        known = _KEYWORDS[kind] = {str(member): member for member in members}
    return known


def steps(kind: type[Operation]) -> tuple[Step, ...]:
    """What reads the format of ``kind``, one step after the other."""
    known = _STEPS.get(kind)
    if known is None:
        from .custom import PARSERS

        custom = PARSERS.get(kind)
        compiled = (
            (custom,) if custom is not None else tuple(_step(kind, e) for e in parse_format(kind.assembly))
        )
        known = _STEPS[kind] = compiled
    return known


def _step(kind: type[Operation], element: Element) -> Step:
    match element:
        case Literal(text):
            return _literal_step(_PUNCTUATION.findall(text))
        case Use(name):
            return _use_step(kind, name)
        case Attr(name):
            return _attribute_step(kind, name)
        case Symbol(name):
            return lambda parser, parsed: parsed.parts.__setitem__(name, parser.scanner.symbol())
        case TypeOf(names):
            return _type_step(kind, names)
        case Each(name):
            return _each_step(kind, name)
        case Block(name, arguments):
            return _block_step(name, arguments)
        case Group():
            return _group_step(kind, element)
        case AnyOrder(groups):
            return _any_order_step(kind, groups)


def _literal_step(tokens: list[str]) -> Step:
    ends = [r"(?![A-Za-z0-9_$.])" if token[-1].isalnum() else "" for token in tokens]
    pattern = token_pattern(SPACE.join(re.escape(t) + end for t, end in zip(tokens, ends, strict=True)))

    def literal(parser: Parser, _: Parsed) -> None:
        if parser.scanner.match(pattern) is None:
            for token in tokens:
                parser.scanner.expect(token)

    return literal


def _use_step(kind: type[Operation], name: str) -> Step:
    part = next(p for p in kind.declaration.operands if p.name == name)
    if part.kind == "variadic":
        return lambda parser, parsed: parsed.parts.__setitem__(name, parser.uses())
    return lambda parser, parsed: parsed.parts.__setitem__(name, parser.use())


def _attribute_step(kind: type[Operation], name: str) -> Step:
    parts: tuple[AttributePart | FlagPart, ...] = (*kind.declaration.attributes, *kind.declaration.flags)
    part = next(p for p in parts if p.name == name)
    read: Callable[[Parser], Any]
    if isinstance(part, FlagPart):
        word = name.rstrip("_")

        def flag(parser: Parser, parsed: Parsed) -> None:
            parser.scanner.expect(word)
            parsed.parts[name] = True

        return flag
    if isinstance(part.kind, EnumMeta):
        enumeration = part.kind
        read = lambda parser: parser.keyword(enumeration)  # noqa: E731
    else:
        read = _READERS[part.kind]
    return lambda parser, parsed: parsed.parts.__setitem__(name, read(parser))


def _booleans(parser: Parser) -> tuple[bool, ...]:
    return tuple(parser.types.listed("[", lambda: _boolean(parser)))


def _boolean(parser: Parser) -> bool:
    if parser.scanner.accept("true"):
        return True
    if not parser.scanner.accept("false"):
        parser.scanner.unexpected("true or false")
    return False


def _integers(parser: Parser) -> tuple[int, ...]:
    scanner = parser.scanner
    return tuple(parser.types.listed("[", lambda: scanner.integer(-(1 << 31), (1 << 31) - 1)))


def _numbers(parser: Parser) -> tuple[Any, ...]:
    # A boolean among numbers is the number of one bit.
    return tuple(
        IntegerAttribute(I1, int(e.value)) if isinstance(e, BoolAttribute) else e
        for e in parser.attributes.array()
    )


_READERS: dict[Any, Callable[[Parser], Any]] = {
    "int": lambda parser: parser.scanner.integer(0, LARGEST),
    "bool": _boolean,
    "str": lambda parser: parser.scanner.string(),
    "array": _numbers,
    "optimization_hints": lambda parser: parser.attributes.hints(),
    "dense_int32_array": _integers,
    "dense_bool_array": _booleans,
}


def _parts(kind: type[Operation]) -> dict[str, Any]:
    d = kind.declaration
    return {p.name: p for p in (*d.results, *d.operands)}


def _type_step(kind: type[Operation], names: tuple[str, ...]) -> Step:
    parts = _parts(kind)
    results = {p.name for p in kind.declaration.results}
    if len(names) == 1 and (names[0] == "results" or getattr(parts[names[0]], "kind", None) == "variadic"):
        return _types_step(names[0], names[0] in results)

    def one_type(parser: Parser, parsed: Parsed) -> None:
        at = parser.scanner.position
        type_ = parser.types.type()
        for name in names:
            if name in results:
                parsed.types[name] = [type_]
            else:
                value = parsed.parts.get(name)
                if value is not None:
                    parser.check_type(value, type_, at)

    return one_type


def _types_step(name: str, is_result: bool) -> Step:
    def types(parser: Parser, parsed: Parsed) -> None:
        scanner = parser.scanner
        at = scanner.position
        found = [parser.types.type()]
        while scanner.accept(","):
            found.append(parser.types.type())
        if is_result:
            parsed.types[name] = found
        else:
            check_types(parser, parsed.parts[name], found, at)

    return types


def check_types(parser: Parser, values: tuple[Value, ...], found: list[Type], at: int) -> None:
    """Check that ``values`` have the types ``found``, spelled at ``at``."""
    if len(values) != len(found):
        parser.scanner.fail(
            "as many types as values belong here", "type-count", at=at, found=len(found), expected=len(values)
        )
    for value, type_ in zip(values, found, strict=True):
        parser.check_type(value, type_, at)


def _each_step(kind: type[Operation], name: str) -> Step:
    if any(p.name == name for p in kind.declaration.results):

        def results(parser: Parser, parsed: Parsed) -> None:
            type_ = parser.types.type()
            count = parsed.result_count
            if count is None:
                count = _rank(parsed)
            parsed.types[name] = [type_] * count

        return results

    def operands(parser: Parser, parsed: Parsed) -> None:
        scanner = parser.scanner
        at = scanner.position
        values = parsed.parts[name]
        found = [parser.types.type()]
        here = scanner.position
        while scanner.accept(","):
            if scanner.at("token") or scanner.at("!cuda_tile.token"):
                # The type of the operand behind these, none of which is a token.
                scanner.position = here
                break
            found.append(parser.types.type())
            here = scanner.position
        check_types(parser, values, found * len(values) if len(found) == 1 else found, at)

    return operands


def _rank(parsed: Parsed) -> int:
    """How many dimensions the view or tensor has that the operation asks about."""
    type_ = parsed.parts["src"].type
    return len(getattr(type_, "tile_shape", getattr(type_, "shape", ())))


def _block_step(name: str, arguments: bool) -> Step:
    if arguments:
        return lambda parser, parsed: parsed.parts.__setitem__(
            name, parser.region(parser.signature(), implicit=None)
        )
    return lambda parser, parsed: parsed.parts.__setitem__(name, parser.region([], implicit="yield"))


def _entered(kind: type[Operation], group: Group) -> Callable[[Parser, Parsed], bool]:
    """Whether the text at hand is that of ``group``."""
    types = [e for e in group.elements if isinstance(e, TypeOf | Each | Use)]
    if types and not isinstance(types[0], Use):
        # Types are there if what they are the types of is.
        anchor = group.anchor
        if not any(p.name == anchor for p in kind.declaration.results):
            return lambda _, parsed: bool(parsed.parts.get(anchor))
    first = group.elements[0]
    if isinstance(first, Literal):
        tokens = _PUNCTUATION.findall(first.text)
        if tokens:
            token = tokens[0]
            return lambda parser, _: parser.scanner.at(token)
        first = group.elements[1]
    if isinstance(first, Use):
        return lambda parser, _: parser.scanner.at("%")
    assert isinstance(first, Attr)
    name = first.name
    part = next((p for p in kind.declaration.attributes if p.name == name), None)
    if part is None:
        word = name.rstrip("_")
        return lambda parser, _: parser.scanner.at(word)
    words = keywords(part.kind)
    return lambda parser, _: parser.scanner.peek_word() in words


def _group_step(kind: type[Operation], group: Group) -> Step:
    entered = _entered(kind, group)
    inner = tuple(_step(kind, e) for e in group.elements)

    def optional(parser: Parser, parsed: Parsed) -> None:
        if entered(parser, parsed):
            for step in inner:
                step(parser, parsed)

    return optional


def _any_order_step(kind: type[Operation], groups: tuple[Group, ...]) -> Step:
    options = [(_entered(kind, g), tuple(_step(kind, e) for e in g.elements), g.anchor) for g in groups]

    def any_order(parser: Parser, parsed: Parsed) -> None:
        again = True
        while again:
            again = False
            for entered, inner, anchor in options:
                if anchor not in parsed.parts and entered(parser, parsed):
                    for step in inner:
                        step(parser, parsed)
                    again = True

    return any_order
