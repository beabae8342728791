"""Attributes and locations from text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NoReturn

from .. import attributes as a
from .. import locations as loc
from ..types import F64, I32, I64, NumberType, TileType
from .numbers import FORMATS, from_decimal
from .scanner import Scanner
from .type_parser import LARGEST_RANK, TypeParser

NESTING = 64
"""Attributes nest no deeper than this in any real file."""
LARGEST_LIST = 1 << 24
LARGEST = (1 << 63) - 1
LINE = (1 << 32) - 1


class Unknown:
    """A location that is spelled and says nothing."""


UNKNOWN = Unknown()
Named = a.Attribute | loc.Location | Unknown
"""What ``#name`` may stand for."""


class AttributeParser:
    """Reads attributes at a scanner's position."""

    def __init__(self, scanner: Scanner, types: TypeParser, aliases: Mapping[str, int]) -> None:
        self.scanner = scanner
        self.types = types
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
            "di_file": self._file,
            "di_compile_unit": self._compile_unit,
            "di_lexical_block": self._lexical_block,
            "di_subprogram": self._subprogram,
            "di_loc": self._scoped,
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
        self._depth += 1
        if self._depth > NESTING:
            self._too_deep()
        found = self._value()
        self._depth -= 1
        return found

    def _too_deep(self) -> NoReturn:
        self.scanner.fail("attributes are nested too deep", "attribute-depth", expected=f"at most {NESTING}")

    def _value(self) -> Named:
        scanner = self.scanner
        first = scanner.text[scanner.position : scanner.position + 1]
        if first == "#":
            return self._named()
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
            return self._location_or_unknown()
        return a.TypeAttribute(self.types.type())

    def _named(self) -> Named:
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
        bits = self.bits(literal, decimal, type_, start)
        return a.FloatAttribute(type_, bits) if type_.is_float else a.IntegerAttribute(type_, bits)

    def bits(self, literal: str, decimal: bool, type_: NumberType, start: int) -> int:
        """The bit pattern of a literal that stands at ``start``.

        A float is a decimal fraction, rounded once to nearest, or the pattern in hexadecimal. A number that
        is too large is the format's infinity, and refused where it has none.
        """
        scanner = self.scanner
        if not type_.is_float:
            if decimal:
                scanner.fail("an integer has no decimals", "number-form", at=start, found=literal)
            top = 1 << type_.width
            return scanner.number(literal, start, -(top >> 1) - (type_.width == 1), top - 1) & (top - 1)
        format_ = FORMATS[type_.name]
        if decimal:
            bits = from_decimal(literal, format_)
            if bits is None:
                scanner.fail(f"a number is too large for {type_}", "number-range", at=start, found=literal)
            return bits
        if "x" not in literal or literal.startswith("-"):
            scanner.fail(
                "a float is spelled with a point, or as its bit pattern in hexadecimal",
                "number-form",
                at=start,
                found=literal,
            )
        return scanner.number(literal, start, 0, (1 << format_.width) - 1)

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
            found = self._named()
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
        found = self.elements(type_.element)
        scanner.position = behind
        return self.constant(found, type_, inside)

    def elements(self, element: NumberType) -> tuple[bytes, tuple[int, ...] | None]:
        """Take the elements of a constant: their bytes, and the shape that the brackets give.

        The shape is () for one element without brackets, and None for bytes in hexadecimal.
        """
        scanner = self.scanner
        if scanner.at('"'):
            start = scanner.position
            text = scanner.string()
            try:
                data = bytes.fromhex(text[2:]) if text.startswith("0x") else None
            except ValueError:
                data = None
            if data is None or any(c.isspace() for c in text):
                scanner.fail("a constant's bytes are not hexadecimal", "constant-hex", at=start)
            return data, None
        bits: list[int] = []
        shape = self._nested(element, bits, 0)
        return b"".join([b.to_bytes(element.bytes, "little") for b in bits]), shape

    def _nested(self, element: NumberType, bits: list[int], depth: int) -> tuple[int, ...]:
        scanner = self.scanner
        if not scanner.at("["):
            bits.append(self._element(element))
            return ()
        if depth > LARGEST_RANK:
            scanner.fail("too many dimensions", "rank", expected=f"at most {LARGEST_RANK}")
        start = scanner.position
        shapes: list[tuple[int, ...]] = []

        def item() -> None:
            at = scanner.position
            shapes.append(self._nested(element, bits, depth + 1))
            if shapes[-1] != shapes[0]:
                scanner.fail(
                    "a constant's rows differ in shape",
                    "constant-shape",
                    at=at,
                    found=list(shapes[-1]),
                    expected=list(shapes[0]),
                )

        self.types.listed("[", item)
        if not shapes:
            scanner.fail("a constant has an empty row", "constant-shape", at=start)
        return len(shapes), *shapes[0]

    def _element(self, element: NumberType) -> int:
        scanner = self.scanner
        if element.width == 1:
            if scanner.accept("true"):
                return 1
            if scanner.accept("false"):
                return 0
        start = scanner.position
        literal, decimal = scanner.literal()
        return self.bits(literal, decimal, element, start)

    def constant(
        self, found: tuple[bytes, tuple[int, ...] | None], type_: TileType, start: int
    ) -> a.DenseElements:
        """What ``elements`` took, at ``start``, as a constant of ``type_``."""
        data, shape = found
        element = type_.element
        assert isinstance(element, NumberType)
        if shape is None:
            width = 3 if element.name == "tf32" else element.bytes
            if len(data) not in (width, width * type_.size):
                self.scanner.fail(
                    f"a constant's bytes are not those of {type_}",
                    "constant-size",
                    at=start,
                    found=f"{len(data)} bytes",
                    expected=f"{width * type_.size}",
                )
            if element.name == "tf32":
                data = b"".join([data[i : i + 3] + b"\0" for i in range(0, len(data), 3)])
        elif shape not in ((), type_.shape):
            self.scanner.fail(
                "a constant's brackets do not have its type's shape",
                "constant-shape",
                at=start,
                found=list(shape),
                expected=list(type_.shape),
            )
        return a.DenseElements(type_, data)

    def trailing_location(self) -> loc.Location | None:
        """Take ``loc(...)`` if it stands here."""
        return self._location() if self.scanner.at("loc") else None

    def _location(self) -> loc.Location | None:
        found = self._location_or_unknown()
        return None if isinstance(found, Unknown) else found

    def _location_or_unknown(self) -> loc.Location | Unknown:
        self.scanner.expect("loc")
        self.scanner.expect("(")
        found = self._inner_location()
        self.scanner.expect(")")
        return found

    def _inner_location(self) -> loc.Location | Unknown:
        """What stands between the parentheses of ``loc(...)``, or in a call site."""
        scanner = self.scanner
        start = scanner.position
        if scanner.accept("unknown"):
            return UNKNOWN
        if scanner.at("loc"):
            return self._location_or_unknown()
        if scanner.accept("callsite"):
            scanner.expect("(")
            callee = self._nested_location()
            scanner.expect("at")
            caller = self._nested_location()
            scanner.expect(")")
            return loc.CallSite(_known(callee), _known(caller))
        if scanner.at('"'):
            filename = scanner.string()
            scanner.expect(":")
            line = scanner.integer(0, LINE)
            scanner.expect(":")
            return loc.SourceLocation(None, filename, line, scanner.integer(0, LINE))
        if scanner.at("#"):
            found = self._named()
            if isinstance(found, loc.Location | Unknown):
                return found
        scanner.fail(
            "this is not a location that the bytecode can hold",
            "location",
            at=start,
            expected='unknown, "file":line:column, callsite(... at ...) or an alias',
        )

    def _nested_location(self) -> loc.Location | Unknown:
        self._depth += 1
        if self._depth > NESTING:
            self._too_deep()
        found = self._inner_location()
        self._depth -= 1
        return found

    def _file(self) -> Named:
        scanner = self.scanner
        scanner.expect("<")
        name = scanner.string()
        scanner.expect("in")
        directory = scanner.string()
        scanner.expect(">")
        return loc.File(name, directory)

    def _scoped(self) -> Named:
        scanner = self.scanner
        scanner.expect("<")
        start = scanner.position
        place = self._nested_location()
        if not isinstance(place, loc.SourceLocation):
            scanner.fail("a scoped location is a place in a file", "location", at=start)
        scanner.expect("in")
        scope = self._scope((loc.LexicalBlock, loc.Subprogram))
        scanner.expect(">")
        return loc.SourceLocation(scope, place.filename, place.line, place.column)

    def _scope(self, kinds: tuple[type[loc.Location], ...]) -> loc.Location:
        start = self.scanner.position
        found = self.value()
        if not isinstance(found, kinds):
            self.scanner.fail(
                "this is not the kind of debug information that belongs here",
                "location",
                at=start,
                expected=" or ".join(kind.__name__ for kind in kinds),
            )
        return found

    def _fields(self, fields: dict[str, Callable[[], object]]) -> dict[str, object]:
        """Take ``<name = value, ...>``, every field once and in any order."""
        scanner = self.scanner
        found: dict[str, object] = {}

        def field() -> None:
            start = scanner.position
            name = scanner.word("a field")
            read = fields.get(name)
            if read is None or name in found:
                scanner.fail(
                    "a field is unknown or given twice",
                    "field",
                    at=start,
                    found=name,
                    expected=", ".join(fields),
                )
            scanner.expect("=")
            found[name] = read()

        self.types.listed("<", field)
        missing = fields.keys() - found.keys()
        if missing:
            scanner.fail("fields are missing", "field", expected=", ".join(sorted(missing)))
        return found

    def _compile_unit(self) -> Named:
        found = self._fields({"file": lambda: self._scope((loc.File,))})
        return loc.CompileUnit(found["file"])  # type: ignore[arg-type]

    def _lexical_block(self) -> Named:
        line = lambda: self.scanner.integer(0, LINE)  # noqa: E731
        found = self._fields(
            {
                "scope": lambda: self._scope((loc.LexicalBlock, loc.Subprogram)),
                "file": lambda: self._scope((loc.File,)),
                "line": line,
                "column": line,
            }
        )
        return loc.LexicalBlock(**found)  # type: ignore[arg-type]

    def _subprogram(self) -> Named:
        line = lambda: self.scanner.integer(0, LINE)  # noqa: E731
        found = self._fields(
            {
                "file": lambda: self._scope((loc.File,)),
                "line": line,
                "name": self.scanner.string,
                "linkageName": self.scanner.string,
                "compileUnit": lambda: self._scope((loc.CompileUnit,)),
                "scopeLine": line,
            }
        )
        return loc.Subprogram(
            found["file"],  # type: ignore[arg-type]
            found["line"],  # type: ignore[arg-type]
            found["name"],  # type: ignore[arg-type]
            found["linkageName"],  # type: ignore[arg-type]
            found["compileUnit"],  # type: ignore[arg-type]
            found["scopeLine"],  # type: ignore[arg-type]
        )


def _known(found: loc.Location | Unknown) -> loc.Location | None:
    return None if isinstance(found, Unknown) else found
