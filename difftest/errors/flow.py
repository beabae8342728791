"""Walking a kernel forwards: for each buffer, how far the device's answer may be from the model's.

The walk is an abstract run over all blocks and lanes at once. It starts from the buffers' real contents, so
that magnitudes are those of this case, and meets a loop's body as often as it may run. What it cannot
follow (an address or a branch that depends on an uncertain value) it gives up: the error has no bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tileir.module import Function, Operation, Region

from .arithmetic import Arithmetic
from .control import Control
from .memory import Memory
from .reading import element, same_error
from .rules import Unit, unit_of
from .tables import FLOAT_RULES, INTEGER_RULES, MOVES
from .uncertain import INF, Uncertain, interval, join, lost, origins_of
from .unmeasured import Claims

PASSES = 4
"""Times the kernel is walked so that what it writes reaches what it reads; growing errors are lost."""


def analyse(
    entry: Function, arguments: Sequence[Any], grid: Sequence[int], model: Claims
) -> dict[int, Uncertain]:
    """What each buffer holds after the kernel, by its position among the parameters.

    Args:
        entry: the kernel.
        arguments: arrays and numbers, as for a launch; nothing is written.
        grid: blocks along x, y and z.
        model: says which operations' bits are claimed, and documents the errors of the others: a model of the
            target, or ``Unmeasured``.
    """
    return _Flow(entry, arguments, grid, model).run()


class _Flow(Memory, Arithmetic, Control):
    def run(self) -> dict[int, Uncertain]:
        for attempt in range(PASSES):
            before = dict(self.memory)
            self.region(self.entry.body)
            if all(same_error(before[i], v) for i, v in self.memory.items()):
                break
            if attempt == PASSES - 1:
                for i, v in self.memory.items():
                    if not same_error(before[i], v):
                        self.memory[i] = lost(v.origins)
        return self.memory

    def region(self, region: Region) -> None:
        for operation in region.operations:
            self.operation(operation)

    def operation(self, operation: Operation) -> None:
        special = getattr(self, f"do_{operation.mnemonic}", None)
        if special is not None:
            special(operation)
            return
        operands = [self.of(v) for v in operation.uses]
        # Views and pointers go on knowing their buffer.
        for used in operation.uses:
            if used in self.buffer_of:
                for made in operation.results:
                    self.buffer_of[made] = self.buffer_of[used]
                break
        name = operation.mnemonic
        unit = unit_of(element(operation.results[0])) if operation.results else Unit(0.0, 0.0)
        result: Uncertain
        if name in MOVES:
            result = join(operands) if operands else interval(-INF, INF)
        elif name in FLOAT_RULES:
            result = FLOAT_RULES[name](operands, unit)
        elif name in INTEGER_RULES:
            lo, hi = INTEGER_RULES[name](operands)
            origins = origins_of(operands)
            result = lost(origins, lo, hi) if origins else interval(lo, hi)
        else:
            origins = origins_of(operands)
            result = lost(origins) if origins else interval(-INF, INF)
        self.set(operation, *[self.explained(operation, result, operands, unit)] * len(operation.results))
