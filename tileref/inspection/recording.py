"""Every value of a launch, kept on disk, to be looked up by a later launch of the same kernel."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tileir.errors import ArgumentError, TileError
from tileir.module import Value

from ..formats import Array
from ..values import Selection, Tile
from .conditions import Lanes
from .event import Event, Seen
from .observer import Observer
from .selections import Where
from .sites import Site, Sites

LIMIT = 1 << 34
"""Bytes that the values may take on disk."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A value in some blocks at one time: where its elements are in the file."""

    blocks: Selection
    data: int
    undefined: int | None
    rows: int
    dtype: np.dtype[Any]


class Met(NamedTuple):
    """A recorded value in those blocks of an event that it was computed in: ``rows`` of the event's."""

    rows: Selection
    data: Array
    undefined: Lanes | None


class Recording(Observer):
    """Keeps every tile that a selection names, and their operands, by value, block and iteration.

    All blocks and iterations are kept, whichever of them the selection names. Bodies of reductions and scans
    are left out: models run them in orders of their own.

    Args:
        selection: what to keep; everything if not given.
        limit: bytes that it may take.
    """

    def __init__(self, selection: str | Where = "", *, limit: int = LIMIT) -> None:
        super().__init__(selection)
        if self.where.conditions or self.where.differs or self.where.limit is not None or self.where.bodies:
            raise ArgumentError(
                "what is compared is named by operations, values, lines, blocks and iterations",
                rule="selection",
                found=self.where,
            )
        self.selected: Mapping[Site, tuple[Value, ...]] = {}
        """What the selection itself names."""
        self._limit = limit
        self._pieces: dict[tuple[Value, tuple[int, ...]], list[_Piece]] = {}
        self._blocks: Selection = np.empty(0, np.intp)
        self._size = 0
        try:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115
        except OSError as error:
            raise _failed(error) from error

    def begin(self, sites: Sites, grid: tuple[int, int, int]) -> Mapping[Site, tuple[Value, ...]]:
        """The places to be told about: those of the selection, and where their operands come from."""
        outside = [s for s in sites.all if s.stage != "terminator" and not sites.is_in_body(s.region)]
        self.selected = {s: v for s, v in super().begin(sites, grid).items() if s in outside}
        operations = [
            s.operation for s in self.selected if s.stage == "operation" and s.operation is not None
        ]
        operands = {v for operation in operations for v in operation.uses}
        kept = {
            s: tuple(v for v in s.values if v in operands or v in self.selected.get(s, ())) for s in outside
        }
        self._found = {s: values for s, values in kept.items() if values}
        return self._found

    def tell(self, event: Event) -> None:
        """Keep the operation's results.

        Raises:
            TileError: the disk is full, or it is more than the limit.
        """
        named = self._found[event.site]
        for seen in event.results:
            if seen.value in named and isinstance(seen.runtime, Tile):
                self._keep(event, seen, seen.runtime)

    def _keep(self, event: Event, seen: Seen, tile: Tile) -> None:
        if not np.array_equal(event.blocks, self._blocks):
            self._blocks = event.blocks
        marks = None
        if seen.undefined is not None:
            marks = self._write(event, np.ascontiguousarray(seen.undefined))
        at = self._write(event, np.ascontiguousarray(tile.data))
        piece = _Piece(self._blocks, at, marks, tile.data.shape[0], tile.data.dtype)
        self._pieces.setdefault((seen.value, event.iteration), []).append(piece)

    def _write(self, event: Event, array: Array) -> int:
        at = self._size
        if at + array.nbytes > self._limit:
            raise TileError(
                f"the values take more than {self._limit >> 20} MiB; compare fewer blocks, or fewer values",
                rule="compare-size",
                operation=event.name,
                location=event.location,
            )
        try:
            self._file.write(array.view(np.uint8).reshape(-1).data if array.ndim else array.tobytes())
        except OSError as error:
            raise _failed(error) from error
        self._size += array.nbytes
        return at

    def end(self, *, complete: bool) -> None:
        """All is written."""
        if complete:
            try:
                self._file.flush()
            except OSError as error:
                raise _failed(error) from error
        else:
            self.close()

    def close(self) -> None:
        """Forget it all."""
        self._file.close()

    def met(self, event: Event, seen: Seen) -> Iterator[Met]:
        """What was recorded of a value in the blocks of an event, at that time."""
        shape = tuple(seen.runtime.type.shape) if isinstance(seen.runtime, Tile) else ()
        for piece in self._pieces.get((seen.value, event.iteration), ()):
            if np.array_equal(piece.blocks, event.blocks):
                here = there = np.arange(event.count)
            else:
                _, here, there = np.intersect1d(
                    event.blocks, piece.blocks, assume_unique=True, return_indices=True
                )
            if not len(here):
                continue
            data = self._read(piece.data, piece.dtype, (piece.rows, *shape))
            undefined = None
            if piece.undefined is not None:
                marks = self._read(piece.undefined, np.dtype(np.bool_), (len(piece.blocks), *shape))
                undefined = marks[there]
            yield Met(here, data if piece.rows == 1 else data[there], undefined)

    def _read(self, at: int, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
        size = int(np.prod(shape)) * dtype.itemsize
        self._file.seek(at)
        return np.frombuffer(self._file.read(size), np.uint8).view(dtype).reshape(shape)


def _failed(error: OSError) -> TileError:
    folder = tempfile.gettempdir()
    return TileError(
        f"cannot write to the folder for temporary files: {error.strerror}", rule="file", file=folder
    )
