"""Running the assembler: what it makes, and how its ways to fail are told apart."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest

import tileir
from tests.tileir.support import needs_tileiras, shared_case
from tileir import generate, toolchain
from tileir.errors import ArgumentError, AssemblerError
from tileir.generate import Maker
from tileir.module import Module
from tileir.ops.core import Broadcast
from tileir.ops.view import LoadViewTko
from tileir.version import V13_4


def fake(folder: Path, script: str) -> toolchain.Toolchain:
    """An assembler of version 13.4.92 that runs ``script`` instead of assembling."""
    path = folder / "tileiras"
    path.write_text(
        f'#!/bin/sh\nif [ "$1" = --version ]; then echo "release 13.4, V13.4.92"; exit; fi\n{script}\n'
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    (folder / "ptxas").touch()
    return toolchain.find(path)


def failure(assembler: toolchain.Toolchain, timeout: float = 30) -> AssemblerError:
    with pytest.raises(AssemblerError) as caught:
        tileir.assemble(b"", "sm_86", assembler=assembler, timeout=timeout)
    return caught.value


def test_a_refusal_keeps_the_assemblers_message(tmp_path: Path) -> None:
    error = failure(fake(tmp_path, "echo 'error: bad operand' >&2; exit 3"))
    assert (error.rule, error.returncode, error.signal) == ("assembler-refused", 3, None)
    assert "error: bad operand" in str(error)
    assert error.output == "error: bad operand"


def test_a_crash_names_the_signal(tmp_path: Path) -> None:
    error = failure(fake(tmp_path, "kill -SEGV $$"))
    assert (error.rule, error.signal) == ("assembler-crashed", "SIGSEGV")


def test_a_time_out_ends_what_the_assembler_started(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    start = time.monotonic()
    error = failure(fake(tmp_path, f"sleep 60 & echo $! > {pid_file}; wait"), timeout=1)
    assert error.rule == "assembler-timeout"
    assert time.monotonic() - start < 20
    child = int(pid_file.read_text())
    for _ in range(100):
        if not Path(f"/proc/{child}").exists() or "\nState:\tZ" in Path(f"/proc/{child}/status").read_text():
            return
        time.sleep(0.05)
    os.kill(child, 9)
    pytest.fail("the assembler's child outlived it")


def test_arguments_reach_the_assembler_as_they_are(tmp_path: Path) -> None:
    # A file that a shell would have made must not be there.
    script = 'for last; do :; done; echo "$@" >&2; while [ "$1" != -o ]; do shift; done; cp "$last" "$2"'
    bait = tmp_path / "bait"
    cubin = tileir.assemble(
        b"bytes", "sm_86", 2, assembler=fake(tmp_path, script), options=(f"; touch {bait}",)
    )
    assert cubin.data == b"bytes"
    assert (cubin.gpu, cubin.opt_level) == ("sm_86", 2)
    assert cubin.remarks.startswith("--gpu-name sm_86 --opt-level 2 ; touch")
    assert not bait.exists()


def test_a_missing_assembler_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TILEIRAS", raising=False)
    monkeypatch.delenv("CUDA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    with pytest.raises(AssemblerError, match="pip install nvidia-cuda-tileiras") as caught:
        toolchain.find()
    assert caught.value.rule == "assembler-missing"


def test_the_environment_variable_comes_before_path_and_path_before_the_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = {}
    for place in ("variable", "path", "site/nvidia/cu13/bin"):
        folder = tmp_path / place
        folder.mkdir(parents=True)
        places[place] = fake(folder, "").tileiras
    monkeypatch.setattr("sys.path", [str(tmp_path / "site")])
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}{os.pathsep}/bin")
    monkeypatch.setenv("TILEIRAS", str(places["variable"]))
    assert toolchain.find().tileiras == places["variable"]
    monkeypatch.delenv("TILEIRAS")
    assert toolchain.find().tileiras == places["path"]
    monkeypatch.setenv("PATH", "/bin")
    assert toolchain.find().tileiras == places["site/nvidia/cu13/bin"]


def test_ptxas_of_the_wheel_serves_an_assembler_that_has_none_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(tmp_path, "")
    (tmp_path / "ptxas").unlink()
    wheel = tmp_path / "site/nvidia/cu13/bin"
    wheel.mkdir(parents=True)
    monkeypatch.setattr("sys.path", [str(tmp_path / "site")])
    monkeypatch.delenv("CUDA_HOME", raising=False)
    with pytest.raises(AssemblerError, match="ptxas"):
        toolchain.find(tmp_path / "tileiras")
    (wheel / "ptxas").touch(mode=0o755)
    assert toolchain.find(tmp_path / "tileiras").environment()["CUDA_HOME"] == str(wheel.parent)


@pytest.mark.parametrize("gpu", ["sm_90", "sm_100", "sm_103", "sm_107", "sm_110"])
def test_a_known_defect_is_avoided_and_explained(gpu: str) -> None:
    assert tileir.tileiras_args("13.4.92", gpu) == ["--gpu-name", gpu, "--opt-level", "0"]
    why = tileir.assembler_defect("13.4.92", gpu)
    assert why is not None
    assert "13.4.92" in why
    assert gpu in why


@pytest.mark.parametrize(
    ("version", "gpu"), [("13.4.92", "sm_86"), ("13.4.92", "sm_120"), ("13.5.37", "sm_90")]
)
def test_no_arguments_without_a_defect(version: str, gpu: str) -> None:
    assert tileir.tileiras_args(version, gpu) == ["--gpu-name", gpu]
    assert tileir.assembler_defect(version, gpu) is None


def test_targets_grow_with_the_version() -> None:
    assert "sm_90" not in tileir.targets("13.2.86")
    assert "sm_90" in tileir.targets("13.3.36")
    assert "sm_107" not in tileir.targets("13.3.36")
    assert "sm_107" in tileir.targets("13.4.92")
    assert tileir.targets("14.0.1") == tileir.targets("13.5.37")
    for bad in ("12.9.1", "newest"):
        with pytest.raises(ArgumentError):
            tileir.targets(bad)


@needs_tileiras
def test_the_assembler_lists_the_targets_we_say() -> None:
    tools = toolchain.find()
    text = toolchain.run([str(tools.tileiras), "--help"], {}, timeout=60).stdout
    listed = [line.split()[0].lstrip("=") for line in text.splitlines() if line.strip().startswith("=sm_")]
    assert tuple(listed) == tileir.targets(tools.version)


@needs_tileiras
def test_a_kernel_assembles_and_junk_is_refused() -> None:
    kernel = shared_case("bin_add_float32") / "kernel.tilebc"
    cubin = tileir.assemble(kernel.read_bytes(), "sm_90")
    assert cubin.data[:4] == b"\x7fELF"
    assert cubin.gpu == "sm_90"
    with pytest.raises(AssemblerError, match="does not correspond to Tile IR") as caught:
        tileir.assemble(b"junk", "sm_90")
    assert caught.value.rule == "assembler-refused"
    with pytest.raises(ArgumentError, match="no such target"):
        tileir.assemble(b"junk", "sm_75")


@needs_tileiras
def test_the_disassembler_prints_a_shared_case() -> None:
    case = shared_case("bin_add_float32")
    text = tileir.disassemble((case / "kernel.tilebc").read_bytes())
    assert text == (case / "kernel.mlir").read_text()


@needs_tileiras
def test_legal_kernels_assemble_and_those_of_other_targets_do_not() -> None:
    """A slice of ``tests.campaigns.target_rules``."""
    module = Module()
    count = 0
    for number, opcode in enumerate(sorted(generate.BASES)):
        form = generate.Form(generate.BASES[opcode][0], ())
        if number % 4 == 0 and form.since <= V13_4:
            maker = Maker(f"k{number}", module)
            form.add(maker)
            maker.finish(V13_4)
            count += 1
    assert count > 20
    assert tileir.verify(module, "sm_86") == []
    assert tileir.assemble(module, "sm_86", 0).data[:4] == b"\x7fELF"
    scale = next(b for b in generate.BASES[Broadcast.opcode] if "f8E8M0FNU" in b.label)
    narrow = generate.Form(scale, ()).module(V13_4)
    assert [d.rule for d in tileir.verify(narrow, "sm_100")] == []
    assert tileir.assemble(narrow, "sm_100").gpu == "sm_100"
    with pytest.raises(AssemblerError, match="unsupported type 'f8E8M0FNU'"):
        tileir.assemble(narrow, "sm_90")
    assert {d.rule for d in tileir.verify(narrow, "sm_90")} == {"target-format"}


@needs_tileiras
def test_a_crash_of_the_real_assembler_is_told_from_a_refusal() -> None:
    """Tileiras 13.4.92 dies of a legal kernel: rows of f8E8M0FNU loaded by number."""
    if toolchain.find().version != "13.4.92":
        pytest.skip("another assembler, which may do better")
    label = "gather_scatter_view<tile=(4x8), tensor_view<?x64xf8E8M0FNU"
    base = next(b for b in generate.BASES[LoadViewTko.opcode] if label in b.label)
    module = generate.Form(base, ()).module(V13_4)
    assert tileir.verify(module, "sm_100") == []
    with pytest.raises(AssemblerError) as caught:
        tileir.assemble(module, "sm_100")
    assert (caught.value.rule, caught.value.signal) == ("assembler-crashed", "SIGILL")
