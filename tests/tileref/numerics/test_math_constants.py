"""The constants and tables carry all the bits that the error bounds count on, on any version of gmpy2."""

from __future__ import annotations

from fractions import Fraction

import gmpy2
import numpy as np
import pytest

from tileref.numerics.math import arc_tangent, circle, constants, exponential, logarithm, power, trigonometric


def exact(x: object) -> Fraction:
    """A gmpy2 or float number as the fraction it is."""
    return Fraction(*(int(part) for part in x.as_integer_ratio()))  # type: ignore[attr-defined]


PI, LN2 = exact(gmpy2.const_pi(1000)), exact(gmpy2.const_log2(1000))

SUMS = [
    (exponential.LN2, LN2, 106),
    (exponential._SIXTH, Fraction(1, 6), 106),
    (exponential._STEP, LN2 / 2048, 114),
    (exponential._NARROW_STEP, LN2 / 128, 90),
    (logarithm._LN2_PARTS, LN2, 94),
    (logarithm._PER_LN2, 1 / LN2, 106),
    (logarithm._THIRD, Fraction(1, 3), 106),
    (power._PER_LN2, 1 / LN2, 77),
    (circle._ARC, PI / 512, 114),
    (circle._TWO_PI, 2 * PI, 106),
    (trigonometric._MINUS_SIXTH, Fraction(-1, 6), 106),
    (arc_tangent._MINUS_THIRD, Fraction(-1, 3), 106),
    (arc_tangent._HALF_PI, PI / 2, 106),
]


@pytest.mark.parametrize(("parts", "true", "bits"), SUMS)
def test_parts_add_up(parts: tuple[float, ...], true: Fraction, bits: int) -> None:
    error = abs(sum(map(exact, parts)) / true - 1)
    assert error < Fraction(1, 1 << bits)


def test_parts_are_short() -> None:
    """As short as the arguments that their products are exact need them."""
    for value, bits in (
        *((part, 31) for part in (*exponential._STEP[:2], *circle._ARC[:2])),
        (exponential._NARROW_STEP[0], 38),
        (logarithm._LN2_PARTS[0], 42),
        (power._PER_LN2[0], 25),
    ):
        assert exact(value).numerator.bit_length() <= bits


def test_the_bits_of_a_turn() -> None:
    table = circle._turns()
    for biased in (circle._FIRST_EXPONENT, 1023, 1500, 2046):
        column = [int(limb) for limb in table[:, biased - circle._FIRST_EXPONENT]]
        fraction = sum(Fraction(limb, 1 << (224 - 32 * i)) for i, limb in enumerate(column))
        pi = exact(gmpy2.const_pi(3000))
        true = Fraction(2) ** (biased - 1075) / (2 * pi) % 1
        assert 0 <= true - fraction < Fraction(2, 1 << 224)


def test_quotients_have_the_precision_asked_for() -> None:
    with gmpy2.context(precision=3):
        third = constants.quotient(1, 3)
    assert third.precision == 320
    assert abs(exact(third) - Fraction(1, 3)) < Fraction(1, 1 << 320)


def test_reciprocals_are_short_and_leave_a_small_rest() -> None:
    for cells, bits in ((256, 12), (2048, 15)):
        reciprocals = [logarithm._reciprocal(cell, cells, bits) for cell in range(cells)]
        assert all((c * 2**bits).is_integer() and 0.5 < c < 2 for c in reciprocals)
        index = np.arange(cells, dtype=np.int64)
        edges = [(logarithm._FIRST_BITS + (index + d) * (2**52 // cells)).view(np.float64) for d in (0, 1)]
        rest = np.abs(np.array(edges) * reciprocals - 1.0)
        assert rest.max() <= 2.0**-8 * 256 / cells
