"""Header, sections and tables: the frame around types, constants, strings and functions."""

from __future__ import annotations

import enum

from ..version import SUPPORTED, Version
from .cursor import Cursor

MAGIC = b"\x7fTileIR\x00"


class Section(enum.IntEnum):
    """Numbers of the sections."""

    END = 0
    STRING = 1
    FUNCTION = 2
    DEBUG = 3
    CONSTANT = 4
    TYPE = 5
    GLOBAL = 6
    PRODUCER = 7


def read_header(cursor: Cursor) -> Version:
    """The version of the file, after checking the magic number."""
    if cursor.data[: len(MAGIC)] != MAGIC:
        cursor.fail(
            "this is not Tile IR bytecode",
            "bytecode-magic",
            found=cursor.data[: len(MAGIC)].hex(" ") or "an empty file",
            expected=MAGIC.hex(" "),
        )
    cursor.position = len(MAGIC)
    version = Version(cursor.byte(), cursor.byte())
    tag = int.from_bytes(cursor.take(2), "little")
    if version not in SUPPORTED or tag != 0:
        cursor.position = len(MAGIC)
        cursor.fail(
            "the bytecode version is not one that is published",
            "bytecode-version",
            found=f"{version}" + (f" tag {tag}" if tag else ""),
            expected=" or ".join(map(str, SUPPORTED)),
        )
    return version


def read_sections(cursor: Cursor, version: Version) -> dict[Section, Cursor]:
    """A cursor for every section there is, in whatever order they came."""
    sections: dict[Section, Cursor] = {}
    while True:
        start = cursor.position
        head = cursor.byte()
        number, aligned = head & 0x7F, head & 0x80
        try:
            section = Section(number)
        except ValueError:
            cursor.position = start
            cursor.fail("there is no such section", "section-id", found=number, expected="0 to 7")
        if section is Section.END:
            return sections
        if section is Section.PRODUCER and version < (13, 3):
            cursor.position = start
            cursor.fail("a producer section needs bytecode 13.3", "section-version", found=version)
        if section in sections:
            cursor.position = start
            cursor.fail(f"a second {section.name.lower()} section", "section-twice")
        length = cursor.varint()
        if aligned:
            alignment = cursor.varint()
            if alignment == 0 or alignment & (alignment - 1) or alignment > 1 << 16:
                cursor.fail("a section's alignment is not a power of two", "alignment", found=alignment)
            cursor.align(alignment)
        at = cursor.position
        data = cursor.take(length)
        sections[section] = Cursor(data, cursor.file, base=cursor.base + at)


def read_table(cursor: Cursor, index_width: int, what: str) -> list[Cursor]:
    """A cursor for every item of a table."""
    count = cursor.count(what, size=1)
    cursor.align(index_width)
    if count * index_width > cursor.remaining:
        cursor.fail(f"more {what} are announced than the table can hold", "count", found=count)
    raw = cursor.take(count * index_width)
    offsets = [int.from_bytes(raw[i : i + index_width], "little") for i in range(0, len(raw), index_width)]
    start, size = cursor.position, cursor.remaining
    items = []
    for i, offset in enumerate(offsets):
        end = offsets[i + 1] if i + 1 < count else size
        if not offset <= end <= size:
            cursor.fail(
                f"the offsets of the table of {what} do not ascend within it",
                "table-offset",
                found=f"item {i} at {offset} to {end} of {size}",
            )
        items.append(
            Cursor(cursor.data, cursor.file, start=start + offset, end=start + end, base=cursor.base)
        )
    cursor.position = cursor.end
    return items
