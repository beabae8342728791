"""What came of the probes: a table on the terminal, or a JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table

from .check import FAILURES, OUTCOMES, Verdict

LISTED = 40
"""Differences that are shown; the JSON document has all."""


def by_family(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    """The verdicts of each family, in their order."""
    families: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        families.setdefault(verdict.family, []).append(verdict)
    return families


def counts(verdicts: Sequence[Verdict]) -> dict[str, int]:
    """How many there are, how many of each outcome, and in how many of the unclaimed ones all bits match."""
    result = {"probes": len(verdicts)}
    result |= {outcome: sum(v.outcome == outcome for v in verdicts) for outcome in OUTCOMES}
    result["same"] = sum(v.outcome == "not-claimed" and v.same for v in verdicts)
    return result


def as_json(verdicts: Sequence[Verdict], model: str, gpu: str) -> dict[str, Any]:
    """The document: counts by family and in all, and everything that does not simply agree."""
    return {
        "model": model,
        "gpu": gpu,
        "total": counts(verdicts),
        "families": {family: counts(group) for family, group in by_family(verdicts).items()},
        "verdicts": [asdict(v) for v in verdicts if v.outcome != "agrees"],
    }


def show(verdicts: Sequence[Verdict], console: Console | None = None) -> None:
    """Print what differs, a line a family, and the sum."""
    console = console or Console(highlight=False)
    failures = [v for v in verdicts if v.outcome in FAILURES]
    for verdict in failures[:LISTED]:
        console.print(f"[red]{verdict.probe}[/]: {verdict.difference}", soft_wrap=True)
    if len(failures) > LISTED:
        console.print(f"... and {len(failures) - LISTED} more")
    table = Table(box=None, pad_edge=False, show_footer=True)
    total = counts(verdicts)
    table.add_column("family", "all")
    for title, key in COLUMNS:
        # Records are complete as a rule; a column of zeros tells nothing.
        if key in ALWAYS or total[key]:
            table.add_column(title, str(total[key]), justify="right")
    for family, group in by_family(verdicts).items():
        numbers = counts(group)
        shown = (str(numbers[key]) for _, key in COLUMNS if key in ALWAYS or total[key])
        table.add_row(family, *shown)
    console.print(table)


COLUMNS = (
    ("probes", "probes"),
    ("agree", "agrees"),
    ("differ", "differs"),
    ("not claimed", "not-claimed"),
    ("of these alike", "same"),
    ("stale", "stale"),
    ("no answer", "no-answer"),
)
ALWAYS = ("probes", "agrees", "differs", "not-claimed", "same")
