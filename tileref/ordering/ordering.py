"""Whether the accesses of a launch are in an order that the memory model settles.

Blocks run one after another here, or in step, so that every access has an order that a GPU need not keep.
Two accesses of which one writes are only ordered if, within a block, the later waits for the earlier by its
token, or if, across blocks, one happens before the other (``ordering.happens``). What the two would
answer otherwise is undefined.

Where no such pair exists the price is kept low: reads of a buffer that nobody writes to are only noted, and a
buffer that is accessed by the tiles of one view has a shadow of its tiles. Only what is suspicious is looked
at element by element.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tileir.module import Operation

from ..formats import Array
from ..memory import Access as Target
from ..memory import Buffer
from ..window import Placed, Window
from .access import MEMORY, Access, Cells, Role, has_scope, role_of
from .collisions import Collisions
from .happens import BLOCKS, Happens
from .notes import Elements, Tiles, Trail
from .races import races
from .releases import can_synchronise
from .reports import report_across, report_conflict, report_race, report_unordered
from .shadow import Chains
from .tiling import tiles_of
from .tokens import TOKEN, Token
from .watched import Watched

if TYPE_CHECKING:
    from ..frame import Frame
    from ..run import Run


@dataclass(frozen=True, slots=True)
class _Static:
    """What is known of an operation before anything runs."""

    key: int
    role: Role
    scoped: bool


class Ordering:
    """The watch over all buffers of a launch of a kernel of ``operations`` on a grid of ``blocks``."""

    def __init__(
        self, operations: Iterable[Operation], blocks: int, unwatched: frozenset[int] = frozenset()
    ) -> None:
        self.unwatched = unwatched
        self.operations: list[Operation] = [op for op in operations if isinstance(op, MEMORY)]
        self._keys = {id(op): key for key, op in enumerate(self.operations)}
        self._static: dict[int, _Static] = {}
        self._itemsizes: dict[int, int] = {}
        self._buffers: dict[int, Watched] = {}
        self._chains = Chains()
        self.trail = Trail()
        self.lock = threading.RLock()
        """Held from the check of a store until memory holds it: values are compared with memory."""
        self.keys = blocks * max(1, len(self.operations)) + 1
        self.happens = Happens() if can_synchronise(self.operations) else None
        if self.happens is not None and blocks > BLOCKS:
            self.happens.stop(f"the blocks synchronise, and there are {blocks}, more than {BLOCKS}")

    def begin(self, frame: Frame, operation: Operation, token: Token | None, itemsize: int) -> Access:
        """An access of ``operation`` in the blocks of ``frame``."""
        static = self._static.get(id(operation))
        if static is None:
            key = self._keys[id(operation)]
            static = _Static(key, role_of(operation), has_scope(operation))
            self._static[id(operation)] = static
            self._itemsizes[key] = itemsize
        blocks = frame.linear_blocks()
        return Access(
            operation,
            frame.history.add(operation),
            static.role,
            static.scoped,
            blocks,
            len(self.operations),
            static.key,
            TOKEN if token is None else token,
            itemsize,
            frame.history,
        )

    def _watched(self, buffer: Buffer) -> Watched:
        found = self._buffers.get(buffer.place)
        if found is None:
            found = Watched(buffer, self.keys, len(self.operations), self._chains)
            self._buffers[buffer.place] = found
        return found

    def tiles_are_quiet(self, access: Access, where: Window, placed: Placed) -> bool:
        """Enter an access to tiles of a view, if tiles are enough to see that nothing is wrong with it.

        Otherwise nothing is entered, and ``elements`` has to be asked.
        """
        if self.happens is not None:
            return False
        found = tiles_of(where, placed, access.itemsize)
        if found is None:
            return False
        tiling, order, numbers, valid = found
        if valid is not None:
            if not valid.any():
                return True
            if not valid.all():
                rows = np.flatnonzero(np.broadcast_to(valid, access.blocks.shape))
                numbers = np.broadcast_to(numbers, access.blocks.shape)[rows]
                access = _part(access, rows)
        if access.role.writes:
            numbers = np.broadcast_to(numbers, access.blocks.shape)
        note = Tiles(access, placed.buffer, tiling, order, numbers[:, None])
        with self.lock:
            watched = self._watched(placed.buffer)
            if watched.log_first_writes(note) if access.role.writes else watched.log_read(note):
                self.trail.add(note)
                return True
            shadow = watched.shadow_for(note)
            if watched.tiling is None:
                return False
            cells = watched.cells_of(note)
            if (
                shadow.foreign(cells, access.role) is not None
                or shadow.unwaited(cells, access) is not None
                or (access.role.writes and watched.meets_itself(note.numbers))
            ):
                watched.refine()
                return False
            shadow.note(cells, access)
            self.trail.add(note)
            return True

    def elements(
        self,
        frame: Frame,
        access: Access,
        target: Target,
        shape: tuple[int, ...],
        stored: Array | None = None,
    ) -> Array | None:
        """Enter an access to elements, and report those that the block's earlier ones leave unordered.

        Args:
            frame: the blocks that run.
            access: what accesses.
            target: the elements of one buffer that its lanes go to.
            shape: of the operation's lanes, (blocks or 1, *tile).
            stored: for a store, what the lanes of ``target`` are about to store.

        Returns:
            The lanes of ``target`` whose answer another access leaves undefined: what they load, or, of a
            store that another write races with, what they leave in memory. None where there are none.
        """
        note = Elements(access, target, shape)
        with self.lock:
            watched = self._watched(target.buffer)
            self.trail.add(note)
            if self.happens is not None:
                self.happens.note(note)
            elif not access.role.writes and watched.log_read(note):
                return None
            shadow = watched.shadow_for(note)
            cells = watched.cells_of(note)
            foreign = shadow.foreign(cells, access.role)
            unwaited = shadow.unwaited(cells, access)
            if foreign is not None and stored is not None:
                # What a strong read is in conflict with are the weak writes.
                others = shadow.foreign(cells, Role.STRONG_READ)
                if others is not None:
                    self._compare(watched, cells, note, others, stored)
            elif access.role is Role.WEAK_WRITE and stored is None:
                # An atomic operation that other blocks' see as a plain one: no two of them agree.
                watched.note_difference(cells.index)
                watched.raced = True
            shadow.note(cells, access)
        count = target.elements.size
        open_ = np.zeros(count, np.bool_)
        if unwaited is not None:
            bad = unwaited.cells if foreign is None else unwaited.cells & ~foreign
            # The first cell of those is the first lane's.
            number = int(unwaited.numbers.reshape(-1)[np.argmax(bad)])
            report_unordered(frame, note, _lanes(bad, count), number, self.trail)
            if unwaited.written is not None:
                # Where another block came in between, what orders the two is asked below.
                written = unwaited.written if foreign is None else unwaited.written & ~foreign
                open_ |= _lanes(written, count)
        if foreign is not None and self.happens is not None:
            open_ |= self._in_conflict(frame, note, _lanes(foreign, count))
        elif foreign is not None:
            watched.raced = True
            if not access.role.writes:
                open_ |= _lanes(foreign, count)
            if frame.run.check == "strict":
                self.finish(frame.run, watched)
        return open_ if open_.any() else None

    def _compare(self, watched: Watched, cells: Cells, note: Elements, foreign: Array, stored: Array) -> None:
        """Note where blocks store different values."""
        there = note.target.buffer.typed(stored.dtype)[note.target.elements]
        different = np.zeros(foreign.shape, np.bool_)
        different.reshape(len(stored), -1)[:] = (there != stored).reshape(-1, 1)
        other = different & foreign
        if other.any():
            watched.note_difference(cells.index[other])

    def after_store(
        self, frame: Frame, access: Access, target: Target, shape: tuple[int, ...], stored: Array
    ) -> None:
        """Look at lanes that stored to one element, now that memory holds what one of them stored."""
        memory = target.buffer.typed(stored.dtype)
        lost = memory[target.elements] != stored
        if not lost.any():
            return
        found = Collisions.among(target, stored, lost, shape)
        if found.within is not None and not access.scoped:
            found.report(frame, access.operation)
        if found.across is not None and self.happens is not None:
            report_across(frame, Elements(access, target, shape), found.across)
        elif found.across is not None:
            with self.lock:
                watched = self._watched(target.buffer)
                cells = watched.cells_of(Elements(access, target, shape))
                watched.note_difference(cells.index.reshape(len(stored), -1)[found.across])
                watched.raced = True
            if frame.run.check == "strict":
                self.finish(frame.run, watched)

    def _in_conflict(self, frame: Frame, note: Elements, suspects: Array) -> Array:
        """Report lanes that no synchronisation orders after other blocks'; which answers that leaves open."""
        assert self.happens is not None
        found = self.happens.unordered(note, suspects)
        if found is None:
            return np.zeros(suspects.shape, np.bool_)
        bad, earlier, block = found
        report_conflict(frame, note, bad, earlier, block)
        return bad if not note.access.role.writes or earlier.access.role.writes else np.zeros_like(bad)

    def finish(self, run: Run, only: Watched | None = None) -> None:
        """Report the races, lowest blocks first, and mark the elements that they leave without a value."""
        watched: Iterable[Watched] = self._buffers.values() if only is None else (only,)
        for each in watched:
            if each.raced:
                for race in races(each):
                    report_race(run, each.buffer, race, self.operations, self._itemsizes, self.trail)

    def unchecked(self) -> list[str]:
        """What was not watched, a sentence each."""
        return [] if self.happens is None else self.happens.unchecked()


def _part(access: Access, rows: Array) -> Access:
    """The access in some of its blocks."""
    return replace(access, blocks=access.blocks[rows], waits=access.waits.take(rows))


def _lanes(cells: Array, count: int) -> Array:
    """Of cells, the lanes they belong to: a lane may have several."""
    return np.asarray(cells.reshape(count, -1).any(axis=1))
