"""Lanes of one store that go to the same element and do not agree on its value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tileir.module import Operation
from tileir.types import PointerType, TileType

from ..formats import Array
from ..kinds import Kind
from ..memory import Access as Target
from ..memory import decode

if TYPE_CHECKING:
    from ..frame import Frame

SHOWN = 16
"""Values of an element that an event lists."""


@dataclass(slots=True)
class Collisions:
    """Where lanes of a store meet: lanes (of ``target``) of one block, and of several.

    ``lanes`` numbers all lanes involved; ``within`` and ``across`` are masks of the target's lanes, or None.
    """

    target: Target
    stored: Array
    shape: tuple[int, ...]
    within: Array | None
    across: Array | None

    @staticmethod
    def among(target: Target, stored: Array, lost: Array, shape: tuple[int, ...]) -> Collisions:
        """Sort out the lanes that go where a ``lost`` lane goes."""
        elements = target.elements.reshape(-1)
        lanes = np.flatnonzero(np.isin(elements, elements[lost.reshape(-1)]))
        size = int(np.prod(shape[1:]))
        places = lanes if target.lanes is None else target.lanes[lanes]
        blocks, at, values = places // size, elements[lanes], stored.reshape(-1)[lanes]
        within = np.zeros(elements.size, np.bool_)
        within[lanes[_disagree(np.stack([at, blocks]), values)]] = True
        across = np.zeros(elements.size, np.bool_)
        # Of several blocks: the element has more than one value and more than one block.
        several = _disagree(at[None], values) & _disagree(at[None], blocks)
        across[lanes[several]] = True
        return Collisions(
            target, stored, shape, within if within.any() else None, across if across.any() else None
        )

    def report(self, frame: Frame, operation: Operation) -> None:
        """Report what lanes of one block did, and take the elements' values away."""
        assert self.within is not None
        target, within = self.target, self.within
        size = int(np.prod(self.shape[1:]))
        places = np.arange(within.size) if target.lanes is None else target.lanes
        lanes = np.zeros(self.shape, np.bool_)
        lanes.reshape(-1)[places[within]] = True
        elements = target.elements.reshape(-1)
        first = int(np.argmax(within))
        same = within & (elements == elements[first]) & (places // size == places[first] // size)
        values = _values(operation, self.stored.reshape(-1)[same])
        index = int(elements[first])
        frame.run.report(
            frame,
            operation,
            Kind.COLLIDING_LANES,
            f"several lanes store to element {index} of {target.buffer.name}, which then holds one of "
            + ", ".join(str(v) for v in values),
            lanes,
            buffer=target.buffer.argument,
            index=lambda _lane: index,
            values=values,
        )
        gone = elements[within]
        target.buffer.mark(gone, self.stored.dtype.itemsize, np.ones(gone.shape, np.bool_))


def _disagree(keys: Array, values: Array) -> Array:
    """Entries whose key, a column of ``keys``, comes with more than one value."""
    order = np.lexsort(keys)
    sorted_, of = keys[:, order], values[order]
    start = np.ones(len(order), np.bool_)
    start[1:] = (sorted_[:, 1:] != sorted_[:, :-1]).any(axis=0)
    group = np.cumsum(start) - 1
    differs = of != of[np.flatnonzero(start)][group]
    result = np.zeros(len(order), np.bool_)
    result[order] = np.bincount(group, differs, len(order))[group] > 0
    return result


def _values(operation: Operation, stored: Array) -> tuple[Any, ...]:
    """The values as numbers, in the order of the lanes, each once."""
    type_ = next(
        v.type
        for v in operation.uses
        if isinstance(v.type, TileType) and not isinstance(v.type.element, PointerType)
    )
    assert not isinstance(type_.element, PointerType)
    numbers = decode(stored, type_.element).tolist()
    return tuple(dict.fromkeys(numbers))[:SHOWN]
