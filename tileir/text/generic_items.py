"""Modules, entries and globals in MLIR's generic form; see ``generic_parser``."""

from __future__ import annotations

from typing import Any

from ..attributes import (
    ArrayAttribute,
    DenseElements,
    DictionaryAttribute,
    OptimizationHints,
    SymbolVisibility,
)
from ..module import Function, Global, Module
from .body_parser import BodyParser
from .generic_parser import (
    Reader,
    attribute_of,
    entries,
    enumeration,
    generic_name,
    integer,
    properties,
    regions,
    signature,
)


def generic_entry(parser: BodyParser) -> Function:
    """Take ``"cuda_tile.entry"() <{...}> ({...}) : () -> ()``, without its name."""
    scanner = parser.scanner
    start = scanner.position
    bodies: list[Any] = []
    found = _item(
        parser,
        {
            "sym_name": scanner.string,
            "function_type": lambda: signature(parser),
            "arg_attrs": lambda: _of_arguments(parser),
            "res_attrs": lambda: _of_arguments(parser),
            "optimization_hints": lambda: attribute_of(parser, OptimizationHints),
        },
        ("sym_name", "function_type"),
        bodies,
    )
    if len(bodies) != 1:
        scanner.fail("an entry has one region", "region-count", at=start, found=len(bodies), expected=1)
    type_ = found["function_type"]
    types = tuple(v.type for v in bodies[0].arguments)
    if types != type_.parameters:
        scanner.fail(
            "the entry's type and its arguments differ",
            "value-type",
            at=start,
            found=", ".join(map(str, types)) or "none",
            expected=", ".join(map(str, type_.parameters)) or "none",
        )
    return Function(
        found["sym_name"],
        bodies[0],
        result_types=type_.results,
        hints=found.get("optimization_hints"),
        argument_attributes=found.get("arg_attrs"),
        result_attributes=found.get("res_attrs"),
        location=parser.attributes.locations.trailing(),
    )


def generic_global(parser: BodyParser) -> Global:
    """Take ``"cuda_tile.global"() <{...}> : () -> ()``, without its name."""
    found = _item(
        parser,
        {
            "sym_name": parser.scanner.string,
            "value": lambda: attribute_of(parser, DenseElements),
            "alignment": lambda: integer(parser),
            "symbol_visibility": lambda: enumeration(parser, SymbolVisibility),
            "constant": lambda: True,
        },
        ("sym_name", "value"),
        [],
    )
    return Global(
        found["sym_name"],
        found["value"],
        found.get("alignment", 0),
        found.get("symbol_visibility", SymbolVisibility.PUBLIC),
        found.get("constant", False),
        parser.attributes.locations.trailing(),
    )


def open_generic_module(parser: BodyParser) -> Module:
    """Take ``"cuda_tile.module"() <{sym_name = "k"}> ({``, its name taken before."""
    scanner = parser.scanner
    found: dict[str, Any] = {}
    readers: dict[str, Reader] = {"sym_name": scanner.string, "producer": scanner.string}
    _open(parser)
    properties(parser, readers, found)
    scanner.expect("(")
    parser.open_block()
    module = Module(source=scanner.file)
    module.name = found.get("sym_name", module.name)
    module.producer = found.get("producer")
    return module


def open_outer_module(parser: BodyParser) -> bool:
    """Take ``"builtin.module"() ({``, if it stands here."""
    if not parser.scanner.accept('"builtin.module"'):
        return False
    _open(parser)
    parser.scanner.expect("(")
    parser.open_block()
    return True


def close_generic_module(parser: BodyParser) -> None:
    """Take ``) : () -> ()`` behind the brace of a module."""
    scanner = parser.scanner
    scanner.expect(")")
    _close(parser)


def _open(parser: BodyParser) -> None:
    parser.scanner.expect("(")
    parser.scanner.expect(")")


def _close(parser: BodyParser) -> None:
    scanner = parser.scanner
    for token in (":", "(", ")", "->", "(", ")"):
        scanner.expect(token)


def _item(
    parser: BodyParser, readers: dict[str, Reader], required: tuple[str, ...], bodies: list[Any]
) -> dict[str, Any]:
    """Take the operands (none), attributes and regions of an item, and its type."""
    scanner = parser.scanner
    start = scanner.position
    found: dict[str, Any] = {}
    _open(parser)
    properties(parser, readers, found)
    bodies += regions(parser, lambda: parser.region([], implicit=None, labelled=True))
    if scanner.at("{"):
        entries(parser, readers, found)
    _close(parser)
    missing = [name for name in required if name not in found]
    if missing:
        scanner.fail("parts are missing", "part-missing", at=start, expected=", ".join(missing))
    return found


def _of_arguments(parser: BodyParser) -> ArrayAttribute | None:
    """Attributes of arguments, a dictionary each; none if all are empty."""
    found = attribute_of(parser, ArrayAttribute)
    empty = all(isinstance(e, DictionaryAttribute) and not e.entries for e in found.elements)
    return None if empty else found


__all__ = [
    "close_generic_module",
    "generic_entry",
    "generic_global",
    "generic_name",
    "open_generic_module",
    "open_outer_module",
]
