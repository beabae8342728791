"""C's printf for tiles: one conversion for each tile, whose elements are printed in row-major order."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from tileir.errors import TileError
from tileir.types import NumberType

from .formats import Array

WIDEST = 4095
"""Characters that C promises for one conversion."""
CONVERSION = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\d+)?(?:\.(?P<precision>\d*))?(?P<length>hh|h|ll|l|j|z|t|L)?"
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
    kind, flags = match["kind"], match["flags"]
    width = int(match["width"] or 0)
    precision = None if match["precision"] is None else int(match["precision"] or 0)
    if kind in "fFeEgGaA":
        return _float(kind, flags, width, precision, float(np.float64(value)))  # type: ignore[arg-type]
    if element is not None and element.is_float:
        number = float(np.float64(value))  # type: ignore[arg-type]
        integer = int(number) if np.isfinite(number) else 0
    else:
        integer = int(value)  # type: ignore[call-overload]
    if kind == "c":
        return _padded("", chr(integer & 0xFF), width, flags.replace("0", ""))
    if kind in "sp":
        text = str(integer) if kind == "s" else f"0x{integer & (1 << 64) - 1:x}"
        return _padded("", text, width, flags.replace("0", ""))
    # What C's argument promotion and the length modifier leave of it.
    narrow = {"hh": 8, "h": 16}.get(match["length"] or "")
    bits = narrow or (64 if element is None else max(element.width, 32))
    integer &= (1 << bits) - 1
    if kind in "di" and integer >> (bits - 1):
        integer -= 1 << bits
    return _integer(kind, flags, width, precision, integer)


def _padded(sign: str, text: str, width: int, flags: str) -> str:
    """``sign`` and ``text``, spread to ``width`` as the flags say."""
    if "-" in flags:
        return (sign + text).ljust(width)
    if "0" in flags:
        return sign + text.rjust(width - len(sign), "0")
    return (sign + text).rjust(width)


def _sign(flags: str, *, negative: bool) -> str:
    return "-" if negative else "+" if "+" in flags else " " if " " in flags else ""


def _integer(kind: str, flags: str, width: int, precision: int | None, value: int) -> str:
    """An integer by C's rules (C17 7.21.6.1): a precision is a least number of digits, and ends ``0``."""
    sign = _sign(flags, negative=value < 0) if kind in "di" else ""
    form = {"o": "o", "x": "x", "X": "X"}.get(kind, "d")
    digits = "" if precision == 0 and value == 0 else format(abs(value), form)
    digits = digits.rjust(precision or 0, "0")
    if "#" in flags:
        if kind == "o" and not digits.startswith("0"):
            digits = "0" + digits
        elif kind in "xX" and value:
            sign = "0" + kind
    return _padded(sign, digits, width, flags if precision is None else flags.replace("0", ""))


def _float(kind: str, flags: str, width: int, precision: int | None, value: float) -> str:
    sign = _sign(flags, negative=math.copysign(1.0, value) < 0)
    if not math.isfinite(value):
        text = "nan" if math.isnan(value) else "inf"
        return _padded(sign, text.upper() if kind.isupper() else text, width, flags.replace("0", ""))
    if kind in "aA":
        text = _hexadecimal(abs(value), precision, point="#" in flags)
        sign, text = sign + text[:2], text[2:]
        return _padded(*((sign.upper(), text.upper()) if kind == "A" else (sign, text)), width, flags)
    digits = "" if precision is None else f".{precision}"
    return _padded(sign, f"%{'#' if '#' in flags else ''}{digits}{kind}" % abs(value), width, flags)


def _hexadecimal(value: float, precision: int | None, *, point: bool) -> str:
    """``%a`` as glibc spells it: one digit before the point, which is 0 for subnormal numbers and zero."""
    bits = int(np.float64(value).view(np.uint64))
    exponent, fraction = bits >> 52, bits & ((1 << 52) - 1)
    whole = (int(exponent > 0) << 52) | fraction
    power = 0 if bits == 0 else max(exponent, 1) - 1023
    digits = 13
    if precision is not None and precision < 13:
        digits, cut = precision, 4 * (13 - precision)
        rest, half = whole & ((1 << cut) - 1), 1 << (cut - 1)
        whole >>= cut
        whole += rest > half or (rest == half and whole & 1)
    first, rest = whole >> (4 * digits), whole & ((1 << (4 * digits)) - 1)
    text = f"{rest:0{digits}x}" if digits else ""
    text = text.rstrip("0") if precision is None else text.ljust(precision, "0")
    return f"0x{first:x}{'.' if text or point else ''}{text}p{power:+d}"
