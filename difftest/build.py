"""The build stage: cases into a folder, and their kernels assembled for a target. Needs no GPU."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from corpora import Buffer, Case
from tileir import toolchain
from tileir.assembler import assemble
from tileir.errors import ArgumentError, AssemblerError, TileError
from tileir.toolchain import Toolchain

from .plan import BUILDS, CASES, Argument, Build, Plan, PlannedCase, build_id, read_build, save, write_record
from .store import Store

OPT_LEVELS = (3, 0)
"""The levels that are assembled when none are asked for: the assembler's default, and no optimization."""

INCOMPATIBLE = "Incompatibility with architecture"
"""What the assembler says of a kernel that uses what the target does not have."""

Progress = Callable[[int, int, str, Build], None]
"""Called after each build: done, total, what, and what came of it."""


@dataclass(frozen=True)
class Options:
    """How to build: the optimization levels, seconds a kernel may take, how many at a time, what to redo."""

    opt_levels: tuple[int, ...] = OPT_LEVELS
    timeout: float = 120.0
    jobs: int | None = None
    retry: bool = False
    assembler: str | None = None


def build_folder(
    folder: Path,
    cases: Sequence[Case],
    gpu: str,
    options: Options | None = None,
    progress: Progress | None = None,
    corpus: Path | None = None,
) -> Counter[str]:
    """Put ``cases`` into ``folder`` and assemble what has not been assembled yet.

    Returns:
        How many builds ended how (``ok``, ``refused``, ``unsupported``, ``crashed``, ``timeout``), earlier
        ones included.

    Raises:
        AssemblerError: there is no assembler.
        ArgumentError: it does not know the target, or a case is there twice.
        TileError: a case's files are damaged.
    """
    options = options or Options()
    tools = toolchain.find(options.assembler)
    _check(gpu, options.opt_levels, tools)
    repeated = [name for name, count in Counter(case.name for case in cases).items() if count > 1]
    if repeated:
        raise ArgumentError("two cases have one name", rule="case-name", found=repeated[0])
    store = Store(folder)
    planned = {case.name: add_case(store, case) for case in cases}
    plan = Plan(
        gpu=gpu,
        opt_levels=options.opt_levels,
        assembler=tools.version,
        cases={name: case.identity for name, case in planned.items()},
        corpus=None if corpus is None else str(corpus),
    )
    save(folder, plan)
    wanted = {
        build_id(case.kernel, gpu, level, tools.version): (name, case.kernel, level)
        for name, case in planned.items()
        for level in options.opt_levels
    }
    counts: Counter[str] = Counter()
    left = []
    for identity, job in wanted.items():
        if store.has(BUILDS, identity):
            result = read_build(store, identity).result
            if result == "ok" or not options.retry:
                counts[result] += 1
                continue
        left.append((identity, *job))
    with ThreadPoolExecutor(options.jobs or os.cpu_count() or 1) as pool:
        futures: dict[Future[Build], tuple[str, str]] = {
            pool.submit(_build, store, kernel, gpu, level, tools, options.timeout): (
                identity,
                f"{name} (O{level})",
            )
            for identity, name, kernel, level in left
        }
        try:
            for done, future in enumerate(as_completed(futures), 1):
                identity, what = futures[future]
                build = future.result()
                write_record(store, BUILDS, identity, build)
                counts[build.result] += 1
                if progress is not None:
                    progress(done, len(futures), what, build)
        except BaseException:
            # Interrupted: what runs is finished by its own limit, what waits is not begun.
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return counts


def _check(gpu: str, opt_levels: Sequence[int], tools: Toolchain) -> None:
    from tileir.assembler import targets

    known = targets(tools.version)
    if gpu not in known:
        raise ArgumentError(
            f"tileiras {tools.version} has no such target",
            rule="assembler-target",
            found=gpu,
            expected=", ".join(known),
        )
    if not opt_levels or any(level not in range(4) for level in opt_levels):
        raise ArgumentError(
            "no such optimization level", rule="opt-level", found=list(opt_levels), expected="0 to 3"
        )


def add_case(store: Store, case: Case) -> PlannedCase:
    """Put a case into the folder: its kernel, and the bytes of its buffers."""
    arguments = []
    for parameter, value in zip(case.parameters, case.arguments(), strict=True):
        if isinstance(parameter, Buffer):
            argument = Argument(
                format=parameter.format,
                name=parameter.name,
                shape=parameter.shape,
                blob=store.put(value.tobytes()),
                output=parameter.output,
            )
        else:
            argument = Argument(format=parameter.format, bits=parameter.bits)
        arguments.append(argument)
    planned = PlannedCase(
        name=case.name,
        kernel=store.put(case.kernel),
        entry=case.entry,
        grid=case.grid,
        arguments=tuple(arguments),
        kernel_sha256=case.kernel_hash,
        inputs_sha256=case.inputs_hash,
    )
    if not store.has(CASES, planned.identity):
        write_record(store, CASES, planned.identity, planned)
    return planned


def _build(store: Store, kernel: str, gpu: str, level: int, tools: Toolchain, timeout: float) -> Build:
    start = time.perf_counter()
    cubin, message, signal = None, "", None
    try:
        made = assemble(store.get(kernel), gpu, level, timeout=timeout, assembler=tools)
        result, cubin, message = "ok", store.put(made.data), made.remarks
    except AssemblerError as error:
        result = error.rule.removeprefix("assembler-")
        if result not in ("refused", "crashed", "timeout"):
            raise
        message = error.message
        signal = error.signal
        if result == "refused" and INCOMPATIBLE in message:
            result = "unsupported"
    except ArgumentError:
        raise
    except TileError as error:
        result, message = "refused", str(error)
    return Build(
        kernel=kernel,
        gpu=gpu,
        opt_level=level,
        assembler=tools.version,
        result=result,
        seconds=time.perf_counter() - start,
        cubin=cubin,
        message=message,
        signal=signal,
    )
