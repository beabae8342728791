"""Tiles moved and reshaped: transposes, joins, slices, gathers and scatters, views and their borders."""

from __future__ import annotations

from collections.abc import Iterator

import cuda.tile as ct

from ..build.draft import Array, Draft, hard, integers, moderate, output, seed


@ct.kernel
def transpose(x, y, R: ct.Constant[int], C: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    ct.store(y, index=(j, i), tile=ct.transpose(ct.load(x, index=(i, j), shape=(R, C))))


@ct.kernel
def load_transposed(x, y, R: ct.Constant[int], C: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    ct.store(y, index=(j, i), tile=ct.load(x, index=(j, i), shape=(C, R), order="F"))


@ct.kernel
def permute(x, y, A: ct.Constant[int], B: ct.Constant[int], C: ct.Constant[int]):
    tile = ct.load(x, index=(0, 0, 0), shape=(A, B, C))
    ct.store(y, index=(0, 0, 0), tile=ct.permute(tile, (2, 0, 1)))


@ct.kernel
def reshape(x, y, A: ct.Constant[int], B: ct.Constant[int]):
    tile = ct.load(x, index=(0, 0), shape=(A, B))
    ct.store(y, index=(0, 0), tile=ct.reshape(tile, (B, A)))


@ct.kernel
def join_and_slice(x, y, z, T: ct.Constant[int]):
    """Two tiles joined, a quarter taken out of the middle and put back elsewhere."""
    a = ct.load(x, index=(0,), shape=(T,))
    b = ct.load(x, index=(1,), shape=(T,))
    both = ct.cat((a, b), 0)
    middle = ct.extract(both, (1,), shape=(T // 2,))
    ct.store(y, index=(0,), tile=both)
    ct.store(z, index=(0,), tile=ct.insert(both, (2,), middle))


@ct.kernel
def broadcast(x, y, z, R: ct.Constant[int], C: ct.Constant[int]):
    column = ct.load(x, index=(0, 0), shape=(R, 1))
    row = ct.load(y, index=(0, 0), shape=(1, C))
    ct.store(z, index=(0, 0), tile=column * row + ct.broadcast_to(row, (R, C)))


@ct.kernel
def gather(x, indices, y, T: ct.Constant[int]):
    """Some indices are out of range: they read the padding, zero."""
    i = ct.bid(0)
    where = ct.load(indices, index=(i,), shape=(T,))
    ct.store(y, index=(i,), tile=ct.gather(x, where))


@ct.kernel
def gather_rows(x, rows, y, R: ct.Constant[int], C: ct.Constant[int]):
    r = ct.reshape(ct.load(rows, index=(0,), shape=(R,)), (R, 1))
    c = ct.reshape(ct.arange(C, dtype=ct.int32), (1, C))
    ct.store(y, index=(0, 0), tile=ct.gather(x, (r, c), padding_value=-1.0))


@ct.kernel
def scatter(x, indices, y, T: ct.Constant[int]):
    """Every element goes to a place of its own."""
    i = ct.bid(0)
    where = ct.load(indices, index=(i,), shape=(T,))
    ct.scatter(y, where, ct.load(x, index=(i,), shape=(T,)))


@ct.kernel
def scatter_masked(x, indices, y, T: ct.Constant[int]):
    i = ct.bid(0)
    where = ct.load(indices, index=(i,), shape=(T,))
    value = ct.load(x, index=(i,), shape=(T,))
    ct.scatter(y, where, value, mask=value > 0.0)


def padded(mode):
    """A kernel that reads past the array's end, where ``mode`` says what is read."""

    @ct.kernel
    def copy(x, y, T: ct.Constant[int]):
        i = ct.bid(0)
        ct.store(y, index=(i,), tile=ct.load(x, index=(i,), shape=(T,), padding_mode=mode) + 1.0)

    return copy


@ct.kernel
def ragged(x, y, R: ct.Constant[int], C: ct.Constant[int]):
    """Tiles that hang over the edges of a matrix on both sides."""
    i, j = ct.bid(0), ct.bid(1)
    tile = ct.load(x, index=(i, j), shape=(R, C), padding_mode=ct.PaddingMode.ZERO)
    ct.store(y, index=(i, j), tile=tile * 2.0)


def drafts() -> Iterator[Draft]:
    """Each kernel in a format or several."""
    for fmt in ("f32", "f16", "i8"):
        make = integers if fmt == "i8" else moderate
        limits = (-128, 128) if fmt == "i8" else ()
        name = f"move/transpose_{fmt}"
        yield Draft(
            name, transpose, (2, 2), [make(fmt, name, (64, 32), *limits), output(fmt, (32, 64)), 32, 16]
        )
        name = f"move/load_transposed_{fmt}"
        source = make(fmt, name, (64, 32), *limits)
        yield Draft(name, load_transposed, (2, 2), [source, output(fmt, (32, 64)), 32, 16])
        name = f"move/permute_{fmt}"
        yield Draft(
            name, permute, (1,), [make(fmt, name, (4, 8, 16), *limits), output(fmt, (16, 4, 8)), 4, 8, 16]
        )
    name = "move/reshape_f32"
    yield Draft(name, reshape, (1,), [moderate("f32", name, (16, 64)), output("f32", (64, 16)), 16, 64])
    name = "move/join_and_slice_f32"
    parts = [moderate("f32", name, (256,)), output("f32", (256,)), output("f32", (256,))]
    yield Draft(name, join_and_slice, (1,), [*parts, 128])
    name = "move/broadcast_f32"
    parts = [
        moderate("f32", name + "x", (32, 1)),
        moderate("f32", name + "y", (1, 64)),
        output("f32", (32, 64)),
    ]
    yield Draft(name, broadcast, (1,), [*parts, 32, 64])
    for fmt in ("f32", "f64", "bf16"):
        name = f"gather/elements_{fmt}"
        where = integers("i32", name + "i", (512,), -20, 320)
        parts = [moderate(fmt, name, (300,)), where, output(fmt, (512,))]
        yield Draft(name, gather, (4,), [*parts, 128])
    name = "gather/rows_f32"
    where = integers("i32", name + "i", (16,), 0, 40)
    yield Draft(
        name, gather_rows, (1,), [moderate("f32", name, (32, 32)), where, output("f32", (16, 32)), 16, 32]
    )
    for fmt in ("f32", "i64"):
        name = f"scatter/elements_{fmt}"
        where = Array("i32", (512,), {"kind": "permutation", "seed": seed(name)})
        values = hard(fmt, name, lanes=512)
        yield Draft(name, scatter, (4,), [values, where, output(fmt, (512,)), 128])
    name = "scatter/masked_f32"
    where = Array("i32", (512,), {"kind": "permutation", "seed": seed(name)})
    yield Draft(
        name, scatter_masked, (4,), [moderate("f32", name, (512,)), where, output("f32", (512,)), 128]
    )
    for mode in ("ZERO", "NEG_ZERO", "NAN", "POS_INF", "NEG_INF"):
        name = f"view/padding_{mode.lower()}_f32"
        # The output is longer than the input, so that what was read past the input's end is seen.
        parts = [moderate("f32", name, (200,)), output("f32", (256,))]
        yield Draft(name, padded(getattr(ct.PaddingMode, mode)), (4,), [*parts, 64])
    for fmt in ("f32", "f16"):
        name = f"view/ragged_{fmt}"
        yield Draft(name, ragged, (3, 3), [moderate(fmt, name, (37, 45)), output(fmt, (37, 45)), 16, 16])
