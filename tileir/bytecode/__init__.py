"""The bytecode: reading and writing modules as bytes."""

from .reader import read

__all__ = ["read"]
