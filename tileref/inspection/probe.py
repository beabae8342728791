"""Probes: a value of a kernel in a file, for every block and every time it was computed."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from tileir.errors import ArgumentError
from tileir.module import Value
from tileir.types import NumberType, TileType

from .observer import Match, Observer
from .selections import Where
from .sites import Site, Sites
from .spool import Spool, is_rectangular, write_npy, write_npz


class Probe(Observer):
    """Writes every tile that a selection names to a file, block by block and time after time.

    ``FILE.npz`` holds ``data`` (rows, *shape), sorted by block and time, and for each row ``block`` (its
    number), ``time`` (how many rows of the block are before it) and ``iteration`` (rows, loops);
    ``undefined``, if it is there, marks elements without a value; ``format`` and ``value`` are names. In
    bodies of reductions and scans ``lane`` numbers what is folded in parallel.

    ``FILE.npy`` holds (blocks, *shape), or (blocks, times, *shape) where the value is computed several times;
    where blocks do not compute it equally often, ``FILE.npz`` is written in its place.

    Types that numpy has no name for (bf16 and narrower floats) are written as unsigned integers. The rows are
    kept on disk while the kernel runs. A file is there when the launch is over and not before.

    Args:
        selection: what to write, such as ``%17``.
        path: ``FILE.npz``, ``FILE.npy``, or a folder (ends in ``/`` or is one), which gets one ``.npz`` for
            each value.
    """

    def __init__(self, selection: str | Where, path: str | PathLike[str]) -> None:
        super().__init__(selection)
        text = str(path)
        self.path = Path(path)
        self.is_folder = text.endswith("/") or self.path.is_dir()
        if not self.is_folder and self.path.suffix not in (".npy", ".npz"):
            raise ArgumentError(
                "a probe writes to a file of arrays, or to a folder",
                rule="probe",
                found=text,
                expected="FILE.npz, FILE.npy or FOLDER/",
            )
        self.written: list[Path] = []
        """The files, when the launch is over."""
        self._spools: dict[Value, Spool] = {}
        self._names: Mapping[Value, str] = {}
        self._stems: Mapping[Value, str] = {}

    def begin(self, sites: Sites, grid: tuple[int, int, int]) -> Mapping[Site, tuple[Value, ...]]:
        """Make room.

        Raises:
            ArgumentError: the selection names no tile, or several for one file.
            TileError: the folder cannot be written.
        """
        found = super().begin(sites, grid)
        self._names = sites.names
        self._stems = sites.stems()
        tiles = [(site, v) for site, values in found.items() for v in values if isinstance(v.type, TileType)]
        if not tiles:
            raise ArgumentError("a probe needs a tile", rule="probe", found=self.where)
        if len(tiles) > 1 and not self.is_folder:
            named = [f"{sites.names[v]} of {site.name}" for site, v in tiles]
            raise ArgumentError(
                "the selection names several tiles, and a file holds one",
                rule="probe",
                found=", ".join(named[:8]) + (", ..." if len(named) > 8 else ""),
                expected="a folder, or a selection of one",
            )
        folder = self.path if self.is_folder else self.path.parent
        self.written = []
        for _, value in tiles:
            assert isinstance(value.type, TileType)
            self._spools[value] = Spool(folder, value.type, create=self.is_folder)
        # Not where a value is used by an operation that answers none.
        defining = {site for site, _ in tiles}
        return {site: values for site, values in found.items() if site in defining}

    def matched(self, match: Match) -> None:
        """Keep the rows."""
        assert match.seen is not None
        self._spools[match.seen.value].add(match.event, match.seen, match.rows)

    def end(self, *, complete: bool) -> None:
        """Write the files, unless an error ended the launch."""
        try:
            for value, spool in self._spools.items():
                if complete:
                    self._write(value, spool)
        finally:
            for spool in self._spools.values():
                spool.close()
            self._spools = {}

    def _write(self, value: Value, spool: Spool) -> None:
        name = self._names[value]
        assert isinstance(value.type, TileType)
        element = value.type.element
        about: dict[str, Any] = {"format": element.name if isinstance(element, NumberType) else "pointer"}
        about["value"] = name
        path = self.path / f"{self._stems[value]}.npz" if self.is_folder else self.path
        if path.suffix == ".npy" and is_rectangular(spool):
            write_npy(path, spool)
        else:
            path = path.with_suffix(".npz")
            write_npz(path, spool, about)
        self.written.append(path)
