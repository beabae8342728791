"""Which operations of a kernel add to an accumulator, and which of their operands it is."""

from __future__ import annotations

from collections.abc import Iterator

from tileir.module import Function, Operation, Region, Value
from tileir.ops import control, conversion, core, debugging, floating, matrix
from tileir.ops.reduction import Reduce, Scan
from tileir.types import NumberType, TileType

THROUGH = (
    core.Broadcast,
    core.Permute,
    core.Reshape,
    conversion.FToF,
    debugging.Assume,
    floating.MulF,
)
"""Operations whose result is still the accumulator: moved, rounded or scaled."""
PRODUCTS = (matrix.MmaF, matrix.MmaFScaled)


def additions(function: Function) -> Iterator[tuple[Operation, tuple[Value, ...]]]:
    """The operations that add floats to an accumulator, with the operands that are one.

    An accumulator is what a loop carries, the left argument of a reduction's or a scan's body, and that of a
    matrix product.
    """
    yield from _visit(function.body, None, set())


def _visit(
    region: Region, owner: Operation | None, carried: set[Value]
) -> Iterator[tuple[Operation, tuple[Value, ...]]]:
    arguments = region.arguments
    match owner:
        case control.For():
            arguments = arguments[1:]
        case Reduce() | Scan():
            arguments = arguments[::2]
        case None:
            arguments = ()
    carried.update(a for a in arguments if _is_float(a))
    for operation in region.operations:
        accumulators = tuple(v for v in operation.uses if v in carried)
        match operation:
            case floating.AddF() | floating.Fma() if accumulators:
                yield operation, accumulators
            case matrix.MmaF() | matrix.MmaFScaled():
                yield operation, (operation.acc,)
            case _ if accumulators and isinstance(operation, THROUGH):
                carried.update(operation.results)
        for inner in operation.regions:
            yield from _visit(inner, operation, carried)


def _is_float(value: Value) -> bool:
    type_ = value.type
    return isinstance(type_, TileType) and isinstance(type_.element, NumberType) and type_.element.is_float
