"""The cases of ``corpora/sources/bits.py``, by strings of binary digits and the standard library."""

from __future__ import annotations

import zlib
from functools import reduce
from operator import and_, or_, xor

import numpy as np

from .register import reference


def _digits(x, width):
    return [format(int(n) & (1 << width) - 1, f"0{width}b") for n in x]


@reference("bits/counts_*")
def counts(x, ones, leading, reversed_):
    digits = _digits(x, 32)
    return (
        np.array([d.count("1") for d in digits]),
        np.array([len(d) - len(d.lstrip("0")) for d in digits]),
        np.array([int(d[::-1], 2) for d in digits]),
    )


@reference("bits/morton_*")
def morton(x, y):
    a, b, c = (_digits(row, 10) for row in x)
    return (
        np.array(
            [
                int("".join(map("".join, zip(r, q, p, strict=True))), 2)
                for p, q, r in zip(a, b, c, strict=True)
            ]
        ),
    )


@reference("bits/checksum_*")
def checksum(x, y):
    return (np.array([zlib.crc32((row & 255).astype(np.uint8).tobytes()) for row in x]),)


@reference("bits/mixed_*")
def mixed(x, y):
    def mix(h):
        h &= (1 << 64) - 1
        for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
            h = (h ^ h >> 33) * factor % (1 << 64)
        return h ^ h >> 33

    return (np.array([mix(int(n)) for n in x], dtype=np.uint64).view(np.int64),)


@reference("bits/parts_of_floats_*")
def parts_of_floats(x, exponents, significands, signs):
    significand, exponent = np.frexp(np.abs(x))
    return exponent - 1, significand * 2, (x < 0).astype(np.int64)


@reference("bits/fast_inverse_root_*")
def fast_inverse_root(x, y):
    return (1 / np.sqrt(x),)


@reference("bits/flags_*")
def flags(x, every, some, odd):
    numbers = [int(n) for n in x]
    assert reduce(and_, numbers) not in (0, -1)
    return tuple(np.array([reduce(operation, numbers)]) for operation in (and_, or_, xor))


@reference("bits/gray_*")
def gray(x, code, back):
    digits = _digits(x, 16)
    coded = ["".join(str(int(a != b)) for a, b in zip("0" + d, d, strict=False)) for d in digits]
    return np.array([int(d, 2) for d in coded]), x
