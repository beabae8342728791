"""The type table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from .. import types as t
from ..version import V13_2, V13_3, V13_4, Version
from .cursor import Cursor

T = TypeVar("T", bound=t.Type)

DYNAMIC = -(1 << 63)

SIMPLE: dict[int, t.Type] = {
    0: t.I1,
    1: t.I8,
    2: t.I16,
    3: t.I32,
    4: t.I64,
    5: t.F16,
    6: t.BF16,
    7: t.F32,
    8: t.TF32,
    9: t.F64,
    10: t.F8E4M3FN,
    11: t.F8E5M2,
    17: t.TOKEN,
    18: t.F8E8M0FNU,
    19: t.F4E2M1FN,
    22: t.I4,
}
POINTER, TILE, TENSOR_VIEW, PARTITION_VIEW, FUNCTION = 12, 13, 14, 15, 16
GATHER_SCATTER_VIEW, STRIDED_VIEW = 20, 21

SINCE = {18: V13_2, 19: V13_3, 20: V13_3, 21: V13_3, 22: V13_3}


class TypeTable:
    """Types by number, decoded when first asked for: an item may refer to a later one."""

    def __init__(self, items: list[Cursor], version: Version) -> None:
        self._items = items
        self._version = version
        self._types: list[t.Type | None] = [None] * len(items)
        self._open: set[int] = set()

    def __len__(self) -> int:
        return len(self._items)

    def get(self, index: int, asker: Cursor) -> t.Type:
        """Type number ``index``; ``asker`` is where the number was read."""
        if index >= len(self._types):
            asker.fail(
                "there is no type of this number",
                "type-index",
                found=index,
                expected=f"below {len(self._types)}",
            )
        known = self._types[index]
        if known is not None:
            return known
        if index in self._open:
            asker.fail("a type contains itself", "type-cycle", found=f"type {index}")
        self._open.add(index)
        cursor = self._items[index]
        decoded = self._decode(cursor)
        cursor.finish("a type")
        self._open.discard(index)
        self._types[index] = decoded
        return decoded

    def read(self, cursor: Cursor) -> t.Type:
        """The type whose number stands at ``cursor``."""
        return self.get(cursor.varint(), cursor)

    def _expect(self, cursor: Cursor, kind: type[T], what: str) -> T:
        found = self.read(cursor)
        if not isinstance(found, kind):
            cursor.fail(f"a type is not {what}", "type-kind", found=found, expected=what)
        return found

    def _decode(self, cursor: Cursor) -> t.Type:
        tag = cursor.varint()
        since = SINCE.get(tag)
        if since is not None and self._version < since:
            cursor.fail(f"type tag {tag} needs bytecode {since}", "type-version", found=str(self._version))
        simple = SIMPLE.get(tag)
        if simple is not None:
            return simple
        decoder: Callable[[Cursor], t.Type] | None = {
            POINTER: self._pointer,
            TILE: self._tile,
            TENSOR_VIEW: self._tensor_view,
            PARTITION_VIEW: self._partition_view,
            FUNCTION: self._function,
            GATHER_SCATTER_VIEW: self._gather_scatter_view,
            STRIDED_VIEW: self._strided_view,
        }.get(tag)
        if decoder is None:
            cursor.fail("there is no type with this tag", "type-tag", found=tag)
        return decoder(cursor)

    def _presence(self, cursor: Cursor, since: Version) -> bool | None:
        """Whether the optional part is there; None if this version has another way to tell."""
        if self._version < since:
            return None
        bits = cursor.varint()
        if bits & ~1:
            cursor.fail("unknown presence bits in a type", "type-bits", found=bin(bits), expected="0 or 1")
        return bits == 1

    def _pointer(self, cursor: Cursor) -> t.Type:
        present = self._presence(cursor, V13_4)
        pointee = self._expect(cursor, t.NumberType, "a number")
        return t.PointerType(pointee, self._pointer_attribute(cursor) if present else None)

    def _pointer_attribute(self, cursor: Cursor) -> t.PointerAttribute:
        value = cursor.byte()
        try:
            attribute = t.PointerAttribute(value)
        except ValueError:
            cursor.fail("there is no such pointer attribute", "enum-value", found=value)
        if attribute.since > self._version:
            cursor.fail(
                f"the pointer attribute {attribute} needs bytecode {attribute.since}",
                "type-version",
                found=str(self._version),
            )
        return attribute

    def _tile(self, cursor: Cursor) -> t.Type:
        element = self.read(cursor)
        if not isinstance(element, t.NumberType | t.PointerType):
            cursor.fail("a tile's element is neither a number nor a pointer", "type-kind", found=element)
        shape = self._positive(cursor, cursor.integers(8, "extents"))
        size = 1
        for extent in shape:
            size *= extent
            if size >> 63:
                cursor.fail("a tile has more elements than there are numbers", "tile-size", found="over 2^63")
        return t.TileType(shape, element)

    def _positive(self, cursor: Cursor, extents: tuple[int, ...]) -> tuple[int, ...]:
        if any(e <= 0 for e in extents):
            cursor.fail("an extent of a tile is not positive", "tile-extent", found=extents)
        return extents

    def _dimensions(self, cursor: Cursor, what: str) -> tuple[t.Dimension, ...]:
        return tuple(None if d == DYNAMIC else d for d in cursor.integers(8, what))

    def _tensor_view(self, cursor: Cursor) -> t.Type:
        present = self._presence(cursor, V13_4)
        element = self._expect(cursor, t.NumberType, "a number")
        shape = self._dimensions(cursor, "extents")
        strides = self._dimensions(cursor, "strides")
        if len(shape) != len(strides):
            cursor.fail(
                "a tensor view has as many strides as extents",
                "tensor-rank",
                found=f"{len(strides)} strides",
                expected=len(shape),
            )
        attribute = self._pointer_attribute(cursor) if present else None
        return t.TensorViewType(element, shape, strides, attribute)

    def _padding(self, cursor: Cursor, present: bool | None) -> t.PaddingValue | None:
        if present is None:
            present = bool(cursor.byte())
        if not present:
            return None
        value = cursor.byte()
        try:
            return t.PaddingValue(value)
        except ValueError:
            cursor.fail("there is no such padding value", "enum-value", found=value)

    def _partition_view(self, cursor: Cursor) -> t.Type:
        present = self._presence(cursor, V13_3)
        tile_shape = self._positive(cursor, cursor.integers(4, "extents"))
        tensor_view = self._expect(cursor, t.TensorViewType, "a tensor view")
        dim_map = cursor.integers(4, "dimensions")
        return t.PartitionViewType(tile_shape, tensor_view, dim_map, self._padding(cursor, present))

    def _strided_view(self, cursor: Cursor) -> t.Type:
        present = self._presence(cursor, V13_3)
        tile_shape = self._positive(cursor, cursor.integers(4, "extents"))
        traversal = cursor.integers(4, "strides")
        tensor_view = self._expect(cursor, t.TensorViewType, "a tensor view")
        dim_map = cursor.integers(4, "dimensions")
        padding = self._padding(cursor, present)
        return t.StridedViewType(tile_shape, traversal, tensor_view, dim_map, padding)

    def _gather_scatter_view(self, cursor: Cursor) -> t.Type:
        present = self._presence(cursor, V13_3)
        tile_shape = self._positive(cursor, cursor.integers(4, "extents"))
        tensor_view = self._expect(cursor, t.TensorViewType, "a tensor view")
        sparse_dim = cursor.varint()
        return t.GatherScatterViewType(tile_shape, tensor_view, sparse_dim, self._padding(cursor, present))

    def _function(self, cursor: Cursor) -> t.Type:
        return t.FunctionType(self._side(cursor, "parameters"), self._side(cursor, "results"))

    def _side(self, cursor: Cursor, what: str) -> tuple[t.Type, ...]:
        types = []
        for _ in range(cursor.count(what)):
            type_ = self.read(cursor)
            if isinstance(type_, t.FunctionType):
                # This also keeps types from growing without bound by referring to each other.
                cursor.fail("a function neither takes nor gives functions", "type-kind", found="a function")
            types.append(type_)
        return tuple(types)
