"""What a value was the last time, block by block."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..formats import Array
from ..values import Selection
from .conditions import Lanes
from .event import Event


class Changes:
    """The last elements of one value in every block that has not finished."""

    def __init__(self) -> None:
        self._width = 0
        self._keys: Selection = np.empty(0, np.intp)
        self._bits: Array | None = None

    def update(
        self, event: Event, rows: Selection, data: Array, undefined: Lanes | None
    ) -> tuple[NDArray[np.bool_], Lanes]:
        """Which of the rows were seen before, and which lanes have other bits than then.

        Lanes of rows that were not seen before are all changed. Going without a value and getting one are
        changes too.
        """
        keys, width = _keys(event, rows)
        bits = _comparable(data, undefined)
        known = np.zeros(len(rows), np.bool_)
        changed = np.ones(data.shape, np.bool_)
        if width != self._width or self._bits is None:
            self._width, self._keys, self._bits = width, np.empty(0, np.intp), bits[:0]
        at = np.minimum(np.searchsorted(self._keys, keys), max(len(self._keys) - 1, 0))
        if len(self._keys):
            known = self._keys[at] == keys
            changed[known] = (bits[known] != self._bits[at[known]]).any(axis=-1)
            self._bits[at[known]] = bits[known]
        if not known.all():
            joined = np.concatenate([self._keys, keys[~known]])
            order = np.argsort(joined, kind="stable")
            self._keys = joined[order]
            self._bits = np.concatenate([self._bits, bits[~known]])[order]
        return known, changed

    def forget(self, blocks: Selection) -> None:
        """Those of ``blocks`` will not come again."""
        if self._bits is None or not len(self._keys):
            return
        kept = ~np.isin(self._keys // self._width, blocks)
        self._keys, self._bits = self._keys[kept], self._bits[kept]


def _keys(event: Event, rows: Selection) -> tuple[Selection, int]:
    """A number for each row that names its block, and its lane in a body; and how many lanes there are."""
    lanes = event.lanes
    blocks = event.blocks[rows]
    if lanes is None or lanes.shape[1] == 0:
        return blocks, 1
    extents = lanes.max(axis=0) + 1
    flat = np.ravel_multi_index(tuple(lanes[rows].T), tuple(extents))
    width = int(np.prod(extents))
    return blocks * width + flat, width


def _comparable(data: Array, undefined: Lanes | None) -> Array:
    """Bits, and behind them whether there is a value: (rows, *shape, 2)."""
    bits = data.view(f"u{data.itemsize}").astype(np.uint64)
    missing = np.zeros(data.shape, np.bool_) if undefined is None else undefined
    return np.stack([np.where(missing, np.uint64(0), bits), missing.astype(np.uint64)], axis=-1)
