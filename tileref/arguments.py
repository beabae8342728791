"""What a launch is given, checked before anything runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from tileir.errors import ArgumentError
from tileir.module import Function, Module, Operation
from tileir.types import F4E2M1FN, NumberType, PointerType, TileType

from .formats import ADDRESS, Array, format_of
from .memory import Memory
from .numerics.conversion import ftof
from .numerics.formats import F32, F64, TF32, FloatFormat, IntegerFormat
from .undefined import describe
from .values import RuntimeValue, Tile

GRID_LIMITS = ((1 << 24) - 1, 65535, 65535)
"""Blocks along x, y and z. The dialect limits every axis to 2^24 - 1, beyond which block numbers may be wrong
(``get_tile_block_id``, "Grid Dimension Limitation"); a launch in CUDA refuses more than 65535 along y and z
(CUDA C++ Programming Guide, "Compute Capabilities")."""


@dataclass(frozen=True, eq=False)
class Table:
    """An argument that is a table of 64-bit words in global memory, among them the addresses of arrays.

    Attributes:
        words: numbers, and arrays, each of which stands for its address. The arrays are read and written in
            place, like arguments.
    """

    words: tuple[Array | int, ...]

    @property
    def arrays(self) -> list[Array]:
        """The arrays whose addresses are in the table."""
        return [word for word in self.words if isinstance(word, np.ndarray)]


def all_arrays(arguments: Sequence[Any]) -> dict[int, Array]:
    """The arrays of a launch by number: an argument's is its position, those of tables are counted on."""
    found = {i: a for i, a in enumerate(arguments) if isinstance(a, np.ndarray)}
    inner = [array for a in arguments if isinstance(a, Table) for array in a.arrays]
    return found | dict(enumerate(inner, len(arguments)))


def check_grid(grid: int | Sequence[int]) -> tuple[int, int, int]:
    """A grid as three extents.

    Raises:
        ArgumentError: not one to three positive integers, or more along an axis than ``GRID_LIMITS``.
    """
    try:
        extents = (grid,) if isinstance(grid, int | np.integer) else tuple(grid)
    except TypeError:
        extents = ()
    if not 1 <= len(extents) <= 3 or not all(isinstance(e, int | np.integer) for e in extents):
        raise ArgumentError("a grid is one to three integers", rule="grid", found=grid)
    three = tuple(int(e) for e in extents) + (1,) * (3 - len(extents))
    for axis, extent, limit in zip("xyz", three, GRID_LIMITS, strict=True):
        if not 1 <= extent <= limit:
            raise ArgumentError(
                f"a grid has at least one block along {axis}, and no more than the limit",
                rule="grid",
                found=three,
                expected=f"1 to {limit} along {axis}",
            )
    return three[0], three[1], three[2]


def check_count(name: str, value: object) -> int:
    """An option that is a positive number.

    Raises:
        ArgumentError: it is none; the rule is the option's name.
    """
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise ArgumentError(
            f"{name} is a positive integer",
            rule=name.replace("_", "-"),
            found=repr(value),
            expected="1 or more",
        )
    return int(value)


def check_sequence(arguments: object) -> list[Any]:
    """The arguments as a list.

    Raises:
        ArgumentError: they are no sequence.
    """
    if not isinstance(arguments, Sequence) or isinstance(arguments, str | bytes):
        raise ArgumentError(
            "the arguments are a list, one for each parameter of the entry",
            rule="argument-count",
            found=type(arguments).__name__,
            expected="a list",
        )
    return list(arguments)


def check_writable(writers: Mapping[Any, Operation], arguments: Sequence[Any]) -> None:
    """Refuse a kernel that may write to a read-only array, before it has changed another.

    Args:
        writers: by the position of an argument, an operation that writes to it.
        arguments: as they were given.

    Raises:
        ArgumentError: it may.
    """
    for position, argument in enumerate(arguments):
        writer = writers.get(position)
        if writer is not None and isinstance(argument, np.ndarray) and not argument.flags.writeable:
            raise ArgumentError(
                f"the kernel writes to argument {position}, which is a read-only array",
                rule="argument-read-only",
                **describe(writer),
            )


