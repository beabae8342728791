"""The cases of ``corpora/sources/random_numbers.py``, in Python's own integers."""

from __future__ import annotations

import numpy as np

from .register import reference

WORD = 0xFFFFFFFF


def philox(counter, key0, key1):
    """Philox4x32-10 of the counter (counter, 0, 0, 0), as its paper has it."""
    c, key = [counter, 0, 0, 0], [key0 & WORD, key1 & WORD]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [b >> 32 ^ c[1] ^ key[0], b & WORD, a >> 32 ^ c[3] ^ key[1], a & WORD]
        key = [(key[0] + 0x9E3779B9) & WORD, (key[1] + 0xBB67AE85) & WORD]
    return c


def _words(count, key0, key1):
    return np.array([philox(n, key0, key1) for n in range(count)]).T


def _uniform(words):
    return (words >> 8) / 2.0**24


def test_philox_is_the_papers():
    """The first known answer that comes with its authors' library (Random123)."""
    assert philox(0, 0, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


@reference("random/philox_*")
def philox_bits(out, key0, key1):
    return (_words(out.shape[1], key0, key1),)


@reference("random/dropout_f16")
def dropout(x, y, kept, rate, key):
    keep = _uniform(_words(len(x), key, key)[0]) >= rate
    assert 0.7 < keep.mean() < 0.8
    return np.where(keep, x / (1 - rate), 0), keep.astype(np.int64)


@reference("random/dropout_backward_*")
def dropout_backward(dy, dx, rate, key):
    return (np.where(_uniform(_words(len(dy), key, key)[0]) >= rate, dy / (1 - rate), 0),)


@reference("random/normal_*")
def normal(out, key):
    a, b, _, _ = _words(out.shape[1], key, 7)
    pair = np.sqrt(-2 * np.log(1 - _uniform(a))) * np.exp(2j * np.pi * _uniform(b))
    assert abs(pair.real.mean()) < 0.2
    assert 0.8 < pair.real.std() < 1.2
    return (np.stack([pair.real, pair.imag]),)


@reference("random/pi_*")
def pi(seeds, hits, steps):
    for lane, seed in enumerate(seeds):
        state, count = int(seed), 0
        draws = []
        for _ in range(2 * steps):
            state ^= state << 13 & WORD
            state ^= state >> 17
            state ^= state << 5 & WORD
            draws.append((state >> 8) / 2**24)
        count = sum(u * u + v * v < 1 for u, v in zip(draws[::2], draws[1::2], strict=True))
        hits[lane] = count
    assert abs(4 * hits.mean() / steps - np.pi) < 0.1
    return (hits,)


@reference("random/shuffle_*")
def shuffle(x, y, key, rounds):
    for place, value in enumerate(x):
        high, low = place >> 4, place & 15
        for r in range(rounds):
            mixed = (low + key) * 0x9E3779B + r * 0x85EBCA6
            mixed = (mixed + 2**31) % 2**32 - 2**31
            high, low = low, high ^ (mixed >> 7 & 15)
        y[high << 4 | low] = value
    assert sorted(y) == sorted(x)
    return (y,)


@reference("random/rounded_stochastically_*", 0.0)
def rounded_stochastically(x, y, key):
    """A neighbour in bf16, the farther one as often as the number is near to it."""
    step = 2.0 ** (np.floor(np.log2(np.abs(x))) - 7)
    share = (_words(len(x), key, 0)[0] & 0xFFFF) / 65536
    return (np.trunc(x / step + np.sign(x) * share) * step,)
