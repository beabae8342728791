"""A bounded walk over bytes from outside: every length is checked before it is believed."""

from __future__ import annotations

import struct
from typing import NoReturn

from ..errors import BytecodeError

_CODES = {1: "b", 4: "i", 8: "q"}


class Cursor:
    """A position in ``data[start:end]``.

    ``base`` is the offset of ``data`` in the file, so that errors name the byte in the file.
    """

    __slots__ = ("base", "data", "end", "file", "position")

    def __init__(
        self, data: bytes, file: str | None = None, *, start: int = 0, end: int | None = None, base: int = 0
    ) -> None:
        self.data = data
        self.file = file
        self.position = start
        self.end = len(data) if end is None else end
        self.base = base

    def fail(self, message: str, rule: str, **details: object) -> NoReturn:
        """Raise a ``BytecodeError`` at this position."""
        raise BytecodeError(
            message,
            rule=rule,
            file=self.file,
            offset=self.base + self.position,
            found=details.get("found"),
            expected=details.get("expected"),
            operation=details.get("operation"),  # type: ignore[arg-type]
        )

    @property
    def remaining(self) -> int:
        """Bytes left."""
        return self.end - self.position

    def byte(self) -> int:
        """The next byte."""
        if self.position >= self.end:
            self.fail("the data ends in the middle of an item", "truncated")
        value = self.data[self.position]
        self.position += 1
        return value

    def take(self, count: int) -> bytes:
        """The next ``count`` bytes."""
        if count > self.end - self.position:
            self.fail(
                "an item is longer than the data that holds it",
                "truncated",
                found=f"{self.end - self.position} bytes",
                expected=f"{count} bytes",
            )
        start = self.position
        self.position += count
        return self.data[start : self.position]

    def varint(self, *, wrap: bool = False) -> int:
        """An unsigned LEB128 number of at most 64 bits; with ``wrap``, bits above these are lost."""
        data, position, end = self.data, self.position, self.end
        if position < end and data[position] < 0x80:
            self.position = position + 1
            return data[position]
        value = shift = 0
        while True:
            if position >= end:
                self.fail("the data ends in the middle of a number", "truncated")
            byte = data[position]
            position += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if shift > 63:
                self.fail("a number has more than 64 bits", "varint-width")
        self.position = position
        if value >> 64:
            if not wrap:
                self.fail("a number has more than 64 bits", "varint-width")
            value &= (1 << 64) - 1
        return value

    def signed_varint(self) -> int:
        """A zigzagged LEB128 number."""
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def count(self, what: str, *, size: int = 1) -> int:
        """A count of items that take at least ``size`` bytes each, refused if they cannot fit."""
        value = self.varint()
        if value * size > self.end - self.position:
            self.fail(
                f"more {what} are announced than the data can hold",
                "count",
                found=value,
                expected=f"at most {(self.end - self.position) // max(size, 1)}",
            )
        return value

    def integers(self, width: int, what: str) -> tuple[int, ...]:
        """A counted array of little-endian signed integers of ``width`` bytes."""
        count = self.count(what, size=width)
        return struct.unpack(f"<{count}{_CODES[width]}", self.take(count * width))

    def align(self, alignment: int) -> None:
        """Skip the padding up to a multiple of ``alignment`` in this cursor's own data."""
        self.take(-self.position % alignment)

    def finish(self, what: str) -> None:
        """Check that nothing is left."""
        if self.position != self.end:
            self.fail(f"{what} has bytes left over", "trailing-bytes", found=f"{self.remaining} bytes")
