"""Mathematical functions, approximate division, and powers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ...case import Contents
from ..integer_recipes import SmallIntegers
from ..probe import Probe
from ..recipes import Every, Floats, Patterns
from .arithmetic import FORMATS, LANES, flushed, unary
from .elementwise import elementwise, lanes_of, operation

UNARY = ("rsqrt", "exp", "exp2", "log", "log2", "sin", "cos", "tan", "sinh", "cosh", "tanh")
BINARY = ("fpowf", "atan2")
POWER_LANES = 1 << 18
LARGE_LANES = 1 << 20
STRIDE = 4093
"""From one pattern to the next; 2^20 of them go round all patterns of f32."""


def math() -> Iterator[Probe]:
    """Every function in every format, and the approximations of f32."""
    for element in FORMATS:
        for mnemonic in BINARY:
            yield operation(
                f"math/{mnemonic}_{element}", mnemonic, element, [Patterns(1), Patterns(2)], LANES
            )
        for mnemonic in UNARY:
            yield unary("math", mnemonic, element)
    for mnemonic in ("exp2", "rsqrt"):
        yield flushed("math", mnemonic)
    for mode in ("approx", "full"):
        yield _approximate("divf", [Patterns(1), Patterns(2)], mode)
    for mnemonic in ("sqrt", "tanh"):
        yield _approximate(mnemonic, [Patterns(5)], "approx")
    yield _approximate("exp", [Floats("wide", 5)], "approx")


def _approximate(mnemonic: str, inputs: list[Contents], mode: str) -> Probe:
    return operation(f"math/{mnemonic}_f32_{mode}", mnemonic, "f32", inputs, LANES, f"rounding<{mode}>")


def math_large() -> Iterator[Probe]:
    """Functions of f32 at a million patterns: too long to keep, but a program for one is settled by them."""
    for mnemonic in UNARY:
        yield operation(f"math_large/{mnemonic}_f32", mnemonic, "f32", [Every(STRIDE)], LARGE_LANES)
    for mnemonic in BINARY:
        inputs = [Floats("wide", 1), Floats("wide", 2)]
        yield operation(f"math_large/{mnemonic}_f32", mnemonic, "f32", inputs, POWER_LANES)


def fpowi() -> Iterator[Probe]:
    """Integer powers: wide bases to any power, and bases around 1 to powers up to 64 (``small``)."""
    for element, power in product(FORMATS, ("i1", "i8", "i16", "i32")):
        yield _power(f"fpowi/{element}_{power}", element, power, Floats("wide", 11), Patterns(12))
        if power != "i1":
            base, exponent = Floats("normal", 13), SmallIntegers(14)
            yield _power(f"fpowi/{element}_{power}_small", element, power, base, exponent)


def _power(name: str, element: str, power: str, base: Contents, exponent: Contents) -> Probe:
    line = f"%r = fpowi %x0, %x1 : {lanes_of(element)}, {lanes_of(power)}"
    return elementwise(name, [line], [(element, base), (power, exponent)], element, POWER_LANES)
