"""A kernel's arguments as cuda-tile's calling convention takes them.

An array is passed as its address, its extents and its strides, a tuple as its items, a list of arrays as a
table of the same in global memory; a constant is part of the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arguments import Table
from ..formats import Array
from .arrays import as_numpy, is_array, memory_of, strides_of
from .assumptions import Assumed, assumed_of, shared
from .errors import ArgumentOverflowError, ArgumentTypeError


@dataclass(frozen=True)
class ArrayArgument:
    """An array that a kernel is launched on.

    ``constraint`` is what the kernel is compiled for: everything that decides its bytecode.
    """

    name: str
    array: Array
    strides: tuple[int, ...]
    constraint: Assumed

    @property
    def assumed(self) -> tuple[Any, ...]:
        """What the kernel is compiled for."""
        return ("array", self.constraint)

    def passed(self) -> list[Any]:
        """The entry's parameters: the address, the extents, the strides."""
        return [memory_of(self.array, self.strides), *map(int, self.array.shape), *self.strides]


@dataclass(frozen=True)
class ScalarArgument:
    """A number that is passed to the kernel: of ``bool``, ``int32``, ``int64`` or ``float32``."""

    name: str
    value: bool | int | float
    dtype: str

    @property
    def assumed(self) -> tuple[Any, ...]:
        """What the kernel is compiled for."""
        return ("scalar", self.dtype)

    def passed(self) -> list[Any]:
        """The entry's parameter."""
        return [np.float32(self.value) if self.dtype == "float32" else self.value]


@dataclass(frozen=True)
class ConstantArgument:
    """A value that is compiled into the kernel."""

    name: str
    value: Any

    @property
    def assumed(self) -> tuple[Any, ...]:
        """What the kernel is compiled for; 1, True and 1.0 are three things, and NaN is one."""
        return (
            "constant",
            type(self.value),
            repr(self.value) if isinstance(self.value, float) else self.value,
        )

    def passed(self) -> list[Any]:
        """Nothing."""
        return []


@dataclass(frozen=True)
class TupleArgument:
    """Several arguments in one."""

    name: str
    items: tuple[Argument, ...]

    @property
    def assumed(self) -> tuple[Any, ...]:
        """What the kernel is compiled for."""
        return ("tuple", *(item.assumed for item in self.items))

    def passed(self) -> list[Any]:
        """The entry's parameters of all items."""
        return [value for item in self.items for value in item.passed()]


@dataclass(frozen=True)
class ListArgument:
    """Arrays that a kernel picks from by an index that is known only when it runs.

    It is passed as the address of a table and its length. The table holds a row of 64-bit words for each
    array: its address, its extents, its strides.
    """

    name: str
    items: tuple[ArrayArgument, ...]
    constraint: Assumed

    @property
    def assumed(self) -> tuple[Any, ...]:
        """What the kernel is compiled for: what holds of all items, not their number."""
        return ("list", self.constraint)

    def passed(self) -> list[Any]:
        """The entry's parameters: the table and its length."""
        return [Table(tuple(word for item in self.items for word in item.passed())), len(self.items)]


Argument = ArrayArgument | ScalarArgument | ConstantArgument | TupleArgument | ListArgument


def argument(name: str, value: Any, annotation: Any) -> Argument:
    """What ``value`` is to a parameter called ``name`` with this annotation (cuda-tile's, already parsed).

    Raises:
        ArgumentError: a kernel takes no such value there.
    """
    items = _items(annotation)
    if isinstance(value, tuple) and type(value) is not tuple:
        raise _refused(name, value, "a plain tuple, not a class made of it")
    if isinstance(value, tuple):
        each = getattr(annotation, "each", None)
        if items is not None and len(items) != len(value):
            raise ArgumentTypeError(
                f"{name} is a tuple of another length",
                rule="argument-type",
                found=len(value),
                expected=len(items),
            )
        inner = items if items is not None else [each if each is not None else annotation] * len(value)
        parts = enumerate(zip(value, inner, strict=True))
        return TupleArgument(name, tuple(argument(f"{name}[{i}]", v, a) for i, (v, a) in parts))
    if items is not None or hasattr(annotation, "each"):
        raise _refused(name, value, "a tuple" if items is None else f"a tuple of {len(items)}")
    if getattr(annotation, "constant", False):
        return ConstantArgument(name, value)
    if isinstance(value, bool | np.bool_):
        return ScalarArgument(name, bool(value), "bool_")
    if isinstance(value, int | np.integer):
        scalar = getattr(annotation, "scalar", None)
        dtype = "int32" if scalar is None else str(scalar.dtype)
        return ScalarArgument(name, _within(name, int(value), 32 if dtype == "int32" else 64), dtype)
    if isinstance(value, float | np.floating):
        return ScalarArgument(name, float(value), "float32")
    if is_array(value):
        return _array(name, value, getattr(annotation, "array", None))
    if isinstance(value, list):
        return _list(name, value, getattr(getattr(annotation, "list", None), "element", None))
    raise _refused(name, value, "an array, a number, a tuple, or a parameter annotated with ct.Constant")


def _within(name: str, value: int, bits: int) -> int:
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise ArgumentOverflowError(
            f"{name} does not fit int{bits}" + (", and ct.ScalarInt64 is 64 bits wide" if bits == 32 else ""),
            rule="argument-range",
            found=value,
        )
    return value


def _items(annotation: Any) -> tuple[Any, ...] | None:
    """The annotations of the items of a parameter that is annotated as a tuple of certain items."""
    items = getattr(annotation, "items", None)
    return items if isinstance(items, tuple) else None


def _refused(name: str, value: Any, expected: str) -> ArgumentTypeError:
    return ArgumentTypeError(
        f"{name} is of a type that no kernel takes here",
        rule="argument-type",
        found=type(value).__name__,
        expected=expected,
    )


def _array(name: str, value: Any, annotation: Any) -> ArrayArgument:
    array = as_numpy(value, name)
    strides = strides_of(array, name)
    return ArrayArgument(name, array, strides, assumed_of(array, strides, annotation, name))


def _list(name: str, values: list[Any], annotation: Any) -> ListArgument:
    if not values:
        raise ArgumentTypeError(f"{name} is an empty list, which no kernel takes", rule="argument-list")
    for i, value in enumerate(values):
        if not is_array(value):
            raise _refused(f"{name}[{i}]", value, "an array, as all items of a list are")
    items = tuple(_array(f"{name}[{i}]", value, annotation) for i, value in enumerate(values))
    return ListArgument(name, items, shared([item.constraint for item in items], annotation, name))
