"""What a model is: every choice the dialect leaves open, with the evidence for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tileir.module import Function, Operation
from tileir.ops.matrix import MmaF, MmaFScaled, MmaI
from tileir.ops.reduction import Reduce, Scan
from tileir.types import NumberType, TileType

from ..formats import Array
from ..numerics.formats import FloatFormat, IntegerFormat, Rounding
from ..numerics.nan import NanRule
from .orders import Order
from .products import Product

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Choice(Generic[T]):
    """What a model takes where the dialect leaves something open.

    ``exact`` says whether the target's bits are claimed; ``reason`` names the measurement or the text behind
    it, or says what is not known; ``ulps`` bounds the error where bits are not claimed, if anything does.
    """

    value: T
    exact: bool
    reason: str
    ulps: float | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Whether a model claims an operation's bits.

    Attributes:
        exact: whether every bit is claimed.
        operation: the dialect's name of the operation.
        formats: element types of the operands and results that matter.
        reason: the evidence, or what is missing.
        ulps: largest error that is documented where bits are not claimed, in units of the last place of the
            result; None where nothing is documented.
    """

    exact: bool
    operation: str
    formats: tuple[str, ...]
    reason: str
    ulps: float | None = None


@dataclass(frozen=True)
class Model:
    """The choices of one target.

    Attributes:
        name: what users call it: ``spec``, or a GPU architecture.
        summary: one line for people.
        nan: which pattern a NaN result has.
        propagated_nan: the same for ``maxf`` and ``minf`` with ``propagate_nan``.
        math_in_f32: whether the math of f16 and bf16 is that of f32, rounded once more.
        programs: the target's own programs for mathematical functions and approximations, by operation,
            format, and the rounding mode that asks for it ("" for the default); the others are correctly
            rounded.
        ftof: conversion of an array from one float format to another, in a rounding mode.
        itof: conversion of an array from an integer format, read signed or not, to a float format.
        flushes_before_rounding: whether flush_to_zero takes a product or a quotient that was
            subnormal before it was rounded.
        integer_steps: after how many products the sum of an integer product stops at the ends of i32; None
            if it wraps.
        flushes_atomics: formats whose atomic addition flushes subnormals.
        reduce_order, scan_order: in which order an operation's body is applied.
        product: how a matrix product is summed and rounded.
        for_entry: the model of a kernel whose hints change a choice; see ``of``.
        float_operation: whether the bits of element-by-element float operations are claimed.
    """

    name: str
    summary: str
    nan: NanRule
    propagated_nan: NanRule
    math_in_f32: bool
    programs: Mapping[tuple[str, str, str], Callable[..., Array]]
    ftof: Callable[[Array, FloatFormat, FloatFormat, Rounding], Array]
    itof: Callable[[Array, IntegerFormat, FloatFormat, Rounding, bool], Array]
    flushes_before_rounding: bool
    integer_steps: Callable[[MmaI], int | None]
    flushes_atomics: frozenset[str]
    reduce_order: Callable[[Reduce], Choice[Order]]
    scan_order: Callable[[Scan], Choice[Order]]
    product: Callable[[MmaF | MmaFScaled], Choice[Product]]
    float_operation: Callable[[Operation], Choice[None]]
    for_entry: Callable[[Function], Model] | None = None

    def of(self, entry: Function) -> Model:
        """The model of one kernel: this one, or a variant of it that the kernel's hints ask for."""
        return self if self.for_entry is None else self.for_entry(entry)

    def explanation(self, operation: Operation) -> Explanation:
        """Whether this model claims the bits of ``operation``.

        Operations whose answer the dialect fixes (integers, shapes, memory, exact conversions) are exact
        under every model.
        """
        choice: Choice[Any]
        match operation:
            case Reduce():
                choice = self.reduce_order(operation)
            case Scan():
                choice = self.scan_order(operation)
            case MmaF() | MmaFScaled():
                choice = self.product(operation)
            case _:
                choice = self.float_operation(operation)
        return Explanation(choice.exact, operation.mnemonic, _formats(operation), choice.reason, choice.ulps)

    def unexplained(self, operations: list[Operation]) -> list[Explanation]:
        """Those of ``operations`` whose bits are not claimed, each kind once."""
        found = (self.explanation(op) for op in operations)
        return list(dict.fromkeys(e for e in found if not e.exact))


def _formats(operation: Operation) -> tuple[str, ...]:
    names = []
    for value in (*operation.uses, *operation.results):
        if isinstance(value.type, TileType) and isinstance(value.type.element, NumberType):
            names.append(value.type.element.name)
    return tuple(dict.fromkeys(names))
