"""C's printf for tiles: one conversion for each tile, whose elements are printed in row-major order."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from tileir.errors import TileError
from tileir.types import NumberType

from .formats import Array

WIDEST = 4095
"""Characters that C promises for one conversion."""
CONVERSION = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\d+)?(?:\.(?P<precision>\d+))?(?:hh|h|ll|l|j|z|t|L)?"
    r"(?P<kind>[diouxXfFeEgGaAcsp%])"
)


def render(text: str, values: Sequence[Array], elements: Sequence[NumberType | None]) -> str:
    """``text`` with every conversion replaced by the next tile.

    A scalar is printed as C would; a tile of rank 1 or more as its elements between brackets.

    Raises:
        TileError: a conversion is wider than C promises.
    """
    remaining = iter(zip(values, elements, strict=True))

    def one(match: re.Match[str]) -> str:
        if match["kind"] == "%":
            return "%"
        if any(int(match[part] or 0) > WIDEST for part in ("width", "precision")):
            raise TileError(
                "a conversion of a print is too wide",
                rule="print-format",
                found=match[0],
                expected=f"at most {WIDEST}",
            )
        try:
            value, element = next(remaining)
        except StopIteration:
            return match[0]
        if value.ndim == 0:
            return _scalar(match, value[()], element)
        return _nested(match, value, element)

    return CONVERSION.sub(one, text)


def _nested(match: re.Match[str], value: Array, element: NumberType | None) -> str:
    if value.ndim == 0:
        return _scalar(match, value[()], element)
    return "[" + ", ".join(_nested(match, v, element) for v in value) + "]"


def _scalar(match: re.Match[str], value: object, element: NumberType | None) -> str:
    kind = match["kind"]
    flags, width = match["flags"], match["width"] or ""
    precision = "" if match["precision"] is None else "." + match["precision"]
    if kind in "fFeEgGaA":
        number = float(np.float64(value))  # type: ignore[arg-type]
        if kind in "aA":
            text = number.hex() if kind == "a" else number.hex().upper()
            return text.rjust(int(width or 0))
        return f"%{flags}{width}{precision}{kind}" % number
    if element is not None and element.is_float:
        number = float(np.float64(value))  # type: ignore[arg-type]
        integer = int(number) if np.isfinite(number) else 0
    else:
        integer = int(value)  # type: ignore[call-overload]
    if kind in "uoxXp":
        integer &= (1 << (64 if element is None else max(element.width, 32))) - 1
    if kind == "p":
        return f"0x{integer:x}"
    if kind == "c":
        return chr(integer & 0xFF)
    if kind == "s":
        return str(integer)
    return f"%{flags}{width}{precision}{'d' if kind in 'iu' else kind}" % integer
