"""Kernels that go where numbers in memory tell them: embeddings, sparse matrices, histograms, segments."""

from __future__ import annotations

from collections.abc import Iterator

import cuda.tile as ct

from ..build.draft import Array, Draft, Number, integers, moderate, output, seed

ZEROS = {"kind": "fill", "bits": "0"}


@ct.kernel
def embedding(table, tokens, positions, y, R: ct.Constant[int], D: ct.Constant[int]):
    """Rows by token, and a row by place added; tokens outside of the table are padding and give zeros."""
    i = ct.bid(0)
    token = ct.reshape(ct.load(tokens, index=(i,), shape=(R,)), (R, 1))
    column = ct.reshape(ct.arange(D, dtype=ct.int32), (1, D))
    rows = ct.astype(ct.gather(table, (token, column)), ct.float32)
    place = ct.astype(ct.load(positions, index=(i, 0), shape=(R, D)), ct.float32)
    ct.store(y, index=(i, 0), tile=ct.astype(ct.where(token < 0, 0.0, rows + place), y.dtype))


@ct.kernel
def embedding_backward(dy, tokens, dtable, R: ct.Constant[int], D: ct.Constant[int]):
    """Rows of the gradient are added where their tokens point; whole numbers, so that no order shows."""
    i = ct.bid(0)
    token = ct.reshape(ct.load(tokens, index=(i,), shape=(R,)), (R, 1))
    column = ct.reshape(ct.arange(D, dtype=ct.int32), (1, D))
    ct.atomic_add(dtable, (token, column), ct.load(dy, index=(i, 0), shape=(R, D)))


@ct.kernel
def sparse_rows(starts, columns, values, x, y, T: ct.Constant[int]):
    """A sparse matrix times a vector, a row a block, in compressed rows of any length (CSR)."""
    i = ct.bid(0)
    first = ct.load(starts, index=(i,), shape=()).item()
    end = ct.load(starts, index=(i + 1,), shape=()).item()
    acc = ct.zeros((T,), dtype=ct.float32)
    while first < end:
        place = ct.arange(T, dtype=ct.int32) + first
        column = ct.gather(columns, place, mask=place < end)
        acc = acc + ct.gather(values, place, mask=place < end) * ct.gather(x, column)
        first = first + T
    ct.store(y, index=(i,), tile=ct.reshape(ct.sum(acc, axis=0), (1,)))


@ct.kernel
def private_histogram(x, counts, bins, T: ct.Constant[int], B: ct.Constant[int]):
    """Floats into B bins: a block counts by comparing with all bins, then adds its counts to everybody's."""
    i = ct.bid(0)
    value = ct.load(x, index=(i,), shape=(T,))
    scaled = (ct.minimum(ct.maximum(value, -4.0), 4.0) + 4.0) * bins
    bin_ = ct.minimum(ct.astype(scaled, ct.int32), B - 1)
    number = ct.reshape(ct.arange(B, dtype=ct.int32), (1, B))
    own = ct.sum(ct.astype(ct.reshape(bin_, (T, 1)) == number, ct.int32), axis=0)
    ct.atomic_add(counts, ct.arange(B, dtype=ct.int32), own, memory_order=ct.MemoryOrder.RELAXED)


@ct.kernel
def segment_extremes(x, segments, sums, largest, smallest, T: ct.Constant[int]):
    """Sums and extremes by group, in any order of elements."""
    i = ct.bid(0)
    value = ct.load(x, index=(i,), shape=(T,))
    group = ct.load(segments, index=(i,), shape=(T,))
    ct.atomic_add(sums, group, value)
    ct.atomic_max(largest, group, value)
    ct.atomic_min(smallest, group, value)


@ct.kernel
def rows_by_list(x, rows, y, first, R: ct.Constant[int], C: ct.Constant[int]):
    """Rows that a list names, a window of their columns: read so, and written back to other rows so."""
    i = ct.bid(0)
    wanted = ct.load(rows, index=(i,), shape=(R,))
    tile = ct.load_advanced_indexing(x, (wanted, ct.Slice(first, C)), padding_mode=ct.PaddingMode.ZERO)
    target = ct.arange(R, dtype=ct.int32) * 2 + i * R * 2
    ct.store_advanced_indexing(y, (target, ct.Slice(0, C)), tile + tile)


@ct.kernel
def expert_choice(logits, experts, weights, loads, T: ct.Constant[int], E: ct.Constant[int]):
    """The two best of E experts for each token, their softmax over the two, and how many tokens each has."""
    i = ct.bid(0)
    row = ct.load(logits, index=(i, 0), shape=(T, E))
    number = ct.reshape(ct.arange(E, dtype=ct.int32), (1, E))
    best = ct.argmax(row, axis=1, keepdims=True)
    top = ct.max(row, axis=1, keepdims=True)
    rest = ct.where(number == best, -1.0e30, row)
    second = ct.argmax(rest, axis=1, keepdims=True)
    share = 1.0 / (1.0 + ct.exp(ct.max(rest, axis=1, keepdims=True) - top))
    ct.store(experts, index=(i, 0), tile=best)
    ct.store(experts, index=(i, 1), tile=second)
    ct.store(weights, index=(i, 0), tile=share)
    ct.store(weights, index=(i, 1), tile=1.0 - share)
    ct.atomic_add(loads, best, 1)
    ct.atomic_add(loads, second, 1)


