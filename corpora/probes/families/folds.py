"""Reductions and scans of tiles as they come from memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from ..pairs import Pairs, pairs
from ..probe import Probe, answer, given, probe
from ..recipes import Floats
from ..text import Shape, View, dims, fold, kernel, tile

TILES = 16
"""Tiles of random values that a probe folds, a block each."""
IDENTITIES = {"addf": "0.000000e+00", "mulf": "1.000000e+00"}
POWERS = tuple(2**i for i in range(1, 13))
SIDES = POWERS[:8]
LARGEST_TILE = 16_384
LONGEST_PAIRED = 64
PAIRED_OTHERS = (2, 16, 64, 256)
"""The extents across a fold along which pairs are asked for."""
SOLID = ((4, 8, 16), (2, 32, 32), (16, 4, 64), (8, 8, 8), (1, 64, 32), (32, 2, 4))
FORMATS: tuple[tuple[Shape, int], ...] = (((64, 32), 0), ((64, 32), 1), ((1024,), 0), ((16, 128), 1))
LARGE: tuple[Shape, ...] = ((512, 32), (8192,), (1, 8192))
SCANNED = ((4, 64), (64, 4), (32, 32), (8, 128), (128, 8), (2, 256))
SCANNED_SOLID = ((4, 8, 16), (16, 4, 8), (2, 2, 64))
SCANNED_FORMATS: tuple[tuple[Shape, int], ...] = (((64, 32), 1), ((64, 32), 0), ((1024,), 0))
WARPS = (1, 2, 4, 8, 16)
WARPED: tuple[tuple[Shape, int], ...] = (((1024,), 0), ((64, 64), 1), ((64, 64), 0))


@dataclass(frozen=True, slots=True)
class Fold:
    """What to fold; ``paired`` asks for every pair of places (see ``pairs``), else values are random.

    Without an ``operation`` the body yields its first argument.
    """

    shape: Shape
    dim: int
    format: str = "f32"
    operation: str | None = "addf"
    paired: bool = False
    scan: bool = False
    reverse: bool = False

    @property
    def name(self) -> str:
        """The probe's name."""
        family, values = "scan" if self.scan else "reduce", "pairs" if self.paired else "random"
        place = f"{dims(self.shape)}_d{self.dim}{'r' if self.reverse else ''}"
        return f"{family}/{self.operation or 'first'}_{self.format}_{place}_{values}"


def reduce() -> Iterator[Probe]:
    """Reductions of rank 1 to 3."""
    for n in POWERS:
        yield _fold(Fold((n,), 0))
        yield _fold(Fold((1, n), 1))
    for rows, columns, dim in product(SIDES, SIDES, (0, 1)):
        flat = (rows, columns)
        if rows * columns <= LARGEST_TILE:
            yield _fold(Fold(flat, dim))
            if flat[dim] <= LONGEST_PAIRED and flat[1 - dim] in PAIRED_OTHERS:
                yield _fold(Fold(flat, dim, paired=True))
    every: tuple[Shape, ...] = (*SOLID, *LARGE)
    for shape in every:
        yield from (_fold(Fold(shape, dim)) for dim in range(len(shape)))
    for solid, dim in product(SOLID, range(3)):
        if solid[dim] > 1:
            yield _fold(Fold(solid, dim, paired=True))
    for n in (128, 256, 512, 1024):
        yield _fold(Fold((n,), 0, paired=True))
    for element, (shape, dim) in product(("f64", "f16", "bf16"), FORMATS):
        yield _fold(Fold(shape, dim, element))
    for shape, dim in FORMATS[:3]:
        yield _fold(Fold(shape, dim, operation="mulf"))


def scan() -> Iterator[Probe]:
    """Scans of rank 1 to 3, forward and reversed, and one that yields its first argument."""
    for n, reverse in product(POWERS[:11], (False, True)):
        yield _fold(Fold((n,), 0, scan=True, reverse=reverse))
    for flat, dim, reverse in product(SCANNED, (0, 1), (False, True)):
        yield _fold(Fold(flat, dim, scan=True, reverse=reverse))
    for solid, dim in product(SCANNED_SOLID, range(3)):
        yield _fold(Fold(solid, dim, scan=True))
    for (tile_shape, dim), element in product(SCANNED_FORMATS, ("f64", "f16", "bf16")):
        yield _fold(Fold(tile_shape, dim, element, scan=True))
    yield _fold(Fold((2, 256), 1, operation=None, scan=True, reverse=True))


def reduce_warps() -> Iterator[Probe]:
    """Reductions in kernels that are hinted to have so many warps."""
    for warps, (shape, dim) in product(WARPS, WARPED):
        hints = f"optimization_hints=<sm_90 = {{num_worker_warps_per_cta = {warps} : i32}}> "
        yield _fold(Fold(shape, dim), f"reduce_warps/{warps}_{dims(shape)}_d{dim}", hints)


def _fold(what: Fold, name: str | None = None, hints: str = "") -> Probe:
    shape, dim, element = what.shape, what.dim, what.format
    left = shape if what.scan else shape[:dim] + shape[dim + 1 :]
    tiles = len(pairs(shape[dim])) if what.paired else TILES
    a = View("a", element, (tiles, *shape), (1, *shape))
    c = View("c", element, (tiles, *left), (1, *left))
    lines = [
        *a.made(),
        *c.made(),
        a.load(["%bx", *(["%z"] * len(shape))], "x"),
        f"%x1 = reshape %x : {a.loaded} -> {tile(shape, element)}",
        *fold(
            *("r", "x1", shape, element, dim),
            operation=what.operation,
            identity=IDENTITIES[what.operation or "addf"],
            scan=what.scan,
            reverse=what.reverse,
        ),
        f"%r1 = reshape %r : {tile(left, element)} -> {c.loaded}",
        c.store(["%bx", *(["%z"] * len(left))], "r1"),
    ]
    contents = Pairs(dim) if what.paired else Floats("wide", shape_seed(shape) + dim)
    text = kernel([("a", element), ("c", element)], lines, hints)
    buffers = [given("a", element, a.shape, contents), answer("c", element, c.shape)]
    return probe(name or what.name, text, tiles, buffers)


def shape_seed(shape: Shape) -> int:
    """The seed of random values for folds of ``shape``: CPython's hash of the tuple, modulo 1000.

    The recorded probes took it from ``hash``; this is the same (xxHash's round and the length, in 64 bits),
    spelled out so that no interpreter may change it.
    """
    prime_1, prime_2, prime_5 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x27D4EB2F165667C5
    mask = (1 << 64) - 1
    state = prime_5
    for extent in shape:
        state = (state + extent * prime_2) & mask
        state = (state << 31 | state >> 33) & mask
        state = state * prime_1 & mask
    state = (state + (len(shape) ^ prime_5 ^ 3527539)) & mask
    # A hash is a signed number.
    return (state - (state >> 63 << 64)) % 1000
