"""Running a region: operation after operation, in the blocks that are still there.

A block leaves a region through its terminator. Where an ``if`` sends some of the blocks out of a loop or the
kernel, the rest of the region runs in those that stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tileir.errors import TileError, UnsupportedError
from tileir.module import Operation, Region, Value
from tileir.ops import control, memory
from tileir.types import F4E2M1FN, PointerType, TileType

from .frame import Frame, compose
from .undefined import describe
from .values import RuntimeValue, Selection

TERMINATORS = (control.Yield, control.Continue, control.Break, control.Return)
BY_POINTER = (memory.LoadPtrTko, memory.StorePtrTko, memory.Offset)
"""Operations that take a pointer for the place of one element."""


@dataclass(slots=True)
class Exit:
    """Blocks that left a region through the terminator ``kind``, and what they took along.

    ``selection`` numbers them among the blocks of the frame that the region was run in; None is all.
    """

    kind: type[Operation]
    selection: Selection | None
    values: tuple[RuntimeValue, ...]


@dataclass(slots=True)
class Branched:
    """What an operation with regions answers: results in the blocks that go on, exits for the rest.

    ``staying`` numbers the blocks that go on; None is all, and an empty selection none.
    """

    results: tuple[RuntimeValue, ...]
    staying: Selection | None
    exits: list[Exit]


@dataclass(frozen=True, slots=True)
class Step:
    """An operation, ready to run: its evaluator, and the values that nobody needs after it.

    A terminator has no evaluator. A step that ``looks`` only looks on, before a region's first step, after
    another, or before the last; it answers None. See ``tileref.inspection``.
    """

    operation: Operation
    evaluate: Any
    operands: tuple[Any, ...] = ()
    dead: tuple[Value, ...] = ()
    looks: bool = False

    def arguments(self, frame: Frame) -> list[Any]:
        """What the evaluator is called with: the operands by declared part."""
        return [_operand(frame, value) for value in self.operands]

    def keep(self, frame: Frame, results: RuntimeValue | tuple[RuntimeValue, ...] | None) -> None:
        """Let the frame know the results, and forget what nobody needs any more."""
        if isinstance(results, tuple):
            for value, result in zip(self.operation.results, results, strict=True):
                frame.values[value] = result
        elif results is not None:
            frame.values[self.operation.results[0]] = results
        for value in self.dead:
            frame.values.pop(value, None)


def _step(operation: Operation, dead: tuple[Value, ...]) -> Step:
    from .evaluators import EVALUATORS

    evaluate = EVALUATORS.get(type(operation))
    if evaluate is None and not isinstance(operation, TERMINATORS):
        raise UnsupportedError(
            "the interpreter has no evaluator for this operation yet",
            rule="operation-unsupported",
            **describe(operation),
        )
    if isinstance(operation, BY_POINTER) and any(map(_is_to_halves, operation.uses)):
        raise UnsupportedError(
            "a pointer to f4E2M1FN leads to a byte, which two elements share: views are the way to them",
            rule="half-byte",
            **describe(operation),
        )
    operands = tuple(operation.__dict__[p.name] for p in operation.declaration.operands)
    return Step(operation, evaluate, operands, dead)


def _is_to_halves(value: Value) -> bool:
    """Whether ``value`` points to elements of half a byte."""
    element = value.type.element if isinstance(value.type, TileType) else None
    return isinstance(element, PointerType) and element.pointee is F4E2M1FN


def prepare(region: Region) -> list[Step]:
    """The steps of a region, worked out once."""
    last: dict[Value, int] = {}
    defined: set[Value] = set()
    for i, operation in enumerate(region.operations):
        defined.update(operation.results)
        for value in operation.results:
            last[value] = i
        for value in _used(operation):
            if value in defined:
                last[value] = i
    dead: list[list[Value]] = [[] for _ in region.operations]
    for value, i in last.items():
        dead[i].append(value)
    return [_step(op, tuple(dead[i])) for i, op in enumerate(region.operations)]


def _used(operation: Operation) -> set[Value]:
    found = set(operation.uses)
    for region in operation.regions:
        for inner in region.walk():
            found.update(inner.uses)
    return found


def steps_of(frame: Frame, region: Region) -> list[Step]:
    """The steps of ``region``, kept by the run."""
    cache = frame.run.steps
    found = cache.get(id(region))
    if found is None:
        found = prepare(region)
        cache[id(region)] = found
    return found


def run_region(frame: Frame, region: Region) -> list[Exit]:
    """Run ``region`` in all blocks of ``frame``; every block is in exactly one of the exits."""
    exits: list[Exit] = []
    current = frame
    selection: Selection | None = None  # the blocks of `current` among those of `frame`
    step = None
    try:
        for step in steps_of(frame, region):
            operation = step.operation
            if step.evaluate is None:
                values = tuple(current.get(v) for v in operation.uses)
                exits.append(Exit(type(operation), selection, values))
                return exits
            answer = step.evaluate(current, operation, *step.arguments(current))
            if isinstance(answer, Branched):
                for e in answer.exits:
                    exits.append(Exit(e.kind, compose(selection, e.selection), e.values))
                if answer.staying is not None:
                    if len(answer.staying) == 0:
                        return exits
                    selection = compose(selection, answer.staying)
                    current = current.child(answer.staying)
                answer = answer.results
            step.keep(current, answer)
    except TileError as error:
        if step is not None:
            name_operation(error, step.operation)
        raise
    return exits


def name_operation(error: TileError, operation: Operation) -> None:
    """Say in an error which operation it came from, where nobody knew."""
    if error.operation is None:
        place = describe(operation)
        error.operation, error.location = place["operation"], place["location"]


def _operand(frame: Frame, value: Any) -> Any:
    if value is None:
        return None
    if type(value) is tuple:
        return tuple(frame.get(v) for v in value)
    return frame.get(value)
