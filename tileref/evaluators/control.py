"""Control flow: branches and loops over blocks that may part."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tileir.module import Operation, Region, Value
from tileir.ops import control as ops
from tileir.types import TileType

from ..formats import Array, integer_format
from ..frame import Frame, compose, indices
from ..kinds import Kind
from ..regions import Branched, Exit, run_region
from ..values import RuntimeValue, Selection, Tile, merge
from .registry import evaluates


@evaluates("if")
def if_(frame: Frame, op: ops.If, condition: Tile) -> Branched:
    """Run one region in the blocks where the condition is 1 and the other in the rest."""
    check_condition(frame, op, condition)
    taken = condition.data
    if taken.shape[0] == 1 or taken.all() or not taken.any():
        region = op.thenRegion if taken[0] else op.elseRegion
        sides: list[tuple[Region | None, Selection | None]] = [(region, None)]
    else:
        sides = [(op.thenRegion, np.flatnonzero(taken)), (op.elseRegion, np.flatnonzero(~taken))]
    exits = []
    for region, selection in sides:
        if region is None:
            exits.append(Exit(ops.Yield, selection, ()))
            continue
        for e in run_region(frame.child(selection), region):
            exits.append(Exit(e.kind, compose(selection, e.selection), e.values))
    return _join(frame, op, exits, ops.Yield)


def check_condition(frame: Frame, op: ops.If, condition: Tile) -> None:
    """Report a condition that has no value."""
    if condition.undefined is not None:
        frame.run.report_use(frame, op, condition.undefined, "the condition of a branch")


def _join(frame: Frame, op: Operation, exits: list[Exit], kind: type[Operation]) -> Branched:
    """Results of an operation in the blocks that left its regions by ``kind``; the others go further out."""
    inside = [e for e in exits if e.kind is kind]
    outside = [e for e in exits if e.kind is not kind]
    staying: Selection | None = None
    if outside:
        if not inside:
            return Branched((), np.empty(0, np.intp), outside)
        staying = np.sort(np.concatenate([indices(e.selection, frame.count) for e in inside]))
    results = []
    for number in range(len(op.results)):
        parts: list[tuple[Selection | None, RuntimeValue]] = []
        for e in inside:
            where = e.selection
            if staying is not None:
                where = np.searchsorted(staying, indices(where, frame.count))
            parts.append((where, e.values[number]))
        count = frame.count if staying is None else len(staying)
        results.append(merge(count, parts))
    # The results are in the staying blocks' own numbering, which is what the frame made for them uses.
    return Branched(tuple(results), staying, outside)


@evaluates()
def loop(frame: Frame, op: ops.Loop, initValues: tuple[RuntimeValue, ...]) -> Branched:
    """Run the body until every block broke out or returned."""
    exits: list[Exit] = []
    active: Selection | None = None
    carried = initValues
    while True:
        frame.run.step(op)
        active, carried = _iterate(frame, op.body, op.body.arguments, active, carried, exits)
        if active is not None and len(active) == 0:
            return _join(frame, op, exits, ops.Break)


def _iterate(
    frame: Frame,
    body: Region,
    arguments: tuple[Value, ...],
    active: Selection | None,
    carried: tuple[RuntimeValue, ...],
    exits: list[Exit],
) -> tuple[Selection | None, tuple[RuntimeValue, ...]]:
    """One iteration in the ``active`` blocks: those that go on, and what they carry.

    Blocks that leave the loop are added to ``exits``, numbered in ``frame``.
    """
    inner = frame.child(active)
    for argument, value in zip(arguments, carried, strict=True):
        inner.values[argument] = value
    going: list[Exit] = []
    for e in run_region(inner, body):
        if e.kind is ops.Continue:
            going.append(e)
        else:
            exits.append(Exit(e.kind, compose(active, e.selection), e.values))
    if not going:
        return np.empty(0, np.intp), ()
    if len(going) == 1:
        return compose(active, going[0].selection), going[0].values
    staying = np.sort(np.concatenate([indices(e.selection, inner.count) for e in going]))
    values = tuple(
        merge(
            len(staying),
            [(np.searchsorted(staying, indices(e.selection, inner.count)), e.values[i]) for e in going],
        )
        for i in range(len(going[0].values))
    )
    return compose(active, staying), values


@evaluates("for")
def for_(
    frame: Frame,
    op: ops.For,
    lowerBound: Tile,
    upperBound: Tile,
    step: Tile,
    initValues: tuple[RuntimeValue, ...],
) -> Branched:
    """Run the body for every value of the range; blocks whose range is over wait with what they carry."""
    bounds = bounds_of(frame, op, lowerBound, upperBound, step)
    type_ = op.body.arguments[0].type
    assert isinstance(type_, TileType)
    exits: list[Exit] = []
    if all(b.shape[0] == 1 or (b == b[0]).all() for b in bounds):
        _uniform(frame, op, type_, [int(b[0]) for b in bounds], initValues, exits)
    else:
        _ragged(frame, op, type_, bounds, initValues, exits)
    return _join(frame, op, exits, ops.Continue)


def bounds_of(frame: Frame, op: ops.For, lowerBound: Tile, upperBound: Tile, step: Tile) -> list[Array]:
    """A loop's bounds and step as Python's integers, after reporting those that are not as they must be."""
    for bound in (lowerBound, upperBound, step):
        if bound.undefined is not None:
            frame.run.report_use(frame, op, bound.undefined, "a bound of a loop")
    bounds = [_as_read(b, unsigned=op.unsignedCmp) for b in (lowerBound, upperBound, step)]
    bad = step.data <= 0 if step.data.dtype != np.bool_ else np.ones(step.data.shape, np.bool_)
    if bad.any():
        frame.run.report(frame, op, Kind.LOOP_STEP, "a loop's step is not positive", bad)
    return [*bounds[:2], np.maximum(bounds[2], 1)]


def _as_read(bound: Tile, *, unsigned: bool) -> Array:
    """A bound as Python-sized integers: the comparison alone can be unsigned, and i64 has no wider type."""
    fmt = integer_format(bound.type)
    array = bound.data.astype(object)
    if fmt.width == 1:
        array = -array
    return np.where(array < 0, array + (1 << fmt.width), array) if unsigned else array


def induction(type_: TileType, values: Sequence[int] | Array) -> Tile:
    """The induction variable in blocks where it has these values, wrapped to its width."""
    fmt = integer_format(type_)
    wrapped = np.array([v & ((1 << fmt.width) - 1) for v in values], dtype=np.uint64)
    return Tile(type_, wrapped.astype(fmt.dtype))


def _uniform(
    frame: Frame,
    op: ops.For,
    type_: TileType,
    bounds: list[int],
    carried: tuple[RuntimeValue, ...],
    exits: list[Exit],
) -> None:
    lower, upper, step = bounds
    active: Selection | None = None
    for value in range(lower, upper, step):
        frame.run.step(op)
        number = induction(type_, [value])
        active, carried = _iterate(frame, op.body, op.body.arguments, active, (number, *carried), exits)
        if active is not None and len(active) == 0:
            return
    exits.append(Exit(ops.Continue, active, carried))


def _ragged(
    frame: Frame,
    op: ops.For,
    type_: TileType,
    bounds: list[Array],
    carried: tuple[RuntimeValue, ...],
    exits: list[Exit],
) -> None:
    value, upper, step = (np.broadcast_to(b, (frame.count,)) for b in bounds)
    value = value.copy()
    active = np.arange(frame.count)
    while True:
        done = value[active] >= upper[active]
        if done.any():
            finished = np.flatnonzero(done)
            exits.append(Exit(ops.Continue, active[finished], tuple(c.take(finished) for c in carried)))
            rest = np.flatnonzero(~done)
            active, carried = active[rest], tuple(c.take(rest) for c in carried)
            if len(active) == 0:
                return
        frame.run.step(op)
        number = induction(type_, value[active])
        value[active] += step[active]
        going, carried = _iterate(frame, op.body, op.body.arguments, active, (number, *carried), exits)
        assert going is not None
        active = going
        if len(active) == 0:
            return
