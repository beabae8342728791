"""Rules of what is not an operation: globals, entries, and how operations stand in them."""

from __future__ import annotations

from collections.abc import Iterator

from ..attributes import DenseElements
from ..locations import CallSite, LexicalBlock, Location, SourceLocation, Subprogram
from ..module import Function, Global, Module
from ..ops.control import Return
from ..types import TileType
from ..version import SUPPORTED
from .control import check_terminators_last
from .diagnostic import Problem
from .rules import Problems


def version_published(module: Module) -> Problems:
    """The bytecode version is one that is published."""
    if module.version not in SUPPORTED:
        yield Problem("there is no such bytecode version", module.version, " or ".join(map(str, SUPPORTED)))


def symbol_once(module: Module) -> Problems:
    """Globals and functions have different names, none of them empty."""
    seen: set[str] = set()
    for name in [*(g.name for g in module.globals), *(f.name for f in module.functions)]:
        if not name:
            yield Problem("a name is empty")
        elif name in seen:
            yield Problem("a name is given twice", name)
        seen.add(name)


MODULE_RULES = (version_published, symbol_once)


def global_rank(global_: Global) -> Problems:
    """A global has one dimension."""
    if not isinstance(global_.value, DenseElements) or len(global_.value.type.shape) != 1:
        yield Problem("a global has one dimension", global_.value.type)


def global_size(global_: Global) -> Problems:
    """A global has one element, which stands for all, or all of them."""
    width, size = global_.value.element_bytes, len(global_.value.data)
    if size not in (width, width * global_.value.type.size):
        found = f"{size} bytes for {global_.value.type}"
        yield Problem("a constant has one element, or all of them", found)


def global_alignment(global_: Global) -> Problems:
    """An alignment is at most 2^32, beyond which the assembler has none."""
    if not 0 <= global_.alignment <= 1 << 32:
        yield Problem("an alignment is at most 2^32", global_.alignment)


GLOBAL_RULES = (global_rank, global_size, global_alignment)


def function_is_entry(function: Function) -> Problems:
    """Every function is an entry: there are no others yet."""
    if not function.is_entry:
        yield Problem("a function is an entry")


def entry_returns_nothing(function: Function) -> Problems:
    """An entry returns nothing."""
    if function.result_types:
        yield Problem("an entry returns nothing", ", ".join(map(str, function.result_types)))


def entry_parameters(function: Function) -> Problems:
    """A parameter that is a tile is a scalar; tokens and functions are no parameters."""
    for value in function.parameters:
        if isinstance(value.type, TileType) and value.type.shape:
            yield Problem("a parameter is a scalar", value.type)


def entry_end(function: Function) -> Problems:
    """An entry ends with ``return``."""
    operations = function.body.operations
    if not operations or not isinstance(operations[-1], Return):
        yield Problem("an entry ends with return", operations[-1].mnemonic if operations else "nothing")
    yield from check_terminators_last(function.body)


def _place(location: Location | None) -> SourceLocation | None:
    """The place that a location is in the end: for inlined code, that of the call."""
    while isinstance(location, CallSite):
        location = location.caller
    return location if isinstance(location, SourceLocation) else None


def subprogram_of(location: Location | None) -> Subprogram | None:
    """The function of the source program that a place is in."""
    place = _place(location)
    scope = place.scope if place is not None else None
    while isinstance(scope, LexicalBlock):
        scope = scope.scope
    return scope if isinstance(scope, Subprogram) else None


def entry_location(function: Function) -> Problems:
    """An entry's location is in a subprogram, whose linkage name is the entry's."""
    if isinstance(function.location, CallSite):
        yield Problem("an entry is not at a call site", function.location)
    place = _place(function.location)
    if place is None:
        return
    if not isinstance(place.scope, Subprogram):
        yield Problem("an entry's location is in a subprogram", type(place.scope).__name__)
    elif place.scope.linkage_name != function.name:
        yield Problem("the subprogram has the entry's name", place.scope.linkage_name, function.name)


def operation_locations(function: Function) -> Problems:
    """An operation's location is in the subprogram that its entry's is in."""
    own = subprogram_of(function.location)
    for operation in function.body.walk():
        found = subprogram_of(operation.location)
        if found is not None and found != own:
            yield Problem(
                f"{operation.mnemonic} is in another subprogram than its entry",
                found.linkage_name,
                own.linkage_name if own is not None else "none",
            )


def location_parts(function: Function) -> Problems:
    """A location has the parts it needs: a place a scope, a scope its file, a subprogram its unit."""
    seen: set[int] = set()
    for owner, location in (
        ("the entry", function.location),
        *((operation.mnemonic, operation.location) for operation in function.body.walk()),
    ):
        if location is None or id(location) in seen:
            continue
        seen.add(id(location))
        if not isinstance(location, SourceLocation | CallSite):
            yield Problem(f"the location of {owner} is no place", type(location).__name__)
        yield from (Problem(text, location) for text in _missing(location))


def _missing(location: Location) -> Iterator[str]:
    """What a location lacks, and what those that it refers to lack."""
    match location:
        case CallSite():
            for part in (location.callee, location.caller):
                if part is not None and not isinstance(part, SourceLocation | CallSite):
                    yield "a call site is between places"
                elif part is not None:
                    yield from _missing(part)
        case SourceLocation():
            if not isinstance(location.scope, Subprogram | LexicalBlock):
                yield "a place is in a block or a subprogram"
            else:
                yield from _missing(location.scope)
        case LexicalBlock():
            if location.file is None:
                yield "a block has a file"
            if not isinstance(location.scope, Subprogram | LexicalBlock):
                yield "a block is in a block or a subprogram"
            else:
                yield from _missing(location.scope)
        case Subprogram():
            if location.file is None:
                yield "a subprogram has a file"
            if location.compile_unit is None or location.compile_unit.file is None:
                yield "a subprogram has a compile unit, and that a file"


FUNCTION_RULES = (
    function_is_entry,
    entry_returns_nothing,
    entry_parameters,
    entry_end,
    location_parts,
    entry_location,
    operation_locations,
)
