"""Rules of the conversions."""

from __future__ import annotations

from ..attributes import RoundingMode
from ..module import Operation
from ..ops import conversion as o
from ..types import (
    BF16,
    F4E2M1FN,
    F8E4M3FN,
    F8E5M2,
    F8E8M0FNU,
    F16,
    F32,
    F64,
    TF32,
    NumberType,
    TileType,
    Type,
)
from .diagnostic import Problem
from .elementwise import IEEE
from .relations import element_named, same, shape_of
from .rules import Context, Problems, rule

Mode = RoundingMode

_RANGES: dict[NumberType, tuple[int, int, int]] = {
    F16: (-14, 15, 11),
    BF16: (-126, 127, 8),
    F32: (-126, 127, 24),
    TF32: (-126, 127, 11),
    F64: (-1022, 1023, 53),
    F8E4M3FN: (-6, 8, 4),
    F8E5M2: (-14, 15, 3),
    F8E8M0FNU: (-127, 127, 1),
    F4E2M1FN: (0, 2, 2),
}
"""Least and greatest exponent of a normal number, and the bits of its significand."""


def is_widening(from_: NumberType, to: NumberType) -> bool:
    """Whether the normal numbers of one format are normal numbers of another.

    2^-127, the least f8E8M0FNU, is subnormal in f32, tf32 and bf16, so that these do not widen it.
    """
    low, high, precision = _RANGES[from_]
    other_low, other_high, other_precision = _RANGES[to]
    return other_low <= low and high <= other_high and precision <= other_precision


def conversion_modes(from_: NumberType, to: NumberType) -> tuple[RoundingMode, ...]:
    """The rounding modes that ``ftof`` may take between two formats.

    Rules are tried in order: to a power of two, to a format of 8 bits or fewer, where nothing is rounded, f64
    to f32, f32 to tf32, and the rest.
    """
    if to is F8E8M0FNU:
        return Mode.ZERO, Mode.POSITIVE_INF
    if to in (F8E4M3FN, F8E5M2, F4E2M1FN):
        return (Mode.NEAREST_EVEN,)
    if is_widening(from_, to):
        return (*IEEE, Mode.NEAREST_AWAY)
    if (from_, to) == (F64, F32):
        return IEEE
    if (from_, to) == (F32, TF32):
        return Mode.NEAREST_EVEN, Mode.ZERO, Mode.NEAREST_AWAY
    return Mode.NEAREST_EVEN, Mode.ZERO


def _ends(op: Operation) -> tuple[str, str]:
    return ("from_", "to") if "from_" in op.__dict__ else ("source", "result")


def _number(type_: Type) -> NumberType:
    assert isinstance(type_, NumberType)
    return type_


@rule(
    *(o.Bitcast, o.ExtI, o.FToF, o.FToI, o.IntToPtr, o.IToF, o.PtrToInt, o.PtrToPtr, o.TruncI),
)
def conversion_shape(op: Operation, context: Context) -> Problems:
    """A conversion keeps the shape."""
    names = _ends(op)
    yield from same(op, names, "shape", (shape_of(op, n) for n in names))


@rule(o.Bitcast)
def bitcast_width(op: o.Bitcast, context: Context) -> Problems:
    """A bitcast keeps the width, which is 19 bits for tf32."""
    widths = []
    for name in ("source", "result"):
        element = _number(element_named(op, name))
        widths.append(19 if element is TF32 else element.width)
    yield from same(op, ("source", "result"), "width", widths)


@rule(o.ExtI)
def extension_widens(op: o.ExtI, context: Context) -> Problems:
    """An extension is to a wider format."""
    from_, to = _number(element_named(op, "from_")), _number(element_named(op, "to"))
    if to.width <= from_.width:
        yield Problem("an extension is to a wider format", f"{from_} to {to}")


@rule(o.TruncI)
def truncation_narrows(op: o.TruncI, context: Context) -> Problems:
    """A truncation is to a narrower format."""
    from_, to = _number(element_named(op, "from_")), _number(element_named(op, "to"))
    if to.width >= from_.width:
        yield Problem("a truncation is to a narrower format", f"{from_} to {to}")


@rule(o.FToF)
def conversion_converts(op: o.FToF, context: Context) -> Problems:
    """A conversion is to another format."""
    if element_named(op, "from_") == element_named(op, "to"):
        yield Problem("a conversion is to another format", element_named(op, "to"))


@rule(o.FToF)
def conversion_rounding(op: o.FToF, context: Context) -> Problems:
    """The rounding mode is one that this pair of formats has."""
    from_, to = _number(element_named(op, "from_")), _number(element_named(op, "to"))
    allowed = conversion_modes(from_, to)
    if from_ is not to and op.rounding_mode not in allowed:
        yield Problem(
            f"{from_} to {to} has no such rounding mode", op.rounding_mode, " or ".join(map(str, allowed))
        )


@rule(o.FToI)
def to_integer_rounding(op: o.FToI, context: Context) -> Problems:
    """A float becomes an integer by truncation."""
    if op.rounding_mode is not Mode.NEAREST_INT_TO_ZERO:
        yield Problem("ftoi has no such rounding mode", op.rounding_mode, Mode.NEAREST_INT_TO_ZERO)


@rule(o.IToF)
def to_float_rounding(op: o.IToF, context: Context) -> Problems:
    """An integer becomes a float by rounding to nearest."""
    if op.rounding_mode is not Mode.NEAREST_EVEN:
        yield Problem("itof has no such rounding mode", op.rounding_mode, Mode.NEAREST_EVEN)


@rule(o.IToF)
def to_float_not_scale(op: o.IToF, context: Context) -> Problems:
    """An integer does not become a power of two."""
    if element_named(op, "to") is F8E8M0FNU:
        yield Problem("an integer becomes f8E8M0FNU by way of another format", F8E8M0FNU)


def _packed_bits(op: Operation, name: str) -> int:
    return _number(element_named(op, name)).width * _tile(op, name).size


def _tile(op: Operation, name: str) -> TileType:
    return TileType(shape_of(op, name), _number(element_named(op, name)))


@rule(o.Pack, o.Unpack)
def pack_rank(op: o.Pack | o.Unpack, context: Context) -> Problems:
    """Packing is between tiles of one dimension."""
    for name in ("source", "result"):
        if len(shape_of(op, name)) != 1:
            yield Problem(f"the {name} has one dimension", _tile(op, name))


@rule(o.Pack, o.Unpack)
def pack_size(op: o.Pack | o.Unpack, context: Context) -> Problems:
    """Packing keeps the bytes."""
    bits = [_packed_bits(op, name) for name in ("source", "result")]
    if bits[0] != bits[1] or bits[0] % 8:
        found = f"{_tile(op, 'source')} to {_tile(op, 'result')}"
        yield Problem("source and result take the same whole number of bytes", found)


@rule(o.Pack, o.Unpack)
def pack_width(op: o.Pack | o.Unpack, context: Context) -> Problems:
    """Packing is between formats of different widths: others are for ``bitcast``."""
    if _number(element_named(op, "source")).width == _number(element_named(op, "result")).width:
        yield Problem("formats of the same width are for bitcast", _tile(op, "source"))
