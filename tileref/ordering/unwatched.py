"""Loads that need no watching: of memory that the kernel writes nowhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from tileir.module import Function, Operation

from ..waiting import Origins, Root, Roots
from .access import READS, Role, role_of


def unwatched(
    function: Function, operations: Sequence[Operation], written: Roots
) -> dict[int, frozenset[Root]]:
    """Every weak load whose pointers come from what no access writes through, by its ``id``, and from what.

    There is none where some address cannot be traced back. ``written`` is all that the function writes to.
    """
    if written is None:
        return {}
    origins = Origins(function, list(operations))
    found = {}
    for operation in operations:
        if not isinstance(operation, READS):
            continue
        roots = origins.of(operation)
        if roots is None:
            return {}
        if role_of(operation) is Role.WEAK_READ and not roots & written:
            found[id(operation)] = roots
    return found


def unshared(
    loads: Mapping[int, frozenset[Root]], written: Roots, shared: Callable[[Root, Root], bool]
) -> frozenset[int]:
    """Of the ``loads``, those of memory that shares no byte with what is written to in a launch."""
    return frozenset(
        load
        for load, roots in loads.items()
        if written is not None and not any(shared(a, b) for a in roots for b in written)
    )
