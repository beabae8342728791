"""Optimization hints that say nothing: a compiler passes over them in silence, so they are no rules."""

from __future__ import annotations

from collections.abc import Iterator

from ..assembler import targets
from ..attributes import Attribute, BoolAttribute, DictionaryAttribute, IntegerAttribute, OptimizationHints
from ..module import Module, Operation
from ..ops import memory, view
from ..version import NEWEST
from .diagnostic import Diagnostic

DEFAULT = "default"
"""The key that stands for all architectures without hints of their own."""
OF_ENTRIES = ("num_cta_in_cga", "num_worker_warps_per_cta", "occupancy")
OF_POINTERS = ("latency",)
OF_VIEWS = ("latency", "allow_tma")
_RANGES = {"latency": (1, 10), "occupancy": (1, 32)}
_POWERS = {"num_cta_in_cga": 16, "num_worker_warps_per_cta": 32}
_ALONE = ("sm_80", "sm_86", "sm_87", "sm_88", "sm_89")
"""Architectures that have no groups of blocks."""
_OPERATIONS: dict[type[Operation], tuple[str, ...]] = {
    memory.LoadPtrTko: OF_POINTERS,
    memory.StorePtrTko: OF_POINTERS,
    view.LoadViewTko: OF_VIEWS,
    view.StoreViewTko: OF_VIEWS,
}


def unheeded_hints(module: Module) -> list[Diagnostic]:
    """The hints that no compiler heeds: for an unknown architecture, under no such name, of no such value.

    Such a module is legal; ``cuda-tile-opt -Wunsupported-hints`` warns of the same.
    """
    found: list[Diagnostic] = []
    for function in module.functions:
        if function.hints is not None:
            for message in _unheeded(function.hints, OF_ENTRIES):
                found.append(Diagnostic("hint-unheeded", "entry", function.name, function.location, message))
        for op in function.body.walk():
            hints = op.__dict__.get("optimization_hints")
            if isinstance(hints, OptimizationHints) and type(op) in _OPERATIONS:
                for message in _unheeded(hints, _OPERATIONS[type(op)]):
                    found.append(
                        Diagnostic("hint-unheeded", op.mnemonic, function.name, op.location, message)
                    )
    return found


def _unheeded(hints: OptimizationHints, known: tuple[str, ...]) -> Iterator[str]:
    for architecture, values in hints.architectures:
        if architecture != DEFAULT and architecture not in targets(str(NEWEST)):
            yield f"hints for an unknown architecture, {architecture}"
            continue
        assert isinstance(values, DictionaryAttribute)
        for name, value in values.entries:
            if name not in known:
                yield f"there is no hint {name} here (known are {', '.join(known)})"
            else:
                wrong = _value(architecture, name, value)
                if wrong is not None:
                    yield f"the hint {name} for {architecture} is {wrong}"


def _value(architecture: str, name: str, value: Attribute) -> str | None:
    """What the value of a hint would have to be, if it is not."""
    if name == "allow_tma":
        return None if isinstance(value, BoolAttribute) else "true or false"
    if not isinstance(value, IntegerAttribute):
        return "an integer"
    number = value.signed
    if name in _RANGES:
        low, high = _RANGES[name]
        return None if low <= number <= high else f"from {low} to {high}"
    if name == "num_cta_in_cga" and architecture in _ALONE:
        return None if number == 1 else "1"
    largest = _POWERS[name]
    legal = 1 <= number <= largest and number & (number - 1) == 0
    return None if legal else f"a power of two up to {largest}"
