"""Source locations as the disassembler spells them: aliases, each defined once behind the module.

MLIR sorts aliases by how deep they reach into others, then by their prefix, then by where they were met
first, and numbers each prefix by itself.
"""

from __future__ import annotations

from .. import locations as loc
from ..errors import UnsupportedError
from .strings import escape

Place = loc.Location | None
"""A location; None is the unknown one, which has an alias like any other."""

_PREFIXES: dict[type[loc.Location], str] = {
    loc.File: "di_file",
    loc.CompileUnit: "di_compile_unit",
    loc.Subprogram: "di_subprogram",
    loc.LexicalBlock: "di_lexical_block",
}


class LocationAliases:
    """Collects locations in the order in which a module spells them, and then names them."""

    def __init__(self) -> None:
        self._depths: dict[Place, int] = {}
        self._names: dict[Place, str] = {}

    def visit(self, place: Place) -> int:
        """Take note of a location and of all that it is made of; how deep it reaches."""
        known = self._depths.get(place)
        if known is not None:
            return known
        self._depths[place] = 0
        depth = self._depths[place] = 1 + max(map(self.visit, _members(place)), default=0)
        return depth

    def assign(self) -> None:
        """Name what was met."""
        order = sorted(self._depths, key=lambda place: (self._depths[place], _prefix(place)))
        counts: dict[str, int] = {}
        for place in order:
            prefix = _prefix(place)
            number = counts.get(prefix, 0)
            counts[prefix] = number + 1
            self._names[place] = f"#{prefix}{number or ''}"

    def use(self, place: Place) -> str:
        """What stands behind an operation."""
        return f" loc({self._names[place]})"

    def definitions(self) -> str:
        """The lines behind the module."""
        return "".join([f"{name} = {self._spell(place)}\n" for place, name in self._names.items()])

    def _spell(self, place: Place) -> str:
        names = self._names
        match place:
            case None:
                return "loc(unknown)"
            case loc.SourceLocation(None, filename, line, column):
                return f"loc({escape(filename)}:{line}:{column})"
            case loc.SourceLocation(scope, _, _, _):
                return f"#cuda_tile.di_loc<{names[_unscoped(place)]} in {names[scope]}>"
            case loc.CallSite(callee, caller):
                return f"loc(callsite({names[callee]} at {names[caller]}))"
            case loc.File(name, directory):
                return f"#cuda_tile.di_file<{escape(name)} in {escape(directory)}>"
            case loc.CompileUnit(file):
                return f"#cuda_tile.di_compile_unit<file = {names[file]}>"
            case loc.LexicalBlock(scope, file, line, column):
                return (
                    f"#cuda_tile.di_lexical_block<scope = {names[scope]}, file = {names[file]}, "
                    f"line = {line}, column = {column}>"
                )
            case loc.Subprogram(file, line, name, linkage_name, unit, scope_line):
                return (
                    f"#cuda_tile.di_subprogram<file = {names[file]}, line = {line}, name = {escape(name)}, "
                    f"linkageName = {escape(linkage_name)}, compileUnit = {names[unit]}, "
                    f"scopeLine = {scope_line}>"
                )
        raise AssertionError(f"no spelling for {place!r}")


def _prefix(place: Place) -> str:
    return "loc" if place is None else _PREFIXES.get(type(place), "loc")


def _unscoped(place: loc.SourceLocation) -> loc.SourceLocation:
    return loc.SourceLocation(None, place.filename, place.line, place.column)


def _members(place: Place) -> tuple[Place, ...]:
    """The locations that ``place`` is made of, in the order of its spelling."""
    match place:
        case loc.SourceLocation(scope, _, _, _) if scope is not None:
            return _unscoped(place), scope
        case loc.CallSite(callee, caller):
            return callee, caller
        case loc.CompileUnit(file):
            return (_there(file, place),)
        case loc.LexicalBlock(scope, file, _, _):
            return _there(scope, place), _there(file, place)
        case loc.Subprogram(file, _, _, _, unit, _):
            return _there(file, place), _there(unit, place)
    return ()


def _there(member: Place, owner: loc.Location) -> loc.Location:
    if member is None:
        raise UnsupportedError(
            "debug information without its file, unit or scope has no spelling", rule="location", found=owner
        )
    return member
