"""What is reported of two accesses that nothing orders: where both were, and which lanes made them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tileir.module import Operation

from ..formats import Array
from ..kinds import Kind
from ..memory import Buffer
from ..undefined import Other, Undefined, describe, named
from .access import role_of
from .notes import Elements, Spot, Trail
from .races import Race

if TYPE_CHECKING:
    from ..frame import Frame
    from ..run import Run

Coordinate = tuple[int, int, int]


def report_unordered(frame: Frame, note: Elements, bad: Array, number: int, trail: Trail) -> None:
    """Report lanes that do not wait for access ``number`` of their block."""
    if not bad.any():
        return
    access, operation = note.access, note.access.history.operations[number]
    lanes, first = _spread(note, bad)
    row = int(np.argmax(lanes.reshape(note.rows, -1).any(axis=1)))
    linear = int(frame.linear_blocks()[min(row, frame.count - 1)])
    low, high = _bytes(note, first)
    spot = trail.of_access(access, number, note.buffer.place, linear, low, high)
    other = _other(operation, frame.run.coordinate(linear), spot)
    _report(
        frame,
        note,
        Kind.UNORDERED_ACCESS,
        lanes,
        first,
        other,
        f"was accessed by {_by(operation, spot, note.buffer)} before, and no token makes this access wait "
        "for that one",
    )


def report_across(frame: Frame, note: Elements, across: Array) -> None:
    """Report lanes of blocks that store different values at the same time: nothing can order those."""
    lanes, first = _spread(note, across)
    target, access = note.target, note.access
    meeting = np.flatnonzero(across & (target.elements == target.elements[first]))
    places = meeting if target.lanes is None else target.lanes[meeting]
    last = int(np.argmax(places // note.lanes))
    block = frame.run.coordinate(int(access.blocks[places[last] // note.lanes]))
    spot = note.spot_at(int(meeting[last]))
    _report(
        frame,
        note,
        Kind.RACE,
        lanes,
        first,
        _other(access.operation, block, spot),
        f"is stored by lane {spot.lane} of block {block} as well, and nothing orders the two",
    )
    gone = target.elements[across]
    target.buffer.mark(gone, access.itemsize, np.ones(gone.shape, np.bool_))


def report_conflict(frame: Frame, note: Elements, bad: Array, earlier: Elements, block: int) -> None:
    """Report lanes that an access of another block does not happen before."""
    lanes, first = _spread(note, bad)
    spot = earlier.spot(block, *_bytes(note, first))
    where = frame.run.coordinate(block)
    operation = earlier.access.operation
    _report(
        frame,
        note,
        Kind.RACE,
        lanes,
        first,
        _other(operation, where, spot),
        f"was accessed by {_by(operation, spot, note.buffer)} in block {where}, which does not happen "
        "before this access",
    )


def report_race(
    run: Run,
    buffer: Buffer,
    race: Race,
    operations: Sequence[Operation],
    itemsizes: Mapping[int, int],
    trail: Trail,
) -> None:
    """Report a race that was seen when all blocks had run, and take the bytes' values away."""
    operation, other = operations[race.key], operations[race.other_key]
    if role_of(other).writes:
        buffer.mark_at((race.places[:, None] + np.arange(race.cell)).reshape(-1))
    block, other_block = run.coordinate(race.block), run.coordinate(race.other_block)
    low = int(race.places[0])
    there = (buffer.place, race.block, low, low + race.cell)
    spot = trail.of_operation(race.key, *there)
    other_spot = trail.of_operation(race.other_key, buffer.place, race.other_block, *there[2:])
    itemsize = itemsizes[race.key]
    named_ = buffer if spot is None else spot.buffer
    elements = (race.places - named_.start) // itemsize
    index = int(elements[0])
    run.add_event(
        (Kind.RACE, id(operation), id(other), buffer.place),
        Undefined(
            Kind.RACE,
            message=f"element {index} (byte {index * itemsize}) of {named_.name} is {race.how} "
            f"{_by(other, other_spot, named_)} in block {other_block}, and nothing orders the two",
            count=len(np.unique(elements)),
            block=block,
            lane=None if spot is None else spot.lane,
            buffer=named_.argument,
            index=index,
            other=_other(other, other_block, other_spot),
            **describe(operation),
        ),
    )


def _report(
    frame: Frame, note: Elements, kind: Kind, lanes: Array, first: int, other: Other, what: str
) -> None:
    buffer, index = note.buffer, int(note.target.elements[first])
    frame.run.report(
        frame,
        note.access.operation,
        kind,
        f"element {index} (byte {index * note.access.itemsize}) of {buffer.name} {what}",
        lanes,
        buffer=buffer.argument,
        index=lambda _lane: index,
        other=other,
    )


def _other(operation: Operation, block: Coordinate, spot: Spot | None) -> Other:
    """The other access, as far as it is known."""
    if spot is None:
        return Other(**describe(operation), block=block)
    return Other(
        **describe(operation), block=block, lane=spot.lane, buffer=spot.buffer.argument, index=spot.index
    )


def _by(operation: Operation, spot: Spot | None, buffer: Buffer) -> str:
    """An operation and its lane; and the element's other name, if it has one there."""
    if spot is None:
        return named(operation)
    lane = f"{named(operation)}, lane {spot.lane},"
    if spot.buffer is buffer:
        return lane
    return f"{lane} as element {spot.index} of {spot.buffer.name}, which shares its memory,"


def _bytes(note: Elements, lane: int) -> tuple[int, int]:
    """The bytes of memory that a lane of the target goes to."""
    low = int(note.target.elements.reshape(-1)[lane]) * note.access.itemsize + note.buffer.start
    return low, low + note.access.itemsize


def _spread(note: Elements, bad: Array) -> tuple[Array, int]:
    """Lanes of a target as lanes of the operation, and the first of them in the target."""
    first = int(np.argmax(bad))
    lanes = note.target.lanes
    if lanes is None:
        return bad.reshape(note.shape), first
    found = np.zeros(note.shape, np.bool_)
    found.reshape(-1)[lanes[bad]] = True
    return found, first
