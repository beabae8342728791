"""Rows of one value, kept on disk while a kernel runs and written as arrays when it is done."""

from __future__ import annotations

import contextlib
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tileir.errors import TileError
from tileir.files import replacing
from tileir.types import TileType

from ..formats import Array, dtype_of
from ..values import Selection
from .event import Event, Seen

BATCH = 1 << 22
"""Bytes that are written at once."""


class Spool:
    """The rows of a value in the order in which they were computed.

    Its files have no names, so that they vanish with the process.
    """

    def __init__(self, folder: Path, type_: TileType, *, create: bool) -> None:
        dtype = dtype_of(type_)
        plain = dtype.kind in "biuf" and dtype.isbuiltin == 1
        self.dtype = dtype if plain else np.dtype(f"u{dtype.itemsize}")
        self.shape = type_.shape
        self.rows = 0
        self.depth: int | None = None
        self.has_lanes = False
        self.has_undefined = False
        with _named(folder):
            if create:
                folder.mkdir(parents=True, exist_ok=True)
            self._data = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
            self._undefined = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
            self._index = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        self._folder = folder

    def add(self, event: Event, seen: Seen, rows: Selection) -> None:
        """Keep a value of these rows of an event.

        Raises:
            TileError: the disk is full.
        """
        assert seen.data is not None
        data = seen.data[rows]
        undefined = np.zeros(data.shape, np.bool_) if seen.undefined is None else seen.undefined[rows]
        self.depth = len(event.iteration)
        self.has_undefined |= seen.undefined is not None
        lanes = event.lanes
        columns = [event.blocks[rows], np.zeros(len(rows), np.int64)]
        if lanes is not None and lanes.shape[1]:
            self.has_lanes = True
            columns[1] = np.ravel_multi_index(tuple(lanes[rows].T), tuple(lanes.max(axis=0) + 1))
        columns += [np.full(len(rows), i, np.int64) for i in event.iteration]
        with _named(self._folder):
            self._data.write(_bytes(data))
            self._undefined.write(_bytes(undefined))
            self._index.write(np.stack(columns, axis=-1).astype(np.int64).tobytes())
        self.rows += len(rows)

    def index(self) -> tuple[Selection, Selection, Selection, Selection, NDArray[np.int64]]:
        """The order of the rows by block, lane and time; and in that order block, lane, time, iterations."""
        table = self._read(self._index, np.dtype(np.int64), (2 + (self.depth or 0),))
        order = np.lexsort((table[:, 1], table[:, 0]))
        table = table[order]
        block, lane = table[:, 0], table[:, 1]
        begins = np.ones(self.rows, np.bool_)
        begins[1:] = (block[1:] != block[:-1]) | (lane[1:] != lane[:-1])
        at = np.arange(self.rows)
        time = at - np.maximum.accumulate(np.where(begins, at, 0)) if self.rows else at
        return order, block, lane, time, table[:, 2:]

    def data(self, order: Selection) -> Iterator[Array]:
        """The elements in some order of the rows, in batches."""
        return self._batches(self._data, self.dtype, order)

    def undefined(self, order: Selection) -> Iterator[Array]:
        """Which have no value, likewise."""
        return self._batches(self._undefined, np.dtype(np.bool_), order)

    def _read(self, file: IO[bytes], dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
        if self.rows == 0:
            return np.empty((0, *shape), dtype)
        with _named(self._folder):
            file.flush()
            return np.memmap(file, dtype, "r", shape=(self.rows, *shape))

    def _batches(self, file: IO[bytes], dtype: np.dtype[Any], order: Selection) -> Iterator[Array]:
        rows = self._read(file, dtype, self.shape)
        size = max(1, int(np.prod(self.shape)) * dtype.itemsize)
        together = max(1, BATCH // size)
        for first in range(0, len(order), together):
            yield np.asarray(rows[order[first : first + together]])

    def close(self) -> None:
        """Forget the rows."""
        for file in (self._data, self._undefined, self._index):
            file.close()


def write_npz(path: Path, spool: Spool, about: Mapping[str, str]) -> None:
    """Write the rows and what is known of each; see ``Probe``."""
    order, block, lane, time, iteration = spool.index()
    small = {"block": block, "time": time, "iteration": iteration}
    if spool.has_lanes:
        small["lane"] = lane
    deflated = zipfile.ZIP_DEFLATED
    with replacing(str(path)) as file, zipfile.ZipFile(file, "w", deflated, compresslevel=1) as archive:
        with archive.open("data.npy", "w", force_zip64=True) as member:
            _stream(member, spool.dtype, (spool.rows, *spool.shape), spool.data(order))
        if spool.has_undefined:
            with archive.open("undefined.npy", "w", force_zip64=True) as member:
                shape = (spool.rows, *spool.shape)
                _stream(member, np.dtype(np.bool_), shape, spool.undefined(order))
        for name, array in {**small, **{k: np.array(v) for k, v in about.items()}}.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array, order="C"), allow_pickle=False)


def is_rectangular(spool: Spool) -> bool:
    """Whether every block computed the value equally often, so that the rows make one array."""
    _, block, _, _, _ = spool.index()
    counts = np.unique(block, return_counts=True)[1]
    return not spool.has_lanes and len(np.unique(counts)) <= 1


def write_npy(path: Path, spool: Spool) -> None:
    """Write the rows as one array of (blocks, *shape) or (blocks, times, *shape)."""
    order, block, _, _, _ = spool.index()
    blocks = len(np.unique(block))
    times = spool.rows // blocks if blocks else 1
    shape = (blocks, *spool.shape) if times == 1 else (blocks, times, *spool.shape)
    with replacing(str(path)) as file:
        _stream(file, spool.dtype, shape, spool.data(order))


def _bytes(array: Array) -> memoryview:
    return np.ascontiguousarray(array).view(np.uint8).reshape(-1).data


def _stream(file: IO[bytes], dtype: np.dtype[Any], shape: tuple[int, ...], batches: Iterator[Array]) -> None:
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_2_0(file, header)
    for batch in batches:
        file.write(_bytes(batch))


@contextlib.contextmanager
def _named(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"cannot write to the folder: {error.strerror}"
        raise TileError(message, rule="file", file=str(folder)) from error
