"""How the types of an operation's operands and results hang together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..module import Operation, Value
from ..types import TileType, Type
from .diagnostic import Problem
from .rules import Problems


def value_of(op: Operation, name: str) -> Value:
    """The operand or result called ``name``."""
    value = op.__dict__.get(name)
    if value is None:
        part = next(p for p in op.declaration.results if p.name == name)
        value = op.results[part.index]
    assert isinstance(value, Value)
    return value


def shape_of(op: Operation, name: str) -> tuple[int, ...]:
    """The shape of a tile that is an operand or result."""
    type_ = value_of(op, name).type
    assert isinstance(type_, TileType)
    return type_.shape


def element_named(op: Operation, name: str) -> Type:
    """The element type of a tile that is an operand or result."""
    type_ = value_of(op, name).type
    assert isinstance(type_, TileType)
    return type_.element


def same(op: Operation, names: Sequence[str], what: str, found: Iterable[object]) -> Problems:
    """A problem unless ``found``, one for each of ``names``, are all the same."""
    values = list(found)
    if any(v != values[0] for v in values):
        spelled = ", ".join(f"{n} {_spell(v)}" for n, v in zip(names, values, strict=True))
        yield Problem(f"{' and '.join(names)} have the same {what}", spelled)


def _spell(value: object) -> str:
    return "x".join(map(str, value)) or "scalar" if isinstance(value, tuple) else str(value)
