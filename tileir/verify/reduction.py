"""Rules of reductions and scans."""

from __future__ import annotations

from ..attributes import DenseElements, FloatAttribute, IntegerAttribute
from ..module import Operation
from ..ops import control, reduction
from ..registry import BY_NAME
from ..types import BF16, F16, TileType, Type
from .diagnostic import Problem
from .rules import Context, Problems, rule

Fold = reduction.Reduce | reduction.Scan

_IMPURE = frozenset(
    name
    for name in BY_NAME
    if name.endswith("_tko") or name in ("alloca", "assert", "assume", "return", "break", "continue")
)
"""Operations with an effect beyond their results, and those that may not stand in the body of a fold."""


def _tiles(op: Fold) -> list[TileType]:
    return [v.type for v in op.operands if isinstance(v.type, TileType)]


@rule(reduction.Reduce, reduction.Scan)
def fold_operands(op: Fold, context: Context) -> Problems:
    """There is at least one operand, all are tiles, and all have one shape."""
    if not op.operands:
        yield Problem("there is at least one operand", 0)
    for value in op.operands:
        if not isinstance(value.type, TileType):
            yield Problem("an operand is a tile", value.type)
    shapes = {t.shape for t in _tiles(op)}
    if len(shapes) > 1:
        yield Problem("the operands have one shape", ", ".join(str(t) for t in _tiles(op)))


@rule(reduction.Scan)
def scan_operands(op: reduction.Scan, context: Context) -> Problems:
    """A scan has one operand."""
    if len(op.operands) > 1:
        yield Problem("a scan has one operand", len(op.operands), 1)


@rule(reduction.Reduce, reduction.Scan)
def fold_dim(op: Fold, context: Context) -> Problems:
    """``dim`` is one of the dimensions."""
    tiles = _tiles(op)
    if tiles and not 0 <= op.dim < len(tiles[0].shape):
        yield Problem("dim is one of the dimensions", op.dim, f"below {len(tiles[0].shape)}")


@rule(reduction.Reduce)
def reduce_results(op: reduction.Reduce, context: Context) -> Problems:
    """A result is an operand's type without dimension ``dim``."""
    expected = [TileType(t.shape[: op.dim] + t.shape[op.dim + 1 :], t.element) for t in _tiles(op)]
    yield from _results(op, expected)


@rule(reduction.Scan)
def scan_results(op: reduction.Scan, context: Context) -> Problems:
    """A result is of its operand's type."""
    yield from _results(op, _tiles(op))


def _results(op: Operation, expected: list[TileType]) -> Problems:
    found = [v.type for v in op.results]
    if found != expected:
        yield Problem("the results do not follow from the operands", _spell(found), _spell(expected))


def _spell(types: list[Type] | list[TileType]) -> str:
    return ", ".join(map(str, types)) or "nothing"


@rule(reduction.Reduce, reduction.Scan)
def fold_identities(op: Fold, context: Context) -> Problems:
    """There is an identity of the element type for each operand; f16 and bf16 may stand for each other."""
    if len(op.identities) != len(op.operands):
        yield Problem("there is an identity for each operand", len(op.identities), len(op.operands))
        return
    for identity, type_ in zip(op.identities, _tiles(op), strict=False):
        number = identity.type if isinstance(identity, IntegerAttribute | FloatAttribute) else None
        if {number, type_.element} == {F16, BF16}:
            continue
        if number != type_.element:
            found = identity.type if isinstance(identity, DenseElements) else number
            yield Problem("an identity is of its operand's element type", found, type_.element)


@rule(reduction.Reduce, reduction.Scan)
def fold_arguments(op: Fold, context: Context) -> Problems:
    """The body has two scalars for each operand."""
    expected = [TileType((), t.element) for t in _tiles(op) for _ in range(2)]
    found = [v.type for v in op.body.arguments]
    if found != expected:
        yield Problem("the body has two scalars for each operand", _spell(found), _spell(expected))


@rule(reduction.Reduce, reduction.Scan)
def fold_yield(op: Fold, context: Context) -> Problems:
    """The body ends by yielding a value of each operand's element type."""
    last = op.body.operations[-1] if op.body.operations else None
    if not isinstance(last, control.Yield):
        return
    expected = [t.element for t in _tiles(op)]
    found = [v.type.element if isinstance(v.type, TileType) else v.type for v in last.operands]
    if found != expected:
        yield Problem("the body yields a value of each operand's element type", _spell(list(found)))


@rule(reduction.Reduce, reduction.Scan)
def fold_pure(op: Fold, context: Context) -> Problems:
    """The body has no effect beyond its values."""
    for inner in op.body.walk():
        if inner.mnemonic in _IMPURE:
            yield Problem(f"{inner.mnemonic} does not stand in the body of a {op.mnemonic}")
