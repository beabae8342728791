"""Loops, branches, early exits and atomics."""

from __future__ import annotations

from collections.abc import Iterator

import cuda.tile as ct

from ..build.draft import Array, Draft, Number, integers, moderate, output, seed


@ct.kernel
def dot(x, y, out, T: ct.Constant[int]):
    """A loop that carries a tile."""
    acc = ct.zeros((T,), dtype=ct.float32)
    for k in range(ct.num_tiles(x, axis=0, shape=(T,))):
        acc = acc + ct.load(x, index=(k,), shape=(T,)) * ct.load(y, index=(k,), shape=(T,))
    ct.store(out, index=(0,), tile=acc)


@ct.kernel
def steps(x, y, first, last, step, T: ct.Constant[int]):
    """A loop whose bounds and step are arguments."""
    total = ct.zeros((T,), dtype=ct.float32)
    for k in range(first, last, step):
        total = total + ct.load(x, index=(k,), shape=(T,))
    ct.store(y, index=(0,), tile=total)


@ct.kernel
def collatz(x, y):
    """A loop each block leaves when its own number is one."""
    i = ct.bid(0)
    n = ct.load(x, index=(i,), shape=()).item()
    count = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        count = count + 1
    ct.store(y, index=(i,), tile=ct.full((1,), count, dtype=ct.int32))


@ct.kernel
def first_above(x, limit, y, T: ct.Constant[int]):
    """Break with a value: the first tile whose largest element is above a limit."""
    found = -1
    for k in range(ct.num_tiles(x, axis=0, shape=(T,))):
        if ct.max(ct.load(x, index=(k,), shape=(T,))) > limit:
            found = k
            break
    ct.store(y, index=(0,), tile=ct.full((1,), found, dtype=ct.int32))


@ct.kernel
def skip_odd(x, y, T: ct.Constant[int]):
    """Continue: odd tiles are passed over."""
    acc = ct.zeros((T,), dtype=ct.int32)
    for k in range(ct.num_tiles(x, axis=0, shape=(T,))):
        if k % 2 == 1:
            continue
        acc = acc + ct.load(x, index=(k,), shape=(T,))
    ct.store(y, index=(0,), tile=acc)


@ct.kernel
def branches(x, y, T: ct.Constant[int]):
    """Blocks that take different ways."""
    i = ct.bid(0)
    tile = ct.load(x, index=(i,), shape=(T,))
    if i % 3 == 0:
        tile = tile * 2.0
    elif i % 3 == 1:
        tile = tile + 1.0
    else:
        tile = -tile
    ct.store(y, index=(i,), tile=tile)


@ct.kernel
def persistent(x, y, R: ct.Constant[int], C: ct.Constant[int]):
    """Two nested loops in each of a few blocks that share the rows."""
    row = ct.bid(0)
    while row < ct.num_tiles(x, axis=0, shape=(R, C)):
        column = 0
        while column < ct.num_tiles(x, axis=1, shape=(R, C)):
            ct.store(y, index=(row, column), tile=ct.load(x, index=(row, column), shape=(R, C)) + 1.0)
            column = column + 1
        row = row + ct.num_blocks(0)


@ct.kernel
def newton(x, y, T: ct.Constant[int]):
    """A fixed number of steps towards a square root."""
    a = ct.load(x, index=(0,), shape=(T,))
    r = ct.full((T,), 1.0, dtype=ct.float32)
    for _ in range(6):
        r = 0.5 * (r + a / r)
    ct.store(y, index=(0,), tile=r)


@ct.kernel
def early_return(x, y, limit, T: ct.Constant[int]):
    """Blocks past a limit write nothing."""
    i = ct.bid(0)
    if i >= limit:
        return
    ct.store(y, index=(i,), tile=ct.load(x, index=(i,), shape=(T,)))


@ct.kernel
def histogram(x, counts, T: ct.Constant[int]):
    """Integer atomics, whose order does not matter."""
    i = ct.bid(0)
    ct.atomic_add(counts, ct.load(x, index=(i,), shape=(T,)), 1)


@ct.kernel
def atomic_extremes(x, largest, smallest, T: ct.Constant[int]):
    tile = ct.load(x, index=(ct.bid(0),), shape=(T,))
    where = ct.zeros((T,), dtype=ct.int32)
    ct.atomic_max(largest, where, tile)
    ct.atomic_min(smallest, where, tile)


def drafts() -> Iterator[Draft]:
    """Each kernel once."""
    name = "loop/dot_f32"
    parts = [moderate("f32", name + "x", (512,)), moderate("f32", name + "y", (512,)), output("f32", (64,))]
    yield Draft(name, dot, (1,), [*parts, 64])
    name = "loop/steps_f32"
    bounds = [Number("i32", 1), Number("i32", 14), Number("i32", 3)]
    yield Draft(name, steps, (1,), [moderate("f32", name, (512,)), output("f32", (32,)), *bounds, 32])
    name = "loop/collatz_i32"
    yield Draft(name, collatz, (32,), [integers("i32", name, (32,), 1, 1000), output("i32", (32,))])
    name = "loop/first_above_f32"
    parts = [moderate("f32", name, (512,)), Number("f32", 15.5), output("i32", (1,))]
    yield Draft(name, first_above, (1,), [*parts, 32])
    name = "loop/skip_odd_i32"
    yield Draft(name, skip_odd, (1,), [integers("i32", name, (512,), -99, 100), output("i32", (32,)), 32])
    name = "branch/three_ways_f32"
    yield Draft(name, branches, (8,), [moderate("f32", name, (512,)), output("f32", (512,)), 64])
    name = "loop/persistent_f32"
    yield Draft(name, persistent, (2,), [moderate("f32", name, (32, 64)), output("f32", (32, 64)), 8, 16])
    name = "loop/newton_f32"
    source = moderate("f32", name, (256,), positive=True)
    yield Draft(name, newton, (1,), [source, output("f32", (256,)), 256])
    name = "branch/early_return_f32"
    parts = [moderate("f32", name, (512,)), output("f32", (512,)), Number("i32", 5)]
    yield Draft(name, early_return, (8,), [*parts, 64])
    zeros = {"kind": "fill", "bits": "0"}
    name = "atomic/histogram_i32"
    counts = Array("i32", (64,), zeros, output=True)
    yield Draft(name, histogram, (4,), [integers("i32", name, (512,), 0, 64), counts, 128])
    name = "atomic/extremes_i32"
    one = Array("i32", (1,), zeros, output=True)
    values = Array("i32", (512,), {"kind": "bits", "seed": seed(name)})
    yield Draft(name, atomic_extremes, (4,), [values, one, one, 128])
