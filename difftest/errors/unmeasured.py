"""Claims about a target that nobody measured: what the dialect fixes, and nothing that it leaves open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from tileir.module import Operation
from tileir.ops.matrix import MmaF, MmaFScaled
from tileir.ops.reduction import Reduce, Scan
from tileir.types import NumberType, TileType
from tileref import Explanation, Model
from tileref.numerics.bounds import ulp_bound
from tileref.numerics.formats import FORMATS, FloatFormat
from tileref.targets.bodies import is_order_free


class Claims(Protocol):
    """Who says whether an operation's bits are claimed; a model, or ``Unmeasured``."""

    @property
    def reduce_order(self) -> Callable[[Any], Any]:
        """The order of a reduction."""

    @property
    def scan_order(self) -> Callable[[Any], Any]:
        """The order of a scan."""

    def explanation(self, operation: Operation) -> Explanation:
        """Whether the operation's bits are claimed, and why (not)."""


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """The claims of ``model`` for a target that it was not made for."""

    model: Model

    @property
    def reduce_order(self) -> Callable[[Any], Any]:
        """The model's."""
        return self.model.reduce_order

    @property
    def scan_order(self) -> Callable[[Any], Any]:
        """The model's."""
        return self.model.scan_order

    def explanation(self, operation: Operation) -> Explanation:
        """Folds whose order shows, float products and approximate math are not claimed."""
        own = self.model.explanation(operation)

        def not_claimed(reason: str, ulps: float | None = None) -> Explanation:
            return Explanation(False, own.operation, own.formats, reason, ulps)

        if isinstance(operation, Reduce | Scan):
            return own if is_order_free(operation) else not_claimed("the dialect leaves the order open")
        if isinstance(operation, MmaF | MmaFScaled):
            return not_claimed("the dialect leaves the sum's order and rounding open")
        if own.operation in ("ftof", "ftoi", "itof") or not _answers_floats(operation):
            return own
        rounding = getattr(operation, "rounding_mode", None)
        element = own.formats[-1]
        bound = ulp_bound(own.operation, element, None if rounding is None else str(rounding))
        if bound == 0 or own.operation not in _COMPUTE:
            return own
        return not_claimed("the target's answer is documented to be off by so much", bound)


_COMPUTE = frozenset(
    {
        "addf",
        "subf",
        "mulf",
        "divf",
        "fma",
        "sqrt",
        "rsqrt",
        "remf",
        "exp",
        "exp2",
        "log",
        "log2",
        "sin",
        "cos",
    }
    | {"tan", "sinh", "cosh", "tanh", "fpowf", "fpowi", "pow", "atan2"}
)


def _answers_floats(operation: Operation) -> bool:
    if not operation.results or not isinstance(operation.results[0].type, TileType):
        return False
    element = operation.results[0].type.element
    return isinstance(element, NumberType) and isinstance(FORMATS[element.name], FloatFormat)
