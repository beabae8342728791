"""Watching which operations a test evaluates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tileir.module import Operation
from tileref.evaluators import EVALUATORS
from tileref.evaluators.registry import Evaluator

from .operations import inside


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """A test that says it tests an operation evaluates it."""
    named = {name for mark in item.iter_markers("operation") for name in mark.args} - {"return"}
    seen: set[str] = set()

    def watched(evaluate: Evaluator) -> Evaluator:
        def evaluator(frame: Any, op: Operation, *operands: Any) -> Any:
            seen.update(inside(op))
            return evaluate(frame, op, *operands)

        return evaluator

    before = dict(EVALUATORS)
    if named:
        EVALUATORS.update({kind: watched(evaluate) for kind, evaluate in before.items()})
    try:
        yield
    finally:
        EVALUATORS.update(before)
    missing = named - seen
    assert not missing, (
        f"the test says that it tests {', '.join(sorted(missing))}, and evaluates no such operation"
    )
