"""Every fault is reported as what it is and where it is, and its near misses are not reported at all."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import tileir
import tileref
from tests.tileref.defects import addresses, ordering, sharing, values
from tests.tileref.defects.case import Case
from tileref.kinds import Kind, table

CASES = [*addresses.CASES, *ordering.CASES, *sharing.CASES, *values.CASES]
FAULTS = [c for c in CASES if c.operation is not None]
NEAR = [c for c in CASES if c.operation is None]
PAGE = Path(__file__).parents[3] / "docs" / "undefined.md"


def launch(case: Case, **options: object) -> tileref.LaunchResult:
    return tileref.launch(tileir.parse(case.source), case.grid, case.args(), **options)  # type: ignore[arg-type]


def place(case: Case, mark: str) -> str | None:
    for line, text in enumerate(case.text.strip().split("\n"), start=1):
        if text.endswith(f" {mark}"):
            return f"{mark.lower()}:{line}:1"
    return None


@pytest.mark.parametrize("case", FAULTS, ids=str)
def test_a_fault_is_reported(case: Case) -> None:
    result = launch(case)
    (event,) = result.undefined
    assert (event.kind, event.operation) == (case.kind.value, case.operation)
    assert event.location == place(case, "HERE")
    assert event.location is not None
    assert (event.block, event.lane) == (case.block, case.lane)
    assert (event.buffer, event.index) == (case.buffer, case.index)
    assert event.count == case.count
    assert event.values == case.values
    assert (event.other is None) == (case.other is None)
    if event.other is not None:
        assert event.other.block == case.other
        assert event.other.lane == (case.other_lane or case.lane)
        assert (event.other.buffer, event.other.index) == (case.other_place or (case.buffer, case.index))
        assert event.other.location == (place(case, "THERE") or place(case, "HERE"))
    if case.undefined is not None:
        found = {i: np.flatnonzero(m.ravel()).tolist() for i, m in result.undefined_elements.items()}
        assert found == {i: list(elements) for i, elements in case.undefined.items()}
    assert case.kind.value in str(event)
    json.dumps(dataclasses.asdict(event))


@pytest.mark.parametrize("case", NEAR, ids=str)
def test_a_near_miss_is_not(case: Case) -> None:
    result = launch(case)
    assert not result.undefined
    assert not result.undefined_elements
    assert not result.unchecked


@pytest.mark.parametrize("case", FAULTS, ids=str)
def test_strict_stops_at_it_and_off_says_nothing(case: Case) -> None:
    with pytest.raises(tileref.UndefinedBehaviour) as error:
        launch(case, check="strict")
    assert error.value.rule == case.kind.value
    assert not launch(case, check="off").undefined


@pytest.mark.parametrize("case", FAULTS, ids=str)
def test_the_report_does_not_depend_on_which_blocks_run_together(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = launch(case, threads=1).undefined
    for threads in (1, 4):
        with monkeypatch.context() as patch:
            patch.setattr("tileref.schedule.blocks_together", lambda *_: 1)
            assert launch(case, threads=threads).undefined == whole


def test_every_kind_has_three_of_each() -> None:
    faults, near = Counter(c.kind for c in FAULTS), Counter(c.kind for c in NEAR)
    assert {kind for kind in Kind if faults[kind] < 3 or near[kind] < 3} == set()
    assert len({str(c) for c in CASES}) == len(CASES)


def test_the_page_lists_every_kind() -> None:
    assert table() in PAGE.read_text(), (
        "run: python -m tileref.kinds, and put the table into docs/undefined.md"
    )
    assert all(kind.rule.endswith(".") for kind in Kind)
