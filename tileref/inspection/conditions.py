"""Conditions on the lanes of a value: ``nan``, ``inf``, ``undefined``, ``changed``, ``>1e4``, ``abs>=2``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..formats import Array

Lanes = NDArray[np.bool_]

LARGEST = 1 << 64
WORDS = ("nan", "inf", "undefined", "changed")
COMPARISONS: Mapping[str, Callable[[Array, float], Array]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
_COMPARISON = re.compile(r"(abs)?(>=|<=|==|!=|>|<)(.+)\Z")


@dataclass(frozen=True, slots=True)
class Comparison:
    """A lane, or its magnitude, compared with a number."""

    magnitude: bool
    operator: str
    number: int | float

    def __str__(self) -> str:
        return f"{'abs' if self.magnitude else ''}{self.operator}{self.number}"


Atom = str | Comparison


@dataclass(frozen=True, slots=True)
class Condition:
    """What must all hold of a lane: words of ``WORDS`` and comparisons."""

    atoms: tuple[Atom, ...]

    def __str__(self) -> str:
        return "&".join(map(str, self.atoms))

    @property
    def needs_previous(self) -> bool:
        """Whether the value before is needed."""
        return "changed" in self.atoms

    def lanes(self, data: Array, undefined: Lanes | None, changed: Lanes | None) -> Lanes:
        """Where the condition holds; ``changed`` is given if it is needed. No lane without a value is NaN."""
        found = np.ones(data.shape, np.bool_)
        defined = None if undefined is None else ~undefined
        for atom in self.atoms:
            if atom == "undefined":
                found &= False if undefined is None else undefined
                continue
            if atom == "changed":
                assert changed is not None
                found &= changed
                continue
            found &= _defined_lanes(data, atom)
            if defined is not None:
                found &= defined
        return found


def _defined_lanes(data: Array, atom: Atom) -> Lanes:
    numbers = as_numbers(data)
    if isinstance(atom, Comparison):
        with np.errstate(all="ignore"):
            numbers = _magnitude(numbers) if atom.magnitude else numbers
            return np.asarray(COMPARISONS[atom.operator](numbers, atom.number), np.bool_)
    if numbers.dtype.kind != "f":
        return np.zeros(data.shape, np.bool_)
    return np.isnan(numbers) if atom == "nan" else np.isinf(numbers)


def _magnitude(numbers: Array) -> Array:
    # The magnitude of the smallest integer does not fit its type.
    return np.abs(numbers) if numbers.dtype.kind == "f" else np.abs(numbers).view(np.uint64)


def as_numbers(data: Array) -> Array:
    """Elements in f64 or i64, which hold every value of every narrower type."""
    if data.dtype.kind in "biu":
        return data.astype(np.int64)
    with np.errstate(invalid="ignore"):  # A signalling NaN becomes a quiet one.
        return data.astype(np.float64)


def differing(one: Array, other: Array) -> NDArray[np.bool_]:
    """Where two arrays of a type have other bits; one NaN is like any other."""
    raw = np.dtype(f"u{one.itemsize}")
    lanes = np.ascontiguousarray(one).view(raw) != np.ascontiguousarray(other).view(raw)
    # Of a rank-0 array numpy makes one of rank 1.
    found = np.asarray(lanes).reshape(one.shape)
    if found.any():
        numbers, others = as_numbers(one), as_numbers(other)
        if numbers.dtype.kind == "f":
            found &= ~(np.isnan(numbers) & np.isnan(others))
    return found


def condition(word: str) -> Condition | None:
    """The condition that a word of a selection writes; None if it writes none."""
    atoms: list[Atom] = []
    for piece in word.split("&"):
        if piece in WORDS:
            atoms.append(piece)
            continue
        match = _COMPARISON.match(piece)
        if match is None:
            return None
        number = _number(match[3])
        if number is None:
            return None
        atoms.append(Comparison(match[1] is not None, match[2], number))
    return Condition(tuple(atoms))


def _number(text: str) -> int | float | None:
    try:
        number = int(text, 0)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return None
    # No lane holds a larger one, and numpy compares it.
    return max(-LARGEST, min(number, LARGEST))
