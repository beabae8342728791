"""How each element of a format is printed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..attributes import OptimizationHints
from ..declare import AttributePart, FlagPart
from ..module import Operation, Region
from .assembly import AnyOrder, Attr, Block, Each, Element, Group, Literal, Symbol, TypeOf, Use, parse_format
from .attributes import spell_array, spell_attribute, spell_hints, spell_predicate
from .strings import escape, symbol

if TYPE_CHECKING:
    from .printer import Printer

Step = Callable[["Printer", Operation], None]

_STEPS: dict[type[Operation], tuple[Step, ...]] = {}


def steps(kind: type[Operation]) -> tuple[Step, ...]:
    """What prints the format of ``kind``, one step after the other."""
    known = _STEPS.get(kind)
    if known is None:
        known = _STEPS[kind] = _compile(kind)
    return known


def _compile(kind: type[Operation]) -> tuple[Step, ...]:
    from .custom import PRINTERS

    custom = PRINTERS.get(kind)
    if custom is not None:
        return (custom,)
    elements = list(parse_format(kind.assembly))
    # A format begins with a space of its own, unless the whole of it may be left out.
    if len(elements) == 1 and isinstance(elements[0], Group):
        group = elements[0]
        return (_step(kind, Group(group.anchor, (Literal(" "), *group.elements))),)
    if elements:
        elements.insert(0, Literal(" "))
    return tuple(_step(kind, e) for e in elements)


def _step(kind: type[Operation], element: Element) -> Step:
    match element:
        case Literal(text):
            return lambda printer, _: printer.out.append(text)
        case Use(name):
            return _use_step(kind, name)
        case Attr(name):
            return _attribute_step(kind, name)
        case Symbol(name):
            return lambda printer, op: printer.out.append(symbol(op.__dict__[name]))
        case TypeOf(names):
            return _type_step(kind, names[-1])
        case Each(name):
            return lambda printer, op: printer.each(getattr(op, name))
        case Block(name, arguments):
            return _block_step(name, arguments)
        case Group(anchor, elements):
            there = presence(kind, anchor)
            steps = tuple(_step(kind, e) for e in elements)

            def group(printer: Printer, op: Operation) -> None:
                if there(op):
                    for step in steps:
                        step(printer, op)

            return group
        case AnyOrder(groups):
            parts = tuple(_step(kind, g) for g in groups)

            def any_order(printer: Printer, op: Operation) -> None:
                for step in parts:
                    step(printer, op)

            return any_order


def presence(kind: type[Operation], name: str) -> Callable[[Operation], bool]:
    """Whether the part called ``name`` has something to print."""
    attribute = next((p for p in kind.declaration.attributes if p.name == name), None)
    if attribute is not None and attribute.has_default:
        default = attribute.default
        if callable(default):
            return lambda op: bool(op.__dict__[name] != default(op.__dict__))
        return lambda op: op.__dict__[name] is not default and op.__dict__[name] != default
    return lambda op: bool(getattr(op, name))


def _use_step(kind: type[Operation], name: str) -> Step:
    part = next(p for p in kind.declaration.operands if p.name == name)
    if part.kind == "variadic":

        def variadic(printer: Printer, op: Operation) -> None:
            use = printer.use
            printer.out.append(", ".join([use[v] for v in op.__dict__[name]]))

        return variadic
    return lambda printer, op: printer.out.append(printer.use[op.__dict__[name]])


def _type_step(kind: type[Operation], name: str) -> Step:
    parts: list[Any] = [*kind.declaration.operands, *kind.declaration.results]
    part = next(p for p in parts if p.name == name)
    if name == "results" or getattr(part, "kind", None) == "variadic":
        return lambda printer, op: printer.out.append(printer.types(getattr(op, name)))
    return lambda printer, op: printer.out.append(printer.type(getattr(op, name).type))


def _block_step(name: str, arguments: bool) -> Step:
    def with_arguments(printer: Printer, op: Operation) -> None:
        region = op.__dict__[name]
        printer.out.append(f"\n{printer.indent}{printer.signature(region.arguments)} ")
        printer.block(region)

    def plain(printer: Printer, op: Operation) -> None:
        print_control_region(printer, op.__dict__[name], "yield")

    return with_arguments if arguments else plain


def print_control_region(printer: Printer, region: Region, implicit: str) -> None:
    """A block whose terminator is not spelled if it is the ``implicit`` one and gives no values."""
    last = region.operations[-1] if region.operations else None
    printer.block(region, elide=last is not None and last.mnemonic == implicit and not last.uses)


def _attribute_step(kind: type[Operation], name: str) -> Step:
    parts: tuple[AttributePart | FlagPart, ...] = (*kind.declaration.attributes, *kind.declaration.flags)
    part = next(p for p in parts if p.name == name)
    if isinstance(part, FlagPart):
        return lambda printer, _: printer.out.append(name.rstrip("_"))
    spell = _SPELLINGS.get(part.kind, str) if isinstance(part.kind, str) else str
    return lambda printer, op: printer.out.append(spell(op.__dict__[name]))


def _hints(hints: OptimizationHints) -> str:
    return spell_hints(hints)


_SPELLINGS: dict[str, Callable[[Any], str]] = {
    "bool": lambda value: "true" if value else "false",
    "str": escape,
    "array": spell_array,
    "tagged": spell_attribute,
    "predicate": spell_predicate,
    "optimization_hints": _hints,
    "dense_int32_array": lambda values: f"[{', '.join(map(str, values))}]",
    "dense_bool_array": lambda values: f"[{', '.join('true' if v else 'false' for v in values)}]",
}
