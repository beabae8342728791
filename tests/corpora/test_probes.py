"""The probes: made as they were launched, explained by the model where it claims to, and told from others."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import corpora
import tileref
from corpora.probes import Probe, load
from corpora.probes.check import check
from corpora.probes.command import main
from corpora.probes.evidence import ANSWERS, BLOCK, Evidence
from corpora.probes.export import export
from corpora.probes.families import FAMILIES
from corpora.probes.families.folds import shape_seed
from corpora.probes.pairs import ALL_PAIRS, pairs
from corpora.probes.probe import RECORDS
from corpora.probes.recording import write
from tileir.errors import ArgumentError, TileError

GPU = "sm_90"
SLICE = 4
"""Probes of each family that are interpreted here; the command does all."""
LARGEST = 1 << 16
"""Lanes of the largest output that is."""
PROBES = load()


def outputs_size(probe: Probe) -> int:
    """Elements of the probe's output."""
    return int(np.prod(probe.parameters[probe.output].shape))  # type: ignore[union-attr]


def some(family: str) -> list[Probe]:
    """A few probes from all over the family."""
    small = [p for p in load(family) if outputs_size(p) <= LARGEST] or load(family)[:1]
    step = max(1, len(small) // SLICE)
    return small[::step][:SLICE]


def test_there_are_all() -> None:
    assert {p.family for p in PROBES} == set(FAMILIES)
    assert len({p.name for p in PROBES}) == len(PROBES) == 2511
    assert {p.family for p in PROBES if RECORDS.answer(p, GPU) is None} == set()


def test_records_say_where_they_come_from() -> None:
    for family in FAMILIES:
        answer = RECORDS.answer(load(family)[0], GPU)
        assert answer is not None
        source = answer.source
        assert (source.gpu, source.device, source.driver) == (GPU, "NVIDIA H200", "580.159.04")
        # What ``tileir.assemble`` chooses for this target, whatever the assembler's own default is.
        assert (source.assembler, source.bytecode, source.opt_level) == ("13.4.92", "13.4", 0)


def test_every_kernel_is_the_one_that_was_launched() -> None:
    # A third of them each: the others differ in numbers alone.
    for probe in PROBES[::3]:
        answer = RECORDS.answer(probe, GPU)
        assert answer is not None
        assert hashlib.sha256(probe.kernel).hexdigest() == answer.kernel, probe.name


@pytest.mark.parametrize("family", FAMILIES)
def test_inputs_are_those_that_were_given(family: str) -> None:
    for probe in some(family):
        answer = RECORDS.answer(probe, GPU)
        assert answer is not None
        assert probe.inputs_hash == answer.inputs, probe.name


@pytest.mark.parametrize("family", [f for f in FAMILIES if f != "math_large"])
def test_the_model_explains_what_it_claims(family: str) -> None:
    for probe in some(family):
        verdict = check(probe, GPU, GPU)
        assert verdict.outcome in ("agrees", "not-claimed"), (verdict.probe, verdict.difference)


def test_a_difference_is_found_and_placed() -> None:
    whole, blocks = load("reduce/addf_f32_64x32_d0_random")[0], load("arithmetic/addf_f32")[0]
    for probe, kept, place in ((whole, "whole", "first 5:"), (blocks, "blocks", f"first {2 * BLOCK} to")):
        answer = RECORDS.answer(probe, GPU)
        assert answer is not None
        assert answer.kept == kept
        arguments = probe.arguments()
        tileref.launch(probe.kernel, probe.grid, arguments, model=GPU)
        output = arguments[probe.output]
        assert answer.difference(output) == ""
        output.view(np.uint32).reshape(-1)[5 if kept == "whole" else 2 * BLOCK + 7] ^= np.uint32(1)
        assert answer.difference(output).startswith("1 of")
        assert place in answer.difference(output)


def test_another_model_differs() -> None:
    verdict = check(load("mma/f16_f32_64x64x64_normal")[0], "spec", GPU)
    assert not verdict.same
    assert verdict.difference


def test_undefined_elements_are_not_compared() -> None:
    probe = load("ftoi/f16_i8_signed")[0]
    answer = RECORDS.answer(probe, GPU)
    assert answer is not None
    output = np.frombuffer(answer.data, np.int8).copy()
    output[9] ^= 1
    mask = np.zeros(output.shape, np.bool_)
    assert answer.difference(output, mask)
    mask[9] = True
    assert answer.difference(output, mask) == ""
    with pytest.raises(TileError, match="whole answer"):
        replace(answer, kept="blocks").difference(output, mask)


def test_a_changed_kernel_is_told() -> None:
    probe = load("atomic/addf_f32")[0]
    changed = replace(probe, text=probe.text.replace("relaxed", "acq_rel"))
    assert check(changed, GPU, GPU).outcome == "stale"
    assert check(replace(probe, name="atomic/none"), GPU, GPU).outcome == "no-answer"


def test_answers_are_never_edited(tmp_path: Path) -> None:
    probes = load("atomic")
    first = RECORDS.answer(probes[0], GPU)
    assert first is not None
    outputs = {p.name: p.arguments()[p.output] for p in probes}
    path = write(tmp_path, first.source, probes, outputs)
    assert write(tmp_path, first.source, probes, outputs) == path
    read = Evidence(tmp_path).answer(probes[1], GPU)
    assert read is not None
    assert read.difference(outputs[probes[1].name]) == ""
    outputs[probes[1].name][0] = 1
    with pytest.raises(TileError, match="never edited"):
        write(tmp_path, first.source, probes, outputs)
    path.with_suffix(".xz").write_bytes(b"damaged")
    with pytest.raises(TileError, match="cannot read"):
        Evidence(tmp_path).answer(probes[1], GPU)


def test_levels_are_kept_and_compared_apart(tmp_path: Path) -> None:
    """What two levels answer alike is kept once; where they differ, the difference names the level."""
    probes = load("atomic")
    first = RECORDS.answer(probes[0], GPU)
    assert first is not None
    outputs = {p.name: np.array(p.arguments()[p.output]) for p in probes}
    for probe in probes:
        arguments = probe.arguments()
        tileref.launch(probe.kernel, probe.grid, arguments, model=GPU)
        outputs[probe.name] = arguments[probe.output]
    changed = dict(outputs)
    changed[probes[1].name] = outputs[probes[1].name].copy()
    changed[probes[1].name].view(np.uint8)[0] ^= 1
    sources = [replace(first.source, opt_level=level) for level in (0, 3)]
    write(tmp_path, sources[0], probes, outputs, limit=1 << 20)
    path = write(tmp_path, sources[1], probes[:1], changed)
    assert write(tmp_path, sources[1], probes[1:], changed) == path
    evidence = Evidence(tmp_path)
    kept = {e["name"]: e["kept"] for e in json.loads(path.read_text())["probes"]}
    assert kept == {p.name: "whole" if p is probes[1] else "level" for p in probes}
    for probe in probes:
        answers = evidence.answers(probe, GPU)
        assert [a.source.opt_level for a in answers] == [0, 3]
        assert [a.difference(outputs[probe.name]) == "" for a in answers] == [True, probe is not probes[1]]
        assert [r.opt_levels for r in evidence.find(probe, GPU)] == (
            [(3,), (0,)] if probe is probes[1] else [(0, 3)]
        )
    assert check(probes[0], GPU, GPU, evidence).outcome == "agrees"
    verdict = check(probes[1], GPU, GPU, evidence)
    assert verdict.outcome == "differs"
    assert verdict.difference.startswith("at level 3: 1 of")
    with pytest.raises(TileError, match="another launch"):
        write(tmp_path, replace(sources[1], date="2001-01-01"), probes, changed)
    path.with_name(path.name).parent.parent.joinpath("13.4.92-O0", "atomic.json").unlink()
    with pytest.raises(TileError, match="no other level"):
        Evidence(tmp_path).answers(probes[0], GPU)


def test_answers_name_no_machine() -> None:
    for path in ANSWERS.rglob("*.json"):
        assert set(json.loads(path.read_text())["source"]) == {
            *("gpu", "device", "driver", "date", "assembler", "bytecode", "opt_level")
        }


def test_patterns() -> None:
    assert [p.name for p in load("reduce/addf_f32_[24]x2_d0_random")] == [
        "reduce/addf_f32_2x2_d0_random",
        "reduce/addf_f32_4x2_d0_random",
    ]
    with pytest.raises(ArgumentError, match="no probe"):
        load("nothing*")


def test_pairs_are_all_up_to_a_size() -> None:
    assert len(pairs(ALL_PAIRS)) == ALL_PAIRS * (ALL_PAIRS - 1) // 2
    assert all(i < j for i, j in pairs(1024))


def test_the_seed_of_a_shape_is_the_one_recorded() -> None:
    assert [shape_seed(s) for s in ((64, 32), (1024,), (4, 8, 16))] == [
        hash(s) % 1000 for s in ((64, 32), (1024,), (4, 8, 16))
    ]


def test_command() -> None:
    run = CliRunner().invoke(main, ["atomic", "--json"])
    assert run.exit_code == 0
    document = json.loads(run.stdout)
    assert document["total"] == {
        "probes": 4,
        "agrees": 4,
        "differs": 0,
        "not-claimed": 0,
        "stale": 0,
        "no-answer": 0,
        "same": 0,
    }
    run = CliRunner().invoke(main, ["reduce_warps", "--model", "spec"])
    assert "reduce_warps" in run.stdout
    assert CliRunner().invoke(main, ["nothing"]).exit_code == 2


def test_exported_probes_are_cases(tmp_path: Path) -> None:
    probes = load(["atomic", "arithmetic/addf_f32"])
    assert export(tmp_path, probes, GPU) == len(probes)
    cases = corpora.foreign(tmp_path)
    for case, probe in zip(cases, sorted(probes, key=PROBES.index), strict=True):
        assert case.kernel == probe.kernel
        assert case.outputs == probe.outputs
        for one, other in zip(case.arguments(), probe.arguments(), strict=True):
            assert one.tobytes() == other.tobytes()
        answer = RECORDS.answer(probe, GPU)
        assert answer is not None
        assert bool(case.recorded(GPU)) == (answer.kept == "whole")


@pytest.mark.parametrize("probe", load("math_f64"), ids=lambda probe: str(probe.name))
def test_f64_functions_are_asked_where_they_do_their_work(probe: Probe) -> None:
    """Numbers of every kind, few of them twice; answers that are neither a constant nor out of range."""
    arguments = probe.arguments()
    operands = [a for i, a in enumerate(arguments) if i != probe.output]
    for operand in operands:
        assert np.isnan(operand).any()
        assert np.isinf(operand).any()
        assert ((operand == 0) & np.signbit(operand)).any()
    lanes = np.unique(np.stack([o.view(np.uint64) for o in operands]), axis=1).shape[1]
    assert lanes > 0.6 * operands[0].size
    tileref.launch(probe.kernel, probe.grid, arguments, model=GPU)
    output = arguments[probe.output]
    assert np.unique(output[np.isfinite(output)]).size > output.size / 3
