"""What a kernel may assume of an array, found out from the array as cuda-tile's own launch does.

Which strides are 1, which extents and strides are multiples of 16 elements or bytes, whether the address is,
whether two indices may name one element: all of it decides the kernel's bytecode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ..formats import Array
from .errors import ArgumentOverflowError, ArgumentTypeError, ArgumentValueError

SPECIALISED_RANK = 5
"""Of arrays of more dimensions nothing is assumed."""
DIVISOR = 16
LARGEST = (1 << 31) - 1
"""The largest extent or stride that an index of 32 bits counts."""

Fixed = tuple[int | None, ...]


@dataclass(frozen=True)
class Assumed:
    """What is assumed of an array, or of all of a list, in the words of cuda-tile's ``ArrayConstraint``."""

    dtype: str
    ndim: int
    index_dtype: str
    stride_constant: Fixed
    shape_constant: Fixed
    stride_divisible_by: tuple[int, ...]
    shape_divisible_by: tuple[int, ...]
    base_addr_divisible_by: int
    may_alias_internally: bool


def assumed_of(array: Array, strides: tuple[int, ...], annotation: Any, where: str) -> Assumed:
    """What a kernel assumes of an array with these strides (in elements) at a parameter with this annotation.

    Raises:
        ArgumentError: the annotation names a dimension that the array does not have.
    """
    rank = array.ndim
    special = rank <= SPECIALISED_RANK
    shape = array.shape
    index_dtype = "int32" if annotation is None else str(annotation.index_dtype)
    for what, values in (("an extent", shape), ("a stride", strides)):
        if index_dtype == "int32" and max(values, default=0) > LARGEST:
            raise ArgumentOverflowError(
                f"{where} has {what} that does not fit int32, which its parameter is indexed with",
                rule="argument-range",
                found=max(values),
                expected="a parameter annotated with ct.ArrayAnnotation(index_dtype=ct.int64)",
            )
    # The unit of a stride is an element, of its alignment 16 bytes.
    unit = DIVISOR // array.itemsize if DIVISOR % array.itemsize == 0 else 1
    return Assumed(
        dtype=array.dtype.name,
        ndim=rank,
        index_dtype=index_dtype,
        stride_constant=_named(strides, getattr(annotation, "static_stride_dims", ()), where)
        or tuple(1 if special and s == 1 else None for s in strides),
        # cuda-tile 1.7.0 makes extents of 1 constants as well, and then asserts of their strides that they
        # are multiples of 16 bytes, which need not be so: correct kernels would be reported as undefined.
        shape_constant=_named(shape, getattr(annotation, "static_shape_dims", ()), where) or (None,) * rank,
        stride_divisible_by=tuple(
            unit if special and s * array.itemsize % DIVISOR == 0 else 1 for s in strides
        ),
        shape_divisible_by=tuple(DIVISOR if special and e % DIVISOR == 0 else 1 for e in shape),
        base_addr_divisible_by=DIVISOR if array.ctypes.data % DIVISOR == 0 else 1,
        may_alias_internally=not _disjoint(shape, strides),
    )


def shared(each: Sequence[Assumed], annotation: Any, where: str) -> Assumed:
    """What holds of all arrays of a list.

    Raises:
        ArgumentError: they differ in type or rank, or in an extent or stride that is to be a constant.
    """
    first = each[0]
    for other in each:
        if (other.dtype, other.ndim) != (first.dtype, first.ndim):
            raise ArgumentTypeError(
                f"the arrays of {where} differ in type or rank",
                rule="argument-list",
                found=f"{other.dtype} of {other.ndim} dimensions",
                expected=f"{first.dtype} of {first.ndim}",
            )
    for name, dims in (("shape", "static_shape_dims"), ("stride", "static_stride_dims")):
        if not getattr(annotation, dims, ()):
            continue
        constants = {getattr(a, f"{name}_constant") for a in each}
        if len(constants) > 1:
            raise ArgumentValueError(
                f"the arrays of {where} differ in a {name} that is to be a constant",
                rule="argument-list",
                found=" and ".join(sorted(map(str, constants))),
            )
    return Assumed(
        dtype=first.dtype,
        ndim=first.ndim,
        index_dtype=first.index_dtype,
        stride_constant=_agreed([a.stride_constant for a in each]),
        shape_constant=_agreed([a.shape_constant for a in each]),
        stride_divisible_by=tuple(map(min, zip(*(a.stride_divisible_by for a in each), strict=True))),
        shape_divisible_by=tuple(map(min, zip(*(a.shape_divisible_by for a in each), strict=True))),
        base_addr_divisible_by=min(a.base_addr_divisible_by for a in each),
        may_alias_internally=any(a.may_alias_internally for a in each),
    )


def _named(values: tuple[int, ...], dims: Sequence[int], where: str) -> Fixed:
    """The values of the dimensions that an annotation makes constants, and nothing if it names none."""
    if not dims:
        return ()
    for dim in dims:
        if not -len(values) <= dim < len(values):
            raise ArgumentValueError(
                f"{where} has no dimension {dim}, which its annotation names",
                rule="argument-type",
                found=f"{len(values)} dimensions",
            )
    wanted = {d % len(values) for d in dims}
    if len(wanted) < len(dims):
        raise ArgumentValueError(
            f"the annotation of {where} names a dimension twice", rule="argument-type", found=tuple(dims)
        )
    return tuple(v if i in wanted else None for i, v in enumerate(values))


def _agreed(rows: Sequence[Fixed]) -> Fixed:
    return tuple(column[0] if len(set(column)) == 1 else None for column in zip(*rows, strict=True))


def _disjoint(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether no two indices of an array surely name one element."""
    ordered = sorted(zip(strides, shape, strict=True))
    if ordered and ordered[0][0] <= 0:
        return False
    return all(step >= before * extent for (before, extent), (step, _) in pairwise(ordered))
