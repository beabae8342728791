"""Reductions of tiles that do not come straight from memory: reduced, reshaped or permuted before.

Such tiles are spread over threads in ways that no model explains; these are the data for whoever tries.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ..pairs import PairsAfterFold, PairsAfterMove, pairs
from ..probe import Probe, answer, given, probe
from ..text import Shape, View, dims, fold, kernel, tile

SOLID = (
    *((4, 16, 32), (8, 8, 8), (16, 4, 32), (2, 32, 16)),
    *((32, 2, 32), (64, 4, 16), (2, 2, 64), (4, 4, 4)),
)
FLAT = ((32, 64), (4, 64), (64, 32))
BETWEEN = ("", "negf", "reshape")
"""What happens between two reductions: nothing, two negations, or a reshape there and back."""
RESHAPED: tuple[tuple[Shape, Shape, int], ...] = (
    *(((1024,), (32, 32), 1), ((1024,), (32, 32), 0)),
    *(((16, 64), (64, 16), 0), ((16, 64), (64, 16), 1)),
    *(((4, 8, 32), (32, 32), 0), ((4, 8, 32), (32, 32), 1), ((32, 32), (4, 8, 32), 1)),
)
PERMUTED: tuple[tuple[Shape, Shape], ...] = (
    *(((16, 64), (1, 0)), ((64, 16), (1, 0))),
    *(((4, 8, 16), (2, 0, 1)), ((32, 4, 8), (1, 2, 0))),
)
ELEMENT = "f32"


def reduce_twice() -> Iterator[Probe]:
    """A reduction of what another leaves."""
    for solid, first, second in product(SOLID, range(3), range(2)):
        yield _twice(solid, first, second, "")
    for flat, first, between in product(FLAT, range(2), BETWEEN):
        yield _twice(flat, first, 0, between)


def _without(shape: Shape, dim: int) -> Shape:
    return shape[:dim] + shape[dim + 1 :]


def _twice(shape: Shape, first: int, second: int, between: str) -> Probe:
    once = _without(shape, first)
    middle = tile(once, ELEMENT)
    added = (1, *once)
    source = "r0b" if between else "r0"
    lines = fold("r0", "x1", shape, ELEMENT, first)
    if between == "negf":
        lines += [f"%r0a = negf %r0 : {middle}", f"%r0b = negf %r0a : {middle}"]
    elif between:
        there = tile(added, ELEMENT)
        lines += [f"%r0a = reshape %r0 : {middle} -> {there}", f"%r0b = reshape %r0a : {there} -> {middle}"]
    lines += fold("r", source, once, ELEMENT, second)
    name = f"reduce_twice/{dims(shape)}_{first}_{second}{between and '_' + between}"
    return _probe(name, shape, _without(once, second), lines, PairsAfterFold(first, second), once[second])


def reduce_moved() -> Iterator[Probe]:
    """Reductions of reshaped and of permuted tiles."""
    for shape, final, dim in RESHAPED:
        line = f"%y = reshape %x1 : {tile(shape, ELEMENT)} -> {tile(final, ELEMENT)}"
        name = f"reduce_moved/reshape_{dims(shape)}_{dims(final)}_{dim}"
        yield _moved(name, shape, final, dim, line, PairsAfterMove(final, dim))
    for shape, order in PERMUTED:
        final = tuple(shape[i] for i in order)
        axes = ", ".join(map(str, order))
        line = f"%y = permute %x1 [{axes}] : {tile(shape, ELEMENT)} -> {tile(final, ELEMENT)}"
        for dim in range(len(shape)):
            name = f"reduce_moved/permute_{dims(shape)}_{''.join(map(str, order))}_{dim}"
            yield _moved(name, shape, final, dim, line, PairsAfterMove(final, dim, order))


def _moved(name: str, shape: Shape, final: Shape, dim: int, line: str, contents: PairsAfterMove) -> Probe:
    lines = [line, *fold("r", "y", final, ELEMENT, dim)]
    return _probe(name, shape, _without(final, dim), lines, contents, final[dim])


def _probe(
    name: str,
    shape: Shape,
    left: Shape,
    lines: list[str],
    contents: PairsAfterFold | PairsAfterMove,
    folded: int,
) -> Probe:
    """Load a tile a block as %x1, do ``lines``, and store %r, of the shape ``left``."""
    tiles = len(pairs(folded))
    a = View("a", ELEMENT, (tiles, *shape), (1, *shape))
    c = View("c", ELEMENT, (tiles, *left), (1, *left))
    body = [
        *a.made(),
        *c.made(),
        a.load(["%bx", *(["%z"] * len(shape))], "x"),
        f"%x1 = reshape %x : {a.loaded} -> {tile(shape, ELEMENT)}",
        *lines,
        f"%r1 = reshape %r : {tile(left, ELEMENT)} -> {c.loaded}",
        c.store(["%bx", *(["%z"] * len(left))], "r1"),
    ]
    text = kernel([("a", ELEMENT), ("c", ELEMENT)], body)
    buffers = [given("a", ELEMENT, a.shape, contents), answer("c", ELEMENT, c.shape)]
    return probe(name, text, tiles, buffers)
