"""The cases of ``corpora/sources/quantising.py``."""

from __future__ import annotations

import numpy as np

from .register import reference


@reference("quantise/rows_to_i8_*", steps=1)
def rows_to_i8(x, y, scales):
    scale = np.abs(x).max(axis=1) / 127
    return np.rint(x / scale[:, None]).astype(np.int64), scale


@reference("quantise/from_i8_*")
def from_i8(x, scales, zeros, y):
    return ((x - np.repeat(zeros, 32, axis=1)) * np.repeat(scales, 32, axis=1),)


@reference("quantise/blocks_to_*")
def blocks_to_f8(x, y, scales):
    """Four by four a block; the largest of a block comes to lie from 128 to 256."""
    blocks = np.abs(x).reshape(8, 4, 8, 4).max(axis=(1, 3))
    scale = 2.0 ** (np.floor(np.log2(blocks)) - 7)
    return x / np.repeat(np.repeat(scale, 4, 0), 4, 1), scale


@reference("quantise/pack_i4_*")
def pack_i4(x, y, scale):
    nibbles = np.rint(np.clip(x / scale, -8, 7)).astype(np.int64) + 8
    return (nibbles[::2] + 16 * nibbles[1::2],)


@reference("quantise/pretended_*")
def pretended(x, y, inside, scale, zero):
    q = np.rint(x / scale) + zero
    return (np.clip(q, 0, 255) - zero) * scale, ((q >= 0) & (q <= 255)).astype(np.int64)


@reference("quantise/to_codebook_*")
def to_codebook(x, codes, y, errors):
    distance = np.abs(x[:, None] - codes)
    return distance.argmin(axis=1), distance.min(axis=1)
