"""Verdicts: one for each output of each case, with everything that a reader asks about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Source = Literal["launched", "recorded", "none"]

FAILURES = frozenset(
    {
        "differs",
        "refused",
        "crashed",
        "timeout",
        "fault",
        "load",
        "guard",
        "nondeterministic",
        "launch-crashed",
    }
    | {"launch-timeout", "not-interpreted"}
)
"""Classes that make a run fail."""

CLASSES = {
    "agrees": "every answer is within its tier",
    "differs": "an answer is outside its tier: a wrong model, or wrong code",
    "open": "answers differ in places where no source gives a bound",
    "unsupported": "the target lacks what the kernel uses",
    "refused": "the assembler refused the kernel",
    "crashed": "the assembler crashed",
    "timeout": "the assembler was too slow",
    "load": "the driver did not accept the cubin",
    "fault": "the GPU reported an error",
    "launch-crashed": "the process that launched died",
    "launch-timeout": "the kernel was too slow",
    "guard": "the kernel wrote outside its buffers",
    "nondeterministic": "the same launch gave other bits",
    "not-interpreted": "the interpreter cannot run the kernel",
    "not-compared": "there is no answer of a GPU to compare with",
}
"""What each class of a verdict means."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One lane that differs: its index, and both sides as bits and as values."""

    index: tuple[int, ...]
    expected_bits: str
    expected: str
    found_bits: str
    found: str
    ulps: float | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """About one output of one case.

    Attributes:
        case, family: the case's name and the first part of it.
        output, format: the buffer's name and element format; empty where there was nothing to compare.
        operations: the kernel's operations that compute, by name, each with its result's format.
        result: the class, a key of ``CLASSES``.
        tier: ``exact`` or ``tolerance``, as predicted; ``bound`` says how much.
        confirmed: the tier that the measurement shows: ``exact``, ``tolerance``, or ``no``.
        opt_levels: the assembler's levels whose answer this is.
        lanes, undefined, differing, outside: lanes of the output, those without a defined value, those whose
            bits differ, and those that break the bound.
        max_ulp: largest distance in units in the last place; None where it means nothing.
        source: where the answer comes from; ``device`` and ``driver`` say more.
        seconds: what the interpreter took for the case.
        because: why the tier is not exact.
        notes: whatever else a reader should know.
        differences: the first lanes that differ.
    """

    case: str
    family: str
    gpu: str
    model: str
    result: str
    source: Source
    output: str = ""
    format: str = ""
    operations: tuple[str, ...] = ()
    tier: str = ""
    bound: str = ""
    confirmed: str = ""
    opt_levels: tuple[int, ...] = ()
    lanes: int = 0
    undefined: int = 0
    differing: int = 0
    outside: int = 0
    max_ulp: float | None = None
    assembler: str = ""
    device: str = ""
    driver: str = ""
    date: str = ""
    seconds: float = 0.0
    because: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = field(default=(), repr=False)

    @property
    def failed(self) -> bool:
        """Whether this makes the run fail."""
        return self.result in FAILURES
