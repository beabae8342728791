"""Attributes from text."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .. import attributes as a
from ..types import F64, I32, I64, NumberType, TileType
from .constant_parser import ConstantParser
from .location_parser import UNKNOWN, LocationParser, Named
from .scanner import Scanner
from .type_parser import TypeParser

NESTING = 64
"""Attributes nest no deeper than this in any real file."""
LARGEST_LIST = 1 << 24
LARGEST = (1 << 63) - 1


class AttributeParser:
    """Reads attributes at a scanner's position."""

    def __init__(self, scanner: Scanner, types: TypeParser, aliases: Mapping[str, int]) -> None:
        self.scanner = scanner
        self.types = types
        self.constants = ConstantParser(scanner, types)
        self.locations = LocationParser(scanner, self)
        self._aliases = aliases
        self._known: dict[str, Named] = {}
        self._open: set[str] = set()
        self._depth = 0
        self.default_integer = I64
        self._dialect: dict[str, Callable[[], Named]] = {
            "div_by": self._div_by,
            "same_elements": self._same_elements,
            "bounded": self._bounded,
            "optimization_hints": self.hints,
            **self.locations.kinds,
        }

    def attribute(self) -> a.Attribute:
        """Take an attribute."""
        start = self.scanner.position
        found = self.value()
        if not isinstance(found, a.Attribute):
            self.scanner.fail("a location is no attribute here", "attribute-kind", at=start)
        return found

    def value(self) -> Named:
        """Take an attribute or a location."""
        self.enter()
        found = self._value()
        self.leave()
        return found

    def enter(self) -> None:
        """Go one level deeper, or fail."""
        self._depth += 1
        if self._depth > NESTING:
            self.scanner.fail(
                "attributes are nested too deep", "attribute-depth", expected=f"at most {NESTING}"
            )

    def leave(self) -> None:
        """Come back from a level."""
        self._depth -= 1

    def _value(self) -> Named:
        scanner = self.scanner
        first = scanner.text[scanner.position : scanner.position + 1]
        if first == "#":
            return self.named()
        if first == '"':
            return a.StringAttribute(scanner.string())
        if first == "[":
            return a.ArrayAttribute(self.array())
        if first == "{":
            return self.dictionary()
        if first == "-" or first.isdigit():
            return self._number()
        if scanner.accept("true"):
            return a.BoolAttribute(True)
        if scanner.accept("false"):
            return a.BoolAttribute(False)
        if scanner.at("dense"):
            return self._dense()
        if scanner.at("loc"):
            return self.locations.spelled()
        return a.TypeAttribute(self.types.type())

    def named(self) -> Named:
        """Take ``#name`` or ``#cuda_tile.name<...>``."""
        scanner = self.scanner
        start = scanner.position
        scanner.position += 1
        name = scanner.alias()
        if name.startswith("cuda_tile."):
            kind = self._dialect.get(name.removeprefix("cuda_tile."))
            if kind is None:
                scanner.fail("there is no such attribute", "attribute-name", at=start, found="#" + name)
            return kind()
        if name in self._known:
            return self._known[name]
        position = self._aliases.get("#" + name)
        if position is None:
            scanner.fail("there is no attribute of this name", "alias", at=start, found="#" + name)
        if name in self._open:
            scanner.fail("an attribute contains itself", "alias-cycle", at=start, found="#" + name)
        here = scanner.position
        self._open.add(name)
        scanner.position = position
        found = self.value()
        self._open.discard(name)
        scanner.position = here
        self._known[name] = found
        return found

    def _number(self) -> a.Attribute:
        scanner = self.scanner
        start = scanner.position
        literal, decimal = scanner.literal()
        type_ = self.types.number() if scanner.accept(":") else F64 if decimal else self.default_integer
        bits = self.constants.bits(literal, decimal, type_, start)
        return a.FloatAttribute(type_, bits) if type_.is_float else a.IntegerAttribute(type_, bits)

    def array(self) -> tuple[a.Attribute, ...]:
        """Take a list of attributes."""
        return tuple(self.types.listed("[", self.attribute))

    def dictionary(self, *, integers: NumberType = I64) -> a.DictionaryAttribute:
        """Take a dictionary; an integer without a type is one of ``integers``."""
        entries: list[tuple[str, a.Attribute]] = []
        seen: set[str] = set()

        def entry() -> None:
            start = self.scanner.position
            key = self.scanner.word_or_string("a key")
            if key in seen:
                self.scanner.fail("a dictionary has a key twice", "dictionary-key", at=start, found=key)
            seen.add(key)
            self.scanner.expect("=")
            value = self.attribute()
            entries.append((key, value))

        outer, self.default_integer = self.default_integer, integers
        self.types.listed("{", entry)
        self.default_integer = outer
        return a.DictionaryAttribute(tuple(entries))

    def hints(self) -> a.OptimizationHints:
        """Take hints in angle brackets; their integers are i32 if nothing else is said."""
        architectures: list[tuple[str, a.DictionaryAttribute]] = []

        def entry() -> None:
            start = self.scanner.position
            key = self.scanner.word_or_string("an architecture")
            if any(key == k for k, _ in architectures):
                self.scanner.fail("an architecture has hints twice", "dictionary-key", at=start, found=key)
            self.scanner.expect("=")
            architectures.append((key, self.dictionary(integers=I32)))

        self.types.listed("<", entry)
        return a.OptimizationHints(tuple(architectures))

    def predicate(self) -> a.AssumePredicate:
        """Take what an ``assume`` claims; its dialect may be spelled or not."""
        scanner = self.scanner
        start = scanner.position
        found: Named = UNKNOWN
        if scanner.at("#"):
            found = self.named()
        elif scanner.peek_word() in ("div_by", "same_elements", "bounded"):
            found = self._dialect[scanner.word("a claim")]()
        if not isinstance(found, a.AssumePredicate):
            scanner.fail(
                "this is not a claim",
                "keyword",
                at=start,
                found=scanner.next_token(),
                expected="div_by or same_elements or bounded",
            )
        return found

    def _div_by(self) -> a.Attribute:
        scanner = self.scanner
        scanner.expect("<")
        divisor = scanner.integer(0, (1 << 64) - 1)
        every = along = None
        if scanner.accept(","):
            scanner.expect("every")
            every = scanner.integer(-LARGEST - 1, LARGEST)
            scanner.expect("along")
            along = scanner.integer(-LARGEST - 1, LARGEST)
        scanner.expect(">")
        return a.DivBy(divisor, every, along)

    def _same_elements(self) -> a.Attribute:
        self.scanner.expect("<")
        values = self.types.listed("[", lambda: self.scanner.integer(-LARGEST - 1, LARGEST))
        self.scanner.expect(">")
        return a.SameElements(tuple(values))

    def _bounded(self) -> a.Attribute:
        scanner = self.scanner
        scanner.expect("<")
        lb = None if scanner.accept("?") else scanner.integer(-LARGEST - 1, LARGEST)
        scanner.expect(",")
        ub = None if scanner.accept("?") else scanner.integer(-LARGEST - 1, LARGEST)
        scanner.expect(">")
        return a.Bounded(lb, ub)

    def _dense(self) -> a.Attribute:
        scanner = self.scanner
        scanner.expect("dense")
        scanner.expect("<")
        inside = scanner.position
        # The elements can only be read by their type, which stands behind them.
        depth = 0
        while not (depth == 0 and scanner.at(">")):
            if scanner.at('"'):
                scanner.string()
            elif scanner.position >= len(scanner.text):
                scanner.unexpected("'>'")
            else:
                depth += scanner.at("[") - scanner.at("]")
                scanner.position += 1
                scanner.skip()
        scanner.expect(">")
        scanner.expect(":")
        start = scanner.position
        type_ = self.types.type()
        if not isinstance(type_, TileType) or not isinstance(type_.element, NumberType):
            scanner.fail("a constant is a tile of numbers", "constant-type", at=start, found=type_)
        behind = scanner.position
        scanner.position = inside
        found = self.constants.elements(type_.element)
        scanner.position = behind
        return self.constants.constant(found, type_, inside)
