"""All declared operations, by opcode and by the dialect's name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .module import Operation

BY_OPCODE: dict[int, type[Operation]] = {}
BY_NAME: dict[str, type[Operation]] = {}


def register(cls: type[Operation]) -> None:
    """Add ``cls``; two declarations of one opcode or name are a mistake in this package."""
    if cls.opcode in BY_OPCODE or cls.mnemonic in BY_NAME:
        raise AssertionError(f"{cls.mnemonic} ({cls.opcode}) is declared twice")
    BY_OPCODE[cls.opcode] = cls
    BY_NAME[cls.mnemonic] = cls
