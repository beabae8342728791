"""Folders of cases that others made: read if they are right, a clear error if they are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corpora
from tileir.errors import TileError


def make(folder: Path, **changes: Any) -> Path:
    case = {
        "name": "one",
        "entry": "k",
        "grid": [2],
        "params": [
            {"buffer": "arg0", "dtype": "bfloat16", "shape": [4]},
            {"i32": -1},
            {"scalar": "0000803f", "dtype": "float32"},
            {"buffer": "arg3", "dtype": "float32", "shape": [2, 2], "answer": "arg3_answer"},
        ],
        "opt_levels_agree": True,
        **changes,
    }
    manifest = {"device": "Some GPU (sm_90)", "driver": "1", "tileiras": "13.4.92", "cases": [case]}
    (folder / "one").mkdir(exist_ok=True)
    (folder / "one" / "kernel.tilebc").write_bytes(b"bytes")
    np.savez(
        folder / "one" / "data.npz",
        arg0=np.arange(4, dtype=np.uint16),
        arg3=np.zeros((2, 2), np.float32),
        arg3_answer=np.ones((2, 2), np.float32),
    )
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def test_a_folder(tmp_path: Path) -> None:
    (case,) = corpora.foreign(make(tmp_path))
    x, n, scale, y = case.arguments()
    assert x.dtype.name == "bfloat16"
    assert x.view(np.uint16).tolist() == [0, 1, 2, 3]
    assert n == -1
    assert n.dtype == np.int32
    assert scale == np.float32(1)
    assert not y.any()
    (record,) = case.recorded("sm_90")
    assert record.outputs[3].all()
    assert record.opt_levels == (0, 3)
    assert case.recorded("sm_86") == []


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "../one"},
        {"name": "a/b"},
        {"grid": [0]},
        {"grid": "2"},
        {"grid": [True]},
        {"params": [{"buffer": "arg0", "dtype": "float3", "shape": [4]}]},
        {"params": [{"buffer": "arg0", "dtype": "float32"}]},
        {"params": [{"buffer": "arg0", "dtype": "float32", "shape": [-4]}]},
        {"params": [7]},
        {"params": [{"scalar": "xx", "dtype": "float32"}]},
        {"entry": None},
    ],
)
def test_a_wrong_manifest(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(TileError) as caught:
        corpora.foreign(make(tmp_path, **changes))
    assert "manifest.json" in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "{", "{}", '{"cases": 3}', '{"cases": [3]}', "\0", "[" * 100000])
def test_no_manifest(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(TileError):
        corpora.foreign(tmp_path)


@pytest.mark.parametrize(
    "changes",
    [
        {"params": [{"buffer": "arg0", "dtype": "float32", "shape": [4]}]},
        {"params": [{"buffer": "arg0", "dtype": "bfloat16", "shape": [5]}]},
        {"params": [{"buffer": "nothing", "dtype": "bfloat16", "shape": [4]}]},
    ],
)
def test_arrays_that_are_not_what_the_manifest_says(tmp_path: Path, changes: dict[str, Any]) -> None:
    (case,) = corpora.foreign(make(tmp_path, **changes))
    with pytest.raises(TileError) as caught:
        case.arguments()
    assert "data.npz" in str(caught.value)


def test_damaged_arrays(tmp_path: Path) -> None:
    (case,) = corpora.foreign(make(tmp_path))
    path = tmp_path / "one" / "data.npz"
    whole = path.read_bytes()
    for length in range(0, len(whole) - 1, 37):
        path.write_bytes(whole[:length])
        with pytest.raises(TileError):
            case.arguments()


def test_pickles_are_refused(tmp_path: Path) -> None:
    (case,) = corpora.foreign(make(tmp_path, params=[{"buffer": "arg0", "dtype": "int64", "shape": [1]}]))
    np.savez(tmp_path / "one" / "data.npz", arg0=np.array([{"a": 1}], dtype=object))
    with pytest.raises(TileError):
        case.arguments()
