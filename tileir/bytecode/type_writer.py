"""The type table, filled as types are used: a type comes after those it is made of."""

from __future__ import annotations

from .. import types as t
from ..errors import WriteError
from ..version import V13_3, V13_4, Version
from .output import Output
from .type_reader import (
    DYNAMIC,
    FUNCTION,
    GATHER_SCATTER_VIEW,
    PARTITION_VIEW,
    POINTER,
    SIMPLE,
    STRIDED_VIEW,
    TENSOR_VIEW,
    TILE,
)

_TAGS = {type_: tag for tag, type_ in SIMPLE.items()}


class TypeWriter:
    """Numbers for types. i1 and i32 are the first two, as in the files of cuda-tile."""

    def __init__(self, version: Version) -> None:
        self.version = version
        self.records: list[bytes] = []
        self._numbers: dict[t.Type, int] = {}
        self.number(t.I1)
        self.number(t.I32)

    def number(self, type_: t.Type) -> int:
        """The number of ``type_``, which is added to the table if it is not there."""
        known = self._numbers.get(type_)
        if known is None:
            self._check(type_)
            record = self._record(type_)
            known = self._numbers[type_] = len(self.records)
            self.records.append(bytes(record))
        return known

    def _check(self, type_: t.Type) -> None:
        since = t.first_version(type_)
        if since > self.version:
            raise WriteError(
                f"the type {type_} needs bytecode {since}",
                rule="type-version",
                found=str(self.version),
                expected=f"at least {since}",
            )

    def _record(self, type_: t.Type) -> Output:
        out = Output()
        try:
            match type_:
                case t.NumberType() | t.TokenType():
                    out.varint(_TAGS[type_])
                case t.PointerType():
                    self._pointer(out, type_)
                case t.TileType():
                    element = self.number(type_.element)
                    out.varints((TILE, element))
                    out.integers(type_.shape, 8)
                case t.TensorViewType():
                    self._tensor_view(out, type_)
                case t.PartitionViewType() | t.StridedViewType() | t.GatherScatterViewType():
                    self._view(out, type_)
                case t.FunctionType():
                    types = [[self.number(p) for p in side] for side in (type_.parameters, type_.results)]
                    out.varint(FUNCTION)
                    for numbers in types:
                        out.varint(len(numbers))
                        out.varints(numbers)
                case _:
                    raise TypeError(f"not a type: {type_!r}")
        except OverflowError as error:
            raise WriteError(f"a number in the type {type_} is too large", rule="type-number") from error
        return out

    def _pointer(self, out: Output, type_: t.PointerType) -> None:
        pointee = self.number(type_.pointee)
        out.varint(POINTER)
        self._pointer_presence(out, type_.attribute)
        out.varint(pointee)
        if type_.attribute is not None:
            out.varint(type_.attribute.value)

    def _pointer_presence(self, out: Output, attribute: t.PointerAttribute | None) -> None:
        if self.version >= V13_4:
            out.varint(attribute is not None)

    def _tensor_view(self, out: Output, type_: t.TensorViewType) -> None:
        element = self.number(type_.element)
        out.varint(TENSOR_VIEW)
        self._pointer_presence(out, type_.attribute)
        out.varint(element)
        for dimensions in (type_.shape, type_.strides):
            out.integers([DYNAMIC if d is None else d for d in dimensions], 8)
        if type_.attribute is not None:
            out.varint(type_.attribute.value)

    def _view(self, out: Output, type_: t.ViewType) -> None:
        tensor_view = self.number(type_.tensor_view)
        tags = {t.PartitionViewType: PARTITION_VIEW, t.StridedViewType: STRIDED_VIEW}
        out.varint(tags.get(type(type_), GATHER_SCATTER_VIEW))
        if self.version >= V13_3:
            out.varint(type_.padding is not None)
        out.integers(type_.tile_shape, 4)
        if isinstance(type_, t.StridedViewType):
            out.integers(type_.traversal_strides, 4)
        out.varint(tensor_view)
        if isinstance(type_, t.GatherScatterViewType):
            out.varint(type_.sparse_dim)
        else:
            out.integers(type_.dim_map, 4)
        if self.version < V13_3:
            out.varint(type_.padding is not None)
        if type_.padding is not None:
            out.varint(type_.padding.value)
