"""One buffer: what was read before anybody wrote to it, and its shadow from then on."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..formats import Array
from ..memory import Access as Target
from ..memory import Buffer
from .access import Access, Cells, some, whole
from .shadow import Chains, Shadow
from .tiling import AT_ONCE, Tiling

LOG_BYTES = 1 << 26
"""Memory that notes of reads of one buffer may take before they are entered in a shadow."""


@dataclass(slots=True)
class Tiles:
    """An access to whole tiles: by number, (blocks or 1, 1)."""

    access: Access
    tiling: Tiling
    numbers: Array


@dataclass(slots=True)
class Elements:
    """An access to elements by number, as ``memory.resolve`` found them; ``rows`` of lanes."""

    access: Access
    target: Target
    rows: int
    lanes: int

    def wrote(self, number: int) -> bool:
        """Whether lane ``number`` of the target wrote, if the operation writes at all."""
        written = self.access.written
        if written is None:
            return True
        return bool(written[number if self.target.lanes is None else int(self.target.lanes[number])])


@dataclass(slots=True)
class Watched:
    """A buffer whose accesses are watched.

    Attributes:
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
        self.logged += note.numbers.nbytes if isinstance(note, Tiles) else note.target.elements.nbytes
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
            self.cell = min(n.access.itemsize for n in notes)
            self.shadow = self._of_cells()
        for n in self.log:
            self.shadow.note(self.cells_of(n), n.access)
        self.log = []

    def _of_cells(self) -> Shadow:
        return Shadow(-(-self.buffer.size // self.cell), self.keys, self.operations, self.chains)

    def shadow_for(self, note: Tiles | Elements) -> Shadow:
        """The shadow, in a form that can hold ``note``."""
        if self.shadow is None:
            self._start(note)
        if self.tiling is not None and not (isinstance(note, Tiles) and note.tiling == self.tiling):
            self.refine()
        if self.tiling is None and note.access.itemsize < self.cell:
            self._split(note.access.itemsize)
        assert self.shadow is not None
        return self.shadow

    def cells_of(self, note: Tiles | Elements) -> Cells:
        """The cells of the shadow that an access touches."""
        if isinstance(note, Elements):
            return self._of_elements(note)
        if self.tiling is not None:
            return whole(note.access, note.numbers)
        size = self.buffer.size // note.tiling.itemsize
        elements, owner = note.tiling.elements(note.numbers.reshape(-1), size)
        index = self._parts(elements.reshape(-1, 1), note.access.itemsize)
        return some(note.access, index, owner, note.numbers.shape[0])

    def _of_elements(self, note: Elements) -> Cells:
        target = note.target
        if target.lanes is None:
            parts = self._parts(target.elements.reshape(-1, 1), note.access.itemsize)
            return whole(note.access, parts.reshape(note.rows, -1))
        index = self._parts(target.elements.reshape(-1, 1), note.access.itemsize)
        return some(note.access, index, target.lanes // note.lanes, note.rows)

    def _parts(self, elements: Array, itemsize: int) -> Array:
        """The cells of elements, (elements, 1) to (elements, cells an element)."""
        parts = itemsize // self.cell
        return elements if parts == 1 else elements * parts + np.arange(parts)

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
            index, owner = tiling.elements(some_, self.buffer.size // tiling.itemsize)
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
