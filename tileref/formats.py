"""Between the IR's types and arrays: which format and which array type an element has."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileir.attributes import DenseElements
from tileir.types import NumberType, PointerType, TileType, Type

from .numerics.formats import FORMATS, FloatFormat, IntegerFormat, Rounding

Array = NDArray[Any]

ADDRESS = np.dtype(np.int64)
"""The array type of a tile of pointers."""

ROUNDINGS: dict[str, Rounding] = {r.value: r for r in Rounding}


def format_of(element: NumberType) -> FloatFormat | IntegerFormat:
    """The numeric format of an element type."""
    return FORMATS[element.name]


def element_format(type_: Type) -> FloatFormat | IntegerFormat:
    """The numeric format of a tile of numbers."""
    assert isinstance(type_, TileType)
    assert isinstance(type_.element, NumberType)
    return FORMATS[type_.element.name]


def float_format(type_: Type) -> FloatFormat:
    """The numeric format of a tile of floats."""
    found = element_format(type_)
    assert isinstance(found, FloatFormat)
    return found


def integer_format(type_: Type) -> IntegerFormat:
    """The numeric format of a tile of integers."""
    found = element_format(type_)
    assert isinstance(found, IntegerFormat)
    return found


def dtype_of(type_: TileType) -> np.dtype[Any]:
    """The array type of a tile: its format's, or an address for a pointer."""
    if isinstance(type_.element, PointerType):
        return ADDRESS
    return FORMATS[type_.element.name].dtype


def memory_dtype(element: NumberType) -> np.dtype[Any]:
    """The unsigned array type that moves an element's bytes: memory holds bits, not numbers."""
    return RAW[element.bytes]


RAW: dict[int, np.dtype[Any]] = {n: np.dtype(f"u{n}") for n in (1, 2, 4, 8)}


def constant_array(value: DenseElements) -> Array:
    """The elements of a constant, shaped like its tile (a splat as a broadcast, read-only array)."""
    element = value.type.element
    assert isinstance(element, NumberType)
    fmt = FORMATS[element.name]
    raw = np.frombuffer(value.data, dtype=np.dtype(f"<u{element.bytes}"))
    array = from_bits(_stored(raw, fmt), fmt)
    if value.is_splat or value.type.size == 1:
        return np.broadcast_to(array.reshape((1,) * len(value.type.shape)), value.type.shape)
    return array.reshape(value.type.shape)


def _stored(raw: Array, fmt: FloatFormat | IntegerFormat) -> Array:
    """The IR's patterns as the storage holds them: tf32 has 19 bits there, the upper ones of an f32 here."""
    return raw << fmt.unused_bits if isinstance(fmt, FloatFormat) and fmt.unused_bits else raw


def from_bits(raw: Array, fmt: FloatFormat | IntegerFormat) -> Array:
    """Unsigned patterns, one an element, as an array of the format's own type."""
    if fmt.name == "i1":
        return np.asarray(raw.astype(np.uint8) != 0)
    if fmt.name == "i4":
        low = (raw & 0xF).astype(np.int8)
        return np.where(low >= 8, low - 16, low).astype(np.int8)
    return raw.astype(np.dtype(f"u{fmt.dtype.itemsize}")).view(fmt.dtype)
