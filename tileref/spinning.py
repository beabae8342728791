"""Waiting without going round: a turn of a loop that would do exactly what the last one did is left out.

What a turn does follows from what it carries and from the memory that it touches. If a turn began and ended
with the same in both, then so will the next, until somebody else changes that memory; looking whether that
has happened is all there is to do. Nobody can tell the difference but by the clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .formats import Array
from .memory import Touched
from .values import RuntimeValue, Tile


@dataclass(slots=True)
class Seen:
    """Some memory, and what it held."""

    memory: Array
    elements: Array
    held: bytes

    @staticmethod
    def now(touched: Touched) -> Seen:
        """What is there now."""
        buffer, elements, itemsize = touched
        memory = buffer.typed(np.dtype(f"u{itemsize}"))
        return Seen(memory, elements, memory[elements].tobytes())

    def still(self) -> bool:
        """Whether it holds the same now."""
        return self.memory[self.elements].tobytes() == self.held

    def same(self, other: Seen) -> bool:
        """Whether ``other`` is the same memory and held the same."""
        return (
            self.memory is other.memory
            and self.held == other.held
            and np.array_equal(self.elements, other.elements)
        )


class Spin:
    """One block's way through a loop, turn by turn."""

    def __init__(self) -> None:
        self.seen: list[Seen] | None = None
        self.asleep = False

    def sleeps(self) -> bool:
        """Whether another turn would do what the last one did."""
        return self.asleep and self.undisturbed()

    def undisturbed(self) -> bool:
        """Whether the memory that the last turn touched is as that turn left it."""
        return self.seen is not None and all(seen.still() for seen in self.seen)

    def turned(self, undisturbed: bool, touched: list[Touched], *, moved: bool) -> None:
        """Note a turn that touched some memory; ``moved`` is whether it changed what the loop carries.

        ``undisturbed`` says whether memory was at its beginning as the turn before had left it.
        """
        seen = [Seen.now(each) for each in touched]
        self.asleep = (
            undisturbed
            and not moved
            and self.seen is not None
            and len(seen) == len(self.seen)
            and all(map(Seen.same, self.seen, seen))
        )
        self.seen = seen


def same_values(before: Sequence[RuntimeValue], now: Sequence[RuntimeValue]) -> bool:
    """Whether the values that a loop carries are the same in every bit."""
    return all(
        a is b or not isinstance(a, Tile) or not isinstance(b, Tile) or a.data.tobytes() == b.data.tobytes()
        for a, b in zip(before, now, strict=True)
    )
