"""Copies of a launch's arguments, in which arrays that share memory share memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from .arguments import Table, all_arrays
from .formats import Array


def copied(args: Sequence[Any]) -> list[Any]:
    """The same arguments in memory of their own.

    What overlaps stays one piece of memory, with what lies between the elements of its arrays.
    """
    arrays = list({id(a): a for a in all_arrays(args).values()}.values())
    new: dict[int, Array] = {}
    group: list[Array] = []
    end = 0
    for array in sorted(arrays, key=lambda a: byte_bounds(a)[0]):
        low, high = byte_bounds(array)
        if group and low >= end:
            new |= _moved(group)
            group = []
        group.append(array)
        end = max(end, high) if len(group) > 1 else high
    if group:
        new |= _moved(group)

    def of(word: Any) -> Any:
        if isinstance(word, Table):
            return Table(tuple(map(of, word.words)))
        return new[id(word)] if isinstance(word, np.ndarray) else word

    return [of(arg) for arg in args]


def _moved(arrays: list[Array]) -> dict[int, Array]:
    """Copies of arrays that overlap, each where it was among them."""
    if len(arrays) == 1:
        [array] = arrays
        return {id(array): array.copy(order="K")}
    low = min(byte_bounds(a)[0] for a in arrays)
    high = max(byte_bounds(a)[1] for a in arrays)
    memory = np.empty(high - low, np.uint8)
    found = {}
    for array in arrays:
        # A negative stride has its first element at the end.
        at = array.__array_interface__["data"][0] - low
        found[id(array)] = np.ndarray(array.shape, array.dtype, memory, at, array.strides)
    for array in arrays:
        found[id(array)][...] = array
    return found
