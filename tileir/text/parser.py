"""Text to module, driven by the assembly formats of the declarations."""

from __future__ import annotations

import re

from .. import ops as _ops  # noqa: F401  (declares the operations)
from ..attributes import OptimizationHints, StringAttribute, SymbolVisibility
from ..errors import TextError
from ..module import Function, Global, Module
from ..types import Type
from ..version import DEFAULT
from .attribute_parser import AttributeParser
from .body_parser import BodyParser
from .generic_items import (
    close_generic_module,
    generic_entry,
    generic_global,
    generic_name,
    open_generic_module,
    open_outer_module,
)
from .scanner import SPACE, Scanner, token_pattern
from .type_parser import TypeParser

LARGEST = (1 << 64) - 1

_DEFINITION = r"([#!][A-Za-z_$.-][A-Za-z0-9_$.-]*)[ \t\r\n]*=" + SPACE
_ALIAS = re.compile(_DEFINITION)
_ALIASES = re.compile(r"^[ \t]*" + _DEFINITION, re.MULTILINE)
_OUTER = token_pattern(r"(?:builtin\.module|module(?=[ \t\r\n]*(?:\{|attributes\b)))")


def parse(text: str, *, file: str | None = None) -> Module:
    """Read the text form of a module.

    What the disassembler prints is read, with or without its locations, and what the dialect's own tools
    print: the ``cuda_tile.`` before operations and types and the ``cuda_tile.module`` around all may be there
    or not, terminators that say nothing may be left out, and everything may be in MLIR's generic form. Values
    keep no names. The module's version is 13.4, or that of its newest operation if that is newer.

    Args:
        text: the text.
        file: its name, for messages.

    Raises:
        TextError: the text is not well-formed; the error names line and column, the rule, and what was found
            and expected. Whether the module is legal is for ``tileir.verify`` to say.
    """
    modules = parse_all(text, file=file)
    if len(modules) != 1:
        raise TextError(
            "the text holds several modules", rule="module-count", file=file, found=len(modules), expected=1
        )
    return modules[0]


def parse_all(text: str, *, file: str | None = None) -> list[Module]:
    """Read the text form of any number of modules, one after the other; see ``parse``.

    MLIR's tools put them into a ``module`` of their own, which may be there or not. A text without any
    ``cuda_tile.module`` is one module. Names for attributes and types hold for all of the text.
    """
    scanner = Scanner(text, file)
    try:
        return _ModuleParser(scanner).modules()
    except RecursionError:
        scanner.fail("the text is nested too deep", "region-depth")


