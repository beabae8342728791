"""Header, sections and tables: the frame around types, constants, strings and functions."""

from __future__ import annotations

import enum
import struct
from collections.abc import Sequence

from ..version import SUPPORTED, V13_3, Version
from .cursor import Cursor
from .output import Output

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


ALIGNMENT = {
    Section.STRING: 4,
    Section.FUNCTION: 8,
    Section.DEBUG: 8,
    Section.CONSTANT: 8,
    Section.TYPE: 4,
}
"""Sections whose data must be aligned in the file; the readers point into the file itself."""


def write_header(out: Output, version: Version) -> None:
    """The magic number and the version, whose tag is 0 in a release."""
    out += MAGIC
    out += bytes((version.major, version.minor, 0, 0))


def read_sections(cursor: Cursor, version: Version) -> dict[Section, Cursor]:
    """A cursor for every section there is, in whatever order they came."""
    sections: dict[Section, Cursor] = {}
    while True:
        start = cursor.position
        head = cursor.byte()
        number, aligned = head & 0x7F, head & 0x80
        if number not in _NUMBERS:
            cursor.position = start
            cursor.fail("there is no such section", "section-id", found=number, expected="0 to 7")
        section = Section(number)
        if section is Section.END:
            if aligned:
                cursor.position = start
                cursor.fail("the end of the sections has no alignment", "section-end", found=head, expected=0)
            cursor.finish("the file")
            return sections
        if section is Section.PRODUCER and version < V13_3:
            cursor.position = start
            cursor.fail("a producer section needs bytecode 13.3", "section-version", found=version)
        if section in sections:
            cursor.position = start
            cursor.fail(f"a second {section.name.lower()} section", "section-twice")
        length = cursor.varint()
        alignment = cursor.varint() if aligned else 1
        needed = ALIGNMENT.get(section, 1)
        if alignment.bit_count() != 1 or alignment % needed:
            cursor.fail(
                "a section's alignment is no power of two, or too small for what it holds",
                "alignment",
                found=alignment,
                expected=f"a power of two of at least {needed}",
            )
        cursor.align(alignment)
        at = cursor.position
        data = cursor.take(length)
        sections[section] = Cursor(data, cursor.file, base=cursor.base + at)


_NUMBERS = frozenset(Section)


def write_section(out: Output, section: Section, data: bytes | bytearray) -> None:
    """A section, aligned in the file as its data needs."""
    alignment = ALIGNMENT.get(section, 1)
    out.append(section | (0x80 if alignment > 1 else 0))
    out.varint(len(data))
    if alignment > 1:
        out.varint(alignment)
        out.align(alignment)
    out += data


def read_table(cursor: Cursor, index_width: int, what: str) -> list[Cursor]:
    """A cursor for every item of a table."""
    count = cursor.count(what, size=index_width)
    cursor.align(index_width)
    raw = cursor.take(count * index_width)
    offsets = struct.unpack(f"<{count}{_CODES[index_width]}", raw)
    data, file, base = cursor.data, cursor.file, cursor.base
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
        items.append(Cursor(data, file, start=start + offset, end=start + end, base=base))
    cursor.position = cursor.end
    return items


_CODES = {4: "I", 8: "Q"}


def write_table(out: Output, items: Sequence[bytes], index_width: int) -> None:
    """A table: the count, an offset an item, and the items. Paddings count from the beginning of ``out``."""
    out.varint(len(items))
    out.align(index_width)
    offset = 0
    for item in items:
        out += offset.to_bytes(index_width, "little")
        offset += len(item)
    for item in items:
        out += item
