"""Tiles of f4E2M1FN in memory: two elements share a byte, the even one its low half.

The dialect says so of ``tensor_view`` (Types.td). A lane's place is therefore a byte and a half of it.
Addresses, ranges and the order of accesses are those of bytes.
"""

from __future__ import annotations

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


def joined(
    op: Operation, addresses: Array, high: Array, active: NDArray[np.bool_], data: Array, lanes: Lanes | None
) -> tuple[NDArray[np.bool_], Array, Lanes | None]:
    """Lanes that store halves of bytes, (blocks, lanes), as the lanes that store whole ones.

    Returns:
        Which lanes store, one for each byte; what each of them does; and which have no value.

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
    raw = np.array(data.view(np.uint8))
    raw[low] = (raw[low] & 15) | raw[up] << 4
    storing = np.zeros(active.shape, np.bool_)
    storing[low] = True
    if lanes is not None:
        lanes = np.array(lanes)
        lanes[low] |= lanes[up]
    return storing, raw.view(data.dtype), lanes