def find_entry(module: Module, name: str | None) -> Function:
    """The entry called ``name``, or the only one there is."""
    entries = module.entries
    names = ", ".join(e.name for e in entries) or "none"
    if name is None:
        if len(entries) != 1:
            raise ArgumentError(
                "the module has several entries, or none: say which to launch",
                rule="entry",
                file=module.source,
                found=names,
            )
        return entries[0]
    for entry in entries:
        if entry.name == name:
            return entry
    raise ArgumentError(
        "the module has no entry of this name", rule="entry", file=module.source, found=name, expected=names
    )


def bind(entry: Function, arguments: Sequence[Any], memory: Memory) -> list[RuntimeValue]:
    """The entry's parameters as values; arrays become buffers of ``memory``.

    Raises:
        ArgumentError: an argument's count, type or layout is wrong; the message names its position.
    """
    if len(arguments) != len(entry.parameters):
        raise ArgumentError(
            f"the entry {entry.name} takes another number of arguments",
            rule="argument-count",
            found=len(arguments),
            expected=f"{len(entry.parameters)}: ({', '.join(str(p.type) for p in entry.parameters)})",
        )
    values: list[RuntimeValue] = []
    following = len(arguments)
    for position, (parameter, argument) in enumerate(zip(entry.parameters, arguments, strict=True)):
        type_ = parameter.type
        where = f"argument {position} of {entry.name}"
        if not isinstance(type_, TileType) or type_.shape:
            raise ArgumentError(f"{where} is of a type no host can pass", rule="argument-type", found=type_)
        if isinstance(type_.element, PointerType) and isinstance(argument, Table):
            values.append(_table(where, position, following, type_, argument, memory))
            following += len(argument.arrays)
        elif isinstance(type_.element, PointerType):
            values.append(_buffer(where, position, type_, type_.element.pointee, argument, memory))
        else:
            values.append(Tile(type_, _scalar(where, type_.element, argument)[None]))
    return values


PACKED = ", two elements a byte, the even one in the low half (tileref.numerics.pack makes them)"


def accepted(element: NumberType) -> tuple[np.dtype[Any], ...]:
    """Array types that hold elements of a type: the format's own, or unsigned for a plain integer."""
    fmt = format_of(element)
    if element.name == "i1":
        return np.dtype(np.bool_), np.dtype(np.uint8)
    if element.name == "i4":
        return np.dtype(np.int8), np.dtype(ml_dtypes.int4)
    if element is F4E2M1FN:
        # Two elements a byte, the even one in the low half.
        return np.dtype(np.uint8), np.dtype(np.int8)
    if isinstance(fmt, IntegerFormat):
        return fmt.dtype, fmt.unsigned_dtype
    return (fmt.dtype,)


def _buffer(
    where: str, position: int, type_: TileType, element: NumberType, argument: Any, memory: Memory
) -> Tile:
    wanted = accepted(element)
    names = " or ".join(str(d) for d in wanted)
    if not isinstance(argument, np.ndarray) or isinstance(argument, np.ma.MaskedArray):
        raise ArgumentError(
            f"{where} is a pointer and takes a numpy array",
            rule="argument-type",
            found=type(argument).__name__,
            expected=f"an array of {names}",
        )
    if argument.dtype not in wanted:
        raise ArgumentError(
            f"{where} points to {element}",
            rule="argument-type",
            found=f"an array of {argument.dtype}",
            expected=f"an array of {names}" + (PACKED if element is F4E2M1FN else ""),
        )
    return Tile(type_, np.array([_placed(where, position, argument, memory)], ADDRESS))


