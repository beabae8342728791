"""CUDA Tile IR: its operations, and their spellings as bytecode and as text."""

from . import ops as ops
from .bytecode import read
from .errors import TileError
from .module import Function, Global, Module, Operation, Region, Value
from .version import Version

__all__ = [
    "Function",
    "Global",
    "Module",
    "Operation",
    "Region",
    "TileError",
    "Value",
    "Version",
    "ops",
    "read",
]
