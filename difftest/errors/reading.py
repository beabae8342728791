"""What the walk reads off operations, types and arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tileir.attributes import DenseElements, RoundingMode
from tileir.module import Operation, Value
from tileir.types import NumberType, TileType
from tileref.numerics.formats import FORMATS, FloatFormat
from tileref.targets.lanes import Lanes

from .uncertain import INF, Uncertain, interval


def documented(operation: Operation, operands: Sequence[Uncertain]) -> bool:
    """Whether the operands lie where the documented bound holds.

    That of the approximate division holds for divisors from 2^-126 to 2^126 (the dialect's text on divf).
    """
    if getattr(operation, "rounding_mode", None) is RoundingMode.APPROX and operation.mnemonic == "divf":
        return operands[1].least >= 2.0**-126 and operands[1].magnitude <= 2.0**126
    return True


def element(value: Value) -> str:
    return element_of(value.type)


def element_of(type_: Any) -> str:
    if isinstance(type_, TileType) and isinstance(type_.element, NumberType):
        return type_.element.name
    return ""


def precision(format_name: str) -> int:
    fmt = FORMATS.get(format_name)
    return fmt.precision if isinstance(fmt, FloatFormat) else 0


def contents(array: Any) -> Uncertain:
    """The interval of a buffer's finite elements."""
    if array.size == 0:
        return interval(0.0, 0.0)
    with np.errstate(all="ignore"):
        wide = array.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    if finite.size == 0:
        return interval(-INF, INF)
    return interval(float(finite.min()), float(finite.max()))


def constant(value: DenseElements) -> Uncertain:
    element = value.type.element
    assert isinstance(element, NumberType)
    fmt = FORMATS[element.name]
    if fmt.width < 8:
        return interval(-INF, INF)
    return contents(np.frombuffer(value.data, fmt.dtype))


def same_error(a: Uncertain, b: Uncertain) -> bool:
    return (a.rel, a.abs, a.origins) == (b.rel, b.abs, b.origins)


def ordered(function: Callable[[float], float], lo: float, hi: float) -> tuple[float, float]:
    def safe(x: float) -> float:
        return function(x) if math.isfinite(x) else x

    return safe(lo), safe(hi)


def depth_of(order: Any, count: int) -> int:
    """In how many applications of the body a lane takes part at most: the order is asked, lane by lane."""

    def deeper(a: Lanes, b: Lanes) -> Lanes:
        return Lanes((np.maximum(*np.broadcast_arrays(a.data[0], b.data[0])) + 1,), (None,))

    lanes = Lanes((np.zeros((count, 1), dtype=np.int64),), (None,))
    return int(order(lanes, deeper).data[0].max(initial=0))
