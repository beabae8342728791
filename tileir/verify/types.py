"""Rules about types, wherever they stand."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from ..types import (
    F4E2M1FN,
    I4,
    GatherScatterViewType,
    NumberType,
    PaddingValue,
    PartitionViewType,
    PointerType,
    StridedViewType,
    TensorViewType,
    TileType,
    Type,
    ViewType,
)
from .diagnostic import Problem
from .rules import Problems, name_of

MAX_ELEMENTS = 1 << 24
"""The most elements a tile may have."""

TypeRule = Callable[[Type], Problems]


@lru_cache(maxsize=4096)
def check_type(type_: Type) -> tuple[tuple[str, Problem], ...]:
    """Everything that is wrong with a type, with the names of the rules."""
    problems: list[tuple[str, Problem]] = []
    for part in _parts(type_):
        for rule in _RULES:
            problems += [(name_of(rule), problem) for problem in rule(part)]
    return tuple(problems)


def _parts(type_: Type) -> list[Type]:
    """The type and those that it is made of, as far as they have rules of their own."""
    match type_:
        case TileType(element=PointerType()):
            return [type_, type_.element]
        case PartitionViewType() | StridedViewType() | GatherScatterViewType():
            return [type_, TileType(type_.tile_shape, type_.tensor_view.element), type_.tensor_view]
    return [type_]


def tile_extent_power_of_two(type_: Type) -> Problems:
    """A tile's extents are powers of two."""
    if isinstance(type_, TileType) and any(d <= 0 or d & (d - 1) for d in type_.shape):
        yield Problem("the extents of a tile are powers of two", type_)


def tile_size(type_: Type) -> Problems:
    """A tile has at most ``MAX_ELEMENTS`` elements."""
    if isinstance(type_, TileType):
        size = 1
        for extent in type_.shape:
            size *= extent
            if size > MAX_ELEMENTS:
                yield Problem("a tile has too many elements", type_, f"at most {MAX_ELEMENTS}")
                return


def tile_of_f4_is_even(type_: Type) -> Problems:
    """A tile of f4E2M1FN has an even number of elements: two share a byte."""
    if isinstance(type_, TileType) and type_.element is F4E2M1FN and all(d % 2 for d in type_.shape):
        yield Problem("a tile of f4E2M1FN has an even number of elements", type_)


def pointee_in_memory(type_: Type) -> Problems:
    """A pointer points at a format that memory holds: any but i4."""
    pointee = type_.pointee if isinstance(type_, PointerType) else None
    element = type_.element if isinstance(type_, TensorViewType) else None
    if pointee is I4 or element is I4:
        yield Problem("memory does not hold i4", type_)


def tensor_rank(type_: Type) -> Problems:
    """A tensor view has as many strides as extents."""
    if isinstance(type_, TensorViewType) and len(type_.shape) != len(type_.strides):
        yield Problem("a tensor view has as many strides as extents", type_)


def tensor_extent_positive(type_: Type) -> Problems:
    """Extents of a tensor view are positive or dynamic."""
    if isinstance(type_, TensorViewType) and any(d is not None and d <= 0 for d in type_.shape):
        yield Problem("the extents of a tensor view are positive", type_)


def tensor_stride_positive(type_: Type) -> Problems:
    """Strides of a tensor view are positive or dynamic."""
    if isinstance(type_, TensorViewType) and any(d is not None and d <= 0 for d in type_.strides):
        yield Problem("the strides of a tensor view are positive", type_)


def view_tile_has_dimensions(type_: Type) -> Problems:
    """A view's tiles have at least one dimension."""
    if isinstance(type_, ViewType) and not type_.tile_shape:
        yield Problem("a view's tiles have at least one dimension", type_)


def view_rank(type_: Type) -> Problems:
    """A view's tiles have the rank of its tensor."""
    if isinstance(type_, ViewType) and len(type_.tile_shape) != type_.tensor_view.rank:
        found = f"{len(type_.tile_shape)} dimensions"
        yield Problem("a view's tiles have the rank of its tensor", found, type_.tensor_view.rank)


def view_dim_map(type_: Type) -> Problems:
    """``dim_map`` takes every dimension of the tensor once."""
    if isinstance(type_, PartitionViewType | StridedViewType) and sorted(type_.dim_map) != list(
        range(len(type_.tile_shape))
    ):
        yield Problem("dim_map takes every dimension of the tensor once", list(type_.dim_map))


def view_padding_of_integers(type_: Type) -> Problems:
    """Integers are padded with zero; the other padding values are floats'."""
    if (
        isinstance(type_, ViewType)
        and type_.padding not in (None, PaddingValue.ZERO)
        and not type_.tensor_view.element.is_float
    ):
        yield Problem("this padding value is for floats", type_.padding, PaddingValue.ZERO)


def view_traversal_strides(type_: Type) -> Problems:
    """A strided view has a positive stride for each dimension of its tiles."""
    if isinstance(type_, StridedViewType) and (
        len(type_.traversal_strides) != len(type_.tile_shape) or any(s <= 0 for s in type_.traversal_strides)
    ):
        found = list(type_.traversal_strides)
        yield Problem("a strided view has a positive stride for each dimension of its tiles", found)


def view_sparse_dim(type_: Type) -> Problems:
    """The sparse dimension of a gather/scatter view is one of its tensor's."""
    if isinstance(type_, GatherScatterViewType) and not 0 <= type_.sparse_dim < type_.tensor_view.rank:
        expected = f"below {type_.tensor_view.rank}"
        yield Problem("the sparse dimension is one of the tensor's", type_.sparse_dim, expected)


_RULES: tuple[TypeRule, ...] = (
    tile_extent_power_of_two,
    tile_size,
    tile_of_f4_is_even,
    pointee_in_memory,
    tensor_rank,
    tensor_extent_positive,
    tensor_stride_positive,
    view_tile_has_dimensions,
    view_rank,
    view_dim_map,
    view_padding_of_integers,
    view_traversal_strides,
    view_sparse_dim,
)


def element_of(type_: Type) -> NumberType | PointerType | None:
    """The element of a tile; None for what is no tile."""
    return type_.element if isinstance(type_, TileType) else None
