"""Modules as a driver loads them: their globals are in memory, and stay there from launch to launch."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

import tileir
from tileir.errors import ArgumentError
from tileir.module import Function, Global, Module
from tileir.types import F4E2M1FN, NumberType

from .formats import Array, constant_array, format_of
from .memory import Buffer, Memory, encode
from .numerics.conversion import pack
from .preparing import Prepared, prepare_function

if TYPE_CHECKING:
    from .result import LaunchResult


class Loaded:
    """A loaded module. What one launch leaves in its globals the next one finds there.

    Loading the same module again gives globals of their own, with their initial values.

    Attributes:
        module: what was loaded; it must not be changed any more.
        globals: each global by its name, private ones too, as an array of its type: the memory itself, so
            that writing to it is what ``cuMemcpyHtoD`` to a global's address does.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self._memory = Memory()
        for variable in module.globals:
            self._memory.add(_initial(variable), f"global {variable.name}")
        buffers = zip(module.globals, self._memory.buffers, strict=True)
        self.globals: dict[str, Array] = {v.name: _as_array(v, buffer) for v, buffer in buffers}
        self._prepared: dict[int, Prepared] = {}

    def launch(self, grid: int | Sequence[int], args: Sequence[Any], **options: Any) -> LaunchResult:
        """Run an entry on numpy arrays; the same as ``tileref.launch`` with this as its kernel."""
        from .launching import launch

        return launch(self, grid, args, **options)

    def prepared(self, function: Function) -> Prepared:
        """One of the module's functions, ready to run."""
        found = self._prepared.get(id(function))
        if found is None:
            found = self._prepared[id(function)] = prepare_function(function)
        return found

    def begin(self) -> tuple[Memory, dict[str, Buffer]]:
        """Memory for a launch, and the globals in it. They have the same addresses in every launch."""
        memory = Memory()
        for kept in self._memory.buffers:
            memory.add(kept.bytes, kept.name).undefined = kept.undefined
        return memory, dict(zip(self.globals, memory.buffers, strict=True))

    def end(self, memory: Memory) -> None:
        """Keep what a launch knows of the globals beside their bytes."""
        for kept, used in zip(self._memory.buffers, memory.buffers, strict=False):
            kept.undefined = used.undefined


def load(kernel: Module | bytes | str | PathLike[str]) -> Loaded:
    """Load a module, bytecode, or a bytecode file, to be launched more than once.

    Raises:
        TileError: the kernel cannot be read, or is none.
    """
    if not isinstance(kernel, Module | bytes | str | PathLike):
        raise ArgumentError(
            "a kernel is a module, bytecode, or the path of a bytecode file",
            rule="kernel",
            found=type(kernel).__name__,
            expected="tileir.Module, bytes, str or a path",
        )
    return Loaded(kernel if isinstance(kernel, Module) else tileir.read(kernel))


def _element(variable: Global) -> NumberType:
    element = variable.value.type.element
    assert isinstance(element, NumberType)
    return element


def _initial(variable: Global) -> Array:
    """The bytes of a global as loading initialises it."""
    element, values = _element(variable), np.ascontiguousarray(constant_array(variable.value))
    raw = pack(values.reshape(-1), format_of(element)) if element is F4E2M1FN else encode(values, element)
    return raw.reshape(-1).view(np.uint8).copy()


def _as_array(variable: Global, buffer: Buffer) -> Array:
    if _element(variable) is F4E2M1FN:
        return buffer.bytes  # Two elements each.
    return buffer.bytes.view(format_of(_element(variable)).dtype).reshape(variable.value.type.shape)
