"""Launches of a folder made into records of the corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import corpora
from corpora import Case
from corpora.manifest import ANSWERS
from corpora.probes import Probe
from corpora.probes import load as load_probes
from corpora.probes.evidence import ANSWERS as PROBES
from corpora.probes.export import exported_name
from corpora.records import Folder, Record
from tileir.errors import TileError

from .judge.answers import Answers
from .plan import load, read_case
from .record_probes import Probed
from .store import Store


def record_folder(
    folder: Path, say: Callable[[str], None], answers: Path = ANSWERS, probes: Path = PROBES
) -> Counter[str]:
    """Record what the launches of ``folder`` answered.

    A case is recorded if every level of the folder was launched and answered. Levels that answered
    differently become a record each. Exported probes are recorded among the probes' answers.

    Returns:
        How many cases were ``new``, ``known``, or not recorded and why.

    Raises:
        FolderError: the folder is damaged.
    """
    plan = load(folder)
    store = Store(folder)
    found = Answers(store, plan)
    records = Folder(answers)
    cases: dict[str, Case] = {exported_name(probe): probe for probe in load_probes()}
    cases |= {case.name: case for case in corpora.load()}
    probed = Probed(probes)
    counts: Counter[str] = Counter()
    for name, identity in plan.cases.items():
        planned = read_case(store, identity)
        case = cases.get(name)
        if case is None or (case.kernel_hash, case.inputs_hash) != (
            planned.kernel_sha256,
            planned.inputs_sha256,
        ):
            counts["not of this corpus"] += 1
            say(f"{name}: not recorded, its kernel or inputs are not the corpus's")
            continue
        given = found.launched(planned, found.builds(planned))
        levels = tuple(sorted(level for a in given for level in a.opt_levels))
        if not given:
            counts["not launched"] += 1
            continue
        failed = [a for a in given if a.result != "ok"]
        if failed or set(levels) != set(plan.opt_levels):
            counts["failed"] += 1
            say(f"{name}: not recorded, {failed[0].message if failed else 'not launched at every level'}")
            continue
        if len(given) > 1:
            say(f"{name}: the optimization levels answer differently")
        if isinstance(case, Probe):
            probed.add(case, plan.gpu, given)
            continue
        for answer in given:
            record = Record(
                gpu=plan.gpu,
                device=answer.device,
                driver=answer.driver,
                assembler=answer.assembler,
                date=answer.date,
                opt_levels=tuple(sorted(answer.opt_levels)),
                outputs={i: answer.outputs[i] for i in case.outputs},
            )
            try:
                path = records.write(case, record, alone=len(given) == 1)
            except TileError as error:
                counts["differs from its record"] += 1
                say(f"{name}: not recorded, {error}")
                continue
            counts["known" if path is None else "new"] += 1
    return counts + probed.write(say)
