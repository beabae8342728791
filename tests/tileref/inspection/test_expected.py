"""Selections that compare with a file: ``differs=FILE``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.tileref.inspection.kernels import BRANCH, LOOP
from tests.tileref.inspection.test_comparing import TWICE
from tests.tileref.inspection.test_comparing import arguments as twice_arguments
from tests.tileref.inspection.test_probes import BLOCKS, loop_arguments
from tests.tileref.support import run
from tileir.errors import TileError


def traced(text: str, args: list[Any], selection: str, capsys: Any, **options: Any) -> list[str]:
    run(text, BLOCKS, args, trace=selection, **options)
    return [line.partition(" where ")[0] for line in capsys.readouterr().out.splitlines()]


def test_what_a_probe_wrote_does_not_differ(tmp_path: Path, capsys: Any) -> None:
    run(LOOP, BLOCKS, loop_arguments(), probe={"%8": tmp_path / "a.npz", "%6": tmp_path / "b.npy"})
    for selection in (
        f"differs={tmp_path}/a.npz",
        f"%8 differs={tmp_path}/a.npz",
        f"%6 differs={tmp_path}/b.npy",
    ):
        assert traced(LOOP, loop_arguments(), selection, capsys) == []


def test_the_first_that_differs(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "sum.npz"
    run(LOOP, BLOCKS, loop_arguments(), probe={"%8": path})
    other = loop_arguments()
    other[0][9] += 0.5  # Block 2, lane 1.
    selection = f"%8 differs={path}"
    # Block 2 goes round three times, and each of its sums has it.
    expected = [f"block=2 iteration={i} %8 = addf : tile<4xf32>" for i in range(3)]
    assert [x.partition(" [")[0] for x in traced(LOOP, other, selection, capsys)] == expected
    run(LOOP, BLOCKS, other, trace=f"%8 first differs={path}")
    line = capsys.readouterr().out
    assert line.endswith(f"where differs={path}: 1 of 4 lanes, first (1,)\n")
    for together in (1, BLOCKS):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("tileref.schedule.blocks_together", lambda *_, count=together: count)
            assert len(traced(LOOP, other, selection, capsys)) == 3
    assert traced(LOOP, other, f"{selection} block=0-1", capsys) == []
    assert len(traced(LOOP, other, f"{selection} iteration=1", capsys)) == 1


def test_arrays_of_ones_own(tmp_path: Path, capsys: Any) -> None:
    x = loop_arguments()[0].reshape(BLOCKS, 4)
    wanted = ((x * np.arange(1, 5)[:, None]) ** 2).astype(np.float32)
    np.save(tmp_path / "all.npy", wanted)
    assert traced(LOOP, loop_arguments(), f"%6 differs={tmp_path}/all.npy", capsys) == []
    wanted[3, 2] = -0.0
    np.save(tmp_path / "all.npy", wanted)
    [line] = traced(LOOP, loop_arguments(), f"%6 differs={tmp_path}/all.npy", capsys)
    assert line.startswith("block=3 %6 = mulf")
    # Some blocks, in the order of their numbers; and times, one after the other.
    np.save(tmp_path / "some.npy", wanted[1:3])
    assert traced(LOOP, loop_arguments(), f"%6 block=1-2 differs={tmp_path}/some.npy", capsys) == []
    np.save(tmp_path / "times.npy", np.stack([x[1:], 2 * x[1:]], axis=1))
    assert traced(LOOP, loop_arguments(), f"%8 block=1-3 differs={tmp_path}/times.npy", capsys) == []
    # Rows that say which block they are; a block that is in none is as it should be.
    np.savez(tmp_path / "rows.npz", data=wanted[[3, 0]], block=[3, 0])
    [line] = traced(LOOP, loop_arguments(), f"%6 differs={tmp_path}/rows.npz", capsys)
    assert line.startswith("block=3 %6 = mulf")


def test_a_nan_is_a_nan_and_what_has_no_value_is_anything(tmp_path: Path, capsys: Any) -> None:
    args = loop_arguments()
    args[0][0] = np.nan
    wanted = ((args[0].reshape(BLOCKS, 4) * np.arange(1, 5)[:, None]) ** 2).astype(np.float32)
    wanted.view(np.uint32)[0, 0] = 0xFFF00001
    np.save(tmp_path / "a.npy", wanted)
    assert traced(LOOP, args, f"%6 differs={tmp_path}/a.npy", capsys) == []
    undefined = np.zeros(wanted.shape, np.bool_)
    wanted[1, 1] = 7
    undefined[1, 1] = True
    np.savez(tmp_path / "b.npz", data=wanted, block=np.arange(4), undefined=undefined)
    assert traced(LOOP, args, f"%6 differs={tmp_path}/b.npz", capsys) == []
    # A probe of what was loaded out of range says that it has no value.
    short = [args[0][:14], args[1], 1]
    run(LOOP, BLOCKS, short, probe={"%6": tmp_path / "c.npz"})
    assert traced(LOOP, args, f"%6 differs={tmp_path}/c.npz", capsys) == []


def test_a_folder_of_every_value_finds_where_two_models_part(tmp_path: Path, capsys: Any) -> None:
    folder = f"{tmp_path}/spec/"
    run(TWICE, 2, twice_arguments(), probe={"%*": folder})
    run(TWICE, 2, twice_arguments(), model="sm_90", trace=f"first differs={folder}")
    line = capsys.readouterr().out
    assert line.startswith("block=0 %6 = ftof : tile<8xf8E4M3FN> ")
    assert line.endswith("1 of 8 lanes, first (1,)\n")
    run(TWICE, 2, twice_arguments(), trace=f"differs={folder}")
    assert capsys.readouterr().out == ""


def test_values_of_one_name_keep_to_their_files(tmp_path: Path, capsys: Any) -> None:
    # Both arms of a branch call their value %4; a probe of one alone writes the file of that one.
    folder = f"{tmp_path}/arms/"
    run(BRANCH, BLOCKS, [np.zeros(BLOCKS, np.int32)], probe={"subi": folder})
    [name] = [p.name for p in (tmp_path / "arms").iterdir()]
    assert name.endswith(".1.npz")
    selection = f"muli subi differs={folder}"
    assert traced(BRANCH, [np.zeros(BLOCKS, np.int32)], selection, capsys) == []


def test_formats_without_a_name_in_numpy(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "small.npz"
    run(TWICE, 2, twice_arguments(), probe={"%6": path})
    assert np.load(path)["data"].dtype == np.uint8
    run(TWICE, 2, twice_arguments(), model="sm_90", trace=f"%6 differs={path}")
    assert len(capsys.readouterr().out.splitlines()) == 2
    np.save(tmp_path / "own.npy", np.load(path)["data"].view(ml_dtypes.float8_e4m3fn))
    run(TWICE, 2, twice_arguments(), trace=f"%6 differs={tmp_path}/own.npy")
    assert capsys.readouterr().out == ""


def test_a_breakpoint_stops_at_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    path = tmp_path / "sum.npz"
    run(LOOP, BLOCKS, loop_arguments(), probe={"%8": path})
    other = loop_arguments()
    other[0][9] += 0.5
    stops: list[Any] = []
    monkeypatch.setattr("sys.breakpointhook", lambda: stops.append(None))
    run(LOOP, BLOCKS, other, breakpoint=f"%8 first differs={path}")
    assert len(stops) == 1
    assert capsys.readouterr().out.startswith("> block=2 iteration=0 %8 = addf")


@pytest.mark.parametrize(
    ("selection", "contents", "message"),
    [
        ("%8 differs={}.npz", None, "cannot read the file"),
        ("%8 differs={}.npz", {"other": np.zeros(3)}, "no array called data"),
        ("%8 differs={}.npz", {"data": np.zeros((4, 4), np.float64), "block": np.arange(4)}, "another type"),
        ("%8 differs={}.npz", {"data": np.zeros((4, 5), np.float32), "block": np.arange(4)}, "another shape"),
        (
            "%8 differs={}.npz",
            {"data": np.zeros((4, 4), np.float32), "block": np.arange(3)},
            "no block for each",
        ),
        ("%8 differs={}.npz", {"data": np.zeros((4, 4), np.uint32), "block": np.arange(4)}, "another type"),
        ("%8 differs={}.npz", {"data": np.zeros((3, 4), np.float32)}, "a tile for each of 4 blocks"),
        ("differs={}.npz", {"data": np.zeros((4, 4), np.float32)}, "the selection names several"),
        (
            "%8 differs={}.npz",
            {"data": np.zeros((4, 4), np.float32), "value": "%6"},
            "names no tile called %6",
        ),
        ("%8 differs=", None, "this names no file"),
    ],
)
def test_files_that_say_nothing(selection: str, contents: Any, message: str, tmp_path: Path) -> None:
    if contents is not None:
        np.savez(tmp_path / "f.npz", **contents)
    args = loop_arguments()
    with pytest.raises(TileError, match=message):
        run(LOOP, BLOCKS, args, trace=selection.format(tmp_path / "f"))
    np.testing.assert_array_equal(args[1], 0)


def test_no_array_and_no_file_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "x.npz").write_bytes(b"PK\x03\x04 and no archive")
    (tmp_path / "y.npy").write_bytes(b"")
    for name in ("x.npz", "y.npy"):
        with pytest.raises(TileError, match="no arrays that numpy reads"):
            run(LOOP, BLOCKS, loop_arguments(), trace=f"%8 differs={tmp_path}/{name}")
    with pytest.raises(TileError, match="no file for any"):
        run(LOOP, BLOCKS, loop_arguments(), trace=f"%8 differs={tmp_path}/")
