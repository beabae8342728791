"""Small kernels, one operation each, in every form its declaration has.

A ``Base`` makes an operation's operands and says which results it has. Every value of every enumeration,
every flag and every optional part then gives a form of its own, in ``forms_of``. Not all of them are legal:
the verifier says which.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import registry
from ..attributes import (
    BoolAttribute,
    DictionaryAttribute,
    IntegerAttribute,
    OptimizationHints,
)
from ..module import Module, Operation
from ..types import I32, Type, first_version
from ..version import DEFAULT, V13_1, Version
from .maker import Maker

PRODUCT_LIMIT = 200
"""Up to this many combinations of an operation's enumerations are all made; above, one varies at a time."""


@dataclass(slots=True)
class Case:
    """An operation about to be made: its results' types and its parts.

    ``extras`` makes values for the optional operands and arrays, which the base leaves out.
    """

    result_types: Sequence[Type]
    parts: dict[str, Any]
    extras: dict[str, Callable[[], Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Base:
    """One way to make an operation. ``since`` is at least the version of every type that is used."""

    kind: type[Operation]
    label: str
    make: Callable[[Maker], Case]
    since: Version = V13_1


@dataclass(frozen=True, slots=True)
class Form:
    """A kernel around one operation: a base with some of its parts chosen."""

    base: Base
    choices: tuple[tuple[str, Any], ...]

    @property
    def kind(self) -> type[Operation]:
        """The operation."""
        return self.base.kind

    @property
    def label(self) -> str:
        """What tells the form from the others of its operation."""
        chosen = ", ".join(f"{name}={_spell(value)}" for name, value in self.choices)
        return f"{self.kind.mnemonic} {self.base.label}" + (f" {chosen}" if chosen else "")

    @property
    def since(self) -> Version:
        """The oldest version that has a spelling for the form."""
        declaration = self.kind.declaration
        parts = {p.name: p for p in (*declaration.operands, *declaration.attributes, *declaration.flags)}
        since = max(self.base.since, self.kind.since)
        for name, value in self.choices:
            part = parts[name]
            if part.since is not None and value != declaration.defaults.get(name):
                since = max(since, part.since)
        return since

    def add(self, maker: Maker) -> Operation:
        """Make the operation and what it needs in a kernel, and keep its results."""
        case = self.base.make(maker)
        parts = dict(case.parts)
        for name, value in self.choices:
            parts[name] = case.extras[name]() if value is PRESENT else value
        operation = self.kind(result_types=case.result_types, **parts)
        maker.append(operation)
        for result in operation.results:
            maker.keep(result)
        return operation

    def module(self, version: Version | None = None) -> Module:
        """A module with this one kernel."""
        maker = Maker()
        self.add(maker)
        return maker.finish(max(self.since, DEFAULT) if version is None else version)


class _Present:
    def __repr__(self) -> str:
        return "present"


PRESENT: Any = _Present()
"""The choice of giving an optional operand."""

BASES: dict[int, list[Base]] = {}
"""The bases of each operation, by opcode, in order."""

HINTS = {
    "load_view_tko": ("latency", "allow_tma"),
    "store_view_tko": ("latency", "allow_tma"),
    "load_ptr_tko": ("latency",),
    "store_ptr_tko": ("latency",),
}


def base(
    kind: type[Operation], label: str, make: Callable[[Maker], Case], *types: Type, since: Version = V13_1
) -> None:
    """Add a base; ``types`` are those that it uses besides those of its results."""
    since = max([since, kind.since, *map(first_version, types)])
    BASES.setdefault(kind.opcode, []).append(Base(kind, label, make, since))


def hints(mnemonic: str) -> OptimizationHints:
    """Hints that an operation may have."""
    values = {"latency": IntegerAttribute(I32, 5), "allow_tma": BoolAttribute(False)}
    entries = tuple((key, values[key]) for key in sorted(HINTS[mnemonic]))
    return OptimizationHints((("sm_90", DictionaryAttribute(entries)),))


def forms_of(kind: type[Operation]) -> Iterator[Form]:
    """Every form of an operation: of its first base all combinations of enumerations, if they are few."""
    for number, start in enumerate(BASES.get(kind.opcode, ())):
        yield Form(start, ())
        yield from _variations(start, number == 0)


def all_forms() -> Iterator[Form]:
    """Every form of every operation, by opcode."""
    for opcode in sorted(registry.BY_OPCODE):
        yield from forms_of(registry.BY_OPCODE[opcode])


def _variations(start: Base, in_full: bool) -> Iterator[Form]:
    declaration = start.kind.declaration
    choices: list[list[tuple[str, Any]]] = []
    singles: list[tuple[str, Any]] = []
    for part in declaration.attributes:
        if isinstance(part.kind, enum.EnumMeta):
            options: list[Any] = [*part.kind, *([None] if part.bit is not None else [])]
            choices.append([(part.name, option) for option in options])
        elif part.kind == "bool":
            choices.append([(part.name, False), (part.name, True)])
        elif part.kind == "optimization_hints":
            singles.append((part.name, hints(start.kind.mnemonic)))
    extras = start.make(Maker()).extras
    singles += [(p.name, True) for p in declaration.flags]
    singles += [(p.name, PRESENT) for p in declaration.operands if p.name in extras]
    singles += [(name, PRESENT) for name in extras if name not in {p.name for p in declaration.operands}]

    count = 1
    for options in choices:
        count *= len(options)
    if choices and in_full and count <= PRODUCT_LIMIT:
        for chosen in itertools.product(*choices):
            yield Form(start, chosen)
    else:
        for options in choices:
            for option in options:
                yield Form(start, (option,))
    for single in singles:
        yield Form(start, (single,))
    if len(singles) > 1:
        yield Form(start, tuple(singles))


def _spell(value: Any) -> str:
    return str(value) if not isinstance(value, OptimizationHints) else "present"
