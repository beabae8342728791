"""Module to bytes, driven by the declarations of ``tileir.ops``.

Tables are filled in the order in which functions, operations and their parts use them, and sections are laid
out like those of cuda-tile, so that the same module gives the same bytes.
"""

from __future__ import annotations

import enum
from typing import Any

from .. import ops as _ops  # noqa: F401  (declares the operations)
from ..attributes import ArrayAttribute, OptimizationHints, SymbolVisibility
from ..errors import TileError, WriteError
from ..module import Function, Global, Module, Operation, Region, Value
from ..version import SUPPORTED, V13_3, V13_5, Version
from .attribute_writer import AttributeWriter, Strings
from .debug_writer import DebugWriter
from .output import Output
from .plan import Plan, plan
from .sections import Section, write_header, write_section, write_table
from .type_writer import TypeWriter

ENTRY, HINTS = 2, 4
REGION_DEPTH = 100


def write(module: Module, version: Version | None = None) -> bytes:
    """Write a module as bytecode.

    Args:
        module: what to write. It is not verified: what has no spelling is refused, and nothing else.
        version: the bytecode version, 13.1 to 13.5; None for the module's own.

    Raises:
        WriteError: the version has no spelling for an operation, a type or an attribute, which are named
            together with the version they need; or the module is not well-formed, as when an operand is used
            where it is not defined.
    """
    version = module.version if version is None else Version(*version)
    if version not in SUPPORTED:
        raise WriteError(
            "there is no such bytecode version",
            rule="bytecode-version",
            found=str(version),
            expected=" or ".join(map(str, SUPPORTED)),
        )
    return _Writer(version).module(module)


class _Writer:
    def __init__(self, version: Version) -> None:
        self.version = version
        self.strings = Strings()
        self.types = TypeWriter(version)
        self.attributes = AttributeWriter(self.strings, self.types)
        self.debug = DebugWriter(self.strings, version)

    def module(self, module: Module) -> bytes:
        functions = Output()
        functions.varint(len(module.functions))
        for number, function in enumerate(module.functions, 1):
            self._function(functions, function, number)
        out = Output()
        write_header(out, self.version)
        write_section(out, Section.FUNCTION, functions)
        if module.globals:
            globals_ = Output()
            globals_.varint(len(module.globals))
            for global_ in module.globals:
                self._global(globals_, global_)
            write_section(out, Section.GLOBAL, globals_)
        self._table(out, Section.CONSTANT, self.attributes.constants(), 8)
        write_section(out, Section.DEBUG, self.debug.section())
        self._table(out, Section.TYPE, self.types.records, 4)
        if module.producer is not None:
            if self.version < V13_3:
                raise self._newer("the producer", V13_3)
            producer = Output()
            self.attributes.string(producer, module.producer)
            write_section(out, Section.PRODUCER, producer)
        self._table(out, Section.STRING, self.strings.records(), 4)
        out.append(Section.END)
        return bytes(out)

    @staticmethod
    def _table(out: Output, section: Section, items: list[bytes], index_width: int) -> None:
        data = Output()
        write_table(data, items, index_width)
        write_section(out, section, data)

    def _newer(self, what: str, since: Version, operation: str | None = None) -> WriteError:
        return WriteError(
            f"{what} needs bytecode {since}",
            rule="version",
            operation=operation,
            found=str(self.version),
            expected=f"at least {since}",
        )

    def _global(self, out: Output, global_: Global) -> None:
        self.attributes.string(out, global_.name)
        out.varint(self.types.number(global_.value.type))
        self.attributes.dense(out, global_.value, global_.value.type)
        out.varint(global_.alignment)
        if self.version >= V13_3:
            out.varints((global_.visibility, global_.constant))
        elif global_.visibility is not SymbolVisibility.PUBLIC or global_.constant:
            what = "constant" if global_.constant else str(global_.visibility)
            raise self._newer(f"the global {global_.name}, which is {what},", V13_3)

    def _function(self, out: Output, function: Function, number: int) -> None:
        hints = function.hints or OptimizationHints(())
        attributes = function.argument_attributes or ArrayAttribute(())
        self._check(function, hints, attributes)
        # The function's own place first: the order in which cuda-tile fills its tables.
        locations = self.debug.function()
        locations.append(self.debug.number(function.location))
        self.attributes.string(out, function.name)
        out.varint(self.types.number(function.type))
        flags = ENTRY if function.is_entry else 0
        if self.version < V13_5 and hints.architectures:
            flags |= HINTS
        out.append(flags)
        out.varint(number)
        if flags & HINTS or (self.version >= V13_5 and function.is_entry):
            self.attributes.tagged(out, hints)
        if self.version >= V13_5:
            self.attributes.tagged(out, attributes)
        body = _Body(self, locations)
        body.function(function)
        out.varint(len(body.out))
        out += body.out

    def _check(self, function: Function, hints: OptimizationHints, attributes: ArrayAttribute) -> None:
        if attributes.elements and self.version < V13_5:
            raise self._newer(f"attributes of the arguments of {function.name}", V13_5)
        if hints.architectures and not function.is_entry:
            raise WriteError(
                "only an entry has optimization hints", rule="function-hints", found=function.name
            )
        if function.result_attributes is not None and function.result_attributes.elements:
            raise WriteError(
                "attributes of a function's results have no spelling",
                rule="result-attributes",
                found=function.name,
            )


