"""Formats that continuous integration reads: JUnit's XML, and GitHub's annotations."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd

from .frame import rows_of, worst_by_case

SKIPPED = ("not-compared", "unsupported")

NOT_IN_XML = dict.fromkeys([*range(9), 11, 12, *range(14, 32)])


def to_junit(results: pd.DataFrame, failures: Collection[str], path: Path) -> None:
    """Write JUnit XML: a test case a case; one that was not compared is skipped.

    Args:
        results: from ``reports.frame.frame``.
        failures: the classes that count as failed.
        path: the file.
    """
    rows = rows_of(worst_by_case(results))
    suite = ElementTree.Element(
        "testsuite",
        name="difftest",
        tests=str(len(rows)),
        failures=str(sum(r["result"] in failures for r in rows)),
        skipped=str(sum(r["result"] in SKIPPED for r in rows)),
    )
    for row in rows:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=_clean(f"{row['gpu']}.{row['family']}"),
            name=_clean(row["case"]),
            time=f"{row['seconds']:.3f}",
        )
        if row["result"] in failures:
            failure = ElementTree.SubElement(case, "failure", message=headline(row))
            failure.text = _clean("\n".join([*map(_line, row["differences"]), *row["notes"]]))
        elif row["result"] in SKIPPED:
            ElementTree.SubElement(case, "skipped")
    path.write_bytes(ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True))


def github(results: pd.DataFrame, failures: Collection[str]) -> list[str]:
    """GitHub's workflow commands: an error for each case that failed."""
    rows = rows_of(worst_by_case(results))
    return [
        f"::error title={_escaped(_clean(row['case']), properties=True)}::{_escaped(headline(row))}"
        for row in rows
        if row["result"] in failures
    ]


def headline(row: dict[str, object]) -> str:
    """One line about a case."""
    text = f"{row['case']}: {row['result']}"
    if row["output"]:
        text += (
            f", {row['differing']} of {row['lanes']} lanes of {row['output']} differ, bound {row['bound']}"
        )
    notes = row["notes"]
    if isinstance(notes, list) and notes:
        text += f"; {notes[0]}"
    return _clean(text)


def _line(difference: dict[str, object]) -> str:
    return (
        f"{difference['index']}: expected {difference['expected_bits']} ({difference['expected']}), "
        f"found {difference['found_bits']} ({difference['found']})"
    )


def _clean(text: str) -> str:
    return text.translate(NOT_IN_XML)


def _escaped(text: str, properties: bool = False) -> str:
    pairs = [("%", "%25"), ("\r", "%0D"), ("\n", "%0A")]
    if properties:
        pairs += [(":", "%3A"), (",", "%2C")]
    for old, new in pairs:
        text = text.replace(old, new)
    return text
