"""Rules of the views."""

from __future__ import annotations

from collections.abc import Sequence

from ..module import Operation, Value
from ..ops import view as o
from ..ops.atomic import AtomicRedViewTko
from ..ops.multimem import MultimemLoadReduceViewTko, MultimemReduceViewTko, MultimemStoreViewTko
from ..types import (
    F4E2M1FN,
    GatherScatterViewType,
    NumberType,
    PointerAttribute,
    PointerType,
    TensorViewType,
    TileType,
    Type,
    ViewType,
)
from .diagnostic import Problem
from .memory import pointee
from .rules import Context, Problems, rule

INTEGERS = frozenset({"i1", "i8", "i16", "i32", "i64"})


def view_type(value: Value) -> ViewType:
    """The type of a view."""
    assert isinstance(value.type, ViewType)
    return value.type


def tile_of(view: ViewType) -> TileType:
    """The tile that a view gives."""
    return TileType(view.tile_shape, view.tensor_view.element)


def _is_scalar_integer(type_: Type) -> bool:
    return (
        isinstance(type_, TileType)
        and not type_.shape
        and isinstance(type_.element, NumberType)
        and type_.element.name in INTEGERS
    )


@rule(o.MakeTensorView)
def tensor_base(op: o.MakeTensorView, context: Context) -> Problems:
    """The base is a scalar pointer to the tensor's elements, with the tensor's attribute."""
    view, base = op.result.type, op.base.type
    assert isinstance(view, TensorViewType)
    assert isinstance(base, TileType)
    assert isinstance(base.element, PointerType)
    if base.shape or pointee(base) != view.element:
        yield Problem(
            "the base is a scalar pointer to the tensor's elements", base, f"tile<ptr<{view.element}>>"
        )
    if base.element.attribute is not view.attribute:
        yield Problem("base and tensor have the same pointer attribute", f"{base} and {view}")


@rule(o.MakeTensorView)
def tensor_dynamic(op: o.MakeTensorView, context: Context) -> Problems:
    """There is a scalar integer for each dynamic extent and stride, all of one type."""
    view = op.result.type
    assert isinstance(view, TensorViewType)
    for name, values, declared in (
        ("extents", op.dynamicShape, view.shape),
        ("strides", op.dynamicStrides, view.strides),
    ):
        if len(values) != declared.count(None):
            yield Problem(
                f"there is an operand for each dynamic one of the {name}", len(values), declared.count(None)
            )
    types = [v.type for v in (*op.dynamicShape, *op.dynamicStrides)]
    if any(t != types[0] or not _is_scalar_integer(t) for t in types):
        yield Problem(
            "dynamic extents and strides are scalar integers of one type", ", ".join(map(str, types))
        )


@rule(o.MakePartitionView, o.MakeStridedView, o.MakeGatherScatterView)
def view_of_tensor(
    op: o.MakePartitionView | o.MakeStridedView | o.MakeGatherScatterView, context: Context
) -> Problems:
    """The operand is of the tensor view type that the view's type names."""
    view = op.result.type
    if isinstance(view, ViewType) and op.tensor_view.type != view.tensor_view:
        yield Problem("the view is of another tensor", op.tensor_view.type, view.tensor_view)


@rule(o.GetTensorShape, o.GetIndexSpaceShape)
def shape_results(op: o.GetTensorShape | o.GetIndexSpaceShape, context: Context) -> Problems:
    """There is a scalar integer result for each dimension."""
    type_ = op.src.type
    rank = len(type_.tile_shape) if isinstance(type_, ViewType) else len(type_.shape)  # type: ignore[attr-defined]
    if len(op.results) != rank:
        yield Problem("there is a result for each dimension", len(op.results), rank)
    for value in op.results:
        if not _is_scalar_integer(value.type):
            yield Problem("an extent is a scalar integer", value.type)


def check_indices(view: ViewType, index: Sequence[Value], *, one_type: bool) -> Problems:
    """There is an index for each dimension: a scalar, or a tile of them for the sparse one."""
    if len(index) != len(view.tile_shape):
        yield Problem("there is an index for each dimension of the view", len(index), len(view.tile_shape))
        return
    scalars = []
    for k, value in enumerate(index):
        assert isinstance(value.type, TileType)
        if isinstance(view, GatherScatterViewType) and k == view.sparse_dim:
            if value.type.shape != (view.tile_shape[k],):
                yield Problem("the sparse index has the tile's extent", value.type, view.tile_shape[k])
        elif value.type.shape:
            yield Problem("an index is a scalar", value.type)
        else:
            scalars.append(value.type)
    if one_type and any(t != scalars[0] for t in scalars):
        yield Problem("indices are of one type", ", ".join(map(str, scalars)))


@rule(
    *(o.LoadViewTko, o.StoreViewTko, AtomicRedViewTko),
    *(MultimemLoadReduceViewTko, MultimemReduceViewTko, MultimemStoreViewTko),
)
def view_indices(op: o.LoadViewTko | o.StoreViewTko | AtomicRedViewTko, context: Context) -> Problems:
    """There is an index for each dimension: a scalar, or a tile of them for the sparse one."""
    # An atomic reduction is the one operation whose indices may be of several types.
    one_type = not isinstance(op, AtomicRedViewTko)
    yield from check_indices(view_type(op.view), op.index, one_type=one_type)


@rule(
    *(o.LoadViewTko, o.StoreViewTko, AtomicRedViewTko),
    *(MultimemLoadReduceViewTko, MultimemReduceViewTko, MultimemStoreViewTko),
)
def view_inbounds(op: o.LoadViewTko | o.StoreViewTko | AtomicRedViewTko, context: Context) -> Problems:
    """``inbounds`` says something about each index."""
    if len(op.inbounds) != len(op.index):
        yield Problem("inbounds has a value for each index", len(op.inbounds), len(op.index))


_TILES: dict[type[Operation], str] = {
    o.LoadViewTko: "tile",
    o.StoreViewTko: "tile",
    AtomicRedViewTko: "value",
    MultimemLoadReduceViewTko: "reduced_values",
    MultimemReduceViewTko: "tile",
    MultimemStoreViewTko: "tile",
}


@rule(*_TILES)
def view_tile(op: Operation, context: Context) -> Problems:
    """The tile is the one that the view gives."""
    name = _TILES[type(op)]
    value = op.__dict__.get(name) or op.results[0]
    expected = tile_of(view_type(op.__dict__["view"]))
    if value.type != expected:
        yield Problem("the tile is the one that the view gives", value.type, expected)


@rule(o.LoadViewTko, o.StoreViewTko)
def view_not_multicast(op: o.LoadViewTko | o.StoreViewTko, context: Context) -> Problems:
    """A multicast tensor is for the multimem operations."""
    if view_type(op.view).tensor_view.attribute is PointerAttribute.MULTICAST:
        yield Problem("a multicast tensor is for the multimem operations", op.view.type)


@rule(o.LoadViewTko, o.StoreViewTko)
def f4_packing(op: o.LoadViewTko | o.StoreViewTko, context: Context) -> Problems:
    """A view of f4E2M1FN has one static stride of 1: along it two elements share a byte."""
    view = view_type(op.view)
    if view.tensor_view.element is not F4E2M1FN:
        return
    packed = [k for k, s in enumerate(view.tensor_view.strides) if s == 1]
    if len(packed) != 1:
        yield Problem("a view of f4E2M1FN has exactly one static stride of 1", view.tensor_view)
    elif isinstance(view, GatherScatterViewType) and view.sparse_dim == packed[0]:
        yield Problem("the dimension where f4E2M1FN is packed is not the sparse one", view.sparse_dim)
