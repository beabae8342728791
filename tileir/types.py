"""The types of Tile IR: numbers, pointers, tiles, views, tokens and functions.

Types are immutable values: two equal types are interchangeable, and any of them may be a dictionary key.
``str()`` of a type is the dialect's own spelling, without the ``!cuda_tile.`` prefix.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from math import prod
from typing import Literal

from .version import V13_1, V13_2, V13_3, V13_4, V13_5, Version

Dimension = int | None
"""An extent or a stride; None is dynamic, printed ``?``."""


class PaddingValue(enum.Enum):
    """What a lane of a view that lies outside its tensor reads."""

    ZERO = 0
    NEG_ZERO = 1
    NAN = 2
    POS_INF = 3
    NEG_INF = 4

    def __str__(self) -> str:
        return self.name.lower()


class Type:
    """Any type."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class NumberType(Type):
    """A number format: the element type of a tile.

    ``width`` is in bits; ``kind`` says whether it is an integer (without a sign of its own) or a float.
    """

    name: str
    width: int
    kind: Literal["integer", "float"]
    since: Version = V13_1

    def __str__(self) -> str:
        return self.name

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def is_float(self) -> bool:
        """Whether this is a floating-point format."""
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        """Whether this is an integer format."""
        return self.kind == "integer"

    @property
    def bytes(self) -> int:
        """Bytes that one element takes in memory: its width rounded up to a whole byte."""
        return (self.width + 7) // 8


I1 = NumberType("i1", 1, "integer")
I4 = NumberType("i4", 4, "integer", V13_3)
I8 = NumberType("i8", 8, "integer")
I16 = NumberType("i16", 16, "integer")
I32 = NumberType("i32", 32, "integer")
I64 = NumberType("i64", 64, "integer")
F16 = NumberType("f16", 16, "float")
BF16 = NumberType("bf16", 16, "float")
F32 = NumberType("f32", 32, "float")
TF32 = NumberType("tf32", 32, "float")
F64 = NumberType("f64", 64, "float")
F8E4M3FN = NumberType("f8E4M3FN", 8, "float")
F8E5M2 = NumberType("f8E5M2", 8, "float")
F8E8M0FNU = NumberType("f8E8M0FNU", 8, "float", V13_2)
F4E2M1FN = NumberType("f4E2M1FN", 4, "float", V13_3)

NUMBERS: dict[str, NumberType] = {
    t.name: t
    for t in (I1, I4, I8, I16, I32, I64, F16, BF16, F32, TF32, F64, F8E4M3FN, F8E5M2, F8E8M0FNU, F4E2M1FN)
}


class PointerAttribute(enum.Enum):
    """The attribute a pointer or a tensor view may carry since 13.4; the text calls the default ``none``.

    Unicast and multicast, which say whether an address stands for one device or for several, come with 13.5.
    """

    DEFAULT = 0
    UNICAST = 1
    MULTICAST = 2

    def __str__(self) -> str:
        return "none" if self is PointerAttribute.DEFAULT else self.name.lower()

    @property
    def since(self) -> Version:
        """The oldest bytecode version that can hold the attribute."""
        return V13_4 if self is PointerAttribute.DEFAULT else V13_5


@dataclass(frozen=True, slots=True)
class PointerType(Type):
    """A pointer to elements of ``pointee`` in global memory."""

    pointee: NumberType
    attribute: PointerAttribute | None = None

    def __str__(self) -> str:
        if self.attribute is None:
            return f"ptr<{self.pointee}>"
        return f"ptr<{self.pointee}, <{self.attribute}>>"


Element = NumberType | PointerType


@dataclass(frozen=True, slots=True)
class TileType(Type):
    """A tile: ``shape`` (() is a scalar) of ``element``."""

    shape: tuple[int, ...]
    element: Element

    def __str__(self) -> str:
        return f"tile<{''.join(f'{d}x' for d in self.shape)}{self.element}>"

    @property
    def size(self) -> int:
        """How many elements the tile holds."""
        return prod(self.shape)


def _extent(dimension: Dimension) -> str:
    return "?" if dimension is None else str(dimension)


