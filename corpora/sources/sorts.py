"""Sorting, merging, choosing and compacting."""

from __future__ import annotations

from collections.abc import Iterator

import cuda.tile as ct

from ..build.draft import Array, Draft, Number, integers, moderate, output, seed


@ct.kernel
def bitonic(x, y, N: ct.Constant[int], L: ct.Constant[int]):
    """A row a block, ascending: partners are a power of two apart, brought together by reshaping."""
    i = ct.bid(0)
    row = ct.load(x, index=(i, 0), shape=(1, N))
    place = ct.reshape(ct.arange(N, dtype=ct.int32), (1, N))
    for stage in ct.static_iter(range(1, L + 1)):
        up = ((place >> stage) & 1) == 0
        for step in ct.static_iter(range(L)):
            if step < stage:
                stride = 1 << (stage - 1 - step)
                pairs = ct.reshape(row, (N // (2 * stride), 2, stride))
                rising = ct.extract(
                    ct.reshape(up, (N // (2 * stride), 2, stride)), (0, 0, 0), (N // (2 * stride), 1, stride)
                )
                a = ct.extract(pairs, (0, 0, 0), (N // (2 * stride), 1, stride))
                b = ct.extract(pairs, (0, 1, 0), (N // (2 * stride), 1, stride))
                low, high = ct.minimum(a, b), ct.maximum(a, b)
                first, second = ct.where(rising, low, high), ct.where(rising, high, low)
                row = ct.reshape(ct.cat((first, second), 1), (1, N))
    ct.store(y, index=(i, 0), tile=row)


@ct.kernel
def odd_even_pairs(keys, values, out_keys, out_values, N: ct.Constant[int]):
    """Keys with values, by transposition of neighbours through memory until a pass changes nothing."""
    i = ct.bid(0)
    lane = ct.arange(N, dtype=ct.int32)
    ct.scatter(out_keys, (i, lane), ct.gather(keys, (i, lane)))
    ct.scatter(out_values, (i, lane), ct.gather(values, (i, lane)))
    half = ct.arange(N // 2, dtype=ct.int32) * 2
    quiet = 0
    odd = 0
    while quiet < 2:
        a, b = half + odd, half + odd + 1
        inside = b < N
        ka, kb = ct.gather(out_keys, (i, a), mask=inside), ct.gather(out_keys, (i, b), mask=inside)
        va, vb = ct.gather(out_values, (i, a), mask=inside), ct.gather(out_values, (i, b), mask=inside)
        swap = (ka > kb) & inside
        ct.scatter(out_keys, (i, a), kb, mask=swap)
        ct.scatter(out_keys, (i, b), ka, mask=swap)
        ct.scatter(out_values, (i, a), vb, mask=swap)
        ct.scatter(out_values, (i, b), va, mask=swap)
        swaps = ct.sum(ct.astype(swap, ct.int32)).item()
        if swaps == 0:
            quiet = quiet + 1
        else:
            quiet = 0
        odd = 1 - odd


@ct.kernel
def merge(a, b, y, T: ct.Constant[int], L: ct.Constant[int]):
    """Two sorted arrays: an element's place is its own plus how many of the other go before it.

    These are found by binary search; of equals the first array's go first.
    """
    i = ct.bid(0)
    lane = ct.arange(T, dtype=ct.int32) + i * T
    mine, other = ct.gather(a, lane), ct.gather(b, lane)
    low_a, high_a = ct.zeros((T,), dtype=ct.int32), ct.full((T,), b.shape[0], dtype=ct.int32)
    low_b, high_b = ct.zeros((T,), dtype=ct.int32), ct.full((T,), a.shape[0], dtype=ct.int32)
    for _ in range(L):
        middle = (low_a + high_a) >> 1
        before = (ct.gather(b, middle) < mine) & (low_a < high_a)
        low_a, high_a = (
            ct.where(before, middle + 1, low_a),
            ct.where(before, high_a, ct.minimum(middle, high_a)),
        )
        middle = (low_b + high_b) >> 1
        before = (ct.gather(a, middle) <= other) & (low_b < high_b)
        low_b, high_b = (
            ct.where(before, middle + 1, low_b),
            ct.where(before, high_b, ct.minimum(middle, high_b)),
        )
    ct.scatter(y, lane + low_a, mine)
    ct.scatter(y, lane + low_b, other)


@ct.kernel
def radix(x, y, order, N: ct.Constant[int], B: ct.Constant[int]):
    """Unsigned keys of B bits, a bit a pass: zeros go to the front in order, ones after them (stable)."""
    i = ct.bid(0)
    lane = ct.arange(N, dtype=ct.int32)
    ct.scatter(y, (i, lane), ct.gather(x, (i, lane)))
    ct.scatter(order, (i, lane), lane)
    for bit in range(B):
        key, rank = ct.gather(y, (i, lane)), ct.gather(order, (i, lane))
        one = (key >> bit) & 1
        zeros_to_here = ct.cumsum(1 - one, axis=0)
        zeros = ct.sum(1 - one)
        place = ct.where(one == 0, zeros_to_here - 1, zeros + lane - zeros_to_here)
        ct.scatter(y, (i, place), key)
        ct.scatter(order, (i, place), rank)


@ct.kernel
def top_k(x, values, places, K: ct.Constant[int], T: ct.Constant[int]):
    """The largest is taken out K times; the lowest place wins among equals."""
    i = ct.bid(0)
    row = ct.astype(ct.load(x, index=(i, 0), shape=(1, T)), ct.float32)
    place = ct.reshape(ct.arange(T, dtype=ct.int32), (1, T))
    for k in range(K):
        best = ct.argmax(row, axis=1, keepdims=True)
        value = ct.max(row, axis=1, keepdims=True)
        ct.store(values, index=(i, k), tile=ct.astype(value, values.dtype))
        ct.store(places, index=(i, k), tile=best)
        row = ct.where(place == best, -1.0e30, row)


@ct.kernel
def ranks(x, y, order, T: ct.Constant[int]):
    """A place by counting: all pairs are compared, equals by where they stand."""
    i = ct.bid(0)
    row = ct.reshape(ct.load(x, index=(i, 0), shape=(1, T)), (T, 1))
    column = ct.reshape(row, (1, T))
    a = ct.reshape(ct.arange(T, dtype=ct.int32), (T, 1))
    b = ct.reshape(ct.arange(T, dtype=ct.int32), (1, T))
    before = (column < row) | ((column == row) & (b < a))
    rank = ct.sum(ct.astype(before, ct.int32), axis=1)
    ct.scatter(y, (i, rank), ct.reshape(row, (T,)))
    ct.scatter(order, (i, rank), ct.arange(T, dtype=ct.int32))


@ct.kernel
def compact(x, y, count, limit, T: ct.Constant[int]):
    """Those above a limit, in order and without gaps, by one block that walks over the tiles."""
    kept = 0
    for k in range(ct.num_tiles(x, axis=0, shape=(T,))):
        tile = ct.load(x, index=(k,), shape=(T,))
        keep = ct.astype(tile > limit, ct.int32)
        place = ct.cumsum(keep, axis=0) - keep + kept
        ct.scatter(y, place, tile, mask=keep == 1)
        kept = kept + ct.sum(keep).item()
    ct.store(count, index=(0,), tile=ct.full((1,), kept, dtype=ct.int32))


@ct.kernel
def median(x, y, T: ct.Constant[int]):
    """The lower median of each row by halving the interval of patterns, with no sorting."""
    i = ct.bid(0)
    row = ct.load(x, index=(i, 0), shape=(1, T))
    low, high = ct.min(row).item(), ct.max(row).item()
    while low < high:
        middle = low + (high - low) // 2
        below = ct.sum(ct.astype(row <= middle, ct.int32)).item()
        if below >= T // 2:
            high = middle
        else:
            low = middle + 1
    ct.store(y, index=(i,), tile=ct.full((1,), low, dtype=ct.int32))


@ct.kernel
def nucleus(p, y, share, T: ct.Constant[int]):
    """The most likely that reach a share together, scaled to sum to one."""
    i = ct.bid(0)
    row = ct.load(p, index=(i, 0), shape=(1, T))
    row = row / ct.sum(row, axis=1, keepdims=True)
    column = ct.reshape(row, (T, 1))
    before = ct.sum(ct.where(column > row, column, 0.0), axis=0, keepdims=True)
    kept = ct.where(before < share, row, 0.0)
    ct.store(y, index=(i, 0), tile=kept / ct.sum(kept, axis=1, keepdims=True))


def drafts() -> Iterator[Draft]:
    """Each kernel once; the network in two formats."""
    for fmt in ("f32", "i32"):
        name = f"sort/bitonic_{fmt}"
        source = integers(fmt, name, (4, 64), -500, 500) if fmt == "i32" else moderate(fmt, name, (4, 64))
        yield Draft(name, bitonic, (4,), [source, output(fmt, (4, 64)), 64, 6])
    name = "sort/odd_even_pairs_f16"
    values = Array("i32", (2, 32), {"kind": "permutation", "seed": seed(name)})
    parts = [moderate("f16", name, (2, 32)), values, output("f16", (2, 32)), output("i32", (2, 32))]
    yield Draft(name, odd_even_pairs, (2,), [*parts, 32])
    name = "sort/merge_i32"
    parts = [Array("i32", (128,), {"kind": "iota"}), _slow(128)]
    yield Draft(name, merge, (2,), [*parts, output("i32", (256,)), 64, 8])
    name = "sort/radix_i32"
    parts = [integers("i32", name, (2, 128), 0, 1024), output("i32", (2, 128)), output("i32", (2, 128))]
    yield Draft(name, radix, (2,), [*parts, 128, 10])
    name = "sort/top_k_bf16"
    parts = [moderate("bf16", name, (8, 128)), output("bf16", (8, 6)), output("i32", (8, 6))]
    yield Draft(name, top_k, (8,), [*parts, 6, 128])
    name = "sort/ranks_f64"
    parts = [integers("f64", name, (2, 64), -20, 20), output("f64", (2, 64)), output("i32", (2, 64))]
    yield Draft(name, ranks, (2,), [*parts, 64])
    name = "sort/compact_f32"
    yield Draft(
        name,
        compact,
        (1,),
        [moderate("f32", name, (512,)), output("f32", (512,)), output("i32", (1,)), Number("f32", 0.5), 64],
    )
    name = "sort/median_i32"
    yield Draft(name, median, (4,), [integers("i32", name, (4, 128), -9999, 9999), output("i32", (4,)), 128])
    name = "sort/nucleus_f32"
    parts = [moderate("f32", name, (4, 64), low=-9, high=-3, positive=True), output("f32", (4, 64))]
    yield Draft(name, nucleus, (4,), [*parts, Number("f32", 0.9), 64])


def _slow(count: int) -> Array:
    """Ascending integers with equals among them."""
    bits = [f"{k * k // 90:x}" for k in range(count)]
    return Array("i32", (count,), {"kind": "explicit", "bits": bits})
