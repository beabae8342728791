"""``cuda.tile.launch`` without a GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileir.errors import ArgumentError

from ..arguments import check_grid
from ..inspection.comparing import ArgumentDifference, Comparison
from ..inspection.comparing import compare as compare_module
from ..inspection.estimating import Estimate
from ..inspection.estimating import estimate as estimate_module
from ..inspection.summary import first
from ..launching import launch as launch_module
from ..result import LaunchResult
from ..targets.model import Model
from .arrays import shaped
from .compiling import BYTECODE, Compiled, arguments_of, compiled_for
from .errors import ArgumentValueError
from .parameters import Argument, ArrayArgument, ListArgument, TupleArgument


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
            DLPack), which are read and written in place, whatever their strides; lists of arrays of one type
            and rank; numbers; tuples; and values for parameters annotated with ``ct.Constant``.
        model: who decides what the dialect leaves open; see ``tileref.models()``.
        bytecode: version of the bytecode that the kernel is compiled to.
        options: as for ``tileref.launch``: check, threads, memory_budget, step_budget, and whatever looks
            inside (trace, watch, breakpoint, ...), with the source lines of the kernel's Python file.

    Returns:
        What was undefined, printed and asserted. Arguments are counted as the kernel does, those inside
        tuples and lists each for itself: both in ``undefined_elements`` and in the events of ``undefined``.

    Raises:
        TileError: cuda-tile is not installed; an argument is of the wrong type, count or layout; or the
            kernel cannot be run. cuda-tile's own exceptions say what its compiler refuses.
    """
    extents = grid_of(grid)
    compiled, flat, owners = _prepared(kernel, args, bytecode)
    result = launch_module(compiled.loaded, extents, flat, model=model, **options)
    return _in_terms_of(result, owners)


def grid_of(grid: int | Sequence[int]) -> tuple[int, int, int]:
    """A grid as three extents; those that are missing are 1, all three of them too.

    Raises:
        ArgumentValueError: as ``tileref.launch``, and a ``ValueError`` as well.
    """
    given = (1,) if isinstance(grid, tuple) and not grid else grid
    try:
        return check_grid(given)
    except ArgumentError as error:
        raise ArgumentValueError(
            error.message, rule=error.rule, found=error.found, expected=error.expected
        ) from None


def estimate(
    grid: int | Sequence[int], kernel: Any, args: Sequence[Any], *, bytecode: str = BYTECODE, **options: Any
) -> Estimate:
    """How long ``launch`` would take with the same arguments; they stay as they are.

    ``options`` are those of ``tileref.estimate``: model, threads, memory_budget, seconds.
    """
    compiled, flat, _ = _prepared(kernel, args, bytecode)
    return estimate_module(compiled.module, grid_of(grid), flat, **options)


def compare(
    grid: int | Sequence[int],
    kernel: Any,
    args: Sequence[Any],
    *,
    models: Sequence[str | Model] = ("spec", "sm_90"),
    bytecode: str = BYTECODE,
    **options: Any,
) -> Comparison:
    """At which operations of a ``@ct.kernel`` two models part; ``args`` stay as they are.

    ``options`` are those of ``tileref.compare``. ``Comparison.arguments`` counts as ``launch`` does, and
    calls the arrays by the names of the kernel's parameters.
    """
    compiled, flat, owners = _prepared(kernel, args, bytecode)
    found = compare_module(compiled.loaded, grid_of(grid), flat, models=models, **options)
    for result in found.results:
        _in_terms_of(result, owners)
    arguments: dict[int, ArgumentDifference] = {}
    for position, each in found.arguments.items():
        owner = owners[position]
        if owner.array is None or owner.number is None:
            continue
        lanes = shaped(each.lanes, owner.array.array.shape, owner.array.strides)
        if lanes.any():
            index = tuple(first(lanes) or ())
            arguments[owner.number] = replace(each, name=owner.name, lanes=lanes, index=index)
    return replace(found, arguments=arguments)


def _prepared(
    kernel: Any, args: Sequence[Any], bytecode: str
) -> tuple[Compiled, list[Any], dict[int, _Owner]]:
    """The kernel compiled, what is passed to its entry, and which of that belongs to which array."""
    arguments = arguments_of(kernel, args)
    compiled = compiled_for(kernel, arguments, bytecode)
    leaves = list(_leaves(arguments))
    passed = [leaf.passed() for leaf in leaves]
    flat = [p for each in passed for p in each]
    return compiled, flat, _owners(leaves, [len(each) for each in passed])


def _leaves(arguments: Sequence[Argument]) -> Iterator[Argument]:
    for each in arguments:
        if isinstance(each, TupleArgument):
            yield from _leaves(each.items)
        else:
            yield each


@dataclass(frozen=True)
class _Owner:
    """Whose memory a buffer is: a parameter's name, its number, and the array unless it is a list's table."""

    name: str
    number: int | None = None
    array: ArrayArgument | None = None


def _owners(leaves: Sequence[Argument], counts: Sequence[int]) -> dict[int, _Owner]:
    """By the number of a buffer: a parameter's position, and from ``sum(counts)`` on the arrays of lists."""
    owners: dict[int, _Owner] = {}
    position, following, number = 0, sum(counts), 0
    for leaf, count in zip(leaves, counts, strict=True):
        match leaf:
            case ArrayArgument():
                owners[position] = _Owner(leaf.name, number, leaf)
                number += 1
            case ListArgument():
                owners[position] = _Owner(f"{leaf.name}, a list")
                for item in leaf.items:
                    owners[following] = _Owner(item.name, number, item)
                    following += 1
                    number += 1
            case _:
                number += 1
        position += count
    return owners


def _in_terms_of(result: LaunchResult, owners: dict[int, _Owner]) -> LaunchResult:
    """A result that speaks of the kernel's parameters, not of the entry's."""

    def named(match: re.Match[str]) -> str:
        owner = owners.get(int(match[1]))
        return match[0] if owner is None else f"argument {owner.name}"

    events = []
    for event in result.undefined:
        message = re.sub(r"\bargument (\d+)\b", named, event.message)
        buffer = event.buffer
        if buffer in owners:
            buffer = owners[buffer].number
        events.append(replace(event, message=message, buffer=buffer))
    result.undefined = events
    marked: dict[int, NDArray[np.bool_]] = {}
    for position, mask in result.undefined_elements.items():
        owner = owners[position]
        if owner.array is None or owner.number is None:
            continue
        where = shaped(mask, owner.array.array.shape, owner.array.strides)
        if where.any():
            marked[owner.number] = where
    result.undefined_elements = marked
    return result
