"""``tileref run`` with the options that look inside."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tileir
from tests.tileref.inspection.kernels import BRANCH, LOOP
from tests.tileref.inspection.test_lost_addends import COUNT, loop
from tests.tileref.test_cli import run
from tileref.cli import Code

ARGUMENTS = ("--arg", "iota:f32:16", "--arg", "zeros:f32:16", "--arg", "i32:1")
FOUR = ("--grid", "4", *ARGUMENTS)


@pytest.fixture
def kernel(tmp_path: Path) -> str:
    path = tmp_path / "loop.tilebc"
    path.write_bytes(tileir.write(tileir.parse(LOOP)))
    return str(path)


def test_a_bare_trace_is_one_of_everything(kernel: str) -> None:
    code, out, err = run("run", "--trace", kernel, *FOUR)
    assert code == Code.DONE
    lines = out.splitlines()
    assert "block=0 %arg2 = entry : tile<i32> 1" in lines
    assert "block=3 %6 = mulf : tile<4xf32> [2304.0 2704.0 3136.0 3600.0]" in lines
    assert err.startswith("loop on 4x1x1 blocks as spec")
    code, out, _ = run("run", kernel, *FOUR, "--trace=mulf block=1", "--trace", "%5 block=1")
    assert code == Code.USAGE
    code, out, _ = run("run", kernel, *FOUR, "--trace=mulf block=1", "--trace=%5 block=1")
    assert out.splitlines() == [
        "block=1 %5 = addi : tile<i32> 2",
        "block=1 %6 = mulf : tile<4xf32> [64.0 100.0 144.0 196.0]",
    ]


def test_trace_and_watch_to_a_file(kernel: str, tmp_path: Path) -> None:
    path = tmp_path / "trace"
    code, out, _ = run(
        "run",
        kernel,
        *FOUR,
        "--trace=mulf block=1",
        "--watch",
        "%8 block=1 iteration=1",
        "--trace-to",
        str(path),
    )
    assert (code, out) == (Code.DONE, "")
    assert path.read_text().splitlines() == [
        "block=1 iteration=1 %8 = addf : tile<4xf32> new min=8.0 max=14.0 [8.0 10.0 12.0 14.0]",
        "block=1 %6 = mulf : tile<4xf32> [64.0 100.0 144.0 196.0]",
    ]
    code, _, err = run("run", kernel, *FOUR, "--trace-to", str(path))
    assert code == Code.USAGE
    assert "nothing writes to the file" in err
    code, _, err = run("run", kernel, *FOUR, "--trace", "--trace-to", str(tmp_path / "no" / "file"))
    assert code == Code.FILE


def test_json_is_a_line_each_and_the_result_the_last(kernel: str) -> None:
    code, out, _ = run("run", kernel, *FOUR, "--json", "--trace=mulf", "--watch", "%5 block=0")
    *lines, result = [json.loads(line) for line in out.splitlines()]
    assert code == Code.DONE
    assert [line["event"] for line in lines] == ["watch"] + ["trace"] * 4
    assert [line["block"] for line in lines] == [[b, 0, 0] for b in (0, 0, 1, 2, 3)]
    assert result["entry"] == "loop"
    assert result["blocks"] is None
    assert result["lints"] == []


def test_blocks(kernel: str) -> None:
    code, out, err = run("run", kernel, *FOUR, "--blocks", "0-1", "--blocks", "3", "--json")
    assert (code, json.loads(out)["blocks"]) == (Code.DONE, [0, 1, 3])
    code, _, err = run("run", kernel, *FOUR, "--blocks", "sample=2")
    assert code == Code.DONE
    assert "loop on 2 (" in err
    assert ") of 4x1x1 blocks" in err
    code, _, err = run("run", kernel, *FOUR, "--blocks", "4")
    assert code == Code.USAGE
    assert "the grid has no such block" in err


def test_probes(kernel: str, tmp_path: Path) -> None:
    path = tmp_path / "v.npy"
    code, _, err = run("run", kernel, *FOUR, "--probe", f"%8 iteration=0 block=1-2={path}")
    assert code == Code.DONE
    assert f"wrote {path}" in err
    np.testing.assert_array_equal(np.load(path), np.arange(16, dtype=np.float32).reshape(4, 4)[1:3])
    for wrong in ("%8", "=x.npy", "%8=", "block=3"):
        assert run("run", kernel, *FOUR, "--probe", wrong)[0] == Code.USAGE


def test_lints() -> None:
    text = loop("%m = addf %a, %x : tile<f16>")
    code, out, err = run("run", "-", "--grid", "2", "--arg", "1", "--lint", "lost-addend", data=text)
    # A lint is no undefined behaviour.
    assert (code, out) == (Code.DONE, "")
    assert "addf, block (0, 0, 0), lane (), step (2048,): 2048.0 + 1.0 is 2048.0 in f16" in err
    code, out, _ = run("run", "-", "--grid", "2", "--arg", "1", "--lint", "lost-addend", "--json", data=text)
    (lint,) = json.loads(out)["lints"]
    assert (lint["kind"], lint["step"], lint["count"]) == ("lost-addend", [2048], 2 * (COUNT - 2048))


def test_a_breakpoint_and_leaving_it(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped: list[Any] = []

    def hook() -> None:
        stopped.append(sys._getframe(1).f_locals["value"]("%6").tolist())

    monkeypatch.setattr(sys, "breakpointhook", hook)
    code, _, _ = run("run", kernel, *FOUR, "--break", "mulf block=1-2")
    assert code == Code.DONE
    assert stopped == [[[64.0, 100.0, 144.0, 196.0], [576.0, 729.0, 900.0, 1089.0]]]

    def leave() -> None:
        from bdb import BdbQuit

        raise BdbQuit

    monkeypatch.setattr(sys, "breakpointhook", leave)
    code, _, err = run("run", kernel, *FOUR, "--break", "mulf")
    assert code == 1
    assert "Aborted" in err


def test_the_debugger_itself(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pdb on standard input, in a process of its own."""
    import subprocess

    commands = "p value('%6')[0][3]\np blocks\nc\n"
    done = subprocess.run(
        [sys.executable, "-m", "tileref.cli", "run", kernel, *FOUR, "--break", "mulf block=2"],
        input=commands,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == Code.DONE, done.stderr
    assert "1089.0" in done.stdout
    assert "array([2])" in done.stdout


def test_estimates(kernel: str) -> None:
    code, out, err = run("run", kernel, *FOUR, "--estimate")
    assert (code, err) == (Code.DONE, "")
    assert out.startswith("about ")
    assert "for 4 blocks (4 took" in out
    code, out, _ = run("run", kernel, *FOUR, "--estimate", "--json")
    assert json.loads(out)["blocks"] == 4


def test_a_selection_that_is_wrong_runs_nothing(tmp_path: Path) -> None:
    out = tmp_path / "x.npy"
    for option in ("--watch", "--break", "--probe"):
        selection = "malf" + ("=x.npz" if option == "--probe" else "")
        code, _, err = run(
            "run",
            "-",
            "--grid",
            "2",
            "--arg",
            "zeros:i32:2",
            "--out",
            f"0={out}",
            option,
            selection,
            data=BRANCH,
        )
        assert code == Code.USAGE
        assert "the kernel has no operation malf" in err
        assert not out.exists()


@pytest.mark.parametrize(
    "option",
    ["--blocks=0", "--trace=mulf", "--break=mulf", "--lint=lost-addend", "--out=1=y.npy", "--watch=%6"],
)
def test_an_estimate_heeds_nothing_else_and_says_so(kernel: str, option: str) -> None:
    code, out, err = run("run", kernel, *FOUR, "--estimate", option)
    assert (code, out) == (Code.USAGE, "")
    assert option.partition("=")[0] in err
