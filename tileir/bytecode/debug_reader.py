"""The debug section: where each operation comes from."""

from __future__ import annotations

from collections.abc import Callable

from .. import locations as loc
from .cursor import Cursor
from .sections import read_table

DEPTH = 256
"""Scopes and call sites nest no deeper than this in any real file."""


class DebugTable:
    """Locations by number; 0 is none."""

    def __init__(
        self,
        items: list[Cursor],
        indices: list[tuple[int, ...]],
        string: Callable[[Cursor], str],
    ) -> None:
        self._items = items
        self._indices = indices
        self._string = string
        self._known: dict[int, loc.Location | None] = {0: None}
        self._open: set[int] = set()

    def of_function(self, number: int) -> tuple[int, ...]:
        """Location numbers of function ``number`` (from 0): its own, then one an operation."""
        return self._indices[number] if number < len(self._indices) else ()

    def get(self, index: int, asker: Cursor) -> loc.Location | None:
        """Location number ``index``."""
        if index in self._known:
            return self._known[index]
        if index > len(self._items):
            asker.fail("there is no location of this number", "debug-index", found=index)
        if index in self._open or len(self._open) > DEPTH:
            asker.fail("a location contains itself", "debug-cycle", found=f"location {index}")
        self._open.add(index)
        item = self._items[index - 1]
        start = item.position
        decoded = self._decode(item)
        item.position = start
        self._open.discard(index)
        self._known[index] = decoded
        return decoded

    def _reference(self, cursor: Cursor) -> loc.Location | None:
        return self.get(cursor.varint(), cursor)

    def _file(self, cursor: Cursor) -> loc.File | None:
        found = self._reference(cursor)
        if found is not None and not isinstance(found, loc.File):
            cursor.fail("a location's file is not a file", "debug-kind", found=found)
        return found

    def _decode(self, cursor: Cursor) -> loc.Location | None:
        tag = cursor.byte()
        match tag:
            case 0:
                return None
            case 1:
                return loc.CompileUnit(self._file(cursor))
            case 2:
                return loc.File(self._string(cursor), self._string(cursor))
            case 3:
                scope, file = self._reference(cursor), self._file(cursor)
                return loc.LexicalBlock(scope, file, cursor.varint(), cursor.varint())
            case 4:
                scope, name = self._reference(cursor), self._string(cursor)
                return loc.SourceLocation(scope, name, cursor.varint(), cursor.varint())
            case 5:
                file, line = self._file(cursor), cursor.varint()
                name, linkage_name = self._string(cursor), self._string(cursor)
                unit = self._reference(cursor)
                if unit is not None and not isinstance(unit, loc.CompileUnit):
                    cursor.fail("a subprogram's unit is not a compile unit", "debug-kind", found=unit)
                return loc.Subprogram(file, line, name, linkage_name, unit, cursor.varint())
            case 6:
                return loc.CallSite(self._reference(cursor), self._reference(cursor))
        cursor.position -= 1
        cursor.fail("there is no location with this tag", "debug-tag", found=tag)


def read_debug(cursor: Cursor, string: Callable[[Cursor], str]) -> DebugTable:
    """The debug section."""
    count = cursor.varint()
    cursor.align(4)
    if count * 4 > cursor.remaining:
        cursor.fail("more functions are announced than the section can hold", "count", found=count)
    raw = cursor.take(count * 4)
    offsets = [int.from_bytes(raw[i : i + 4], "little") for i in range(0, len(raw), 4)]
    total = cursor.varint()
    cursor.align(8)
    if total * 8 > cursor.remaining:
        cursor.fail("more locations are announced than the section can hold", "count", found=total)
    raw = cursor.take(total * 8)
    numbers = [int.from_bytes(raw[i : i + 8], "little") for i in range(0, len(raw), 8)]
    indices = []
    for i, offset in enumerate(offsets):
        end = offsets[i + 1] if i + 1 < count else total
        if not offset <= end <= total:
            cursor.fail("the functions' locations do not ascend", "table-offset", found=f"{offset} to {end}")
        indices.append(tuple(numbers[offset:end]))
    # The table's offsets count from its own beginning, and its padding from the section's.
    items = read_table(cursor, 4, "locations")
    return DebugTable(items, indices, string)
