"""The bytecode: reading and writing modules as bytes."""

from .reader import read
from .writer import write

__all__ = ["read", "write"]