def _table(where: str, position: int, following: int, type_: TileType, table: Table, memory: Memory) -> Tile:
    """A table in memory, after the arrays that it names."""
    assert isinstance(type_.element, PointerType)
    if type_.element.pointee.name != "i64":
        raise ArgumentError(
            f"{where} points to {type_.element.pointee}, and a table is of 64-bit words",
            rule="argument-type",
            found="a table",
            expected=f"an array of {type_.element.pointee}",
        )
    words = []
    for word in table.words:
        if isinstance(word, np.ndarray):
            words.append(_placed(f"an array of the table that is {where}", following, word, memory))
            following += 1
        else:
            words.append(word)
    data = np.array(words, np.int64).view(np.uint8)
    return Tile(type_, np.array([memory.add(data, f"argument {position}").base], ADDRESS))


def _placed(where: str, number: int, argument: Array, memory: Memory) -> int:
    """The address of an array that has got a place in memory."""
    if not (argument.flags.c_contiguous or argument.flags.f_contiguous):
        raise ArgumentError(
            f"{where} is an array with gaps; pass the array it is a part of, or a copy",
            rule="argument-layout",
            found=f"strides {argument.strides}",
            expected="elements that lie next to each other",
        )
    flat = argument.reshape(-1, order="A")
    return memory.add(flat.view(np.uint8), f"argument {number}", argument=number).base


def _scalar(where: str, element: NumberType, argument: Any) -> Array:
    fmt = format_of(element)
    if isinstance(argument, np.ndarray) and argument.ndim == 0:
        argument = argument[()]
    if isinstance(fmt, IntegerFormat):
        if not isinstance(argument, int | np.integer | np.bool_):
            raise ArgumentError(
                f"{where} is a value of {element}",
                rule="argument-type",
                found=f"{argument!r} ({type(argument).__name__})",
                expected="an integer",
            )
        number = int(argument)
        if not fmt.minimum <= number < 1 << fmt.width:
            raise ArgumentError(
                f"{where} does not fit {element}",
                rule="argument-range",
                found=number,
                expected=f"{fmt.minimum} to {(1 << fmt.width) - 1}",
            )
        if element.name == "i1":
            return np.array(bool(number & 1))
        wrapped = np.array(number & ((1 << fmt.width) - 1), np.uint64)
        return wrapped.astype(fmt.dtype)
    if isinstance(argument, np.generic):
        if argument.dtype != fmt.dtype:
            raise ArgumentError(
                f"{where} is a value of {element}",
                rule="argument-type",
                found=argument.dtype,
                expected=fmt.dtype,
            )
        # Of a format that is stored in a wider one, what it holds.
        return ftof(np.array(argument), F32, fmt) if fmt is TF32 else np.array(argument)
    if not isinstance(argument, int | float):
        raise ArgumentError(
            f"{where} is a value of {element}",
            rule="argument-type",
            found=f"{argument!r} ({type(argument).__name__})",
            expected="a number",
        )
    return _rounded(where, element, argument)


def _rounded(where: str, element: NumberType, argument: float) -> Array:
    """A number of Python's, rounded once."""
    fmt = format_of(element)
    assert isinstance(fmt, FloatFormat)
    number = argument
    if isinstance(argument, int) and fmt is not F64 and (excess := argument.bit_length() - F64.precision) > 0:
        # To odd: the bits that f64 cannot hold leave a trace, so that rounding again is rounding once.
        kept, lost = divmod(abs(argument), 1 << excess)
        number = (kept | bool(lost)) << excess
        number = -number if argument < 0 else number
    try:
        exact = np.array(float(number))
    except OverflowError:
        raise ArgumentError(
            f"{where} is a value of {element}",
            rule="argument-range",
            found=f"an integer of {argument.bit_length()} bits",  # type: ignore[attr-defined]
            expected="one that an f64 holds at least roughly",
        ) from None
    return exact if fmt is F64 else ftof(exact, F64, fmt)
