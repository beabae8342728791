"""Walking through arithmetic that needs more than its operands: formats, orders, products."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from . import rules
from .reading import depth_of, element, element_of, ordered, precision
from .rules import Unit, unit_of
from .state import State
from .uncertain import INF, Uncertain, interval, join, lost, origins_of


class Arithmetic(State):
    """Conversions, choices, folds and matrix products."""

    # Conversions that need both formats.

    def do_ftof(self, operation: Any) -> None:
        source, target = element(operation.from_), element(operation.to)
        u = self.of(operation.from_)
        wider = precision(target) >= precision(source)
        unit = Unit(0.0, 0.0) if wider else unit_of(target)
        result = u if u.exact or wider else rules.rounded(u, unit)
        result = replace(result, ulps=None) if not u.exact else result
        self.set(operation, self.explained(operation, result, [u], unit_of(target)))

    def do_ftoi(self, operation: Any) -> None:
        u = self.of(operation.from_)
        result = interval(*ordered(math.floor, u.lo, u.hi))
        if not u.exact:
            result = Uncertain(result.lo, result.hi, 0.0, u.error + 1, u.origins)
        self.set(operation, result)

    def do_itof(self, operation: Any) -> None:
        u = self.of(operation.from_)
        self.set(operation, u if u.exact else rules.rounded(u, unit_of(element(operation.to))))

    def do_bitcast(self, operation: Any) -> None:
        u = self.of(operation.source)
        self.set(operation, lost(u.origins) if u.origins else interval(-INF, INF))

    def do_mulf(self, operation: Any) -> None:
        a, b = self.of(operation.lhs), self.of(operation.rhs)
        unit = unit_of(element(operation.result))
        self.set(operation, rules.multiply(a, b, unit, square=operation.lhs is operation.rhs))

    def do_select(self, operation: Any) -> None:
        condition = self.of(operation.cond)
        result = join([self.of(operation.val_if_true), self.of(operation.val_if_false)])
        if condition.origins:
            # Either value may be taken: off by no more than they lie apart.
            spread = result.hi - result.lo + result.error
            result = Uncertain(result.lo, result.hi, 0.0, spread, result.origins | condition.origins)
        self.set(operation, result)

    def do_cmpf(self, operation: Any) -> None:
        origins = self.address(operation.uses)
        self.set(operation, lost(origins, 0, 1) if origins else interval(0, 1))

    do_cmpi = do_cmpf

    # Folds and products.

    def do_reduce(self, operation: Any) -> None:
        self.fold(operation, self.model.reduce_order)

    def do_scan(self, operation: Any) -> None:
        self.fold(operation, self.model.scan_order)

    def fold(self, operation: Any, order_of: Callable[[Any], Any]) -> None:
        operands = [self.of(v) for v in operation.operands]
        explanation = self.model.explanation(operation)
        origins = origins_of(operands) | (frozenset() if explanation.exact else {explanation})
        body = operation.body.operations
        source = operation.operands[0].type
        count = source.shape[operation.dim]
        kind = body[0].mnemonic if len(operands) == 1 and len(body) == 2 else ""
        x = operands[0]
        if kind == "addf":
            # Two sums lie apart by what each is off: half a unit an addition, for both of them one.
            depth = depth_of(order_of(operation).value, count) if explanation.exact else count - 1
            result = rules.folded(x, count, depth, unit_of(element_of(source)))
            results = [replace(result, origins=origins) if origins else interval(result.lo, result.hi)]
        elif kind in ("maxf", "minf", "maxi", "mini"):
            results = [replace(x, ulps=None, origins=origins)]
        elif kind == "addi":
            lo, hi = min(x.lo, x.lo * count), max(x.hi, x.hi * count)
            results = [lost(origins) if origins else interval(lo, hi)]
        else:
            results = [lost(origins) if origins else interval(-INF, INF)] * len(operation.results)
        self.set(operation, *results)

    def do_mmaf(self, operation: Any) -> None:
        a, b, c = self.of(operation.lhs), self.of(operation.rhs), self.of(operation.acc)
        explanation = self.model.explanation(operation)
        origins = origins_of((a, b, c)) | (frozenset() if explanation.exact else {explanation})
        depth = operation.lhs.type.shape[-1]
        nothing = Unit(0.0, 0.0)
        products = rules.multiply(a, b, nothing)
        total = rules.add(rules.folded(products, depth, 0, nothing), c, nothing)
        if not origins:
            self.set(operation, interval(total.lo, total.hi))
            return
        # Tensor cores keep as few as 13 fraction bits of f8 products and truncate; others keep f32's.
        narrow = element(operation.lhs).startswith("f8")
        accumulator = unit_of(element(operation.result))
        unit = max(accumulator.relative, 2.0**-13 if narrow else 0.0)
        size = depth * products.magnitude + c.magnitude
        # Rounding of the products and of the sums, by two ways of doing it: half a unit each if rounded.
        absolute = (
            total.error + (depth + 2) * unit * size * (2 if narrow else 1) + (depth + 2) * accumulator.tiny
        )
        self.set(operation, Uncertain(total.lo, total.hi, 0.0, absolute, origins))
