"""The forms that are the dialect's own: loops, constants, claims, tensor views."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..module import Operation, Value
from ..ops.control import For, Loop
from ..ops.core import Constant
from ..ops.debugging import Assume
from ..ops.view import MakeTensorView
from ..types import Dimension, PointerAttribute, PointerType, TensorViewType, TileType, Type
from .attributes import spell_elements, spell_predicate
from .format_parser import Parsed, check_types
from .format_printer import print_control_region

if TYPE_CHECKING:
    from .body_parser import BodyParser
    from .printer import Printer


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


def parse_constant(parser: BodyParser, parsed: Parsed) -> None:
    """Read what ``print_constant`` writes."""
    value = parser.constant()
    parsed.parts["value"] = value
    parsed.types["result"] = [value.type]


def parse_assume(parser: BodyParser, parsed: Parsed) -> None:
    """Read what ``print_assume`` writes."""
    parsed.parts["predicate"] = parser.attributes.predicate()
    parser.scanner.expect(",")
    value = parsed.parts["value"] = parser.use()
    parser.scanner.expect(":")
    at = parser.scanner.position
    parser.check_type(value, parser.types.type(), at)
    parsed.types["result"] = [value.type]


def _parse_initial(parser: BodyParser) -> tuple[list[tuple[str, int]], tuple[Value, ...]]:
    """Take ``(%a = %b, ...)``: names of arguments with their places, and values."""
    scanner = parser.scanner

    def assignment() -> tuple[str, int, Value]:
        at = scanner.position
        name = parser.new_name()
        scanner.expect("=")
        return name, at, parser.use()

    items = parser.types.listed("(", assignment)
    return [(name, at) for name, at, _ in items], tuple(value for _, _, value in items)


def parse_for(parser: BodyParser, parsed: Parsed) -> None:
    """Read what ``print_for`` writes."""
    scanner, parts = parser.scanner, parsed.parts
    parts["unsignedCmp"] = scanner.accept("unsigned")
    induction_at = scanner.position
    induction = parser.new_name()
    scanner.expect("in")
    scanner.expect("(")
    parts["lowerBound"] = parser.use()
    scanner.expect("to")
    parts["upperBound"] = parser.use()
    scanner.expect(",")
    scanner.expect("step")
    parts["step"] = parser.use()
    scanner.expect(")")
    scanner.expect(":")
    at = scanner.position
    type_ = parser.types.type()
    for name in ("lowerBound", "upperBound", "step"):
        parser.check_type(parts[name], type_, at)
    names: list[tuple[str, int]] = []
    values: tuple[Value, ...] = ()
    types: list[Type] = []
    if scanner.accept("iter_values"):
        names, values = _parse_initial(parser)
        scanner.expect("->")
        at = scanner.position
        types = parser.types.listed("(", parser.types.type)
        check_types(parser, values, types, at)
    parts["initValues"] = values
    parsed.types["results"] = types
    arguments = [(induction, induction_at, type_)]
    arguments += [(name, at, t) for (name, at), t in zip(names, types, strict=True)]
    parts["body"] = parser.region(arguments, implicit="continue")


def parse_loop(parser: BodyParser, parsed: Parsed) -> None:
    """Read what ``print_loop`` writes."""
    scanner = parser.scanner

    def listed() -> list[Type]:
        found = [parser.types.type()]
        while scanner.accept(","):
            found.append(parser.types.type())
        return found

    names: list[tuple[str, int]] = []
    values: tuple[Value, ...] = ()
    types: list[Type] = []
    results: list[Type] = []
    if scanner.accept("iter_values"):
        names, values = _parse_initial(parser)
        scanner.expect(":")
        at = scanner.position
        types = listed()
        check_types(parser, values, types, at)
        if scanner.accept("->"):
            results = listed()
    elif scanner.accept(":"):
        results = listed()
    parsed.parts["initValues"] = values
    parsed.types["results"] = results
    arguments = [(name, at, t) for (name, at), t in zip(names, types, strict=True)]
    parsed.parts["body"] = parser.region(arguments, implicit="continue")


def parse_make_tensor_view(parser: BodyParser, parsed: Parsed) -> None:
    """Read what ``print_make_tensor_view`` writes."""
    scanner, parts = parser.scanner, parsed.parts
    base = parts["base"] = parser.use()
    mixed = {}
    for word in ("shape", "strides"):
        scanner.expect(",")
        scanner.expect(word)
        scanner.expect("=")
        at = scanner.position
        mixed[word] = at, parser.types.listed("[", lambda: _extent_or_value(parser))
    scanner.expect(":")
    at = scanner.position
    types = [parser.types.type()]
    while scanner.accept(","):
        types.append(parser.types.type())
    view = types[-1]
    if scanner.accept("->"):
        view = parser.types.type()
    else:
        types.pop()
    dynamic = [v for _, extents in mixed.values() for v in extents if isinstance(v, Value)]
    expected = [base.type] if _pointer_attribute(base.type) is not None else []
    expected += [v.type for v in dynamic[:1]]
    if types != expected:
        scanner.fail(
            "the operands' types are not these",
            "value-type",
            at=at,
            found=", ".join(map(str, types)) or "none",
            expected=", ".join(map(str, expected)) or "none",
        )
    if not isinstance(view, TensorViewType):
        scanner.fail("this is not a tensor view", "type-kind", at=at, found=view)
    for word, extents in (("shape", view.shape), ("strides", view.strides)):
        at, spelled = mixed[word]
        if [None if isinstance(v, Value) else v for v in spelled] != list(extents):
            scanner.fail(
                f"the {word} of the operation and of its type differ",
                "tensor-shape",
                at=at,
                expected=list(extents),
            )
    parts["dynamicShape"] = tuple(v for v in mixed["shape"][1] if isinstance(v, Value))
    parts["dynamicStrides"] = tuple(v for v in mixed["strides"][1] if isinstance(v, Value))
    parsed.types["result"] = [view]


def _extent_or_value(parser: BodyParser) -> int | Value:
    return parser.use() if parser.scanner.at("%") else parser.scanner.integer(0, (1 << 63) - 1)


PARSERS: dict[type[Operation], Callable[[BodyParser, Parsed], None]] = {
    Constant: parse_constant,
    Assume: parse_assume,
    For: parse_for,
    Loop: parse_loop,
    MakeTensorView: parse_make_tensor_view,
}
