"""Approximations that a GPU's special function unit answers, as tables asked of the hardware itself.

A table is kept as its difference from what exactly rounded arithmetic makes of the same argument, which is
small and compresses well. `docs/models.md` says how each was asked for.
"""

from __future__ import annotations

import lzma
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from ..formats import Array

HIGH = np.uint64(0xFFFFFFFF00000000)
"""The bits of an f64 that the unit sees and answers; its low word is zero."""


@cache
def _differences(name: str) -> NDArray[np.int8]:
    """The table called ``name``, one small integer an entry."""
    data = files(__package__).joinpath("data", f"{name}.xz").read_bytes()
    return np.frombuffer(lzma.decompress(data), np.int8)


def reciprocal_root_seed(x: Array) -> Array:
    """``rsqrt.approx.ftz.f64`` of f64 in [1, 4): about 20 correct bits, from the high word alone."""
    high = (np.asarray(x, np.float64).view(np.uint64) & HIGH).view(np.float64)
    table = _differences("sm_90_rsqrt_f64")
    # The lowest exponent bit and the 20 significand bits of the high word number the 2^21 entries.
    entry = ((high.view(np.uint64) >> np.uint64(32)).astype(np.int64) - (1023 << 20)).astype(np.int64)
    nearest = (1 / np.sqrt(high)).view(np.int64) >> 32
    return ((nearest + table[entry]) << 32).view(np.float64)
