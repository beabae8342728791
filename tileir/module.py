"""The tree: modules, entries, regions, operations and the values between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .attributes import ArrayAttribute, DenseElements, OptimizationHints, SymbolVisibility
from .declare import Declaration, declare
from .locations import Location
from .types import FunctionType, Type
from .version import DEFAULT, V13_1, Version


class Value:
    """What an operation or a region defines and others use: a type, and where it comes from.

    ``owner`` is the operation or region that defines the value, ``index`` its number among the results or
    arguments of that owner.
    """

    __slots__ = ("index", "owner", "type")

    def __init__(self, type_: Type, owner: Operation | Region | None = None, index: int = 0) -> None:
        self.type = type_
        self.owner = owner
        self.index = index

    def __repr__(self) -> str:
        return f"<Value {self.type}>"


class Region:
    """A single block: its arguments and its operations, the last of which is a terminator."""

    __slots__ = ("arguments", "operations")

    def __init__(self, argument_types: Sequence[Type] = (), operations: Sequence[Operation] = ()) -> None:
        self.arguments = tuple(Value(t, self, i) for i, t in enumerate(argument_types))
        self.operations = list(operations)

    def walk(self) -> Iterator[Operation]:
        """Every operation, depth first, an operation before those of its regions."""
        for operation in self.operations:
            yield operation
            for region in operation.regions:
                yield from region.walk()


class Operation:
    """An operation. Each subclass declares one operation of the dialect (see ``tileir.ops``).

    An operand, attribute, flag or region declared as ``x`` is the instance's attribute ``x``; so is a result.
    """

    mnemonic: ClassVar[str]
    opcode: ClassVar[int]
    since: ClassVar[Version]
    declaration: ClassVar[Declaration]
    assembly: ClassVar[str] = ""
    """How the text spells what follows the name; see ``tileir.text.assembly``."""
    result_name: ClassVar[str | None] = None
    """What the text calls the first result."""

    results: tuple[Value, ...]
    location: Location | None

    def __init_subclass__(
        cls,
        *,
        opcode: int,
        name: str | None = None,
        since: Version = V13_1,
        count_operands: bool = False,
        count_results: bool = False,
    ) -> None:
        cls.mnemonic = name or cls.__name__.lower()
        cls.opcode = opcode
        cls.since = since
        declare(cls, count_operands=count_operands, count_results=count_results)

    def __init__(
        self,
        *,
        result_types: Sequence[Type] = (),
        location: Location | None = None,
        **parts: Any,
    ) -> None:
        declaration = self.declaration
        unknown = parts.keys() - declaration.names
        if unknown:
            raise TypeError(f"{self.mnemonic} has no {', '.join(sorted(unknown))}")
        missing = declaration.required - parts.keys()
        if missing:
            raise TypeError(f"{self.mnemonic} needs {', '.join(sorted(missing))}")
        filled = {**declaration.defaults, **parts}
        for name, value in filled.items():
            if callable(value):
                filled[name] = value(filled)
        self._fill(filled, result_types, location)

    def _fill(self, parts: dict[str, Any], result_types: Sequence[Type], location: Location | None) -> None:
        self.__dict__.update(parts)
        self.results = tuple([Value(t, self, i) for i, t in enumerate(result_types)])
        self.location = location

    @property
    def uses(self) -> tuple[Value, ...]:
        """All operands in the order of the bytecode, absent ones left out."""
        values: list[Value] = []
        parts = self.__dict__
        for part in self.declaration.operands:
            value = parts[part.name]
            if part.kind == "variadic":
                values.extend(value)
            elif value is not None:
                values.append(value)
        return tuple(values)

    @property
    def regions(self) -> tuple[Region, ...]:
        """The regions, in order; an absent else-region is left out."""
        parts = self.__dict__
        return tuple(parts[name] for name in self.declaration.regions if parts[name] is not None)

    def __repr__(self) -> str:
        types = ", ".join(str(v.type) for v in self.results)
        return f"<{self.mnemonic} -> {types}>" if types else f"<{self.mnemonic}>"


@dataclass(eq=False)
class Function:
    """A function of a module: an entry (a kernel), with its parameters as the body's arguments."""

    name: str
    body: Region
    is_entry: bool = True
    result_types: tuple[Type, ...] = ()
    hints: OptimizationHints | None = None
    argument_attributes: ArrayAttribute | None = None
    result_attributes: ArrayAttribute | None = None
    location: Location | None = None

    @property
    def parameters(self) -> tuple[Value, ...]:
        """The parameters, in order."""
        return self.body.arguments

    @property
    def type(self) -> FunctionType:
        """The signature."""
        return FunctionType(tuple(v.type for v in self.parameters), self.result_types)


@dataclass(eq=False)
class Global:
    """A statically allocated variable in global memory, initialised when the module is loaded."""

    name: str
    value: DenseElements
    alignment: int = 0
    visibility: SymbolVisibility = SymbolVisibility.PUBLIC
    constant: bool = False
    location: Location | None = None


@dataclass(eq=False)
class Module:
    """A compilation unit: globals and functions.

    ``version`` is the bytecode version it was read from, or is to be written in. ``source`` names the file
    it came from, for messages.
    """

    functions: list[Function] = field(default_factory=list)
    globals: list[Global] = field(default_factory=list)
    name: str = "kernels"
    producer: str | None = None
    version: Version = DEFAULT
    source: str | None = None

    @property
    def entries(self) -> list[Function]:
        """The functions that can be launched."""
        return [f for f in self.functions if f.is_entry]

    def walk(self) -> Iterator[Operation]:
        """Every operation of every function, depth first."""
        for function in self.functions:
            yield from function.body.walk()

    def __eq__(self, other: object) -> bool:
        """Whether two modules are the same but for their Python identities: same tree, types, locations."""
        if not isinstance(other, Module):
            return NotImplemented
        return structure(self) == structure(other)

    __hash__ = None  # type: ignore[assignment]


def structure(module: Module) -> tuple[Any, ...]:
    """A value that equals another's exactly when the modules are the same.

    The bytecode version and the source's name are not part of it: the same module can be spelled in several
    versions.
    """
    functions = tuple(
        (
            f.name,
            f.is_entry,
            f.result_types,
            f.hints if f.hints is not None and f.hints.architectures else None,
            f.argument_attributes if f.argument_attributes and f.argument_attributes.elements else None,
            f.result_attributes if f.result_attributes and f.result_attributes.elements else None,
            f.location,
            _region(f.body, {}),
        )
        for f in module.functions
    )
    globals_ = tuple((g.name, g.value, g.alignment, g.visibility, g.constant) for g in module.globals)
    return module.producer, globals_, functions


def _region(region: Region, numbers: dict[Value, int]) -> tuple[Any, ...]:
    def define(values: Sequence[Value]) -> tuple[Type, ...]:
        for value in values:
            numbers[value] = len(numbers)
        return tuple(v.type for v in values)

    arguments = define(region.arguments)
    operations = []
    for op in region.operations:
        parts = op.__dict__
        operands = tuple(
            tuple(numbers[v] for v in parts[p.name])
            if p.kind == "variadic"
            else (None if parts[p.name] is None else numbers[parts[p.name]])
            for p in op.declaration.operands
        )
        attributes = tuple(parts[p.name] for p in op.declaration.attributes)
        flags = tuple(parts[p.name] for p in op.declaration.flags)
        regions = tuple(_region(r, numbers) for r in op.regions)
        operations.append((op.opcode, operands, attributes, flags, regions, define(op.results), op.location))
    return arguments, tuple(operations)
