"""Rules of targets: what an architecture's assembler has no code for.

Measured with tileiras 13.4.92 on every target it has, by ``python -m tests.campaigns.target_rules``.
"""

from __future__ import annotations

import re

from ..attributes import AtomicRMWMode
from ..errors import ArgumentError
from ..module import Operation
from ..ops.atomic import AtomicRedViewTko, AtomicRMWTko
from ..types import (
    BF16,
    F4E2M1FN,
    F8E4M3FN,
    F8E5M2,
    F8E8M0FNU,
    GatherScatterViewType,
    NumberType,
    PartitionViewType,
    PointerType,
    StridedViewType,
    TensorViewType,
    TileType,
    Type,
)
from .diagnostic import Problem
from .rules import Problems

FORMATS: dict[NumberType, int] = {F8E4M3FN: 90, F8E5M2: 90, F8E8M0FNU: 100, F4E2M1FN: 100}
"""The first target that has a format, in tiles, pointers and views alike."""

BF16_ATOMICS = 89
"""The first target that adds bf16 atomically (the dialect's text says 90)."""


def number_of(target: str) -> int:
    """The number of a target: 90 for ``sm_90``.

    Raises:
        ArgumentError: this is no target.
    """
    match = re.fullmatch(r"sm_(\d{2,3})", target)
    if match is None:
        raise ArgumentError("not a target", rule="target", found=target, expected="such as sm_90")
    return int(match[1])


def _format_of(type_: Type) -> NumberType | None:
    """The number format that a type is made of."""
    match type_:
        case NumberType():
            return type_
        case PointerType():
            return type_.pointee
        case TileType() | TensorViewType():
            return _format_of(type_.element)
        case PartitionViewType() | StridedViewType() | GatherScatterViewType():
            return type_.tensor_view.element
    return None


def target_format(type_: Type, target: int) -> Problems:
    """The target has the format that a type is made of."""
    format_ = _format_of(type_)
    first = FORMATS.get(format_, 0) if format_ is not None else 0
    if target < first:
        yield Problem(f"sm_{target} has no {format_}", type_, f"sm_{first} or newer")


def target_bf16_atomics(op: Operation, target: int) -> Problems:
    """The target adds bf16 atomically."""
    if isinstance(op, AtomicRMWTko):
        value = op.arg
    elif isinstance(op, AtomicRedViewTko):
        value = op.value
    else:
        return
    if target < BF16_ATOMICS and op.mode is AtomicRMWMode.ADDF and _format_of(value.type) is BF16:
        yield Problem(f"sm_{target} does not add bf16 atomically", BF16, f"sm_{BF16_ATOMICS} or newer")


TARGET_RULES = (target_bf16_atomics,)
