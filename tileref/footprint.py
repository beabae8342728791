"""How many bytes a kernel's blocks take while they run together, from the kernel alone.

Three things add up: what is evaluated once a launch; the tiles that are there at the same time, for each
block; and what the operation that is being evaluated takes besides (``tileref.working``). A tile is there
from the operation that makes it to the last one that uses it. Where control flow parts, the blocks that go on
have copies of what they use.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tileir.module import Function, Operation, Region, Value
from tileir.ops import control, core, reduction
from tileir.types import TileType

from .formats import dtype_of
from .numerics.lanes import BLOCK
from .regions import Step
from .working import lanes_of, operand_bytes, working_of

MARK_BYTES = 2
"""Of a lane, to mark that it has no value, and which operation took it."""
BLOCK_BYTES = 512
"""Of a block besides its tiles: its number and coordinates, tokens, its place in selections and loops."""
LAUNCH_BYTES = 1 << 16
"""Of Python's objects for a launch, however small it is,"""
OPERATION_BYTES = 1 << 10
"""and for each of the kernel's operations."""
PAUSE_BYTES = 1 << 13
"""Of Python's objects for a block that waits."""
LANE_BYTES = 8
"""Of a lane in a fold's body: which block it belongs to."""
LEAVES = (control.Break, control.Continue, control.Return)
LOOPS = (control.For, control.Loop)
FOLDS = (reduction.Reduce, reduction.Scan)


@dataclass(frozen=True, slots=True)
class Moment:
    """What blocks take while one operation runs, in bytes.

    Attributes:
        block: of the tiles that are there and of what is taken for all lanes, a block.
        part: of what is taken for the lanes that are in hand, a block;
        most: and of all blocks together, however many there are.
    """

    block: int
    part: int = 0
    most: int = 0

    def of(self, blocks: int) -> int:
        """Bytes of so many blocks."""
        return blocks * self.block + min(blocks * self.part, self.most)

    def fitting(self, size: int) -> int:
        """The most blocks that take no more than ``size``: 0 if one takes more."""
        return max(size // (self.block + self.part), (size - self.most) // self.block, 0)


@dataclass(frozen=True, slots=True)
class Footprint:
    """Upper bounds of what running a kernel takes, in bytes.

    Attributes:
        fixed: whatever the number of blocks.
        paused: of a block that waits in a loop: its tiles, and where it is.
        moments: while each of its operations runs, as far as another does not take more.
        largest: of the largest tile, a block.
    """

    fixed: int
    paused: int
    moments: tuple[Moment, ...]
    largest: int

    def of(self, blocks: int) -> int:
        """Bytes of blocks that run together, besides the fixed ones."""
        return max(moment.of(blocks) for moment in self.moments)

    def fitting(self, size: int) -> int:
        """The most blocks of which ``of`` is within ``size``: 0 if one takes more."""
        return min(moment.fitting(size) for moment in self.moments)


def footprint_of(
    function: Function,
    operations: Sequence[Operation],
    steps: Mapping[int, Sequence[Step]],
    uniform: Iterable[Operation],
) -> Footprint:
    """The footprint of a kernel.

    Args:
        function: the kernel.
        operations: all of its operations, depth first.
        steps: the steps of each region, by the region's ``id``.
        uniform: the operations that are evaluated once a launch.
    """
    once = {value for operation in uniform for value in operation.results}
    results = [value for operation in operations for value in operation.results]
    largest = max(map(_bytes, results), default=0)
    # What the last operation answered is there until the next one has answered, even if nobody uses it.
    beside = largest + BLOCK_BYTES
    paused = max(moment.block for moment in Walk(steps, once, working=False).of(function.body))
    return Footprint(
        LAUNCH_BYTES + OPERATION_BYTES * len(operations) + sum(map(_bytes, once)),
        paused + beside + PAUSE_BYTES,
        tuple(Walk(steps, once, working=True).of(function.body, beside)),
        max(largest, 1),
    )


def _bytes(value: Value) -> int:
    """Bytes of a value in a block, if it has them to itself."""
    type_ = value.type
    return type_.size * (dtype_of(type_).itemsize + MARK_BYTES) if isinstance(type_, TileType) else 0


@dataclass(frozen=True, slots=True)
class Walk:
    """Goes through regions in the order they run, with what evaluating takes or without."""

    steps: Mapping[int, Sequence[Step]]
    once: Collection[Value]
    working: bool

    def of(self, region: Region, beside: int = 0) -> list[Moment]:
        """The moments of a region that take the most, the region's arguments and ``beside`` included."""
        most: dict[tuple[int, int], int] = {}
        live = beside + sum(map(_bytes, region.arguments))
        left = 0
        for step in self.steps[id(region)]:
            operation = step.operation
            made = sum(map(self._held, operation.results))
            for moment in self.during(operation):
                key = moment.part, moment.most
                most[key] = max(most.get(key, 0), left + live + made + moment.block)
            if _leaves(operation, LEAVES):
                # The blocks that go on have copies of what they use, and what there was stays to the end.
                left += live
            live += made - sum(map(self._held, step.dead))
        return [Moment(block, *key) for key, block in most.items()]

    def _held(self, value: Value) -> int:
        """Bytes of a value; one that is another's, looked at differently, counts as that."""
        if value in self.once:
            return 0
        operation = value.owner
        if isinstance(operation, core.Broadcast):
            return min(_bytes(operation.source), _bytes(value))
        return _bytes(value)

    def _outside(self, region: Region) -> int:
        """Bytes of the values from outside that a region uses, cut down to the blocks that run it."""
        used: set[Value] = set()
        made = set(region.arguments)
        for operation in region.walk():
            used.update(operation.uses)
            made.update(operation.results)
            made.update(argument for inner in operation.regions for argument in inner.arguments)
        return sum(_bytes(value) for value in used - made if value not in self.once)

    def during(self, operation: Operation) -> list[Moment]:
        """What is there only while an operation runs."""
        results = sum(map(_bytes, operation.results))
        if isinstance(operation, control.If):
            return [
                moment
                for region in operation.regions
                for moment in self.of(region, self._outside(region) + results)
            ]
        if isinstance(operation, LOOPS):
            # What blocks left the loop with so far, and what the others go on with.
            carried = sum(map(_bytes, operation.body.arguments))
            return self.of(operation.body, self._outside(operation.body) + carried + 2 * results)
        if not self.working:
            return [Moment(0)]
        lanes, copies = lanes_of(operation), operand_bytes(operation)
        if isinstance(operation, FOLDS):
            # The body runs on all lanes as if each were a block.
            inner = self.of(operation.body, self._outside(operation.body) + LANE_BYTES)
            extra = copies + 2 * results
            return [Moment(lanes * m.block + extra, lanes * m.part, m.most) for m in inner]
        working = working_of(operation)
        return [Moment(lanes * working.whole + copies, lanes * working.part, BLOCK * working.part)]


def _leaves(operation: Operation, kinds: tuple[type[Operation], ...]) -> bool:
    """Whether ``operation`` may take some blocks out of the region that it is in, and leave others there."""
    if isinstance(operation, LOOPS):
        kinds = (control.Return,)
    elif not isinstance(operation, control.If):
        return False
    return any(
        isinstance(inner, kinds) or _leaves(inner, kinds)
        for region in operation.regions
        for inner in region.operations
    )
