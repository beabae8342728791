"""Rules of the operations that make tiles and give them another shape."""

from __future__ import annotations

from ..ops import core as o
from ..types import F4E2M1FN, NumberType, TileType
from .diagnostic import Problem
from .relations import element_named, same, shape_of
from .rules import Context, Problems, rule


@rule(o.Broadcast, o.Reshape, o.Permute, o.Extract)
def same_element(op: o.Broadcast | o.Reshape | o.Permute | o.Extract, context: Context) -> Problems:
    """The element type stays."""
    names = ("source", "result")
    yield from same(op, names, "element type", (element_named(op, n) for n in names))


@rule(o.Broadcast, o.Permute, o.Extract)
def same_rank(op: o.Broadcast | o.Permute | o.Extract, context: Context) -> Problems:
    """The rank stays."""
    names = ("source", "result")
    yield from same(op, names, "rank", (len(shape_of(op, n)) for n in names))


@rule(o.Broadcast)
def broadcast_extents(op: o.Broadcast, context: Context) -> Problems:
    """A dimension keeps its extent, unless that is 1."""
    source, result = shape_of(op, "source"), shape_of(op, "result")
    if any(s not in (1, r) for s, r in zip(source, result, strict=False)):
        yield Problem("only extents of 1 are broadcast", f"{op.source.type} to {op.result.type}")


@rule(o.Reshape)
def reshape_size(op: o.Reshape, context: Context) -> Problems:
    """A reshape keeps the number of elements."""
    types = (op.source.type, op.result.type)
    sizes = [t.size for t in types if isinstance(t, TileType)]
    yield from same(op, ("source", "result"), "number of elements", sizes)


@rule(o.Permute)
def permutation(op: o.Permute, context: Context) -> Problems:
    """``permutation`` names every dimension once, and there are at least two."""
    rank = len(shape_of(op, "source"))
    if rank < 2:
        yield Problem("a tile that is permuted has at least two dimensions", op.source.type)
    elif sorted(op.permutation) != list(range(rank)):
        yield Problem("permutation names every dimension once", list(op.permutation))


@rule(o.Permute)
def permutation_shape(op: o.Permute, context: Context) -> Problems:
    """Dimension k of the result is dimension ``permutation[k]`` of the source."""
    source, result = shape_of(op, "source"), shape_of(op, "result")
    if sorted(op.permutation) == list(range(len(source))):
        expected = tuple(source[k] for k in op.permutation)
        if result != expected:
            yield Problem("the result has the source's extents, permuted", result, expected)


@rule(o.Cat)
def cat_types(op: o.Cat, context: Context) -> Problems:
    """Operands and result have one element type and one rank."""
    names = ("lhs", "rhs", "result")
    yield from same(op, names, "element type", (element_named(op, n) for n in names))
    yield from same(op, names, "rank", (len(shape_of(op, n)) for n in names))


@rule(o.Cat)
def cat_shape(op: o.Cat, context: Context) -> Problems:
    """Extents add up along ``dim``, and are the same elsewhere."""
    lhs, rhs, result = (shape_of(op, n) for n in ("lhs", "rhs", "result"))
    if not 0 <= op.dim < len(lhs):
        yield Problem("dim is one of the dimensions", op.dim, f"below {len(lhs)}")
    elif len(lhs) == len(rhs) == len(result):
        expected = list(lhs)
        expected[op.dim] += rhs[op.dim]
        others = [d for k, d in enumerate(rhs) if k != op.dim]
        if list(result) != expected or others != [d for k, d in enumerate(lhs) if k != op.dim]:
            found = f"{op.lhs.type} and {op.rhs.type} to {op.result.type}"
            yield Problem(f"extents add up along dimension {op.dim} and are the same elsewhere", found)


@rule(o.Constant)
def constant_type(op: o.Constant, context: Context) -> Problems:
    """The result is of the value's type."""
    if op.value.type != op.result.type:
        yield Problem("the result is of the value's type", op.result.type, op.value.type)


