"""The form that MLIR has for every operation: ``%0 = "cuda_tile.negi"(%a) : (tile<i32>) -> tile<i32>``.

It says the parts by name (``<{signedness = #cuda_tile.signedness<signed>}>``) and the types in full, so that
operations may stand in it that their own form has no spelling for: illegal ones. MLIR's tools print it with
``--mlir-print-op-generic``, and for what they refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import EnumMeta
from typing import TYPE_CHECKING, Any, TypeVar

from .. import attributes as a
from .. import registry
from ..declare import AttributePart
from ..module import Operation, Region, Value
from ..types import FunctionType, Type
from .format_parser import check_types, keywords, numbers_of

if TYPE_CHECKING:
    from .body_parser import BodyParser

I32 = (1 << 31) - 1
I64 = (1 << 63) - 1
_SEGMENTS = ("operandSegmentSizes", "operand_segment_sizes")
_ENUMERATIONS: dict[EnumMeta, str] = {
    a.RoundingMode: "rounding",
    a.ComparisonPredicate: "comparison_predicate",
    a.ComparisonOrdering: "comparison_ordering",
    a.Signedness: "signedness",
    a.IntegerOverflow: "overflow",
    a.SymbolVisibility: "symbol_visibility",
}
"""What MLIR calls the enumerations that it spells by keyword; the others are numbers."""

Reader = Callable[[], Any]
A = TypeVar("A", bound=a.Attribute)


def generic_name(parser: BodyParser) -> tuple[str, int]:
    """Take the quoted name of an operation, without its dialect, and where it stands."""
    scanner = parser.scanner
    start = scanner.position
    name = scanner.string()
    if not name.startswith("cuda_tile."):
        scanner.fail("an operation is of another dialect", "operation-name", at=start, found=f'"{name}"')
    return name.removeprefix("cuda_tile."), start


def entries(parser: BodyParser, readers: Mapping[str, Reader], found: dict[str, Any]) -> None:
    """Take ``{name = value, name}``, each value with the reader of its name; a name alone is a flag's."""
    scanner = parser.scanner

    def entry() -> None:
        start = scanner.position
        key = scanner.word_or_string("an attribute's name")
        read = readers.get(key)
        if read is None or key in found:
            what = "unknown" if read is None else "given twice"
            scanner.fail(f"an attribute is {what}", "attribute-name", at=start, found=key)
        if scanner.accept("="):
            found[key] = True if scanner.accept("unit") else read()
        else:
            found[key] = True

    parser.types.listed("{", entry)


def properties(parser: BodyParser, readers: Mapping[str, Reader], found: dict[str, Any]) -> None:
    """Take ``<{...}>`` if it stands here."""
    if parser.scanner.accept("<"):
        entries(parser, readers, found)
        parser.scanner.expect(">")


def regions(parser: BodyParser, read: Callable[[], Any]) -> list[Any]:
    """Take ``({...}, {...})`` if it stands here."""
    return parser.types.listed("(", read) if parser.scanner.at("(") else []


def signature(parser: BodyParser) -> FunctionType:
    """Take ``(types) -> types``."""
    types = parser.types
    operands = types.listed("(", types.type)
    parser.scanner.expect("->")
    results = types.listed("(", types.type) if parser.scanner.at("(") else [types.type()]
    return FunctionType(tuple(operands), tuple(results))


def parse_generic(parser: BodyParser) -> Operation:
    """Take an operation in its generic form, without the names of its results."""
    scanner = parser.scanner
    name, start = generic_name(parser)
    kind = registry.BY_NAME.get(name)
    if kind is None:
        scanner.fail("there is no such operation", "operation-name", at=start, found=f'"cuda_tile.{name}"')
    uses_at = scanner.position
    uses = parser.types.listed("(", parser.use)
    readers = _readers(parser, kind)
    found: dict[str, Any] = {}
    properties(parser, readers, found)
    bodies = regions(parser, lambda: parser.region([], implicit=None, labelled=True))
    if scanner.at("{"):
        entries(parser, readers, found)
    scanner.expect(":")
    types_at = scanner.position
    types = signature(parser)
    check_types(parser, tuple(uses), list(types.parameters), types_at)
    sizes = next((found.pop(key) for key in _SEGMENTS if key in found), None)
    parts = {
        **_operands(parser, kind, uses, sizes, uses_at),
        **{_part_name(kind, key): value for key, value in found.items()},
        **_bodies(parser, kind, bodies, start),
    }
    return _build(parser, kind, parts, types.results, start)


def _build(
    parser: BodyParser, kind: type[Operation], parts: dict[str, Any], results: tuple[Type, ...], start: int
) -> Operation:
    declaration = kind.declaration
    missing = declaration.required - parts.keys()
    if missing:
        names = ", ".join(sorted(name.rstrip("_") for name in missing))
        parser.scanner.fail("parts are missing", "part-missing", at=start, expected=names)
    filled = {**declaration.defaults, **parts}
    for name, value in filled.items():
        if callable(value):
            filled[name] = value(filled)
    operation = kind.__new__(kind)
    operation._fill(filled, results, parser.attributes.locations.trailing())
    return operation


