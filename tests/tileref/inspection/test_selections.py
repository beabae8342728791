"""The language of selections: what words mean, and what is said of those that mean nothing."""

from __future__ import annotations

import numpy as np
import pytest

import tileir
from tests.tileref.inspection.kernels import BRANCH, FOLD, LOOP
from tileir.errors import ArgumentError
from tileir.locations import CallSite, SourceLocation
from tileref.inspection import where
from tileref.inspection.blocks import chosen
from tileref.inspection.sites import Sites, lines_of


def found(kernel: str, text: str, grid: tuple[int, int, int] = (8, 1, 1)) -> list[str]:
    """Operations and values that a selection names, in the kernel's order."""
    sites = Sites(tileir.parse(kernel).functions[0])
    return [
        " ".join([site.name, *(sites.names[v] for v in values)])
        for site, values in sites.find(where(text), grid=grid).items()
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mulf", ["mulf %6"]),
        ("*f !mulf !if", ["addf %8"]),
        ("%6", ["mulf %6"]),
        ("%iterArg*", ["for %iterArg0"]),
        ("for", ["for %for", "for %loopIdx %iterArg0"]),
        ("for !%loopIdx", ["for %for", "for %iterArg0"]),
        ("mulf %8", None),
        ("mulf addf %8", ["addf %8"]),
        ("load_* store_*", ["load_ptr_tko %result %result_token", "store_ptr_tko %7"]),
        ("continue", ["continue"]),
        ("%blockId_[xz]", ["get_tile_block_id %blockId_x %blockId_z"]),
    ],
)
def test_operations_and_values(text: str, expected: list[str] | None) -> None:
    if expected is None:
        with pytest.raises(ArgumentError, match="nothing that is all of this"):
            found(LOOP, text)
    else:
        assert found(LOOP, text) == expected


def test_one_name_in_two_regions_is_two_values() -> None:
    assert found(BRANCH, "%5") == ["muli %5", "subi %5"]
    assert found(FOLD, "%reduce_lhs %reduce_rhs") == ["reduce %reduce_lhs %reduce_rhs"]


def test_ends_of_regions_are_found_by_name_alone() -> None:
    everything = found(BRANCH, "")
    assert not [each for each in everything if each.split()[0] in ("yield", "return")]
    assert found(BRANCH, "yield") == ["yield", "yield"]


def test_bodies_are_found_by_name_alone() -> None:
    assert "addf %9" not in found(FOLD, "")
    assert "addf %9" not in found(FOLD, "nan block=0")
    assert "addf %9" in found(FOLD, "bodies")
    assert found(FOLD, "addf bodies") == found(FOLD, "%9") == ["addf %9"]
    with pytest.raises(ArgumentError, match="add the word bodies"):
        found(FOLD, "addf")


def test_lines_of_the_place_and_of_its_callers() -> None:
    inner, outer = SourceLocation(None, "lib/util.py", 7, 2), SourceLocation(None, "/a/b/kern.py", 40, 0)
    assert lines_of(CallSite(inner, outer)) == (("lib/util.py", 7), ("/a/b/kern.py", 40))
    module = tileir.parse(LOOP)
    operations = {op.mnemonic: op for op in module.walk()}
    operations["mulf"].location = CallSite(inner, outer)
    operations["addf"].location = outer
    sites = Sites(module.functions[0])

    def names(text: str) -> list[str]:
        return [site.name for site in sites.find(where(text), grid=(1, 1, 1))]

    assert names("kern.py:40") == ["addf", "mulf"]
    assert names("b/kern.py:38-41 mulf") == ["mulf"]
    assert names("util.py:7") == names(":7") == names("util.py:7:2") == ["mulf"]
    for text in ("ern.py:40", "kern.py:41"):
        with pytest.raises(ArgumentError, match="nothing at the source line"):
            names(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("malf", r"no operation malf.*such as m"),
        ("%77", r"no value %77 \(`tileir dis` prints them\)"),
        (":12", "no source lines"),
        ("block=8", "the grid has no such block"),
        ("block=x", "names no blocks"),
        ("block=5-3", "range of blocks is empty"),
        ("block=1,2,3,4", "at most three"),
        ("iteration=", "names no iterations"),
        ("first=0", "no number of matches"),
        (":9-3", "range of lines is empty"),
        (">many", "means nothing"),
        ("nan&big", "means nothing"),
        ("!nan", "means nothing"),
        ("!>3", "means nothing"),
        ("%", "means nothing"),
    ],
)
def test_what_means_nothing(text: str, message: str) -> None:
    with pytest.raises(ArgumentError, match=message) as raised:
        found(LOOP, text)
    assert raised.value.rule in ("selection", "blocks")


