"""Launching everything of a folder that has not been launched on this GPU yet."""

from __future__ import annotations

import datetime
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tileir.errors import TileError

from ..plan import (
    BUILDS,
    LAUNCHES,
    Launched,
    Plan,
    build_id,
    launch_id,
    load,
    parse_launch,
    read_build,
    read_case,
    write_record,
)
from ..store import Store
from .driver import DRIVER_MODULE
from .process import Worker, WorkerDied, WorkerTimeout

START_TIMEOUT = 180.0
"""Seconds that a worker may take until the driver has a context."""


class EnvironmentMissing(TileError):
    """There is no GPU that the cubins could run on, or no driver, or no bindings to it."""


@dataclass(frozen=True)
class Options:
    """How to launch: seconds a case may take, launches a case, the GPU, and whether to redo what failed."""

    timeout: float = 30.0
    times: int = 3
    ordinal: int = 0
    driver: str = DRIVER_MODULE
    retry: bool = False


Progress = Callable[[int, int, str, Launched], None]
"""Called after each case: done, total, the case's name, what came of it."""


def launch_folder(folder: Path, options: Options, progress: Progress | None = None) -> Counter[str]:
    """Launch what is left to launch.

    Returns:
        How many launches ended how, those of earlier runs included.

    Raises:
        EnvironmentMissing: there is no usable GPU of the folder's target.
        FolderError: the folder is damaged.
    """
    plan = load(folder)
    store = Store(folder)
    jobs = list(_jobs(store, plan))
    counts: Counter[str] = Counter()
    worker: Worker | None
    worker, device = _start(folder, plan, options)
    try:
        for number, (name, case, cubin) in enumerate(jobs, 1):
            identity = launch_id(case, cubin, device["device"], device["driver"])
            if store.has(LAUNCHES, identity):
                path = store.path / LAUNCHES / f"{identity}.json"
                launched = parse_launch(store.read(LAUNCHES, identity), path)
                if launched.result == "ok" or not options.retry:
                    counts[launched.result] += 1
                    continue
            if worker is None:
                worker, device = _start(folder, plan, options)
            launched, alive = _launch(worker, device, case, cubin, options)
            if not alive:
                worker.end()
                worker = None
            write_record(store, LAUNCHES, identity, launched)
            counts[launched.result] += 1
            if progress is not None:
                progress(number, len(jobs), name, launched)
    finally:
        if worker is not None:
            worker.end()
    return counts


def _jobs(store: Store, plan: Plan) -> Iterator[tuple[str, str, str]]:
    """Name, case and cubin of each launch; a cubin that two levels share comes once."""
    seen = set()
    for name, identity in plan.cases.items():
        case = read_case(store, identity)
        for level in plan.opt_levels:
            build = build_id(case.kernel, plan.gpu, level, plan.assembler)
            if not store.has(BUILDS, build):
                continue
            cubin = read_build(store, build).cubin
            if cubin is not None and (identity, cubin) not in seen:
                seen.add((identity, cubin))
                yield f"{name} (O{level})", identity, cubin


def _start(folder: Path, plan: Plan, options: Options) -> tuple[Worker, dict[str, Any]]:
    worker = Worker(folder, options.driver, options.ordinal)
    try:
        device = worker.ask(None, START_TIMEOUT)
    except WorkerTimeout:
        worker.end()
        raise EnvironmentMissing(
            f"the GPU gave no context within {START_TIMEOUT:g} s", rule="gpu-missing"
        ) from None
    except WorkerDied as error:
        worker.end()
        raise EnvironmentMissing(f"the worker did not start: {error.how}", rule="gpu-missing") from None
    if not device.get("ready"):
        worker.end()
        raise EnvironmentMissing(f"no GPU to launch on: {device.get('message')}", rule="gpu-missing")
    if device["gpu"] != plan.gpu.rstrip("af"):
        worker.end()
        raise EnvironmentMissing(
            "the GPU is not the target of this folder",
            rule="gpu-target",
            found=device["gpu"],
            expected=plan.gpu,
        )
    return worker, device


def _launch(
    worker: Worker, device: dict[str, Any], case: str, cubin: str, options: Options
) -> tuple[Launched, bool]:
    """One case on a worker; what came of it, and whether the worker can take another one."""
    request = {"case": case, "cubin": cubin, "times": options.times}
    answer: dict[str, Any]
    alive = True
    try:
        answer = worker.ask(request, options.timeout)
        # An error of the driver poisons the process: the worker ends itself.
        alive = answer.get("result") not in ("fault", "load")
    except WorkerTimeout:
        answer = {"result": "timeout", "message": f"no answer within {options.timeout:g} s"}
        alive = False
    except WorkerDied as error:
        answer = {"result": "crashed", "message": error.how}
        alive = False
    launched = Launched(
        case=case,
        cubin=cubin,
        result=answer["result"],
        seconds=float(answer.get("seconds", 0.0)),
        gpu=device["gpu"],
        device=device["device"],
        driver=device["driver"],
        compute_capability=device["compute_capability"],
        date=_today(),
        launches=int(answer.get("launches", 0)),
        message=answer.get("message", ""),
        outputs=answer.get("outputs", {}),
    )
    return launched, alive


def _today() -> str:
    """Today, or the day that ``SOURCE_DATE_EPOCH`` names."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    now = datetime.datetime.now(datetime.UTC)
    if epoch and epoch.isdigit():
        now = datetime.datetime.fromtimestamp(int(epoch), datetime.UTC)
    return now.date().isoformat()
