"""The cases of the package: complete, readable, and with the answers that belong to them."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import corpora
import tileir
from corpora import Buffer
from corpora.records import Folder, Record, record_id
from tileir.errors import ArgumentError, TileError

CASES = corpora.load()
ROOT = Path(corpora.__file__).parent


def test_there_are_many() -> None:
    families = {c.family for c in CASES}
    assert len(CASES) > 300
    assert {
        "unary",
        "binary",
        "cast",
        "reduce",
        "scan",
        "mma",
        "matmul",
        "model",
        "loop",
        "atomic",
    } <= families
    assert len({c.name for c in CASES}) == len(CASES)


def test_every_kernel_is_the_manifests_and_takes_its_parameters() -> None:
    for case in CASES:
        (entry,) = tileir.read(case.kernel).entries
        assert entry.name == case.entry
        assert len(entry.parameters) == len(case.parameters)
        assert case.outputs


def test_no_kernel_names_a_machine() -> None:
    for case in CASES:
        for operation in tileir.read(case.kernel).walk():
            assert operation.location is None or str(operation.location).startswith("corpora/sources/")


def test_patterns() -> None:
    assert [c.name for c in corpora.load("unary/exp_f32")] == ["unary/exp_f32"]
    assert len(corpora.load(["mma/*", "mma/f16*"])) == len(corpora.load("mma/*"))
    with pytest.raises(ArgumentError, match="no case"):
        corpora.load(["unary/exp_f32", "nothing*"])


def test_arguments_are_fresh() -> None:
    (case,) = corpora.load("binary/add_f32")
    first, second = case.arguments(), case.arguments()
    first[0][:] = 0
    assert second[0].view(np.uint32).any()
    assert case.inputs_hash == replace(case).inputs_hash


def test_answers_are_there_and_fit() -> None:
    for case in CASES[::7]:
        records = case.recorded("sm_90")
        assert records, case.name
        for record in records:
            assert record.assembler
            assert record.date
            assert record.opt_levels
            for position in case.outputs:
                buffer = case.parameters[position]
                assert isinstance(buffer, Buffer)
                assert record.outputs[position].shape == buffer.shape
    assert CASES[0].recorded("sm_86") == []


def _record(case: corpora.Case, gpu: str = "sm_90") -> Record:
    arguments = case.arguments()
    return Record(
        gpu, "Some GPU", "1.2", "13.4.92", "2026-01-01", (0, 3), {i: arguments[i] for i in case.outputs}
    )


def test_a_record_is_never_edited(tmp_path: Path) -> None:
    (case,) = corpora.load("binary/add_f32")
    folder = Folder(tmp_path)
    path = folder.write(case, _record(case))
    assert path is not None
    assert folder.write(case, _record(case)) is None
    changed = _record(case)
    changed.outputs[case.outputs[0]].view(np.uint32)[5] ^= 1
    with pytest.raises(TileError, match="never edited"):
        folder.write(case, changed)
    (found,) = folder.find(case, "sm_90")
    assert found.device == "Some GPU"
    assert folder.gpus() == ["sm_90"]


def test_a_record_of_other_inputs_is_passed_over(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (case,) = corpora.load("binary/add_f32")
    folder = Folder(tmp_path)
    folder.write(case, _record(case))
    other = replace(case, grid=(2,))
    with caplog.at_level(logging.INFO):
        assert folder.find(other, "sm_90") == []
    assert (folder.stale(other, "sm_90"), folder.stale(case, "sm_90")) == (1, 0)
    assert "passed over" in caplog.text


def test_levels_that_differ_have_a_record_each(tmp_path: Path) -> None:
    (case,) = corpora.load("binary/add_f32")
    folder = Folder(tmp_path)
    folder.write(case, replace(_record(case), opt_levels=(0,)), alone=False)
    folder.write(case, replace(_record(case), opt_levels=(3,)), alone=False)
    assert [r.opt_levels for r in folder.find(case, "sm_90")] == [(3,), (0,)]


def test_a_damaged_record_is_told(tmp_path: Path) -> None:
    (case,) = corpora.load("binary/add_f32")
    folder = Folder(tmp_path)
    path = folder.write(case, _record(case))
    assert path is not None
    arrays = path.with_suffix(".npz")
    whole = arrays.read_bytes()
    arrays.write_bytes(whole[:100])
    with pytest.raises(TileError, match="damaged"):
        folder.find(case, "sm_90")
    arrays.write_bytes(whole)
    document = json.loads(path.read_text())
    for broken in ({**document, "inputs_sha256": "0" * 64}, {**document, "opt_levels": "3"}, {"case": 1}, []):
        path.write_text(json.dumps(broken))
        with pytest.raises(TileError):
            folder.find(case, "sm_90")
    assert path.stem == record_id(case)


def test_a_changed_kernel_is_told(tmp_path: Path) -> None:
    (case,) = corpora.load("binary/add_f32")
    other = tmp_path / "kernel.tilebc"
    other.write_bytes(case.kernel + b"\0")
    with pytest.raises(TileError, match="not the one in the manifest"):
        _ = replace(case, path=other).kernel
    with pytest.raises(TileError, match="cannot read"):
        _ = replace(case, path=tmp_path / "none").kernel


@pytest.mark.skipif(find_spec("cuda.tile") is None, reason="needs cuda-tile")
def test_the_sources_give_the_committed_kernels() -> None:
    """A few of them: ``python -m corpora.build --check`` compares all."""
    from corpora.build.command import build, load_source

    committed = {c.name: c for c in CASES}
    wanted = {"unary/logistic_f32", "unary/exp_f16"}
    for draft in load_source("unary").drafts():
        if draft.name in wanted:
            entry, data = build(draft)
            assert data == committed[draft.name].kernel
            assert entry["sha256"] == committed[draft.name].sha256
            wanted.remove(draft.name)
    assert not wanted
