"""What evaluating operations takes besides their operands and results, against ``tileref.working``.

    python -m tests.campaigns.working [NAME ...] [--lanes 16384]

Evaluates every legal form of every operation without memory on many blocks of random bits, under every model,
and measures. Prints each operation's worst; the exit status is 1 if one takes more than its bound.
"""

from __future__ import annotations

import argparse
import sys
import tracemalloc
from collections.abc import Iterator

import numpy as np

import tileir
import tileref
from tileir import generate
from tileir.module import Module, Operation
from tileir.ops import bitwise, conversion, core, floating, integer, matrix, reduction
from tileir.types import NumberType, PointerType, TileType
from tileref.evaluators import EVALUATORS
from tileref.footprint import Walk
from tileref.formats import Array, dtype_of, format_of, from_bits
from tileref.frame import Frame
from tileref.memory import Memory
from tileref.numerics.formats import FloatFormat
from tileref.regions import prepare
from tileref.run import Run
from tileref.targets import model as model_named
from tileref.values import Tile
from tileref.working import lanes_of

MODULES = (bitwise, conversion, core, floating, integer, matrix, reduction)
SMALL = 1 << 13
"""Bytes of Python's objects, which are not an operation's."""
RNG = np.random.default_rng(1)


def operations(names: list[str]) -> Iterator[tuple[str, Module, Operation]]:
    """Every legal form of the operations of ``names``, of all if there are none."""
    kinds = {kind for kind in EVALUATORS if kind.__module__ in {m.__name__ for m in MODULES}}
    for form in generate.all_forms():
        if form.kind in kinds and (not names or form.kind.mnemonic in names):
            module = form.module()
            if not tileir.verify(module):
                yield form.label, module, next(op for op in module.walk() if type(op) is form.kind)


def random(type_: TileType, blocks: int) -> Array:
    """Random bits in so many blocks, or, half of the time, numbers around 1."""
    shape = (blocks, *type_.shape)
    if isinstance(type_.element, PointerType):
        return RNG.integers(0, 1 << 40, shape)
    assert isinstance(type_.element, NumberType)
    fmt = format_of(type_.element)
    if isinstance(fmt, FloatFormat) and RNG.integers(2):
        return RNG.uniform(0.5, 2, shape).astype(np.float32).astype(fmt.dtype)
    raw = RNG.integers(0, 1 << min(fmt.width, 63), shape, np.uint64)
    return from_bits(raw << fmt.unused_bits if isinstance(fmt, FloatFormat) else raw, fmt)


def measure(module: Module, operation: Operation, model: str, blocks: int) -> int:
    """Bytes that evaluating takes besides the operands and results, the second time."""
    (entry,) = module.entries
    run = Run(module, entry, (blocks, 1, 1), Memory(), model_named(model))
    frame = Frame(run, blocks, blocks=np.arange(blocks))
    for value in operation.uses:
        assert isinstance(value.type, TileType)
        frame.values[value] = Tile(value.type, random(value.type, blocks))
    (step,) = [step for step in prepare(entry.body) if step.operation is operation]
    for _ in range(2):
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        step.evaluate(frame, operation, *step.arguments(frame))
        taken = tracemalloc.get_traced_memory()[1] - before
    made = [v.type for v in operation.results if isinstance(v.type, TileType)]
    return taken - blocks * sum(t.size * dtype_of(t).itemsize for t in made)


def bound(operation: Operation, blocks: int) -> int:
    """The most that ``tileref.footprint`` takes it for."""
    steps = {id(region): prepare(region) for region in operation.regions}
    return max(moment.of(blocks) for moment in Walk(steps, (), working=True).during(operation))


def main(arguments: list[str] | None = None) -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--lanes", type=int, default=1 << 14)
    asked = parser.parse_args(arguments)
    worst: dict[str, tuple[float, int, str, str]] = {}
    tracemalloc.start()
    for label, module, operation in operations(asked.names):
        blocks = max(1, asked.lanes // lanes_of(operation))
        for model in tileref.models():
            taken = measure(module, operation, model, blocks)
            share = taken / (bound(operation, blocks) + SMALL)
            found = (share, round(taken / blocks / lanes_of(operation)), label, model)
            worst[operation.mnemonic] = max(worst.get(operation.mnemonic, found), found)
    for name, (share, lane, label, model) in sorted(worst.items(), key=lambda item: -item[1][0]):
        print(f"{name:20} {share:5.2f} of its bound, {lane} bytes a lane: {label}, {model}")
    return int(any(share > 1 for share, *_ in worst.values()))


if __name__ == "__main__":
    sys.exit(main())
