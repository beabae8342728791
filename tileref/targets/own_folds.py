"""In which order a thread folds the elements of a reduction that are its own.

Their first axis is the elements', in ascending order; its extent is a power of two.
"""

from __future__ import annotations

from collections.abc import Callable

from .lanes import Combine, Lanes

OwnFold = Callable[[Lanes, Combine], Lanes]


def ascending(own: Lanes, combine: Combine) -> Lanes:
    """One after the other, from the first."""
    folded = own[0]
    for i in range(1, own.shape[0]):
        folded = combine(folded, own[i])
    return folded


def by_neighbours(own: Lanes, combine: Combine) -> Lanes:
    """Each element with an odd number into the one before it, until one is left."""
    while own.shape[0] > 1:
        own = combine(own[0::2], own[1::2])
    return own[0]


def in_two_chains(own: Lanes, combine: Combine) -> Lanes:
    """The elements with even numbers one after the other, those with odd numbers likewise, then the two."""
    if own.shape[0] == 1:
        return own[0]
    return combine(ascending(own[0::2], combine), ascending(own[1::2], combine))
