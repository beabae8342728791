"""Blocks that wait for each other: one at a time, in turns, so that none waits for one that never runs.

Each block is a coroutine. It runs until it has been round a loop of ``tileref.waiting`` without changing
what the loop carries, or until it ends; then the next one runs, in the order of their numbers and round
again. As on a GPU not all blocks of a grid are there at once: some start, and with each
that ends the next one. So a block may wait for any block of a lower number, and for any other that is in
flight with it. The order depends on the kernel and its arguments alone: neither on the machine nor on the
number of threads.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from tileir.errors import TileError
from tileir.module import Operation, Region
from tileir.ops import control as ops
from tileir.types import TileType

from .evaluators.control import bounds_of, check_condition, induction
from .frame import Frame
from .memory import Touched
from .regions import Branched, Exit, name_operation, run_region, steps_of
from .run import Run
from .spinning import Spin, same_values
from .standstill import Past, Pause
from .undefined import describe, named
from .values import RuntimeValue, Selection, Tile
from .waiting import Plan

AT_ONCE = 64
"""Turns that a block has in a row while each changes what its loop carries: it is not waiting then."""

Turns = Generator[Pause, None, Exit]


@dataclass(slots=True, eq=False)
class _Block:
    order: int
    number: int
    turns: Turns
    pause: Pause | None = None

    def goes_on(self, run: Run) -> bool:
        """Run the block until it waits; False if it has ended."""
        if self.pause is not None and self.pause.sleeps is not None and self.pause.sleeps():
            run.step(self.pause.operation)
            return True
        for _ in range(AT_ONCE):
            self.pause = next(self.turns, None)
            if self.pause is None or not self.pause.moved:
                break
        return self.pause is not None


def run_in_turns(
    run: Run,
    plan: Plan,
    start: Callable[[int], Frame],
    blocks: int,
    at_a_time: int,
    ended: Callable[[Selection], None] | None = None,
) -> None:
    """Run an entry in ``blocks`` blocks, in turns.

    Args:
        run: the launch.
        plan: the loops that wait.
        start: makes the frame of the block with a number.
        blocks: how many there are.
        at_a_time: how many of them have started and not ended at any time.
        ended: is told the number of each block that ends.

    Raises:
        TileError: ``deadlock`` where the blocks in flight wait for what none of them will do, ``step-budget``
            where they go round their loops too often.
    """
    frames = enumerate(map(start, range(blocks)))
    coming = (_Block(n, int(f.linear_blocks()[0]), _turns(f, run.entry.body, plan)) for n, f in frames)
    flying: deque[_Block] = deque(islice(coming, at_a_time))
    run.waits = lambda: _waits(flying, blocks)
    past = Past(run.memory)
    try:
        while flying:
            quiet = True
            for _ in range(len(flying)):
                block = flying[0]
                if block.goes_on(run):
                    flying.rotate(-1)
                else:
                    flying.popleft()
                    if ended is not None:
                        ended(np.array([block.number]))
                    flying.extend(islice(coming, 1))
                    quiet = False
            if not quiet:
                past.forget()
            elif past.returns([block.pause for block in flying]):
                raise _deadlock(flying, blocks)
    finally:
        run.waits = None
        for block in flying:
            block.turns.close()


def _waits(flying: Sequence[_Block], blocks: int) -> str:
    """Which loops the blocks wait in, and how many in each."""
    counts = Counter(id(block.pause.operation) for block in flying if block.pause is not None)
    operations = {id(b.pause.operation): b.pause.operation for b in flying if b.pause is not None}
    parts = []
    for key, count in counts.most_common():
        first = min(b.number for b in flying if b.pause is not None and id(b.pause.operation) == key)
        parts.append(f"{count} waiting in {named(operations[key])} (the first is block {first})")
    coming = blocks - 1 - max(block.order for block in flying)
    if coming:
        parts.append(f"{coming} of the grid not started")
    return ", ".join([f"{len(flying)} blocks in flight", *parts])


def _deadlock(flying: Sequence[_Block], blocks: int) -> TileError:
    pauses = [block.pause for block in flying if block.pause is not None]
    return TileError(
        "the blocks wait for each other for ever: all in flight have gone round their loops, "
        "and everything is as it was",
        rule="deadlock",
        found=_waits(flying, blocks),
        **describe(pauses[0].operation),
    )


def _turns(frame: Frame, region: Region, plan: Plan) -> Turns:
    """Run ``region`` in the one block of ``frame``, pausing once in each turn of a loop that waits."""
    for step in steps_of(frame, region):
        operation = step.operation
        if step.evaluate is None:
            return Exit(type(operation), None, tuple(frame.get(v) for v in operation.uses))
        if id(operation) in plan.around and not step.looks:
            left = yield from _TURNS[type(operation)](frame, operation, plan, *step.arguments(frame))
            if left.kind is not _INSIDE[type(operation)]:
                return left
            step.keep(frame, left.values)
            continue
        try:
            answer = step.evaluate(frame, operation, *step.arguments(frame))
        except TileError as error:
            name_operation(error, operation)
            raise
        if isinstance(answer, Branched):
            # There is one block, and it is either out or here.
            if answer.exits:
                return answer.exits[0]
            answer = answer.results
        step.keep(frame, answer)
    raise AssertionError("a region ends with a terminator")


def _if(frame: Frame, op: ops.If, plan: Plan, condition: Tile) -> Turns:
    check_condition(frame, op, condition)
    region = op.thenRegion if condition.data[0] else op.elseRegion
    if region is None:
        return Exit(ops.Yield, None, ())
    return (yield from _turns(frame.child(), region, plan))


def _iteration(frame: Frame, body: Region, plan: Plan, carried: tuple[RuntimeValue, ...]) -> Turns:
    inner = frame.child()
    inner.values.update(zip(body.arguments, carried, strict=True))
    return (yield from _turns(inner, body, plan))


def _loop(frame: Frame, op: ops.Loop, plan: Plan, initValues: tuple[RuntimeValue, ...]) -> Turns:
    if id(op) in plan.spins:
        return (yield from _spin(frame, op, initValues))
    carried, entered = initValues, object()
    while True:
        frame.run.step(op)
        left = yield from _iteration(frame, op.body, plan, carried)
        if left.kind is not ops.Continue:
            return left
        before, carried = carried, left.values
        if id(op) in plan.waiting:
            yield Pause(op, entered, carried, not same_values(before, carried))


def _spin(frame: Frame, op: ops.Loop, carried: tuple[RuntimeValue, ...]) -> Turns:
    """A loop that waits, and holds no other."""
    memory, spin = frame.run.memory, Spin()
    while True:
        frame.run.step(op)
        undisturbed = spin.undisturbed()
        inner = frame.child()
        inner.values.update(zip(op.body.arguments, carried, strict=True))
        touched: list[Touched] = []
        memory.touched = touched
        try:
            (left,) = run_region(inner, op.body)
        finally:
            memory.touched = None
        if left.kind is not ops.Continue:
            return left
        moved = not same_values(carried, left.values)
        spin.turned(undisturbed, touched, moved=moved)
        carried = left.values
        yield Pause(op, spin, carried, moved, spin.sleeps)


def _for(
    frame: Frame,
    op: ops.For,
    plan: Plan,
    lowerBound: Tile,
    upperBound: Tile,
    step: Tile,
    initValues: tuple[RuntimeValue, ...],
) -> Turns:
    lower, upper, by = (int(b[0]) for b in bounds_of(frame, op, lowerBound, upperBound, step))
    type_ = op.body.arguments[0].type
    assert isinstance(type_, TileType)
    carried = initValues
    for value in range(lower, upper, max(by, 1)):
        frame.run.step(op)
        left = yield from _iteration(frame, op.body, plan, (induction(type_, [value]), *carried))
        if left.kind is not ops.Continue:
            return left
        carried = left.values
    return Exit(ops.Continue, None, carried)


_TURNS: dict[type[Operation], Callable[..., Turns]] = {ops.If: _if, ops.Loop: _loop, ops.For: _for}
_INSIDE: dict[type[Operation], type[Operation]] = {
    ops.If: ops.Yield,
    ops.Loop: ops.Break,
    ops.For: ops.Continue,
}
"""How a block leaves the regions of an operation to go on after it."""
