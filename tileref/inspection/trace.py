"""A trace: the values of a kernel, one line a value and block."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import IO, Any

import numpy as np

from tileir.module import Value
from tileir.types import TileType

from .lines import Lines
from .observer import Match, Observer
from .selections import Where
from .sites import Site, Sites
from .summary import defined, definition, elements, extent_of_values, fields, first, place, plain, summary

LISTED = 64
"""Elements up to which a tile is in a JSON line whole."""


class Trace(Observer):
    """Writes every value that a selection names when it is computed.

        corpora/sources/models.py:34:0 block=3 %7 = mulf : tile<4xf32> [0.1 0.2 0.3 0.4]

    Args:
        selection: what to write; everything if not given.
        to: a stream, or the path of a file; standard output if not given.
        as_json: one JSON object a line.
    """

    kind = "trace"

    def __init__(
        self,
        selection: str | Where = "",
        *,
        to: IO[str] | str | PathLike[str] | Lines | None = None,
        as_json: bool = False,
    ) -> None:
        super().__init__(selection)
        self.lines = to if isinstance(to, Lines) else Lines(to, as_json=as_json)

    def begin(self, sites: Sites, grid: tuple[int, int, int]) -> Mapping[Site, tuple[Value, ...]]:
        """Open the file."""
        found = super().begin(sites, grid)
        self.lines.open()
        return found

    def matched(self, match: Match) -> None:
        """Write the value in each of the blocks."""
        for number, row in enumerate(match.rows):
            self._write(match, number, int(row))

    def _write(self, match: Match, number: int, row: int) -> None:
        event, seen = match.event, match.seen
        about: dict[str, Any] = {"event": self.kind, **fields(event, row, seen)}
        where = place(event, row)
        if seen is None:
            self.lines.write(f"{where} {defined(event, seen)}", about)
            return
        assert isinstance(seen.type, TileType)
        assert seen.data is not None
        data = seen.data[row]
        undefined = None if seen.undefined is None else seen.undefined[row]
        shown = summary(data, undefined, seen.type, event.frame.run.memory)
        note = ""
        if match.lanes is not None:
            lanes = match.lanes[number]
            count, at = int(np.count_nonzero(lanes)), first(lanes)
            conditions = " or ".join(
                [*map(str, self.where.conditions), *(f"differs={f}" for f in self.where.differs)]
            )
            note = f" where {conditions}: {count} of {lanes.size} lanes, first {tuple(at or ())}"
            about |= {"condition": conditions, "lanes": count, "first_lane": at}
        if self.lines.as_json:
            values = extent_of_values(data, undefined, seen.type)
            about |= {name: plain(value) for name, value in values.items()}
            about["summary"] = shown
            about["elements"] = elements(data, undefined) if data.size <= LISTED else None
        self.lines.write(f"{where} {definition(event, seen)} {shown}{note}", about)

    def end(self, *, complete: bool) -> None:
        """Close the file; what was written stays, however the launch ended."""
        self.lines.close()
