"""Functions of f64 where each does its work; the patterns of ``math`` are nearly all huge or tiny."""

from __future__ import annotations

from collections.abc import Iterator

from ..probe import Probe
from ..working_ranges import SPECIAL, Part, Working, between, binades, multiples, specials, wholes
from .elementwise import operation

LANES = 1 << 16
HALF_PI, LN2 = 1.5707963267948966, 0.6931471805599453
ANGLES = (
    between(-100, 100),
    between(-1e5, 1e5),
    multiples(HALF_PI, 10),
    multiples(HALF_PI, 30),
    multiples(HALF_PI, 53),
    binades(-40, 0),
    binades(17, 32),  # the reduction changes at 2^31
    binades(31, 1023),
    specials(),
)
POSITIVE = (
    binades(-1023, 1023, signed=False),
    between(0.5, 2),
    between(1 - 2.0**-20, 1 + 2.0**-20),
    multiples(1, 7),
    binades(-1023, -1020),
    specials(),
)
HYPERBOLIC = (
    between(-712, 712),
    between(-2, 2),
    between(-22, 22),
    multiples(LN2 / 2, 7),
    between(0.64, 0.67),  # where tanh changes its polynomial
    binades(-40, 0),
    binades(-1023, -1000),
    specials(),
)
UNARY: dict[str, tuple[Part, ...]] = {
    "exp": (between(-800, 800), between(-746, -707), multiples(LN2 / 2, 11), binades(-60, 0), specials()),
    "exp2": (between(-1080, 1030), between(-1076, -1021), multiples(0.5, 11), binades(-60, 0), specials()),
    "log": POSITIVE,
    "log2": POSITIVE,
    "sin": ANGLES,
    "cos": ANGLES,
    "tan": ANGLES,
    "sinh": HYPERBOLIC,
    "cosh": HYPERBOLIC,
    "tanh": HYPERBOLIC,
}
ROWS = specials(len(SPECIAL))
"""With ``specials()`` beside it, all pairs."""
BINARY: dict[str, tuple[tuple[Part, Part], ...]] = {
    "fpowf": (
        (between(0.5, 2), between(-1000, 1000)),
        (between(1 - 2.0**-20, 1 + 2.0**-20), binades(0, 32)),
        (wholes(-12, 12), wholes(-300, 300)),
        (binades(-30, 30), wholes(-40, 40)),
        (binades(-1023, 1023, signed=False), between(-2, 2)),
        (multiples(0.5, 5), multiples(0.5, 5)),
        (specials(), ROWS),
        (between(-2, 2), specials()),
    ),
    "atan2": (
        (between(-1, 1), between(-1, 1)),
        (binades(-30, 30), binades(-30, 30)),
        (binades(-1023, 1023), binades(-1023, 1023)),
        (binades(-1023, -970), binades(-1023, -970)),
        (wholes(-9, 9), wholes(-9, 9)),
        (multiples(1, 3), multiples(1, 3)),
        (specials(), ROWS),
        (between(-2, 2), specials()),
    ),
}
"""Parts of both operands, side by side."""


def math_f64() -> Iterator[Probe]:
    """A probe a function."""
    for mnemonic, parts in UNARY.items():
        yield operation(f"math_f64/{mnemonic}", mnemonic, "f64", [Working(1, parts)], LANES)
    for mnemonic, pairs in BINARY.items():
        first, second = zip(*pairs, strict=True)
        inputs = [Working(1, first), Working(2, second)]
        yield operation(f"math_f64/{mnemonic}", mnemonic, "f64", inputs, LANES)
