"""What evaluating an operation takes besides its operands and its results: upper bounds, measured.

``python -m tests.campaigns.working`` measures every operation in every format against them.
"""

from __future__ import annotations

from dataclasses import dataclass

from tileir.module import Operation
from tileir.ops import atomic, debugging, matrix, memory, view
from tileir.types import TileType

from .formats import dtype_of


@dataclass(frozen=True, slots=True)
class Working:
    """Bytes that an operation takes, a lane.

    Attributes:
        whole: for every lane of all blocks that run together.
        part: for the lanes that are in hand, where an operation goes through them a part at a time.
    """

    whole: int
    part: int = 0


PLAIN = Working(32, 48)
"""Of integers, shapes, comparisons and conversions to integers."""
ACCESS = Working(136)
"""Of memory: addresses, where they lead, and the watch over the order of accesses."""
PRODUCT = Working(64, 192)
ROUNDED = Working(48, 152)
"""Of floats that are rounded in another way than the processor rounds."""
MATH = Working(64, 240)
ACCESSES = (
    *(memory.LoadPtrTko, memory.StorePtrTko, view.LoadViewTko, view.StoreViewTko),
    *(atomic.AtomicRMWTko, atomic.AtomicCASTko, atomic.AtomicRedViewTko),
    *(debugging.Assert, debugging.PrintTko),
)
PRODUCTS = (matrix.MmaF, matrix.MmaI, matrix.MmaFScaled)
WORKING: dict[str, Working] = {
    **dict.fromkeys(("atan2", "cos", "cosh", "exp", "exp2", "fpowf", "log", "log2", "rsqrt"), MATH),
    **dict.fromkeys(("sin", "sinh", "tan", "tanh"), MATH),
    **dict.fromkeys(("addf", "divf", "fma", "itof", "mulf", "remf", "sqrt", "subf"), ROUNDED),
    "ftof": Working(80, 88),
    "muli": Working(64, 16),
    "mulhii": Working(56, 16),
}
"""By the operation's name; see ``working_of`` for the others."""


def working_of(operation: Operation) -> Working:
    """What evaluating ``operation`` takes."""
    if isinstance(operation, ACCESSES):
        return ACCESS
    if isinstance(operation, PRODUCTS):
        return PRODUCT
    return WORKING.get(operation.mnemonic, PLAIN)


def lanes_of(operation: Operation) -> int:
    """Lanes that evaluating ``operation`` goes through in a block."""
    sizes = [v.type.size for v in (*operation.results, *operation.uses) if isinstance(v.type, TileType)]
    return sum(sizes) if isinstance(operation, PRODUCTS) else max(sizes, default=1)


def operand_bytes(operation: Operation) -> int:
    """Bytes of an operation's operands in a block: those that do not lie in one piece are copied."""
    tiles = [v.type for v in operation.uses if isinstance(v.type, TileType)]
    return sum(type_.size * dtype_of(type_).itemsize for type_ in tiles)
