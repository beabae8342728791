"""One memory: what was read before anybody wrote to it, and its shadow from then on."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..formats import Array
from ..memory import Buffer
from .access import Cells, some, whole
from .notes import Elements, Tiles
from .shadow import Chains, Shadow
from .tiling import AT_ONCE, Tiling

LOG_BYTES = 1 << 26
"""Memory that notes of reads of one buffer may take before they are entered in a shadow."""


@dataclass(slots=True)
class Watched:
    """Memory whose accesses are watched: a buffer, or the memory that several share.

    Attributes:
        buffer: the first that was accessed.
        cell: bytes of a cell, once there is a shadow of cells and not of tiles.
        tiling: the tiles that the shadow is of, None for cells.
        differs: for each cell whether blocks stored different values to it; None while none did.
        raced: whether some cell was accessed by blocks in conflict.
        fresh: which tiles were written to, while all of them were so once at most and never read.
    """

    buffer: Buffer
    keys: int
    operations: int
    chains: Chains
    log: list[Tiles | Elements] = field(default_factory=list)
    logged: int = 0
    shadow: Shadow | None = None
    tiling: Tiling | None = None
    cell: int = 0
    differs: Array | None = None
    raced: bool = False
    fresh: Array | None = None
    _stamp: Array | None = None

    def log_first_writes(self, note: Tiles) -> bool:
        """Put off writes of tiles that nobody has accessed; False where one was, or is named twice.

        A buffer that a kernel only writes to, every tile once, is seen to be in order by this alone.
        """
        if self.shadow is not None or (self.log and self.fresh is None):
            return False
        if self.fresh is None:
            self.fresh = np.zeros(note.tiling.tiles, np.int32)
            self.tiling = note.tiling
        if note.tiling != self.tiling:
            return False
        fresh, numbers = self.fresh, note.numbers
        if fresh[numbers].any():
            return False
        names = np.arange(1, numbers.size + 1, dtype=np.int32).reshape(numbers.shape)
        fresh[numbers] = names
        if numbers.size > 1 and (fresh[numbers] != names).any():
            fresh[numbers] = 0
            return False
        self.log.append(note)
        return True

    def log_read(self, note: Tiles | Elements) -> bool:
        """Put off a read of a buffer that nobody has written to; False where it cannot be."""
        if self.shadow is not None or self.fresh is not None:
            return False
        self.log.append(note)
        self.logged += note.bytes
        if self.logged > LOG_BYTES:
            self._start(None)
        return True

    def _start(self, note: Tiles | Elements | None) -> None:
        """Make the shadow that ``note`` is the first to need, and enter the reads so far."""
        notes = [*self.log, *([] if note is None else [note])]
        tilings = {n.tiling if isinstance(n, Tiles) else None for n in notes}
        only = tilings.pop()
        self.tiling = self.fresh = None
        if not tilings and only is not None:
            self.tiling = only
            self.shadow = Shadow(only.tiles, self.keys, self.operations, self.chains)
        else:
            self.cell = min(n.unit for n in notes)
            self.shadow = self._of_cells()
        for n in self.log:
            self.shadow.note(self.cells_of(n), n.access)
        self.log = []

    def _of_cells(self) -> Shadow:
        return Shadow(-(-self.buffer.place_size // self.cell), self.keys, self.operations, self.chains)

    def shadow_for(self, note: Tiles | Elements) -> Shadow:
        """The shadow, in a form that can hold ``note``."""
        if self.shadow is None:
            self._start(note)
        if self.tiling is not None and not (isinstance(note, Tiles) and note.tiling == self.tiling):
            self.refine()
        if self.tiling is None and note.unit < self.cell:
            self._split(note.unit)
        assert self.shadow is not None
        return self.shadow

    def cells_of(self, note: Tiles | Elements) -> Cells:
        """The cells of the shadow that an access touches."""
        if isinstance(note, Elements):
            return self._of_elements(note)
        if self.tiling is not None:
            return whole(note.access, note.numbers)
        elements, owner = note.tiling.elements(note.numbers.reshape(-1))
        index = self._parts(elements, 0, note.access.itemsize)
        return some(note.access, index, owner, note.numbers.shape[0])

    def _of_elements(self, note: Elements) -> Cells:
        target = note.target
        index = self._parts(target.elements.reshape(-1), target.buffer.start, note.access.itemsize)
        if target.lanes is None:
            return whole(note.access, index.reshape(note.rows, -1))
        return some(note.access, index, target.lanes // note.lanes, note.rows)

    def _parts(self, elements: Array, start: int, itemsize: int) -> Array:
        """The cells of elements, (elements,) to (elements, cells an element), ``start`` bytes further on."""
        parts, before = itemsize // self.cell, start // self.cell
        index = elements.reshape(-1, 1)
        if parts != 1:
            index = index * parts + np.arange(before, before + parts)
        elif before:
            index = index + before
        return index

    def meets_itself(self, numbers: Array) -> bool:
        """Whether an access names a tile twice: two blocks of those that run together."""
        if numbers.size == 1:
            return False
        assert self.shadow is not None
        if self._stamp is None or self._stamp.size != self.shadow.size:
            self._stamp = np.zeros(self.shadow.size, np.int32)
        order = np.arange(numbers.size, dtype=np.int32).reshape(numbers.shape)
        self._stamp[numbers] = order
        return bool((self._stamp[numbers] != order).any())

    def refine(self) -> None:
        """From tiles to cells: every element knows what its tile knew."""
        tiling, coarse = self.tiling, self.shadow
        assert tiling is not None
        assert coarse is not None
        self.tiling, self.cell, self._stamp = None, tiling.itemsize, None
        self.shadow = self._of_cells()
        touched = np.zeros(coarse.size, np.bool_)
        for up, _ in coarse.sides.values():
            touched |= up != 0
        numbers = np.flatnonzero(touched)
        step = max(1, AT_ONCE // max(1, int(np.prod(tiling.shape))))
        for first in range(0, len(numbers), step):
            some_ = numbers[first : first + step]
            index, owner = tiling.elements(some_)
            coarse.spread(self.shadow, some_[owner], index)

    def _split(self, itemsize: int) -> None:
        assert self.shadow is not None
        parts = self.cell // itemsize
        self.shadow, self.cell = self.shadow.split(parts), itemsize
        if self.differs is not None:
            self.differs = np.repeat(self.differs, parts)

    def note_difference(self, cells: Array) -> None:
        """Blocks stored different values to these cells."""
        if self.differs is None:
            assert self.shadow is not None
            self.differs = np.zeros(self.shadow.size, np.bool_)
        self.differs[cells] = True
