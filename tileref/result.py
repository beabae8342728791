"""What a launch answers beside the arrays it wrote."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .inspection.profiling import Cost
from .targets.model import Explanation
from .undefined import Undefined


@dataclass(frozen=True, slots=True)
class Assertion:
    """An element of an assertion's condition that was 0."""

    message: str
    block: tuple[int, int, int]
    lane: tuple[int, ...]
    location: str | None = None

    def __str__(self) -> str:
        where = "" if self.location is None else f" at {self.location}"
        return f"assertion failed{where}, block {self.block}, lane {self.lane}: {self.message}"


@dataclass(frozen=True, slots=True)
class Printed:
    """Something that a block printed, and the source line of the print."""

    text: str
    block: tuple[int, int, int]
    location: str | None = None


@dataclass(frozen=True, slots=True)
class Lint:
    """Something that is defined, and hardly meant; see ``lint`` of ``launch``.

    Attributes:
        kind: the lint's name, such as ``lost-addend``.
        operation, location: where, as in ``Undefined``.
        message: one sentence for people, about the first time.
        count: how often it happened, over all blocks, lanes and times.
        of: how often it could have.
        block: coordinates of the first block.
        lane: the first lane there: in the operation's tile, or among what a reduction folds in parallel.
        step: when: of each loop and fold around the operation, the outermost first, how often it went round
            before; for a matrix product then the position along K.
    """

    kind: str
    operation: str
    message: str
    location: str | None
    count: int
    of: int
    block: tuple[int, int, int]
    lane: tuple[int, ...]
    step: tuple[int, ...]

    def __str__(self) -> str:
        where = self.operation if self.location is None else f"{self.operation}, at {self.location}"
        first = f"block {self.block}, lane {self.lane}, step {self.step}"
        return f"{where}, {first}: {self.message} [{self.kind}, {self.count} of {self.of}]"


@dataclass(slots=True)
class LaunchResult:
    """The outcome of a launch.

    Attributes:
        model: name of the model that decided what the dialect leaves open.
        entry, grid: what was launched.
        undefined: what happened that has no defined answer, one entry a kind and operation.
        undefined_elements: for each argument (by position) that holds elements without a defined value, a
            mask of the argument's shape. Nobody may compare those. The arrays of tables are counted on after
            the last argument.
        unchecked: what ``undefined`` would not show because it was not looked for, a sentence each.
        prints: what the kernel printed, block by block.
        printed: the same, each with its block and source line.
        assertions: the assertions that failed.
        unexplained: operations of the kernel whose bits the model does not claim.
        profile: what each operation cost, the dearest first, if that was asked for.
        lints: what the lints that were asked for found, one entry an operation.
        blocks: the numbers of the blocks that ran, ascending; None if all of the grid did.
        seconds: how long it took.
    """

    model: str
    entry: str
    grid: tuple[int, int, int]
    undefined: list[Undefined] = field(default_factory=list)
    undefined_elements: dict[int, NDArray[np.bool_]] = field(default_factory=dict)
    unchecked: list[str] = field(default_factory=list)
    prints: list[str] = field(default_factory=list)
    printed: list[Printed] = field(default_factory=list)
    assertions: list[Assertion] = field(default_factory=list)
    unexplained: list[Explanation] = field(default_factory=list)
    profile: list[Cost] = field(default_factory=list)
    lints: list[Lint] = field(default_factory=list)
    blocks: NDArray[np.intp] | None = None
    seconds: float = 0.0
