"""The manifest of this package's cases: reading it, and choosing cases by pattern."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from . import choosing, documents
from .case import Buffer, Case, Made, Parameter, Scalar
from .records import Folder

HERE = Path(__file__).parent
MANIFEST = HERE / "manifest.json"
ANSWERS = HERE / "answers"


def load(patterns: str | Iterable[str] = ()) -> list[Case]:
    """The cases whose name matches one of ``patterns``, all if there are none; in the manifest's order.

    Args:
        patterns: names, or shell patterns (``*`` also matches ``/``).

    Raises:
        ArgumentError: a pattern matches no case.
        TileError: the manifest is damaged.
    """
    return choose(_cases(), patterns)


def choose(cases: Sequence[Case], patterns: str | Iterable[str]) -> list[Case]:
    """Those of ``cases`` that match a pattern, in their own order.

    Raises:
        ArgumentError: a pattern matches no case.
    """
    return choosing.choose(cases, patterns, lambda case: (case.name,), "case")


@cache
def _cases() -> tuple[Case, ...]:
    manifest = documents.load(MANIFEST, "manifest")
    records = Folder(ANSWERS)
    return tuple(_case(entry, records) for entry in documents.get(manifest, "cases", list, MANIFEST))


def _case(entry: Any, records: Folder) -> Case:
    name = documents.get(entry, "name", str, MANIFEST)
    return Case(
        name=name,
        path=HERE / documents.get(entry, "kernel", str, MANIFEST),
        entry=documents.get(entry, "entry", str, MANIFEST),
        grid=documents.integers(documents.get(entry, "grid", list, MANIFEST), MANIFEST, "grid", lowest=1),
        parameters=tuple(_parameter(p) for p in documents.get(entry, "parameters", list, MANIFEST)),
        sha256=documents.get(entry, "sha256", str, MANIFEST),
        records=records,
    )


def _parameter(entry: Any) -> Parameter:
    format_name = documents.get(entry, "format", str, MANIFEST)
    if "bits" in entry:
        return Scalar(format_name, int(documents.get(entry, "bits", str, MANIFEST), 16))
    return Buffer(
        name=documents.get(entry, "name", str, MANIFEST),
        format=format_name,
        shape=documents.integers(documents.get(entry, "shape", list, MANIFEST), MANIFEST, "shape"),
        contents=Made(documents.get(entry, "recipe", dict, MANIFEST)),
        output=documents.get(entry, "output", bool, MANIFEST, default=False),
    )
