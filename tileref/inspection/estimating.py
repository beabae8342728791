"""How long a launch would take, from a few of its blocks."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from math import ceil, prod
from os import PathLike
from typing import Any

import numpy as np

from tileir.errors import TileError
from tileir.module import Module, Value

from ..arguments import check_grid, find_entry
from ..launching import DEFAULT_BUDGET, launch
from ..loading import Loaded, load
from ..schedule import groups
from ..targets.model import Model
from .event import Event
from .observer import Observer
from .progress import Progress
from .sites import Site, Sites

SECONDS = 2.0
"""How long a sample may take."""
GROWTH = 8
"""How many times more blocks the next sample has."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """How long a launch would take.

    Attributes:
        seconds: of the whole launch.
        blocks: of the whole grid.
        sampled: the most blocks that were run at once to find out.
        sample_seconds: how long those took.
    """

    seconds: float
    blocks: int
    sampled: int
    sample_seconds: float

    def __str__(self) -> str:
        sample = f"{self.sampled} took {self.sample_seconds:.2g} s"
        return f"about {spell(self.seconds)} for {self.blocks} blocks ({sample})"


def estimate(
    kernel: Loaded | Module | bytes | str | PathLike[str],
    grid: int | Sequence[int],
    args: Sequence[Any],
    *,
    model: str | Model = "spec",
    entry: str | None = None,
    threads: int | None = None,
    memory_budget: int = DEFAULT_BUDGET,
    seconds: float = SECONDS,
    **options: Any,
) -> Estimate:
    """How long ``launch`` would take with the same arguments.

    Growing samples of blocks, spread over the grid, run on copies of the arrays, each for at most so many
    ``seconds``; what blocks cost that run together is then taken for all of them. Of a kernel whose blocks
    wait for each other the first blocks run, as far as they need no others.

    Raises:
        TileError: as ``launch``; or blocks wait for so many others that no sample comes to its end in time.
    """
    loaded = kernel if isinstance(kernel, Loaded) else load(kernel)
    prepared = loaded.prepared(find_entry(loaded.module, entry))
    extents = check_grid(grid)
    total = prod(extents)
    in_turns = bool(prepared.waits.among(lambda _a, _b: True))
    if in_turns:
        # Blocks that take turns are one group, as large as the grid.
        together, workers = total, 1
    else:
        grouped = groups(prepared.footprint, prepared.ordered, total, threads, memory_budget)
        together, workers = min(grouped.together, total), grouped.workers
    copies = deepcopy(list(args))

    def measure(count: int, deadline: _Deadline | None) -> float:
        spread = np.arange(count) if in_turns else np.linspace(0, total - 1, count).astype(np.intp)
        last: list[Progress] = []
        launch(
            loaded.module,
            extents,
            # Locks and flags are as they were before.
            deepcopy(list(args)) if in_turns else copies,
            model=model,
            entry=entry,
            threads=threads,
            memory_budget=memory_budget,
            blocks=spread if count < total else None,
            progress=last.append,
            observe=deadline,
            **options,
        )
        return last[-1].seconds

    whole = min(together * workers, total)
    samples: list[tuple[int, float]] = []
    count = 1
    while True:
        # One block must come to its end, however long it takes, unless others can keep it from that.
        deadline = _Deadline(seconds) if in_turns or count > 1 else None
        try:
            samples.append((count, measure(count, deadline)))
        except _TooLong:
            break
        except TileError as error:
            if error.rule != "deadlock" or count == total:
                raise
        if count >= whole or (samples and samples[-1][1] > seconds):
            break
        count = min(count * GROWTH, whole)
    if not samples:
        raise TileError("blocks wait for so many others that no sample ends in time", rule="estimate")
    return Estimate(_extrapolated(samples, total, together, workers), total, *samples[-1])


class _TooLong(Exception):
    """A sample took longer than it may."""


class _Deadline(Observer):
    """Ends a launch that takes too long, wherever it is."""

    concurrent = True

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._end = time.perf_counter() + seconds

    def begin(self, sites: Sites, grid: tuple[int, int, int]) -> Mapping[Site, tuple[Value, ...]]:
        """Every operation but those in bodies of reductions and scans, which run faster if nobody looks."""
        return {s: () for s in sites.all if s.stage == "operation" and not sites.is_in_body(s.region)}

    def tell(self, event: Event) -> None:
        """Look at the clock."""
        if time.perf_counter() > self._end:
            raise _TooLong


def _extrapolated(samples: list[tuple[int, float]], total: int, together: int, workers: int) -> float:
    """Seconds for ``total`` blocks, of which ``together`` run at once on each of ``workers``."""
    count, taken = samples[-1]
    if count == min(together * workers, total):
        return taken * total / count
    # Blocks that run together share a fixed cost, which a smaller sample tells from a block's own.
    each = taken / count
    if len(samples) > 1:
        before, then = samples[-2]
        each = min(each, max(taken - then, 0.0) / (count - before))
    fixed = taken - each * count
    return ceil(total / together) * (fixed + each * min(together, total)) / workers


def spell(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 1:
        return f"{max(seconds, 0.001):.1g} s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 100 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.0f} h"
