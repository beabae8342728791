"""Which rule an operation's error follows, by the operation's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from . import rules
from .rules import Unit
from .uncertain import Uncertain

MOVES = frozenset(
    {"assume", "broadcast", "cat", "extract", "insert", "permute", "reshape", "ptr_to_ptr", "offset"}
)


def negated(x: Uncertain) -> Uncertain:
    return x.within(-x.hi, -x.lo)


def absolute(x: Uncertain) -> Uncertain:
    return x.within(x.least, x.magnitude)


FLOAT_RULES: Mapping[str, Callable[[list[Uncertain], Unit], Uncertain]] = {
    "addf": lambda o, u: rules.add(o[0], o[1], u),
    "subf": lambda o, u: rules.add(o[0], o[1], u, -1.0),
    "divf": lambda o, u: rules.divide(o[0], o[1], u),
    "fma": lambda o, u: rules.fused(o[0], o[1], o[2], u),
    "maxf": lambda o, u: rules.larger(o[0], o[1]),
    "minf": lambda o, u: rules.smaller(o[0], o[1]),
    "negf": lambda o, u: negated(o[0]),
    "absf": lambda o, u: absolute(o[0]),
    "exp": lambda o, u: rules.exponential(o[0], u),
    "exp2": lambda o, u: rules.exponential(o[0], u, 2.0),
    "log": lambda o, u: rules.logarithm(o[0], u),
    "log2": lambda o, u: rules.logarithm(o[0], u, 2.0),
    "sqrt": lambda o, u: rules.root(o[0], u),
    "rsqrt": lambda o, u: rules.inverse_root(o[0], u),
    "sin": lambda o, u: rules.lipschitz(o[0], u, -1.0, 1.0),
    "cos": lambda o, u: rules.lipschitz(o[0], u, -1.0, 1.0),
    "tanh": lambda o, u: rules.lipschitz(o[0], u, -1.0, 1.0),
    "sinh": lambda o, u: rules.hyperbolic(o[0], u, even=False),
    "cosh": lambda o, u: rules.hyperbolic(o[0], u, even=True),
}


def corners(operands: list[Uncertain]) -> tuple[float, float]:
    found = [
        0.0 if 0 in (x, y) else x * y
        for x in (operands[0].lo, operands[0].hi)
        for y in (operands[1].lo, operands[1].hi)
    ]
    return min(found), max(found)


INTEGER_RULES: Mapping[str, Callable[[list[Uncertain]], tuple[float, float]]] = {
    "addi": lambda o: (o[0].lo + o[1].lo, o[0].hi + o[1].hi),
    "subi": lambda o: (o[0].lo - o[1].hi, o[0].hi - o[1].lo),
    "muli": corners,
    "maxi": lambda o: (max(o[0].lo, o[1].lo), max(o[0].hi, o[1].hi)),
    "mini": lambda o: (min(o[0].lo, o[1].lo), min(o[0].hi, o[1].hi)),
    "exti": lambda o: (o[0].lo, o[0].hi),
    "trunci": lambda o: (o[0].lo, o[0].hi),
}
"""Intervals of integers, for trip counts alone: wrap-around would only make a loop shorter or endless."""
