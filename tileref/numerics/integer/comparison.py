"""cmpi, mini and maxi: integers in order, as signed or as unsigned numbers."""

import numpy as np

from tileref.numerics.formats import IntegerFormat
from tileref.numerics.integer.reading import Array, Marked, as_signed, as_unsigned, wrapped

_COMPARISONS: dict[str, np.ufunc] = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less_than": np.less,
    "less_than_or_equal": np.less_equal,
    "greater_than": np.greater,
    "greater_than_or_equal": np.greater_equal,
}

PREDICATES = tuple(_COMPARISONS)
"""The dialect's comparison predicates."""


def cmpi(a: Array, b: Array, fmt: IntegerFormat, predicate: str, signed: bool = True) -> Array:
    """Whether a and b stand in the relation, a bool array (an i1 tile)."""
    if predicate not in _COMPARISONS:
        raise ValueError(f"predicate is {predicate!r}, expected one of {', '.join(PREDICATES)}")
    reading = as_signed if signed else as_unsigned
    return np.asarray(_COMPARISONS[predicate](reading(a, fmt), reading(b, fmt)))


def mini(a: Array, b: Array, fmt: IntegerFormat, signed: bool = True) -> Marked:
    """The lesser of a and b; never undefined."""
    reading = as_signed if signed else as_unsigned
    return wrapped(np.minimum(reading(a, fmt), reading(b, fmt)), fmt), None


def maxi(a: Array, b: Array, fmt: IntegerFormat, signed: bool = True) -> Marked:
    """The greater of a and b; never undefined."""
    reading = as_signed if signed else as_unsigned
    return wrapped(np.maximum(reading(a, fmt), reading(b, fmt)), fmt), None