class _ModuleParser:
    def __init__(self, scanner: Scanner) -> None:
        self.scanner = scanner
        text = scanner.text
        aliases: dict[str, int] = {}
        for match in _ALIASES.finditer(text) if "#" in text or "!" in text else ():
            aliases.setdefault(match[1], match.end())
        self.types = TypeParser(self.scanner, aliases)
        self.attributes = AttributeParser(self.scanner, self.types, aliases)
        self._symbols: set[str] = set()
        self.body = BodyParser(scanner, self.types, self.attributes)
        self._alias_ends: dict[int, int] = {}
        # In the order of the text, where what an alias is made of mostly comes before it.
        for start in aliases.values():
            self.scanner.position = start
            self._alias()
        self.scanner.position = 0
        self.scanner.skip()

    def modules(self) -> list[Module]:
        """Take all of the text."""
        scanner = self.scanner
        self._aliases()
        # MLIR's tools may put a module of MLIR's around the dialect's.
        generic = open_outer_module(self.body)
        around = generic or self._outer()
        self._aliases()
        found: list[Module] = []
        while (module := self._module()) is not None:
            found.append(module)
            self._aliases()
        if not found:
            found.append(self._bare(around))
        if around:
            scanner.expect("}")
            if generic:
                close_generic_module(self.body)
            self.attributes.locations.trailing()
            self._aliases()
        if scanner.position != len(scanner.text):
            scanner.unexpected("the end of the text")
        for module in found:
            module.version = max([DEFAULT, *(op.since for op in module.walk())])
        return found

    def _outer(self) -> bool:
        """Take the head of a module of MLIR's, if it stands here. What it says is not the dialect's."""
        scanner = self.scanner
        if scanner.match(_OUTER) is None:
            return False
        if scanner.accept("attributes"):

            def entry() -> None:
                scanner.word_or_string("an attribute's name")
                if scanner.accept("="):
                    self.attributes.value()

            self.types.listed("{", entry)
        scanner.expect("{")
        return True

    def _module(self) -> Module | None:
        """Take a module with its braces, if one stands here."""
        scanner = self.scanner
        generic = scanner.accept('"cuda_tile.module"')
        if generic:
            module = open_generic_module(self.body)
        elif scanner.accept("cuda_tile.module") or scanner.accept("module"):
            module = Module(source=scanner.file)
            if scanner.at("@"):
                module.name = scanner.symbol()
            if scanner.accept("attributes"):
                self._module_attributes(module)
            scanner.expect("{")
        else:
            return None
        self._symbols = set()
        while not scanner.accept("}"):
            self._item(module)
        if generic:
            close_generic_module(self.body)
        self.attributes.locations.trailing()
        return module

    def _bare(self, around: bool) -> Module:
        """Take what stands in a module, without its braces."""
        scanner = self.scanner
        module = Module(source=scanner.file)
        while scanner.position != len(scanner.text) and not (around and scanner.at("}")):
            self._item(module)
            self._aliases()
        return module

    def _module_attributes(self, module: Module) -> None:
        start = self.scanner.position
        for key, value in self.attributes.dictionary().entries:
            if key != "producer" or not isinstance(value, StringAttribute):
                self.scanner.fail(
                    "a module has a producer and nothing else", "module-attribute", at=start, found=key
                )
            module.producer = value.value

    def _aliases(self) -> None:
        """Step over what names are given to; they are read where they are used, which may be earlier."""
        scanner = self.scanner
        while (match := _ALIAS.match(scanner.text, scanner.position)) is not None:
            scanner.position = match.end()
            self._alias()

    def _alias(self) -> None:
        """Take what an alias stands for; once."""
        scanner = self.scanner
        start = scanner.position
        end = self._alias_ends.get(start)
        if end is not None:
            scanner.position = end
            return
        name = scanner.text[:start].rstrip("= \t\r\n")
        if name[max(name.rfind("\n"), 0) :].strip().startswith("!"):
            self.types.type()
        else:
            self.attributes.value()
        self._alias_ends[start] = scanner.position

    def _item(self, module: Module) -> None:
        scanner = self.scanner
        start = scanner.position
        generic = scanner.at('"')
        word = generic_name(self.body)[0] if generic else scanner.peek_word().removeprefix("cuda_tile.")
        if word not in ("entry", "global"):
            scanner.position = start
            scanner.unexpected("entry or global")
        if not generic:
            scanner.word("an item")
            start = scanner.position
        if word == "global":
            item: Global | Function = generic_global(self.body) if generic else self._global()
        else:
            item = generic_entry(self.body) if generic else self._entry()
        if item.name in self._symbols:
            scanner.fail("a name is given twice", "symbol", at=start, found=item.name)
        self._symbols.add(item.name)
        if isinstance(item, Global):
            module.globals.append(item)
        else:
            module.functions.append(item)

    def _global(self) -> Global:
        scanner = self.scanner
        visibility = SymbolVisibility.PUBLIC
        if not scanner.accept("public") and scanner.accept("private"):
            visibility = SymbolVisibility.PRIVATE
        constant = scanner.accept("constant")
        name = scanner.symbol()
        alignment = 0
        if scanner.accept("alignment"):
            scanner.expect("=")
            alignment = scanner.integer(0, LARGEST)
        value = self.body.constant()
        location = self.attributes.locations.trailing()
        return Global(name, value, alignment, visibility, constant, location)

    def _entry(self) -> Function:
        scanner = self.scanner
        name = scanner.symbol()
        arguments = self.body.signature()
        results: list[Type] = []
        if scanner.accept("->"):
            results = self.types.listed("(", self.types.type) if scanner.at("(") else [self.types.type()]
        hints: OptimizationHints | None = None
        if scanner.accept("optimization_hints"):
            scanner.expect("=")
            hints = self.attributes.hints()
        body = self.body.region(arguments, implicit="return")
        self.body.no_attributes()
        location = self.attributes.locations.trailing()
        return Function(name, body, result_types=tuple(results), hints=hints, location=location)