def lanes(text: str, data: np.ndarray, undefined: np.ndarray | None = None) -> list[int]:
    held = np.zeros(data.shape, bool)
    for condition in where(text).conditions:
        held |= condition.lanes(data, undefined, None)
    return np.flatnonzero(held).tolist()


def test_conditions() -> None:
    data = np.array([1.0, np.nan, -np.inf, -3.0, 0.0, np.inf, 2.5], np.float32)
    assert lanes("nan", data) == [1]
    assert lanes("inf", data) == [2, 5]
    assert lanes("nan inf", data) == [1, 2, 5]
    assert lanes(">2", data) == [5, 6]
    assert lanes("abs>=2.5", data) == [2, 3, 5, 6]
    assert lanes(">=0&<2", data) == [0, 4]
    assert lanes("==0", data) == [4]
    assert lanes("!=1", data) == [1, 2, 3, 4, 5, 6]
    undefined = np.array([True, True, False, False, False, False, False])
    assert lanes("undefined", data, undefined) == [0, 1]
    assert lanes("undefined", data) == []
    # An element without a value is no NaN and no number.
    assert lanes("nan", data, undefined) == []
    assert lanes("==1", data, undefined) == []


def test_conditions_on_integers_are_exact() -> None:
    data = np.array([-(2**63), 2**63 - 1, 2**53, 2**53 + 1, -5], np.int64)
    assert lanes(f"=={2**53}", data) == [2]
    assert lanes("abs>=0x8000000000000000", data) == [0]
    assert lanes("nan inf", data) == []
    assert lanes(f"<{10**30}", data) == [0, 1, 2, 3, 4]
    assert lanes("==1", np.array([True, False])) == [0]


@pytest.mark.parametrize(
    ("blocks", "grid", "expected"),
    [
        (None, (4, 1, 1), None),
        ("3", (4, 1, 1), [3]),
        (3, (4, 1, 1), [3]),
        ("0-2 2 5", (9, 1, 1), [0, 1, 2, 5]),
        ([5, 0, 5], (9, 1, 1), [0, 5]),
        (range(2, 4), (9, 1, 1), [2, 3]),
        ("1,2", (3, 4, 5), [1 + 3 * 2]),
        ("1,2,3", (3, 4, 5), [1 + 3 * (2 + 4 * 3)]),
        (np.array([[1, 2, 3], [0, 0, 0]]), (3, 4, 5), [0, 1 + 3 * (2 + 4 * 3)]),
        ([(1, 2, 3), 0], (3, 4, 5), [0, 1 + 3 * (2 + 4 * 3)]),
        ("*,1-2,0", (2, 4, 5), [2, 3, 4, 5]),
        ("*", (2, 2, 2), list(range(8))),
        ("sample=3,seed=1 sample=99", (5, 1, 1), [0, 1, 2, 3, 4]),
    ],
)
def test_blocks(blocks: object, grid: tuple[int, int, int], expected: list[int] | None) -> None:
    found = chosen(blocks, grid)
    assert (None if found is None else found.tolist()) == expected


def test_a_sample_depends_on_its_seed_alone() -> None:
    grid = (10**6, 10**6, 1)
    first = chosen("sample=50,seed=3", grid)
    assert first is not None
    assert len(first) == 50
    assert first.max() > 2**31
    np.testing.assert_array_equal(first, chosen("sample=50,seed=3", grid))
    assert (first != chosen("sample=50,seed=4", grid)).any()


@pytest.mark.parametrize(
    "blocks", ["", "7", [7], [-1], [True], [1.5], "0,1", "sample=0", 2.5, [(0, 9)], "3;4"]
)
def test_blocks_that_are_not_there(blocks: object) -> None:
    with pytest.raises(ArgumentError) as raised:
        chosen(blocks, (7, 1, 1))
    assert raised.value.rule == "blocks"
