"""Orders in which a reduction or a scan applies its body, each an object of its own.

All of them take the elements with the reduced axis first, never fold the identity in, and pass the body its
accumulator first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from .lanes import Combine, Lanes, concatenate
from .own_folds import OwnFold, ascending


class Order(Protocol):
    """How a reduction or a scan of some extent is evaluated."""

    @property
    def name(self) -> str:
        """What reports call the order."""

    def __call__(self, lanes: Lanes, combine: Combine) -> Lanes:
        """The result: without the first axis for a reduction, of the same shape for a scan."""


def halves(lanes: Lanes, combine: Combine) -> Lanes:
    """Fold the first axis, a power of two: the lower half with the upper half until one is left."""
    while lanes.shape[0] > 1:
        half = lanes.shape[0] // 2
        lanes = combine(lanes[:half], lanes[half:])
    return lanes[0]


@dataclass(frozen=True, slots=True)
class LeftFold:
    """Elements one after the other, from the first."""

    name: str = "left fold"

    def __call__(self, lanes: Lanes, combine: Combine) -> Lanes:
        """Reduce."""
        result = lanes[0]
        for i in range(1, lanes.shape[0]):
            result = combine(result, lanes[i])
        return result


@dataclass(frozen=True, slots=True)
class LeftScan:
    """The running left fold."""

    name: str = "left scan"

    def __call__(self, lanes: Lanes, combine: Combine) -> Lanes:
        """Scan."""
        results = [lanes[:1]]
        for i in range(1, lanes.shape[0]):
            results.append(combine(results[-1], lanes[i : i + 1]))
        return concatenate(results)


@dataclass(frozen=True, slots=True)
class StridedThenHalves:
    """Element i belongs to thread ``i % threads``, which folds its own as ``own`` says.

    The lanes of a warp then fold by halves, and the warps by halves.
    """

    threads: int = 128
    warp: int = 32
    own: OwnFold = ascending

    @property
    def name(self) -> str:
        """What reports call the order."""
        how = self.own.__name__.replace("_", " ")
        return f"by threads ({how}), then lanes of a warp by halves, then warps by halves"

    def __call__(self, lanes: Lanes, combine: Combine) -> Lanes:
        """Reduce."""
        extent = lanes.shape[0]
        threads = min(self.threads, extent)
        rounds = lanes.reshape(extent // threads, threads, *lanes.shape[1:])
        return GroupsByHalves(self.warp)(self.own(rounds, combine), combine)


@dataclass(frozen=True, slots=True)
class GroupsByHalves:
    """Groups of neighbours fold by halves each, then the groups' results by halves."""

    group: int = 32
    name: str = "by halves within groups, then groups by halves"

    def __call__(self, lanes: Lanes, combine: Combine) -> Lanes:
        """Reduce."""
        extent = lanes.shape[0]
        group = min(self.group, extent)
        rest = lanes.shape[1:]
        grouped = lanes.reshape(extent // group, group, *rest).map(lambda a: a.swapaxes(0, 1))
        return halves(halves(grouped, combine), combine)


@dataclass(frozen=True, slots=True)
class SegmentedKoggeStone:
    """Kogge and Stone's scan within segments of neighbours.

    The segments' totals are then summed up from the left, and each segment's elements combined with the sum
    of the segments before it.
    """

    segment: int = 32
    name: str = "Kogge-Stone within segments, then a running fold of their totals"

    def __call__(self, lanes: Lanes, combine: Combine) -> Lanes:
        """Scan."""
        extent = lanes.shape[0]
        segment = min(self.segment, extent)
        rest = lanes.shape[1:]
        within = lanes.reshape(extent // segment, segment, *rest).map(lambda a: a.swapaxes(0, 1))
        distance = 1
        while distance < segment:
            moved = combine(within[:-distance], within[distance:])
            within = concatenate([within[:distance], moved])
            distance *= 2
        segments = [within[:, 0]]
        total = within[-1, 0]
        for i in range(1, extent // segment):
            repeated = total.map(lambda a: a[None].repeat(segment, axis=0))
            segments.append(combine(repeated, within[:, i]))
            total = combine(total, within[-1, i])
        return concatenate(segments)
