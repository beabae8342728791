"""What a case is: host code of somebody else's, and what it must answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Check:
    """An answer beside its reference.

    Attributes:
        found: what the host code answered.
        expected: the reference, of any float type.
        rtol, atol: ``|found - expected|`` may be ``atol + rtol * |expected|``.
    """

    found: torch.Tensor
    expected: torch.Tensor
    rtol: float
    atol: float

    def excess(self) -> float:
        """The largest deviation over what is allowed: up to 1 is agreement."""
        if self.found.shape != self.expected.shape:
            return float("inf")
        if self.found.numel() == 0:
            return 0.0
        found, expected = (t.detach().to(torch.float64) for t in (self.found, self.expected))
        same = (found == expected) | (found.isnan() & expected.isnan())
        deviation = (found - expected).abs() / (self.atol + self.rtol * expected.abs()).clamp_min(1e-300)
        worst = torch.where(same, torch.zeros_like(deviation), deviation)
        return float(worst.nan_to_num(nan=float("inf")).max())


Answer = Callable[[], Iterator[Check]]


@dataclass(frozen=True)
class Case:
    """Host code with its inputs.

    Attributes:
        name: what it is called here.
        source: where the kernels come from.
        answer: runs the host code and yields checks.
        capability: the compute capability that the host code is to see, if no other will do.
        reason: why it is not expected to agree, None if it is.
    """

    name: str
    source: str
    answer: Answer
    capability: tuple[int, int] | None = None
    reason: str | None = None


class Cases:
    """Cases by the order in which they were declared."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.all: list[Case] = []

    def __call__(
        self,
        name: str | None = None,
        capability: tuple[int, int] | None = None,
        reason: str | None = None,
    ) -> Callable[[Answer], Answer]:
        """Declare a function as a case under its own name, or another."""

        def declare(answer: Answer) -> Answer:
            self.all.append(Case(name or answer.__name__, self.source, answer, capability, reason))
            return answer

        return declare


TOLERANCE = {
    torch.float64: 1e-12,
    torch.float32: 2e-5,
    torch.float16: 2e-3,
    torch.bfloat16: 1.6e-2,
}
"""What a few roundings in a format come to, for answers of around 1."""


def like(found: torch.Tensor, expected: torch.Tensor, times: float = 1.0) -> Check:
    """A check with the tolerance of the type that was answered, or ``times`` as much."""
    tolerance = TOLERANCE.get(found.dtype, 0.0) * times
    return Check(found, expected, tolerance, tolerance)


def exactly(found: torch.Tensor, expected: torch.Tensor) -> Check:
    """A check without tolerance."""
    return Check(found, expected, 0.0, 0.0)


def normal(*shape: int, dtype: torch.dtype = torch.float32, scale: float = 1.0) -> torch.Tensor:
    """Seeded values around 0."""
    return (torch.randn(shape, dtype=torch.float32) * scale).to(dtype)
