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
from ..undefined import join, marks
from ..values import TOKEN, RuntimeValue, Tensor, Tile, Token
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
    """The value itself; what is claimed of it falsely takes the lanes' values away.

    What is claimed falsely of a tensor's address is reported alone.
    """
    if frame.run.check == "off":
        return value
    text = f"assumed {op.predicate}, which is false"
    if isinstance(value, Tensor) and isinstance(op.predicate, DivBy):
        frame.run.report(frame, op, Kind.FALSE_ASSUMPTION, text, value.base & (op.predicate.divisor - 1) != 0)
    if not isinstance(value, Tile):
        return value
    false = _false(op, value)
    if false is not None and value.undefined is not None:
        # What stands where there is no value has claimed nothing.
        false = false & ~value.undefined.lanes
    if false is None or not false.any():
        return value
    frame.run.report(frame, op, Kind.FALSE_ASSUMPTION, text, false)
    return Tile(value.type, value.data, join([value.undefined, marks(np.asarray(false), op)]))


def _false(op: ops.Assume, value: Tile) -> Array | None:
    """Lanes of which something false is claimed; integers are read as signed, and i1's 1 is -1."""
    data = value.data
    if data.dtype == np.bool_:
        data = -data.astype(np.int8)
    match op.predicate:
        case Bounded(lb, ub):
            false = np.zeros(data.shape, np.bool_)
            if lb is not None:
                false |= data < lb
            if ub is not None:
                false |= data > ub
            return false
        case DivBy(divisor, None, None):
            return np.asarray((data & np.array(divisor - 1, np.int64).astype(data.dtype)) != 0)
        case DivBy(divisor, every, along) if every and along is not None:
            element = value.type.element
            step = element.pointee.bytes if isinstance(element, PointerType) else 1
            return _not_runs(data.astype(np.int64), divisor, every, along + 1, step)
        case SameElements(groups):
            return _not_repeated(data, groups)
    return None


def _first_of_groups(data: Array, axis: int, group: int) -> Array:
    """For every element the first of its group along ``axis``; the last group may be shorter."""
    extent = data.shape[axis]
    return np.take(data, np.arange(extent) // group * group, axis)


def _not_runs(data: Array, divisor: int, every: int, axis: int, step: int) -> Array:
    """Groups along ``axis`` that start at no multiple, or do not count up by ``step`` without a wrap."""
    first = _first_of_groups(data, axis, every)
    shape = [1] * data.ndim
    shape[axis] = -1
    expected = first + (np.arange(data.shape[axis]) % every * step).reshape(shape)
    return np.asarray((data != expected) | (expected < first) | (first & (divisor - 1) != 0))


def _not_repeated(data: Array, groups: tuple[int, ...]) -> Array:
    """Groups of neighbours that are not all equal to their first; a group of 0 claims nothing."""
    first = data
    for axis, group in enumerate(groups, start=1):
        if group > 1:
            first = _first_of_groups(first, axis, group)
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
