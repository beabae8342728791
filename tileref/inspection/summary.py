"""Tiles and places in one line each."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np

from tileir.types import PointerType, TileType

from ..formats import Array
from ..memory import Memory
from .blocks import spell
from .conditions import Lanes, as_numbers
from .event import Event, Seen
from .sites import lines_of

EDGE = 3
"""Elements at either end of a dimension that is too long to be shown whole."""
WHOLE = 8
"""Elements of a dimension that is shown whole."""


def summary(data: Array, undefined: Lanes | None, type_: TileType, memory: Memory | None = None) -> str:
    """A tile as numpy shows an array, in one line; ``?`` is an element without a value."""
    pointers = isinstance(type_.element, PointerType)

    def element(index: tuple[int, ...]) -> str:
        if undefined is not None and undefined[index]:
            return "?"
        value = data[index]
        if pointers:
            return address(int(value), memory)
        return number(value)

    def nested(index: tuple[int, ...]) -> str:
        if len(index) == data.ndim:
            return element(index)
        extent = data.shape[len(index)]
        if extent <= WHOLE:
            return "[" + " ".join(nested((*index, i)) for i in range(extent)) + "]"
        first = [nested((*index, i)) for i in range(EDGE)]
        last = [nested((*index, i)) for i in range(extent - EDGE, extent)]
        return "[" + " ".join([*first, "...", *last]) + "]"

    return nested(())


def number(value: Any) -> str:
    """A number by the fewest digits that tell it from others of its type; plain from 1e-4 to 1e16.

    numpy itself writes an f16 of 2048 as 2.048e+03.
    """
    if isinstance(value, np.bool_):
        return str(int(value))
    if isinstance(value, np.floating) and 1e-4 <= abs(float(value)) < 1e16:
        return np.format_float_positional(value, unique=True, trim="0")
    return str(value)


def address(value: int, memory: Memory | None) -> str:
    """A pointer as what it points into and at which byte."""
    buffer = None if memory is None else memory.at(value)
    if buffer is None:
        return hex(value)
    return f"{buffer.name.replace(' ', '')}{value - buffer.base:+d}"


def extent_of_values(data: Array, undefined: Lanes | None, type_: TileType) -> dict[str, Any]:
    """The least and the greatest number of a tile, and how many of its elements are none."""
    numbers = as_numbers(data)
    there = np.ones(data.shape, np.bool_) if undefined is None else ~undefined
    found: dict[str, Any] = {"undefined": int(data.size - np.count_nonzero(there))}
    if numbers.dtype.kind == "f":
        nan = np.isnan(numbers) & there
        found["nan"] = int(np.count_nonzero(nan))
        found["first_nan"] = first(nan)
        found["inf"] = int(np.count_nonzero(np.isinf(numbers) & there))
        there &= ~nan
    if isinstance(type_.element, PointerType) or not there.any():
        return {"min": None, "max": None, **found}
    kept = numbers[there]
    return {"min": kept.min().item(), "max": kept.max().item(), **found}


def first(lanes: Lanes) -> list[int] | None:
    """The position of the first lane that is set, if one is."""
    if not lanes.any():
        return None
    return [int(i) for i in np.unravel_index(int(np.argmax(lanes)), lanes.shape)]


def place(event: Event, row: int) -> str:
    """Where in the launch a block, or a lane of a body, is: source line, block, iteration, lane."""
    words = [] if event.location is None else [event.location]
    words.append(f"block={spell(int(event.blocks[row]), event.grid)}")
    if event.iteration:
        words.append("iteration=" + ",".join(map(str, event.iteration)))
    if event.lanes is not None and event.lanes.shape[1]:
        words.append("lane=" + ",".join(str(int(i)) for i in event.lanes[row]))
    return " ".join(words)


def defined(event: Event, seen: Seen | None) -> str:
    """The same of an operation whose values may be no tiles."""
    if seen is not None:
        return definition(event, seen)
    return "".join(f"{s.name} = {event.name} : {s.type}" for s in event.results[:1]) or event.name


def definition(event: Event, seen: Seen) -> str:
    """``%17 = mulf : tile<4xf32>``, or the same of an operand."""
    if event.stage == "arguments" or seen in event.results:
        return f"{seen.name} = {event.name} : {seen.type}"
    return f"{event.name} {seen.name} : {seen.type}"


def fields(event: Event, row: int, seen: Seen | None) -> dict[str, Any]:
    """The same for programs."""
    x, y, _ = event.grid
    block = int(event.blocks[row])
    found: dict[str, Any] = {
        "operation": event.name,
        "location": event.location,
        "block": [block % x, block // x % y, block // (x * y)],
        "iteration": list(event.iteration),
    }
    if event.lanes is not None:
        found["body_lane"] = [int(i) for i in event.lanes[row]]
    if seen is not None:
        found["value"] = seen.name
        found["type"] = str(seen.type)
        found["role"] = "result" if seen in event.results else "operand"
    return found


def source_line(event: Event) -> str | None:
    """The text of the source line, if the file is here."""
    location = event.site.location
    for file, line in lines_of(location):
        text = linecache.getline(file, line).strip()
        if text:
            return text
    return None


def plain(value: Any) -> Any:
    """A number that JSON has: NaN and the infinities as text."""
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value


def elements(data: Array, undefined: Lanes | None) -> Any:
    """All elements as nested lists of numbers; None is one without a value."""
    numbers = data if data.dtype == np.bool_ else as_numbers(data)
    listed = plain(numbers.tolist())
    if undefined is None:
        return listed

    def hidden(value: Any, mask: Any) -> Any:
        if isinstance(mask, list):
            return [hidden(v, m) for v, m in zip(value, mask, strict=True)]
        return None if mask else value

    return hidden(listed, undefined.tolist())
