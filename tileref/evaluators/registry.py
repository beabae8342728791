"""Which function evaluates which operation.

An evaluator is called with the frame, the operation and its operands by declared part (None for an absent
one, a tuple for a variadic one), and answers the operation's results: one value, or a tuple.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from tileir import ops as _ops  # noqa: F401  (declares the operations)
from tileir.module import Operation
from tileir.registry import BY_NAME
from tileir.types import TileType

from ..formats import Array
from ..frame import Frame
from ..kinds import Kind
from ..targets.model import Model
from ..undefined import join, marks
from ..values import Tile

Evaluator = Callable[..., Any]
F = TypeVar("F", bound=Callable[..., Any])

EVALUATORS: dict[type[Operation], Evaluator] = {}


def evaluates(*names: str) -> Callable[[F], F]:
    """Register an evaluator for operations of these names (the function's own name if none is given)."""

    def register(function: F) -> F:
        for name in names or (function.__name__.rstrip("_"),):
            _add(name, function)
        return function

    return register


def _add(name: str, evaluator: Evaluator) -> None:
    kind = BY_NAME[name]
    if kind in EVALUATORS:
        raise AssertionError(f"{name} has two evaluators")
    EVALUATORS[kind] = evaluator


def elementwise(function: Callable[..., Array]) -> Callable[..., Array]:
    """Register ``function(model, op, *arrays) -> array``, which treats every lane alike.

    A lane of the result has no value where a lane of an operand has none.
    """

    def evaluate(frame: Frame, op: Operation, *operands: Tile) -> Tile:
        type_ = op.results[0].type
        assert isinstance(type_, TileType)
        with np.errstate(all="ignore"):
            data = function(frame.run.model, op, *[o.data for o in operands])
        return Tile(type_, data, join([o.undefined for o in operands]))

    _add(function.__name__.rstrip("_"), evaluate)
    return function


def partial_elementwise(
    kind: Kind, message: str
) -> Callable[[Callable[..., tuple[Array, Array | None]]], Callable[..., tuple[Array, Array | None]]]:
    """Register ``function(model, op, *arrays) -> (array, undefined lanes or None)``.

    ``kind`` and ``message`` describe what takes a lane's value away. The lane is marked, and reported only
    when something uses it: a lane that a mask hides later on harms nobody.
    """

    def register(
        function: Callable[..., tuple[Array, Array | None]],
    ) -> Callable[..., tuple[Array, Array | None]]:
        def evaluate(frame: Frame, op: Operation, *operands: Tile) -> Tile:
            type_ = op.results[0].type
            assert isinstance(type_, TileType)
            with np.errstate(all="ignore"):
                data, undefined = function(frame.run.model, op, *[o.data for o in operands])
            missing = join([o.undefined for o in operands])
            if undefined is not None and missing is not None:
                # What stands where there is no value has done nothing wrong.
                undefined = undefined & ~missing.lanes
            return Tile(type_, data, join([missing, marks(undefined, op)]))

        _add(function.__name__.rstrip("_"), evaluate)
        CAUSES[BY_NAME[function.__name__.rstrip("_")]] = (kind, message)
        return function

    return register


CAUSES: dict[type[Operation], tuple[Kind, str]] = {}
"""For an operation that can take a lane's value away: the rule and what to say."""


__all__ = ["CAUSES", "EVALUATORS", "Evaluator", "Model", "elementwise", "evaluates", "partial_elementwise"]
