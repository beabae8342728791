"""Judging a folder: for each case the model's answer, the GPU's, and what the tier says about both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from tileir.errors import ArgumentError
from tileref.targets import model as model_named
from tileref.targets import models

from ..plan import Build, Plan, PlannedCase, load, read_case
from ..store import Store
from ..tiers import EXACT, Tier
from .answers import Answer, Answers
from .compare import compare
from .interpret import Interpretation, interpret
from .verdict import Verdict

Progress = Callable[[int, int, str, list[Verdict]], None]
"""Called after each case: done, total, the case's name, its verdicts."""


def model_for(gpu: str) -> str:
    """The model of a target: its own, or ``spec`` where there is none."""
    return gpu if gpu in models() else "spec"


def judge_folder(
    folder: Path, model: str | None = None, patterns: Sequence[str] = (), progress: Progress | None = None
) -> list[Verdict]:
    """Judge every case of a folder, or those whose name matches a pattern.

    Args:
        folder: what ``difftest build`` made, with launches or without.
        model: name of the model; the target's if None.
        patterns: shell patterns on names.
        progress: called after each case.

    Raises:
        ArgumentError: there is no such model, or a pattern matches nothing.
        FolderError: the folder is damaged.
    """
    plan = load(folder)
    store = Store(folder)
    name = model_named(model or model_for(plan.gpu)).name
    answers = Answers(store, plan)
    chosen = {n: i for n, i in plan.cases.items() if not patterns or any(fnmatchcase(n, p) for p in patterns)}
    if patterns and not chosen:
        raise ArgumentError("no case of the folder matches", rule="case-name", found=", ".join(patterns))
    verdicts: list[Verdict] = []
    for number, (case_name, identity) in enumerate(chosen.items(), 1):
        case = replace(read_case(store, identity), name=case_name)
        found = list(judge_case(store, plan, case, name, answers))
        verdicts += found
        if progress is not None:
            progress(number, len(chosen), case_name, found)
    return verdicts


def judge_case(
    store: Store, plan: Plan, case: PlannedCase, model: str, answers: Answers
) -> Iterator[Verdict]:
    """The verdicts of one case: one for each output and each answer, or one that says why there is none."""
    meant = interpret(store, case, model, plan.gpu)
    base = Verdict(
        case=case.name,
        family=case.name.partition("/")[0],
        gpu=plan.gpu,
        model=model,
        result="not-compared",
        source="none",
        operations=meant.operations,
        assembler=plan.assembler,
        seconds=meant.seconds,
        notes=meant.notes,
    )
    builds = answers.builds(case)
    failed = False
    for build in builds:
        if build.result != "ok":
            failed = True
            yield _not_assembled(base, build)
    if meant.error is not None:
        yield replace(base, result="not-interpreted", notes=(*meant.notes, meant.error))
        return
    found = answers.launched(case, builds)
    note = ""
    if not found:
        found, note = answers.recorded(case)
    if note:
        base = replace(base, notes=(*base.notes, note))
    if not found and not failed:
        tiers = [meant.tiers.get(i, EXACT) for i, a in enumerate(case.arguments) if a.output]
        worst = next((t for t in tiers if t.name != "exact"), EXACT)
        levels = tuple(b.opt_level for b in builds)
        yield replace(base, tier=worst.name, bound=str(worst), because=worst.because, opt_levels=levels)
    if len(found) > 1:
        base = replace(base, notes=(*base.notes, "the optimization levels answer differently"))
    for answer in found:
        yield from _judge_answer(base, case, meant, answer)


def _not_assembled(base: Verdict, build: Build) -> Verdict:
    # A refusal names the operation's whole debug information first, and what is wrong after that.
    message = build.message.rpartition("error: ")[2].partition("\n")[0].strip()
    return replace(
        base, result=build.result, opt_levels=(build.opt_level,), notes=(*base.notes, f"assembler: {message}")
    )


def _judge_answer(
    base: Verdict, case: PlannedCase, meant: Interpretation, answer: Answer
) -> Iterator[Verdict]:
    base = replace(
        base,
        source=answer.source,
        opt_levels=answer.opt_levels,
        assembler=answer.assembler or base.assembler,
        device=answer.device,
        driver=answer.driver,
        date=answer.date,
    )
    if answer.result != "ok":
        yield replace(base, result=answer.result, notes=(*base.notes, answer.message))
        return
    for position, argument in enumerate(case.arguments):
        array = answer.outputs.get(position)
        if array is None:
            continue
        tier = meant.tiers.get(position, EXACT)
        expected = meant.outputs[position]
        comparison = compare(expected, array, argument.format, meant.undefined.get(position), tier)
        # Buffers that are no output are worth a line only if the device left something else in them.
        if not argument.output and not comparison.differing:
            continue
        result, confirmed, notes = _outcome(tier, comparison.differing, comparison.outside)
        yield replace(
            base,
            output=argument.name,
            format=argument.format,
            result=result,
            tier=tier.name,
            bound=str(tier),
            confirmed=confirmed,
            lanes=comparison.lanes,
            undefined=comparison.undefined,
            differing=comparison.differing,
            outside=comparison.outside,
            max_ulp=comparison.max_ulp,
            because=tier.because,
            notes=(*base.notes, *notes),
            differences=comparison.differences,
        )


def _outcome(tier: Tier, differing: int, outside: int) -> tuple[str, str, tuple[str, ...]]:
    """Class, confirmed tier and notes, from the prediction and the measurement."""
    if not differing:
        better = ("better than predicted: every bit agrees",) if tier.name != "exact" else ()
        return "agrees", "exact", better
    if outside:
        return "differs", "no", ()
    if not tier.bounded:
        return "open", "tolerance", ()
    return "agrees", "tolerance", ()
