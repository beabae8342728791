"""The debug section: where each operation comes from."""

from __future__ import annotations

from .. import locations as loc
from ..version import V13_5, Version
from .attribute_writer import Strings
from .output import Output
from .sections import write_table


class DebugWriter:
    """Numbers for locations, from 1 on: 0 is none. A location comes after those it refers to."""

    def __init__(self, strings: Strings, version: Version) -> None:
        self._strings = strings
        self._version = version
        self._numbers: dict[loc.Location, int] = {}
        self._records: list[bytes] = []
        self._functions: list[list[int]] = []

    def function(self) -> list[int]:
        """The list that takes the numbers of a new function's location and of its operations, in order."""
        self._functions.append([])
        return self._functions[-1]

    def number(self, location: loc.Location | None) -> int:
        """The number of a location, which is added to the table if it is not there."""
        if location is None:
            return 0
        known = self._numbers.get(location)
        if known is None:
            record = self._record(location)
            known = self._numbers[location] = len(self._numbers) + 1
            self._records.append(bytes(record))
        return known

    def _record(self, location: loc.Location) -> Output:
        string, number = self._strings.number, self.number
        match location:
            case loc.CompileUnit():
                fields = [1, number(location.file)]
            case loc.File():
                fields = [2, string(location.name), string(location.directory)]
            case loc.LexicalBlock():
                scope, file = number(location.scope), number(location.file)
                fields = [3, scope, file, location.line, location.column]
            case loc.SourceLocation():
                scope = number(location.scope)
                fields = [4, scope, string(location.filename), location.line, location.column]
            case loc.Subprogram():
                file, unit = number(location.file), number(location.compile_unit)
                names = string(location.name), string(location.linkage_name)
                fields = [5, file, location.line, *names, unit, location.scope_line]
                if self._version >= V13_5:
                    fields.append(0)  # flags, of which none is defined
            case loc.CallSite():
                fields = [6, number(location.callee), number(location.caller)]
            case _:
                raise TypeError(f"not a location: {location!r}")
        out = Output()
        out.varints(fields)
        return out

    def section(self) -> bytes:
        """The section: offsets of the functions, numbers of the operations, and the table."""
        out = Output()
        out.varint(len(self._functions))
        out.align(4)
        total = 0
        for numbers in self._functions:
            out += total.to_bytes(4, "little")
            total += len(numbers)
        out.varint(total)
        out.align(8)
        for numbers in self._functions:
            for number in numbers:
                out += number.to_bytes(8, "little")
        # A table without items is more than some readers can take, so it gets one that says nothing.
        write_table(out, self._records or [b"\0"], 4)
        return bytes(out)
