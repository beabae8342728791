"""Watching a value: what it is whenever it is computed, and what changed since the last time."""

from __future__ import annotations

from typing import Any

import numpy as np

from tileir.types import TileType

from .event import Event, Seen
from .observer import Match
from .summary import extent_of_values, fields, first, number, place, plain, summary
from .trace import Trace


class Watch(Trace):
    """Writes a line for each of a selection's values whenever it is computed, block by block.

        block=0 iteration=2 %16 = mmaf : tile<32x32xf32> changed 1024 of 1024 min=-1.5 max=3.25 [[...]]

    The first time a block computes the value the line says ``new``.

    Args:
        selection: what to watch, such as ``%16`` or ``%16 block=0``.
        to: a stream, or the path of a file; standard output if not given.
        as_json: one JSON object a line.
    """

    kind = "watch"

    def matched(self, match: Match) -> None:
        """Write what changed in each of the blocks."""
        event, seen = match.event, match.seen
        if seen is None:
            super().matched(match)
            return
        assert seen.data is not None
        undefined = None if seen.undefined is None else seen.undefined[match.rows]
        before = self.last("watch", seen.value)
        known, changed = before.update(event, match.rows, seen.data[match.rows], undefined)
        for i, row in enumerate(match.rows):
            self._line(event, seen, int(row), changed[i] if known[i] else None)

    def _line(self, event: Event, seen: Seen, row: int, changed: Any) -> None:
        assert isinstance(seen.type, TileType)
        assert seen.data is not None
        data = seen.data[row]
        undefined = None if seen.undefined is None else seen.undefined[row]
        values = extent_of_values(data, undefined, seen.type)
        words = ["new"]
        if changed is not None:
            count, at = int(np.count_nonzero(changed)), first(changed)
            words = [f"changed {count} of {changed.size}"]
            if at:
                words.append(f"first=({','.join(map(str, at))})")
        if values["min"] is not None:
            least, greatest = (number(data.dtype.type(values[name])) for name in ("min", "max"))
            words.append(f"min={least} max={greatest}")
        if values.get("nan"):
            words.append(f"nan={values['nan']} first_nan=({','.join(map(str, values['first_nan']))})")
        if values["undefined"]:
            words.append(f"undefined={values['undefined']}")
        words.append(summary(data, undefined, seen.type, event.frame.run.memory))
        about = {
            "event": self.kind,
            **fields(event, row, seen),
            "changed": None if changed is None else int(np.count_nonzero(changed)),
            "first_changed": None if changed is None else first(changed),
            **{name: plain(value) for name, value in values.items()},
        }
        self.lines.write(
            f"{place(event, row)} {seen.name} = {event.name} : {seen.type} {' '.join(words)}", about
        )
