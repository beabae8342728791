"""Source locations and debug information from text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from .. import attributes as a
from .. import locations as loc
from .scanner import Scanner

if TYPE_CHECKING:
    from .attribute_parser import AttributeParser

LINE = (1 << 32) - 1


class Unknown:
    """A location that is spelled and says nothing."""


UNKNOWN = Unknown()
Named = a.Attribute | loc.Location | Unknown
"""What ``#name`` may stand for."""


class LocationParser:
    """Reads locations at a scanner's position; ``attributes`` reads what ``#name`` stands for."""

    def __init__(self, scanner: Scanner, attributes: AttributeParser) -> None:
        self.scanner = scanner
        self.attributes = attributes
        self.kinds: dict[str, Callable[[], Named]] = {
            "di_file": self._file,
            "di_compile_unit": self._compile_unit,
            "di_lexical_block": self._lexical_block,
            "di_subprogram": self._subprogram,
            "di_loc": self._scoped,
        }

    def trailing(self) -> loc.Location | None:
        """Take ``loc(...)`` if it stands here."""
        return self._location() if self.scanner.at("loc") else None

    def _location(self) -> loc.Location | None:
        found = self.spelled()
        return None if isinstance(found, Unknown) else found

    def spelled(self) -> loc.Location | Unknown:
        """Take ``loc(...)``."""
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
            return self.spelled()
        if scanner.accept("callsite"):
            scanner.expect("(")
            callee = self._nested_location()
            scanner.expect("at")
            caller = self._nested_location()
            scanner.expect(")")
            return loc.CallSite(_known(callee), _known(caller))
        if scanner.at('"'):
            filename = scanner.string()
            if not scanner.accept(":"):
                self._unholdable(start, "a name")
            line = scanner.integer(0, LINE)
            scanner.expect(":")
            return loc.SourceLocation(None, filename, line, scanner.integer(0, LINE))
        if scanner.at("#"):
            found = self.attributes.named()
            if isinstance(found, loc.Location | Unknown):
                return found
        self._unholdable(start, scanner.next_token())

    def _unholdable(self, start: int, found: str) -> NoReturn:
        """Fail for a location of MLIR's that is not the dialect's: a name, or one of several places."""
        self.scanner.fail(
            "this is not a location that the bytecode can hold",
            "location",
            at=start,
            found=found,
            expected='unknown, "file":line:column, callsite(... at ...) or an alias',
        )

    def _nested_location(self) -> loc.Location | Unknown:
        self.attributes.enter()
        found = self._inner_location()
        self.attributes.leave()
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
        found = self.attributes.value()
        if not isinstance(found, kinds):
            self.scanner.fail(
                "this is not the kind of debug information that belongs here",
                "location",
                at=start,
                expected=" or ".join(kind.__name__ for kind in kinds),
            )
        return found

    def _fields(self, fields: dict[str, Callable[[], object]], **defaults: object) -> dict[str, object]:
        """Take ``<name = value, ...>``, in any order; what has a default may be left out."""
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

        self.attributes.types.listed("<", field)
        missing = fields.keys() - found.keys() - defaults.keys()
        if missing:
            scanner.fail("fields are missing", "field", expected=", ".join(sorted(missing)))
        return defaults | found

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
            },
            scopeLine=0,
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
