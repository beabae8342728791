"""Rules that follow from the declarations: parts are there, and values are of the declared kinds.

The rules of an operation's own family are asked only if these are kept, so that they may rely on them.
"""

from __future__ import annotations

import enum

from ..attributes import (
    Attribute,
    DenseElements,
    OptimizationHints,
)
from ..declare import Elements
from ..module import Operation, Region, Value
from ..ops.elements import POINTER
from ..ops.view import GetTensorShape
from ..types import (
    GatherScatterViewType,
    NumberType,
    PartitionViewType,
    StridedViewType,
    TensorViewType,
    TileType,
    TokenType,
    Type,
    ViewType,
)
from .diagnostic import Problem
from .rules import Context, Problems

_KINDS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "token": (TokenType, "a token"),
    "tokens": (TokenType, "a token"),
    "result_token": (TokenType, "a token"),
    "tensor_view": (TensorViewType, "a tensor view"),
    "view": (ViewType.__args__, "a view"),
}
"""Operands and results that are no tiles, by name: what they are."""

_KINDS_OF_RESULTS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "join_tokens": _KINDS["token"],
    "make_token": _KINDS["token"],
    "make_tensor_view": _KINDS["tensor_view"],
    "make_partition_view": (PartitionViewType, "a partition view"),
    "make_strided_view": (StridedViewType, "a strided view"),
    "make_gather_scatter_view": (GatherScatterViewType, "a gather/scatter view"),
}


def spell(elements: Elements) -> str:
    """A set of element types, for a message."""
    return "a tile of " + " or ".join(sorted(elements))


def _is_element(type_: Type, elements: Elements) -> bool:
    if not isinstance(type_, TileType):
        return False
    name = type_.element.name if isinstance(type_.element, NumberType) else POINTER
    return name in elements


def result_count(op: Operation, context: Context) -> Problems:
    """An operation has as many results as are declared."""
    declared = op.declaration.results
    if not any(p.variadic for p in declared) and len(op.results) != len(declared):
        yield Problem("a wrong number of results", len(op.results), len(declared))


def operand_present(op: Operation, context: Context) -> Problems:
    """Operands that are not optional are there, and are values."""
    for part in op.declaration.operands:
        value = op.__dict__[part.name]
        values = value if part.kind == "variadic" else (value,)
        if part.kind == "optional" and value is None:
            continue
        if not isinstance(values, tuple) or not all(isinstance(v, Value) for v in values):
            yield Problem(f"the operand {part.name} is missing or no value", type(value).__name__, "a value")


def operand_defined(op: Operation, context: Context) -> Problems:
    """An operand is defined before it is used, and in a region that is still open."""
    for part in op.declaration.operands:
        value = op.__dict__[part.name]
        for v in value if part.kind == "variadic" else (value,):
            if isinstance(v, Value) and v not in context.defined:
                yield Problem(f"the operand {part.name} is not defined where it is used", v.type)


def operand_element(op: Operation, context: Context) -> Problems:
    """An operand that is declared with element types is a tile of one of them."""
    for part in op.declaration.operands:
        value = op.__dict__[part.name]
        if part.elements is None or value is None:
            continue
        for v in value if part.kind == "variadic" else (value,):
            if not _is_element(v.type, part.elements):
                yield Problem(f"the operand {part.name} has a wrong type", v.type, spell(part.elements))


def result_element(op: Operation, context: Context) -> Problems:
    """A result that is declared with element types is a tile of one of them."""
    for part in op.declaration.results:
        if part.elements is not None and not part.variadic:
            type_ = op.results[part.index].type
            if not _is_element(type_, part.elements):
                yield Problem(f"the result {part.name} has a wrong type", type_, spell(part.elements))


def operand_kind(op: Operation, context: Context) -> Problems:
    """Tokens, tensor views and views are where they are declared."""
    for part in op.declaration.operands:
        kind = _KINDS.get(part.name) if part.elements is None else None
        if part.name == "src":
            kind = _KINDS["tensor_view" if isinstance(op, GetTensorShape) else "view"]
        value = op.__dict__[part.name]
        if kind is None or value is None:
            continue
        for v in value if part.kind == "variadic" else (value,):
            if not isinstance(v.type, kind[0]):
                yield Problem(f"the operand {part.name} has a wrong type", v.type, kind[1])


def result_kind(op: Operation, context: Context) -> Problems:
    """Results that are no tiles are what they are declared to be."""
    for part in op.declaration.results:
        if part.elements is None and not part.variadic:
            kind = _KINDS.get(part.name) or _KINDS_OF_RESULTS.get(op.mnemonic)
            type_ = op.results[part.index].type
            if kind is not None and not isinstance(type_, kind[0]):
                yield Problem(f"the result {part.name} has a wrong type", type_, kind[1])


_CLASSES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "bool": (bool,),
    "str": (str,),
    "array": (tuple,),
    "tagged": (Attribute,),
    "optimization_hints": (OptimizationHints,),
    "dense_int32_array": (tuple,),
    "dense_bool_array": (tuple,),
    "dense_typed_elements": (DenseElements,),
}


def attribute_kind(op: Operation, context: Context) -> Problems:
    """An attribute is of the declared kind; an optional one may be left out."""
    for part in op.declaration.attributes:
        value = op.__dict__[part.name]
        if value is None and part.bit is not None:
            continue
        if isinstance(part.kind, enum.EnumMeta):
            right, expected = isinstance(value, part.kind), part.kind.__name__
        else:
            right, expected = isinstance(value, _CLASSES[part.kind]), part.kind
        if not right:
            yield Problem(f"the attribute {part.name} is of a wrong kind", repr(value), expected)


def region_present(op: Operation, context: Context) -> Problems:
    """Regions that are not optional are there."""
    for name, part in op.declaration.regions.items():
        if not isinstance(op.__dict__[name], Region) and not part.optional:
            yield Problem(f"the region {name} is missing")


STRUCTURE = (result_count, operand_present, attribute_kind, region_present)
"""What must hold for the other rules to make sense."""

TYPES = (operand_defined, operand_element, operand_kind, result_element, result_kind)
"""What must hold for the rules of the families to make sense."""
