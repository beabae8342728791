"""The lint for lost addends: accumulators so large that what is added to them no longer changes them.

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
from ..numerics.formats import F32, F64, FloatFormat
from ..result import Lint
from ..targets.products import FusedChain, FusedDot, RoundedChain
from ..values import Tile
from .accumulators import additions
from .conditions import as_numbers
from .event import Event, Seen
from .observer import Observer
from .sites import Site, Sites
from .sticking import Found, Row, unit_in_last_place
from .summary import number

ROWS = 1024
"""Accumulators, by operation and blocks, that are followed at once."""


@dataclass(slots=True)
class Addition:
    """What was added to what, lane by lane: arrays that broadcast against each other, (blocks or 1, ...).

    ``addend`` is exact enough to be told from zero; ``skipped`` marks lanes without a value; ``format`` is
    the accumulator's.
    """

    accumulator: Array
    addend: Array
    result: Array
    skipped: Array | None
    step: tuple[int, ...]
    format: FloatFormat


class LostAddends(Observer):
    """Notes where an accumulator sticks: addend after addend leaves it as it was; see ``sticking``.

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
        self._followed: dict[Any, Row] = {}

    @property
    def lints(self) -> list[Lint]:
        """What was found so far, one entry an operation."""
        return [replace(lint, of=self._looked_at[op]) for op, lint in self._lints.items()]

    def begin(self, sites: Sites, grid: tuple[int, int, int]) -> Mapping[Site, tuple[Value, ...]]:
        """The operations that add to an accumulator."""
        self._lints, self._looked_at, self._followed = {}, {}, {}
        self._accumulators = dict(additions(sites.function))
        return {s: () for s in sites.all if s.stage == "operation" and s.operation in self._accumulators}

    def tell(self, event: Event) -> None:
        """An accumulator was added to."""
        operation = event.operation
        assert operation is not None
        for number_, addition in self._additions(event, operation):
            self._look(event, operation, number_, addition)

    def _additions(self, event: Event, operation: Operation) -> Iterator[tuple[int, Addition]]:
        """What is added to each of an operation's accumulators, which are numbered."""
        tiles = {s.value: _tile(s) for s in event.operands}
        result = _tile(event.results[0])
        if isinstance(operation, MmaF | MmaFScaled):
            yield from _of_product(event, operation, tiles, result)
            return
        skipped = _skipped(tiles.values())
        fmt = float_format(operation.results[0].type)
        for place, accumulator in enumerate(self._accumulators[operation]):
            found = _of_elements(event, operation, accumulator, tiles)
            if found is not None:
                yield place, Addition(*found, result.data, skipped, event.iteration, fmt)

    def _look(self, event: Event, operation: Operation, number_: int, added: Addition) -> None:
        before, after, addend = (as_numbers(a) for a in (added.accumulator, added.result, added.addend))
        there = np.isfinite(addend) & (addend != 0) & np.isfinite(before)
        if added.skipped is not None:
            there = there & ~added.skipped
        lost = there & (before == after)
        each = event.count // lost.shape[0]
        looked_at = int(np.count_nonzero(there)) * each
        self._looked_at[operation] = self._looked_at.get(operation, 0) + looked_at
        before, addend = (np.broadcast_to(a, lost.shape) for a in (before, addend))
        row = self._row(event, operation, number_, lost.shape)
        kept = ~lost & (before != after)
        with np.errstate(invalid="ignore"):
            least = unit_in_last_place(before, added.format)
        found = row.add(before, addend, lost, kept, least, added.step)
        known = self._lints.get(operation)
        if known is not None:
            self._lints[operation] = replace(known, count=known.count + found.lost * each)
        elif found.first is not None:
            self._lints[operation] = self._told(event, operation, found, found.lost * each)

    def _row(self, event: Event, operation: Operation, number_: int, shape: tuple[int, ...]) -> Row:
        """What the accumulators of these blocks have lost so far."""
        key = operation, number_, event.blocks.tobytes(), shape
        row = self._followed.pop(key, None)
        if row is None:
            row = Row(shape)
            if len(self._followed) >= ROWS:
                del self._followed[next(iter(self._followed))]
        self._followed[key] = row
        return row

    def _told(self, event: Event, operation: Operation, found: Found, count: int) -> Lint:
        assert found.first is not None
        type_ = operation.results[0].type
        assert isinstance(type_, TileType)
        block, *lane = found.first
        x, y, z = (int(c) for c in event.coordinates[block])
        sum_, what = number(found.accumulator), number(found.addend)
        return Lint(
            self.kind,
            operation.mnemonic,
            f"{sum_} + {what} is {sum_} in {type_.element}, and so on: the accumulator sticks",
            event.location,
            count,
            0,
            (x, y, z),
            tuple(lane) if event.lanes is None else tuple(int(i) for i in event.lanes[block]),
            found.since,
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
) -> Iterator[tuple[int, Addition]]:
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
        yield 0, Addition(total, addend, after, skipped, (*event.iteration, first), work)
        total = after
    if accumulator_last:
        yield 1, Addition(start, total, result.data, skipped, (*event.iteration, extent), target)
