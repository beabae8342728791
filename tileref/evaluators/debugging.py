"""Claims, checks and prints."""

from __future__ import annotations

import numpy as np

from tileir.attributes import Bounded, DivBy, SameElements
from tileir.ops import debugging as ops
from tileir.types import NumberType, PointerType, TileType

from ..formats import Array
from ..frame import Frame
from ..kinds import Kind
from ..printf import render
from ..undefined import marks
from ..values import TOKEN, RuntimeValue, Tile, Token
from .registry import evaluates


@evaluates("assert")
def assert_(frame: Frame, op: ops.Assert, condition: Tile) -> None:
    """Note the message for every element that is 0; the kernel goes on."""
    if condition.undefined is not None:
        frame.run.report_use(frame, op, condition.undefined, "the condition of an assertion")
    failed = ~condition.full(frame.count)
    for position in np.argwhere(failed):
        block = frame.coordinate(int(position[0]))
        lane = tuple(int(i) for i in position[1:])
        frame.run.add_assertion(op, op.message, block, lane)


@evaluates()
def assume(frame: Frame, op: ops.Assume, value: RuntimeValue) -> RuntimeValue:
    """The value itself; what is claimed of it falsely takes the lanes' values away."""
    if not isinstance(value, Tile) or frame.run.check == "off":
        return value
    false = _false(op, value)
    if false is None or not false.any():
        return value
    frame.run.report(frame, op, Kind.FALSE_ASSUMPTION, f"assumed {op.predicate}, which is false", false)
    claimed = marks(np.broadcast_to(false, value.data.shape), op)
    return Tile(value.type, value.data, claimed if value.undefined is None else value.undefined)


def _false(op: ops.Assume, value: Tile) -> Array | None:
    data = value.data
    match op.predicate:
        case Bounded(lb, ub):
            false = np.zeros(data.shape, np.bool_)
            if lb is not None:
                false |= data < lb
            if ub is not None:
                false |= data > ub
            return false
        case DivBy(divisor, None, None):
            if divisor & (divisor - 1) == 0 and data.dtype != np.bool_:
                return np.asarray((data & np.array(divisor - 1, np.int64).astype(data.dtype)) != 0)
            return None
        case DivBy(divisor, every, along):
            return _not_runs(value, divisor, every, along)
        case SameElements(groups):
            return _not_repeated(data, groups)
    return None


def _not_runs(value: Tile, divisor: int, every: int | None, along: int | None) -> Array | None:
    """Groups along a dimension that do not start at a multiple, or do not count up by one element."""
    if every is None or along is None or every <= 0 or value.type.shape[along] % every:
        return None
    element = value.type.element
    step = element.pointee.bytes if isinstance(element, PointerType) else 1
    data = np.moveaxis(value.data, along + 1, -1)
    groups = data.reshape(*data.shape[:-1], -1, every)
    first = groups[..., :1]
    expected = first + np.arange(every, dtype=groups.dtype) * step
    false = (groups != expected) | ((first & (divisor - 1)) != 0)
    return np.asarray(np.moveaxis(false.reshape(data.shape), -1, along + 1))


def _not_repeated(data: Array, groups: tuple[int, ...]) -> Array | None:
    """Groups of neighbours that are not all equal to their first."""
    if len(groups) != data.ndim - 1 or any(n % g for n, g in zip(data.shape[1:], groups, strict=True)):
        return None
    first = data
    for axis, group in enumerate(groups, start=1):
        picked = np.take(first, np.arange(0, first.shape[axis], group), axis)
        first = np.repeat(picked, group, axis)
    return np.asarray(data != first)


@evaluates()
def print_tko(
    frame: Frame, op: ops.PrintTko, args: tuple[Tile, ...], token: Token | None
) -> tuple[Token, ...]:
    """Print, block after block."""
    for tile in args:
        if tile.undefined is not None:
            frame.run.report_use(frame, op, tile.undefined, "a printed value")
    types = [a.type for a in args]
    numbers = frame.linear_blocks()
    for block in range(frame.count):
        values = [a.data[block if a.data.shape[0] > 1 else 0] for a in args]
        text = render(op.str, values, [_element(t) for t in types])
        frame.run.add_print(op, int(numbers[block]), text)
    return (TOKEN if token is None else token,) * len(op.results)


def _element(type_: TileType) -> NumberType | None:
    return type_.element if isinstance(type_.element, NumberType) else None
