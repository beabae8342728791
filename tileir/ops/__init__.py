"""The instruction set: one small class an operation, in families. See ``tileir.declare``."""

from . import (
    atomic,
    bitwise,
    control,
    conversion,
    core,
    debugging,
    floating,
    integer,
    matrix,
    memory,
    multimem,
    reduction,
    view,
)

__all__ = [
    "atomic",
    "bitwise",
    "control",
    "conversion",
    "core",
    "debugging",
    "floating",
    "integer",
    "matrix",
    "memory",
    "multimem",
    "reduction",
    "view",
]
