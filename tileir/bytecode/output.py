"""Numbers and arrays as the bytecode spells them, appended to a buffer: the other side of ``Cursor``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

PADDING = 0xCB
"""What fills the gaps of alignment. Readers do not look at it; cuda-tile's own writer uses this value."""

_WORD = (1 << 64) - 1


class Output(bytearray):
    """Bytes being written."""

    def varint(self, value: int) -> None:
        """An unsigned number in LEB128."""
        while value > 0x7F:
            self.append(value & 0x7F | 0x80)
            value >>= 7
        self.append(value)

    def signed_varint(self, value: int) -> None:
        """A signed 64-bit number, zigzagged; a larger pattern counts as its two's complement."""
        value &= _WORD
        self.varint((value << 1 & _WORD) ^ (_WORD if value >> 63 else 0))

    def varints(self, values: Iterable[int]) -> None:
        """Numbers one after the other."""
        for value in values:
            self.varint(value)

    def integers(self, values: Sequence[int], width: int) -> None:
        """A counted array of little-endian signed integers of ``width`` bytes."""
        self.varint(len(values))
        for value in values:
            self += value.to_bytes(width, "little", signed=True)

    def align(self, alignment: int) -> None:
        """Pad to a multiple of ``alignment``."""
        self += bytes((PADDING,)) * (-len(self) % alignment)
