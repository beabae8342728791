"""The judge: planted differences are found, and what must not count does not."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corpora
from corpora.probes import load as load_probes
from corpora.probes.evidence import Evidence
from corpora.records import Folder as RecordFolder
from difftest.build import Options, build_folder
from difftest.judge import Verdict, judge_folder
from difftest.judge.answers import Answer
from difftest.judge.compare import compare
from difftest.judge.interpret import interpret
from difftest.plan import LAUNCHES, Launched, build_id, launch_id, load, read_build, read_case, write_record
from difftest.record import record_folder
from difftest.record_probes import Probed
from difftest.store import FolderError, Store
from difftest.tiers import EXACT, Tier
from tileir.errors import TileError

from .fake_assembler import FakeAssembler


class Bench:
    """A folder with one case, and a device that answers what a test says."""

    def __init__(
        self, folder: Path, assembler: FakeAssembler, name: str, levels: tuple[int, ...] = (3,)
    ) -> None:
        (self.case,) = corpora.load(name)
        self.folder = folder
        build_folder(folder, [self.case], "sm_90", Options(levels, assembler=str(assembler.path)))
        self.store = Store(folder)
        self.position = self.case.outputs[0]

    def expected(self) -> np.ndarray:
        """The recorded answer, to be changed."""
        return self.case.recorded("sm_90")[0].outputs[self.position].copy()

    def launch(self, outputs: dict[int, np.ndarray], result: str = "ok", **more: Any) -> None:
        """Pretend that a GPU answered so, at every level."""
        plan = load(self.folder)
        identity = plan.cases[self.case.name]
        case = read_case(self.store, identity)
        for level in plan.opt_levels:
            build = read_build(self.store, build_id(case.kernel, plan.gpu, level, plan.assembler))
            blobs = {str(i): self.store.put(a.tobytes()) for i, a in outputs.items()}
            launched = Launched(
                identity,
                build.cubin or "",
                result,
                0.1,
                "sm_90",
                "Test GPU",
                "1",
                "9.0",
                outputs=blobs,
                **more,
            )
            name = launch_id(identity, build.cubin or "", "Test GPU", "1")
            write_record(self.store, LAUNCHES, name, launched)

    def verdict(self, **more: Any) -> Verdict:
        """The only verdict."""
        (verdict,) = judge_folder(self.folder, **more)
        return verdict


@pytest.fixture
def bench(tmp_path: Path, assembler: FakeAssembler):
    def make(name: str, **more: Any) -> Bench:
        return Bench(tmp_path / "f", assembler, name, **more)

    return make


def test_a_recorded_answer_stands_in(bench) -> None:
    verdict = bench("move/transpose_f32").verdict()
    assert (verdict.result, verdict.source, verdict.confirmed) == ("agrees", "recorded", "exact")
    assert verdict.device == "NVIDIA H200"
    assert verdict.opt_levels == (0, 3)


def _with_answers(monkeypatch: pytest.MonkeyPatch, name: str, answers: Path) -> corpora.Case:
    """Let the corpus look for the answers of one case in a folder of the test."""
    (case,) = corpora.load(name)
    moved = replace(case, records=RecordFolder(answers))
    load = corpora.load
    monkeypatch.setattr(corpora, "load", lambda *p: [moved if c.name == name else c for c in load(*p)])
    return case


def test_answers_to_other_inputs_are_ignored(bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    b = bench("move/transpose_f32")
    case = _with_answers(monkeypatch, b.case.name, tmp_path)
    RecordFolder(tmp_path).write(replace(case, grid=(9,)), case.recorded("sm_90")[0])
    verdict = b.verdict()
    assert (verdict.result, verdict.source) == ("not-compared", "none")
    assert "1 recorded answers are of another kernel or other inputs" in verdict.notes[0]


def test_a_damaged_answer_is_an_error(bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    b = bench("move/transpose_f32")
    case = _with_answers(monkeypatch, b.case.name, tmp_path)
    path = RecordFolder(tmp_path).write(case, case.recorded("sm_90")[0])
    assert path is not None
    assert b.verdict().result == "agrees"
    path.with_suffix(".npz").write_bytes(b"PK nonsense")
    with pytest.raises(TileError) as caught:
        b.verdict()
    assert str(path.with_suffix(".npz")) in str(caught.value)


def test_one_flipped_bit_is_found(bench) -> None:
    b = bench("move/transpose_f32")
    answer = b.expected()
    answer.view(np.uint32)[7, 11] ^= 1
    b.launch({b.position: answer})
    verdict = b.verdict()
    assert (verdict.result, verdict.source, verdict.confirmed) == ("differs", "launched", "no")
    assert (verdict.differing, verdict.outside, verdict.max_ulp) == (1, 1, 1.0)
    (difference,) = verdict.differences
    assert difference.index == (7, 11)
    assert difference.found_bits == f"0x{answer.view(np.uint32)[7, 11]:08x}"
    assert difference.expected_bits != difference.found_bits
    assert verdict.failed


def test_an_input_that_the_device_changed_is_found(bench) -> None:
    b = bench("move/transpose_f32")
    source = b.case.arguments()[0]
    source.view(np.uint32)[0, 0] ^= 1
    b.launch({b.position: b.expected(), 0: source})
    verdicts = judge_folder(b.folder)
    assert {v.output: v.result for v in verdicts} == {"in0": "differs", "out0": "agrees"}


def test_a_device_that_wrote_nothing_is_found(bench) -> None:
    b = bench("move/transpose_f32")
    b.launch({})
    assert b.verdict().result == "differs"


def test_lanes_without_a_value_do_not_count(bench) -> None:
    b = bench("cast/f32_to_integers")
    outputs = {i: a.copy() for i, a in b.case.recorded("sm_90")[0].outputs.items()}
    source = b.case.arguments()[0]
    beyond = int(np.flatnonzero(np.isnan(source))[0])
    within = int(np.flatnonzero(np.abs(source) < 100)[0])
    target = b.case.outputs[2]
    outputs[target][beyond] += 1
    b.launch(outputs)
    verdicts = judge_folder(b.folder)
    assert all(v.result == "agrees" for v in verdicts)
    assert all(v.undefined > 0 for v in verdicts)
    outputs[target][within] += 1
    b.launch(outputs)
    assert [v.result for v in judge_folder(b.folder)] == ["agrees", "agrees", "differs", "agrees"]


@pytest.mark.parametrize(("change", "result"), [(0, "agrees"), (3, "agrees"), (4, "differs")])
def test_a_tolerance_is_a_bound(bench, change: int, result: str) -> None:
    """Under a model that is not the target's, 3 ulp are what is documented of this operation."""
    b = bench("binary/atan2_f32")
    case = read_case(b.store, load(b.folder).cases[b.case.name])
    answer = interpret(b.store, case, "spec", "sm_90").outputs[b.position].copy()
    lane = int(np.flatnonzero(np.isfinite(answer) & (np.abs(answer) > 1e-3))[0])
    answer.view(np.uint32)[lane] += change
    b.launch({b.position: answer})
    verdict = b.verdict(model="spec")
    assert (verdict.tier, verdict.bound) == ("tolerance", "3 ulp")
    assert verdict.result == result
    assert verdict.max_ulp == change
    assert verdict.confirmed == {0: "exact", 3: "tolerance", 4: "no"}[change]
    assert any("better than predicted" in n for n in verdict.notes) == (change == 0)


