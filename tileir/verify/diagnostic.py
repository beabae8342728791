"""What a rule has to say."""

from __future__ import annotations

from dataclasses import dataclass

from ..locations import Location


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: in words, and what was found and expected, ready to print."""

    message: str
    found: object = None
    expected: object = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A rule that a module breaks.

    Attributes:
        rule: the rule's short stable name, such as ``tile-extent-power-of-two``.
        operation: the dialect's name of the operation, or ``entry``, ``global`` or ``module``.
        function: the name of the function that the operation is in, if it is in one.
        location: where the operation comes from, if that is known.
        message: what is wrong, in words.
        found, expected: the two sides, ready to print; None where there are none.
    """

    rule: str
    operation: str
    function: str | None
    location: Location | None
    message: str
    found: str | None = None
    expected: str | None = None

    def __str__(self) -> str:
        where = self.operation if self.function is None else f"{self.operation} in @{self.function}"
        if self.location is not None:
            where += f" at {self.location}"
        sides = []
        if self.found is not None:
            sides.append(f"found {self.found}")
        if self.expected is not None:
            sides.append(f"expected {self.expected}")
        detail = f" ({', '.join(sides)})" if sides else ""
        return f"{where}: {self.message}{detail} [{self.rule}]"
