"""What is worked out about a kernel once, before its first launch."""

from __future__ import annotations

from dataclasses import dataclass, field

from tileir.module import Function, Operation

from .footprint import Footprint, footprint_of
from .hoisting import uniform
from .ordering.unwatched import unwatched
from .regions import Step, prepare
from .schedule import shows_order
from .targets.model import Explanation, Model
from .waiting import Root, Waits, find_waits


@dataclass(eq=False)
class Prepared:
    """A kernel, ready to run.

    Attributes:
        function: the entry.
        operations: all of its operations, depth first.
        steps: the steps of each region, by the region's ``id``.
        uniform: the steps that no block decides.
        waits: the loops that could wait.
        footprint: how much memory blocks take.
        ordered: whether the order in which blocks run can show in what the kernel answers.
        unwatched: the loads that no access through another argument can be in conflict with, by their ``id``,
            and what their pointers come from.
    """

    function: Function
    operations: list[Operation]
    steps: dict[int, list[Step]]
    uniform: list[Step]
    waits: Waits
    footprint: Footprint
    ordered: bool
    unwatched: dict[int, frozenset[Root]]
    _without: dict[frozenset[int], dict[int, list[Step]]] = field(default_factory=dict)
    _unexplained: dict[str, list[Explanation]] = field(default_factory=dict)

    def without(self, operations: frozenset[int]) -> dict[int, list[Step]]:
        """The steps of each region but those of some operations, given by their ``id``."""
        found = self._without.get(operations)
        if found is None:
            found = {
                region: [step for step in steps if id(step.operation) not in operations]
                for region, steps in self.steps.items()
            }
            self._without[operations] = found
        return found

    def unexplained(self, model: Model, name: str | None) -> list[Explanation]:
        """The operations whose bits ``model`` does not claim; kept if the model goes by a ``name``."""
        if name is None:
            return model.unexplained(self.operations)
        if name not in self._unexplained:
            self._unexplained[name] = model.unexplained(self.operations)
        return list(self._unexplained[name])


def prepare_function(function: Function) -> Prepared:
    """Prepare a kernel; raises ``UnsupportedError`` for an operation that cannot be run."""
    operations = list(function.body.walk())
    regions = [function.body, *(region for operation in operations for region in operation.regions)]
    steps = {id(region): prepare(region) for region in regions}
    by_operation = {id(step.operation): step for each in steps.values() for step in each}
    waits = find_waits(function)
    once = uniform(function)
    return Prepared(
        function,
        operations,
        steps,
        [by_operation[id(operation)] for operation in once],
        waits,
        footprint_of(function, operations, steps, once),
        shows_order(operations),
        unwatched(function, operations, waits.written),
    )
