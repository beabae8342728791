"""Reports: nothing is lost, nothing is fetched, and hostile names stay text."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd

from reports import ci
from reports.frame import COLUMNS, frame, rows_of, summary, to_csv, to_json, worst_by_case
from reports.page import number, page
from reports.picture import cells, svg

HOSTILE = "<script>alert('x')</script> \" & \x07 %0A::error::"


def row(case: str, result: str = "agrees", confirmed: str = "exact", **more: Any) -> dict[str, Any]:
    base: dict[str, Any] = dict.fromkeys(COLUMNS, "")
    base |= {
        "case": case,
        "family": case.partition("/")[0],
        "gpu": "sm_90",
        "model": "sm_90",
        "result": result,
        "source": "recorded",
        "output": "out0",
        "format": "f32",
        "operations": ("addf f32",),
        "tier": "exact",
        "bound": "exact",
        "confirmed": confirmed,
        "opt_levels": (3, 0),
        "lanes": 64,
        "undefined": 0,
        "differing": 0 if confirmed == "exact" else 2,
        "outside": 2 if result == "differs" else 0,
        "max_ulp": 0.0,
        "seconds": 0.001,
        "because": (),
        "notes": (),
        "differences": (),
    }
    return base | more


DIFFERENCE = {
    "index": (1, 2),
    "expected_bits": "0x3f800000",
    "expected": "1.0",
    "found_bits": "0x7fc00000",
    "found": "nan",
    "ulps": float("inf"),
}

ROWS = [
    row("a/one"),
    row(
        "a/two",
        confirmed="tolerance",
        operations=("exp f32", "ftof f32→f16"),
        tier="tolerance",
        bound="2 ulp",
    ),
    row("a/two", output="out1", operations=("exp f32", "ftof f32→f16")),
    row(
        "b/three",
        "differs",
        "no",
        differences=(DIFFERENCE,),
        notes=("a note",),
        operations=("addf f32", "mmaf f16"),
    ),
    row("b/four", "not-compared", "", output="", source="none", max_ulp=None),
    row("b/five", "open", "tolerance", operations=("scan f32",)),
    row(HOSTILE, "refused", "", output="", notes=(HOSTILE,), operations=(HOSTILE,)),
]
RESULTS = frame(ROWS)
ABOUT = {"title": HOSTILE, "gpu": "sm_90", "summary": "What was found.", "facts": [("device", HOSTILE)]}
CLASSES = {"agrees": "it agrees"}


def test_summary_counts_cases_by_their_worst_output() -> None:
    counts = summary(RESULTS)
    assert counts["cases"] == 6
    assert counts["agrees"] == 2
    assert counts["differs"] == counts["refused"] == counts["open"] == counts["not-compared"] == 1
    assert counts["exact_outputs"] == 2
    worst = worst_by_case(RESULTS)
    assert list(worst["case"]) == ["a/one", "a/two", "b/three", "b/four", "b/five", HOSTILE]
    assert worst[worst["case"] == "a/two"]["confirmed"].item() == "tolerance"


def test_json_holds_everything(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    to_json(RESULTS, {"gpu": "sm_90"}, path)
    document = json.loads(path.read_text())
    assert [r["case"] for r in document["results"]] == [r["case"] for r in ROWS]
    assert list(document["results"][0]) == list(COLUMNS)
    (difference,) = document["results"][3]["differences"]
    assert difference["index"] == [1, 2]
    # JSON has no infinity.
    assert difference["ulps"] == "inf"
    assert document["results"][4]["max_ulp"] is None


def test_csv_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    to_csv(RESULTS, path)
    again = pd.read_csv(path)
    assert list(again["case"]) == list(RESULTS["case"])
    assert again["opt_levels"][0] == "3; 0"
    assert again["differing"].sum() == RESULTS["differing"].sum()


class Page(HTMLParser):
    """Tags, their attributes, and the scripts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "input", "rect", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_needs_nothing() -> None:
    text = page(RESULTS, ABOUT, CLASSES)
    parsed = Page(text)
    assert not parsed.open
    names = [tag for tag, _ in parsed.tags]
    assert names.count("script") == 1
    assert "link" not in names
    assert "img" not in names
    for _, attributes in parsed.tags:
        assert not {"src", "href", "srcset", "onclick", "onload"} & attributes.keys()
    assert "//" not in re.sub(r"<script>.*</script>", "", text, flags=re.S)
    assert "@import" not in text
    assert "url(" not in text
    rows = [a for tag, a in parsed.tags if tag == "tr" and a.get("class") == "case"]
    assert [r["data-level"] for r in rows] == ["exact", "tolerance", "differs", "none", "open", "differs"]
    assert "0x7fc00000" in text
    assert "<script>alert" not in text


def test_the_picture_has_a_square_for_each_operation_and_format() -> None:
    found = cells(RESULTS)
    assert found["addf", "f32"] == ("differs", 3)
    assert found["exp", "f32"] == ("tolerance", 1)
    assert found["ftof", "f32"] == found["ftof", "f16"] == ("tolerance", 1)
    assert found["scan", "f32"] == ("open", 1)
    drawn = svg(RESULTS)
    assert drawn.count('class="cell"') == len([k for k in found if k[1] in ("f32", "f16")])
    for panel in re.findall(r"<svg.*?</svg>", drawn, flags=re.S):
        ElementTree.fromstring(panel)
    assert svg(frame([])) == ""


def test_a_page_without_cases() -> None:
    assert "0</b>" in page(frame([]), ABOUT, CLASSES)


def test_junit(tmp_path: Path) -> None:
    path = tmp_path / "r.xml"
    ci.to_junit(RESULTS, {"differs", "refused"}, path)
    suite = ElementTree.parse(path).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("6", "2", "1")
    failures = {c.get("name"): c.find("failure") for c in suite if c.find("failure") is not None}
    assert "2 of 64 lanes" in (failures["b/three"].get("message") or "")
    assert "0x7fc00000" in (failures["b/three"].text or "")


def test_annotations_cannot_be_broken_out_of() -> None:
    lines = ci.github(RESULTS, {"differs", "refused"})
    assert len(lines) == 2
    assert all(line.startswith("::error title=") and "\n" not in line for line in lines)
    assert "%250A" in lines[1]
    title = lines[1].removeprefix("::error title=").partition("::")[0]
    assert title.endswith("%3A%3Aerror%3A%3A")
    assert "\x07" not in lines[1]


def test_numbers_as_people_read_them() -> None:
    assert [number(x) for x in (None, "", 3, 12345, 2.0, 0.1234567, 1e9, "inf")] == [
        *("", "", "3", "12\u202f345", "2", "0.123", "1e+09", "inf")
    ]


def test_rows_are_plain() -> None:
    for plain in rows_of(RESULTS):
        json.dumps(plain, allow_nan=False)
