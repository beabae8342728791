"""Random numbers by counters and by steps, and kernels that draw them."""

from __future__ import annotations

from collections.abc import Iterator

import cuda.tile as ct

from ..build.draft import Array, Draft, Number, moderate, output


def _multiply(a, b):
    """The high and the low half of an unsigned product of 32 bits each."""
    wide = ct.astype(a, ct.uint64) * b
    return ct.astype(wide >> 32, ct.uint32), ct.astype(wide & 0xFFFFFFFF, ct.uint32)


def philox(counter, key0, key1):
    """Philox4x32-10 (Salmon et al., 2011) of the counters (counter, 0, 0, 0)."""
    c0 = counter
    c1, c2, c3 = counter & 0, counter & 0, counter & 0
    k0, k1 = (counter & 0) + key0, (counter & 0) + key1
    for _ in range(10):
        h0, l0 = _multiply(c0, 0xD2511F53)
        h1, l1 = _multiply(c2, 0xCD9E8D57)
        c0, c1, c2, c3 = h1 ^ c1 ^ k0, l1, h0 ^ c3 ^ k1, l0
        k0, k1 = k0 + 0x9E3779B9, k1 + 0xBB67AE85
    return c0, c1, c2, c3


def uniform(bits):
    """The upper 24 bits as a number from 0 up to but not including 1."""
    return ct.astype(ct.astype(bits >> 8, ct.int32), ct.float32) * 5.9604644775390625e-08


@ct.kernel
def philox_bits(out, key0, key1, T: ct.Constant[int]):
    """The four words of each counter, a row each."""
    i = ct.bid(0)
    counter = ct.astype(ct.arange(T, dtype=ct.int32) + i * T, ct.uint32)
    a, b, c, d = philox(counter, ct.astype(key0, ct.uint32), ct.astype(key1, ct.uint32))
    ct.store(out, index=(0, i), tile=ct.reshape(a, (1, T)))
    ct.store(out, index=(1, i), tile=ct.reshape(b, (1, T)))
    ct.store(out, index=(2, i), tile=ct.reshape(c, (1, T)))
    ct.store(out, index=(3, i), tile=ct.reshape(d, (1, T)))


@ct.kernel
def dropout(x, y, kept, rate, key, T: ct.Constant[int]):
    """What stays is scaled up; what stayed is kept as bytes."""
    i = ct.bid(0)
    counter = ct.astype(ct.arange(T, dtype=ct.int32) + i * T, ct.uint32)
    bits, _, _, _ = philox(counter, ct.astype(key, ct.uint32), ct.astype(key, ct.uint32))
    keep = uniform(bits) >= rate
    scaled = ct.astype(ct.load(x, index=(i,), shape=(T,)), ct.float32) * (1.0 / (1.0 - rate))
    ct.store(y, index=(i,), tile=ct.astype(ct.where(keep, scaled, 0.0), y.dtype))
    ct.store(kept, index=(i,), tile=ct.astype(keep, ct.int8))


@ct.kernel
def dropout_backward(dy, dx, rate, key, T: ct.Constant[int]):
    """The mask is drawn again, not read."""
    i = ct.bid(0)
    counter = ct.astype(ct.arange(T, dtype=ct.int32) + i * T, ct.uint32)
    bits, _, _, _ = philox(counter, ct.astype(key, ct.uint32), ct.astype(key, ct.uint32))
    grad = ct.load(dy, index=(i,), shape=(T,)) / (1.0 - rate)
    ct.store(dx, index=(i,), tile=ct.where(uniform(bits) >= rate, grad, 0.0))


@ct.kernel
def normal(out, key, T: ct.Constant[int]):
    """Box and Muller's pairs of normal numbers."""
    i = ct.bid(0)
    counter = ct.astype(ct.arange(T, dtype=ct.int32) + i * T, ct.uint32)
    a, b, _, _ = philox(counter, ct.astype(key, ct.uint32), 7)
    radius = ct.sqrt(-2.0 * ct.log(1.0 - uniform(a)))
    angle = 6.2831853071795865 * uniform(b)
    ct.store(out, index=(0, i), tile=ct.reshape(radius * ct.cos(angle), (1, T)))
    ct.store(out, index=(1, i), tile=ct.reshape(radius * ct.sin(angle), (1, T)))


