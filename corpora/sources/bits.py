"""Tricks with bits: counting, interleaving, checksums, hashes, masks."""

from __future__ import annotations

from collections.abc import Iterator

import cuda.tile as ct

from ..build.draft import Array, Draft, integers, moderate, output, seed

ZEROS = {"kind": "fill", "bits": "0"}


def _any(name: str, shape: tuple[int, ...], fmt: str = "i32") -> Array:
    """Any patterns, without a sign."""
    return Array(fmt, shape, {"kind": "bits", "seed": seed(name)}, unsigned=True)


@ct.kernel
def counts(x, ones, leading, reversed_, T: ct.Constant[int]):
    """Bits that are set, zeros in front, and the bits back to front, without instructions for any of them."""
    i = ct.bid(0)
    v = ct.load(x, index=(i,), shape=(T,))
    pairs = v - ((v >> 1) & 0x55555555)
    fours = (pairs & 0x33333333) + ((pairs >> 2) & 0x33333333)
    eights = (fours + (fours >> 4)) & 0x0F0F0F0F
    ct.store(ones, index=(i,), tile=ct.astype((eights * 0x01010101) >> 24, ct.int32))
    smear = v | (v >> 1)
    smear = smear | (smear >> 2)
    smear = smear | (smear >> 4)
    smear = smear | (smear >> 8)
    smear = ~(smear | (smear >> 16))
    zeros = ct.zeros((T,), dtype=ct.int32)
    for bit in range(32):
        zeros = zeros + ct.astype((smear >> ct.astype(bit, ct.uint32)) & 1, ct.int32)
    ct.store(leading, index=(i,), tile=zeros)
    r = ((v >> 1) & 0x55555555) | ((v & 0x55555555) << 1)
    r = ((r >> 2) & 0x33333333) | ((r & 0x33333333) << 2)
    r = ((r >> 4) & 0x0F0F0F0F) | ((r & 0x0F0F0F0F) << 4)
    r = ((r >> 8) & 0x00FF00FF) | ((r & 0x00FF00FF) << 8)
    ct.store(reversed_, index=(i,), tile=(r >> 16) | (r << 16))


def _spread(v):
    """Ten bits with two zeros between each and the next."""
    v = (v | (v << 16)) & 0x030000FF
    v = (v | (v << 8)) & 0x0300F00F
    v = (v | (v << 4)) & 0x030C30C3
    return (v | (v << 2)) & 0x09249249


@ct.kernel
def morton(x, y, T: ct.Constant[int]):
    """Three coordinates' bits interleaved: where a cell lies on the Z curve."""
    i = ct.bid(0)
    a = ct.reshape(ct.load(x, index=(0, i), shape=(1, T)), (T,))
    b = ct.reshape(ct.load(x, index=(1, i), shape=(1, T)), (T,))
    c = ct.reshape(ct.load(x, index=(2, i), shape=(1, T)), (T,))
    ct.store(y, index=(i,), tile=_spread(a) | (_spread(b) << 1) | (_spread(c) << 2))


@ct.kernel
def checksum(x, y, T: ct.Constant[int]):
    """CRC-32 of rows of bytes, a row a lane, a bit at a time."""
    i = ct.bid(0)
    lane = ct.arange(T, dtype=ct.int32) + i * T
    crc = ct.full((T,), 0xFFFFFFFF, dtype=ct.uint32)
    for k in range(x.shape[1]):
        crc = crc ^ ct.astype(ct.gather(x, (lane, k)), ct.uint32)
        for _ in range(8):
            crc = ct.where((crc & 1) == 1, (crc >> 1) ^ 0xEDB88320, crc >> 1)
    ct.store(y, index=(i,), tile=~crc)


@ct.kernel
def mixed(x, y, T: ct.Constant[int]):
    """The last step of MurmurHash3 on 64 bits: products that wrap, shifts that bring high bits down."""
    i = ct.bid(0)
    h = ct.load(x, index=(i,), shape=(T,))
    h = (h ^ (h >> 33)) * 0xFF51AFD7ED558CCD
    h = (h ^ (h >> 33)) * 0xC4CEB9FE1A85EC53
    ct.store(y, index=(i,), tile=h ^ (h >> 33))


