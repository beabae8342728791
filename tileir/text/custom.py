"""The forms that are the dialect's own: loops, constants, claims, tensor views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..module import Operation, Value
from ..ops.control import For, Loop
from ..ops.core import Constant
from ..ops.debugging import Assume
from ..ops.view import MakeTensorView
from ..types import Dimension, PointerAttribute, PointerType, TileType, Type
from .attributes import spell_elements, spell_predicate
from .printer import Printer, print_control_region


def print_constant(printer: Printer, op: Constant) -> None:
    """``constant <i32: 1> : tile<i32>``."""
    printer.out.append(
        f" <{op.value.type.element}: {spell_elements(op.value)}> : {printer.type(op.result.type)}"
    )


def print_assume(printer: Printer, op: Assume) -> None:
    """``assume div_by<16>, %x : tile<i32>``."""
    use = printer.use[op.value]
    printer.out.append(f" {spell_predicate(op.predicate)}, {use} : {printer.type(op.value.type)}")


def _initial(printer: Printer, arguments: tuple[Value, ...], values: tuple[Value, ...]) -> str:
    use = printer.use
    return ", ".join([f"{use[a]} = {use[v]}" for a, v in zip(arguments, values, strict=False)])


def print_for(printer: Printer, op: For) -> None:
    """``for %i in (%lo to %hi, step %s) : tile<i32> iter_values(%a = %b) -> (tile<f32>) {``."""
    use = printer.use
    induction, *carried = op.body.arguments
    printer.out.append(
        f"{' unsigned' if op.unsignedCmp else ''} {use[induction]} in ({use[op.lowerBound]} to "
        f"{use[op.upperBound]}, step {use[op.step]}) : {printer.type(induction.type)} "
    )
    if op.initValues:
        initial = _initial(printer, tuple(carried), op.initValues)
        printer.out.append(f"iter_values({initial}) -> ({printer.types(op.initValues)}) ")
    print_control_region(printer, op.body, "continue")


def print_loop(printer: Printer, op: Loop) -> None:
    """``loop iter_values(%a = %b) : tile<f32> -> tile<f32> {``."""
    text = " "
    if op.initValues:
        text += f"iter_values({_initial(printer, op.body.arguments, op.initValues)}) "
    if op.initValues or op.results:
        text += ": "
    if op.initValues:
        text += f"{printer.types(op.initValues)} {'-> ' if op.results else ''}"
    if op.results:
        text += f"{printer.types(op.results)} "
    printer.out.append(text)
    print_control_region(printer, op.body, "continue")


def print_make_tensor_view(printer: Printer, op: MakeTensorView) -> None:
    """``make_tensor_view %p, shape = [%n, 4], strides = [4, 1] : tile<i32> -> tensor_view<...>``."""
    view: Any = op.result.type
    shape = _mixed(printer, view.shape, op.dynamicShape)
    strides = _mixed(printer, view.strides, op.dynamicStrides)
    # The pointer's type is spelled where it does not follow from the view's.
    operands = [op.base.type] if _pointer_attribute(op.base.type) is not None else []
    operands += [v.type for v in (*op.dynamicShape, *op.dynamicStrides)[:1]]
    arrow = ", ".join(map(printer.type, operands)) + " -> " if operands else ""
    printer.out.append(
        f" {printer.use[op.base]}, shape = [{shape}], strides = [{strides}] : {arrow}{printer.type(view)}"
    )


def _pointer_attribute(type_: Type) -> PointerAttribute | None:
    element = type_.element if isinstance(type_, TileType) else None
    return element.attribute if isinstance(element, PointerType) else None


def _mixed(printer: Printer, extents: tuple[Dimension, ...], dynamic: tuple[Value, ...]) -> str:
    values = iter(dynamic)
    texts = []
    for extent in extents:
        if extent is not None:
            texts.append(str(extent))
        else:
            value = next(values, None)
            texts.append("?" if value is None else printer.use[value])
    return ", ".join(texts)


PRINTERS: dict[type[Operation], Callable[[Printer, Any], None]] = {
    Constant: print_constant,
    Assume: print_assume,
    For: print_for,
    Loop: print_loop,
    MakeTensorView: print_make_tensor_view,
}
