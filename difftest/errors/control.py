"""Walking through branches and loops."""

from __future__ import annotations

from typing import Any

from tileir.module import Region

from .reading import same_error
from .state import Loop, State
from .uncertain import INF, Uncertain, interval, join, lost, origins_of

ITERATIONS = 256
"""Times a loop's body is walked."""


class Control(State):
    """A branch is walked both ways, a loop as often as it may run."""

    # Control flow.

    def do_if(self, operation: Any) -> None:
        condition = self.of(operation.condition)
        self.doubt |= condition.origins
        ways = []
        for region in operation.regions:
            self.yielded = []
            self.region(region)
            if self.yielded:
                ways.append(self.yielded)
        for position, value in enumerate(operation.results):
            there = [w[position] for w in ways if position < len(w)]
            result = join(there) if there else interval(-INF, INF)
            if condition.origins:
                result = lost(result.origins | condition.origins)
            self.values[value] = result
        self.yielded = []

    def do_yield(self, operation: Any) -> None:
        self.yielded = [self.of(v) for v in operation.operands]

    def do_continue(self, operation: Any) -> None:
        if self.loops:
            self.loops[-1].carried.append([self.of(v) for v in operation.operands])

    def do_break(self, operation: Any) -> None:
        if self.loops:
            self.loops[-1].results.append([self.of(v) for v in operation.operands])

    def do_for(self, operation: Any) -> None:
        bounds = [self.of(v) for v in (operation.lowerBound, operation.upperBound, operation.step)]
        self.doubt |= origins_of(bounds)
        low, high, step = bounds
        most = max(0.0, (high.hi - low.lo) / step.lo) if step.lo > 0 and high.hi < INF else INF
        state = [self.of(v) for v in operation.initValues]
        induction = interval(low.lo, high.hi if high.hi < INF else INF)
        final, _ = self.iterate(operation.body, state, [induction], most)
        self.set(operation, *final)

    def do_loop(self, operation: Any) -> None:
        state = [self.of(v) for v in operation.initValues]
        _, results = self.iterate(operation.body, state, [], INF)
        if not results:
            results = [interval(-INF, INF)] * len(operation.results)
        self.set(operation, *results)

    def iterate(
        self, body: Region, state: list[Uncertain], leading: list[Uncertain], most: float
    ) -> tuple[list[Uncertain], list[Uncertain]]:
        """Walk a body until nothing changes, or ``most`` times: what it carries, what breaks bring out."""
        results: list[Uncertain] = []
        rounds = 0
        while rounds < min(most, ITERATIONS):
            rounds += 1
            for argument, u in zip(body.arguments, [*leading, *state], strict=False):
                self.values[argument] = u
            self.loops.append(Loop())
            self.yielded = []
            self.region(body)
            loop = self.loops.pop()
            ways = loop.carried + ([self.yielded] if self.yielded else [])
            self.yielded = []
            for broken in loop.results:
                results = [join(p) for p in zip(results, broken, strict=False)] if results else broken
            after = [join([u, *(w[i] for w in ways if i < len(w))]) for i, u in enumerate(state)]
            settled = all(same_error(u, v) for u, v in zip(state, after, strict=True))
            grows = after != state
            state = after
            if settled and rounds > 1:
                if grows and rounds < most:
                    # The errors have settled, the magnitudes have not: let them be anything.
                    state = [u.within(-INF, INF) if u.exact else u for u in state]
                    most = min(most, rounds + 2)
                else:
                    break
        else:
            if rounds < most:
                state = [lost(u.origins) if u.origins else u for u in state]
                results = [lost(u.origins) if u.origins else u for u in results]
        if self.doubt:
            state = [lost(u.origins | self.doubt) for u in state]
            results = [lost(u.origins | self.doubt) for u in results]
        return state, results
