"""Loads that need no watching: of memory that the kernel writes nowhere."""

from __future__ import annotations

from collections.abc import Sequence

from tileir.module import Function, Operation

from ..waiting import Origins, Roots
from .access import READS, Role, role_of


def unwatched(function: Function, operations: Sequence[Operation], written: Roots) -> frozenset[int]:
    """The ``id`` of every weak load whose pointers come from what no access writes through.

    There is none where some address cannot be traced back. ``written`` is all that the function writes to.
    """
    if written is None:
        return frozenset()
    origins = Origins(function, list(operations))
    found = set()
    for operation in operations:
        if not isinstance(operation, READS):
            continue
        roots = origins.of(operation)
        if roots is None:
            return frozenset()
        if role_of(operation) is Role.WEAK_READ and not roots & written:
            found.add(id(operation))
    return frozenset(found)
