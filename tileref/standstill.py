"""Whether blocks that wait will go on waiting for ever: all is as it has been before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b

from tileir.module import Operation

from .memory import Memory
from .spinning import same_values
from .values import RuntimeValue

PATIENCE = 4
"""Rounds in which no block ends before anybody looks whether one ever will; a power of two."""
COMPARISONS = 8
"""How often memory is compared with what it was at one earlier time."""


@dataclass(slots=True, eq=False)
class Pause:
    """Where a block waits: once around the loop ``operation``, with what it carries.

    ``entered`` is an object of its own each time that the loop is entered. ``moved`` is whether the turn
    changed what is carried, ``sleeps`` says whether another turn would change nothing and end here again.
    """

    operation: Operation
    entered: object
    carried: tuple[RuntimeValue, ...]
    moved: bool
    sleeps: Callable[[], bool] | None = None


class Past:
    """Tells when everything is as it has been before.

    Blocks that have no other state than where they wait, what they carry, and memory will then do again what
    they did since, and so for ever. A block that counts its turns in what it carries is never as it was. The
    time compared with is set anew after 4, 8, 16... rounds, so that cycles of any length are found.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.forget()

    def forget(self) -> None:
        """Start over: a block ended, which makes what was before of no interest."""
        self.rounds = 0
        self.pauses: list[Pause | None] = []
        self.digest = b""
        self.compared = 0

    def returns(self, pauses: list[Pause | None]) -> bool:
        """Whether all is as it was at the time compared with."""
        self.rounds += 1
        if self.rounds < PATIENCE:
            return False
        if self.rounds & (self.rounds - 1) == 0:
            self.pauses, self.digest, self.compared = pauses, self._digest(), 0
            return False
        if self.compared >= COMPARISONS or not all(map(_same_pause, self.pauses, pauses)):
            return False
        self.compared += 1
        return self._digest() == self.digest

    def _digest(self) -> bytes:
        """A hash of all memory that has been written to; the rest is as it was anyway."""
        state = blake2b(str(len(self.memory.buffers)).encode())
        for buffer in self.memory.buffers:
            if buffer.written:
                state.update(f"{buffer.base}:".encode())
                state.update(buffer.bytes.data)
        return state.digest()


def _same_pause(before: Pause | None, now: Pause | None) -> bool:
    return (
        before is not None
        and now is not None
        and before.entered is now.entered
        and same_values(before.carried, now.carried)
    )
