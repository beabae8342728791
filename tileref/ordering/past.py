"""What an access of a block waits for: the accesses that came before it along its chain of tokens.

The accesses of blocks that run together are numbered in the order they run. A token stands for a set of those
numbers, which is closed: an access that is waited for brings along what it waited for itself. That is all the
order there is within a block, for the memory model takes none from program order or from dependences between
values (Tile IR, "Memory Model", tokens and token order).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

WINDOW = 4096
"""How many of the latest accesses are told apart; those before count as waited for, so that long loops cost
no more than short ones and no alarm is false."""


@dataclass(frozen=True, slots=True)
class Past:
    """A set of accesses: all before number ``floor``, and of the others those whose bit is set in ``own``."""

    floor: int = 0
    own: int = 0

    def __contains__(self, number: int) -> bool:
        return number < self.floor or bool(self.own >> (number - self.floor) & 1)

    def after(self, number: int) -> Past:
        """The set with access ``number``, which is later than all of it."""
        past = self
        if number - self.floor >= 2 * WINDOW:
            past = self.raised(number - WINDOW)
        return Past(past.floor, past.own | 1 << (number - past.floor))

    def raised(self, floor: int) -> Past:
        """The same set and everything before ``floor``."""
        return self if floor <= self.floor else Past(floor, self.own >> (floor - self.floor))

    @property
    def bits(self) -> int:
        """A bit for every member."""
        return self.own << self.floor | (1 << self.floor) - 1


NOTHING = Past()


def joined(pasts: Iterable[Past]) -> Past:
    """What is in any of ``pasts``."""
    result = NOTHING
    for past in pasts:
        floor = max(result.floor, past.floor)
        a, b = result.raised(floor), past.raised(floor)
        result = Past(floor, a.own | b.own)
    return result
