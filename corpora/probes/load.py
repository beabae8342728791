"""Choosing probes by pattern."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from ..choosing import choose
from .families import FAMILIES
from .probe import Probe


def load(patterns: str | Iterable[str] = ()) -> list[Probe]:
    """The probes whose name, or family, matches one of ``patterns``; all if there are none.

    Raises:
        ArgumentError: a pattern matches no probe.
    """
    return choose(_probes(), patterns, lambda probe: (probe.name, probe.family), "probe")


@cache
def _probes() -> tuple[Probe, ...]:
    return tuple(probe for family in FAMILIES.values() for probe in family())
