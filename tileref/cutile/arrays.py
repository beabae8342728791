"""Arrays of any library as numpy arrays of the same memory, and as the flat memory that a pointer sees."""

from __future__ import annotations

import sys
from typing import Any

import ml_dtypes
import numpy as np

from ..formats import Array
from .errors import ArgumentTypeError, ArgumentValueError

TORCH_WITHOUT_NUMPY = {
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "float8_e8m0fnu": ml_dtypes.float8_e8m0fnu,
}
"""Names of torch's types that torch does not hand to numpy."""


def is_array(value: Any) -> bool:
    """Whether ``value`` is an array of some library."""
    return isinstance(value, np.ndarray) or hasattr(value, "__dlpack__")


def as_numpy(value: Any, where: str) -> Array:
    """A numpy array of the memory of ``value``: a numpy array, a torch CPU tensor or anything with DLPack.

    Raises:
        ArgumentError: the array is not in the CPU's memory, or of a type that numpy cannot hold.
    """
    if isinstance(value, np.ndarray):
        return value
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _of_tensor(torch, value, where)
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise ArgumentTypeError(
            f"{where} is an array that numpy cannot see: {error}",
            rule="argument-type",
            found=type(value).__name__,
            expected="a numpy array, a torch CPU tensor, or an array in the CPU's memory with DLPack",
        ) from None


def _of_tensor(torch: Any, tensor: Any, where: str) -> Array:
    if tensor.device.type != "cpu":
        raise ArgumentValueError(
            f"{where} is not in the CPU's memory",
            rule="argument-type",
            found=f"a tensor on {tensor.device}",
            expected="a tensor on cpu",
        )
    plain = tensor.detach()
    dtype = TORCH_WITHOUT_NUMPY.get(str(tensor.dtype).removeprefix("torch."))
    if dtype is None:
        found: Array = plain.numpy()
        return found
    same_size = torch.int16 if tensor.element_size() == 2 else torch.uint8
    bits: Array = plain.view(same_size).numpy()
    return bits.view(dtype)


def strides_of(array: Array, where: str) -> tuple[int, ...]:
    """The strides of ``array`` in elements.

    Raises:
        ArgumentError: a stride is negative, or no multiple of an element.
    """
    if any(s % array.itemsize or s < 0 for s in array.strides):
        raise ArgumentValueError(
            f"{where} has strides that no kernel takes",
            rule="argument-layout",
            found=f"{array.strides} bytes",
            expected=f"multiples of {array.itemsize} bytes that are not negative",
        )
    return tuple(s // array.itemsize for s in array.strides)


def memory_of(array: Array, strides: tuple[int, ...]) -> Array:
    """All elements from the first of ``array`` to its last, one after the other, those between them too."""
    if array.size == 0:
        return np.empty(0, array.dtype)
    span = 1 + sum((extent - 1) * stride for extent, stride in zip(array.shape, strides, strict=True))
    return _strided(array, (span,), (array.itemsize,), writeable=array.flags.writeable)


def shaped(flat: Array, shape: tuple[int, ...], strides: tuple[int, ...]) -> Array:
    """What ``memory_of`` undoes: the elements of an array of ``shape`` among those of its memory."""
    if flat.size == 0:
        return flat.reshape(shape)
    return _strided(flat, shape, tuple(s * flat.itemsize for s in strides), writeable=False).copy()


def _strided(array: Array, shape: tuple[int, ...], strides: tuple[int, ...], *, writeable: bool) -> Array:
    # By their bits: numpy finds no way back to some of the types that it does not have itself.
    bits = array.view(f"V{array.itemsize}")
    view = np.lib.stride_tricks.as_strided(bits, shape, strides, writeable=writeable)
    return view.view(array.dtype)
