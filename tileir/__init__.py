"""CUDA Tile IR: its operations, and their spellings as bytecode and as text."""

from . import ops as ops
from .assembler import Cubin, assemble, assembler_defect, disassemble, targets, tileiras_args
from .bytecode import read, write
from .errors import TileError
from .module import Function, Global, Module, Operation, Region, Value
from .text import parse, parse_all, render
from .verify import Diagnostic, verify
from .version import Version

__all__ = [
    "Cubin",
    "Diagnostic",
    "Function",
    "Global",
    "Module",
    "Operation",
    "Region",
    "TileError",
    "Value",
    "Version",
    "assemble",
    "assembler_defect",
    "disassemble",
    "ops",
    "parse",
    "parse_all",
    "read",
    "render",
    "targets",
    "tileiras_args",
    "verify",
    "write",
]
