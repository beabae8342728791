"""Running a kernel over lanes: broadcasting, strides and blocks in one place.

A kernel here is a function of flat arrays of one length that writes its answer into the first. Long operands
are cut into blocks that stay in the processor's cache together with the kernel's temporaries, which makes a
kernel of twenty array operations several times faster than the same twenty operations on whole arrays. Lanes
never look at each other, so the cut cannot change a bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .formats import FloatFormat, IntegerFormat

Array = NDArray[Any]

BLOCK = 1 << 15
"""Lanes of one block: few enough that temporaries stay in the cache, enough to spread a call's cost."""


def lanes_of(x: Any, fmt: FloatFormat | IntegerFormat) -> Array:
    """`x` as an array of `fmt.dtype`; TypeError where it is an array of another type."""
    array = np.asarray(x)
    if array.dtype is not fmt.dtype and array.dtype != fmt.dtype:
        raise TypeError(f"{fmt.name} is stored as {fmt.dtype}, found an array of {array.dtype}")
    return array


def broadcast(*operands: Array) -> tuple[Array, ...]:
    """The operands as arrays of their common shape: themselves where they have it already, else views."""
    shapes = [x.shape for x in operands]
    if shapes.count(shapes[0]) == len(shapes):
        return operands
    shape = np.broadcast_shapes(*shapes)
    return tuple(x if x.shape == shape else np.broadcast_to(x, shape) for x in operands)


def _flat(x: Array) -> Array:
    if x.flags.c_contiguous:
        return x.reshape(-1)
    if x.size and all(stride == 0 for stride in x.strides):
        return np.broadcast_to(x[(0,) * x.ndim], (x.size,))
    return np.ascontiguousarray(x).reshape(-1)


def blockwise(
    kernel: Callable[..., None], dtype: np.dtype[Any], *operands: Array, block: int = BLOCK
) -> Array:
    """A fresh array of `dtype` that `kernel(out, *operands)` fills block by block.

    `operands` have one shape (see `broadcast`), which is the answer's. Floating-point warnings are off in the
    kernel: its invalid, overflowing and inexact operations are all on purpose.
    """
    result = np.empty(operands[0].shape, dtype)
    out = result.reshape(-1)
    flats = [_flat(x) for x in operands]
    with np.errstate(all="ignore"):
        if out.size <= block:
            kernel(out, *flats)
        else:
            for start in range(0, out.size, block):
                stop = start + block
                kernel(out[start:stop], *(x[start:stop] for x in flats))
    return result
