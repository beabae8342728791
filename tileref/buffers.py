"""Arguments of a launch as the command line writes them: files, numbers, and arrays made on the spot."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tileir.errors import ArgumentError, TileError
from tileir.files import write_whole

from .formats import Array
from .numerics.conversion import ftof, pack
from .numerics.formats import F4E2M1FN, F64, FORMATS, FloatFormat, IntegerFormat

FORMS = "FILE.npy[:FORMAT], FORMAT:NUMBER, NUMBER, zeros|iota|random|fill:FORMAT:SHAPE[:OPTION...]"
"""What an argument may look like."""


def argument(text: str) -> Any:
    """The argument that ``text`` writes.

    - ``x.npy``: the array in a file; with ``:bf16`` or another format, its bits read as that format, for the
      types that a ``.npy`` file has no name for.
    - ``i32:5``, ``f32:1.5``, ``5``, ``1.5``: a number, of a format or of whatever the kernel takes.
    - ``zeros:f32:1024x1024``, ``iota:i32:64`` (0, 1, 2, ...), ``fill:bf16:128:1.5``: made arrays.
    - ``random:f32:4096:seed=1``: floats around 0 with a deviation of 1, integers over their whole range; with
      ``low=`` and ``high=`` evenly from the one up to the other. The seed is 0 if not given.

    Raises:
        ArgumentError: there is no such argument, or it is not complete.
        TileError: the file cannot be read.
    """
    head, *rest = text.split(":")
    if head in MAKERS:
        return _made(text, head, rest)
    path, format_name = _path(text)
    if path.endswith(".npy"):
        return _file(text, path, format_name)
    if len(rest) == 1 and head in FORMATS:
        return scalar(text, head, rest[0])
    if not rest:
        return _plain(text)
    raise _wrong(text, "there is no such argument")


def _wrong(text: str, message: str, expected: object = FORMS) -> ArgumentError:
    return ArgumentError(message, rule="argument-text", found=text, expected=expected)


def _path(text: str) -> tuple[str, str | None]:
    path, colon, format_name = text.rpartition(":")
    return (path, format_name) if colon and format_name in FORMATS else (text, None)


def _plain(text: str) -> int | float:
    for read in (lambda t: int(t, 0), float):
        try:
            return read(text)
        except ValueError:
            continue
    raise _wrong(text, "there is no such argument")


def scalar(text: str, format_name: str, number: str) -> Any:
    """One value of a format, as numpy has it."""
    fmt = _format(text, format_name)
    try:
        if isinstance(fmt, IntegerFormat):
            value = int(number, 0)
            if not fmt.minimum <= value < 1 << fmt.width:
                raise _wrong(text, "the number does not fit", f"{fmt.minimum} to {(1 << fmt.width) - 1}")
            wrapped = np.array(value & ((1 << fmt.width) - 1), np.uint64)
            return wrapped.astype(fmt.dtype)[()]
        return _as_format(np.array([float(number)]), fmt)[0]
    except ValueError:
        raise _wrong(text, "this is no number", f"a number of {fmt.name}") from None


def _format(text: str, name: str) -> FloatFormat | IntegerFormat:
    if name not in FORMATS:
        raise _wrong(text, "there is no such format", ", ".join(FORMATS))
    return FORMATS[name]


def _file(text: str, path: str, format_name: str | None) -> Array:
    try:
        array = np.load(io.BytesIO(Path(path).read_bytes()), allow_pickle=False)
    except OSError as error:
        raise TileError(f"cannot read the file: {error.strerror}", rule="file", file=path) from error
    except (ValueError, EOFError) as error:
        raise TileError(f"the file is no array of numbers: {error}", rule="file-kind", file=path) from error
    if not isinstance(array, np.ndarray):
        raise TileError("the file holds several arrays", rule="file-kind", file=path, expected="one, as .npy")
    if format_name is None:
        return array
    fmt = _format(text, format_name)
    if array.dtype.itemsize != fmt.dtype.itemsize or array.dtype.hasobject:
        raise _wrong(text, "the file's elements are of another size", f"{fmt.dtype.itemsize} bytes")
    return np.ascontiguousarray(array).view(np.uint8 if fmt is F4E2M1FN else fmt.dtype)


def _made(text: str, kind: str, parts: list[str]) -> Array:
    if len(parts) < 2:
        raise _wrong(text, "a format and a shape are missing", f"{kind}:FORMAT:SHAPE")
    fmt = _format(text, parts[0])
    if not re.fullmatch(r"\d+(x\d+)*", parts[1]):
        raise _wrong(text, "this is no shape", "extents such as 1024 or 64x32")
    shape = tuple(int(extent) for extent in parts[1].split("x"))
    if len(shape) > DIMENSIONS:
        raise _wrong(text, "the array has too many dimensions", f"at most {DIMENSIONS}")
    if np.prod(shape, dtype=object) * fmt.dtype.itemsize > LARGEST:
        raise _wrong(text, "the array is too large", f"at most {LARGEST} bytes")
    made = np.ascontiguousarray(MAKERS[kind](text, fmt, shape, parts[2:]))
    return _packed(text, made) if fmt is F4E2M1FN else made


def _packed(text: str, array: Array) -> Array:
    """Two elements a byte, as a kernel takes them."""
    if array.shape[-1] % 2:
        raise _wrong(text, "two elements of f4E2M1FN share a byte", "an even extent at the end")
    return pack(array, F4E2M1FN).view(np.uint8)


DIMENSIONS = 64
"""Of an array of numpy's."""
LARGEST = 1 << 40
"""Bytes of an array that nobody means: they are refused before anything is allocated."""

