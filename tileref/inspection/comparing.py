"""Why a number differs: one kernel under two models, and the operations at which their values part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileir.errors import ArgumentError
from tileir.module import Module

from ..arguments import all_arrays, check_grid, find_entry
from ..copies import copied
from ..formats import Array
from ..launching import launch
from ..loading import Loaded, load
from ..result import LaunchResult
from ..targets import model as model_named
from ..targets.model import Model
from .conditions import differing
from .parting import Difference, Part, Partings, hexadecimal, steps
from .recording import LIMIT, Recording
from .summary import first, number


@dataclass(frozen=True)
class ArgumentDifference:
    """An array that the two models leave in different states.

    Attributes:
        name: ``argument 5``, or what the parameter is called.
        lanes: which elements differ, of the array's shape.
        index: the first of them.
        values, bits: what the models leave there, as numbers and as bits.
        ulps: how many values of the format lie between the two at most; None where there is no such count.
    """

    name: str
    lanes: NDArray[np.bool_]
    index: tuple[int, ...]
    values: tuple[str, str]
    bits: tuple[str, str]
    ulps: float | None

    def __str__(self) -> str:
        far = "" if self.ulps is None else f", by at most {self.ulps:g} ulp"
        at = list(self.index)
        return (
            f"{self.name}: {int(self.lanes.sum())} of {self.lanes.size} elements differ{far}; the first is "
            f"{at}: {self.values[0]} ({self.bits[0]}) and {self.values[1]} ({self.bits[1]})"
        )


@dataclass(frozen=True)
class Comparison:
    """What two models make of one launch.

    Attributes:
        models: their names.
        entry, grid: what was launched.
        parts: the values that differ, in the order in which they first did.
        arguments: the arrays that differ in the end, by the number of the argument.
        results: what each of the launches reports.
        apart: how many values the second computed in blocks, and at times, that the first never came to.
    """

    models: tuple[str, str]
    entry: str
    grid: tuple[int, int, int]
    parts: list[Part]
    arguments: dict[int, ArgumentDifference]
    results: tuple[LaunchResult, LaunchResult]
    apart: int

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not self.parts and not self.arguments and not self.apart

    @property
    def first(self) -> Part | None:
        """Where they part first; None if they do not."""
        return self.parts[0] if self.parts else None

    @property
    def origins(self) -> list[Part]:
        """The operations that answer otherwise for operands that are the same."""
        return [part for part in self.parts if part.arises]

    def __str__(self) -> str:
        return "\n".join([*map(str, self.parts), *self.ends()])

    def ends(self) -> list[str]:
        """The lines after those of the parts: what is left in memory, or that nothing differs."""
        one, other = self.models
        lines = [str(each) for each in self.arguments.values()]
        if self.apart:
            lines.append(f"{self.apart} tiles of {other} are of blocks and turns that {one} never came to")
        if self.same:
            lines.append(f"{one} and {other} agree in every bit")
        return lines


def compare(
    kernel: Loaded | Module | bytes | str | PathLike[str],
    grid: int | Sequence[int],
    args: Sequence[Any],
    *,
    models: Sequence[str | Model] = ("spec", "sm_90"),
    selection: str = "",
    limit: int = LIMIT,
    **options: Any,
) -> Comparison:
    """Run a kernel under two models, and find the operations at which their values part.

    Every tile that the first computes is kept on disk, by value, block and iteration, and compared with what
    the second computes: bit for bit, but any NaN is like any other, and elements without a value are like
    anything. Bodies of reductions and scans are not looked into. ``args`` stay as they are.

    Args:
        kernel: as for ``launch``.
        grid: blocks along x, y and z.
        args: as for ``launch``.
        models: two of them; see ``tileref.models()``.
        selection: what to compare (operations, values, lines, blocks, iterations); everything if not given.
        limit: bytes that the values may take on disk.
        options: as for ``launch``: entry, check, blocks, memory_budget, step_budget.

    Raises:
        TileError: as ``launch``; not two models; or the values take more than ``limit``.
    """
    if isinstance(models, str) or len(models) != 2:
        raise ArgumentError(
            "two models are compared", rule="models", found=models, expected="('spec', 'sm_90')"
        )
    loaded = kernel if isinstance(kernel, Loaded) else load(kernel)
    function = find_entry(loaded.module, options.get("entry"))
    names = [m if isinstance(m, str) else m.name for m in models]
    chosen = [(model_named(m) if isinstance(m, str) else m).of(function) for m in models]
    recording = Recording(selection, limit=limit)
    try:
        partings = Partings(recording, (names[0], names[1]), (chosen[0], chosen[1]))
        given = [copied(args), copied(args)]
        one, other = (
            # Each with memory of its own, globals too.
            launch(loaded.module, grid, each, model=model, observe=looks, **options)
            for each, model, looks in zip(given, models, (recording, partings), strict=True)
        )
    finally:
        recording.close()
    return Comparison(
        (names[0], names[1]),
        function.name,
        check_grid(grid),
        partings.parts(),
        _arguments(all_arrays(given[0]), all_arrays(given[1]), (one, other)),
        (one, other),
        partings.apart,
    )


def _arguments(
    ours: Mapping[int, Array], theirs: Mapping[int, Array], results: tuple[LaunchResult, LaunchResult]
) -> dict[int, ArgumentDifference]:
    found = {}
    for position, array in ours.items():
        other = theirs[position]
        lanes = differing(array, other)
        for result in results:
            if position in result.undefined_elements:
                lanes &= ~result.undefined_elements[position]
        if lanes.any():
            found[position] = difference(f"argument {position}", array, other, lanes)
    return found


def difference(name: str, one: Array, other: Array, lanes: NDArray[np.bool_]) -> ArgumentDifference:
    """Two states of an array that differ in ``lanes``."""
    index = tuple(first(lanes) or ())
    distance = steps(one[lanes], other[lanes])
    return ArgumentDifference(
        name,
        lanes,
        index,
        (number(one[index]), number(other[index])),
        (hexadecimal(one[index]), hexadecimal(other[index])),
        None if distance is None else float(distance.max()),
    )


__all__ = ["ArgumentDifference", "Comparison", "Difference", "Part", "compare"]
