"""Probes: the files, against numpy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.tileref.inspection.kernels import BRANCH, FOLD, LOOP
from tests.tileref.support import pointers, run
from tileir.errors import ArgumentError, TileError
from tileref.inspection import Probe, spool

BLOCKS = 4


def loop_arguments() -> list[Any]:
    return [np.arange(4 * BLOCKS, dtype=np.float32), np.zeros(4 * BLOCKS, np.float32), 1]


def files(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


@pytest.mark.parametrize("batch", [1, 1 << 22])
def test_every_block_and_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int) -> None:
    monkeypatch.setattr(spool, "BATCH", batch)
    x = loop_arguments()[0].reshape(BLOCKS, 4)
    # One block at a time or all together: the file is sorted by block and time.
    for together in (1, BLOCKS):
        monkeypatch.setattr("tileref.schedule.blocks_together", lambda *_, count=together: count)
        run(LOOP, BLOCKS, loop_arguments(), probe={"%8": tmp_path / "sum.npz"})
        with np.load(tmp_path / "sum.npz") as file:
            found = dict(file)
        rows = [(b, i) for b in range(BLOCKS) for i in range(b + 1)]
        np.testing.assert_array_equal(found["data"], [x[b] * (i + 1) for b, i in rows])
        assert found["data"].dtype == np.float32
        assert found["block"].tolist() == [b for b, _ in rows]
        assert found["time"].tolist() == [i for _, i in rows]
        assert found["iteration"].tolist() == [[i] for _, i in rows]
        assert (str(found["format"]), str(found["value"])) == ("f32", "%8")
        assert "undefined" not in found
        assert "lane" not in found
        assert files(tmp_path) == ["sum.npz"]


def test_a_plain_array_where_the_rows_make_one(tmp_path: Path) -> None:
    x = loop_arguments()[0].reshape(BLOCKS, 4)
    once, times = Probe("%6", tmp_path / "a.npy"), Probe("%8 iteration=0-1 block=1-3", tmp_path / "b.npy")
    ragged = Probe("%8", tmp_path / "c.npy")
    run(LOOP, BLOCKS, loop_arguments(), probe=[once, times, ragged])
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), (x * np.arange(1, 5)[:, None]) ** 2)
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), np.stack([x[1:], 2 * x[1:]], axis=1))
    # Blocks go round their loops unequally often, which is no array.
    assert files(tmp_path) == ["a.npy", "b.npy", "c.npz"]
    assert [p.written for p in (once, times, ragged)] == [[tmp_path / n] for n in ("a.npy", "b.npy", "c.npz")]


def test_blocks_that_part(tmp_path: Path) -> None:
    run(BRANCH, 7, [np.zeros(7, np.int32)], probe={"%5": f"{tmp_path}/sides/", "%2": tmp_path / "r.npy"})
    assert files(tmp_path / "sides") == ["5.1.npz", "5.npz"]
    even, odd = np.load(tmp_path / "sides" / "5.npz"), np.load(tmp_path / "sides" / "5.1.npz")
    assert (even["block"].tolist(), even["data"].tolist()) == ([0, 2, 4, 6], [0, 4, 8, 12])
    assert (odd["block"].tolist(), odd["data"].tolist()) == ([1, 3, 5], [-1, -3, -5])
    assert np.load(tmp_path / "r.npy").tolist() == [0, -1, 4, -3, 8, -5, 12]


def test_bodies_have_lanes(tmp_path: Path) -> None:
    x = np.arange(16, dtype=np.float32)
    run(FOLD, 2, [x, np.zeros(4, np.float32)], probe={"addf bodies": tmp_path / "s.npz"})
    found = np.load(tmp_path / "s.npz")
    sums = np.cumsum(x.reshape(2, 4, 2), axis=1)[:, 1:]
    assert found["block"].tolist() == [0] * 6 + [1] * 6
    assert found["lane"].tolist() == [0, 0, 0, 1, 1, 1] * 2
    assert found["time"].tolist() == [0, 1, 2] * 4
    assert found["iteration"][:, 0].tolist() == [0, 1, 2] * 4
    np.testing.assert_array_equal(found["data"], sums.transpose(0, 2, 1).ravel())


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("bf16", ml_dtypes.bfloat16), ("f8E5M2", ml_dtypes.float8_e5m2), ("i8", np.int8), ("f64", np.float64)],
)
def test_types_and_elements_without_a_value(tmp_path: Path, name: str, dtype: Any) -> None:
    text = f"""
    entry @k(%x: tile<ptr<{name}>>) {{
      %i = iota : tile<4xi32>
      {pointers("x", "p", name, 4, "i")}
      %v, %t = load_ptr_tko weak %p : tile<4xptr<{name}>> -> tile<4x{name}>, token
      return
    }}
    """
    x = np.array([1, 2, 3], dtype)
    run(text, 2, [x], probe={"%result": tmp_path / "v.npz"})
    found = np.load(tmp_path / "v.npz")
    assert found["undefined"].tolist() == [[False, False, False, True]] * 2
    stored = x.dtype if np.dtype(dtype).isbuiltin == 1 else np.dtype(f"u{x.itemsize}")
    assert found["data"].dtype == stored
    np.testing.assert_array_equal(found["data"].view(x.dtype)[:, :3], [x, x])
    assert str(found["format"]) == name


def test_a_folder_of_everything(tmp_path: Path) -> None:
    run(LOOP, BLOCKS, loop_arguments(), probe={"": f"{tmp_path}/all/"})
    names = files(tmp_path / "all")
    assert {"6.npz", "8.npz", "iterArg0.npz", "arg2.npz", "result.npz"} <= set(names)
    assert "result_token.npz" not in names
    # The store that uses it does not compute it again.
    assert np.load(tmp_path / "all" / "6.npz")["block"].tolist() == [0, 1, 2, 3]
    assert np.load(tmp_path / "all" / "blockId_x.npz")["data"].tolist() == [0, 1, 2, 3]
    assert str(np.load(tmp_path / "all" / "4.npz")["format"]) == "pointer"


def test_conditions_keep_some_rows(tmp_path: Path) -> None:
    run(
        LOOP,
        BLOCKS,
        loop_arguments(),
        probe={"%8 >20": tmp_path / "large.npz", "%8 nan": tmp_path / "none.npz"},
    )
    large, none = np.load(tmp_path / "large.npz"), np.load(tmp_path / "none.npz")
    assert large["block"].tolist() == [2, 2, 3, 3, 3]
    assert large["time"].tolist() == [0, 1, 0, 1, 2]
    assert large["iteration"].tolist() == [[1], [2], [1], [2], [3]]
    assert (large["data"].max(axis=1) > 20).all()
    assert none["data"].shape == (0, 4)


def test_no_file_before_the_end_and_none_of_a_launch_that_fails(tmp_path: Path) -> None:
    before = tmp_path / "sum.npz"
    before.write_bytes(b"what was here")
    seen = []

    def look(event: Any) -> None:
        if event.name == "store_ptr_tko":
            seen.append((files(tmp_path), before.read_bytes()))

    run(LOOP, BLOCKS, loop_arguments(), probe={"%8": before}, observe=look)
    assert seen == [(["sum.npz"], b"what was here")]
    assert len(np.load(before)["block"]) == 10
    before.write_bytes(b"what was here")
    with pytest.raises(TileError, match="round its loops"):
        run(LOOP, BLOCKS, loop_arguments(), probe={"%8": before, "%6": f"{tmp_path}/more/"}, step_budget=2)
    assert before.read_bytes() == b"what was here"
    assert files(tmp_path / "more") == []


@pytest.mark.parametrize(
    ("probe", "message"),
    [
        ({"%8": "x.txt"}, "file of arrays"),
        ({"addf mulf": "x.npz"}, "several tiles"),
        ({"%result_token": "x.npz"}, "needs a tile"),
        ({"%99": "x.npz"}, "no value %99"),
        ("%8", "with the paths"),
    ],
)
def test_what_cannot_be_probed(
    probe: Any, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    args = loop_arguments()
    with pytest.raises(ArgumentError, match=message):
        run(LOOP, BLOCKS, args, probe=probe)
    assert files(tmp_path) == []
    assert not args[1].any()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(TileError, match="cannot write") as raised:
        run(LOOP, BLOCKS, loop_arguments(), probe={"%8": tmp_path / "no" / "x.npz"})
    assert raised.value.rule == "file"
