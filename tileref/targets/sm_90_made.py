"""What made a tile that is reduced, as far as it decides how a thread of an sm_90 GPU folds its elements."""

from __future__ import annotations

from enum import Enum

from tileir.module import Operation, Value
from tileir.ops import control, core, floating
from tileir.ops.conversion import FToF
from tileir.types import TileType

from .sm_90_layout import ELEMENTWISE_FAMILIES

LOOPS = (control.For, control.Loop)


class Made(Enum):
    """What made a tile."""

    PLAIN = "a tile that is none of the others"
    CARRIED = "what a loop carries"
    BF16 = "bf16 converted to f32, or products of two such"
    PARTLY_BF16 = "arithmetic with some of its operands converted from bf16"


def made_by(value: Value) -> Made:
    """What made ``value``."""
    owner = value.owner
    # The argument of a region is what a loop carries: a reduction's own body holds no reduction.
    if not isinstance(owner, Operation) or isinstance(owner, LOOPS):
        return Made.CARRIED
    if _is_widened(owner):
        return Made.BF16
    if isinstance(owner, floating.MulF) and all(
        isinstance(v.owner, Operation) and _is_widened(v.owner) for v in owner.uses
    ):
        return Made.BF16
    return Made.PARTLY_BF16 if _meets_bf16(owner) else Made.PLAIN


def _is_widened(operation: Operation) -> bool:
    if not isinstance(operation, FToF):
        return False
    type_ = operation.from_.type
    return isinstance(type_, TileType) and str(type_.element) == "bf16"


def _meets_bf16(operation: Operation) -> bool:
    """Whether arithmetic, element by element, made the result from a tile that was converted from bf16."""
    todo, seen = [operation], {id(operation)}
    while todo:
        current = todo.pop()
        if _is_widened(current):
            return True
        by_element = type(current).__module__ in ELEMENTWISE_FAMILIES
        if not by_element and not isinstance(current, core.Select | core.Reshape | core.Broadcast):
            continue
        for value in current.uses:
            if isinstance(value.owner, Operation) and id(value.owner) not in seen:
                seen.add(id(value.owner))
                todo.append(value.owner)
    return False
