"""Acquires and releases: who gives what came before to whom."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tileir.attributes import MemoryOrderingSemantics as Semantics
from tileir.module import Operation

from .access import Role, role_of
from .past import Past

STRONG = (Role.STRONG_READ, Role.STRONG_WRITE)


def acquires(operation: Operation) -> bool:
    """Whether an operation is an acquire to other blocks."""
    semantics = getattr(operation, "memory_ordering_semantics", None)
    return role_of(operation) in STRONG and semantics in (Semantics.ACQUIRE, Semantics.ACQ_REL)


def releases(operation: Operation) -> bool:
    """Whether an operation is a release to other blocks."""
    semantics = getattr(operation, "memory_ordering_semantics", None)
    return role_of(operation) in STRONG and semantics in (Semantics.RELEASE, Semantics.ACQ_REL)


def can_synchronise(operations: Iterable[Operation]) -> bool:
    """Whether a kernel has operations through which its blocks can synchronise."""
    found = list(operations)
    return any(map(acquires, found)) and any(map(releases, found))


@dataclass(frozen=True, slots=True)
class Release:
    """A release: its access, and what it waited for."""

    number: int
    past: Past


@dataclass(slots=True)
class Acquires:
    """The acquires of one block: a bit for each, what it waited for, and the releases that happen before."""

    bits: int = 0
    waited: dict[int, int] = field(default_factory=dict)
    seen: dict[int, int] = field(default_factory=dict)

    def add(self, number: int, past: Past, seen: int) -> None:
        """Note an acquire; one that has several lanes is noted once for each."""
        self.seen[number] = self.seen.get(number, 0) | seen | self.before(past)
        self.waited[number] = past.bits
        self.bits |= 1 << number

    def before(self, past: Past) -> int:
        """The releases that happen before what waits for ``past``."""
        left, visible = past.bits & self.bits, 0
        while left:
            number = left.bit_length() - 1
            visible |= self.seen[number]
            # What an acquire waited for is part of what it saw.
            left &= ~(1 << number | self.waited[number])
        return visible