@pytest.mark.parametrize("result", ["fault", "crashed", "timeout", "guard", "nondeterministic", "load"])
def test_a_failed_launch_is_a_failure(bench, result: str) -> None:
    b = bench("move/transpose_f32")
    b.launch({}, result, message="what happened")
    verdict = b.verdict()
    assert verdict.failed
    assert verdict.result == {"crashed": "launch-crashed", "timeout": "launch-timeout"}.get(result, result)
    assert "what happened" in verdict.notes


def test_a_refused_kernel_is_a_failure(tmp_path: Path, assembler: FakeAssembler) -> None:
    (case,) = corpora.load("move/transpose_f32")
    assembler.fail(case.kernel, "crash")
    build_folder(tmp_path / "f", [case], "sm_90", Options((3,), assembler=str(assembler.path)))
    verdicts = judge_folder(tmp_path / "f")
    assert [v.result for v in verdicts] == ["crashed", "agrees"]
    assert "SIGSEGV" in verdicts[0].notes[0]


def test_levels_that_answer_differently_are_told(bench) -> None:
    b = bench("binary/atan2_f64", levels=(3, 0))
    verdicts = judge_folder(b.folder)
    assert [v.opt_levels for v in verdicts] == [(3,), (0,)]
    assert all(any("levels answer differently" in n for n in v.notes) for v in verdicts)


def test_another_model_differs(bench) -> None:
    b = bench("reduce/sum_f32_2048")
    assert b.verdict().result == "agrees"
    verdict = b.verdict(model="spec")
    assert verdict.tier == "tolerance"
    assert verdict.confirmed == "tolerance"
    assert verdict.because


def test_interpreting_is_done_once(bench, monkeypatch: pytest.MonkeyPatch) -> None:
    b = bench("move/transpose_f32")
    b.verdict()
    monkeypatch.setattr("difftest.judge.interpret.launch", None)
    b.verdict()
    with pytest.raises(AssertionError):
        assert b.verdict(model="spec").result == "agrees"


def test_a_broken_interpreter_costs_its_case(bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **kwargs: Any) -> None:
        raise IndexError("a bug")

    monkeypatch.setattr("difftest.judge.interpret.launch", broken)
    verdict = bench("move/transpose_f32").verdict()
    assert verdict.result == "not-interpreted"
    assert verdict.failed
    assert "a bug" in verdict.notes[0]


