"""Matrix products of floats: one operation each, and a few in a loop over K."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, product

from ..probe import Probe, answer, given, probe
from ..recipes import Floats
from ..text import View, dims, kernel, tile

Extents = tuple[int, int, int]
"""M, N and K."""

SEED_STEP = 10
"""A product takes a seed for each of its operands."""
PAIRS = (
    *(("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("tf32", "f32")),
    *(("f8E4M3FN", "f32"), ("f8E5M2", "f32"), ("f8E4M3FN", "f16"), ("f32", "f32"), ("f64", "f64")),
)
"""Formats of the factors and of the accumulator."""
EXTENTS = (8, 16, 32, 64, 128)
LARGEST_UNFUSED = 32
"""The largest extent asked of f32 and f64, which are not multiplied on tensor cores."""
FEW = ((16, 64, 128), (8, 64), (16, 64))
"""Extents asked of 8-bit floats into f16."""
KINDS = ("wide", "bits", "tiny", "special")
KIND_EXTENTS: tuple[Extents, ...] = ((16, 16, 16), (64, 64, 64), (64, 64, 16), (32, 32, 128))
BATCHED = ((1, 64, 64, 64), (2, 16, 16, 16), (4, 64, 64, 32))
BATCHED_PAIRS = (("f16", "f32"), ("bf16", "f32"), ("tf32", "f32"), ("f8E4M3FN", "f32"))

LOOP_PAIRS = (
    *(("f16", "f32"), ("f16", "f16"), ("bf16", "f32")),
    *(("f8E4M3FN", "f32"), ("f8E5M2", "f32"), ("f32", "f32")),
)
LOOPS = ((64, 64, 32, 4), (16, 16, 16, 4), (128, 64, 64, 3))
"""M, N, K of a step, and steps."""
LOOP_SEED = 9730

# Shapes at the borders of what runs on tensor cores: few rows, columns, steps or results.
BORDER_SEED = 50_010
BORDER_PAIRS = (
    *(("f16", "f32"), ("bf16", "f32"), ("f16", "f16"), ("tf32", "f32")),
    *(("f8E4M3FN", "f32"), ("f32", "f32")),
)
BORDER_EXTENTS: tuple[Extents, ...] = (
    *((16, 1, 64), (64, 1, 64), (128, 2, 64), (256, 2, 32), (256, 1, 32), (64, 2, 32), (64, 4, 32)),
    *((128, 4, 32), (256, 4, 32), (16, 256, 32), (32, 256, 32), (256, 16, 32), (256, 128, 16)),
    *((4, 256, 32), (2, 256, 32), (1, 256, 32), (8, 256, 32), (64, 64, 1), (64, 64, 2), (64, 64, 4)),
    *((32, 32, 1), (32, 32, 4), (64, 64, 256), (32, 64, 256), (16, 64, 512), (64, 16, 512), (1, 1, 16)),
    *((4, 4, 16), (128, 256, 16)),
)
BORDER_BATCHES = (
    *((1, 16, 16, 16), (2, 8, 8, 16), (4, 8, 8, 16), (8, 8, 8, 16), (4, 16, 8, 16), (2, 16, 8, 16)),
    *((8, 16, 8, 16), (2, 8, 64, 16), (4, 8, 32, 16), (1, 16, 32, 16), (1, 8, 64, 16), (1, 64, 8, 32)),
    *((2, 32, 8, 32), (1, 32, 16, 32), (16, 16, 16, 16), (2, 64, 64, 64), (1, 8, 8, 8), (2, 16, 16, 32)),
    *((64, 8, 8, 8), (4, 4, 4, 16)),
)
TOO_LONG = {("f32", "f32", (64, 64, 256))}
"""What the assembler does not finish in two minutes."""
FAST_SEED = 52_950
FAST_EXTENTS: tuple[Extents, ...] = ((64, 64, 64), (64, 64, 128), (16, 64, 64), (16, 16, 16))


@dataclass(frozen=True, slots=True)
class Product:
    """What to multiply: formats, extents, values (a kind of ``recipes.Floats``), and the batch if any."""

    source: str
    target: str
    extents: Extents
    kind: str = "normal"
    batch: int | None = None


def mma() -> Iterator[Probe]:
    """Products of every shape, of hard values, of batches; then those at the borders."""
    yield from (_product(p, seed) for p, seed in zip(_every(), count(SEED_STEP, SEED_STEP), strict=False))
    for p, seed in zip(_borders(), count(BORDER_SEED, SEED_STEP), strict=False):
        if (p.source, p.target, p.extents) not in TOO_LONG:
            yield _product(p, seed)


def _every() -> Iterator[Product]:
    for (source, target), *extents in product(PAIRS, EXTENTS, EXTENTS, EXTENTS):
        if source in ("f32", "f64") and max(extents) > LARGEST_UNFUSED:
            continue
        few = target == "f16" and source != "f16"
        if few and any(e not in chosen for e, chosen in zip(extents, FEW, strict=True)):
            continue
        m, n, k = extents
        yield Product(source, target, (m, n, k))
    for (source, target), kind, shape in product(PAIRS, KINDS, KIND_EXTENTS):
        yield Product(source, target, shape, kind)
    for (source, target), (batch, m, n, k) in product(BATCHED_PAIRS, BATCHED):
        yield Product(source, target, (m, n, k), batch=batch)


def _borders() -> Iterator[Product]:
    for source, target in BORDER_PAIRS:
        yield from (Product(source, target, extents) for extents in BORDER_EXTENTS)
        yield from (Product(source, target, (m, n, k), batch=b) for b, m, n, k in BORDER_BATCHES)


def mma_fast_acc() -> Iterator[Probe]:
    """Products of 8-bit floats whose accumulator may keep fewer bits."""
    seeds = count(FAST_SEED, SEED_STEP)
    for source, extents in product(("f8E4M3FN", "f8E5M2"), FAST_EXTENTS):
        yield _product(Product(source, "f32", extents), next(seeds), fast=True)


def _product(what: Product, seed: int, *, fast: bool = False) -> Probe:
    source, target, (m, n, k) = what.source, what.target, what.extents
    tf32 = source == "tf32"
    stored = "f32" if tf32 else source
    batch = () if what.batch is None else (what.batch,)
    shapes = {"a": (*batch, m, k), "b": (*batch, k, n), "c": (*batch, m, n)}
    views = [View(x, target if x == "c" else stored, s, s) for x, s in shapes.items()]
    index = ["%z"] * (len(batch) + 2)
    lines = [line for view in views for line in view.made()]
    lines += [view.load(index, to) for view, to in zip(views, "xyw", strict=True)]
    x, y = "x", "y"
    if tf32:
        x, y = "x2", "y2"
        for one, key in (("x", "a"), ("y", "b")):
            shape = shapes[key]
            lines.append(f"%{one}2 = ftof %{one} : {tile(shape, 'f32')} -> {tile(shape, 'tf32')}")
    types = ", ".join(tile(s, target if x == "c" else source) for x, s in shapes.items())
    lines.append(f"%r = mmaf %{x}, %{y}, %w {'fast_acc ' if fast else ''}: {types}")
    lines.append(views[2].store(index, "r"))
    kind = what.kind
    start = "normal" if kind == "wide" else kind
    buffers = [
        given("a", stored, shapes["a"], Floats(kind, seed, tf32)),
        given("b", stored, shapes["b"], Floats(kind, seed + 1, tf32)),
        answer("c", target, shapes["c"], Floats(start, seed + 2)),
    ]
    text = kernel([(b.name, b.format) for b in buffers], lines)
    batched = "" if what.batch is None else f"b{what.batch}_"
    name = f"mma/{source}_{target}_{batched}{dims(what.extents)}_{kind}"
    if fast:
        name = f"mma_fast_acc/{source}_{target}_{dims(what.extents)}"
    return probe(name, text, 1, buffers)


def mma_loop() -> Iterator[Probe]:
    """Products accumulated in a loop over K."""
    seeds = count(LOOP_SEED, SEED_STEP)
    for (source, target), (m, n, k, steps) in product(LOOP_PAIRS, LOOPS):
        yield _loop(source, target, (m, n, k), steps, next(seeds))


def _loop(source: str, target: str, extents: Extents, steps: int, seed: int) -> Probe:
    m, n, k = extents
    a = View("a", source, (m, k * steps), (m, k))
    b = View("b", source, (k * steps, n), (k, n))
    c = View("c", target, (m, n), (m, n))
    carried = tile((m, n), target)
    lines = [
        *(line for view in (a, b, c) for line in view.made()),
        c.load(["%z", "%z"], "w"),
        "%one = constant <i32: 1> : tile<i32>",
        f"%n = constant <i32: {steps}> : tile<i32>",
        f"%r = for %i in (%z to %n, step %one) : tile<i32> iter_values(%q = %w) -> ({carried}) {{",
        "  " + a.load(["%z", "%i"], "x"),
        "  " + b.load(["%i", "%z"], "y"),
        f"  %m = mmaf %x, %y, %q : {a.loaded}, {b.loaded}, {carried}",
        f"  continue %m : {carried}",
        "}",
        c.store(["%z", "%z"], "r"),
    ]
    buffers = [
        given("a", source, a.shape, Floats("normal", seed)),
        given("b", source, b.shape, Floats("normal", seed + 1)),
        answer("c", target, c.shape, Floats("normal", seed + 2)),
    ]
    text = kernel([(x.name, x.format) for x in buffers], lines)
    return probe(f"mma_loop/{source}_{target}_{dims(extents)}x{steps}", text, 1, buffers)
