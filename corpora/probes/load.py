"""Choosing probes by pattern."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cache

from tileir.errors import ArgumentError

from .families import FAMILIES
from .probe import Probe


def load(patterns: str | Iterable[str] = ()) -> list[Probe]:
    """The probes whose name, or family, matches one of ``patterns``; all if there are none.

    Raises:
        ArgumentError: a pattern matches no probe.
    """
    wanted = [patterns] if isinstance(patterns, str) else list(patterns)
    every = _probes()
    if not wanted:
        return list(every)
    chosen: set[str] = set()
    for pattern in wanted:
        names = {p.name for p in every if fnmatchcase(p.name, pattern) or fnmatchcase(p.family, pattern)}
        if not names:
            raise ArgumentError(
                "no probe has this name or matches this pattern", rule="probe-name", found=pattern
            )
        chosen |= names
    return [p for p in every if p.name in chosen]


@cache
def _probes() -> tuple[Probe, ...]:
    return tuple(probe for family in FAMILIES.values() for probe in family())
