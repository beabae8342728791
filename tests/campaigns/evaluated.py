"""What the interpreter's tests evaluate of what is legal: every value of every attribute, and every format.

    python -m tests.campaigns.evaluated [--tests tests/tileref/evaluators] [--all]

Runs the tests and watches each operation that is evaluated. Prints the values that some legal kernel has (a form
of the operation that the verifier has nothing against) and no test evaluates; the exit status is 1 if there are
any without a reason in ``KNOWN``.
"""

from __future__ import annotations

import argparse
import enum
import sys
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

import tileir
from tileir import generate
from tileir.module import Operation
from tileir.types import TileType
from tileref.evaluators import EVALUATORS

Value = tuple[str, str]
"""The name of a part, or ``element`` or ``rank``, and a value of it."""

KNOWN: dict[str, str] = {
    "multimem": "refused whatever its attributes are",
    "optimization_hints": "a hint changes no answer",
    "ptr<f32, <none>>": "a pointer attribute that says what leaving it out says",
    "negi overflow=no_wrap": "what the unsigned half of the promise means for a signed operation is open",
    "pack element=i1": "not tested through a kernel yet; numerics.pack is",
    "pack element=tf32": "not tested yet",
    **{
        f"{name} element={element}": "refused: two elements share a byte"
        for name in ("load_ptr_tko", "store_ptr_tko", "offset")
        for element in ("f4E2M1FN", "ptr<f4E2M1FN>")
    },
}
"""Parts of ``operation attribute=value`` that need no test, and why."""


def values_of(op: Operation) -> Iterator[Value]:
    """What an operation is evaluated with."""
    parts, declaration = op.__dict__, op.declaration
    for part in declaration.attributes:
        value = parts[part.name]
        if isinstance(part.kind, enum.EnumMeta) or part.kind == "bool":
            yield part.name, str(value)
        elif part.bit is not None:
            yield part.name, "none" if value is None else "given"
    for flag in declaration.flags:
        yield flag.name, str(parts[flag.name])
    for operand in declaration.operands:
        if operand.kind == "optional":
            yield operand.name, "none" if parts[operand.name] is None else "given"
    for value in (*op.uses, *op.results):
        if isinstance(value.type, TileType):
            yield "element", str(value.type.element)
            yield "rank", str(len(value.type.shape))


def legal() -> dict[str, set[Value]]:
    """The values that forms of each operation have which the verifier has nothing against."""
    found: dict[str, set[Value]] = defaultdict(set)
    for form in generate.all_forms():
        module = form.module()
        if form.kind not in EVALUATORS or tileir.verify(module):
            continue
        for op in module.walk():
            if type(op) is form.kind:
                found[op.mnemonic].update(values_of(op))
    return found


class Watching:
    """A plugin that notes what every evaluator is called with."""

    def __init__(self) -> None:
        self.seen: dict[str, set[Value]] = defaultdict(set)

    def pytest_sessionstart(self) -> None:
        """Put a watch on every evaluator."""
        for kind, evaluate in list(EVALUATORS.items()):
            EVALUATORS[kind] = self._watched(evaluate)

    def _watched(self, evaluate: Any) -> Any:
        def evaluator(frame: Any, op: Operation, *operands: Any) -> Any:
            self.seen[op.mnemonic].update(values_of(op))
            return evaluate(frame, op, *operands)

        evaluator.__qualname__ = evaluate.__qualname__
        return evaluator


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tests", nargs="*", default=["tests/tileref/evaluators"])
    parser.add_argument("--all", action="store_true", help="those with a known reason too")
    arguments = parser.parse_args()
    watching = Watching()
    if pytest.main(["-q", *arguments.tests], plugins=[watching]) != pytest.ExitCode.OK:
        print("the tests fail")
        return 1
    total = missing = 0
    for name, values in sorted(legal().items()):
        total += len(values)
        gone = [f"{name} {part}={value}" for part, value in sorted(values - watching.seen[name])]
        for text in gone:
            reason = next((why for known, why in KNOWN.items() if known in text), None)
            missing += reason is None
            if reason is None or arguments.all:
                print(f"  {text}{'' if reason is None else f': {reason}'}")
    print(f"{total} values of parts, formats and ranks are legal; {missing} of them are evaluated by no test")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
