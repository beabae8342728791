"""The answers of GPUs to a case: launched in this folder, or recorded in a corpus."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

import corpora
from corpora import Case, Record
from tileir.errors import TileError

from ..plan import BUILDS, LAUNCHES, Build, Launched, Plan, PlannedCase, build_id, parse_launch, read_build
from ..store import Store
from .interpret import array_of
from .verdict import Source

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a GPU answered at some optimization levels, or how it failed to (``result`` is not ``ok``)."""

    result: str
    source: Source
    opt_levels: tuple[int, ...]
    outputs: dict[int, NDArray[Any]]
    assembler: str = ""
    device: str = ""
    driver: str = ""
    date: str = ""
    message: str = ""


class Answers:
    """Looks answers up for the cases of a folder."""

    def __init__(self, store: Store, plan: Plan) -> None:
        self.store = store
        self.plan = plan
        self.launches: dict[tuple[str, str], Launched] = {}
        for identity, record in store.all(LAUNCHES):
            launched = parse_launch(record, store.path / LAUNCHES / f"{identity}.json")
            key = (launched.case, launched.cubin)
            old = self.launches.get(key)
            if old is None or (old.result != "ok", launched.date) >= (launched.result != "ok", old.date):
                self.launches[key] = launched
        self.cases = _corpus(plan)

    def builds(self, case: PlannedCase) -> list[Build]:
        """What the assembler did with the case's kernel, level by level; levels not built are left out."""
        found = []
        for level in self.plan.opt_levels:
            identity = build_id(case.kernel, self.plan.gpu, level, self.plan.assembler)
            if self.store.has(BUILDS, identity):
                found.append(read_build(self.store, identity))
        return found

    def launched(self, case: PlannedCase, builds: list[Build]) -> list[Answer]:
        """The answers launched for the case; levels that answered the same are one."""
        groups: dict[tuple[Any, ...], Answer] = {}
        for build in builds:
            launched = self.launches.get((case.identity, build.cubin or ""))
            if launched is None:
                continue
            outputs = {
                i: launched.outputs.get(str(i), a.blob)
                for i, a in enumerate(case.arguments)
                if a.blob is not None
            }
            key = (launched.result, launched.message, *outputs.items())
            levels = (*groups[key].opt_levels, build.opt_level) if key in groups else (build.opt_level,)
            groups[key] = Answer(
                _LAUNCH_CLASSES.get(launched.result, launched.result),
                "launched",
                levels,
                {
                    i: array_of(self.store, blob, case.arguments[i].format, case.arguments[i].shape)
                    for i, blob in outputs.items()
                    if blob is not None
                },
                build.assembler,
                launched.device,
                launched.driver,
                launched.date,
                launched.message,
            )
        return list(groups.values())

    def recorded(self, case: PlannedCase) -> tuple[list[Answer], str]:
        """The answers recorded for the case, if there are any, and a note about ones that do not fit.

        Raises:
            TileError: a record is damaged.
        """
        known = self.cases.get(case.name)
        if known is None:
            return [], ""
        if (known.kernel_hash, known.inputs_hash) != (case.kernel_sha256, case.inputs_sha256):
            return [], "the folder's kernel or inputs are not the corpus's any more"
        records = known.recorded(self.plan.gpu)
        stale = 0 if records else known.stale_records(self.plan.gpu)
        note = (
            f"{stale} recorded answers are of another kernel or other inputs, and are ignored"
            if stale
            else ""
        )
        return [_answer(record) for record in records], note


_LAUNCH_CLASSES = {"crashed": "launch-crashed", "timeout": "launch-timeout"}


def _answer(record: Record) -> Answer:
    return Answer(
        "ok",
        "recorded",
        record.opt_levels,
        dict(record.outputs),
        record.assembler,
        record.device,
        record.driver,
        record.date,
    )


def _corpus(plan: Plan) -> dict[str, Case]:
    """The cases that records are looked up for; none if their corpus is gone."""
    load: Callable[[], list[Case]] = corpora.load
    if plan.corpus is not None:
        folder = Path(plan.corpus)

        def load() -> list[Case]:
            return corpora.foreign(folder)

    try:
        return {case.name: case for case in load()}
    except TileError as error:
        logger.warning("no recorded answers: %s", error)
        return {}
