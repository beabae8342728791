"""What a value should be, block by block and time by time, out of the files that probes write."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileir.errors import ArgumentError, TileError
from tileir.module import Value
from tileir.types import TileType

from ..formats import Array, dtype_of
from ..values import Selection
from .blocks import Grid
from .conditions import Lanes, differing
from .event import Event, Seen
from .selections import Where
from .sites import Site, Sites

COLUMNS = ("block", "iteration", "time", "lane")


@dataclass
class _Rows:
    """The rows of one value, each with its place: block, then iterations or a time."""

    data: Array
    undefined: Lanes | None
    keys: NDArray[np.int64]
    timed: bool

    def __post_init__(self) -> None:
        self._extents = tuple((self.keys.max(axis=0, initial=0) + 1).tolist())
        flat = self._flat(self.keys)
        self._order = np.argsort(flat, kind="stable")
        self._flat_keys = flat[self._order]

    def _flat(self, keys: NDArray[np.int64]) -> Selection:
        return np.asarray(np.ravel_multi_index(tuple(keys.T), self._extents), np.intp)

    def find(self, keys: NDArray[np.int64]) -> tuple[NDArray[np.bool_], Selection]:
        """Which of the places have a row, and the numbers of those rows."""
        if keys.shape[1] != len(self._extents) or not len(self._order):
            return np.zeros(len(keys), np.bool_), np.empty(0, np.intp)
        there: NDArray[np.bool_] = np.asarray((keys < np.array(self._extents)).all(axis=1))
        flat = self._flat(np.where(there[:, None], keys, 0))
        at = np.minimum(np.searchsorted(self._flat_keys, flat), len(self._flat_keys) - 1)
        there &= self._flat_keys[at] == flat
        return there, self._order[at[there]]


class Expected:
    """What values should be: ``FILE.npz``, ``FILE.npy`` or ``FOLDER/``, as a probe writes them.

    What is in no file is as it should be. Any NaN is like any other, and an element without a value, here or
    in the file, is like anything.

    Args:
        path: the file or folder.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._rows: dict[Value, _Rows] = {}
        self._times: dict[Value, NDArray[np.int64]] = {}
        self._blocks = 1

    def begin(self, sites: Sites, found: Mapping[Site, tuple[Value, ...]], where: Where, grid: Grid) -> None:
        """Read the files for the values that a selection found.

        Raises:
            TileError: a file cannot be read, is of another shape or type than the value, or it is not clear
                which value it is of.
        """
        self._rows, self._times, self._blocks = {}, {}, prod(grid)
        tiles = [v for vs in found.values() for v in vs if isinstance(v.type, TileType)]
        path = Path(self.path)
        if self.path.endswith("/") or path.is_dir():
            self._folder(path, sites, tiles, where, grid)
            return
        contents = self._read(path)
        name = str(contents["value"]) if "value" in contents else None
        named = [v for v in tiles if name is None or sites.names[v] == name]
        if len(named) != 1:
            raise ArgumentError(
                f"a file holds one value, and the selection names {'no tile' if not named else 'several'}"
                + ("" if name is None else f" called {name}"),
                rule="differs",
                found=", ".join(sites.names[v] for v in named[:8]) or None,
                expected=f"a selection of one, such as %17 differs={self.path}",
            )
        self._add(path, named[0], sites.names[named[0]], contents, where, grid)

    def _folder(self, path: Path, sites: Sites, tiles: Sequence[Value], where: Where, grid: Grid) -> None:
        stems = sites.stems()
        for value in tiles:
            file = path / f"{stems[value]}.npz"
            if file.exists():
                self._add(file, value, sites.names[value], self._read(file), where, grid)
        if not self._rows:
            raise TileError(
                "the folder has no file for any of the selection's values",
                rule="file",
                file=str(path),
                expected="files such as a probe writes, 17.npz for %17",
            )

    def _read(self, path: Path) -> dict[str, Array]:
        try:
            loaded: Any = np.load(path, allow_pickle=False)
            if isinstance(loaded, np.ndarray):
                return {"data": loaded}
            with loaded as file:
                contents = dict(file)
        except OSError as error:
            why = error.strerror or str(error)
            raise TileError(f"cannot read the file: {why}", rule="file", file=str(path)) from error
        except (ValueError, zipfile.BadZipFile, EOFError) as error:
            raise TileError(
                "the file holds no arrays that numpy reads", rule="file-kind", file=str(path)
            ) from error
        if "data" not in contents:
            raise TileError(
                "the file holds no array called data",
                rule="file-kind",
                file=str(path),
                found=sorted(contents),
            )
        return contents

    def _add(
        self, path: Path, value: Value, name: str, contents: dict[str, Array], where: Where, grid: Grid
    ) -> None:
        assert isinstance(value.type, TileType)
        data = contents["data"]
        wanted = dtype_of(value.type)
        bits = data.dtype == np.dtype(f"u{wanted.itemsize}") or data.dtype == np.dtype(f"V{wanted.itemsize}")
        if data.dtype != wanted and not (bits and (wanted.kind not in "biuf" or not wanted.isbuiltin)):
            raise self._wrong(path, name, f"is of another type than {value.type}", data.dtype, wanted)
        data = data.view(wanted)
        shape = tuple(value.type.shape)
        if "block" in contents:
            keys, timed = self._places(path, name, contents, len(data))
        else:
            data, keys, timed = self._counted(path, name, data, shape, where, grid)
        if data.shape[1:] != shape:
            raise self._wrong(path, name, f"is of another shape than {value.type}", data.shape[1:], shape)
        undefined = contents.get("undefined")
        self._rows[value] = _Rows(
            data, None if undefined is None else undefined.astype(np.bool_), keys, timed
        )
        self._times[value] = np.zeros(self._blocks, np.int64)

    def _places(
        self, path: Path, name: str, contents: dict[str, Array], rows: int
    ) -> tuple[NDArray[np.int64], bool]:
        """The places of rows that say which they are."""
        if "lane" in contents:
            raise self._wrong(path, name, "is in a body of a reduction or a scan", "lane", "a value outside")
        columns = {n: np.asarray(contents[n]) for n in COLUMNS if n in contents}
        for column, array in columns.items():
            if array.dtype.kind not in "iu" or len(array) != rows or bool((array < 0).any()):
                raise self._wrong(
                    path, name, f"has no {column} for each row", array.dtype, f"{rows} integers"
                )
        timed = "iteration" not in columns
        time = np.zeros(rows, np.int64) if "time" not in columns else columns["time"]
        others = time[:, None] if timed else columns["iteration"].reshape(rows, -1)
        return np.column_stack([columns["block"], others]).astype(np.int64), timed

    def _counted(
        self, path: Path, name: str, data: Array, shape: tuple[int, ...], where: Where, grid: Grid
    ) -> tuple[Array, NDArray[np.int64], bool]:
        """The places of rows of (blocks, *shape) or (blocks, times, *shape): the selection's blocks."""
        numbers = np.arange(prod(grid))
        if where.blocks:
            numbers = numbers[np.logical_or.reduce([part.holds(numbers, grid) for part in where.blocks])]
        extra = data.ndim - len(shape)
        if extra not in (1, 2) or data.shape[0] != len(numbers):
            expected = ("blocks", "times", *shape)
            raise self._wrong(
                path,
                name,
                f"is not a tile for each of {len(numbers)} blocks",
                data.shape,
                f"({', '.join(map(str, expected))})",
            )
        times = data.shape[1] if extra == 2 else 1
        keys = np.stack([np.repeat(numbers, times), np.tile(np.arange(times), len(numbers))], axis=-1)
        return data.reshape(len(keys), *data.shape[extra:]), keys.astype(np.int64), True

    def _wrong(self, path: Path, name: str, what: str, found: object, expected: object) -> TileError:
        return TileError(
            f"what is expected of {name} {what}",
            rule="differs",
            file=str(path),
            found=found,
            expected=expected,
        )

    def lanes(self, event: Event, seen: Seen, rows: Selection) -> Lanes | None:
        """Where a value differs from what it should be; None if nothing is known of it."""
        recorded = self._rows.get(seen.value)
        if recorded is None:
            return None
        assert seen.data is not None
        blocks = event.blocks[rows]
        if recorded.timed:
            times = self._times[seen.value]
            keys = np.stack([blocks, times[blocks]], axis=-1)
            times[blocks] += 1
        else:
            turns = np.broadcast_to(np.array(event.iteration, np.int64), (len(rows), len(event.iteration)))
            keys = np.column_stack([blocks, turns])
        there, at = recorded.find(keys.astype(np.int64))
        found = np.zeros((len(rows), *seen.data.shape[1:]), np.bool_)
        found[there] = differing(recorded.data[at], seen.data[rows[there]])
        if recorded.undefined is not None:
            found[there] &= ~recorded.undefined[at]
        if seen.undefined is not None:
            found &= ~seen.undefined[rows]
        return found
