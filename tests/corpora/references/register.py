"""Which function says what a case means, and how near its answer must come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Function = Callable[..., tuple[Array | None, ...]]

BY_FORMAT = {
    "f64": 1e-12,
    "f32": 1e-5,
    "f16": 2.0**-10,
    "bf16": 2.0**-7,
    "f8E4M3FN": 2.0**-4,
    "f8E5M2": 2.0**-3,
}
"""Of an element's magnitude plus the output's mean magnitude: a few roundings of the format."""


@dataclass(frozen=True)
class Reference:
    """``tolerance`` stands in place of its format's for every float output, ``steps`` is allowed of integers."""

    pattern: str
    function: Function
    tolerance: float | None
    steps: int


REFERENCES: list[Reference] = []


def reference(pattern: str, tolerance: float | None = None, steps: int = 0) -> Callable[[Function], Function]:
    """The decorated function is what cases whose name matches ``pattern`` mean."""

    def register(function: Function) -> Function:
        REFERENCES.append(Reference(pattern, function, tolerance, steps))
        return function

    return register


def softmax(x: Array, axis: int = -1) -> Array:
    """Along an axis, in f64."""
    weights = np.exp(x - x.max(axis=axis, keepdims=True))
    return np.asarray(weights / weights.sum(axis=axis, keepdims=True))


def logistic(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def gelu(x: Array) -> Array:
    """The approximation by tanh."""
    return np.asarray(0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))))
