"""Accumulators that stick: addend after addend leaves one as it was, though together they would not.

A single addend that is too small to show is ordinary rounding. What is not is a sum that has grown so large
that nothing more gets into it, as 2048 in f16 that ones are added to.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..formats import Array
from ..numerics.formats import FloatFormat

IN_A_ROW = 32
"""Addends, finite and not zero, that are lost one after another before an accumulator counts as stuck. Where
every other addend is lost by rounding, that many in a row are no accident."""
UNITS = 8
"""Units in the last place of an accumulator that those addends are together at least: the tail of a series
that converges fast is less."""


@dataclass(slots=True)
class Found:
    """What was found at one step: lanes that are stuck now, of which some have just become so.

    ``lost`` counts the addends lost to them, with those that were lost before it was plain. ``first`` is a
    lane that has just become stuck, or None; ``since``, ``accumulator`` and ``addend`` are when and how that
    began.
    """

    lost: int
    first: tuple[int, ...] | None = None
    since: tuple[int, ...] = ()
    accumulator: float = 0.0
    addend: float = 0.0


class Row:
    """For every lane of an accumulator, the addends that it has lost in a row."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.before = np.full(shape, np.nan)
        self.count = np.zeros(shape, np.int64)
        self.total = np.zeros(shape)
        self.first = np.zeros(shape)
        self.since = np.zeros(shape, np.int64)
        self.stuck = np.zeros(shape, np.bool_)
        self.steps: list[tuple[int, ...]] = []

    def add(
        self, before: Array, addend: Array, lost: Array, kept: Array, least: Array, step: tuple[int, ...]
    ) -> Found:
        """Go on by one addition.

        Args:
            before: the accumulators, as numbers.
            addend: what is added.
            lost: lanes whose addend, finite and not zero, changes nothing.
            kept: lanes whose addend shows; what is neither adds nothing.
            least: a unit in the last place of each accumulator.
            step: when.
        """
        same = before == self.before
        starts = lost & ~(same & (self.count > 0))
        over = kept | ~same
        self.count[over] = 0
        self.stuck[over] = False
        self.before = before.copy()
        self.count[lost] += 1
        self.total = np.where(starts, 0.0, self.total) + np.where(lost, addend, 0.0)
        self.first = np.where(starts, addend, self.first)
        self.since[starts] = len(self.steps)
        self.steps.append(step)
        went_on = int(np.count_nonzero(self.stuck & lost))
        new = lost & ~self.stuck & (self.count >= IN_A_ROW) & (np.abs(self.total) >= UNITS * least)
        if not new.any():
            return Found(went_on)
        self.stuck |= new
        began = int(self.since[new].min())
        at = np.unravel_index(int(np.argmax(new & (self.since == began))), new.shape)
        return Found(
            went_on + int(self.count[new].sum()),
            tuple(int(i) for i in at),
            self.steps[began],
            float(before[at]),
            float(self.first[at]),
        )


def unit_in_last_place(values: Array, fmt: FloatFormat) -> Array:
    """The distance from finite numbers of a format to the next larger ones in size."""
    _, exponent = np.frexp(values)
    return np.asarray(np.ldexp(1.0, np.maximum(exponent - 1, fmt.emin) - (fmt.precision - 1)))