@rule(o.Constant)
def constant_size(op: o.Constant, context: Context) -> Problems:
    """A constant has one element, which stands for all, or all of them."""
    width, size = op.value.element_bytes, len(op.value.data)
    if size not in (width, width * op.value.type.size):
        found = f"{size} bytes for {op.value.type}"
        yield Problem(
            "a constant has one element, or all of them", found, f"{width * op.value.type.size} bytes"
        )


def _subtile(op: o.Extract | o.Insert, whole: str, part: str) -> Problems:
    large, small = shape_of(op, whole), shape_of(op, part)
    if len(large) == len(small) and any(a % b for a, b in zip(large, small, strict=True)):
        found = f"{small} of {large}"
        yield Problem("the subtile's extents divide those of the tile", found)
    if len(op.indices) != len(large):
        yield Problem("there is an index for each dimension", len(op.indices), len(large))


def _indices(op: o.Extract | o.Insert) -> Problems:
    for value in op.indices:
        if isinstance(value.type, TileType) and value.type.shape:
            yield Problem("an index is a scalar", value.type)


@rule(o.Extract)
def extract_subtile(op: o.Extract, context: Context) -> Problems:
    """The result's extents divide the source's, and each dimension has an index."""
    yield from _subtile(op, "source", "result")


@rule(o.Insert)
def insert_subtile(op: o.Insert, context: Context) -> Problems:
    """The source's extents divide the destination's, and each dimension has an index."""
    yield from _subtile(op, "destination", "source")


@rule(o.Insert)
def insert_types(op: o.Insert, context: Context) -> Problems:
    """Destination and result are of one type, and the source has their element type and rank."""
    yield from same(op, ("destination", "result"), "type", (op.destination.type, op.result.type))
    names = ("source", "destination")
    yield from same(op, names, "element type", (element_named(op, n) for n in names))
    yield from same(op, names, "rank", (len(shape_of(op, n)) for n in names))


@rule(o.Extract, o.Insert)
def subtile_indices(op: o.Extract | o.Insert, context: Context) -> Problems:
    """An index is a scalar."""
    yield from _indices(op)


@rule(o.GetNumTileBlocks, o.GetTileBlockId)
def grid_scalars(op: o.GetNumTileBlocks | o.GetTileBlockId, context: Context) -> Problems:
    """The results are scalars."""
    for value in op.results:
        if isinstance(value.type, TileType) and value.type.shape:
            yield Problem("a coordinate of the grid is a scalar", value.type)


@rule(o.Iota)
def iota_rank(op: o.Iota, context: Context) -> Problems:
    """The result has one dimension."""
    if len(shape_of(op, "result")) != 1:
        yield Problem("the result has one dimension", op.result.type)


@rule(o.Iota)
def iota_fits(op: o.Iota, context: Context) -> Problems:
    """The element type can count the elements."""
    element = element_named(op, "result")
    shape = shape_of(op, "result")
    if isinstance(element, NumberType) and len(shape) == 1 and shape[0] > 1 << element.width:
        yield Problem(f"{element} cannot count the elements", op.result.type, f"at most {1 << element.width}")


@rule(o.Select)
def select_types(op: o.Select, context: Context) -> Problems:
    """Both choices and the result are of one type, and the condition has its shape."""
    names = ("val_if_true", "val_if_false", "result")
    yield from same(op, names, "type", (op.val_if_true.type, op.val_if_false.type, op.result.type))
    shapes = (shape_of(op, "cond"), shape_of(op, "result"))
    yield from same(op, ("cond", "result"), "shape", shapes)


@rule(o.Select)
def select_not_f4(op: o.Select, context: Context) -> Problems:
    """f4E2M1FN, two of which share a byte, is not selected."""
    if element_named(op, "result") is F4E2M1FN:
        yield Problem("f4E2M1FN is not selected", op.result.type)
