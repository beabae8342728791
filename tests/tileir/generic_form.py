"""A second spelling of modules: MLIR's generic form of everything, from the declarations alone.

It is there to be read: nothing of the package prints this form.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from tileir import attributes as a
from tileir.module import Function, Global, Module, Operation, Region, Value
from tileir.text.attributes import spell_attribute, spell_prefixed
from tileir.text.strings import escape

KEYWORDS = {
    a.RoundingMode: "rounding",
    a.ComparisonPredicate: "comparison_predicate",
    a.ComparisonOrdering: "comparison_ordering",
    a.Signedness: "signedness",
    a.IntegerOverflow: "overflow",
    a.SymbolVisibility: "symbol_visibility",
}


class Spelling:
    """Spells one function; values are numbered as they come."""

    def __init__(self) -> None:
        self.names: dict[Value, str] = {}

    def define(self, value: Value) -> str:
        self.names[value] = f"%v{len(self.names)}"
        return self.names[value]

    def region(self, region: Region) -> str:
        arguments = ", ".join(f"{self.define(v)}: {spell_prefixed(v.type)}" for v in region.arguments)
        label = f"^bb0({arguments}):\n" if region.arguments else ""
        return "{\n" + label + "\n".join(map(self.operation, region.operations)) + "\n}"

    def operation(self, op: Operation) -> str:
        parts, declaration = op.__dict__, op.declaration
        uses = ", ".join(self.names[v] for v in op.uses)
        fields = {p.name.rstrip("_"): attribute(parts[p.name]) for p in declaration.attributes}
        entries = [f"{name} = {text}" for name, text in fields.items() if text is not None]
        entries += [p.name.rstrip("_") for p in declaration.flags if parts[p.name]]
        sizes = [
            len(parts[p.name]) if p.kind == "variadic" else int(parts[p.name] is not None)
            for p in declaration.operands
        ]
        if any(p.kind != "one" for p in declaration.operands) and len(sizes) > 1:
            entries.append(f"operandSegmentSizes = array<i32: {', '.join(map(str, sizes))}>")
        properties = f" <{{{', '.join(entries)}}}>" if entries else ""
        bodies = [parts[name] for name in declaration.regions]
        inside = ", ".join("{\n}" if body is None else self.region(body) for body in bodies)
        regions = f" ({inside})" if bodies else ""
        operands = ", ".join(spell_prefixed(v.type) for v in op.uses)
        results = ", ".join(spell_prefixed(v.type) for v in op.results)
        names = ", ".join(map(self.define, op.results))
        head = f"{names} = " if names else ""
        return f'{head}"cuda_tile.{op.mnemonic}"({uses}){properties}{regions} : ({operands}) -> ({results})'


def attribute(value: Any) -> str | None:
    """An attribute's value; None for one that is left out."""
    match value:
        case None:
            return None
        case Enum():
            keyword = KEYWORDS.get(type(value))  # type: ignore[call-overload]
            return f"#cuda_tile.{keyword}<{value}>" if keyword else f"{value.value} : i32"
        case bool():
            return "true" if value else "false"
        case int():
            return f"{value} : i64"
        case str():
            return escape(value)
        case a.Attribute():
            return spell_attribute(value)
        case tuple() if value and isinstance(value[0], a.Attribute):
            return spell_attribute(a.ArrayAttribute(value))
        case tuple() if value and isinstance(value[0], bool):
            return f"array<i1: {', '.join(str(v).lower() for v in value)}>"
        case tuple() if value:
            return f"array<i32: {', '.join(map(str, value))}>"
        case tuple():
            return "array<i1>"
    raise AssertionError(f"no spelling for {value!r}")


def function(entry: Function) -> str:
    """An entry."""
    types = ", ".join(spell_prefixed(v.type) for v in entry.parameters)
    hints = "" if entry.hints is None else f", optimization_hints = {spell_attribute(entry.hints)}"
    return (
        f'"cuda_tile.entry"() <{{function_type = ({types}) -> (), sym_name = {escape(entry.name)}{hints}}}> '
        f"({Spelling().region(entry.body)}) : () -> ()"
    )


def global_(item: Global) -> str:
    """A global."""
    constant = ", constant" if item.constant else ""
    return (
        f'"cuda_tile.global"() <{{alignment = {item.alignment} : i64{constant}, sym_name = {escape(item.name)}, '
        f"symbol_visibility = #cuda_tile.symbol_visibility<{item.visibility}>, "
        f"value = {spell_attribute(item.value)}}}> : () -> ()"
    )


def spell(module: Module) -> str:
    """A module, in a module of MLIR's."""
    producer = "" if module.producer is None else f"producer = {escape(module.producer)}, "
    items = "\n".join([*map(global_, module.globals), *map(function, module.functions)])
    return (
        '"builtin.module"() ({\n"cuda_tile.module"() '
        f"<{{{producer}sym_name = {escape(module.name)}}}> ({{\n{items}\n}}) : () -> ()\n}}) : () -> ()\n"
    )