def _operands(
    parser: BodyParser, kind: type[Operation], uses: list[Value], sizes: tuple[int, ...] | None, at: int
) -> dict[str, Any]:
    """The operands by name; ``sizes`` says how many values each part has, if it does not follow."""
    declared = kind.declaration.operands
    if sizes is None:
        rest = len(uses) - sum(p.kind == "one" for p in declared)
        open_parts = [p for p in declared if p.kind != "one"]
        if len(open_parts) > 1 and rest:
            parser.scanner.fail(
                "which operands these are is not said", "operand-segments", at=at, expected=_SEGMENTS[0]
            )
        sizes = tuple(1 if p.kind == "one" else rest if p is open_parts[0] else 0 for p in declared)
    legal = len(sizes) == len(declared) and sum(sizes) == len(uses)
    if not legal or not all(
        size == 1 if p.kind == "one" else 0 <= size <= (1 if p.kind == "optional" else size)
        for p, size in zip(declared, sizes, strict=True)
    ):
        parser.scanner.fail(
            "the operation has other operands",
            "operand-count",
            at=at,
            found=len(uses),
            expected=", ".join(p.name.rstrip("_") for p in declared) or "none",
        )
    parts: dict[str, Any] = {}
    start = 0
    for part, size in zip(declared, sizes, strict=True):
        values = tuple(uses[start : start + size])
        start += size
        parts[part.name] = values if part.kind == "variadic" else values[0] if values else None
    return parts


def _bodies(parser: BodyParser, kind: type[Operation], bodies: list[Region], at: int) -> dict[str, Region]:
    declared = list(kind.declaration.regions)
    # An else that is left out is a region without anything.
    optional = [name for name, part in kind.declaration.regions.items() if part.optional]
    if len(bodies) != len(declared):
        parser.scanner.fail(
            "the operation has another number of regions",
            "region-count",
            at=at,
            found=len(bodies),
            expected=len(declared),
        )
    return {
        name: body
        for name, body in zip(declared, bodies, strict=True)
        if body.operations or name not in optional
    }


def _part_name(kind: type[Operation], key: str) -> str:
    """The part that MLIR calls ``key``: Python's keywords have a dash behind them."""
    return key if key in kind.declaration.names else key + "_"


def _readers(parser: BodyParser, kind: type[Operation]) -> dict[str, Reader]:
    """How each of an operation's attributes is read, by the name that MLIR has for it."""
    declaration = kind.declaration
    readers: dict[str, Reader] = {p.name.rstrip("_"): _reader(parser, p) for p in declaration.attributes}
    readers |= {p.name.rstrip("_"): lambda: _flag(parser) for p in declaration.flags}
    if len(declaration.operands) > 1:
        readers |= dict.fromkeys(_SEGMENTS, lambda: numbers(parser))
    return readers


def _reader(parser: BodyParser, part: AttributePart) -> Reader:
    kind = part.kind
    if isinstance(kind, EnumMeta):
        return lambda: enumeration(parser, kind)
    return {
        "int": lambda: integer(parser),
        "bool": lambda: _flag(parser),
        "str": lambda: parser.scanner.symbol() if parser.scanner.at("@") else parser.scanner.string(),
        "array": lambda: numbers_of(parser),
        "optimization_hints": lambda: attribute_of(parser, a.OptimizationHints),
        "dense_int32_array": lambda: numbers(parser),
        "dense_bool_array": lambda: _booleans(parser),
        "dense_typed_elements": lambda: attribute_of(parser, a.DenseElements),
        "tagged": lambda: parser.attributes.predicate(),
    }[kind]


def attribute_of(parser: BodyParser, kind: type[A]) -> A:
    """Take an attribute of one kind."""
    start = parser.scanner.position
    found = parser.attributes.attribute()
    if not isinstance(found, kind):
        parser.scanner.fail("an attribute of another kind belongs here", "attribute-kind", at=start)
    return found


def enumeration(parser: BodyParser, kind: EnumMeta) -> Any:
    """Take ``#cuda_tile.rounding<zero>``, or the number of a member and its type."""
    scanner = parser.scanner
    start = scanner.position
    if kind in _ENUMERATIONS and scanner.accept("#cuda_tile." + _ENUMERATIONS[kind]):
        scanner.expect("<")
        member = parser.keyword(kind)
        scanner.expect(">")
        return member
    number = integer(parser)
    known: dict[int, Any] = {int(member): member for member in keywords(kind).values()}
    if number not in known:
        scanner.fail(
            "there is no such keyword", "keyword", at=start, found=number, expected=f"{kind.__name__}"
        )
    return known[number]


def integer(parser: BodyParser) -> int:
    """Take an integer and its type."""
    value = parser.scanner.integer(-I64 - 1, I64)
    if parser.scanner.accept(":"):
        parser.types.number()
    return value


def _flag(parser: BodyParser) -> bool:
    if parser.scanner.accept("true"):
        return True
    parser.scanner.expect("false")
    return False


def _dense(parser: BodyParser, element: str, item: Callable[[], Any]) -> tuple[Any, ...]:
    """Take ``array<i32: ...>``."""
    scanner = parser.scanner
    scanner.expect("array")
    scanner.expect("<")
    scanner.expect(element)
    found = []
    if scanner.accept(":"):
        found.append(item())
        while scanner.accept(","):
            found.append(item())
    scanner.expect(">")
    return tuple(found)


def numbers(parser: BodyParser) -> tuple[int, ...]:
    """Take ``array<i32: 1, 0>``."""
    return _dense(parser, "i32", lambda: parser.scanner.integer(-I32 - 1, I32))


def _booleans(parser: BodyParser) -> tuple[bool, ...]:
    return _dense(parser, "i1", lambda: _flag(parser))