@ct.kernel
def pi(seeds, hits, steps, T: ct.Constant[int]):
    """Monte Carlo with a generator of shifts a lane: how many points fall into the quarter circle."""
    i = ct.bid(0)
    state = ct.load(seeds, index=(i,), shape=(T,))
    count = ct.zeros((T,), dtype=ct.int32)
    for _ in range(steps):
        state = state ^ (state << 13)
        state = state ^ (state >> 17)
        state = state ^ (state << 5)
        u = uniform(state)
        state = state ^ (state << 13)
        state = state ^ (state >> 17)
        state = state ^ (state << 5)
        v = uniform(state)
        count = count + ct.astype(u * u + v * v < 1.0, ct.int32)
    ct.store(hits, index=(i,), tile=count)


@ct.kernel
def shuffle(x, y, key, rounds, T: ct.Constant[int]):
    """A permutation without a table: a Feistel network of the place's two halves of four bits."""
    i = ct.bid(0)
    place = ct.arange(T, dtype=ct.int32) + i * T
    high, low = place >> 4, place & 15
    for r in range(rounds):
        mixed = ((low + key) * 0x9E3779B + r * 0x85EBCA6) >> 7
        high, low = low, high ^ (mixed & 15)
    ct.scatter(y, (high << 4) | low, ct.load(x, index=(i,), shape=(T,)))


@ct.kernel
def rounded_stochastically(x, y, key, T: ct.Constant[int]):
    """f32 to bf16 by random bits added below the cut; the mean of many such is the number itself."""
    i = ct.bid(0)
    counter = ct.astype(ct.arange(T, dtype=ct.int32) + i * T, ct.uint32)
    bits, _, _, _ = philox(counter, ct.astype(key, ct.uint32), 0)
    pattern = ct.bitcast(ct.load(x, index=(i,), shape=(T,)), ct.uint32)
    moved = (pattern + (bits & 0xFFFF)) & 0xFFFF0000
    ct.store(y, index=(i,), tile=ct.astype(ct.bitcast(moved, ct.float32), ct.bfloat16))


def drafts() -> Iterator[Draft]:
    """Each kernel once."""
    key = Number("i32", 20011)
    name = "random/philox_i32"
    words = output("i32", (4, 256), unsigned=True)
    yield Draft(name, philox_bits, (2,), [words, key, Number("i32", -5), 128])
    name = "random/dropout_f16"
    parts = [moderate("f16", name, (512,)), output("f16", (512,)), output("i8", (512,))]
    yield Draft(name, dropout, (4,), [*parts, Number("f32", 0.25), key, 128])
    name = "random/dropout_backward_f32"
    parts = [moderate("f32", name, (512,)), output("f32", (512,)), Number("f32", 0.25), key]
    yield Draft(name, dropout_backward, (4,), [*parts, 128])
    name = "random/normal_f32"
    yield Draft(name, normal, (2,), [output("f32", (2, 256)), key, 128])
    name = "random/pi_i32"
    seeds = Array("i32", (256,), {"kind": "range", "seed": 20002, "low": 1, "high": 1 << 31}, unsigned=True)
    yield Draft(name, pi, (2,), [seeds, output("i32", (256,)), Number("i32", 16), 128])
    name = "random/shuffle_i32"
    parts = [Array("i32", (256,), {"kind": "iota"}), output("i32", (256,)), key, Number("i32", 6)]
    yield Draft(name, shuffle, (2,), [*parts, 128])
    name = "random/rounded_stochastically_f32"
    yield Draft(
        name, rounded_stochastically, (4,), [moderate("f32", name, (512,)), output("bf16", (512,)), key, 128]
    )
