"""What a walk through a kernel knows on its way: the values, the buffers, and what to doubt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tileir.module import Function, Operation, Region, Value
from tileref import Explanation

from .reading import contents, documented
from .rules import Unit
from .uncertain import INF, Uncertain, interval, lost, origins_of
from .unmeasured import Claims


@dataclass
class Loop:
    """What leaves a loop's body: values for the next iteration, and values for the results."""

    carried: list[list[Uncertain]] = field(default_factory=list)
    results: list[list[Uncertain]] = field(default_factory=list)


class State:
    """The walk's state, and how an operation's own error is added."""

    def __init__(self, entry: Function, arguments: Sequence[Any], grid: Sequence[int], model: Claims) -> None:
        self.entry = entry
        self.model = model
        self.grid = (*grid, 1, 1)[:3]
        self.values: dict[Value, Uncertain] = {}
        self.buffer_of: dict[Value, int] = {}
        self.memory: dict[int, Uncertain] = {}
        self.doubt: frozenset[Explanation] = frozenset()
        self.loops: list[Loop] = []
        self.yielded: list[Uncertain] = []
        for position, (parameter, argument) in enumerate(zip(entry.parameters, arguments, strict=True)):
            if isinstance(argument, np.ndarray):
                self.buffer_of[parameter] = position
                self.memory[position] = contents(argument)
                self.values[parameter] = interval(0.0, INF)
            else:
                number = float(argument)
                self.values[parameter] = interval(number, number)

    def region(self, region: Region) -> None:
        """Walk a region."""
        raise NotImplementedError

    def of(self, value: Value) -> Uncertain:
        """What is known of a value."""
        return self.values.get(value, interval(-INF, INF))

    def set(self, operation: Operation, *results: Uncertain) -> None:
        """Note what an operation answers."""
        for value, result in zip(operation.results, results, strict=False):
            self.values[value] = result

    def address(self, values: Sequence[Value]) -> frozenset[Explanation]:
        """What makes where an access goes uncertain."""
        return origins_of([self.of(v) for v in values])

    def explained(
        self, operation: Operation, result: Uncertain, operands: Sequence[Uncertain], unit: Unit
    ) -> Uncertain:
        """``result`` with the operation's own error added, where the model does not claim its bits."""
        explanation = self.model.explanation(operation)
        if explanation.exact:
            return result
        origins = result.origins | {explanation}
        if explanation.ulps is None or not documented(operation, operands):
            return lost(origins, result.lo, result.hi)
        own = explanation.ulps * unit.relative
        return Uncertain(
            result.lo,
            result.hi,
            result.rel + own + result.rel * own if result.rel < INF else INF,
            result.abs * (1 + own) + explanation.ulps * unit.tiny if result.abs < INF else INF,
            origins,
            explanation.ulps if all(o.exact for o in operands) else None,
        )
