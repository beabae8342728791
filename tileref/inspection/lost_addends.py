"""The lint for lost addends: an accumulator so large that what is added to it no longer changes it.

4096 ones in f16 make 2048 when they are added one by one, since 2049 is no f16.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tileir.module import Operation, Value
from tileir.ops import floating
from tileir.ops.matrix import MmaF, MmaFScaled
from tileir.types import TileType

from .. import numerics as n
from ..evaluators.matrix import factors
from ..formats import ROUNDINGS, Array, float_format
from ..numerics.formats import F32, F64
from ..result import Lint
from ..targets.products import FusedChain, FusedDot, RoundedChain
from ..values import Tile
from .accumulators import additions
from .conditions import as_numbers
from .event import Event, Seen
from .observer import Observer
from .sites import Site, Sites
from .summary import number


@dataclass(slots=True)
class Addition:
    """What was added to what, lane by lane: arrays that broadcast against each other, (blocks or 1, ...).

    ``addend`` is exact enough to be told from zero; ``skipped`` marks lanes without a value.
    """

    accumulator: Array
    addend: Array
    result: Array
    skipped: Array | None
    step: tuple[int, ...]


class LostAddends(Observer):
    """Notes where a finite addend that is not zero left its accumulator as it was.

    Looked at are ``addf`` and ``fma`` on what a loop carries and in the bodies of reductions and scans (which
    run as they are then, and slower), and every step of ``mmaf`` as the model sums.
    """

    kind = "lost-addend"

    def __init__(self) -> None:
        super().__init__()
        self._accumulators: dict[Operation, tuple[Value, ...]] = {}
        self._found: dict[Site, tuple[Value, ...]] = {}
        self._lints: dict[Operation, Lint] = {}
        self._looked_at: dict[Operation, int] = {}

    @property
    def lints(self) -> list[Lint]:
        """What was found so far, one entry an operation."""
        return [replace(lint, of=self._looked_at[op]) for op, lint in self._lints.items()]

    def begin(self, sites: Sites, grid: tuple[int, int, int]) -> Mapping[Site, tuple[Value, ...]]:
        """The operations that add to an accumulator."""
        self._lints, self._looked_at = {}, {}
        self._accumulators = dict(additions(sites.function))
        return {s: () for s in sites.all if s.stage == "operation" and s.operation in self._accumulators}

    def tell(self, event: Event) -> None:
        """An accumulator was added to."""
        operation = event.operation
        assert operation is not None
        for addition in self._additions(event, operation):
            self._look(event, operation, addition)

    def _additions(self, event: Event, operation: Operation) -> Iterator[Addition]:
        tiles = {s.value: _tile(s) for s in event.operands}
        result = _tile(event.results[0])
        if isinstance(operation, MmaF | MmaFScaled):
            yield from _of_product(event, operation, tiles, result)
            return
        skipped = _skipped(tiles.values())
        for accumulator in self._accumulators[operation]:
            found = _of_elements(event, operation, accumulator, tiles)
            if found is not None:
                yield Addition(*found, result.data, skipped, event.iteration)

    def _look(self, event: Event, operation: Operation, added: Addition) -> None:
        before, after, addend = (as_numbers(a) for a in (added.accumulator, added.result, added.addend))
        there = np.isfinite(addend) & (addend != 0) & np.isfinite(before)
        if added.skipped is not None:
            there = there & ~added.skipped
        lost = there & (before == after)
        shape = np.broadcast_shapes(lost.shape, (event.count, *lost.shape[1:]))
        each = event.count // lost.shape[0]
        looked_at = int(np.count_nonzero(np.broadcast_to(there, lost.shape))) * each
        self._looked_at[operation] = self._looked_at.get(operation, 0) + looked_at
        if not lost.any():
            return
        count = int(np.count_nonzero(lost)) * each
        known = self._lints.get(operation)
        if known is not None:
            self._lints[operation] = replace(known, count=known.count + count)
            return
        at = np.unravel_index(int(np.argmax(np.broadcast_to(lost, shape))), shape)
        accumulator, what = (np.broadcast_to(a, lost.shape)[at] for a in (added.accumulator, added.addend))
        type_ = operation.results[0].type
        assert isinstance(type_, TileType)
        x, y, z = (int(c) for c in event.coordinates[at[0]])
        lane = at[1:] if event.lanes is None else event.lanes[at[0]]
        self._lints[operation] = Lint(
            self.kind,
            operation.mnemonic,
            f"{number(accumulator)} + {number(what)} is {number(accumulator)} in {type_.element}: "
            "the addend is lost",
            event.location,
            count,
            0,
            (x, y, z),
            tuple(int(i) for i in lane),
            added.step,
        )


def _tile(seen: Seen) -> Tile:
    assert isinstance(seen.runtime, Tile)
    return seen.runtime


def _skipped(tiles: Any) -> Array | None:
    marked = [t.undefined.lanes for t in tiles if t.undefined is not None]
    if not marked:
        return None
    found: Array = marked[0]
    for lanes in marked[1:]:
        found = found | lanes
    return found


def _of_elements(
    event: Event, operation: Operation, accumulator: Value, tiles: Mapping[Value, Tile]
) -> tuple[Array, Array] | None:
    """The accumulator and the addend of ``addf`` or ``fma``."""
    if isinstance(operation, floating.AddF):
        other = operation.rhs if accumulator is operation.lhs else operation.lhs
        return tiles[accumulator].data, tiles[other].data
    assert isinstance(operation, floating.Fma)
    lhs, rhs = tiles[operation.lhs].data, tiles[operation.rhs].data
    if accumulator is operation.acc:
        # The sign of the product and whether it is zero, whatever its size.
        with np.errstate(all="ignore"):
            product = as_numbers(lhs) * as_numbers(rhs)
        tiny = (product == 0) & (as_numbers(lhs) != 0) & (as_numbers(rhs) != 0)
        return tiles[operation.acc].data, np.where(tiny, np.nextafter(0.0, 1.0), product)
    # The accumulator is scaled first, and rounded only with the addend: unchanged is what it would be alone.
    fmt, rounding = float_format(operation.result.type), ROUNDINGS[str(operation.rounding_mode)]
    with np.errstate(all="ignore"):
        scaled = n.mulf(lhs, rhs, fmt, rounding, operation.flush_to_zero)
    return scaled, tiles[operation.acc].data


def _of_product(
    event: Event, operation: MmaF | MmaFScaled, tiles: Mapping[Value, Tile], result: Tile
) -> Iterator[Addition]:
    """The additions of a matrix product, as many as its model makes."""
    model = event.frame.run.model
    product = model.product(operation).value
    lhs, rhs, source = factors(operation, *(tiles[v] for v in operation.uses))
    start = tiles[operation.acc].data
    target = float_format(operation.result.type)
    marks = result.undefined
    skipped = None if marks is None else marks.lanes
    extent = lhs.shape[-1]
    accumulator_last = isinstance(product, RoundedChain)
    width, work = extent, target
    match product:
        case FusedChain():
            width = 1
        case FusedDot():
            width = product.step if product.late is None else product.late
        case RoundedChain():
            width, work = 1, F64 if target is F64 else F32
    total = np.zeros(start.shape, work.dtype) if accumulator_last else start
    for first in range(0, extent, width):
        a, b = lhs[..., first : first + width], rhs[..., first : first + width, :]
        with np.errstate(all="ignore"):
            addend = np.matmul(as_numbers(a), as_numbers(b))
            one_step = width >= extent and not accumulator_last
            after = result.data if one_step else product(a, b, total, source, work, model.nan)
        yield Addition(total, addend, after, skipped, (*event.iteration, first))
        total = after
    if accumulator_last:
        yield Addition(start, total, result.data, skipped, (*event.iteration, extent))
