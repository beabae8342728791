"""Results as a pandas frame: one row for each output of each case."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

COLUMNS = {
    "case": "name of the case",
    "family": "first part of the name",
    "gpu": "target",
    "model": "model that says what must be answered",
    "result": "class of the verdict",
    "source": "launched, recorded or none",
    "output": "buffer that was compared",
    "format": "its element format",
    "operations": "operations that compute, with their formats",
    "tier": "exact or tolerance, as predicted",
    "bound": "what the tier allows",
    "confirmed": "exact, tolerance or no, as measured",
    "opt_levels": "optimization levels of the assembler",
    "lanes": "elements of the output",
    "undefined": "elements without a defined value",
    "differing": "elements whose bits differ",
    "outside": "elements that break the bound",
    "max_ulp": "largest distance in units in the last place",
    "assembler": "its version",
    "device": "the GPU's name",
    "driver": "its driver's version",
    "date": "when it was launched",
    "seconds": "what the interpreter took for the case",
    "because": "why the tier is not exact",
    "notes": "what else there is to know",
    "differences": "first elements that differ",
}
"""The columns, in order, and what they hold."""

LISTS = ("operations", "opt_levels", "because", "notes", "differences")


def frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """A frame of rows that have the keys of ``COLUMNS``; lists stay lists."""
    return pd.DataFrame(list(rows), columns=list(COLUMNS))


def to_csv(results: pd.DataFrame, path: Path) -> None:
    """Write a table for spreadsheets: lists become text joined by ``; ``, differences are left out."""
    flat = results.drop(columns="differences")
    for column in LISTS[:-1]:
        flat[column] = flat[column].map(lambda items: "; ".join(map(str, items)))
    flat.to_csv(path, index=False)


def to_json(results: pd.DataFrame, about: Mapping[str, Any], path: Path) -> None:
    """Write everything: ``{"about": ..., "results": [...]}``, one result an object with all columns."""
    document = {"about": dict(about), "results": rows_of(results)}
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def rows_of(results: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows as plain objects that JSON can hold; a missing number is None."""
    rows: list[dict[str, Any]] = results.to_dict(orient="records")
    return [{str(k): _plain(v) for k, v in row.items()} for row in rows]


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(v) for v in value]
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, float) and value != value:
        return None
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return str(value)
    return value


def summary(results: pd.DataFrame) -> dict[str, int]:
    """How many cases there are, how many of each class (a case counts as its worst output), and how many
    outputs agree in every bit.
    """
    worst = worst_by_case(results)
    counts = worst["result"].value_counts()
    return {
        "cases": len(worst),
        **{str(k): int(v) for k, v in counts.items()},
        "exact_outputs": int((results["confirmed"] == "exact").sum()),
        "outputs": int((results["output"] != "").sum()),
    }


ORDER = ("agrees", "unsupported", "not-compared", "open")
"""Classes that are no failure, the best first; every other one is worse."""


def worst_by_case(results: pd.DataFrame) -> pd.DataFrame:
    """One row a case: its worst one, in the order of first appearance."""
    rank = {name: i for i, name in enumerate(ORDER)}
    keyed = results.assign(
        _rank=results["result"].map(lambda r: rank.get(r, len(ORDER))),
        _tier=(results["confirmed"] != "exact").astype(int),
        _at=range(len(results)),
    )
    worst = keyed.sort_values(
        ["_rank", "_tier", "outside", "differing", "_at"], ascending=[False] * 4 + [True]
    )
    first = worst.groupby("case", sort=False).head(1)
    order = keyed.groupby("case", sort=False)["_at"].min()
    ordered = first.assign(_at=first["case"].map(order)).sort_values("_at")
    return ordered.drop(columns=["_rank", "_tier", "_at"])
