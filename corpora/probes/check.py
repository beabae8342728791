"""Interpreting a probe and comparing with what a GPU answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import tileref

from .evidence import Evidence
from .probe import RECORDS, Probe

Outcome = Literal["agrees", "differs", "not-claimed", "stale", "no-answer"]
OUTCOMES: tuple[Outcome, ...] = ("agrees", "differs", "not-claimed", "stale", "no-answer")
"""``stale``: the recorded answer is of another kernel or other inputs. ``not-claimed``: the model does not
answer for the bits, be they the same or not.
"""
FAILURES: tuple[Outcome, ...] = ("differs", "stale")


@dataclass(frozen=True)
class Verdict:
    """What came of a probe.

    Attributes:
        probe: its name.
        outcome: see ``OUTCOMES``.
        same: whether every bit that has a value is the same, at every level that was asked.
        difference: how much differs, and where first, level by level; empty if nothing does.
        unclaimed: why the model does not claim the bits; empty if it does.
    """

    probe: str
    outcome: Outcome
    same: bool = False
    difference: str = ""
    unclaimed: str = ""

    @property
    def family(self) -> str:
        """The probe's family."""
        return self.probe.partition("/")[0]


def check(probe: Probe, model: str, gpu: str, evidence: Evidence = RECORDS) -> Verdict:
    """Interpret ``probe`` under ``model`` and compare with the answer of ``gpu``.

    Raises:
        ArgumentError: there is no such model.
        TileError: a record is damaged, or the kernel cannot be run.
    """
    answers = evidence.answers(probe, gpu)
    if not answers:
        return Verdict(probe.name, "no-answer")
    if evidence.stale(probe, gpu):
        return Verdict(probe.name, "stale", difference="the record is of another kernel or other inputs")
    arguments: list[Any] = probe.arguments()
    result = tileref.launch(probe.kernel, probe.grid, arguments, model=model)
    output, undefined = arguments[probe.output], result.undefined_elements.get(probe.output)
    found = {a.source.opt_level: a.difference(output, undefined) for a in answers}
    differences = [f"at level {level}: {text}" for level, text in found.items() if text]
    unclaimed = result.unexplained[0].reason if result.unexplained else ""
    if unclaimed:
        outcome: Outcome = "not-claimed"
    else:
        outcome = "differs" if differences else "agrees"
    return Verdict(probe.name, outcome, not differences, "; ".join(differences), unclaimed)
