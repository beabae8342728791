"""Rules of claims and prints."""

from __future__ import annotations

from ..attributes import Bounded, DivBy, SameElements
from ..ops import debugging as o
from ..types import NumberType, PointerType, TensorViewType, TileType, TokenType, Type
from .diagnostic import Problem
from .rules import Context, Problems, rule

CONVERSIONS = "diuoxXeEfFgGaAcsSpn%"
"""The letters that end a conversion of printf; S is CUDA's."""


def _is_tile_of_integers(type_: Type, pointers: bool) -> bool:
    if not isinstance(type_, TileType):
        return False
    element = type_.element
    return pointers if isinstance(element, PointerType) else element.is_integer


@rule(o.Assume)
def assume_type(op: o.Assume, context: Context) -> Problems:
    """An assumption gives back its operand, which is no token."""
    if op.result.type != op.value.type:
        yield Problem("the result is of the operand's type", op.result.type, op.value.type)
    if isinstance(op.value.type, TokenType):
        yield Problem("nothing is assumed of a token")


@rule(o.Assume)
def assume_predicate(op: o.Assume, context: Context) -> Problems:
    """The predicate is one of the three."""
    if not isinstance(op.predicate, DivBy | SameElements | Bounded):
        yield Problem("this is no predicate", type(op.predicate).__name__)


@rule(o.Assume)
def assume_divisor(op: o.Assume, context: Context) -> Problems:
    """A divisor is a power of two up to 2^62."""
    if isinstance(op.predicate, DivBy):
        divisor = op.predicate.divisor
        if divisor.bit_count() != 1 or divisor > 1 << 62:
            yield Problem("a divisor is a power of two up to 2^62", divisor)


@rule(o.Assume)
def assume_divisible(op: o.Assume, context: Context) -> Problems:
    """Integers, pointers and tensor views are divisible; ``every`` and ``along`` are a tile's."""
    predicate, type_ = op.predicate, op.value.type
    if not isinstance(predicate, DivBy):
        return
    every, along = predicate.every, predicate.along
    if (every is None) != (along is None):
        yield Problem("every and along are used together", predicate)
    if isinstance(type_, TensorViewType):
        if every is not None:
            yield Problem("every and along are not for a tensor view", predicate)
    elif not _is_tile_of_integers(type_, pointers=True):
        yield Problem("divisors are for integers, pointers and tensor views", type_)
    elif every is not None and along is not None:
        assert isinstance(type_, TileType)
        if not 0 <= along < len(type_.shape):
            yield Problem("along is one of the dimensions", along, f"below {len(type_.shape)}")
        elif not 0 <= every <= type_.shape[along]:
            yield Problem("every is at most the extent", every, f"at most {type_.shape[along]}")


@rule(o.Assume)
def assume_same_elements(op: o.Assume, context: Context) -> Problems:
    """Groups of equal elements are for tiles of integers and pointers, one size for each dimension."""
    predicate, type_ = op.predicate, op.value.type
    if not isinstance(predicate, SameElements):
        return
    if not _is_tile_of_integers(type_, pointers=True):
        yield Problem("same_elements is for tiles of integers and pointers", type_)
        return
    assert isinstance(type_, TileType)
    if len(predicate.values) != len(type_.shape):
        yield Problem("same_elements has a value for each dimension", len(predicate.values), len(type_.shape))
    elif any(not 0 <= v <= d for v, d in zip(predicate.values, type_.shape, strict=True)):
        yield Problem(
            "a group is at most as long as its dimension", list(predicate.values), list(type_.shape)
        )


@rule(o.Assume)
def assume_bounds(op: o.Assume, context: Context) -> Problems:
    """Bounds are for tiles of integers, of which they are values, the lower not above the upper."""
    predicate, type_ = op.predicate, op.value.type
    if not isinstance(predicate, Bounded):
        return
    if not _is_tile_of_integers(type_, pointers=False):
        yield Problem("bounds are for tiles of integers", type_)
        return
    assert isinstance(type_, TileType)
    assert isinstance(type_.element, NumberType)
    half = 1 << (type_.element.width - 1)
    for bound in (predicate.lb, predicate.ub):
        if bound is not None and not -half <= bound < half:
            yield Problem(f"a bound is a value of {type_.element}", bound, f"{-half} to {half - 1}")
    if predicate.lb is not None and predicate.ub is not None and predicate.lb > predicate.ub:
        yield Problem("the lower bound is not above the upper", f"{predicate.lb} and {predicate.ub}")


def conversions(text: str) -> int | None:
    """How many arguments a format string takes; None if a conversion does not end."""
    count = position = 0
    while (position := text.find("%", position)) >= 0:
        end = next((i for i in range(position + 1, len(text)) if text[i] in CONVERSIONS), None)
        if end is None:
            return None
        if text[position : end + 1] == "%%":
            position += 2
        else:
            count += 1
            position += 1
    return count


@rule(o.PrintTko)
def print_arguments(op: o.PrintTko, context: Context) -> Problems:
    """There is an argument for each conversion of the format string."""
    count = conversions(op.str)
    if count is None:
        yield Problem("a conversion in the format string does not end", repr(op.str))
    elif count != len(op.args):
        yield Problem("there is an argument for each conversion", len(op.args), count)


@rule(o.PrintTko)
def print_result(op: o.PrintTko, context: Context) -> Problems:
    """The result is a token."""
    if len(op.results) != 1 or not isinstance(op.results[0].type, TokenType):
        yield Problem("the result is a token", ", ".join(str(v.type) for v in op.results) or "nothing")
