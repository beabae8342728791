"""Attributes of operations: the dialect's enumerations, and the structured values.

Enumerations carry their number on the wire as ``value`` and the dialect's keyword as ``str()``.
"""

from __future__ import annotations

import enum
import struct
from dataclasses import dataclass

from .types import NumberType, TileType, Type


class Keyword(enum.IntEnum):
    """An enumeration whose members print as the dialect's keywords."""

    def __str__(self) -> str:
        return self.name.lower()

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)


class RoundingMode(Keyword):
    """How a result that the format cannot hold is rounded."""

    NEAREST_EVEN = 0
    ZERO = 1
    NEGATIVE_INF = 2
    POSITIVE_INF = 3
    APPROX = 4
    FULL = 5
    NEAREST_INT_TO_ZERO = 6
    NEAREST_AWAY = 7


class ComparisonPredicate(Keyword):
    """Which relation a comparison asks about."""

    EQUAL = 0
    NOT_EQUAL = 1
    LESS_THAN = 2
    LESS_THAN_OR_EQUAL = 3
    GREATER_THAN = 4
    GREATER_THAN_OR_EQUAL = 5


class ComparisonOrdering(Keyword):
    """What a float comparison answers when an operand is a NaN: true (unordered) or false (ordered)."""

    UNORDERED = 0
    ORDERED = 1


class Signedness(Keyword):
    """How an integer operation reads its operands."""

    UNSIGNED = 0
    SIGNED = 1


class IntegerOverflow(Keyword):
    """Which wrap-around the program promises does not happen."""

    NONE = 0
    NSW = 1
    NUW = 2
    NW = 3

    def __str__(self) -> str:
        return ("none", "no_signed_wrap", "no_unsigned_wrap", "no_wrap")[self.value]


class MemoryOrderingSemantics(Keyword):
    """How a memory operation is ordered against those of other threads."""

    WEAK = 0
    RELAXED = 1
    ACQUIRE = 2
    RELEASE = 3
    ACQ_REL = 4


class MemoryScope(Keyword):
    """Which threads an ordered memory operation is ordered against."""

    TL_BLK = 0
    DEVICE = 1
    SYS = 2


class AtomicRMWMode(Keyword):
    """What an atomic read-modify-write does with the old value."""

    AND = 0
    OR = 1
    XOR = 2
    ADD = 3
    ADDF = 4
    MAX = 5
    MIN = 6
    UMAX = 7
    UMIN = 8
    XCHG = 9


class SymbolVisibility(Keyword):
    """Whether host code sees a global."""

    PUBLIC = 0
    PRIVATE = 1


class MultimemReductionKind(Keyword):
    """How a multimem operation combines the devices' values."""

    ADD = 0
    MIN = 1
    MAX = 2
    AND = 3
    OR = 4
    XOR = 5
    UMIN = 6
    UMAX = 7


class Attribute:
    """An attribute with structure of its own."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class IntegerAttribute(Attribute):
    """An integer of a number format, kept as its unsigned bit pattern."""

    type: NumberType
    bits: int

    @property
    def signed(self) -> int:
        """The value read as two's complement."""
        width = self.type.width
        return self.bits - (1 << width) if self.bits >> (width - 1) & 1 else self.bits


@dataclass(frozen=True, slots=True)
class FloatAttribute(Attribute):
    """A floating-point number of a number format, kept as its bit pattern (of 19 bits for tf32)."""

    type: NumberType
    bits: int


@dataclass(frozen=True, slots=True)
class BoolAttribute(Attribute):
    """True or false."""

    value: bool


@dataclass(frozen=True, slots=True)
class TypeAttribute(Attribute):
    """A type."""

    type: Type


@dataclass(frozen=True, slots=True)
class StringAttribute(Attribute):
    """A string."""

    value: str


@dataclass(frozen=True, slots=True)
class ArrayAttribute(Attribute):
    """A list of attributes."""

    elements: tuple[Attribute, ...]


@dataclass(frozen=True, slots=True, eq=False)
class DictionaryAttribute(Attribute):
    """Named attributes, in the order they were written; the order says nothing, and equality ignores it."""

    entries: tuple[tuple[str, Attribute], ...]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DictionaryAttribute):
            return NotImplemented
        return self.entries == other.entries or dict(self.entries) == dict(other.entries)

    def __hash__(self) -> int:
        return hash(frozenset(self.entries))

    def get(self, key: str) -> Attribute | None:
        """The attribute called ``key``, or None."""
        return next((value for name, value in self.entries if name == key), None)


@dataclass(frozen=True, slots=True, eq=False)
class OptimizationHints(Attribute):
    """Hints for each architecture, in an order that says nothing.

    ``default`` stands for all architectures that have none of their own.
    """

    architectures: tuple[tuple[str, DictionaryAttribute], ...]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OptimizationHints):
            return NotImplemented
        return dict(self.architectures) == dict(other.architectures)

    def __hash__(self) -> int:
        return hash(frozenset(self.architectures))


@dataclass(frozen=True, slots=True)
class DenseElements(Attribute):
    """The elements of a constant tile.

    ``data`` holds their bit patterns little-endian in row-major order, ``element_bytes`` each: one byte for
    i1 and sub-byte formats, and four for tf32, whose pattern has 19 bits (those of the f32 that it is part
    of, without the 13 low bits). A constant whose elements are all the same is kept as that one element.
    """

    type: TileType
    data: bytes

    def __post_init__(self) -> None:
        n = self.element_bytes
        if len(self.data) > n:
            view = memoryview(self.data)
            # All are the same exactly when shifting them by one changes nothing.
            if view[n:] == view[:-n]:
                object.__setattr__(self, "data", self.data[:n])

    @property
    def element_bytes(self) -> int:
        """Bytes an element takes in ``data``."""
        element = self.type.element
        assert isinstance(element, NumberType)
        return element.bytes

    @property
    def is_splat(self) -> bool:
        """Whether ``data`` holds one element that stands for all."""
        return len(self.data) == self.element_bytes and self.type.size > 1

    def bits(self) -> list[int]:
        """Every stored element's bit pattern: one for a splat, ``type.size`` otherwise."""
        n = self.element_bytes
        code = {1: "B", 2: "H", 4: "I", 8: "Q"}[n]
        count = len(self.data) // n
        return list(struct.unpack(f"<{count}{code}", self.data[: count * n]))


class AssumePredicate(Attribute):
    """What an ``assume`` claims about its value."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class DivBy(AssumePredicate):
    """Elements are multiples of ``divisor``.

    With ``every`` and ``along``, only the first element of each group of ``every`` along dimension ``along``
    is claimed to be one, and the rest of the group to count up from it.
    """

    divisor: int
    every: int | None = None
    along: int | None = None


@dataclass(frozen=True, slots=True)
class SameElements(AssumePredicate):
    """Dimension k falls into groups of ``values[k]`` equal elements."""

    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bounded(AssumePredicate):
    """Elements, read as signed, are at least ``lb`` and at most ``ub``; None is no bound."""

    lb: int | None = None
    ub: int | None = None
