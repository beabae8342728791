"""What the body of a reduction computes: whether the order of its applications can show in the answer."""

from __future__ import annotations

from tileir.module import Operation
from tileir.ops import bitwise, control, floating, integer
from tileir.ops.reduction import Reduce, Scan

ORDER_FREE = (
    integer.AddI,
    integer.MulI,
    integer.MaxI,
    integer.MinI,
    bitwise.AndI,
    bitwise.OrI,
    bitwise.XOrI,
    floating.MaxF,
    floating.MinF,
)
"""Operations that are associative and commutative in every bit.

Integers wrap, which is arithmetic in a ring; the larger and the smaller of two floats are taken from a total
order (+0 above -0), and a NaN that wins is canonical.
"""


def only_operation(operation: Reduce | Scan) -> Operation | None:
    """The body's operation if it is one operation of both arguments, accumulator first, and a yield of it."""
    body = operation.body.operations
    if len(operation.operands) != 1 or len(body) != 2 or not isinstance(body[1], control.Yield):
        return None
    single, end = body
    if end.uses != single.results or single.uses != operation.body.arguments:
        return None
    return single


def is_order_free(operation: Reduce | Scan) -> bool:
    """Whether every order of evaluation answers the same bits."""
    single = only_operation(operation)
    if single is None or not isinstance(single, ORDER_FREE):
        return False
    # A promise not to wrap can be broken by one order and kept by another.
    return getattr(single, "overflow", 0) == 0
