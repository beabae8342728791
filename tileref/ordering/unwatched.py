"""Loads that need no watching: of memory that the kernel writes nowhere."""

from __future__ import annotations

from collections.abc import Iterable

from tileir.module import Function, Operation
from tileir.types import PointerType, TileType

from ..waiting import Origins, Root
from .access import MEMORY, READS, Role, role_of


def unwatched(function: Function, operations: Iterable[Operation]) -> frozenset[int]:
    """The ``id`` of every weak load whose pointers come from parameters that no access writes through.

    There is none where some address cannot be traced back, or is itself loaded from memory.
    """
    accesses = [operation for operation in operations if isinstance(operation, MEMORY)]
    if any(_loads_pointers(access) for access in accesses):
        return frozenset()
    origins = Origins(function, list(operations))
    written: set[Root] = set()
    read: dict[int, frozenset[Root]] = {}
    for access in accesses:
        roots = origins.of(access)
        if roots is None:
            return frozenset()
        if not isinstance(access, READS):
            written |= roots
        elif role_of(access) is Role.WEAK_READ:
            read[id(access)] = roots
    return frozenset(key for key, roots in read.items() if not roots & written)


def _loads_pointers(access: Operation) -> bool:
    return any(
        isinstance(value.type, TileType) and isinstance(value.type.element, PointerType)
        for value in access.results
    )
