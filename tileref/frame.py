"""The blocks that run together, and the values they have so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tileir.module import Value

from .ordering.access import History
from .values import RuntimeValue, Selection, Tile

if TYPE_CHECKING:
    from .run import Run


class Frame:
    """Values of ``count`` blocks inside one region.

    A frame made where control flow parts holds some of its parent's blocks (``selection``, None for all) and
    sees the parent's values cut down to them.
    """

    __slots__ = ("blocks", "count", "history", "parent", "run", "selection", "turn", "turns", "values")
    turn: int
    """Which turn of a loop or a fold the region is run for; set while somebody looks on, and only there."""
    turns: dict[int, int]
    """How often each region was begun from here, by its identity; likewise."""

    def __init__(
        self,
        run: Run,
        count: int,
        *,
        parent: Frame | None = None,
        selection: Selection | None = None,
        blocks: Selection | None = None,
    ) -> None:
        self.run = run
        self.count = count
        self.parent = parent
        self.selection = selection
        self.blocks = blocks
        self.values: dict[Value, RuntimeValue] = {}
        self.history: History = History() if parent is None else parent.history

    def child(self, selection: Selection | None = None) -> Frame:
        """A frame of the selected blocks, to run a region in."""
        count = self.count if selection is None else len(selection)
        return Frame(self.run, count, parent=self, selection=selection)

    def get(self, value: Value) -> RuntimeValue:
        """What ``value`` is in these blocks."""
        found = self.values.get(value)
        if found is None:
            assert self.parent is not None, "a value is used before it is defined"
            found = self.parent.get(value)
            if self.selection is not None:
                found = found.take(self.selection)
                self.values[value] = found
        return found

    def tile(self, value: Value) -> Tile:
        """What ``value``, a tile, is in these blocks."""
        found = self.get(value)
        assert isinstance(found, Tile)
        return found

    def linear_blocks(self) -> Selection:
        """Numbers of these blocks in the grid, x fastest."""
        if self.blocks is None:
            assert self.parent is not None
            blocks = self.parent.linear_blocks()
            self.blocks = blocks if self.selection is None else blocks[self.selection]
        return self.blocks

    def coordinates(self) -> tuple[Selection, Selection, Selection]:
        """Where in the grid these blocks are."""
        x, y, _ = self.run.grid
        blocks = self.linear_blocks()
        rest = blocks // x
        return blocks % x, rest % y, rest // y

    def coordinate(self, block: int) -> tuple[int, int, int]:
        """Where in the grid block number ``block`` of this frame is."""
        blocks = self.linear_blocks()
        return self.run.coordinate(int(blocks[min(block, len(blocks) - 1)]))


class BodyFrame(Frame):
    """A frame of a reduction's or a scan's body, in which every lane is run as if it were a block.

    The lanes are those of arrays of ``shape``, whose axis number ``axis`` is the one of blocks: before it is
    what the order of evaluation made of the folded dimension, behind it the other dimensions. ``owners`` says
    for each lane which block of the parent it belongs to.
    """

    __slots__ = ("axis", "shape")

    def __init__(self, parent: Frame, owners: Selection, shape: tuple[int, ...], axis: int) -> None:
        super().__init__(parent.run, len(owners), parent=parent, selection=owners)
        self.shape = shape
        self.axis = axis

    def lanes(self) -> Selection:
        """For each lane its position in ``shape`` without the axis of blocks, as (lanes, dimensions)."""
        positions = np.unravel_index(np.arange(self.count), self.shape)
        others = [p for i, p in enumerate(positions) if i != self.axis]
        return np.stack(others, axis=-1) if others else np.empty((self.count, 0), np.intp)


def compose(outer: Selection | None, inner: Selection | None) -> Selection | None:
    """The blocks that ``inner`` selects among those that ``outer`` selects."""
    if outer is None:
        return inner
    if inner is None:
        return outer
    return outer[inner]


def indices(selection: Selection | None, count: int) -> Selection:
    """A selection spelled out."""
    return np.arange(count) if selection is None else selection
