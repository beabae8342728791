"""Conversions between floats, and between floats and integers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from tileref.numerics.formats import FORMATS

from ...case import Contents
from ..integer_recipes import HardToRound
from ..probe import Probe
from ..recipes import Every, Floats, NearMidpoints
from .elementwise import elementwise, lanes_of

FLOATS = ("f64", "f32", "f16", "bf16", "tf32", "f8E4M3FN", "f8E5M2")
EIGHT_BITS = ("f8E4M3FN", "f8E5M2")
INTEGERS = ("i8", "i16", "i32", "i64")
NEAREST, ZERO, AWAY = "nearest_even", "zero", "nearest_away"
EVERY_MODE = (NEAREST, ZERO, "negative_inf", "positive_inf", AWAY)
TIMES = 4
"""How often every value of an 8-bit format is asked for: it takes 1,024 lanes to fill a tile."""
WIDE_LANES = 1 << 17
INTEGER_LANES = 1 << 16


def modes(source: str, target: str) -> tuple[str, ...]:
    """The rounding modes that tileiras 13.4.92 takes for a conversion on sm_90; none if it takes none."""
    if target in EIGHT_BITS:
        return (NEAREST,)
    if target == "tf32":
        return (NEAREST, ZERO) if source == "f64" else (NEAREST, ZERO, AWAY)
    if target == "bf16" or (target == "f16" and source not in EIGHT_BITS):
        return (NEAREST, ZERO)
    if (source, target) == ("f64", "f32"):
        return EVERY_MODE[:4]
    if (source, target) == ("f32", "tf32"):
        return (NEAREST, ZERO, AWAY)
    return EVERY_MODE


def in_memory(element: str) -> str:
    """The format that ``element`` is stored as: no array holds a tf32."""
    return "f32" if element == "tf32" else element


def ftof() -> Iterator[Probe]:
    """All values of the narrow formats, and of the wider ones many that are hard for the target."""
    for source, target in product(FLOATS, FLOATS):
        if source != target:
            for mode in modes(source, target):
                yield _ftof(source, target, mode)


def _ftof(source: str, target: str, mode: str) -> Probe:
    stored, answered = in_memory(source), in_memory(target)
    width = FORMATS[stored].width
    contents: Contents = Every() if width <= 16 else NearMidpoints(21, target)
    lanes = {8: TIMES << 8, 16: 1 << 16}.get(width, WIDE_LANES)
    lines, value = [], "x0"
    if source == "tf32":
        lines, value = [f"%xx = ftof %x0 : {lanes_of('f32')} -> {lanes_of('tf32')}"], "xx"
    lines.append(f"%q = ftof %{value} rounding<{mode}> : {lanes_of(source)} -> {lanes_of(target)}")
    # A tf32 must become an f32 to be stored; the others pass through a reshape that does nothing.
    through = "ftof" if target == "tf32" else "reshape"
    lines.append(f"%r = {through} %q : {lanes_of(target)} -> {lanes_of(answered)}")
    return elementwise(f"ftof/{source}_{target}_{mode}", lines, [(stored, contents)], answered, lanes)


def itof() -> Iterator[Probe]:
    """All values of i8 and i16, and of the wider ones many that are hard to round."""
    for source, target, sign in product(INTEGERS, ("f64", "f32", "f16", "bf16", *EIGHT_BITS), SIGNS):
        narrow = source in ("i8", "i16")
        contents: Contents = Every() if narrow else HardToRound(5)
        lanes = TIMES << 8 if source == "i8" else INTEGER_LANES
        line = f"%r = itof %x0 {sign} : {lanes_of(source)} -> {lanes_of(target)}"
        yield elementwise(f"itof/{source}_{target}_{sign}", [line], [(source, contents)], target, lanes)


SIGNS = ("signed", "unsigned")


def ftoi() -> Iterator[Probe]:
    """All values of the narrow formats, any of the wider; the assembler saturates no 8-bit floats."""
    sources = ("f64", "f32", "f16", "bf16", *EIGHT_BITS)
    for source, target, sign, saturating in product(sources, INTEGERS, SIGNS, (False, True)):
        if saturating and source in EIGHT_BITS:
            continue
        narrow = FORMATS[source].width <= 16
        contents: Contents = Every() if narrow else Floats("bits", 8)
        lanes = TIMES << 8 if source in EIGHT_BITS else INTEGER_LANES
        attribute = f"{sign} saturating" if saturating else sign
        line = f"%r = ftoi %x0 {attribute} : {lanes_of(source)} -> {lanes_of(target)}"
        name = f"ftoi/{source}_{target}_{attribute.replace(' ', '_')}"
        yield elementwise(name, [line], [(source, contents)], target, lanes)
