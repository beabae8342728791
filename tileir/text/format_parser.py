"""How each element of a format is read."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import EnumMeta
from typing import TYPE_CHECKING, Any

from ..attributes import BoolAttribute, IntegerAttribute
from ..declare import AttributePart, FlagPart
from ..module import Operation, Value
from ..types import I1, Type
from .assembly import AnyOrder, Attr, Block, Each, Element, Group, Literal, Symbol, TypeOf, Use, parse_format
from .scanner import SPACE, token_pattern

if TYPE_CHECKING:
    from .body_parser import BodyParser

Step = Callable[["BodyParser", "Parsed"], None]

LARGEST = (1 << 64) - 1
_PUNCTUATION = re.compile(r"[#A-Za-z_][A-Za-z0-9_.]*|->|[^\s\w]")
_STEPS: dict[type[Operation], tuple[Step, ...]] = {}


_KEYWORDS: dict[EnumMeta, dict[str, Any]] = {}


def keywords(kind: EnumMeta) -> dict[str, Any]:
    """The members of an enumeration by their keywords."""
    known = _KEYWORDS.get(kind)
    if known is None:
        members: list[Any] = list(kind)
        known = _KEYWORDS[kind] = {str(member): member for member in members}
    return known


class Parsed:
    """An operation while it is read: its parts so far, and the types its format spells for results."""

    __slots__ = ("kind", "parts", "result_count", "types")

    def __init__(self, kind: type[Operation], result_count: int | None) -> None:
        self.kind = kind
        self.parts: dict[str, Any] = {}
        self.types: dict[str, list[Type]] = {}
        self.result_count = result_count
        """How many results the text names; None if it names none."""


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

    def literal(parser: BodyParser, _: Parsed) -> None:
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
    read: Callable[[BodyParser], Any]
    if isinstance(part, FlagPart):
        word = name.rstrip("_")

        def flag(parser: BodyParser, parsed: Parsed) -> None:
            parser.scanner.expect(word)
            parsed.parts[name] = True

        return flag
    if isinstance(part.kind, EnumMeta):
        enumeration = part.kind
        read = lambda parser: parser.keyword(enumeration)  # noqa: E731
    else:
        read = _READERS[part.kind]
    return lambda parser, parsed: parsed.parts.__setitem__(name, read(parser))


def _booleans(parser: BodyParser) -> tuple[bool, ...]:
    return tuple(parser.types.listed("[", lambda: _boolean(parser)))


def _boolean(parser: BodyParser) -> bool:
    if parser.scanner.accept("true"):
        return True
    if not parser.scanner.accept("false"):
        parser.scanner.unexpected("true or false")
    return False


def _integers(parser: BodyParser) -> tuple[int, ...]:
    scanner = parser.scanner
    return tuple(parser.types.listed("[", lambda: scanner.integer(-(1 << 31), (1 << 31) - 1)))


def numbers_of(parser: BodyParser) -> tuple[Any, ...]:
    """Take a list of numbers with their types."""
    # A boolean among numbers is the number of one bit.
    return tuple(
        IntegerAttribute(I1, int(e.value)) if isinstance(e, BoolAttribute) else e
        for e in parser.attributes.array()
    )


_READERS: dict[Any, Callable[[BodyParser], Any]] = {
    "int": lambda parser: parser.scanner.integer(0, LARGEST),
    "bool": _boolean,
    "str": lambda parser: parser.scanner.string(),
    "array": numbers_of,
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

    def one_type(parser: BodyParser, parsed: Parsed) -> None:
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
    def types(parser: BodyParser, parsed: Parsed) -> None:
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


def check_types(parser: BodyParser, values: tuple[Value, ...], found: list[Type], at: int) -> None:
    """Check that ``values`` have the types ``found``, spelled at ``at``."""
    if len(values) != len(found):
        parser.scanner.fail(
            "as many types as values belong here", "type-count", at=at, found=len(found), expected=len(values)
        )
    for value, type_ in zip(values, found, strict=True):
        parser.check_type(value, type_, at)


def _each_step(kind: type[Operation], name: str) -> Step:
    if any(p.name == name for p in kind.declaration.results):

        def results(parser: BodyParser, parsed: Parsed) -> None:
            type_ = parser.types.type()
            count = parsed.result_count
            if count is None:
                count = _rank(parsed)
            parsed.types[name] = [type_] * count

        return results

    def operands(parser: BodyParser, parsed: Parsed) -> None:
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


def _entered(kind: type[Operation], group: Group) -> Callable[[BodyParser, Parsed], bool]:
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

    def optional(parser: BodyParser, parsed: Parsed) -> None:
        if entered(parser, parsed):
            for step in inner:
                step(parser, parsed)

    return optional


def _any_order_step(kind: type[Operation], groups: tuple[Group, ...]) -> Step:
    options = [(_entered(kind, g), tuple(_step(kind, e) for e in g.elements), g.anchor) for g in groups]

    def any_order(parser: BodyParser, parsed: Parsed) -> None:
        again = True
        while again:
            again = False
            for entered, inner, anchor in options:
                if anchor not in parsed.parts and entered(parser, parsed):
                    for step in inner:
                        step(parser, parsed)
                    again = True

    return any_order
