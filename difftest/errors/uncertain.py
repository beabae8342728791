"""A value known up to an error: an interval, a bound on the error, and the operations that it comes from."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from tileref import Explanation

INF = math.inf


def times(a: float, b: float) -> float:
    """``a * b``, where nothing times infinity is nothing."""
    return 0.0 if a == 0 or b == 0 else a * b


@dataclass(frozen=True, slots=True)
class Uncertain:
    """All lanes of a value over all blocks.

    Attributes:
        lo, hi: between them lies every finite lane.
        rel, abs: what a device answers is off by at most ``rel * |value| + abs``; both 0 where its bits are
            the model's.
        origins: the operations whose bits the model does not claim and that this value depends on; none
            means that the bits are claimed.
        ulps: the same error in units in the last place, where it is that of one operation alone.
    """

    lo: float = -INF
    hi: float = INF
    rel: float = 0.0
    abs: float = 0.0
    origins: frozenset[Explanation] = frozenset()
    ulps: float | None = None

    @property
    def exact(self) -> bool:
        """Whether every bit is claimed."""
        return not self.origins

    @property
    def magnitude(self) -> float:
        """No finite lane is larger."""
        return max(abs(self.lo), abs(self.hi))

    @property
    def least(self) -> float:
        """No lane is smaller in magnitude."""
        return max(0.0, self.lo, -self.hi)

    @property
    def error(self) -> float:
        """The largest absolute error of any lane."""
        return times(self.rel, self.magnitude) + self.abs

    @property
    def one_sign(self) -> bool:
        """Whether no two lanes differ in sign."""
        return self.lo >= 0 or self.hi <= 0

    @property
    def relative(self) -> float:
        """The error as a relative one alone; infinite where a lane may be zero."""
        if self.abs == 0:
            return self.rel
        return self.rel + self.abs / self.least if self.least > 0 else INF

    def within(self, lo: float, hi: float) -> Uncertain:
        """The same error in another interval."""
        return replace(self, lo=lo, hi=hi)


def interval(lo: float, hi: float) -> Uncertain:
    """A value whose bits are known, in an interval."""
    return Uncertain(lo, hi)


def lost(origins: Iterable[Explanation], lo: float = -INF, hi: float = INF) -> Uncertain:
    """A value about whose error nothing can be said."""
    return Uncertain(lo, hi, INF, INF, frozenset(origins))


def origins_of(values: Iterable[Uncertain]) -> frozenset[Explanation]:
    """The origins of all of them."""
    return frozenset[Explanation]().union(*(v.origins for v in values))


def join(values: Iterable[Uncertain]) -> Uncertain:
    """A value that may be any of them."""
    first, *rest = values
    for v in rest:
        if v == first:
            continue
        ulps = None
        if first.exact or v.exact or (first.ulps is not None and v.ulps is not None):
            ulps = max((u for u in (first.ulps, v.ulps) if u is not None), default=None)
        first = Uncertain(
            min(first.lo, v.lo),
            max(first.hi, v.hi),
            max(first.rel, v.rel),
            max(first.abs, v.abs),
            first.origins | v.origins,
            ulps,
        )
    return first