class _Body:
    """Encodes the operations of one function, numbering values as it goes."""

    def __init__(self, writer: _Writer, locations: list[int]) -> None:
        self.writer = writer
        self.out = Output()
        self._locations = locations
        self._numbers: dict[Value, int] = {}
        self._defined: list[Value] = []

    def function(self, function: Function) -> None:
        self._define(function.body.arguments)
        for operation in function.body.operations:
            self.operation(operation, 0)

    def _define(self, values: tuple[Value, ...]) -> None:
        for value in values:
            if value in self._numbers:
                raise WriteError("a value is defined twice", rule="value-twice", found=value.type)
            self._numbers[value] = len(self._defined)
            self._defined.append(value)

    def operation(self, operation: Operation, depth: int) -> None:
        try:
            self._operation(operation, depth)
        except TileError as error:
            if error.operation is None:
                error.operation = operation.mnemonic
            if error.location is None and operation.location is not None:
                error.location = str(operation.location)
            raise

    def _operation(self, operation: Operation, depth: int) -> None:
        writer, out = self.writer, self.out
        if operation.since > writer.version:
            raise writer._newer("the operation", operation.since)
        layout = plan(type(operation), writer.version)
        declaration = operation.declaration
        self._refuse_newer(operation, layout)
        self._locations.append(writer.debug.number(operation.location))

        out.varint(operation.opcode)
        results = () if layout.implied_token else operation.results
        if declaration.count_results:
            out.varint(len(results))
        elif len(results) != len(declaration.results):
            raise WriteError("a wrong number of results", rule="result-count", found=len(results))
        out.varints([writer.types.number(value.type) for value in results])
        if layout.has_flags:
            out.varint(self._flags(operation, layout))
        parts = operation.__dict__
        for attribute in layout.attributes:
            value = parts[attribute.name]
            if attribute.bit is None or value is not None:
                self._attribute(attribute.kind, value, operation)
        self._operands(operation, layout)
        if declaration.regions:
            self._regions(operation, depth)
        self._define(results)

    def _refuse_newer(self, operation: Operation, layout: Plan) -> None:
        """Refuse a part that this version does not have, unless it is what its absence means."""
        parts = operation.__dict__
        for part in layout.newer:
            default = operation.declaration.defaults[part.name]
            meaning = default(parts) if callable(default) else default
            if parts[part.name] != meaning:
                assert part.since is not None
                raise self.writer._newer(f"{part.name} = {_spell(parts[part.name])}", part.since)

    @staticmethod
    def _flags(operation: Operation, layout: Plan) -> int:
        parts = operation.__dict__
        flags = 0
        for name, bit in layout.flags:
            flags |= bool(parts[name]) << bit
        for part in layout.attributes:
            if part.bit is not None:
                flags |= (parts[part.name] is not None) << part.bit
        for name, _, operand_bit, _, _ in layout.operands:
            if operand_bit is not None:
                flags |= (parts[name] is not None) << operand_bit
        return flags

    def _operands(self, operation: Operation, layout: Plan) -> None:
        parts, out = operation.__dict__, self.out
        groups: list[tuple[bool, tuple[Value, ...]]] = []
        for name, kind, _, counted, _ in layout.operands:
            value = parts[name]
            if kind == "variadic":
                groups.append((counted, tuple(value)))
            elif value is not None:
                groups.append((False, (value,)))
            elif kind == "one":
                raise WriteError(f"the operand {name} is missing", rule="operand-count")
        if operation.declaration.count_operands:
            out.varint(sum(len(values) for _, values in groups))
        for counted, values in groups:
            if counted:
                out.varint(len(values))
            for value in values:
                number = self._numbers.get(value)
                if number is None:
                    self._refuse_newer_result(value)
                    raise WriteError(
                        "an operand is not defined where it is used", rule="value-undefined", found=value.type
                    )
                out.varint(number)

    def _refuse_newer_result(self, value: Value) -> None:
        """A result that older bytecode does not have cannot be used there."""
        owner = value.owner
        version = self.writer.version
        if isinstance(owner, Operation) and plan(type(owner), version).implied_token:
            since = owner.declaration.results[-1].since
            raise WriteError(
                f"the result of {owner.mnemonic} is used, and needs bytecode {since}",
                rule="result-version",
                found=str(version),
            )

    def _regions(self, operation: Operation, depth: int) -> None:
        names = operation.declaration.regions
        self.out.varint(len(names))
        for name in names:
            region = operation.__dict__[name]
            if region is None and names[name].optional:
                self.out.varint(0)
                continue
            if region is None:
                raise WriteError(f"the region {name} is missing", rule="region-count")
            self._region(region, depth + 1)

    def _region(self, region: Region, depth: int) -> None:
        if depth > REGION_DEPTH:
            raise WriteError(
                "regions are nested too deep", rule="region-depth", expected=f"at most {REGION_DEPTH}"
            )
        out = self.out
        outer = len(self._defined)
        out.varints((1, len(region.arguments)))
        out.varints([self.writer.types.number(value.type) for value in region.arguments])
        self._define(region.arguments)
        out.varint(len(region.operations))
        for operation in region.operations:
            self.operation(operation, depth)
        for value in self._defined[outer:]:
            del self._numbers[value]
        del self._defined[outer:]

    def _attribute(self, kind: Any, value: Any, operation: Operation) -> None:
        out, attributes = self.out, self.writer.attributes
        if isinstance(kind, enum.EnumMeta):
            out.varint(value.value)
            return
        match kind:
            case "int":
                if not 0 <= value < 1 << 64:
                    raise WriteError(
                        "a number is not in 64 unsigned bits", rule="attribute-number", found=value
                    )
                out.varint(value)
            case "bool":
                out.append(bool(value))
            case "str":
                attributes.string(out, value)
            case "array":
                attributes.array(out, value)
            case "tagged":
                attributes.tagged(out, value)
            case "optimization_hints":
                attributes.hints(out, value)
            case "dense_int32_array":
                _integers(out, value, 4)
            case "dense_bool_array":
                out.integers([int(bool(b)) for b in value], 1)
            case "dense_typed_elements":
                attributes.dense(out, value, operation.results[0].type)
            case _:
                raise AssertionError(f"no writer for attributes of kind {kind}")


def _integers(out: Output, values: tuple[int, ...], width: int) -> None:
    try:
        out.integers(values, width)
    except OverflowError as error:
        raise WriteError(
            f"a number does not fit {width} bytes", rule="attribute-number", found=values
        ) from error


def _spell(value: object) -> str:
    return value.type.__str__() if isinstance(value, Value) else str(value)
