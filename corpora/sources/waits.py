"""Kernels whose blocks wait for each other: all blocks of the grid must be running at once.

A wait is a loop over an atomic that reads a flag. Grids are small enough for any GPU to hold them whole.
"""

from __future__ import annotations

from collections.abc import Iterator

import cuda.tile as ct

from ..build.draft import Array, Draft, Number, integers, moderate, output

ZEROS = {"kind": "fill", "bits": "0"}


@ct.kernel
def stream_k(x, w, partials, flags, out, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    """Blocks get equal shares of all tiles' steps along K, wherever these end.

    A block that ends within a tile leaves its sum and raises a flag; the block that has the tile's last step
    waits for the flags of those before it and adds their sums. Every block must be running at once.
    """
    b = ct.bid(0)
    depth = ct.num_tiles(x, axis=1, shape=(M, K))
    columns = ct.num_tiles(w, axis=1, shape=(K, N))
    steps = ct.num_tiles(x, axis=0, shape=(M, K)) * columns * depth
    share = ct.cdiv(steps, ct.num_blocks(0))
    step = b * share
    end = min(step + share, steps)
    while step < end:
        tile = step // depth
        first = tile * depth
        stop = min(end, first + depth)
        i, j = tile // columns, tile % columns
        acc = ct.zeros((M, N), dtype=ct.float32)
        for k in range(step - first, stop - first):
            acc = ct.mma(ct.load(x, index=(i, k), shape=(M, K)), ct.load(w, index=(k, j), shape=(K, N)), acc)
        if stop < first + depth:
            ct.store(partials, index=(b, 0, 0), tile=ct.reshape(acc, (1, M, N)))
            ct.atomic_xchg(flags, b, 1)
        else:
            for other in range(first // share, b):
                while ct.atomic_add(flags, other, 0) == 0:
                    pass
                acc = acc + ct.reshape(ct.load(partials, index=(other, 0, 0), shape=(1, M, N)), (M, N))
            ct.store(out, index=(i, j), tile=ct.astype(acc, out.dtype))
        step = stop


@ct.kernel
def look_back(x, totals, prefixes, flags, y, T: ct.Constant[int]):
    """A scan in one pass: a block looks back over its predecessors until one has its whole prefix.

    A flag is 1 when the block's own total is there, and 2 when the sum of everything up to it is.
    """
    b = ct.bid(0)
    tile = ct.load(x, index=(b,), shape=(T,))
    own = ct.reshape(ct.sum(tile, axis=0), (1,))
    ct.store(totals, index=(b,), tile=own)
    ct.atomic_xchg(flags, b, 1)
    before = ct.zeros((1,), dtype=ct.int32)
    other = b - 1
    while other >= 0:
        state = ct.atomic_add(flags, other, 0)
        while state == 0:
            state = ct.atomic_add(flags, other, 0)
        if state == 2:
            before = before + ct.load(prefixes, index=(other,), shape=(1,))
            other = -1
        else:
            before = before + ct.load(totals, index=(other,), shape=(1,))
            other = other - 1
    ct.store(prefixes, index=(b,), tile=before + own)
    ct.atomic_xchg(flags, b, 2)
    ct.store(y, index=(b,), tile=ct.cumsum(tile, axis=0) + before)


@ct.kernel
def grid_barrier(x, y, arrived, steps, T: ct.Constant[int]):
    """Averages of neighbours, step by step; between steps all blocks wait until all have arrived."""
    b = ct.bid(0)
    lane = ct.arange(T, dtype=ct.int32) + b * T
    count = x.shape[1]
    for step in range(steps):
        a, z = step % 2, (step + 1) % 2
        left = ct.gather(x, (a, ct.where(lane == 0, count - 1, lane - 1)))
        right = ct.gather(x, (a, ct.where(lane == count - 1, 0, lane + 1)))
        here = ct.gather(x, (a, lane))
        ct.scatter(x, (z, lane), 0.25 * left + 0.5 * here + 0.25 * right)
        ct.atomic_add(arrived, 0, 1)
        while ct.atomic_add(arrived, 0, 0) < (step + 1) * ct.num_blocks(0):
            pass
    ct.store(y, index=(b,), tile=ct.gather(x, (steps % 2, lane)))


@ct.kernel
def locked_sum(x, lock, total, T: ct.Constant[int]):
    """A lock around a read and a write that are not atomic; the sum is of integers, so no order shows."""
    b = ct.bid(0)
    part = ct.reshape(ct.sum(ct.load(x, index=(b,), shape=(T,)), axis=0), (1,))
    while ct.atomic_cas(lock, 0, 0, 1) != 0:
        pass
    ct.store(total, index=(0,), tile=ct.load(total, index=(0,), shape=(1,)) + part)
    ct.atomic_xchg(lock, 0, 0)


def drafts() -> Iterator[Draft]:
    """Each kernel once."""
    name = "wait/stream_k_f16"
    parts = [moderate("f16", name + "x", (48, 80), high=0), moderate("f16", name + "w", (80, 32), high=0)]
    parts += [output("f32", (4, 16, 16)), Array("i32", (4,), ZEROS, output=True), output("f16", (48, 32))]
    yield Draft(name, stream_k, (4,), [*parts, 16, 16, 16])
    name = "wait/look_back_i32"
    parts = [integers("i32", name, (512,), -1000, 1000), output("i32", (8,)), output("i32", (8,))]
    parts += [Array("i32", (8,), ZEROS, output=True), output("i32", (512,))]
    yield Draft(name, look_back, (8,), [*parts, 64])
    name = "wait/grid_barrier_f32"
    source = moderate("f32", name, (2, 256))
    source = Array("f32", (2, 256), source.recipe, output=True)
    parts = [source, output("f32", (256,)), Array("i32", (1,), ZEROS, output=True), Number("i32", 5)]
    yield Draft(name, grid_barrier, (4,), [*parts, 64])
    name = "wait/locked_sum_i32"
    parts = [integers("i32", name, (256,), -1000, 1000), Array("i32", (1,), ZEROS, output=True)]
    yield Draft(name, locked_sum, (8,), [*parts, Array("i32", (1,), ZEROS, output=True), 32])
