"""Launching a kernel on numpy arrays."""

from __future__ import annotations

import time
from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from tileir.errors import ArgumentError
from tileir.module import Module

from .arguments import all_arrays, bind, check_grid, find_entry
from .frame import Frame
from .hoisting import evaluate
from .loading import Loaded, load
from .progress import run_in_turns
from .regions import run_region
from .result import LaunchResult
from .run import Check, Run
from .schedule import run_chunks
from .targets import model as model_named
from .targets.model import Model
from .values import Selection
from .waiting import Root, plan

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
) -> LaunchResult:
    """Run a kernel as a GPU would, on numpy arrays.

    Args:
        kernel: a module, bytecode, or the path of a bytecode file, which is loaded for this launch alone; or
            what ``tileref.load`` loaded before, whose globals keep what launches leave in them.
        grid: blocks along x, y and z; missing extents are 1.
        args: the entry's parameters in order: a numpy array for a pointer (read and written in place; its
            type must be the pointee's, with ``ml_dtypes`` for bfloat16 and the 8-bit floats), a ``Table`` for
            a pointer to pointers, a number for a value.
        model: who decides what the dialect leaves open; see ``tileref.models()``.
        entry: name of the entry, if the module has several.
        check: ``"on"`` reports what is undefined, ``"strict"`` raises at the first, ``"off"`` says nothing.
        threads: how many run at once; as many as there are processors if not given.
        memory_budget: bytes that tiles may take; decides how many blocks run together, never the answer.
        step_budget: iterations of loops after which a launch is taken to be endless.

    Returns:
        What was undefined, printed and asserted; see ``LaunchResult``.

    Raises:
        TileError: the kernel cannot be read or holds an operation that cannot be run, or an argument is of
            the wrong type, count or size. Nothing has run then.
    """
    started = time.perf_counter()
    loaded = kernel if isinstance(kernel, Loaded) else load(kernel)
    extents = check_grid(grid)
    function = find_entry(loaded.module, entry)
    if check not in ("on", "off", "strict"):
        raise ArgumentError("there is no such check", rule="check", found=check, expected="on, off or strict")
    chosen = model_named(model).of(function)
    prepared = loaded.prepared(function)
    memory, globals_ = loaded.begin()
    parameters = bind(function, args, memory)
    arguments = list(memory.buffers)
    run = Run(loaded.module, function, extents, memory, chosen, check=check, step_budget=step_budget)
    run.globals = globals_
    total = extents[0] * extents[1] * extents[2]
    known = dict(zip(function.parameters, parameters, strict=True))
    known, hoisted = evaluate(run, prepared.uniform, known, total)
    run.steps = prepared.without(hoisted)

    def frame_of(numbers: Selection) -> Frame:
        frame = Frame(run, len(numbers), blocks=numbers)
        frame.values.update(known)
        return frame

    def blocks(numbers: Selection) -> None:
        run_region(frame_of(numbers), function.body)

    waiting = prepared.waits.among(lambda a, b: _overlap(args, a, b))
    try:
        if waiting:
            run_in_turns(run, plan(function, waiting), lambda n: frame_of(np.array([n])), total)
        else:
            run_chunks(prepared.sizes, total, blocks, threads=threads, memory_budget=memory_budget)
    finally:
        loaded.end(memory)

    result = LaunchResult(chosen.name, function.name, extents)
    result.undefined = run.undefined
    result.prints = run.ordered_prints()
    result.assertions = run.assertions
    result.unexplained = prepared.unexplained(chosen, model if isinstance(model, str) else None)
    arrays = all_arrays(args)
    for buffer in arguments:
        if buffer.argument is not None and buffer.undefined is not None and buffer.undefined.any():
            array = arrays[buffer.argument]
            mask = buffer.marks(array.itemsize)
            shaped = mask.reshape(array.shape if array.flags.c_contiguous else array.shape[::-1])
            result.undefined_elements[buffer.argument] = shaped if array.flags.c_contiguous else shaped.T
    result.seconds = time.perf_counter() - started
    return result


def _overlap(args: Sequence[Any], first: Root, second: Root) -> bool:
    """Whether two pointers that a kernel is given may lead to the same memory."""
    if not isinstance(first, int) or not isinstance(second, int):
        return False
    one, other = args[first], args[second]
    if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray):
        return True
    return np.may_share_memory(one, other)
