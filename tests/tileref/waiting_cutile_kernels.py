"""Kernels in cuda-tile's language whose blocks wait for each other."""

from __future__ import annotations

import cuda.tile as ct


@ct.kernel
def locked_sum(lock, total, x, TILE: ct.Constant[int]):
    """Adds every block's tile to one tile, under a lock."""
    mine = ct.load(x, index=(ct.bid(0),), shape=(TILE,))
    while ct.atomic_cas(lock, 0, 0, 1) == 1:
        pass
    ct.store(total, index=(0,), tile=ct.load(total, index=(0,), shape=(TILE,)) + mine)
    ct.atomic_xchg(lock, 0, 0)


@ct.kernel
def look_back(x, status, sums, prefixes, y, TILE: ct.Constant[int]):
    """Merrill and Garland's single-pass prefix sum: a tile a block."""
    i = ct.bid(0)
    inside = ct.cumsum(ct.load(x, index=(i,), shape=(TILE,)))
    total = ct.sum(ct.load(x, index=(i,), shape=(TILE,)))
    ct.scatter(sums, i, total)
    ct.atomic_xchg(status, i, 1)
    before = 0
    j = i - 1
    while j >= 0:
        state = ct.atomic_add(status, j, 0)
        if state == 1:
            before = before + ct.gather(sums, j).item()
            j = j - 1
        if state == 2:
            before = before + ct.gather(prefixes, j).item()
            j = -1
    ct.scatter(prefixes, i, before + total)
    ct.atomic_xchg(status, i, 2)
    ct.store(y, index=(i,), tile=inside + before)


@ct.kernel
def stream_k(
    a,
    b,
    c,
    parts,
    ready,
    each: int,
    M: ct.Constant[int],
    N: ct.Constant[int],
    K: ct.Constant[int],
):
    """A product whose steps are dealt out evenly: a block has ``each`` steps, of one tile or several.

    Whoever does a tile's first step stores it, after it has waited for the parts of the others, which have
    higher numbers.
    """
    block = ct.bid(0)
    steps = ct.cdiv(a.shape[1], K)
    across = ct.cdiv(b.shape[1], N)
    tiles = ct.cdiv(a.shape[0], M) * across
    at = block * each
    end = min(at + each, tiles * steps)
    while at < end:
        tile = at // steps
        row = tile // across
        column = tile % across
        first = at - tile * steps
        last = min(steps, first + end - at)
        accumulator = ct.zeros((M, N), dtype=ct.float32)
        for k in range(first, last):
            left = ct.load(a, index=(row, k), shape=(M, K))
            right = ct.load(b, index=(k, column), shape=(K, N))
            accumulator = ct.mma(left, right, accumulator)
        if first == 0:
            done = last
            other = block + 1
            while done < steps:
                while ct.atomic_add(ready, other, 0) == 0:
                    pass
                part = ct.load(parts, index=(other, 0, 0), shape=(1, M, N))
                accumulator = accumulator + ct.reshape(part, (M, N))
                done = done + each
                other = other + 1
            ct.store(c, index=(row, column), tile=accumulator)
        else:
            ct.store(parts, index=(block, 0, 0), tile=ct.reshape(accumulator, (1, M, N)))
            ct.atomic_xchg(ready, block, 1)
        at = at + last - first


@ct.kernel
def barrier(count, values, out):
    """Every block reads what the block opposite wrote before all had arrived."""
    i = ct.bid(0)
    n = ct.num_blocks(0)
    ct.scatter(values, i, i)
    ct.atomic_add(count, 0, 1)
    while ct.atomic_add(count, 0, 0) < n:
        pass
    ct.scatter(out, i, ct.gather(values, n - 1 - i))
