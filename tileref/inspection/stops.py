"""Breakpoints: stopping at an operation in Python's debugger, with the kernel's values at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tileir.module import Value
from tileir.types import TileType

from ..formats import Array
from .event import Event, Seen
from .observer import Match, Observer
from .selections import Where
from .sites import Site, Sites
from .summary import defined, first, place, source_line


class Breakpoint(Observer):
    """Stops where a selection says, once the operation has run.

    What ``breakpoint()`` starts is started (pdb, or what ``sys.breakpointhook`` and PYTHONBREAKPOINT say), in
    a function whose variables are

    - ``op``: the operation; ``location`` and ``source``: its source line, and that line's text;
    - ``blocks``: the numbers of the blocks that stopped, in the order of every array's first axis;
    - ``value("%17")``: a value's elements in these blocks, (blocks, *shape), read-only;
    - ``values``: all tiles that are there, by name; nothing is forgotten after its last use while there are
      breakpoints;
    - ``undefined("%17")``: which elements have no value, or None;
    - ``found``: the name of the value that was selected; ``at``: the index into ``value(found)`` of the first
      element that the selection's condition holds for;
    - ``event``: all of it.

    The place is printed first, with its source line if the file is there.

    Args:
        selection: where to stop, such as ``nan first`` or ``%16 block=3 iteration=7``.
    """

    keeps_values = True

    def __init__(self, selection: str | Where = "") -> None:
        super().__init__(selection)
        self._sites: Sites | None = None

    def begin(self, sites: Sites, grid: tuple[int, int, int]) -> Mapping[Site, tuple[Value, ...]]:
        """Before a launch."""
        self._sites = sites
        return super().begin(sites, grid)

    def tell(self, event: Event) -> None:
        """Stop once, however many of the operation's values are named."""
        match = next(self.matches(event), None)
        if match is not None:
            self.matched(match)

    def matched(self, match: Match) -> None:
        """Stop."""
        assert self._sites is not None
        event = match.event
        values = Values(self._sites, match)
        source = source_line(event)
        summary = f"{place(event, int(match.rows[0]))} {defined(event, match.seen)}"
        print(f"> {summary}" if source is None else f"> {summary}\n-> {source}")
        at = None
        if match.lanes is not None:
            at = tuple(first(match.lanes) or ())
        stop(
            op=event.operation,
            blocks=event.blocks[match.rows],
            value=values.__getitem__,
            values=values,
            undefined=values.undefined,
            location=event.location,
            source=source,
            found=None if match.seen is None else match.seen.name,
            at=at,
            event=event,
            summary=summary,
        )


def stop(
    *,
    op: Any,
    blocks: Any,
    value: Callable[[str], Array],
    values: Mapping[str, Array],
    undefined: Callable[[str], Any],
    location: str | None,
    source: str | None,
    found: str | None,
    at: tuple[int, ...] | None,
    event: Event,
    summary: str,
) -> None:
    """Start the debugger; its variables are the arguments."""
    breakpoint()
    return  # and the kernel goes on


class Values(Mapping[str, Array]):
    """The tiles that are there where a kernel has stopped, by name: (blocks, *shape) each."""

    def __init__(self, sites: Sites, match: Match) -> None:
        self._match = match
        self._by_name: dict[str, list[Value]] = {}
        for value, name in sites.names.items():
            if isinstance(value.type, TileType):
                self._by_name.setdefault(name, []).append(value)

    def __getitem__(self, name: str) -> Array:
        data = self._seen(name).data
        assert data is not None
        return data[self._match.rows]

    def undefined(self, name: str) -> Any:
        """Which elements of a tile have no value; None if all have one."""
        lanes = self._seen(name).undefined
        return None if lanes is None else lanes[self._match.rows]

    def _seen(self, name: str) -> Seen:
        wanted = name if name.startswith("%") else f"%{name}"
        for value in self._by_name.get(wanted, ()):
            if self._match.event.is_there(value):
                return self._match.event.seen(value)
        known = wanted in self._by_name
        raise KeyError(f"{wanted} is not computed yet here" if known else f"no tile is called {wanted}")

    def __iter__(self) -> Iterator[str]:
        return (n for n, values in self._by_name.items() if any(map(self._match.event.is_there, values)))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"<values of {len(self)} tiles: {', '.join(self)}>"
