"""The elements of a constant: how the bytecode packs them, and how ``DenseElements`` holds them.

In the bytecode an element takes its width rounded up to whole bytes, which makes 3 for the 19 bits of tf32,
and booleans are bits, the first in the lowest place of a byte. A record of one element stands for all of
them; a boolean's is 0xFF or 0x00. Checked against what tileirdisasm 13.4.92 and 13.5.37 print.
"""

from __future__ import annotations

from ..attributes import DenseElements
from ..types import F4E2M1FN, I1, I4, TF32, NumberType, TileType

_LOW_NIBBLE = bytes(i & 0xF for i in range(256))
_BIT = [bytes(i >> k & 1 for k in range(8)) for i in range(256)]
_TF32_TOP = bytes(i & 0x7 for i in range(256))


def record_sizes(element: NumberType, size: int) -> tuple[int, int]:
    """How many bytes a record has that holds one element, and one that holds ``size`` of them."""
    if element is I1:
        return 1, (size + 7) // 8
    width = 3 if element is TF32 else element.bytes
    return width, width * size


def unpack(record: bytes, type_: TileType, size: int) -> DenseElements:
    """The constant that ``record`` holds; its length is one of ``record_sizes``."""
    element = type_.element
    if element is I1:
        return DenseElements(type_, _booleans(record, size))
    if element is TF32:
        data = bytearray(len(record) // 3 * 4)
        data[0::4], data[1::4] = record[0::3], record[1::3]
        data[2::4] = record[2::3].translate(_TF32_TOP)
        return DenseElements(type_, bytes(data))
    if element is I4 or element is F4E2M1FN:
        record = record.translate(_LOW_NIBBLE)
    return DenseElements(type_, record)


def _booleans(record: bytes, size: int) -> bytes:
    if len(record) == 1 and (size > 8 or record in (b"\x00", b"\xff")):
        return bytes((record[0] & 1,))
    return b"".join([_BIT[byte] for byte in record])[:size]


def pack(value: DenseElements) -> bytes:
    """The record of a constant: one element if all are the same, as ``DenseElements`` keeps them."""
    data, element = value.data, value.type.element
    if element is I1:
        if len(data) == 1:
            return b"\xff" if data[0] & 1 else b"\x00"
        bits = sum(1 << i for i, byte in enumerate(data) if byte & 1)
        return bits.to_bytes((len(data) + 7) // 8, "little")
    if element is TF32:
        record = bytearray(len(data) // 4 * 3)
        record[0::3], record[1::3], record[2::3] = data[0::4], data[1::4], data[2::4]
        return bytes(record)
    return data
