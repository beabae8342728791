"""Which operations a test of the interpreter tests, and against what: a mark that is checked.

``@operation("addf", oracle="numpy")`` says so. While the test runs, its operations are watched (see
``conftest.py``): one that it names and never evaluates fails it. ``tests/tileref/test_operations.py`` fails when
a declared operation is in no such test.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Literal, get_args

import pytest

import tests.tileref
from tileir.module import Operation
from tileref.regions import TERMINATORS

Oracle = Literal["numpy", "exact", "mpfr", "written", "device"]
"""What the interpreter's answer is compared with: plain numpy or Python, exact integers rounded once
(``numerics.oracle``), MPFR, numbers written out in the test, or what a GPU answered.
"""


def operation(*names: str, oracle: Oracle, evidence: Iterable[str] = ()) -> pytest.MarkDecorator:
    """The mark of a test of these operations.

    Args:
        names: the dialect's names of the operations.
        oracle: what their answers are compared with.
        evidence: for ``device``, the cases and probes (``probes:`` before their names) with the recorded answers.
    """
    assert names
    assert oracle in get_args(Oracle)
    assert (oracle == "device") == bool(tuple(evidence))
    return pytest.mark.operation(*names, oracle=oracle, evidence=tuple(evidence))


def marks_of(test: object) -> Iterator[pytest.Mark]:
    """The marks of this kind on a test function, those of its parameters among them."""
    for mark in getattr(test, "pytestmark", []):
        if mark.name == "operation":
            yield mark
        if mark.name == "parametrize":
            for value in mark.args[1] if len(mark.args) > 1 else mark.kwargs["argvalues"]:
                yield from (m for m in getattr(value, "marks", ()) if m.name == "operation")


def operation_tests() -> dict[str, list[tuple[str, pytest.Mark]]]:
    """For each operation the tests of the interpreter that test it, with their marks."""
    found: dict[str, list[tuple[str, pytest.Mark]]] = defaultdict(list)
    for info in pkgutil.walk_packages(tests.tileref.__path__, "tests.tileref."):
        if not info.name.rsplit(".", 1)[1].startswith("test_"):
            continue
        module = importlib.import_module(info.name)
        for name, test in vars(module).items():
            if name.startswith("test_"):
                for mark in marks_of(test):
                    for mnemonic in mark.args:
                        found[mnemonic].append((f"{info.name}.{name}", mark))
    return found


def inside(op: Operation) -> Iterator[str]:
    """The name of an operation, and of the terminators of its regions, which have no evaluators."""
    yield op.mnemonic
    for region in op.regions:
        for inner in region.operations:
            if isinstance(inner, TERMINATORS):
                yield inner.mnemonic
