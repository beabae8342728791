"""Tokens while a kernel runs: what each of the blocks that run together waits for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .past import NOTHING, Past, joined

Selection = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Token:
    """A token in each of the blocks: ``pasts[which[block]]`` is waited for, ``pasts[0]`` in all if None."""

    pasts: tuple[Past, ...] = (NOTHING,)
    which: Selection | None = None

    def take(self, selection: Selection) -> Token:
        """The token in the selected blocks alone."""
        return self if self.which is None else Token(self.pasts, self.which[selection])

    def after(self, number: int) -> Token:
        """The token of access ``number``, which waited for this one."""
        if self.which is None:
            return Token((self.pasts[0].after(number),))
        return Token(tuple(past.after(number) for past in self.pasts), self.which)


TOKEN = Token()
"""A token that waits for nothing."""


def join_tokens(tokens: Sequence[Token]) -> Token:
    """A token that waits for what any of ``tokens`` does."""
    if all(token.which is None for token in tokens):
        if len(tokens) == 1:
            return tokens[0]
        return Token((joined(token.pasts[0] for token in tokens),))
    blocks = next(len(token.which) for token in tokens if token.which is not None)
    zeros = np.zeros(blocks, np.intp)
    columns = [zeros if token.which is None else token.which for token in tokens]
    kinds, which = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    pasts = [joined(t.pasts[i] for t, i in zip(tokens, kind, strict=True)) for kind in kinds]
    return _grouped(pasts, which.reshape(-1))


def merge_tokens(blocks: int, parts: Sequence[tuple[Selection | None, Token]]) -> Token:
    """One token of ``blocks`` blocks from tokens of some of them; None selects all."""
    pasts: list[Past] = []
    which = np.zeros(blocks, np.intp)
    for selection, token in parts:
        where = slice(None) if selection is None else selection
        which[where] = len(pasts) if token.which is None else token.which + len(pasts)
        pasts.extend(token.pasts)
    return _grouped(pasts, which)


def _grouped(pasts: Sequence[Past], which: Selection) -> Token:
    """A token that names each past once, and only those that some block has."""
    used = np.unique(which)
    places = {past: i for i, past in enumerate(dict.fromkeys(pasts[i] for i in used))}
    if len(places) == 1:
        return Token(tuple(places))
    new = np.zeros(len(pasts), np.intp)
    new[used] = [places[pasts[i]] for i in used]
    return Token(tuple(places), new[which])