@ct.kernel
def parts_of_floats(x, exponents, significands, signs, T: ct.Constant[int]):
    """A float taken apart by its pattern: x is significand times 2**exponent, the significand from 1 to 2."""
    i = ct.bid(0)
    pattern = ct.bitcast(ct.load(x, index=(i,), shape=(T,)), ct.int32)
    ct.store(exponents, index=(i,), tile=((pattern >> 23) & 255) - 127)
    ct.store(significands, index=(i,), tile=ct.bitcast((pattern & 0x7FFFFF) | 0x3F800000, ct.float32))
    ct.store(signs, index=(i,), tile=ct.astype(pattern < 0, ct.int8))


@ct.kernel
def fast_inverse_root(x, y, T: ct.Constant[int]):
    """The constant, and two steps of Newton."""
    i = ct.bid(0)
    a = ct.load(x, index=(i,), shape=(T,))
    r = ct.bitcast(0x5F3759DF - (ct.bitcast(a, ct.int32) >> 1), ct.float32)
    r = r * (1.5 - 0.5 * a * r * r)
    ct.store(y, index=(i,), tile=r * (1.5 - 0.5 * a * r * r))


@ct.kernel
def flags(x, every, some, odd, T: ct.Constant[int]):
    """Masks of all blocks together: bits that all numbers have, that any has, that an odd number has."""
    i = ct.bid(0)
    tile = ct.load(x, index=(i,), shape=(T,))
    where = ct.zeros((T,), dtype=ct.int32)
    ct.atomic_and(every, where, tile)
    ct.atomic_or(some, where, tile)
    ct.atomic_xor(odd, where, tile)


@ct.kernel
def gray(x, code, back, T: ct.Constant[int]):
    """Gray's code and its way back, on 16 bits."""
    i = ct.bid(0)
    n = ct.load(x, index=(i,), shape=(T,))
    g = n ^ (n >> 1)
    ct.store(code, index=(i,), tile=g)
    b = g ^ (g >> 8)
    b = b ^ (b >> 4)
    b = b ^ (b >> 2)
    ct.store(back, index=(i,), tile=b ^ (b >> 1))


def drafts() -> Iterator[Draft]:
    """Each kernel once."""
    name = "bits/counts_i32"
    parts = [_any(name, (256,)), output("i32", (256,)), output("i32", (256,))]
    yield Draft(name, counts, (2,), [*parts, output("i32", (256,), unsigned=True), 128])
    name = "bits/morton_i32"
    cells = integers("i32", name, (3, 256), 0, 1024, unsigned=True)
    yield Draft(name, morton, (2,), [cells, output("i32", (256,), unsigned=True), 128])
    name = "bits/checksum_i8"
    yield Draft(name, checksum, (2,), [_any(name, (64, 12), "i8"), output("i32", (64,), unsigned=True), 32])
    name = "bits/mixed_i64"
    yield Draft(name, mixed, (2,), [_any(name, (256,), "i64"), output("i64", (256,), unsigned=True), 128])
    name = "bits/parts_of_floats_f32"
    parts = [moderate("f32", name, (256,), low=-40, high=40), output("i32", (256,)), output("f32", (256,))]
    yield Draft(name, parts_of_floats, (2,), [*parts, output("i8", (256,)), 128])
    name = "bits/fast_inverse_root_f32"
    source = moderate("f32", name, (256,), low=-10, high=10, positive=True)
    yield Draft(name, fast_inverse_root, (2,), [source, output("f32", (256,)), 128])
    name = "bits/flags_i32"
    every = Array("i32", (1,), {"kind": "fill", "bits": "ffffffff"}, output=True, unsigned=True)
    some = Array("i32", (1,), ZEROS, output=True, unsigned=True)
    numbers = [f"{0x10203 | 1 << (5 * k % 31) | 1 << (k % 13 + 10):x}" for k in range(96)]
    source = Array("i32", (96,), {"kind": "explicit", "bits": numbers}, unsigned=True)
    yield Draft(name, flags, (3,), [source, every, some, some, 32])
    name = "bits/gray_i16"
    parts = [_any(name, (256,), "i16"), *(output("i16", (256,), unsigned=True) for _ in range(2))]
    yield Draft(name, gray, (2,), [*parts, 128])
