"""What no block decides: evaluated once a launch, not once for each group of blocks that run together.

A constant, a claim about a parameter, a view of an array are the same in every block. An operation that would
report something is left where it is, so that reports come in the order of the program.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from tileir.errors import TileError
from tileir.module import Function, Operation, Value
from tileir.ops import bitwise, conversion, core, debugging, floating, integer, memory, view

from .frame import Frame
from .regions import Branched, Step
from .run import Run
from .values import RuntimeValue

PURE_MODULES = frozenset(m.__name__ for m in (bitwise, conversion, core, floating, integer))
PURE = (
    debugging.Assume,
    memory.GetGlobal,
    memory.Offset,
    view.GetIndexSpaceShape,
    view.GetTensorShape,
    view.MakeGatherScatterView,
    view.MakePartitionView,
    view.MakeStridedView,
    view.MakeTensorView,
)


def uniform(function: Function) -> list[Operation]:
    """Operations that follow from the parameters alone, in their order, those inside regions too."""
    known: set[Value] = set(function.parameters)
    found = []
    for operation in function.body.walk():
        if _is_pure(operation) and all(value in known for value in operation.uses):
            found.append(operation)
            known.update(operation.results)
    return found


def _is_pure(operation: Operation) -> bool:
    if operation.regions or isinstance(operation, core.GetTileBlockId):
        return False
    return isinstance(operation, PURE) or type(operation).__module__ in PURE_MODULES


def evaluate(
    run: Run, steps: Iterable[Step], parameters: dict[Value, RuntimeValue], blocks: int
) -> tuple[dict[Value, RuntimeValue], frozenset[int]]:
    """Evaluate the steps of uniform operations.

    Returns:
        The values of parameters and of the operations, and the ``id`` of each operation that was evaluated.
    """
    # A trial: whatever would be reported raises, and is then left to the blocks.
    trial = replace(run, check="off" if run.check == "off" else "strict", _events={})
    frame = Frame(trial, blocks, blocks=np.zeros(1, np.intp))
    frame.values.update(parameters)
    done = set()
    for step in steps:
        operation = step.operation
        if not all(value in frame.values for value in operation.uses):
            continue
        try:
            answer = step.evaluate(frame, operation, *step.arguments(frame))
        except TileError:
            continue
        assert not isinstance(answer, Branched)
        frame.values.update(
            zip(operation.results, answer if isinstance(answer, tuple) else (answer,), strict=True)
        )
        done.add(id(operation))
    return frame.values, frozenset(done)
