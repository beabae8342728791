"""Errors of arguments that are also the built-in exceptions that ``cuda.tile.launch`` raises for them.

Host code that catches ``TypeError``, ``ValueError`` or ``OverflowError`` does so here as well.
"""

from __future__ import annotations

from tileir.errors import ArgumentError


class ArgumentTypeError(ArgumentError, TypeError):
    """An argument of a type, or so many arguments, that no kernel takes there."""


class ArgumentValueError(ArgumentError, ValueError):
    """An argument of the right type that no kernel takes: a grid, an annotated extent, a layout."""


class ArgumentOverflowError(ArgumentError, OverflowError):
    """A number, an extent or a stride that does not fit the integers it is passed as."""
