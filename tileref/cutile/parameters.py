"""A kernel's arguments as cuda-tile's calling convention takes them.

An array is passed as its address, its extents and its strides, a tuple as its items; a constant is part of
the kernel. What a kernel may assume of an array (which strides are 1, which extents and strides are multiples
of 16 elements or bytes) is found out from the array, as cuda-tile's own launch does.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tileir.errors import ArgumentError, UnsupportedError

from ..formats import Array
from .arrays import as_numpy, is_array, memory_of, strides_of

SPECIALISED_RANK = 5
"""Of arrays of more dimensions nothing is assumed."""
DIVISOR = 16


@dataclass(frozen=True)
class ArrayArgument:
    """An array that a kernel is launched on.

    ``assumed`` is what the kernel is compiled for: everything that decides its bytecode.
    """

    name: str
    array: Array
    strides: tuple[int, ...]
    assumed: tuple[Any, ...]

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


Argument = ArrayArgument | ScalarArgument | ConstantArgument | TupleArgument


def argument(name: str, value: Any, annotation: Any) -> Argument:
    """What ``value`` is to a parameter called ``name`` with this annotation (cuda-tile's, already parsed).

    Raises:
        ArgumentError: a kernel takes no such value there.
    """
    items = _items(annotation)
    if isinstance(value, tuple):
        each = getattr(annotation, "each", None)
        if items is not None and len(items) != len(value):
            raise ArgumentError(
                f"{name} is a tuple of another length",
                rule="argument-type",
                found=len(value),
                expected=len(items),
            )
        inner = items if items is not None else [each if each is not None else annotation] * len(value)
        parts = enumerate(zip(value, inner, strict=True))
        return TupleArgument(name, tuple(argument(f"{name}[{i}]", v, a) for i, (v, a) in parts))
    if items is not None:
        raise _refused(name, value, f"a tuple of {len(items)}")
    if getattr(annotation, "constant", False):
        return ConstantArgument(name, value)
    if isinstance(value, bool | np.bool_):
        return ScalarArgument(name, bool(value), "bool_")
    if isinstance(value, int | np.integer):
        scalar = getattr(annotation, "scalar", None)
        return ScalarArgument(name, int(value), "int32" if scalar is None else str(scalar.dtype))
    if isinstance(value, float | np.floating):
        return ScalarArgument(name, float(value), "float32")
    if is_array(value):
        return _array(name, value, getattr(annotation, "array", None))
    if isinstance(value, list):
        raise UnsupportedError(
            f"{name} is a list of arrays, which is not emulated yet; a tuple is",
            rule="argument-list",
            found=f"a list of {len(value)}",
        )
    raise _refused(name, value, "an array, a number, a tuple, or a parameter annotated with ct.Constant")


def _items(annotation: Any) -> tuple[Any, ...] | None:
    """The annotations of the items of a parameter that is annotated as a tuple of certain items."""
    items = getattr(annotation, "items", None)
    return items if isinstance(items, tuple) else None


def _refused(name: str, value: Any, expected: str) -> ArgumentError:
    return ArgumentError(
        f"{name} is of a type that no kernel takes here",
        rule="argument-type",
        found=type(value).__name__,
        expected=expected,
    )


def _array(name: str, value: Any, annotation: Any) -> ArrayArgument:
    array = as_numpy(value, name)
    strides = strides_of(array, name)
    index = "int32" if annotation is None else str(annotation.index_dtype)
    fixed_shape = _fixed(getattr(annotation, "static_shape_dims", ()), array.shape)
    fixed_strides = _fixed(getattr(annotation, "static_stride_dims", ()), strides)
    rank = array.ndim
    special = rank <= SPECIALISED_RANK
    if fixed_strides is None:
        fixed_strides = tuple(1 if special and s == 1 else None for s in strides)
    # The unit of a stride is an element, of its alignment 16 bytes.
    unit = DIVISOR // array.itemsize if DIVISOR % array.itemsize == 0 else 1
    assumed = (
        ("dtype", array.dtype.name),
        ("ndim", rank),
        ("index_dtype", index),
        ("stride_constant", fixed_strides),
        ("shape_constant", fixed_shape),
        (
            "stride_divisible_by",
            tuple(unit if special and s * array.itemsize % DIVISOR == 0 else 1 for s in strides),
        ),
        (
            "shape_divisible_by",
            tuple(DIVISOR if special and extent % DIVISOR == 0 else 1 for extent in array.shape),
        ),
        ("base_addr_divisible_by", DIVISOR if array.ctypes.data % DIVISOR == 0 else 1),
        ("may_alias_internally", not _disjoint(array.shape, strides)),
    )
    return ArrayArgument(name, array, strides, assumed)


def _fixed(dims: Any, values: tuple[int, ...]) -> tuple[int | None, ...] | None:
    """The values of the dimensions that an annotation makes constants, or None if it names none."""
    if not dims:
        return None
    wanted = {d % len(values) for d in dims}
    return tuple(v if i in wanted else None for i, v in enumerate(values))


def _disjoint(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether no two indices of an array surely name one element."""
    ordered = sorted(zip(strides, shape, strict=True))
    if ordered and ordered[0][0] <= 0:
        return False
    return all(step >= before * extent for (before, extent), (step, _) in pairwise(ordered))
