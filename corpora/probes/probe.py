"""A probe: a case whose kernel is written as text, here and now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import tileir
from tileir.version import V13_4

from ..case import Buffer, Case, Contents
from .evidence import Evidence
from .recipes import Zeros

ENTRY = "k"
RECORDS = Evidence()


@dataclass(frozen=True)
class Probe(Case):
    """A case made of Tile IR text.

    Attributes:
        text: the module. ``kernel`` is its bytecode of version 13.4; ``path`` names it in messages, and there
            is no such file.
    """

    text: str = ""

    @cached_property
    def kernel(self) -> bytes:
        """The kernel's bytecode.

        Raises:
            TileError: the text cannot be parsed or written.
        """
        return tileir.write(tileir.parse(self.text), version=V13_4)

    @property
    def output(self) -> int:
        """Position of the one buffer that holds the answer."""
        (position,) = self.outputs
        return position


def given(name: str, element: str, shape: Sequence[int], contents: Contents) -> Buffer:
    """An input buffer."""
    return Buffer(name, element, tuple(shape), contents)


def answer(name: str, element: str, shape: Sequence[int], contents: Contents | None = None) -> Buffer:
    """The output buffer; zeros at first, or ``contents``."""
    return Buffer(name, element, tuple(shape), contents or Zeros(), output=True)


def probe(name: str, text: str, blocks: int, buffers: Sequence[Buffer]) -> Probe:
    """A probe of so many blocks along x whose kernel takes ``buffers``."""
    return Probe(
        name=name,
        path=Path(f"{name}.mlir"),
        entry=ENTRY,
        grid=(blocks, 1, 1),
        parameters=tuple(buffers),
        records=RECORDS,
        text=text,
    )
