"""Tiles of f4E2M1FN in memory: two elements share a byte, the even one its low half.

The dialect says so of ``tensor_view`` (Types.td). A lane's place is therefore a byte and a half of it.
Addresses, ranges and the order of accesses are those of bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tileir.errors import UnsupportedError
from tileir.module import Operation
from tileir.types import F4E2M1FN, NumberType

from ..formats import Array
from ..undefined import Lanes, describe
from ..window import Window


def are_halves(element: NumberType) -> bool:
    """Whether two elements share a byte."""
    return element is F4E2M1FN


def places(where: Window) -> tuple[Array, Array]:
    """Every lane's address, and whether it is the high half there."""
    halves = where.addresses(1) + where.wide(where.base)
    return halves >> 1, (halves & 1).astype(np.bool_)


def half_of(data: Array, high: Array) -> Array:
    """The elements among loaded bytes, which came as an array of the elements' type."""
    raw = data.view(np.uint8)
    return np.where(high, raw >> 4, raw & 15).view(data.dtype)


Lane = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Numbers of blocks, and of lanes in them."""


@dataclass(frozen=True, slots=True)
class Joined:
    """Lanes that store halves of bytes, two for each byte.

    Attributes:
        low, up: where the lanes of the low and of the high halves are, byte by byte.
        shape: (blocks, lanes).
    """

    low: Lane
    up: Lane
    shape: tuple[int, int]

    def storing(self) -> NDArray[np.bool_]:
        """The lanes that store a whole byte, (blocks * lanes,): those of the low halves."""
        result = np.zeros(self.shape, np.bool_)
        result[self.low] = True
        return result.reshape(-1)

    def bytes_of(self, data: Array) -> Array:
        """What these store, in an array of the elements' type."""
        raw = np.array(data.reshape(self.shape).view(np.uint8))
        raw[self.low] = (raw[self.low] & 15) | raw[self.up] << 4
        return raw.view(data.dtype)

    def either(self, lanes: Lanes) -> Lanes:
        """For these, whether one of the two elements is marked; ``lanes`` are (blocks, *tile)."""
        both = np.array(lanes).reshape(self.shape)
        both[self.low] |= both[self.up]
        return both.reshape(lanes.shape)


def join_halves(op: Operation, addresses: Array, high: Array, active: NDArray[np.bool_]) -> Joined:
    """Pair the active lanes of a store, all (blocks, lanes).

    Raises:
        UnsupportedError: a block stores half a byte and leaves the other, or stores one twice.
    """
    blocks, lane = np.nonzero(active)
    order = np.lexsort((high[blocks, lane], addresses[blocks, lane], blocks))
    blocks, lane = blocks[order], lane[order]
    low, up = (blocks[0::2], lane[0::2]), (blocks[1::2], lane[1::2])
    if (
        len(blocks) % 2
        or high[low].any()
        or not high[up].all()
        or (low[0] != up[0]).any()
        or (addresses[low] != addresses[up]).any()
    ):
        raise UnsupportedError(
            "a tile of f4E2M1FN covers half of a byte, and what becomes of the other half is not said",
            rule="half-byte",
            expected="tiles that begin and end between bytes along the dimension of stride 1",
            **describe(op),
        )
    return Joined(low, up, (active.shape[0], active.shape[1]))
