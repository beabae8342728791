"""Versions of the bytecode, and which of them this package reads and writes."""

from __future__ import annotations

from typing import NamedTuple


class Version(NamedTuple):
    """A bytecode version; ordered, and printed as ``13.4``."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"

    @classmethod
    def parse(cls, text: str) -> Version:
        """Read ``13.4``; raises ValueError for anything that is not two numbers."""
        major, minor = text.split(".")
        return cls(int(major), int(minor))


V13_1 = Version(13, 1)
V13_2 = Version(13, 2)
V13_3 = Version(13, 3)
V13_4 = Version(13, 4)
V13_5 = Version(13, 5)

SUPPORTED = (V13_1, V13_2, V13_3, V13_4, V13_5)
NEWEST = SUPPORTED[-1]
DEFAULT = V13_4
