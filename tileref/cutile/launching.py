"""``cuda.tile.launch`` without a GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..launching import launch as launch_module
from ..result import LaunchResult
from ..targets.model import Model
from .arrays import shaped
from .compiling import BYTECODE, arguments_of, compiled_for, require_cutile
from .parameters import Argument, ArrayArgument, TupleArgument


def launch(
    grid: int | Sequence[int],
    kernel: Any,
    args: Sequence[Any],
    *,
    model: str | Model = "spec",
    bytecode: str = BYTECODE,
    **options: Any,
) -> LaunchResult:
    """Run a ``@ct.kernel`` on numpy arrays or torch CPU tensors, as ``cuda.tile.launch`` would on a GPU.

    Args:
        grid: blocks along x, y and z; missing extents are 1.
        kernel: a function decorated with ``cuda.tile.kernel``, as it is.
        args: its arguments: arrays (numpy arrays, torch CPU tensors, anything in the CPU's memory with
            DLPack), which are read and written in place, whatever their strides; numbers; tuples; and values
            for parameters annotated with ``ct.Constant``.
        model: who decides what the dialect leaves open; see ``tileref.models()``.
        bytecode: version of the bytecode that the kernel is compiled to.
        options: as for ``tileref.launch``: check, threads, memory_budget, step_budget.

    Returns:
        What was undefined, printed and asserted. Arguments are counted as the kernel does, those inside
        tuples each for itself: both in ``undefined_elements`` and in the events of ``undefined``.

    Raises:
        TileError: cuda-tile is not installed; an argument is of the wrong type, count or layout; or the
            kernel cannot be run. cuda-tile's own exceptions say what its compiler refuses.
    """
    arguments = arguments_of(kernel, args)
    compiled = compiled_for(kernel, arguments, bytecode)
    flat: list[Any] = []
    owners: dict[int, tuple[int, ArrayArgument]] = {}
    for number, leaf in enumerate(_leaves(arguments)):
        if isinstance(leaf, ArrayArgument):
            owners[len(flat)] = (number, leaf)
        flat += leaf.passed()
    result = launch_module(compiled.module, grid, flat, model=model, **options)
    return _in_terms_of(result, owners)


def _leaves(arguments: Sequence[Argument]) -> Iterator[Argument]:
    for each in arguments:
        if isinstance(each, TupleArgument):
            yield from _leaves(each.items)
        else:
            yield each


def _in_terms_of(result: LaunchResult, owners: dict[int, tuple[int, ArrayArgument]]) -> LaunchResult:
    """A result that speaks of the kernel's parameters, not of the entry's."""

    def named(match: re.Match[str]) -> str:
        owner = owners.get(int(match[1]))
        return match[0] if owner is None else f"argument {owner[1].name}"

    events = []
    for event in result.undefined:
        message = re.sub(r"\bargument (\d+)\b", named, event.message)
        owner = None if event.buffer is None else owners.get(event.buffer)
        events.append(replace(event, message=message, buffer=event.buffer if owner is None else owner[0]))
    result.undefined = events
    marked: dict[int, NDArray[np.bool_]] = {}
    for position, mask in result.undefined_elements.items():
        number, owner_ = owners[position]
        where = shaped(mask, owner_.array.shape, owner_.strides)
        if where.any():
            marked[number] = where
    result.undefined_elements = marked
    return result


@contextmanager
def emulating(*, model: str | Model = "spec", **options: Any) -> Iterator[list[LaunchResult]]:
    """Let ``cuda.tile.launch`` emulate, in this process, until the block ends.

    Host code that calls ``ct.launch(stream, grid, kernel, args)`` through the module runs as it is; the
    stream is not looked at. The list that comes out holds the results of the launches in their order.

        with tileref.cutile.emulating(model="sm_90") as launches:
            ct.launch(None, grid, kernel, args)
    """
    require_cutile()
    import cuda.tile as ct

    results: list[LaunchResult] = []

    def emulated(_stream: Any, grid: Any, kernel: Any, args: Sequence[Any], /, **_: Any) -> None:
        results.append(launch(grid, kernel, args, model=model, **options))

    before = ct.launch
    ct.launch = emulated
    try:
        yield results
    finally:
        ct.launch = before
