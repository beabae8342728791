"""What an observer is told: an operation that has run, in these blocks, on these tiles, with this answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tileir.module import Operation, Value
from tileir.types import TileType, Type

from ..formats import Array
from ..frame import BodyFrame, Frame
from ..undefined import describe
from ..values import RuntimeValue, Selection, Tile
from .sites import Site, Stage


class Seen:
    """A value, in the blocks of an event.

    Attributes:
        name: what ``tileir dis`` calls it, such as ``%17``.
        type: its type.
        data: its elements, (blocks, *shape), in the array type of their format (``ml_dtypes`` for bfloat16
            and narrower floats; pointers are int64 addresses), read-only. None if the value is no tile.
        undefined: which of them have no value, of the same shape; None if all have one.
    """

    def __init__(self, name: str, value: Value, runtime: RuntimeValue, blocks: int) -> None:
        self.name = name
        self.value = value
        self.runtime = runtime
        self._blocks = blocks

    @property
    def type(self) -> Type:
        """The value's type."""
        return self.value.type

    @cached_property
    def data(self) -> Array | None:
        """The elements."""
        tile = self.runtime
        return read_only(tile.full(self._blocks)) if isinstance(tile, Tile) else None

    @cached_property
    def undefined(self) -> NDArray[np.bool_] | None:
        """The elements that have no value."""
        tile = self.runtime
        if not isinstance(tile, Tile) or tile.undefined is None or not tile.undefined.lanes.any():
            return None
        return read_only(np.broadcast_to(tile.undefined.lanes, (self._blocks, *tile.type.shape)))

    def __repr__(self) -> str:
        return f"<Seen {self.name}: {self.type}>"


def read_only(array: Array) -> Array:
    """The same memory, which nobody can make writable through what is returned."""
    raw = array.view(f"u{array.itemsize}")
    return np.asarray(memoryview(raw).toreadonly()).view(array.dtype)  # type: ignore[arg-type]


class Event:
    """An operation that has run, or a region that begins.

    The leading axis of every tile is that of ``blocks``. In the body of a reduction or a scan every lane is
    run as if it were a block of its own: there ``blocks`` names the block of each lane, and ``lanes`` its
    position.

    Attributes:
        stage: ``operation``; ``arguments`` where a region begins, whose arguments are the results; or
            ``terminator``.
        name: the operation's name; for arguments that of the operation around them, or ``entry``.
        operation: the operation, as in the module; None for the kernel's own arguments.
        location: the source location as ``file:line:column``, if the module has one.
        grid: the extents of the grid.
        blocks: the number of each block in the grid, x fastest.
        iteration: of each loop and fold around the operation, the outermost first, how often it went round
            before.
        lanes: in a body of a reduction or a scan, (lanes, dimensions): where each is among what is folded
            in parallel; else None.
        operands, results: the values, in the bytecode's order.
    """

    def __init__(
        self,
        site: Site,
        names: Mapping[Value, str],
        frame: Frame,
        operands: Sequence[RuntimeValue],
        results: Sequence[RuntimeValue],
    ) -> None:
        self.site = site
        self.frame = frame
        self._names = names
        self._operands = operands
        self._results = results

    @property
    def stage(self) -> Stage:
        """What happened."""
        return self.site.stage

    @property
    def name(self) -> str:
        """The operation's name."""
        return self.site.name

    @property
    def operation(self) -> Operation | None:
        """The operation."""
        return self.site.operation

    @property
    def location(self) -> str | None:
        """The source location."""
        if self.site.operation is not None:
            found: str | None = describe(self.site.operation)["location"]
            return found
        return None if self.site.location is None else str(self.site.location)

    @property
    def grid(self) -> tuple[int, int, int]:
        """The extents of the grid."""
        return self.frame.run.grid

    @property
    def count(self) -> int:
        """How many blocks, or lanes of a body, there are."""
        return self.frame.count

    @cached_property
    def blocks(self) -> Selection:
        """The blocks' numbers."""
        return np.array(self.frame.linear_blocks())

    @cached_property
    def iteration(self) -> tuple[int, ...]:
        """Which turn of each loop and fold around."""
        turns = [frame.turn for frame in _outwards(self.frame) if hasattr(frame, "turn")]
        return tuple(reversed(turns))

    @property
    def coordinates(self) -> Selection:
        """Where in the grid the blocks are, (blocks, 3)."""
        x, y, _ = self.grid
        numbers = self.blocks
        return np.stack([numbers % x, numbers // x % y, numbers // (x * y)], axis=-1)

    @cached_property
    def lanes(self) -> Selection | None:
        """Positions of the lanes of a body."""
        cuts: list[Selection] = []
        for frame in _outwards(self.frame):
            if isinstance(frame, BodyFrame):
                found = frame.lanes()
                for cut in reversed(cuts):
                    found = found[cut]
                return found
            if frame.selection is not None:
                cuts.append(frame.selection)
        return None

    @cached_property
    def operands(self) -> tuple[Seen, ...]:
        """What the operation was given; nothing where a region begins."""
        operation = self.operation
        if operation is None or self.stage == "arguments":
            return ()
        return tuple(map(self._seen, operation.uses, self._operands))

    @cached_property
    def results(self) -> tuple[Seen, ...]:
        """What it answered."""
        return tuple(map(self._seen, self.site.values, self._results))

    def _seen(self, value: Value, runtime: RuntimeValue) -> Seen:
        return Seen(self._names[value], value, runtime, self.count)

    def is_there(self, value: Value) -> bool:
        """Whether a value has been computed, and not been forgotten after its last use."""
        return any(value in frame.values for frame in _outwards(self.frame))

    def seen(self, value: Value) -> Seen:
        """Any value that is there, in the blocks of this event."""
        return self._seen(value, self.frame.get(value))

    def tiles(self) -> tuple[Seen, ...]:
        """The results that are tiles; the operands that are where no result is."""
        found = tuple(s for s in self.results if isinstance(s.type, TileType))
        return found or tuple(s for s in self.operands if isinstance(s.type, TileType))

    def __repr__(self) -> str:
        where = "" if self.location is None else f" at {self.location}"
        return f"<Event {self.name}{where}, {self.count} blocks>"


def _outwards(frame: Frame) -> Iterator[Frame]:
    """A frame, and those around it."""
    at: Frame | None = frame
    while at is not None:
        yield at
        at = at.parent
