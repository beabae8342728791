"""What the dialect gives no answer for: the events, and the marks that lanes carry because of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileir.module import Operation

Lanes = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Other:
    """The other of two accesses that are in conflict: what it was, and where.

    Attributes:
        operation, location, block: as in ``Undefined``.
        lane, buffer, index: likewise; None where the access is no longer known lane by lane.
    """

    operation: str
    location: str | None = None
    block: tuple[int, int, int] | None = None
    lane: tuple[int, ...] | None = None
    buffer: int | None = None
    index: int | None = None

    def __str__(self) -> str:
        where = "" if self.location is None else f" at {self.location}"
        lane = "" if self.lane is None else f", lane {self.lane}"
        return f"{self.operation}{where}, block {self.block}{lane}"


@dataclass(frozen=True, slots=True)
class Undefined:
    """Something a launch did that has no defined answer.

    Attributes:
        kind: stable name of the rule, such as ``out-of-range-load``; ``tileref.kinds`` has them all.
        operation: the dialect's name of the operation.
        message: one sentence for people.
        location: source location as ``file:line:column``, if the module has one.
        count: lanes (over all blocks) that this happened on.
        block: coordinates of the first block it happened in.
        lane: position in that block's tile of the first such lane.
        buffer: position of the argument concerned, for accesses to memory.
        index: element index into that buffer of the first such lane.
        other: for two accesses in conflict, the other one; where the two were compared when all blocks had
            run, ``count`` is of elements, and there is no ``lane`` if there were too many accesses to keep.
        values: what a memory element can hold of which several lanes stored different values.
    """

    kind: str
    operation: str
    message: str
    location: str | None = None
    count: int = 1
    block: tuple[int, int, int] | None = None
    lane: tuple[int, ...] | None = None
    buffer: int | None = None
    index: int | None = None
    other: Other | None = None
    values: tuple[Any, ...] = ()

    def __str__(self) -> str:
        where = [self.operation]
        if self.location is not None:
            where.append(f"at {self.location}")
        if self.block is not None:
            where.append(f"block {self.block}")
        if self.lane is not None:
            where.append(f"lane {self.lane}")
        return f"{', '.join(where)}: {self.message} [{self.kind}, {self.count} lanes]"


@dataclass(frozen=True, slots=True)
class Marks:
    """Which lanes of a tile have no value, and which operation took it from which of them.

    Attributes:
        lanes: the marked lanes; broadcasts against the tile's data.
        parts: each operation with the lanes that it is to blame for, in arrays of the shape of ``lanes``, of
            which that is the union. Several may be to blame for one lane.
    """

    lanes: Lanes
    parts: tuple[tuple[Operation, Lanes], ...]

    @property
    def origins(self) -> tuple[Operation, ...]:
        """The operations that took a lane's value away."""
        return tuple(origin for origin, lanes in self.parts if lanes.any())

    def map(self, function: Callable[[Lanes], Lanes]) -> Marks:
        """The marks of a rearranged tile."""
        lanes = function(self.lanes)
        if len(self.parts) == 1:
            return Marks(lanes, ((self.parts[0][0], lanes),))
        return Marks(lanes, tuple((origin, function(part)) for origin, part in self.parts))


def marks(lanes: Lanes | None, origin: Operation) -> Marks | None:
    """Marks on ``lanes``, or None where no lane is marked."""
    if lanes is None or not lanes.any():
        return None
    return Marks(lanes, ((origin, lanes),))


def join(parts: Sequence[Marks | None]) -> Marks | None:
    """Lanes that any of ``parts`` marks; what an operation on several operands answers."""
    there = [m for m in parts if m is not None]
    if len(there) < 2:
        return there[0] if there else None
    blamed: dict[Operation, Lanes] = {}
    for m in there:
        for origin, lanes in m.parts:
            blamed[origin] = blamed[origin] | lanes if origin in blamed else lanes
    lanes = there[0].lanes
    for m in there[1:]:
        lanes = lanes | m.lanes
    return Marks(
        lanes, tuple((origin, np.broadcast_to(part, lanes.shape)) for origin, part in blamed.items())
    )


def assembled(shape: tuple[int, ...], pieces: Sequence[tuple[Any, Marks | None]]) -> Marks | None:
    """Marks of a tile put together from pieces, each at the index beside it; later ones cover others."""
    origins = dict.fromkeys(origin for _, m in pieces if m is not None for origin, _ in m.parts)
    if not origins:
        return None
    lanes = np.zeros(shape, np.bool_)
    blamed = {origin: np.zeros(shape, np.bool_) for origin in origins}
    for where, m in pieces:
        here = {} if m is None else dict(m.parts)
        lanes[where] = False if m is None else m.lanes
        for origin, part in blamed.items():
            part[where] = here.get(origin, False)
    return Marks(lanes, tuple(blamed.items()))


def first_lane(lanes: Lanes) -> tuple[int, ...]:
    """Index of the first marked lane."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(lanes)), lanes.shape))


def named(operation: Operation) -> str:
    """The name and location of an operation, as sentences give them."""
    where = "" if operation.location is None else f" at {operation.location}"
    return f"{operation.mnemonic}{where}"


def describe(operation: Operation) -> dict[str, Any]:
    """The name and location of an operation, as ``Undefined`` wants them."""
    location = None if operation.location is None else str(operation.location)
    return {"operation": operation.mnemonic, "location": location}