@ct.kernel
def hash_set(keys, table, found, T: ct.Constant[int], B: ct.Constant[int]):
    """Distinct keys into a table of 2**B places by compare and swap, one key at a time, then asked for again.

    Where a key lands depends on who came first, but one block is alone here, and each key has its turn.
    """
    for k in range(keys.shape[0]):
        key = ct.load(keys, index=(k,), shape=()).item()
        slot = ((key * 0x1E35A7BD) >> (32 - B)) & ((1 << B) - 1)
        old = ct.atomic_cas(table, slot, -1, key).item()
        while (old != -1) & (old != key):
            slot = (slot + 1) & ((1 << B) - 1)
            old = ct.atomic_cas(table, slot, -1, key).item()
        ct.store(found, index=(k,), tile=ct.full((1,), slot, dtype=ct.int32))


@ct.kernel
def trilinear(volume, points, y, T: ct.Constant[int]):
    """Samples of a volume between its grid points, zero outside."""
    i = ct.bid(0)
    x0 = ct.reshape(ct.load(points, index=(0, i), shape=(1, T)), (T,))
    x1 = ct.reshape(ct.load(points, index=(1, i), shape=(1, T)), (T,))
    x2 = ct.reshape(ct.load(points, index=(2, i), shape=(1, T)), (T,))
    f0, f1, f2 = ct.floor(x0), ct.floor(x1), ct.floor(x2)
    i0, i1, i2 = ct.astype(f0, ct.int32), ct.astype(f1, ct.int32), ct.astype(f2, ct.int32)
    r0, r1, r2 = x0 - f0, x1 - f1, x2 - f2
    acc = ct.zeros((T,), dtype=ct.float32)
    for corner in range(8):
        a, b, c = corner & 1, (corner >> 1) & 1, (corner >> 2) & 1
        weight = ct.where(a == 1, r0, 1.0 - r0) * ct.where(b == 1, r1, 1.0 - r1)
        weight = weight * ct.where(c == 1, r2, 1.0 - r2)
        acc = acc + weight * ct.gather(volume, (i0 + a, i1 + b, i2 + c))
    ct.store(y, index=(i,), tile=acc)


@ct.kernel
def transpose_swizzled(x, y, T: ct.Constant[int]):
    """A transpose whose tiles are visited along diagonals."""
    i, j = ct.bid(0), ct.bid(1)
    column = (i + j) % ct.num_blocks(1)
    ct.store(y, index=(column, i), tile=ct.transpose(ct.load(x, index=(i, column), shape=(T, T))))


def drafts() -> Iterator[Draft]:
    """Each kernel once."""
    name = "index/embedding_bf16"
    parts = [moderate("bf16", name, (40, 32), high=0), integers("i32", name + "t", (32,), -4, 40)]
    parts += [moderate("bf16", name + "p", (32, 32), high=-2), output("bf16", (32, 32))]
    yield Draft(name, embedding, (2,), [*parts, 16, 32])
    name = "index/embedding_backward_f32"
    parts = [integers("f32", name, (64, 32), -100, 101), integers("i32", name + "t", (64,), 0, 12)]
    yield Draft(name, embedding_backward, (4,), [*parts, Array("f32", (12, 32), ZEROS, output=True), 16, 32])
    name = "index/sparse_rows_f32"
    bounds = [0, 5, 5, 40, 41, 60, 77, 100, 120]
    starts = Array("i32", (9,), {"kind": "explicit", "bits": [f"{n:x}" for n in bounds]})
    parts = [starts, integers("i32", name + "c", (120,), 0, 64), moderate("f32", name + "v", (120,))]
    yield Draft(name, sparse_rows, (8,), [*parts, moderate("f32", name, (64,)), output("f32", (8,)), 16])
    name = "index/private_histogram_i32"
    counts = Array("i32", (32,), ZEROS, output=True)
    yield Draft(
        name,
        private_histogram,
        (4,),
        [moderate("f32", name, (512,), high=1), counts, Number("f32", 4.0), 128, 32],
    )
    name = "index/segment_extremes_i64"
    parts = [integers("i64", name, (256,), -(10**12), 10**12), integers("i32", name + "s", (256,), 0, 10)]
    parts += [Array("i64", (10,), ZEROS, output=True) for _ in range(3)]
    yield Draft(name, segment_extremes, (4,), [*parts, 64])
    name = "index/rows_by_list_f32"
    rows = Array("i32", (16,), {"kind": "permutation", "seed": seed(name)})
    zeroed = Array("f32", (32, 32), ZEROS, output=True)
    yield Draft(
        name, rows_by_list, (2,), [moderate("f32", name, (16, 64)), rows, zeroed, Number("i32", 16), 8, 32]
    )
    name = "index/expert_choice_f32"
    parts = [moderate("f32", name, (64, 8)), output("i32", (64, 2)), output("f32", (64, 2))]
    yield Draft(name, expert_choice, (4,), [*parts, Array("i32", (8,), ZEROS, output=True), 16, 8])
    name = "index/hash_set_i32"
    empty = Array("i32", (64,), {"kind": "fill", "bits": "ffffffff"}, output=True)
    yield Draft(
        name, hash_set, (1,), [integers("i32", name, (48,), 0, 60), empty, output("i32", (48,)), 48, 6]
    )
    name = "index/trilinear_f32"
    points = moderate("f32", name + "p", (3, 128), low=-3, high=2)
    yield Draft(name, trilinear, (2,), [moderate("f32", name, (6, 7, 8)), points, output("f32", (128,)), 64])
    name = "index/transpose_swizzled_i16"
    parts = [integers("i16", name, (64, 64), -30000, 30000), output("i16", (64, 64))]
    yield Draft(name, transpose_swizzled, (4, 4), [*parts, 16])
