"""Kernels in cuda-tile's language, as its users write them."""

from __future__ import annotations

from typing import Annotated

import cuda.tile as ct


@ct.kernel
def add(x, y, z, TILE: ct.Constant[int]):
    """One tile a block."""
    i = ct.bid(0)
    ct.store(
        z, index=(i,), tile=ct.load(x, index=(i,), shape=(TILE,)) + ct.load(y, index=(i,), shape=(TILE,))
    )


@ct.kernel
def copy(x, y, M: ct.Constant[int], N: ct.Constant[int]):
    """A matrix, tile by tile."""
    i, j = ct.bid(0), ct.bid(1)
    ct.store(y, index=(i, j), tile=ct.load(x, index=(i, j), shape=(M, N), padding_mode=ct.PaddingMode.ZERO))


@ct.kernel
def scale(x, y, factor, shift, flag: bool, large: ct.ScalarInt64, TILE: ct.Constant[int]):
    """Numbers of every kind that is passed."""
    i = ct.bid(0)
    tile = ct.load(x, index=(i,), shape=(TILE,)) * factor + shift
    if flag:
        tile = -tile
    ct.store(y, index=(i,), tile=tile + ct.astype(large // 4294967296, ct.float32))


@ct.kernel
def add_all(inputs, y, TILE: ct.Constant[int]):
    """A tuple of arrays."""
    total = ct.zeros((TILE,), dtype=ct.float32)
    for x in ct.static_iter(inputs):
        total = total + ct.load(x, index=(ct.bid(0),), shape=(TILE,))
    ct.store(y, index=(ct.bid(0),), tile=total)


@ct.kernel
def convert(x, y, dtype: ct.Constant, TILE: ct.Constant[int]):
    """A type as a constant."""
    i = ct.bid(0)
    ct.store(y, index=(i,), tile=ct.astype(ct.load(x, index=(i,), shape=(TILE,)), dtype))


@ct.kernel
def gather(x, at, y, TILE: ct.Constant[int]):
    """Indices that nobody checks."""
    ct.store(y, index=(0,), tile=ct.gather(x, ct.load(at, index=(0,), shape=(TILE,)), check_bounds=False))


@ct.kernel
def whole(x: Annotated[object, ct.ArrayAnnotation(static_shape_dims=(0,))], y):
    """The array's extent is the tile's."""
    ct.store(y, index=(0,), tile=ct.load(x, index=(0,), shape=(x.shape[0],)) * 2)


@ct.kernel
def says(x, TILE: ct.Constant[int]):
    """Prints."""
    ct.printf("block %d\n", ct.bid(0))
    ct.store(x, index=(ct.bid(0),), tile=ct.zeros((TILE,), dtype=ct.float32))


@ct.kernel
def pick(inputs, outputs, at: int, TILE: ct.Constant[int]):
    """Arrays by a number that is known when the kernel runs."""
    i = ct.bid(0)
    for k in range(len(inputs)):
        ct.store(outputs[k], index=(i,), tile=ct.load(inputs[k], index=(i,), shape=(TILE,)) * 2)
    if i == 0:
        ct.scatter(
            outputs[at], ct.full((1,), 0, ct.int32), ct.full((1,), -1.0, ct.float32), check_bounds=False
        )


@ct.kernel
def extents(arrays, y):
    """What the table of a list says of its arrays."""
    for k in range(len(arrays)):
        array = arrays[k]
        ct.store(y, index=(k, 0), tile=ct.full((1, 1), array.shape[0], ct.int32))
        ct.store(y, index=(k, 1), tile=ct.full((1, 1), array.shape[1], ct.int32))
        ct.store(y, index=(k, 2), tile=ct.load(array, index=(1, 1), shape=(1, 1)))


@ct.kernel
def scatter_past(arrays, at):
    """Writes where the second array may not be."""
    ct.scatter(
        arrays[1], ct.load(at, index=(0,), shape=(4,)), ct.full((4,), 1.0, ct.float32), check_bounds=False
    )


@ct.kernel
def gather_into(x, at, arrays):
    """Indices that nobody checks, and the second array."""
    ct.store(
        arrays[1], index=(0,), tile=ct.gather(x, ct.load(at, index=(0,), shape=(4,)), check_bounds=False)
    )


@ct.kernel
def pairs(both: tuple[ct.Constant[int], ct.Constant[float]], y):
    """Constants in a tuple."""
    ct.store(y, index=(0,), tile=ct.full((both[0],), both[1], ct.float32))


@ct.kernel
def each(factors: tuple[float, ...], y):
    """A tuple of any length."""
    total = ct.zeros((1,), ct.float32)
    for factor in ct.static_iter(factors):
        total = total + factor
    ct.store(y, index=(0,), tile=total)


@ct.kernel
def too_large(x, y, TILE: ct.Constant[int]):
    """Compiles for small tiles alone."""
    ct.static_assert(TILE <= 64, "the tile is too large")
    ct.store(y, index=(ct.bid(0),), tile=ct.load(x, index=(ct.bid(0),), shape=(TILE,)) * 2)


@ct.kernel
def double_scalar(x, y):
    """Arrays of no dimensions."""
    ct.store(y, index=(), tile=ct.load(x, index=(), shape=()) * 2)


@ct.kernel
def row_sums(x, y, N: ct.Constant[int]):
    """A number a row."""
    row = ct.load(x, index=(ct.bid(0), 0), shape=(1, N))
    ct.store(y, index=(ct.bid(0), 0), tile=ct.sum(row, axis=1, keepdims=True))
