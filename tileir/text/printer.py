"""Module to text, driven by the assembly formats of the declarations."""

from __future__ import annotations

from collections.abc import Callable

from .. import ops as _ops  # noqa: F401  (declares the operations)
from ..attributes import SymbolVisibility
from ..errors import UnsupportedError
from ..locations import Location
from ..module import Function, Global, Module, Operation, Region, Value
from ..types import Type
from .attributes import spell_elements, spell_hints
from .format_printer import steps
from .locations import LocationAliases
from .names import Names
from .strings import escape, symbol

Step = Callable[["Printer", Operation], None]


def render(module: Module, *, locations: bool = False, wrapper: bool = False) -> str:
    """The text of ``module``, byte for byte as the disassembler prints it.

    Args:
        module: what to print.
        locations: with the source locations, as ``tileirdisasm --print-debug-info`` prints them. Those of
            terminators that are not spelled are left out even so.
        wrapper: in the module's own braces with its name and producer, as the dialect's own tools print it.

    Raises:
        UnsupportedError: a function is no entry and has no spelling, or the text would grow beyond all
            measure, which only a hostile module makes it do.
    """
    printer = Printer(LocationAliases() if locations else None)
    printer.module(module, wrapper)
    return "".join(printer.out) or "\n"


class Printer:
    """Appends text to ``out``."""

    def __init__(self, locations: LocationAliases | None) -> None:
        self.out: list[str] = []
        self.locations = locations
        self._places: list[tuple[int, Location | None]] = []
        self.names = Names()
        self.use = self.names.of
        self.indent = ""
        self._types: dict[int, tuple[Type, str]] = {}

    def type(self, type_: Type) -> str:
        """The text of a type."""
        # By identity, since hashing a view's type walks through all of it; the entry keeps the type alive.
        known = self._types.get(id(type_))
        if known is None:
            known = self._types[id(type_)] = (type_, str(type_))
        return known[1]

    def types(self, values: tuple[Value, ...]) -> str:
        """The types of ``values``, parted by commas."""
        return ", ".join([self.type(v.type) for v in values])

    def each(self, values: tuple[Value, ...]) -> None:
        """The type of ``values`` once if they share it, else all of them."""
        types = [v.type for v in values]
        same = all(t is types[0] or t == types[0] for t in types)
        self.out.append(self.type(types[0]) if types and same else self.types(values))

    def signature(self, arguments: tuple[Value, ...]) -> str:
        """Arguments with their types."""
        return "(" + ", ".join([f"{self.use[v]}: {self.type(v.type)}" for v in arguments]) + ")"

    def place(self, location: Location | None) -> None:
        """Leave room for a location; aliases get their names when all are known."""
        self._places.append((len(self.out), location))
        self.out.append("")

    def module(self, module: Module, wrapper: bool) -> None:
        """All of a module."""
        out, locations = self.out, self.locations
        if wrapper:
            self.indent = "  "
            if locations is not None:
                locations.visit(None)
            producer = (
                "" if module.producer is None else f" attributes {{producer = {escape(module.producer)}}}"
            )
            out.append(f"cuda_tile.module {symbol(module.name)}{producer} {{\n")
        for global_ in module.globals:
            self.global_(global_)
        for function in module.functions:
            self.function(function)
        if wrapper:
            out.append("}")
            if locations is not None:
                self.place(None)
            out.append("\n")
        if locations is not None:
            locations.assign()
            for position, location in self._places:
                out[position] = locations.use(location)
            out.append(locations.definitions())

    def global_(self, global_: Global) -> None:
        """A global."""
        if self.locations is not None:
            self.locations.visit(global_.location)
        # The disassembler leaves the room of a visibility that is not spelled.
        public = global_.visibility is SymbolVisibility.PUBLIC
        words = ["global", "" if public else f"{global_.visibility} "]
        if global_.constant:
            words.append("constant")
        words.append(symbol(global_.name))
        if global_.alignment:
            words.append(f"alignment = {global_.alignment}")
        value = global_.value
        elements = f"<{value.type.element}: {spell_elements(value)}>"
        self.out.append(f"{self.indent}{' '.join(words)} {elements} : {self.type(value.type)}")
        if self.locations is not None:
            self.place(global_.location)
        self.out.append("\n")

    def function(self, function: Function) -> None:
        """An entry."""
        self.names = Names()
        self.use = self.names.of
        self.names.number(function.body, None)
        out = self.out
        if self.locations is not None:
            self.locations.visit(function.location)
        if not function.is_entry:
            raise UnsupportedError(
                "only entries have a spelling", rule="function-kind", found=symbol(function.name)
            )
        out.append(f"{self.indent}entry {symbol(function.name)}{self.signature(function.parameters)}")
        results = ", ".join(map(self.type, function.result_types))
        if results:
            out.append(f" -> ({results})" if len(function.result_types) > 1 else f" -> {results}")
        if function.hints is not None and function.hints.architectures:
            out.append(f" optimization_hints={spell_hints(function.hints)}")
        out.append(" ")
        self.block(function.body)
        if self.locations is not None:
            self.place(function.location)
        out.append("\n")

    def block(self, region: Region, *, elide: bool = False) -> None:
        """A region in braces; ``elide`` leaves its terminator out."""
        out, outer = self.out, self.indent
        self.indent = indent = outer + "  "
        out.append("{\n")
        results, locations = self.names.results, self.locations
        operations = region.operations
        for operation in operations[:-1] if elide else operations:
            if locations is not None:
                locations.visit(operation.location)
            if operation.results:
                out.append(f"{indent}{results[operation]} = {operation.mnemonic}")
            else:
                out.append(f"{indent}{operation.mnemonic}")
            for step in steps(type(operation)):
                step(self, operation)
            if locations is not None:
                self.place(operation.location)
            out.append("\n")
        self.indent = outer
        out.append(outer + "}")