def test_damage_is_told(bench, tmp_path: Path) -> None:
    b = bench("move/transpose_f32")
    b.launch({b.position: b.expected()})
    assert b.verdict().result == "agrees"
    needed = [*b.folder.rglob("*.json"), *(b.folder / "blobs" / name for name in _blobs_of(b))]
    for number, path in enumerate(needed):
        for kind, broken in enumerate((path.read_bytes()[:30], b"[]", b"{}")):
            copy = tmp_path / f"copy{number}-{kind}"
            shutil.copytree(b.folder, copy)
            (copy / path.relative_to(b.folder)).write_bytes(broken)
            with pytest.raises(FolderError) as caught:
                judge_folder(copy)
            assert str(copy) in str(caught.value)


def _blobs_of(b: Bench) -> set[str]:
    """What judging needs a second time: both answers."""
    (_, launched), *_ = b.store.all(LAUNCHES)
    (_, meant), *_ = b.store.all("interpretations")
    return {*launched["outputs"].values(), *meant["outputs"].values()}


def test_launches_become_records(bench, tmp_path: Path) -> None:
    b = bench("move/transpose_f32")
    b.launch({b.position: b.expected()}, date="2026-01-01")
    said: list[str] = []
    answers = tmp_path / "answers"
    assert record_folder(b.folder, said.append, answers) == {"new": 1}
    assert record_folder(b.folder, said.append, answers) == {"known": 1}
    changed = b.expected()
    changed.view(np.uint32)[0, 0] ^= 1
    b.launch({b.position: changed}, date="2026-01-01")
    assert record_folder(b.folder, said.append, answers) == {"differs from its record": 1}
    assert "never edited" in said[-1]


def test_launches_of_probes_become_records(tmp_path: Path) -> None:
    probe = load_probes("atomic")[0]
    output = np.array(probe.arguments()[probe.output])
    other = output.copy()
    other.view(np.uint8)[3] ^= 1

    def answer(levels: tuple[int, ...], array: Any, date: str = "2026-01-01") -> Answer:
        return Answer("ok", "launched", levels, {probe.output: array}, "13.4.92", "a GPU", "580", date)

    def recorded(*given: Answer) -> dict[str, int]:
        probed = Probed(tmp_path)
        probed.add(probe, "sm_90", given)
        return dict(probed.write(said.append))

    said: list[str] = []
    assert recorded(answer((0, 3), output), answer((1,), other)) == {"new": 3, "known": 0}
    assert recorded(answer((0, 3), output)) == {"new": 0, "known": 2}
    found = Evidence(tmp_path).answers(probe, "sm_90")
    assert [a.source.opt_level for a in found] == [0, 1, 3]
    assert [a.difference(output) == "" for a in found] == [True, False, True]
    assert {(a.source.device, a.source.date, a.source.bytecode) for a in found} == {
        ("a GPU", "2026-01-01", "13.4")
    }
    assert recorded(answer((3,), other)) == {"differs from its record": 1}
    assert "never edited" in said[-1]
    assert recorded(answer((1,), other, "2026-01-02")) == {"differs from its record": 1}


def test_comparison_counts_bits() -> None:
    nans = np.array([0x7FFFFFFF, 0x7FC00000, 0x80000000, 0x3F800000], np.uint32).view(np.float32)
    other = np.array([0x7FC00000, 0x7FC00000, 0x00000000, 0x3F800000], np.uint32).view(np.float32)
    exact = compare(nans, other, "f32", None, EXACT)
    assert (exact.differing, exact.outside) == (2, 2)
    assert [d.index for d in exact.differences] == [(0,), (2,)]
    assert [d.expected for d in exact.differences] == ["nan", "-0.0"]
    # Within a tolerance the pattern of a NaN and the sign of a zero are free, a NaN for a number is not.
    loose = compare(nans, other, "f32", None, Tier("tolerance", ulps=1))
    assert (loose.differing, loose.outside) == (2, 0)
    gone = compare(
        nans, np.array([0, 0, 0, np.nan], np.float32), "f32", None, Tier("tolerance", rel=1.0, abs=1e9)
    )
    assert gone.outside == 3
    undefined = np.array([True, False, True, False])
    assert compare(nans, other, "f32", undefined, EXACT).differing == 0
    assert compare(nans, other, "f32", undefined, EXACT).undefined == 2


def test_a_relative_and_absolute_bound() -> None:
    a = np.array([1.0, 100.0, 0.0, np.inf], np.float32)
    tier = Tier("tolerance", rel=0.01, abs=0.001)
    assert compare(a, np.array([1.0109, 101.0, 0.00099, np.inf], np.float32), "f32", None, tier).outside == 0
    assert compare(a, np.array([1.0112, 101.01, 0.0011, 3e38], np.float32), "f32", None, tier).outside == 4
    nothing = replace(tier, rel=float("inf"), abs=float("inf"))
    assert not nothing.bounded
    assert compare(a, a + 1, "f32", None, nothing).outside == 0
