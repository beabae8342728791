"""The debug section: where each operation comes from."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from copy import copy
from typing import NoReturn

from .. import locations as loc
from ..version import V13_5, Version
from .cursor import Cursor
from .sections import read_table

DEPTH = 100
"""Scopes nest no deeper than this in any real file."""
CALLS = 250
"""A call site has no more callers than this, one the caller of the other: functions call themselves."""
CALL_SITE = 6
"""The tag of a call site."""
WEIGHT = 10_000
"""No location is made of more parts than this, counting a part as often as it is referred to.

Two call sites that both refer to the one before double at each step: a few bytes would take hours to compare.
"""


class DebugTable:
    """Locations by number; 0 is none."""

    def __init__(
        self,
        items: list[Cursor],
        offsets: tuple[int, ...],
        numbers: tuple[int, ...],
        string: Callable[[Cursor], str],
        version: Version,
    ) -> None:
        self._items = items
        self._offsets = offsets
        self._numbers = numbers
        self._string = string
        self._version = version
        self._known: dict[int, loc.Location | None] = {0: None}
        self._weights: dict[int, tuple[int, int]] = {0: (0, 0)}
        self._open: set[int] = set()

    def of_function(self, number: int, asker: Cursor) -> Iterator[int]:
        """Location numbers of the function whose debug number is ``number``: its own, then one an operation.

        0 stands for a function without debug information, whose locations are all none.
        """
        if number == 0:
            while True:
                yield 0
        if number > len(self._offsets):
            asker.fail("there is no debug information of this number", "debug-index", found=number)
        position = self._offsets[number - 1]
        while position < len(self._numbers):
            yield self._numbers[position]
            position += 1
        asker.fail("the debug section has fewer locations than operations", "debug-index")

    def get(self, index: int, asker: Cursor) -> loc.Location | None:
        """Location number ``index``."""
        if index in self._known:
            return self._known[index]
        if index > len(self._items):
            asker.fail("there is no location of this number", "debug-index", found=index)
        if index in self._open:
            asker.fail("a location contains itself", "debug-cycle", found=f"location {index}")
        if len(self._open) > DEPTH:
            self._too_deep(asker, index)
        self._open.add(index)
        self._read_callers(index)
        item = self._items[index - 1]
        decoded = self._decode(item, index)
        item.finish("a location")
        self._open.discard(index)
        self._known[index] = decoded
        return decoded

    def _read_callers(self, index: int) -> None:
        """Read the callers of a call site, the outermost first: there may be more than Python nests calls."""
        chain: dict[int, None] = {}
        while index not in self._known and 0 < index <= len(self._items) and index not in chain:
            item = copy(self._items[index - 1])
            if item.byte() != CALL_SITE:
                break
            chain[index] = None
            item.varint()
            index = item.varint()
        for caller in list(chain)[:0:-1]:
            if caller not in self._open:
                self.get(caller, self._items[caller - 1])

    def _too_deep(self, cursor: Cursor, index: int) -> NoReturn:
        cursor.fail("a location is made of too many others", "debug-depth", found=f"location {index}")

    def _references(
        self, cursor: Cursor, owner: int, count: int = 1, depth_limit: int = DEPTH
    ) -> list[loc.Location | None]:
        """The next ``count`` locations that the location ``owner`` refers to."""
        found = []
        depth, weight = self._weights.get(owner, (1, 1))
        for _ in range(count):
            index = cursor.varint()
            found.append(self.get(index, cursor))
            below = self._weights[index]
            depth, weight = max(depth, below[0] + 1), weight + below[1]
        if depth > depth_limit or weight > WEIGHT:
            self._too_deep(cursor, owner)
        self._weights[owner] = depth, weight
        return found

    def _file(self, cursor: Cursor, owner: int) -> loc.File | None:
        (found,) = self._references(cursor, owner)
        if found is not None and not isinstance(found, loc.File):
            cursor.fail("a location's file is not a file", "debug-kind", found=found)
        return found

    def _decode(self, cursor: Cursor, index: int) -> loc.Location | None:
        self._weights[index] = 1, 1
        tag = cursor.byte()
        match tag:
            case 0:
                return None
            case 1:
                return loc.CompileUnit(self._file(cursor, index))
            case 2:
                return loc.File(self._string(cursor), self._string(cursor))
            case 3:
                (scope,) = self._references(cursor, index)
                return loc.LexicalBlock(scope, self._file(cursor, index), cursor.varint(), cursor.varint())
            case 4:
                (scope,) = self._references(cursor, index)
                return loc.SourceLocation(scope, self._string(cursor), cursor.varint(), cursor.varint())
            case 5:
                return self._subprogram(cursor, index)
            case 6:
                return loc.CallSite(*self._references(cursor, index, 2, CALLS))
        cursor.position -= 1
        cursor.fail("there is no location with this tag", "debug-tag", found=tag)

    def _subprogram(self, cursor: Cursor, index: int) -> loc.Subprogram:
        file, line = self._file(cursor, index), cursor.varint()
        name, linkage_name = self._string(cursor), self._string(cursor)
        (unit,) = self._references(cursor, index)
        if unit is not None and not isinstance(unit, loc.CompileUnit):
            cursor.fail("a subprogram's unit is not a compile unit", "debug-kind", found=unit)
        scope_line = cursor.varint()
        if self._version >= V13_5:
            flags = cursor.varint()
            if flags:
                cursor.fail("unknown flags on a subprogram", "debug-flags", found=flags, expected=0)
        return loc.Subprogram(file, line, name, linkage_name, unit, scope_line)


def read_debug(cursor: Cursor, string: Callable[[Cursor], str], version: Version) -> DebugTable:
    """The debug section."""
    offsets = _numbers(cursor, 4, "I", "functions")
    numbers = _numbers(cursor, 8, "Q", "locations")
    for offset in offsets:
        if offset > len(numbers):
            cursor.fail("a function's locations begin after the last", "table-offset", found=offset)
    # The table's offsets count from its own beginning, and its padding from the section's.
    return DebugTable(read_table(cursor, 4, "locations"), offsets, numbers, string, version)


def _numbers(cursor: Cursor, width: int, code: str, what: str) -> tuple[int, ...]:
    count = cursor.count(what, size=width)
    cursor.align(width)
    return struct.unpack(f"<{count}{code}", cursor.take(count * width))
