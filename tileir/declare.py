"""How an operation is declared: its parts, in the order and with the bits of the bytecode.

An operation is a class whose body lists its parts::

    class AddF(Operation, opcode=2):
        lhs: Value = operand(FLOAT)
        rhs: Value = operand(FLOAT)
        rounding_mode: RoundingMode = attribute(RoundingMode, default=RoundingMode.NEAREST_EVEN)
        flush_to_zero: bool = flag(0)
        result: Value = result_of(FLOAT)

The reader, the writer, the printer, the parser, the verifier and the documentation all read the resulting
``Declaration``; nothing about an operation's form is written down a second time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from .version import Version

if TYPE_CHECKING:
    from .module import Operation

_ABSENT: Any = object()

Elements = frozenset[str]
"""Names of the element types a tile may have; see ``tileir.ops.elements``."""


@dataclass(slots=True)
class Part:
    """Any named part of an operation; ``since`` None means as old as the operation."""

    name: str = field(default="", init=False)
    since: Version | None = field(default=None, kw_only=True)


@dataclass(slots=True)
class OperandPart(Part):
    """An operand: exactly one value, at most one (``bit`` tells in the flags word), or any number.

    ``counted`` operands are preceded by their own count.
    """

    elements: Elements | None
    kind: Literal["one", "optional", "variadic"]
    bit: int | None = None
    counted: bool = False


@dataclass(slots=True)
class AttributePart(Part):
    """An attribute. ``kind`` is an enumeration class or the name of an encoding; ``bit`` marks it optional.

    ``default`` is what the operation has where a file of an older version cannot hold the attribute, and what
    the text leaves out; a callable default is asked with the operation's other parts.
    """

    kind: Any
    default: Any = _ABSENT
    bit: int | None = None

    @property
    def has_default(self) -> bool:
        """Whether leaving the attribute out means something."""
        return self.default is not _ABSENT


@dataclass(slots=True)
class FlagPart(Part):
    """A unit attribute: one bit of the flags word."""

    bit: int


@dataclass(slots=True)
class ResultPart(Part):
    """A result, or any number of them."""

    elements: Elements | None
    variadic: bool = False
    index: int = 0

    def __get__(self, instance: Operation | None, owner: type) -> Any:
        if instance is None:
            return self
        return instance.results[self.index]


@dataclass(slots=True)
class RegionPart(Part):
    """A region; ``optional`` for an else that may be left out."""

    optional: bool = False


@dataclass(slots=True)
class Declaration:
    """Everything an operation's class body declared, by kind and in order."""

    operands: tuple[OperandPart, ...]
    attributes: tuple[AttributePart, ...]
    flags: tuple[FlagPart, ...]
    results: tuple[ResultPart, ...]
    regions: Mapping[str, RegionPart]
    count_operands: bool
    count_results: bool
    names: frozenset[str]
    required: frozenset[str]
    defaults: dict[str, Any]
    flags_since: Version | None
    """Since which version the operation has a flags word; None: never."""


def operand(elements: Elements | None = None, *, since: Version | None = None) -> Any:
    """Exactly one operand; a tile whose elements are among ``elements`` if given."""
    return OperandPart(elements, "one", since=since)


def optional_operand(
    elements: Elements | None = None, *, bit: int | None = None, since: Version | None = None
) -> Any:
    """At most one operand, present if ``bit`` of the flags word is set (or if the total count says so)."""
    return OperandPart(elements, "optional", bit, since=since)


def variadic(elements: Elements | None = None, *, counted: bool = False, since: Version | None = None) -> Any:
    """Any number of operands; ``counted`` if their count stands before them."""
    return OperandPart(elements, "variadic", counted=counted, since=since)


def attribute(
    kind: Any, default: Any = _ABSENT, *, bit: int | None = None, since: Version | None = None
) -> Any:
    """An attribute encoded as ``kind``; optional if it has a ``bit`` of the flags word."""
    if bit is not None and default is _ABSENT:
        default = None
    return AttributePart(kind, default, bit, since=since)


def flag(bit: int, *, since: Version | None = None) -> Any:
    """A unit attribute in ``bit`` of the flags word."""
    return FlagPart(bit, since=since)


def result_of(elements: Elements | None = None, *, since: Version | None = None) -> Any:
    """One result."""
    return ResultPart(elements, since=since)


def variadic_results(*, since: Version | None = None) -> Any:
    """Any number of results. With ``since``, one token that the bytes of older versions do not have."""
    return ResultPart(None, variadic=True, since=since)


def region(*, optional: bool = False) -> Any:
    """A region."""
    return RegionPart(optional=optional)


def no_promise(parts: Mapping[str, Any]) -> tuple[bool, ...]:
    """The default of ``inbounds``: nothing promised for any index."""
    return (False,) * len(parts["index"])


def declare(cls: type[Operation], *, count_operands: bool, count_results: bool) -> None:
    """Collect the parts of ``cls`` into ``cls.declaration`` and register the class by opcode and name."""
    from . import registry

    operands: list[OperandPart] = []
    attributes: list[AttributePart] = []
    flags: list[FlagPart] = []
    results: list[ResultPart] = []
    regions: dict[str, RegionPart] = {}
    for name, part in list(vars(cls).items()):
        if not isinstance(part, Part):
            continue
        part.name = name
        match part:
            case OperandPart():
                operands.append(part)
            case AttributePart():
                attributes.append(part)
            case FlagPart():
                flags.append(part)
            case ResultPart():
                part.index = len(results)
                results.append(part)
            case RegionPart():
                regions[name] = part
        # An instance always has a value of its own; only a single result reads through its declaration.
        if not isinstance(part, ResultPart) or part.variadic:
            delattr(cls, name)

    defaults: dict[str, Any] = {}
    for p in operands:
        if p.kind != "one":
            defaults[p.name] = () if p.kind == "variadic" else None
    defaults |= {p.name: p.default for p in attributes if p.has_default}
    defaults |= {p.name: False for p in flags}
    defaults |= {name: None for name, p in regions.items() if p.optional}
    names = frozenset(p.name for p in (*operands, *attributes, *flags)) | frozenset(regions)

    bits = [p for p in (*operands, *attributes, *flags) if getattr(p, "bit", None) is not None]
    flags_since = min((p.since or cls.since for p in bits), default=None)
    cls.declaration = Declaration(
        operands=tuple(operands),
        attributes=tuple(attributes),
        flags=tuple(flags),
        results=tuple(results),
        regions=regions,
        count_operands=count_operands,
        count_results=count_results,
        names=names,
        required=names - defaults.keys(),
        defaults=defaults,
        flags_since=flags_since,
    )
    registry.register(cls)
