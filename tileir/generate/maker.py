"""Putting a kernel together: values of any type from memory, operations, and results back into memory.

What a kernel computes from memory and stores there cannot be folded or dropped by an assembler, so a module
made with this says something about every operation in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .. import ops as o
from ..attributes import (
    DenseElements,
    IntegerOverflow,
    MemoryOrderingSemantics,
    Signedness,
)
from ..module import Function, Module, Operation, Region, Value
from ..types import (
    F4E2M1FN,
    I4,
    I8,
    I32,
    I64,
    TOKEN,
    Element,
    NumberType,
    PartitionViewType,
    PointerType,
    StridedViewType,
    TensorViewType,
    TileType,
    TokenType,
    Type,
    ViewType,
)
from ..version import DEFAULT, Version

WEAK = MemoryOrderingSemantics.WEAK


def tile(element: Element, *shape: int) -> TileType:
    """The type of a tile."""
    return TileType(shape, element)


def scalar(element: Element) -> TileType:
    """The type of a tile of no dimensions."""
    return TileType((), element)


class Maker:
    """A kernel being made: an entry whose parameters and operations are added as they are asked for."""

    def __init__(self, name: str = "kernel", module: Module | None = None) -> None:
        self.module = Module() if module is None else module
        self.function = Function(name, Region())
        self.module.functions.append(self.function)
        self._region = self.function.body
        self._prologue = 0

    def parameter(self, type_: Type) -> Value:
        """A new parameter of the entry."""
        body = self.function.body
        value = Value(type_, body, len(body.arguments))
        body.arguments = (*body.arguments, value)
        return value

    def op(self, kind: type[Operation], result_types: Sequence[Type] = (), **parts: Any) -> Any:
        """Append an operation; returns its results if there are several, the result, or None."""
        operation = kind(result_types=result_types, **parts)
        return self.append(operation)

    def append(self, operation: Operation) -> Any:
        """Append an operation that is already there; returns what ``op`` does."""
        self._region.operations.append(operation)
        results = operation.results
        return results[0] if len(results) == 1 else (results or None)

    @contextmanager
    def region(self, *argument_types: Type) -> Iterator[Region]:
        """A region; what is made inside goes there."""
        region = Region(argument_types)
        outer, self._region = self._region, region
        try:
            yield region
        finally:
            self._region = outer

    def finish(self, version: Version = DEFAULT) -> Module:
        """End the entry with ``return``, and give the module."""
        self.op(o.control.Return)
        self.module.version = version
        return self.module

    def constant(self, type_: TileType, bits: int = 0) -> Value:
        """A tile whose elements all have the pattern ``bits``."""
        assert isinstance(type_.element, NumberType)
        data = bits.to_bytes(type_.element.bytes, "little")
        value: Value = self.op(o.core.Constant, [type_], value=DenseElements(type_, data))
        return value

    def value(self, type_: Type) -> Value:
        """A value of any type, as far as it can be loaded from memory."""
        match type_:
            case TokenType():
                return self._one(o.memory.MakeToken, TOKEN)
            case TensorViewType():
                return self._tensor_view(type_)
            case TileType(element=PointerType()):
                return self._spread(self.parameter(scalar(type_.element)), type_)
            case TileType(element=NumberType()):
                return self._number(type_)
        assert isinstance(type_, ViewType)
        kinds = {
            PartitionViewType: o.view.MakePartitionView,
            StridedViewType: o.view.MakeStridedView,
        }
        kind = kinds.get(type(type_), o.view.MakeGatherScatterView)
        return self._one(kind, type_, tensor_view=self._tensor_view(type_.tensor_view))

    def _one(self, kind: type[Operation], type_: Type, **parts: Any) -> Value:
        value: Value = self.op(kind, [type_], **parts)
        return value

    def _tensor_view(self, type_: TensorViewType) -> Value:
        base = self.parameter(scalar(PointerType(type_.element, type_.attribute)))
        shape = tuple(self.parameter(scalar(I32)) for d in type_.shape if d is None)
        strides = tuple(self.parameter(scalar(I32)) for d in type_.strides if d is None)
        return self._one(o.view.MakeTensorView, type_, base=base, dynamicShape=shape, dynamicStrides=strides)

    def _spread(self, value: Value, type_: TileType) -> Value:
        """A scalar as a tile that repeats it."""
        if type_.shape:
            ones = TileType((1,) * len(type_.shape), type_.element)
            value = self._one(o.core.Reshape, ones, source=value)
            if type_ != ones:
                value = self._one(o.core.Broadcast, type_, source=value)
        return value

    def _number(self, type_: TileType) -> Value:
        """A tile of numbers, loaded; i4 is cut from i8, which memory holds, and f4 unpacked from it."""
        element, shape = type_.element, type_.shape
        if element is I4:
            wide = self.value(TileType(shape, I8))
            return self._one(o.conversion.TruncI, type_, from_=wide, overflow=IntegerOverflow.NONE)
        if element is F4E2M1FN:
            flat = tile(element, type_.size)
            packed = self.value(tile(I8, max(1, type_.size // 2)))
            unpacked = self._one(o.conversion.Unpack, flat, source=packed)
            return unpacked if flat == type_ else self._one(o.core.Reshape, type_, source=unpacked)
        assert isinstance(element, NumberType)
        pointers = self.value(TileType(shape, PointerType(element)))
        value: Value = self.op(
            o.memory.LoadPtrTko, [type_, TOKEN], memory_ordering_semantics=WEAK, source=pointers
        )[0]
        return value

    def keep(self, value: Value) -> None:
        """Store what ``value`` holds, so that what made it is needed. Tokens and views are left alone."""
        type_ = value.type
        if not isinstance(type_, TileType):
            return
        element, shape = type_.element, type_.shape
        if isinstance(element, PointerType):
            self.keep(self._one(o.conversion.PtrToInt, TileType(shape, I64), source=value))
        elif element is I4:
            signed = Signedness.SIGNED
            self.keep(self._one(o.conversion.ExtI, TileType(shape, I8), from_=value, signedness=signed))
        elif element is F4E2M1FN:
            flat = tile(element, type_.size)
            if flat != type_:
                value = self._one(o.core.Reshape, flat, source=value)
            self.keep(self._one(o.conversion.Pack, tile(I8, type_.size // 2), source=value))
        else:
            pointers = self.value(TileType(shape, PointerType(element)))
            self.op(
                o.memory.StorePtrTko,
                [TOKEN],
                memory_ordering_semantics=WEAK,
                destination=pointers,
                value=value,
            )