@dataclass(frozen=True, slots=True)
class TensorViewType(Type):
    """A tensor in global memory: element, extents and strides (in elements); None is dynamic."""

    element: NumberType
    shape: tuple[Dimension, ...]
    strides: tuple[Dimension, ...]
    attribute: PointerAttribute | None = None

    def __str__(self) -> str:
        extents = "".join(f"{_extent(d)}x" for d in self.shape)
        strides = ",".join(_extent(d) for d in self.strides)
        tail = "" if not self.shape else f", strides=[{strides}]"
        if self.attribute is not None:
            tail += f", #cuda_tile.ptr_attr<{self.attribute}>"
        return f"tensor_view<{extents}{self.element}{tail}>"

    @property
    def rank(self) -> int:
        """How many dimensions the tensor has."""
        return len(self.shape)


def _shape(extents: tuple[int, ...]) -> str:
    return "x".join(str(d) for d in extents)


def _dim_map(dim_map: tuple[int, ...]) -> str:
    """The order of dimensions, where it is another than their own."""
    if dim_map == tuple(range(len(dim_map))):
        return ""
    return f", dim_map=[{', '.join(str(d) for d in dim_map)}]"


@dataclass(frozen=True, slots=True)
class PartitionViewType(Type):
    """A tensor cut into a grid of equal tiles that touch.

    Tile dimension k runs along tensor dimension ``dim_map[k]``.
    """

    tile_shape: tuple[int, ...]
    tensor_view: TensorViewType
    dim_map: tuple[int, ...]
    padding: PaddingValue | None = None

    def __str__(self) -> str:
        padding = "" if self.padding is None else f", padding_value = {self.padding}"
        return (
            f"partition_view<tile=({_shape(self.tile_shape)}){padding}, {self.tensor_view}"
            f"{_dim_map(self.dim_map)}>"
        )

    @property
    def traversal_strides(self) -> tuple[int, ...]:
        """Elements from one tile of the grid to the next: the tile's own extents."""
        return self.tile_shape


@dataclass(frozen=True, slots=True)
class StridedViewType(Type):
    """A tensor cut into tiles that start ``traversal_strides`` apart: they may overlap or leave gaps."""

    tile_shape: tuple[int, ...]
    traversal_strides: tuple[int, ...]
    tensor_view: TensorViewType
    dim_map: tuple[int, ...]
    padding: PaddingValue | None = None

    def __str__(self) -> str:
        padding = "" if self.padding is None else f", padding_value = {self.padding}"
        strides = ",".join(str(s) for s in self.traversal_strides)
        return (
            f"strided_view<tile=({_shape(self.tile_shape)}), traversal_strides=[{strides}]{padding}, "
            f"{self.tensor_view}{_dim_map(self.dim_map)}>"
        )


@dataclass(frozen=True, slots=True)
class GatherScatterViewType(Type):
    """A tensor read or written by row numbers along ``sparse_dim`` and by tiles along the rest."""

    tile_shape: tuple[int, ...]
    tensor_view: TensorViewType
    sparse_dim: int
    padding: PaddingValue | None = None

    def __str__(self) -> str:
        padding = "" if self.padding is None else f", padding_value = {self.padding}"
        return (
            f"gather_scatter_view<tile=({_shape(self.tile_shape)}){padding}, {self.tensor_view}, "
            f"sparse_dim={self.sparse_dim}>"
        )


ViewType = PartitionViewType | StridedViewType | GatherScatterViewType


@dataclass(frozen=True, slots=True)
class TokenType(Type):
    """The type of a token: a place in the order of memory operations."""

    def __str__(self) -> str:
        return "token"


TOKEN = TokenType()


@dataclass(frozen=True, slots=True)
class FunctionType(Type):
    """The signature of an entry: its parameters' types and its results' (none)."""

    parameters: tuple[Type, ...]
    results: tuple[Type, ...] = ()

    def __str__(self) -> str:
        parameters = ", ".join(map(str, self.parameters))
        results = ", ".join(map(str, self.results))
        return f"({parameters}) -> ({results})"


def first_version(type_: Type) -> Version:
    """The oldest bytecode version that can hold ``type_``."""
    match type_:
        case NumberType():
            return type_.since
        case PointerType():
            return max(type_.pointee.since, V13_1 if type_.attribute is None else type_.attribute.since)
        case TileType():
            return first_version(type_.element)
        case TensorViewType():
            return max(type_.element.since, V13_1 if type_.attribute is None else type_.attribute.since)
        case PartitionViewType():
            return first_version(type_.tensor_view)
        case StridedViewType() | GatherScatterViewType():
            return max(V13_3, first_version(type_.tensor_view))
        case FunctionType():
            return max((first_version(t) for t in type_.parameters + type_.results), default=V13_1)
    return V13_1
