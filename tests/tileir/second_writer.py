"""Our modules, written by cuda-tile's own bytecode writer instead of ours."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from cuda.tile._bytecode import attribute as their_attributes
from cuda.tile._bytecode import encodings
from cuda.tile._bytecode import type as their_types
from cuda.tile._bytecode.debug_info import MISSING_DEBUG_ATTR_ID, DebugAttrId
from cuda.tile._bytecode.type_base import PaddingValue, PtrAttr
from cuda.tile._bytecode.version import BytecodeVersion
from cuda.tile._bytecode.writer import write_bytecode

from tileir import attributes as a
from tileir import locations as loc
from tileir import types as t
from tileir.bytecode.constants import pack
from tileir.bytecode.plan import plan
from tileir.bytecode.type_reader import DYNAMIC
from tileir.module import Function, Module, Operation, Region, Value
from tileir.version import Version

_ENUMS = {
    a.RoundingMode: encodings.RoundingMode,
    a.ComparisonPredicate: encodings.ComparisonPredicate,
    a.ComparisonOrdering: encodings.ComparisonOrdering,
    a.Signedness: encodings.Signedness,
    a.IntegerOverflow: encodings.IntegerOverflow,
    a.MemoryOrderingSemantics: encodings.MemoryOrderingSemantics,
    a.MemoryScope: encodings.MemoryScope,
    a.AtomicRMWMode: encodings.AtomicRMWMode,
    a.MultimemReductionKind: encodings.MultimemReductionKind,
    a.SymbolVisibility: encodings.SymbolVisibility,
}


class _RawFloat(their_attributes.Float):
    """A float attribute made from its bits."""

    def __init__(self, type_id: Any, bits: int, width: int) -> None:
        self.type_id, self.value_bits, self.bit_size = type_id, bits, width


class _SameElements(their_attributes.TaggedAttribute):
    """cuda-tile has no encoder for this predicate."""

    def __init__(self, values: Sequence[int]) -> None:
        self.values = values

    def encode_tagged(self, string_table: Any, buf: bytearray) -> None:
        buf.extend(their_attributes.AttributeTag.SameElements._value_)
        their_types.encode_int_list(self.values, 8, buf)


def write_theirs(module: Module, version: Version) -> bytes:
    """``module`` as cuda-tile writes it."""
    buffer = bytearray()
    their_version = BytecodeVersion[f"V_{version.major}_{version.minor}"]
    with write_bytecode(len(module.functions), buffer, their_version) as writer:
        for function in module.functions:
            _Writer(writer, version).function(function)
        for g in module.globals:
            translated = _Writer(writer, version)
            writer.global_section.define_global(
                g.name,
                translated.type(g.value.type),
                pack(g.value),
                g.alignment,
                g.constant,
                _enum(g.visibility),
            )
    return bytes(buffer)


def _enum(value: enum.Enum) -> Any:
    theirs = _ENUMS[type(value)]
    return next(member for member in theirs if member._value_[0] == value.value)


class _Writer:
    def __init__(self, writer: Any, version: Version) -> None:
        self.writer = writer
        self.version = version
        self.table = writer.type_table
        self.values: dict[Value, Any] = {}

    def function(self, function: Function) -> None:
        location = self.location(function.location)
        parameters = [self.type(v.type) for v in function.parameters]
        results = [self.type(r) for r in function.result_types]
        hints = {}
        if function.hints is not None:
            for architecture, entries in function.hints.architectures:
                values = {key: value.signed for key, value in entries.entries}  # type: ignore[attr-defined]
                hints[architecture] = their_attributes.EntryHints(**values)
        with self.writer.function(
            function.name, parameters, results, function.is_entry, hints, location
        ) as built:
            self.builder = built.code_builder
            self.values.update(zip(function.parameters, built.parameters, strict=True))
            self.region(function.body)

    def region(self, region: Region) -> None:
        for operation in region.operations:
            with self.builder.debug_attr(self.location(operation.location)):
                self.operation(operation)

    def operation(self, operation: Operation) -> None:
        encode = getattr(encodings, f"encode_{type(operation).__name__}Op")
        declared = {p.name: p for p in operation.declaration.attributes}
        # A token that this version's bytes do not have has no type in them, and no number.
        implied = plan(type(operation), self.version).implied_token
        defined = () if implied else operation.results
        results = [self.type(v.type) for v in defined]
        queue = list(results)
        arguments: dict[str, Any] = {}
        for name in list(inspect.signature(encode).parameters)[1:]:
            if name == "result_types":
                arguments[name] = results
            elif name.endswith("_type") and name not in operation.__dict__:
                arguments[name] = queue.pop(0) if queue else None
            elif name in declared:
                arguments[name] = self.attribute(declared[name].kind, operation.__dict__[name])
            else:
                arguments[name] = self.operand(operation.__dict__[name])
        made = encode(self.builder, **arguments)
        if operation.regions:
            for region in operation.regions:
                with made.new_block([self.type(v.type) for v in region.arguments]) as block:
                    self.values.update(zip(region.arguments, block, strict=True))
                    self.region(region)
            made = made.done()
        if made is None:
            made = ()
        self.values.update(zip(defined, made if isinstance(made, tuple) else (made,), strict=True))

    def operand(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return [self.values[v] for v in value]
        return self.values[value] if isinstance(value, Value) else value

    def attribute(self, kind: Any, value: Any) -> Any:
        if value is None:
            return None
        if isinstance(kind, enum.EnumMeta):
            return _enum(value)
        match kind:
            case "dense_typed_elements":
                return pack(value)
            case "array":
                return [self.tagged(x) for x in value]
            case "tagged" | "optimization_hints":
                return self.tagged(value)
        return value

    def tagged(self, value: a.Attribute) -> Any:
        match value:
            case a.IntegerAttribute():
                return their_attributes.Integer(self.type(value.type), value.type.width, value.bits)
            case a.FloatAttribute():
                width = 19 if value.type is t.TF32 else value.type.width
                return _RawFloat(self.type(value.type), value.bits, width)
            case a.BoolAttribute():
                return their_attributes.Bool(value.value)
            case a.DivBy():
                return their_attributes.DivBy(value.divisor, value.every, value.along)
            case a.Bounded():
                return their_attributes.Bounded(value.lb, value.ub)
            case a.DictionaryAttribute():
                return their_attributes.Dictionary([(k, self.tagged(v)) for k, v in value.entries])
            case a.OptimizationHints():
                return their_attributes.OptimizationHints(
                    [(k, self.tagged(v)) for k, v in value.architectures]
                )
        assert isinstance(value, a.SameElements)
        predicate = type("SameElements", (_SameElements, their_attributes.AssumePredicate), {})
        return predicate(value.values)

    def type(self, type_: t.Type) -> Any:
        table = self.table
        match type_:
            case t.NumberType():
                return table.simple(getattr(their_types.SimpleType, type_.name.upper()))
            case t.TokenType():
                return table.Token
            case t.PointerType():
                return table.pointer(self.type(type_.pointee), _pointer_attribute(type_.attribute))
            case t.TileType():
                return table.tile(self.type(type_.element), type_.shape)
            case t.TensorViewType():
                dimensions = [
                    [DYNAMIC if d is None else d for d in side] for side in (type_.shape, type_.strides)
                ]
                element = self.type(type_.element)
                return table.tensor_view(element, *dimensions, _pointer_attribute(type_.attribute))
            case t.PartitionViewType():
                view, padding = self.type(type_.tensor_view), _padding(type_.padding)
                return table.partition_view(type_.tile_shape, view, type_.dim_map, padding)
            case t.StridedViewType():
                view, padding = self.type(type_.tensor_view), _padding(type_.padding)
                return table.strided_view(
                    type_.tile_shape, type_.traversal_strides, view, type_.dim_map, padding
                )
        assert isinstance(type_, t.GatherScatterViewType)
        view, padding = self.type(type_.tensor_view), _padding(type_.padding)
        return table.gather_scatter_view(type_.tile_shape, view, type_.sparse_dim, padding)

    def location(self, location: loc.Location | None) -> DebugAttrId:
        table = self.writer.debug_attr_table
        match location:
            case None:
                return MISSING_DEBUG_ATTR_ID
            case loc.File():
                return table.file(location.name, location.directory)
            case loc.CompileUnit():
                return table.compile_unit(self.location(location.file))
            case loc.LexicalBlock():
                scope, file = self.location(location.scope), self.location(location.file)
                return table.lexical_block(scope, file, location.line, location.column)
            case loc.SourceLocation():
                scope = self.location(location.scope)
                return table.loc(scope, location.filename, location.line, location.column)
            case loc.Subprogram():
                file, unit = self.location(location.file), self.location(location.compile_unit)
                return table.subprogram(
                    file, location.line, location.name, location.linkage_name, unit, location.scope_line
                )
        assert isinstance(location, loc.CallSite)
        return table.call_site(self.location(location.callee), self.location(location.caller))


def _pointer_attribute(attribute: t.PointerAttribute | None) -> Any:
    if attribute is None:
        return PtrAttr.Missing
    # Values newer than theirs are written like theirs.
    return SimpleNamespace(_value_=bytes((attribute.value,)))


def _padding(padding: t.PaddingValue | None) -> PaddingValue:
    if padding is None:
        return PaddingValue.Missing
    return next(m for m in PaddingValue if m._value_ == bytes((padding.value,)))
