"""Matrix products by how the work is shared: persistent blocks, split K, groups, packed weights."""

from __future__ import annotations

from collections.abc import Iterator

import cuda.tile as ct

from ..build.draft import Array, Draft, integers, moderate, output

ZEROS = {"kind": "fill", "bits": "0"}


@ct.kernel
def split_k(x, w, out, S: ct.Constant[int], M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    """S blocks share a tile's K and add to it; the products are integers, so that no order shows."""
    i, j, part = ct.bid(0), ct.bid(1), ct.bid(2)
    acc = ct.zeros((M, N), dtype=ct.float32)
    for k in range(part, ct.num_tiles(x, axis=1, shape=(M, K)), S):
        acc = ct.mma(ct.load(x, index=(i, k), shape=(M, K)), ct.load(w, index=(k, j), shape=(K, N)), acc)
    row = ct.reshape(ct.arange(M, dtype=ct.int32), (M, 1)) + i * M
    column = ct.reshape(ct.arange(N, dtype=ct.int32), (1, N)) + j * N
    ct.atomic_add(out, (row, column), acc)


@ct.kernel
def persistent(x, w, out, G: ct.Constant[int], M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    """A few blocks take tiles in turn, in groups of G rows of tiles so that columns are used again."""
    rows, columns = ct.num_tiles(x, axis=0, shape=(M, K)), ct.num_tiles(w, axis=1, shape=(K, N))
    for t in range(ct.bid(0), rows * columns, ct.num_blocks(0)):
        group = t // (G * columns)
        height = min(rows - group * G, G)
        i = group * G + (t % (G * columns)) % height
        j = (t % (G * columns)) // height
        acc = ct.zeros((M, N), dtype=ct.float32)
        for k in range(ct.num_tiles(x, axis=1, shape=(M, K))):
            acc = ct.mma(ct.load(x, index=(i, k), shape=(M, K)), ct.load(w, index=(k, j), shape=(K, N)), acc)
        ct.store(out, index=(i, j), tile=ct.astype(acc, out.dtype))


@ct.kernel
def last_reduces(
    x,
    w,
    partials,
    tickets,
    out,
    S: ct.Constant[int],
    M: ct.Constant[int],
    N: ct.Constant[int],
    K: ct.Constant[int],
):
    """Split K without float atomics: the block that comes last to a tile adds the parts, always in order."""
    i, part = ct.bid(0), ct.bid(1)
    acc = ct.zeros((M, N), dtype=ct.float32)
    for k in range(part, ct.num_tiles(x, axis=1, shape=(M, K)), S):
        acc = ct.mma(ct.load(x, index=(i, k), shape=(M, K)), ct.load(w, index=(k, 0), shape=(K, N)), acc)
    ct.store(partials, index=(i, part, 0, 0), tile=ct.reshape(acc, (1, 1, M, N)))
    ticket = ct.atomic_add(tickets, i, 1)
    if ticket == S - 1:
        total = ct.zeros((M, N), dtype=ct.float32)
        for p in range(S):
            tile = ct.load(partials, index=(i, p, 0, 0), shape=(1, 1, M, N))
            total = total + ct.reshape(tile, (M, N))
        ct.store(out, index=(i, 0), tile=ct.astype(total, out.dtype))


@ct.kernel
def grouped(x, w, offsets, out, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    """Rows sorted by expert, each expert with weights of its own and as many rows as it has."""
    e, j = ct.bid(0), ct.bid(1)
    first = ct.load(offsets, index=(e,), shape=()).item()
    end = ct.load(offsets, index=(e + 1,), shape=()).item()
    lane = ct.arange(M, dtype=ct.int32)
    depth = ct.reshape(ct.arange(K, dtype=ct.int32), (1, K))
    column = ct.reshape(ct.arange(N, dtype=ct.int32), (1, N)) + j * N
    while first < end:
        row = ct.reshape(lane, (M, 1)) + first
        acc = ct.zeros((M, N), dtype=ct.float32)
        for k in range(ct.num_tiles(w, axis=1, shape=(1, K, N))):
            a = ct.gather(x, (row, depth + k * K), mask=row < end)
            b = ct.reshape(ct.load(w, index=(e, k, j), shape=(1, K, N)), (K, N))
            acc = ct.mma(a, b, acc)
        ct.scatter(out, (row, column), ct.astype(acc, out.dtype), mask=row < end)
        first = first + M


@ct.kernel
def weights_i8(x, w, scales, out, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    """Weights of 8 bits become f16 on their way to the product; a scale a column at the end."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((M, N), dtype=ct.float32)
    for k in range(ct.num_tiles(x, axis=1, shape=(M, K))):
        b = ct.astype(ct.load(w, index=(k, j), shape=(K, N)), ct.float16)
        acc = ct.mma(ct.load(x, index=(i, k), shape=(M, K)), b, acc)
    scale = ct.reshape(ct.load(scales, index=(j,), shape=(N,)), (1, N))
    ct.store(out, index=(i, j), tile=ct.astype(acc * scale, out.dtype))


@ct.kernel
def weights_i4(x, w, scales, out, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    """Two weights of 4 bits a byte, the even row in the low half; a scale for each K rows of a column."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((M, N), dtype=ct.float32)
    for k in range(ct.num_tiles(x, axis=1, shape=(M, K))):
        packed = ct.astype(ct.load(w, index=(k, j), shape=(K // 2, N)), ct.int32)
        even = (packed & 15) - 8
        odd = ((packed >> 4) & 15) - 8
        both = ct.cat((ct.reshape(even, (K // 2, 1, N)), ct.reshape(odd, (K // 2, 1, N))), 1)
        scale = ct.load(scales, index=(k, j), shape=(1, N))
        b = ct.astype(ct.reshape(both, (K, N)), ct.bfloat16) * scale
        acc = ct.mma(ct.load(x, index=(i, k), shape=(M, K)), b, acc)
    ct.store(out, index=(i, j), tile=ct.astype(acc, out.dtype))


def drafts() -> Iterator[Draft]:
    """Each kernel once."""
    name = "product/split_k_f16"
    parts = [integers("f16", name + "x", (32, 128), -8, 9), integers("f16", name + "w", (128, 32), -8, 9)]
    out = Array("f32", (32, 32), ZEROS, output=True)
    yield Draft(name, split_k, (1, 2, 3), [*parts, out, 3, 32, 16, 16])
    name = "product/persistent_f16"
    parts = [moderate("f16", name + "x", (80, 32), high=0), moderate("f16", name + "w", (32, 64), high=0)]
    yield Draft(name, persistent, (3,), [*parts, output("f16", (80, 64)), 2, 16, 16, 16])
    name = "product/last_reduces_bf16"
    parts = [moderate("bf16", name + "x", (64, 128), high=0), moderate("bf16", name + "w", (128, 16), high=0)]
    parts += [output("f32", (2, 3, 32, 16)), Array("i32", (2,), ZEROS, output=True), output("bf16", (64, 16))]
    yield Draft(name, last_reduces, (2, 3), [*parts, 3, 32, 16, 16])
    name = "product/grouped_f16"
    parts = [moderate("f16", name + "x", (50, 32), high=0), moderate("f16", name + "w", (4, 32, 32), high=0)]
    parts += [Array("i32", (5,), {"kind": "explicit", "bits": ["0", "13", "13", "2d", "32"]})]
    yield Draft(name, grouped, (4, 2), [*parts, output("f16", (50, 32)), 16, 16, 16])
    name = "product/weights_i8_f16"
    parts = [moderate("f16", name + "x", (32, 64), high=0), integers("i8", name + "w", (64, 64), -127, 128)]
    parts += [moderate("f32", name + "s", (64,), low=-7, high=-5, positive=True), output("f16", (32, 64))]
    yield Draft(name, weights_i8, (1, 2), [*parts, 32, 32, 32])
    name = "product/weights_i4_bf16"
    parts = [moderate("bf16", name + "x", (32, 64), high=0), integers("i8", name + "w", (32, 32), -128, 128)]
    parts += [moderate("bf16", name + "s", (2, 32), low=-4, high=-2, positive=True), output("bf16", (32, 32))]
    yield Draft(name, weights_i4, (2, 2), [*parts, 16, 16, 32])