Format = FloatFormat | IntegerFormat


def _none(text: str, options: list[str]) -> None:
    if options:
        raise _wrong(text, "there is something left over at the end", "nothing after the shape")


def _zeros(text: str, fmt: Format, shape: tuple[int, ...], options: list[str]) -> Array:
    _none(text, options)
    return np.zeros(shape, fmt.dtype)


def _iota(text: str, fmt: Format, shape: tuple[int, ...], options: list[str]) -> Array:
    _none(text, options)
    count = np.arange(int(np.prod(shape, dtype=object))).reshape(shape)
    return _as_format(count, fmt)


def _fill(text: str, fmt: Format, shape: tuple[int, ...], options: list[str]) -> Array:
    if len(options) != 1:
        raise _wrong(text, "what to fill the array with is missing", "fill:FORMAT:SHAPE:NUMBER")
    return np.full(shape, scalar(text, fmt.name, options[0]), fmt.dtype)


def _random(text: str, fmt: Format, shape: tuple[int, ...], options: list[str]) -> Array:
    chosen = _options(text, options)
    rng = np.random.Generator(np.random.PCG64(int(chosen.get("seed", 0))))
    low, high = chosen.get("low"), chosen.get("high")
    if (low is None) != (high is None) or (low is not None and high is not None and not low < high):
        raise _wrong(text, "the range of the values is not complete, or empty", "low=A:high=B with A below B")
    if low is not None and high is not None and not math.isfinite(high - low):
        raise _wrong(text, "the range of the values is not finite", "low=A:high=B with a finite difference")
    if isinstance(fmt, IntegerFormat):
        first = fmt.minimum if low is None else int(low)
        last = fmt.maximum if high is None else int(high) - 1
        if not fmt.minimum <= first <= last <= fmt.maximum:
            raise _wrong(text, "the range does not fit", f"{fmt.minimum} to {fmt.maximum + 1}")
        return rng.integers(first, last, shape, np.int64, endpoint=True).astype(fmt.dtype)
    values = rng.standard_normal(shape) if low is None or high is None else rng.uniform(low, high, shape)
    return _as_format(values, fmt)


def _options(text: str, options: list[str]) -> dict[str, float]:
    found = {}
    for option in options:
        name, _, value = option.partition("=")
        try:
            if name not in ("seed", "low", "high"):
                raise ValueError(name)
            found[name] = float(value) if name != "seed" else int(value)
        except ValueError:
            raise _wrong(text, f"there is no option {option}", "seed=, low=, high= and a number") from None
    if found.get("seed", 0) < 0:
        raise _wrong(text, "a seed is not negative")
    return found


def _as_format(values: Array, fmt: Format) -> Array:
    """Numbers rounded to a float format, or wrapped to an integer one."""
    if isinstance(fmt, FloatFormat):
        wide: Array = values.astype(np.float64)
        return wide if fmt is F64 else ftof(wide, F64, fmt)
    if fmt.width == 1:
        return np.asarray(values % 2 == 1)
    if fmt.width == 4:
        return ((values + 8) % 16 - 8).astype(np.int8)
    return values.astype(fmt.dtype)


MAKERS: Mapping[str, Callable[[str, Format, tuple[int, ...], list[str]], Array]] = {
    "zeros": _zeros,
    "iota": _iota,
    "fill": _fill,
    "random": _random,
}


def save(path: str, array: Array) -> None:
    """Write an array as ``.npy``, whole or not at all.

    Types that ``.npy`` files have no name for (bf16 and narrower floats) are written as unsigned integers.
    """
    if array.dtype.kind not in "biuf" or array.dtype.isbuiltin != 1:
        array = array.view(f"u{array.itemsize}")
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    write_whole(path, stream.getvalue())
