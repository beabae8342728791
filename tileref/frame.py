"""The blocks that run together, and the values they have so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tileir.module import Value

from .values import RuntimeValue, Selection, Tile

if TYPE_CHECKING:
    from .run import Run


class Frame:
    """Values of ``count`` blocks inside one region.

    A frame made where control flow parts holds some of its parent's blocks (``selection``, None for all) and
    sees the parent's values cut down to them.
    """

    __slots__ = ("blocks", "count", "parent", "run", "selection", "values")

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
        number = int(blocks[min(block, len(blocks) - 1)])
        x, y, _ = self.run.grid
        return number % x, number // x % y, number // (x * y)


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
