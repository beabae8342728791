"""Launching a kernel on numpy arrays."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from tileir.errors import ArgumentError
from tileir.module import Module

from .arguments import (
    all_arrays,
    bind,
    check_count,
    check_grid,
    check_sequence,
    check_writable,
    find_entry,
)
from .frame import Frame
from .hoisting import evaluate
from .inspection.asked import Asked, Observers, Probes, inspection
from .inspection.blocks import chosen as chosen_blocks
from .inspection.profiling import Profile
from .inspection.progress import Counter, Progress
from .inspection.session import looking_on
from .loading import Loaded, load
from .memory import Buffer, Memory
from .ordering.ordering import Ordering
from .ordering.unwatched import unshared
from .progress import run_in_turns
from .regions import run_region
from .result import LaunchResult
from .run import Check, Run
from .schedule import groups, in_flight, run_chunks
from .targets import model as model_named
from .targets.model import Model
from .values import Selection
from .waiting import Root, Roots, plan

DEFAULT_BUDGET = 1 << 29


def launch(
    kernel: Loaded | Module | bytes | str | PathLike[str],
    grid: int | Sequence[int],
    args: Sequence[Any],
    *,
    model: str | Model = "spec",
    entry: str | None = None,
    check: Check = "on",
    threads: int | None = None,
    memory_budget: int = DEFAULT_BUDGET,
    step_budget: int = 10**8,
    blocks: Any = None,
    progress: Callable[[Progress], Any] | None = None,
    observe: Observers = None,
    trace: Asked = None,
    watch: Asked = None,
    breakpoint: Asked = None,
    probe: Probes = None,
    lint: str | Sequence[str] = (),
    profile: bool = False,
) -> LaunchResult:
    """Run a kernel as a GPU would, on numpy arrays.

    Args:
        kernel: a module, bytecode, or the path of a bytecode file, which is loaded for this launch alone; or
            what ``tileref.load`` loaded before, whose globals keep what launches leave in them.
        grid: blocks along x, y and z; missing extents are 1.
        args: the entry's parameters in order: a numpy array for a pointer (read and written in place; its
            type must be the pointee's, with ``ml_dtypes`` for bfloat16 and the 8-bit floats; for f4E2M1FN
            bytes, of two elements each), a ``Table`` for a pointer to pointers, a number for a value.
        model: who decides what the dialect leaves open; see ``tileref.models()``.
        entry: name of the entry, if the module has several.
        check: ``"on"`` reports what is undefined, ``"strict"`` raises at the first, ``"off"`` says nothing.
        threads: how many run at once; as many as there are processors if not given.
        memory_budget: bytes that running the blocks may take besides the arrays; decides how many of them run
            together, never the answer. ``docs/scheduling.md`` says what it covers.
        step_budget: iterations of loops after which a launch is taken to be endless.
        blocks: run these alone, in a grid that stays as large as it is: numbers, coordinates, or text such
            as ``"0-7"``, ``"3,0,0"`` and ``"sample=100,seed=1"``.
        progress: called with a ``Progress`` whenever blocks are done.
        observe: called with an ``Event`` for every operation that ran; or several, or observers of
            ``tileref.inspection``. While anybody looks on, one thread runs.
        trace: selections (see ``tileref.inspection.selections``) whose values are printed; True is all.
        watch: selections whose values are printed with what changed since the last time.
        breakpoint: selections at which Python's debugger starts.
        probe: the files to write values to, by selection: ``{"%17": "out.npz"}``.
        lint: names of lints; there is ``"lost-addend"``.
        profile: whether to measure the processor time of every operation.

    Returns:
        What was undefined, printed and asserted; see ``LaunchResult``.

    Raises:
        TileError: the kernel cannot be read or holds an operation that cannot be run, or an argument is of
            the wrong type, count or size, a selection names what is not there, or the memory budget is
            smaller than what the kernel's blocks take. Nothing has run then.
    """
    started = time.perf_counter()
    loaded = kernel if isinstance(kernel, Loaded) else load(kernel)
    extents = check_grid(grid)
    args = check_sequence(args)
    if threads is not None:
        threads = check_count("threads", threads)
    memory_budget = check_count("memory_budget", memory_budget)
    step_budget = check_count("step_budget", step_budget)
    function = find_entry(loaded.module, entry)
    if check not in ("on", "off", "strict"):
        raise ArgumentError("there is no such check", rule="check", found=check, expected="on, off or strict")
    chosen = model_named(model).of(function)
    prepared = loaded.prepared(function)
    memory, globals_ = loaded.begin()
    check_writable(prepared.waits.writers, args)
    parameters = bind(function, args, memory)
    arguments = list(memory.buffers)
    run = Run(loaded.module, function, extents, memory, chosen, check=check, step_budget=step_budget)
    places = _places(memory, globals_)

    def shared(first: Root, second: Root) -> bool:
        return _overlap(places, first, second)

    if check != "off":
        quiet = frozenset(prepared.unwatched)
        if memory.find_common():
            quiet = unshared(prepared.unwatched, prepared.waits.written, shared)
        run.ordering = Ordering(prepared.operations, extents[0] * extents[1] * extents[2], quiet)
    chosen_ones = chosen_blocks(blocks, extents)
    total = extents[0] * extents[1] * extents[2] if chosen_ones is None else len(chosen_ones)
    looks = run.inspection = inspection(
        function,
        extents,
        observe=observe,
        trace=trace,
        watch=watch,
        breakpoint=breakpoint,
        probe=probe,
        lint=lint,
    )
    waiting = prepared.waits.among(shared)
    if looks is not None and not looks.concurrent:
        threads = 1
    if waiting:
        flying = in_flight(prepared.footprint, total, memory_budget)
    else:
        grouped = groups(prepared.footprint, prepared.ordered, total, threads, memory_budget)
    run.globals = globals_
    _mark_unchanged(memory, prepared.waits.written, places)
    known = dict(zip(function.parameters, parameters, strict=True))
    uniform = prepared.uniform if looks is None else looks.unseen(prepared.uniform)
    known, hoisted = evaluate(run, uniform, known, total)
    run.steps = prepared.without(hoisted)
    if looks is not None:
        run.steps = looks.instrumented(run.steps)
    clock = Profile(function) if profile else None
    if clock is not None:
        run.steps = clock.timed(run.steps)
    counter = None if progress is None else Counter(total, progress)

    def frame_of(numbers: Selection) -> Frame:
        numbers = numbers if chosen_ones is None else chosen_ones[numbers]
        frame = Frame(run, len(numbers), blocks=numbers)
        frame.values.update(known)
        return frame

    def ended(numbers: Selection) -> None:
        if counter is not None:
            counter.add(len(numbers))
        if looks is not None:
            looks.finished(numbers)

    def some(numbers: Selection) -> None:
        frame = frame_of(numbers)
        run_region(frame, function.body)
        ended(frame.linear_blocks())

    try:
        with looking_on(looks):
            if waiting:
                turns = plan(function, waiting)
                run_in_turns(run, turns, lambda n: frame_of(np.array([n])), total, flying, ended)
            else:
                run_chunks(grouped, total, some)
    finally:
        loaded.end(memory)

    if run.ordering is not None:
        run.ordering.finish(run)
    result = LaunchResult(chosen.name, function.name, extents)
    result.undefined = run.undefined
    result.unchecked = [] if run.ordering is None else run.ordering.unchecked()
    result.printed = run.ordered_prints()
    result.prints = [each.text for each in result.printed]
    result.assertions = run.assertions
    result.lints = [] if looks is None else looks.lints
    result.blocks = chosen_ones
    result.unexplained = prepared.unexplained(chosen, model if isinstance(model, str) else None)
    arrays = all_arrays(args)
    for buffer in arguments:
        if buffer.argument is not None and buffer.undefined is not None and buffer.undefined.any():
            array = arrays[buffer.argument]
            mask = buffer.marks(array.itemsize)
            shaped = mask.reshape(array.shape if array.flags.c_contiguous else array.shape[::-1])
            result.undefined_elements[buffer.argument] = shaped if array.flags.c_contiguous else shaped.T
    result.profile = [] if clock is None else clock.costs()
    result.seconds = time.perf_counter() - started
    return result


def _places(memory: Memory, globals_: Mapping[str, Buffer]) -> dict[Root, Buffer]:
    """The buffers that pointers come from, but for tables, whose addresses lead anywhere."""
    places: dict[Root, Buffer] = {f"global {name}": buffer for name, buffer in globals_.items()}
    return places | {buffer.argument: buffer for buffer in memory.buffers if buffer.argument is not None}


def _mark_unchanged(memory: Memory, written: Roots, places: Mapping[Root, Buffer]) -> None:
    """Mark the buffers that share no byte with one that the kernel may write to."""
    if written is None:
        return
    if any(isinstance(root, int) and root not in places for root in written):
        return  # a table, whose addresses may be changed
    targets = [places[root].bytes for root in written if root in places]
    for buffer in memory.buffers:
        buffer.unchanged = not any(np.may_share_memory(buffer.bytes, target) for target in targets)


def _overlap(places: Mapping[Root, Buffer], first: Root, second: Root) -> bool:
    """Whether two pointers that a kernel has may lead to the same memory."""
    if any(isinstance(root, int) and root not in places for root in (first, second)):
        return True
    if first not in places or second not in places:
        return first == second
    return np.may_share_memory(places[first].bytes, places[second].bytes)
