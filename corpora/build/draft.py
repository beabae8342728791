"""What a source module says about a case before its kernel is compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

LANES = 4096
"""Elements that an elementwise case works on."""
TILE = 1024


@dataclass(frozen=True)
class Array:
    """An array parameter: its memory, and what the kernel may assume about it.

    ``unsigned`` matters to the kernel's source language alone: the dialect's integers have no sign.
    ``aligned`` promises that the base address, the extents and the strides are multiples of 16, which a
    just-in-time compiled kernel finds out for most arrays.
    """

    format: str
    shape: tuple[int, ...]
    recipe: Mapping[str, Any]
    output: bool = False
    unsigned: bool = False
    aligned: bool = False


@dataclass(frozen=True)
class Number:
    """A scalar parameter."""

    format: str
    value: int | float


@dataclass(frozen=True)
class Draft:
    """A case: the kernel function, its grid and its parameters in order.

    A parameter that is a plain number or a string is a constant of the kernel; a list is a tuple of arrays.
    """

    name: str
    kernel: Any
    grid: tuple[int, ...]
    parameters: Sequence[Any]
    bytecode: str = "13.4"
    options: Mapping[str, Any] = field(default_factory=dict)


def seed(text: str) -> int:
    """A seed that depends on ``text`` alone."""
    return crc32(text.encode())


def hard(format_name: str, name: str, role: str = "only", lanes: int = LANES, **more: Any) -> Array:
    """An input of hard values (see ``corpora.inputs``)."""
    unsigned = bool(more.pop("unsigned", False))
    recipe = {"kind": "hard", "seed": seed(name + role), "role": role, **more}
    return Array(format_name, (lanes,), recipe, unsigned=unsigned)


def moderate(
    format_name: str, name: str, shape: tuple[int, ...], *, aligned: bool = False, **more: Any
) -> Array:
    """An input of values around 1 (see ``corpora.inputs``)."""
    recipe = {"kind": "moderate", "seed": seed(name), **more}
    return Array(format_name, shape, recipe, aligned=aligned)


def integers(format_name: str, name: str, shape: tuple[int, ...], low: int, high: int, **more: Any) -> Array:
    """An input of integers from ``low`` up to but not including ``high``."""
    return Array(format_name, shape, {"kind": "range", "seed": seed(name), "low": low, "high": high}, **more)


def output(format_name: str, shape: tuple[int, ...] = (LANES,), **more: Any) -> Array:
    """An output; it starts as a pattern that nothing computes, so that unwritten elements show."""
    widths = {"f64": 16, "i64": 16, "f32": 8, "i32": 8, "f16": 4, "bf16": 4, "i16": 4, "i1": 1}
    bits = "1" if format_name == "i1" else ("a5" * 8)[: widths.get(format_name, 2)]
    return Array(format_name, shape, {"kind": "fill", "bits": bits}, output=True, **more)
