"""Random kernels without end: the interpreter against the scalar evaluator, and against itself.

    python -m tests.campaigns.random_programs [--first 1000] [--count 1000] [--length 14] [--alone]

Each seed is a kernel of some 14 random statements (``tests/tileref/scalar/programs.py``). Its arrays are compared
bit for bit, and by which elements have a value, with those of ``tests/tileref/scalar/evaluator.py``; then it is
run a block at a time, on four threads, with nothing hoisted, observed, unchecked, strictly, and from its own bytecode
and text, which must change nothing (left out with ``--alone``). Prints what differs; the exit status is 1 if
anything does.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections import Counter

import tileir
from tests.tileref.scalar.compare import OutsideScope, differences, disagreements, launch
from tests.tileref.scalar.programs import Programs


def tried(seed: int, length: int, *, alone: bool) -> tuple[str, list[str]]:
    """What became of a seed: in one word, and in sentences what is wrong."""
    program = Programs(seed, length).program
    found = tileir.verify(program.module)
    if found:
        return "illegal", [str(found[0])]
    data, undefined, _ = launch(program)
    wrong = [] if alone else disagreements(program)
    try:
        wrong += differences(program, data, undefined)
    except OutsideScope as reason:
        return ("wrong" if wrong else f"outside the evaluator's scope: {reason}"), wrong
    return ("wrong" if wrong else "right"), wrong


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--first", type=int, default=1000, help="the first seed")
    parser.add_argument("--count", type=int, default=1000, help="how many seeds")
    parser.add_argument("--length", type=int, default=14, help="statements of a kernel")
    parser.add_argument("--alone", action="store_true", help="with the scalar evaluator alone")
    arguments = parser.parse_args()
    outcomes: Counter[str] = Counter()
    for seed in range(arguments.first, arguments.first + arguments.count):
        try:
            outcome, wrong = tried(seed, arguments.length, alone=arguments.alone)
        except Exception:
            outcome, wrong = "failed", [traceback.format_exc()]
        outcomes[outcome] += 1
        for text in wrong[:3]:
            print(f"seed {seed}: {text}", flush=True)
    for outcome, count in sorted(outcomes.items()):
        print(f"{count:6} {outcome}")
    return 1 if outcomes.keys() & {"wrong", "failed", "illegal"} else 0


if __name__ == "__main__":
    sys.exit(main())
