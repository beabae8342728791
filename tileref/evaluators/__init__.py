"""One evaluator an operation, in files that mirror ``tileir.ops``."""

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
from .registry import EVALUATORS

__all__ = [
    "EVALUATORS",
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
