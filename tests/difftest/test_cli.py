"""The command: exit codes, one-line errors, and reports in every format."""

from __future__ import annotations

import csv
import json
import resource
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner, Result

import corpora
from difftest.cli import main, outcome
from difftest.codes import Code
from difftest.judge import judge_folder
from difftest.plan import load
from difftest.store import Store

from .fake_assembler import FakeAssembler

DRIVER = "tests.difftest.no_driver"
CASES = ["move/transpose_f32", "integer/arithmetic_i32", "branch/three_ways_f32"]


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(main, [str(a) for a in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return result


def go(
    assembler: FakeAssembler, folder: Path, *more: object, gpu: str = "sm_90", cases: list[str] = CASES
) -> Result:
    options = ["--gpu", gpu, "--assembler", assembler.path, "--driver", DRIVER, "-o", folder]
    return run("run", *cases, *options, *more)


def test_help_is_quick() -> None:
    """Processor time, since a busy machine says nothing about the command; and nothing heavy is imported."""

    def once() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, "-m", "difftest.cli", "--help"], capture_output=True, check=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert b"Exit codes" in done.stdout
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(once() for _ in range(3)) < 0.5
    heavy = ("numpy", "pandas", "rich", "jinja2", "tileref")
    program = f"import sys, difftest.cli; print(*set({heavy}) & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_recorded_answers_stand_in(tmp_path: Path, assembler: FakeAssembler) -> None:
    result = go(assembler, tmp_path / "f")
    assert result.exit_code == Code.AGREE
    lines = [line for line in result.output.splitlines() if line.startswith(tuple(CASES))]
    assert len(lines) == 3
    assert all("recorded" in line and "agrees" in line and "exact" in line for line in lines)
    assert "3 cases, 3 agrees (3 in every bit)" in result.output
    assert "recorded earlier" in result.output
    assert assembler.calls == 6


def test_without_any_answer_nothing_is_compared(tmp_path: Path, assembler: FakeAssembler) -> None:
    result = go(assembler, tmp_path / "f", gpu="sm_86")
    assert result.exit_code == Code.NOTHING_COMPARED
    assert "No values were compared" in result.output
    assert "3 not-compared" in result.output
    assert assembler.calls == 6


def test_a_kernel_that_is_not_for_the_target_is_no_failure(tmp_path: Path, assembler: FakeAssembler) -> None:
    (case,) = corpora.load(CASES[0])
    assembler.fail(case.kernel, "foreign")
    result = go(assembler, tmp_path / "f", "-v", gpu="sm_86")
    assert result.exit_code == Code.NOTHING_COMPARED
    assert "1 unsupported" in result.output
    assert "Incompatibility with architecture" in result.output
    assert "loc(x)" not in result.output


def test_a_failing_assembler_fails_the_run_without_answers_too(
    tmp_path: Path, assembler: FakeAssembler
) -> None:
    (case,) = corpora.load(CASES[0])
    assembler.fail(case.kernel, "refuse")
    result = go(assembler, tmp_path / "f", gpu="sm_86")
    assert result.exit_code == Code.DIFFER
    assert "no such thing" in result.output


def test_a_difference_is_shown(
    tmp_path: Path, assembler: FakeAssembler, monkeypatch: pytest.MonkeyPatch
) -> None:
    from corpora.records import Folder

    find = Folder.find

    def planted(self: Folder, case: corpora.Case, gpu: str) -> list[corpora.Record]:
        records = find(self, case, gpu)
        if case.name == CASES[0]:
            records[0].outputs[case.outputs[0]].view(np.uint32)[3, 5] ^= 0x80000000
        return records

    monkeypatch.setattr(Folder, "find", planted)
    result = go(assembler, tmp_path / "f")
    assert result.exit_code == Code.DIFFER
    assert "1 differs" in result.output
    assert "[3, 5]" in result.output
    assert "1 of 2048 lanes differ" in result.output
    verdict = next(v for v in judge_folder(tmp_path / "f") if v.failed)
    assert verdict.differences[0].expected_bits in result.output
    assert verdict.differences[0].found_bits in result.output


def test_a_gpu_is_launched_on(tmp_path: Path, assembler: FakeAssembler) -> None:
    """The fake GPU copies a buffer to the others, which is what this kernel does."""
    case = ["bitcast/f16_bf16"]
    options = ["--driver", "tests.difftest.fake_driver", "--timeout", 60]
    assembler.answer('{"do": "copy"}')
    result = go(assembler, tmp_path / "right", *options, cases=case)
    assert result.exit_code == Code.AGREE, result.output
    assert "launched O3 O0" in result.output
    assert "recorded" not in result.output
    assert "What the GPU answered in this run" in result.output
    assembler.answer('{"do": "add"}')
    result = go(assembler, tmp_path / "wrong", *options, cases=case)
    assert result.exit_code == Code.DIFFER
    assert "1 differs" in result.output
    assembler.answer('{"do": "fault"}')
    result = go(assembler, tmp_path / "fault", *options, cases=case)
    assert result.exit_code == Code.DIFFER
    assert "ILLEGAL_ADDRESS" in result.output


def test_reports(tmp_path: Path, assembler: FakeAssembler) -> None:
    paths = {kind: tmp_path / "out" / f"r.{kind}" for kind in ("json", "csv", "html", "junit")}
    options = [x for kind, path in paths.items() for x in (f"--{kind}", path)]
    result = go(assembler, tmp_path / "f", *options, "--github", "-q")
    assert result.exit_code == Code.AGREE
    assert "::error" not in result.output
    assert not any(line.startswith("move/") for line in result.output.splitlines())
    document = json.loads(paths["json"].read_text())
    assert {r["case"] for r in document["results"]} == set(CASES)
    assert document["about"]["gpu"] == "sm_90"
    rows = list(csv.DictReader(paths["csv"].open()))
    assert len(rows) == len(document["results"]) == 7
    assert {r["source"] for r in rows} == {"recorded"}
    suite = ElementTree.parse(paths["junit"]).getroot()
    assert suite.get("tests") == "3"
    assert suite.get("failures") == "0"
    assert "move/transpose_f32" in paths["html"].read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["run", "--gpu", "sm_90", "no/such*"], Code.USAGE, "no/such*"),
        (["run", "--gpu", "sm_11", "move/*"], Code.USAGE, "sm_11"),
        (["run", "move/*"], Code.USAGE, "--gpu"),
        (
            ["run", "--gpu", "sm_90", "--assembler", "/no/such/tileiras", "move/*"],
            Code.ENVIRONMENT,
            "assembler",
        ),
        (["judge", "."], Code.USAGE, "difftest build"),
        (["launch", "."], Code.USAGE, "difftest build"),
        (["record", "."], Code.USAGE, "difftest build"),
        (["collect", ".", "."], Code.USAGE, "difftest build"),
        (["cases", "--corpus", "."], Code.USAGE, "manifest"),
        (["build", "--gpu", "sm_90", "--opt-level", "7", "-o", "x"], Code.USAGE, "opt-level"),
    ],
)
def test_errors_are_one_line(
    arguments: list[str], code: Code, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.exit_code == code
    assert words in result.output
    assert "Traceback" not in result.output
    errors = [line for line in result.output.splitlines() if line.lower().startswith("error")]
    assert len(errors) == 1


def test_an_unknown_model(tmp_path: Path, assembler: FakeAssembler) -> None:
    result = go(assembler, tmp_path / "f", "--model", "sm_1")
    assert result.exit_code == Code.USAGE
    assert "sm_1" in result.output


def test_cases_are_listed() -> None:
    result = run("cases", "mma/f16_f32*")
    assert result.exit_code == 0
    assert (
        "mma/f16_f32_64x64x64  grid 1  f16[64, 64], f16[64, 64], f32[64, 64], → f32[64, 64]" in result.output
    )


def test_a_foreign_corpus(tmp_path: Path, assembler: FakeAssembler) -> None:
    shared = Path(__file__).resolve().parents[3] / "shared" / "device-answers"
    if not shared.exists():
        pytest.skip("the recorded device answers are not here")
    cases = ["un_ceil_*", "sum_float16_64", "mma_i8_16x16x16", "cast_float32_int8", "un_exp_float32"]
    result = go(assembler, tmp_path / "f", "--corpus", shared, cases=cases)
    assert result.exit_code == Code.AGREE, result.output
    assert "8 cases, 8 agrees" in result.output
    # The folder remembers its corpus.
    assert load(tmp_path / "f").corpus == str(shared)
    assert run("judge", tmp_path / "f").exit_code == Code.AGREE


def test_the_doctor(assembler: FakeAssembler) -> None:
    result = run("doctor", "--driver", DRIVER, "--assembler", assembler.path)
    assert result.exit_code == Code.AGREE
    for word in ("13.4.92", "sm_90", "numpy", "gpu", "no_driver"):
        assert word in result.output
    assert run("doctor", "--driver", DRIVER, "--assembler", "/none").exit_code == Code.ENVIRONMENT


def test_outcome() -> None:
    assert outcome([]) == Code.NOTHING_COMPARED


def test_two_runs_share_their_work(tmp_path: Path, assembler: FakeAssembler) -> None:
    go(assembler, tmp_path / "f")
    records = sorted(p.name for p in (tmp_path / "f" / "interpretations").iterdir())
    result = go(assembler, tmp_path / "f", cases=CASES[:1])
    assert result.exit_code == Code.AGREE
    assert assembler.calls == 6
    assert sorted(p.name for p in (tmp_path / "f" / "interpretations").iterdir()) == records
    assert list(load(tmp_path / "f").cases) == CASES[:1]
    assert Store(tmp_path / "f").has("cases", next(iter(load(tmp_path / "f").cases.values())))
