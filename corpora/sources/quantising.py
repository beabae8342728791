"""Into few bits and back."""

from __future__ import annotations

from collections.abc import Iterator

import cuda.tile as ct

from ..build.draft import Array, Draft, Number, integers, moderate, output


def nearest(x):
    """The nearest whole number, the even one of two, for magnitudes below 2**22."""
    return (x + 12582912.0) - 12582912.0


@ct.kernel
def rows_to_i8(x, y, scales, T: ct.Constant[int]):
    """A scale a row, so that the row's largest magnitude is 127."""
    i = ct.bid(0)
    row = ct.astype(ct.load(x, index=(i, 0), shape=(1, T)), ct.float32)
    largest = ct.max(ct.abs(row), axis=1, keepdims=True)
    scale = ct.maximum(largest, 1e-8) / 127.0
    ct.store(y, index=(i, 0), tile=ct.astype(nearest(row / scale), ct.int8))
    ct.store(scales, index=(i,), tile=ct.reshape(scale, (1,)))


@ct.kernel
def from_i8(x, scales, zeros, y, R: ct.Constant[int], G: ct.Constant[int]):
    """Back, with a scale and a zero point for each G columns of a row."""
    i, j = ct.bid(0), ct.bid(1)
    q = ct.astype(ct.load(x, index=(i, j), shape=(R, G)), ct.int32)
    zero = ct.astype(ct.load(zeros, index=(i, j), shape=(R, 1)), ct.int32)
    scale = ct.load(scales, index=(i, j), shape=(R, 1))
    ct.store(y, index=(i, j), tile=ct.astype(ct.astype(q - zero, ct.float32) * scale, y.dtype))


@ct.kernel
def blocks_to_f8(x, y, scales, R: ct.Constant[int], C: ct.Constant[int]):
    """A power of two a block, the largest that keeps the block within the format."""
    i, j = ct.bid(0), ct.bid(1)
    tile = ct.astype(ct.load(x, index=(i, j), shape=(R, C)), ct.float32)
    largest = ct.maximum(ct.max(ct.max(ct.abs(tile), axis=1, keepdims=True), axis=0, keepdims=True), 1e-12)
    exponent = (ct.bitcast(largest, ct.int32) >> 23) - 127 - 7
    scale = ct.bitcast((exponent + 127) << 23, ct.float32)
    inverse = ct.bitcast((127 - exponent) << 23, ct.float32)
    ct.store(y, index=(i, j), tile=ct.astype(tile * inverse, y.dtype))
    ct.store(scales, index=(i, j), tile=scale)


@ct.kernel
def pack_i4(x, y, scale, T: ct.Constant[int]):
    """Two numbers of four bits a byte: the even place in the low half, 8 added to both."""
    i = ct.bid(0)
    place = ct.arange(T, dtype=ct.int32) * 2 + i * T * 2
    low, high = ct.gather(x, place) / scale, ct.gather(x, place + 1) / scale
    a = ct.astype(nearest(ct.minimum(ct.maximum(low, -8.0), 7.0)), ct.int32) + 8
    b = ct.astype(nearest(ct.minimum(ct.maximum(high, -8.0), 7.0)), ct.int32) + 8
    ct.store(y, index=(i,), tile=ct.astype(a | (b << 4), ct.uint8))


@ct.kernel
def pretended(x, y, inside, scale, zero, T: ct.Constant[int]):
    """Quantised and back at once, and where the gradient would pass, as in training for quantised use."""
    i = ct.bid(0)
    tile = ct.load(x, index=(i,), shape=(T,))
    q = nearest(tile / scale) + zero
    cut = ct.minimum(ct.maximum(q, 0.0), 255.0)
    ct.store(y, index=(i,), tile=(cut - zero) * scale)
    ct.store(inside, index=(i,), tile=ct.astype(q == cut, ct.int8))


@ct.kernel
def to_codebook(x, codes, y, errors, T: ct.Constant[int], B: ct.Constant[int]):
    """The nearest of B entries, the first of equals, and by how much it misses."""
    i = ct.bid(0)
    tile = ct.load(x, index=(i,), shape=(T,))
    distance = ct.abs(ct.reshape(tile, (T, 1)) - ct.reshape(ct.load(codes, index=(0,), shape=(B,)), (1, B)))
    code = ct.argmin(distance, axis=1)
    ct.store(y, index=(i,), tile=ct.astype(code, ct.int8))
    ct.store(errors, index=(i,), tile=ct.min(distance, axis=1))


def drafts() -> Iterator[Draft]:
    """Each kernel once."""
    name = "quantise/rows_to_i8_bf16"
    parts = [moderate("bf16", name, (8, 128)), output("i8", (8, 128)), output("f32", (8,))]
    yield Draft(name, rows_to_i8, (8,), [*parts, 128])
    name = "quantise/from_i8_f16"
    parts = [integers("i8", name, (16, 64), -128, 128)]
    parts += [moderate("f32", name + "s", (16, 2), low=-7, high=-4, positive=True)]
    parts += [integers("i8", name + "z", (16, 2), -10, 11), output("f16", (16, 64))]
    yield Draft(name, from_i8, (2, 2), [*parts, 8, 32])
    for fmt in ("f8E4M3FN", "f8E5M2"):
        name = f"quantise/blocks_to_{fmt}"
        parts = [moderate("f32", name, (32, 32), low=-14), output(fmt, (32, 32)), output("f32", (8, 8))]
        yield Draft(name, blocks_to_f8, (8, 8), [*parts, 4, 4])
    name = "quantise/pack_i4_f32"
    parts = [moderate("f32", name, (512,)), output("i8", (256,), unsigned=True), Number("f32", 0.75)]
    yield Draft(name, pack_i4, (2,), [*parts, 128])
    name = "quantise/pretended_f32"
    parts = [moderate("f32", name, (512,)), output("f32", (512,)), output("i8", (512,))]
    yield Draft(name, pretended, (4,), [*parts, Number("f32", 0.0625), Number("f32", 100.0), 128])
    name = "quantise/to_codebook_f32"
    codes = Array("f32", (16,), {"kind": "moderate", "seed": 20003, "high": 3})
    parts = [moderate("f32", name, (256,)), codes, output("i8", (256,)), output("f32", (256,))]
    yield Draft(name, to_codebook, (4,), [*parts, 64, 16])
