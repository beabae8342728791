"""Choosing by shell patterns, from whatever has names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import TypeVar

from tileir.errors import ArgumentError

T = TypeVar("T")


def choose(
    items: Sequence[T], patterns: str | Iterable[str], names: Callable[[T], Iterable[str]], what: str
) -> list[T]:
    """Those of ``items`` one of whose ``names`` matches a pattern, in their own order; all without patterns.

    Args:
        items: what to choose from.
        patterns: names, or shell patterns (``*`` also matches ``/``).
        names: what an item is called.
        what: what messages call an item.

    Raises:
        ArgumentError: a pattern matches no item.
    """
    wanted = [patterns] if isinstance(patterns, str) else list(patterns)
    if not wanted:
        return list(items)
    chosen: set[int] = set()
    for pattern in wanted:
        matching = {i for i, item in enumerate(items) if any(fnmatchcase(n, pattern) for n in names(item))}
        if not matching:
            raise ArgumentError(
                f"no {what} has this name or matches this pattern", rule=f"{what}-name", found=pattern
            )
        chosen |= matching
    return [items[i] for i in sorted(chosen)]
