"""Tiers: what a verdict may ask of each output of a case, predicted before anything runs.

An output is **exact** where the model claims the bits of every operation that it depends on, and
**tolerance** where it does not claim some: then the bound is what those operations' documented errors become
on their way to the output (see ``difftest.errors``). There is no number for all outputs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tileir.module import Module
from tileref.arguments import find_entry

from .errors import Claims, Uncertain, analyse

Name = Literal["exact", "tolerance"]


@dataclass(frozen=True, slots=True)
class Tier:
    """What is predicted of one output.

    Attributes:
        name: ``exact`` or ``tolerance``.
        ulps: the bound in units in the last place, where one operation alone makes it; else None.
        rel, abs: the bound otherwise: off by at most ``rel * |expected| + abs``. Infinite where nothing is
            known.
        because: the operations whose bits the model does not claim, each with the reason.
    """

    name: Name
    ulps: float | None = None
    rel: float = 0.0
    abs: float = 0.0
    because: tuple[str, ...] = ()

    @property
    def bounded(self) -> bool:
        """Whether there is a bound to hold an answer against."""
        return (
            self.name == "exact"
            or self.ulps is not None
            or (math.isfinite(self.rel) and math.isfinite(self.abs))
        )

    def __str__(self) -> str:
        if self.name == "exact":
            return "exact"
        if self.ulps is not None:
            return f"{self.ulps:g} ulp"
        if not self.bounded:
            return "no bound"
        return f"{self.rel:.1e} rel + {self.abs:.1e}"


EXACT = Tier("exact")


def predict(
    module: Module, entry: str | None, grid: Sequence[int], arguments: Sequence[Any], model: Claims
) -> dict[int, Tier]:
    """The tier of each buffer, by its position among the parameters.

    ``model`` is the target's own; a target without one is claimed by ``difftest.errors.Unmeasured``.

    Raises:
        TileError: the module has no such entry.
    """
    return {i: _tier(u) for i, u in analyse(find_entry(module, entry), arguments, grid, model).items()}


def _tier(u: Uncertain) -> Tier:
    if u.exact:
        return EXACT
    because = sorted({f"{e.operation} {' '.join(e.formats)}: {e.reason}" for e in u.origins})
    rel, absolute = (math.inf if math.isnan(x) else x for x in (u.rel, u.abs))
    return Tier("tolerance", u.ulps, rel, absolute, tuple(because))
