"""A case: a kernel, how it is launched, what it is given and which of its buffers are its answer."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tileir.errors import TileError
from tileref.numerics.formats import FORMATS

from . import inputs

if TYPE_CHECKING:
    from .records import Record


class Contents(Protocol):
    """Where a buffer's elements come from."""

    def array(self, buffer: Buffer) -> NDArray[Any]:
        """A fresh array of the buffer's shape, in the array type of its format."""
        ...


@dataclass(frozen=True, slots=True)
class Made:
    """Contents made by a recipe (see ``corpora.inputs``)."""

    recipe: Mapping[str, Any]

    def array(self, buffer: Buffer) -> NDArray[Any]:
        """A fresh array made by the recipe."""
        return inputs.make(buffer.format, buffer.shape, self.recipe)


@dataclass(frozen=True, slots=True)
class Buffer:
    """A pointer parameter: memory of ``shape`` elements of ``format`` (the dialect's name for it).

    ``output`` buffers hold the case's answer when the kernel is done.
    """

    name: str
    format: str
    shape: tuple[int, ...]
    contents: Contents
    output: bool = False


@dataclass(frozen=True, slots=True)
class Scalar:
    """A parameter that is one number: the bit pattern ``bits`` of ``format``."""

    format: str
    bits: int

    def value(self) -> np.generic:
        """The number as a numpy scalar of the format's array type."""
        fmt = FORMATS[self.format]
        data = self.bits.to_bytes(fmt.dtype.itemsize, "little")
        scalar: np.generic = np.frombuffer(data, fmt.dtype)[0]
        return scalar


Parameter = Buffer | Scalar


class Records(Protocol):
    """Where recorded answers are looked for."""

    def find(self, case: Case, gpu: str) -> list[Record]:
        """The newest records of ``case`` on ``gpu`` that belong to its kernel and inputs as they are."""
        ...

    def stale(self, case: Case, gpu: str) -> int:
        """How many records of the case do not."""
        ...


@dataclass(frozen=True)
class Case:
    """One case of a corpus.

    Attributes:
        name: unique in its corpus, ``family/what``.
        path: the kernel's bytecode.
        entry: the name of the kernel in it.
        grid: blocks along x, y and z; one to three numbers.
        parameters: the entry's parameters, in order.
        sha256: what the kernel's bytes must hash to; None if nobody said.
        records: where answers recorded for it are found.
    """

    name: str
    path: Path
    entry: str
    grid: tuple[int, ...]
    parameters: tuple[Parameter, ...]
    sha256: str | None = None
    records: Records | None = field(default=None, repr=False, compare=False)

    @property
    def family(self) -> str:
        """The first part of the name."""
        return self.name.partition("/")[0]

    @cached_property
    def kernel(self) -> bytes:
        """The kernel's bytecode.

        Raises:
            TileError: the file cannot be read, or is not the one that the manifest means.
        """
        try:
            data = self.path.read_bytes()
        except OSError as error:
            raise TileError(
                f"cannot read the kernel of case {self.name}: {error.strerror}",
                rule="corpus-kernel",
                file=str(self.path),
            ) from error
        found = hashlib.sha256(data).hexdigest()
        if self.sha256 is not None and found != self.sha256:
            raise TileError(
                f"the kernel of case {self.name} is not the one in the manifest",
                rule="corpus-hash",
                file=str(self.path),
                found=found[:16],
                expected=self.sha256[:16],
            )
        return data

    @property
    def kernel_hash(self) -> str:
        """SHA-256 of the kernel's bytecode, hexadecimal."""
        return hashlib.sha256(self.kernel).hexdigest()

    @cached_property
    def inputs_hash(self) -> str:
        """SHA-256 over the grid, the entry and every parameter's format, shape and bits, hexadecimal."""
        digest = hashlib.sha256(f"{self.entry} {self.grid}".encode())
        for parameter, argument in zip(self.parameters, self.arguments(), strict=True):
            if isinstance(parameter, Buffer):
                digest.update(f"|{parameter.format} {parameter.shape} {parameter.output}|".encode())
                digest.update(np.ascontiguousarray(argument).tobytes())
            else:
                digest.update(f"|{parameter.format} {parameter.bits:x}|".encode())
        return digest.hexdigest()

    @property
    def outputs(self) -> tuple[int, ...]:
        """Positions of the parameters that hold the answer."""
        return tuple(i for i, p in enumerate(self.parameters) if isinstance(p, Buffer) and p.output)

    def stale_records(self, gpu: str) -> int:
        """How many records of this case's name are of another kernel or other inputs, and are ignored."""
        return 0 if self.records is None else self.records.stale(self, gpu)

    def arguments(self) -> list[Any]:
        """Fresh arguments for a launch, in order: an array for a buffer, a numpy scalar for a number."""
        return [p.contents.array(p) if isinstance(p, Buffer) else p.value() for p in self.parameters]

    def recorded(self, gpu: str) -> list[Record]:
        """The newest answers recorded on ``gpu`` for this kernel and these inputs.

        None, one, or one for each group of optimization levels that answered alike, the highest first.

        Raises:
            TileError: a record is damaged.
        """
        return [] if self.records is None else self.records.find(self, gpu)
