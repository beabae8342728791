"""Matrix products of integers, some of whose partial sums leave i32."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, product

from ..integer_recipes import Accumulator, Factor
from ..probe import Probe, answer, given, probe
from ..text import View, dims, kernel

SIGNS = ("signed", "unsigned")
EXTENTS = ((16, 16, 16), (32, 32, 64), (64, 64, 128), (16, 8, 32), (128, 64, 32), (8, 64, 32))
KINDS = ("random", "over", "updown", "downup")
FIRST_SEED, SEED_STEP = 53_030, 10


def mmai() -> Iterator[Probe]:
    """Every signedness of the factors, a few shapes, and sums that stay in, leave, or leave and come back."""
    seeds = count(FIRST_SEED, SEED_STEP)
    for left, right, (m, n, k), kind in product(SIGNS, SIGNS, EXTENTS, KINDS):
        seed = next(seeds)
        a, b, c = (
            View("a", "i8", (m, k), (m, k)),
            View("b", "i8", (k, n), (k, n)),
            View("c", "i32", (m, n), (m, n)),
        )
        index = ["%z", "%z"]
        lines = [
            *(line for view in (a, b, c) for line in view.made()),
            *(view.load(index, to) for view, to in ((a, "x"), (b, "y"), (c, "w"))),
            f"%r = mmai %x, %y, %w {left} {right} : {a.loaded}, {b.loaded}, {c.loaded}",
            c.store(index, "r"),
        ]
        buffers = [
            given("a", "i8", a.shape, Factor(kind, seed)),
            given("b", "i8", b.shape, Factor(kind, seed, right=True)),
            answer("c", "i32", c.shape, Accumulator(kind, seed)),
        ]
        text = kernel([(x.name, x.format) for x in buffers], lines)
        yield probe(f"mmai/{left}_{right}_{dims((m, n, k))}_{kind}", text, 1, buffers)
