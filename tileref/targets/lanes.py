"""The elements of a reduction or a scan, and what one application of its body does with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..formats import Array


@dataclass(slots=True)
class Lanes:
    """Arrays of one shape, one an operand, with marks on those lanes that have no value.

    The first axis is the one reduced or scanned; the rest is everything that is done in parallel.
    """

    data: tuple[Array, ...]
    marks: tuple[Array | None, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of every one of the arrays."""
        return self.data[0].shape

    def map(self, function: Callable[[Array], Array]) -> Lanes:
        """The lanes after ``function`` moved every array."""
        return Lanes(
            tuple(function(d) for d in self.data),
            tuple(None if m is None else function(m) for m in self.marks),
        )

    def __getitem__(self, index: Any) -> Lanes:
        return self.map(lambda a: a[index])

    def reshape(self, *shape: int) -> Lanes:
        """The lanes under another shape."""
        return self.map(lambda a: a.reshape(shape))


Combine = Callable[[Lanes, Lanes], Lanes]
"""The body of a reduction: accumulator and element (of one shape) to the new accumulator."""


def concatenate(parts: Sequence[Lanes], axis: int = 0) -> Lanes:
    """Lanes joined along ``axis``."""
    if len(parts) == 1:
        return parts[0]
    data = tuple(np.concatenate([p.data[i] for p in parts], axis) for i in range(len(parts[0].data)))
    marks: list[Array | None] = []
    for i in range(len(data)):
        there = [p.marks[i] for p in parts]
        if all(m is None for m in there):
            marks.append(None)
        else:
            marks.append(
                np.concatenate(
                    [
                        np.zeros(p.data[i].shape, np.bool_)
                        if m is None
                        else np.broadcast_to(m, p.data[i].shape)
                        for p, m in zip(parts, there, strict=True)
                    ],
                    axis,
                )
            )
    return Lanes(data, tuple(marks))
