"""Arithmetic of floats, in every rounding mode, and what it makes of NaNs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ...case import Contents
from ..probe import Probe
from ..recipes import Every, Floats, Patterns, WithNans
from .elementwise import operation

FORMATS = ("f32", "f64", "f16", "bf16")
LANES = 16_384
BINARY = ("addf", "subf", "mulf", "divf", "remf", "maxf", "minf")
UNARY = ("sqrt", "floor", "ceil", "negf", "absf")
DIRECTED = ("zero", "negative_inf", "positive_inf")
FLUSHED = ("addf", "mulf", "divf", "fma", "maxf", "minf")
NAN_BINARY = (*BINARY, "fpowf", "atan2")
NAN_UNARY = ("sqrt", "floor", "ceil", "exp", "log", "sin", "tanh", "rsqrt")


def arithmetic() -> Iterator[Probe]:
    """Operations that IEEE 754 defines, on any patterns; directed rounding in f32 and f64."""
    for element in FORMATS:
        for mnemonic in (*BINARY, "fma"):
            name, inputs = f"arithmetic/{mnemonic}_{element}", _any(mnemonic)
            yield operation(name, mnemonic, element, inputs, LANES)
        for mnemonic in ("maxf", "minf"):
            special = [Floats("special", 3), Floats("special", 4)]
            name = f"arithmetic/{mnemonic}_{element}_propagate_nan"
            yield operation(name, mnemonic, element, special, LANES, "propagate_nan")
        for mnemonic in UNARY:
            yield unary("arithmetic", mnemonic, element)
    for element, mnemonic, mode in product(("f32", "f64"), ("addf", "mulf", "divf", "fma"), DIRECTED):
        # A product of any patterns is rarely near the addend's size.
        inputs = [Floats("wide", 1 + i) for i in range(3)] if mnemonic == "fma" else _any(mnemonic)
        name = f"arithmetic/{mnemonic}_{element}_{mode}"
        yield operation(name, mnemonic, element, inputs, LANES, f"rounding<{mode}>")
    for mnemonic in FLUSHED:
        inputs = [Floats("tiny", 1 + i) for i in range(_operands(mnemonic))]
        yield operation(
            f"arithmetic/{mnemonic}_f32_flush_to_zero", mnemonic, "f32", inputs, LANES, "flush_to_zero"
        )
    yield flushed("arithmetic", "sqrt")


def _operands(mnemonic: str) -> int:
    return 3 if mnemonic == "fma" else 2


def _any(mnemonic: str) -> list[Contents]:
    return [Patterns(1 + i) for i in range(_operands(mnemonic))]


def unary(family: str, mnemonic: str, element: str) -> Probe:
    """A function of one float: of every value of a 16-bit format, else of any patterns."""
    if element in ("f16", "bf16"):
        contents, lanes = Every(), 1 << 16
        return operation(f"{family}/{mnemonic}_{element}", mnemonic, element, [contents], lanes)
    lanes = 1 << 18 if mnemonic == "rsqrt" else LANES
    return operation(f"{family}/{mnemonic}_{element}", mnemonic, element, [Patterns(5)], lanes)


def flushed(family: str, mnemonic: str) -> Probe:
    """A function of one tiny f32, with ``flush_to_zero``."""
    name = f"{family}/{mnemonic}_f32_flush_to_zero"
    return operation(name, mnemonic, "f32", [Floats("tiny", 1)], LANES, "flush_to_zero")


def nan() -> Iterator[Probe]:
    """Operands of which half are NaNs of any sign and payload."""
    yield _nan("fma", "f64", 3)
    for mnemonic, element in product(NAN_BINARY, ("f64", "f32", "f16", "bf16")):
        yield _nan(mnemonic, element, 2)
    for mnemonic in ("maxf", "minf"):
        yield _nan(mnemonic, "f64", 2, "propagate_nan")
    for mnemonic in NAN_UNARY:
        yield _nan(mnemonic, "f64", 1)


def _nan(mnemonic: str, element: str, operands: int, attribute: str = "") -> Probe:
    name = f"nan/{mnemonic}_{element}{attribute and '_' + attribute}"
    inputs = [WithNans(1 + i) for i in range(operands)]
    return operation(name, mnemonic, element, inputs, LANES, attribute)
