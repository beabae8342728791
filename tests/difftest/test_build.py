"""The build stage: classes of failures, and no kernel assembled twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import corpora
from difftest.build import Options, build_folder
from difftest.plan import BUILDS, build_id, load, read_build, read_case
from difftest.store import FolderError, Store
from tileir.errors import ArgumentError, AssemblerError

from .fake_assembler import FakeAssembler

CASES = corpora.load(["move/transpose_*", "integer/arithmetic_i8"])


def _options(assembler: FakeAssembler, **more: object) -> Options:
    return Options(assembler=str(assembler.path), **{"opt_levels": (3, 0), "timeout": 5.0, **more})  # type: ignore[arg-type]


def test_classes(tmp_path: Path, assembler: FakeAssembler) -> None:
    for case, how in zip(CASES, ("refuse", "crash", "hang"), strict=False):
        assembler.fail(case.kernel, how)
    folder = tmp_path / "f"
    counts = build_folder(folder, CASES, "sm_90", _options(assembler, timeout=1.0, opt_levels=(3,)))
    assert counts == {"refused": 1, "crashed": 1, "timeout": 1, "ok": 1}
    store, plan = Store(folder), load(folder)
    found = {}
    for name, identity in plan.cases.items():
        case = read_case(store, identity)
        found[name] = read_build(store, build_id(case.kernel, "sm_90", 3, "13.4.92"))
    refused, crashed, hung, fine = (found[c.name] for c in CASES)
    assert "no such thing" in refused.message
    assert crashed.signal == "SIGSEGV"
    assert hung.result == "timeout"
    assert fine.cubin is not None
    assert store.get(fine.cubin) == CASES[3].kernel


def test_nothing_is_assembled_twice(tmp_path: Path, assembler: FakeAssembler) -> None:
    folder = tmp_path / "f"
    assembler.fail(CASES[0].kernel, "refuse")
    build_folder(folder, CASES, "sm_90", _options(assembler))
    assert assembler.calls == 8
    counts = build_folder(folder, CASES, "sm_90", _options(assembler))
    assert assembler.calls == 8
    assert counts == {"ok": 6, "refused": 2}
    build_folder(folder, CASES, "sm_90", _options(assembler, retry=True))
    assert assembler.calls == 10
    # Another target is other work, another level too.
    build_folder(folder, CASES, "sm_86", _options(assembler, opt_levels=(3,)))
    assert assembler.calls == 14
    build_folder(folder, CASES, "sm_90", _options(assembler, opt_levels=(3, 1)))
    assert assembler.calls == 18


def test_a_killed_build_goes_on(tmp_path: Path, assembler: FakeAssembler) -> None:
    assembler.slow()
    folder = tmp_path / "f"
    command = [sys.executable, "-m", "difftest.cli", "build", "move/*", "--gpu", "sm_90", "-o", str(folder)]
    command += ["--assembler", str(assembler.path), "--jobs", "1", "--opt-level", "3"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 60
    while not (folder / BUILDS).exists() or len(list((folder / BUILDS).glob("*.json"))) < 2:
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done = len(list((folder / BUILDS).glob("[0-9a-f]*.json")))
    cases = corpora.load("move/*")
    assert 2 <= done < len(cases)
    before = assembler.calls
    (assembler.folder / "slow").unlink()
    counts = build_folder(folder, cases, "sm_90", _options(assembler, opt_levels=(3,)))
    assert counts == {"ok": len(cases)}
    # The assembler that ran when its parent was killed may have come to say so only afterwards.
    assert assembler.calls - before - (len(cases) - done) in (0, 1)


def test_what_cannot_be_built(tmp_path: Path, assembler: FakeAssembler) -> None:
    with pytest.raises(ArgumentError, match="target"):
        build_folder(tmp_path / "f", CASES, "sm_12", _options(assembler))
    with pytest.raises(ArgumentError, match="level"):
        build_folder(tmp_path / "f", CASES, "sm_90", _options(assembler, opt_levels=(4,)))
    with pytest.raises(ArgumentError, match="one name"):
        build_folder(tmp_path / "f", [CASES[0], CASES[0]], "sm_90", _options(assembler))
    with pytest.raises(AssemblerError):
        build_folder(tmp_path / "f", CASES, "sm_90", Options(assembler=str(tmp_path / "none")))
    assert not (tmp_path / "f").exists()


def test_a_store_tells_what_is_wrong(tmp_path: Path) -> None:
    store = Store(tmp_path)
    name = store.put(b"contents")
    assert store.put(b"contents") == name
    assert store.get(name) == b"contents"
    path = tmp_path / "blobs" / name
    whole = path.read_bytes()
    for broken in (whole[:-6], b"", b"\0" * 20, whole.replace(whole[2:4], b"zz")):
        path.write_bytes(broken)
        with pytest.raises(FolderError):
            store.get(name)
    for bad in ("../../etc/passwd", "0" * 63, ""):
        with pytest.raises(FolderError):
            store.get(bad)
        with pytest.raises(FolderError):
            store.read("cases", bad)
    assert not [p for p in tmp_path.rglob("*") if p.name.startswith(".")]
