"""Angles reduced modulo a full turn, for any finite float64, the largest included.

The turn is cut into ``STEPS`` equal arcs: x = n (2 pi / STEPS) + r with |r| at most half an arc. x / (2 pi)
is formed in fixed point from the bits of 1 / (2 pi) that matter for x's exponent (Payne and Hanek's idea):
the bits above contribute whole turns, those below contribute nothing.
"""

from __future__ import annotations

import functools

import gmpy2
import numpy as np
from numpy.typing import NDArray

from tileref.numerics.math import constants
from tileref.numerics.math import double_double as dd
from tileref.numerics.math.double_double import Array, Pair

STEPS = 1024
"""Arcs in a turn; n is counted modulo this."""

_LIMBS = 7
_BITS = 32 * _LIMBS
_FIRST_EXPONENT = 1023 - 32
"""The least biased exponent that the table knows, that of 2^-32: smaller angles need no reduction."""

NARROW_LIMIT = 2.0**14
"""Bound of |x| for ``narrow_reduced``."""

_ARC = constants.parts(constants.quotient(constants.PI, STEPS // 2), 31, 2)
_ARCS_PER_RADIAN = constants.rounded(constants.quotient(STEPS // 2, constants.PI))
_TWO_PI = constants.pair(constants.WORKING.mul(2, constants.PI))


@functools.cache
def _turns() -> NDArray[np.uint64]:
    """One column an exponent: the fraction of 2^(e - 52) / (2 pi), in limbs of 32 bits, the lowest first."""
    total = 1100 + _BITS
    pi = gmpy2.const_pi(total + 64)
    digits = int(constants.quotient(gmpy2.mpz(1) << (total - 1), pi, total + 64))
    columns = []
    for biased in range(_FIRST_EXPONENT, 2047):
        shift = biased - 1075  # x = mantissa * 2^shift
        fraction = (digits >> (total - _BITS - shift)) & ((1 << _BITS) - 1)
        columns.append([(fraction >> 32 * limb) & 0xFFFFFFFF for limb in range(_LIMBS)])
    table = np.ascontiguousarray(np.array(columns, np.uint64).T)
    table.setflags(write=False)
    return table


def reduced(x: Array) -> tuple[Array, Pair]:
    """Reduce to n in 0 .. STEPS - 1 (int64) and r in radians, for finite float64 x; |r| <= 2^-8.3.

    The fraction of a turn errs by 2^-171 at most (53 bits of mantissa times the table's 2^-224), and no
    float64 that is not 0 comes nearer to a multiple of a quarter turn than 2^-62, so r is within 2^-100
    of itself when n is a multiple of a quarter turn, and within an absolute 2^-105 elsewhere.
    """
    bits = x.view(np.int64)
    biased = (bits >> 52) & 0x7FF
    mantissa = ((bits & ((1 << 52) - 1)) | (1 << 52)).view(np.uint64)
    column = np.minimum(np.maximum(biased - _FIRST_EXPONENT, 0), 2046 - _FIRST_EXPONENT)
    limbs = _product(mantissa, [np.take(row, column) for row in _turns()])
    return _arc_and_rest(limbs, x)


def _product(mantissa: Array, limbs: list[Array]) -> list[Array]:
    """The product mantissa * fraction modulo one turn, limb by limb; every intermediate stays below 2^64."""
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    low, high = mantissa & mask, mantissa >> half
    result = []
    carry: Array = np.zeros_like(low)
    below: Array = np.zeros_like(low)
    for limb in limbs:
        # (2^32 - 1)^2 + carry with carry < 2^32 + 2^22, and 2^21 (2^32 - 1) + 2^32.
        first = low * limb + carry
        second = high * below + (first & mask)
        result.append(second & mask)
        carry = (first >> half) + (second >> half)
        below = limb
    return result


def _arc_and_rest(limbs: list[Array], x: Array) -> tuple[Array, Pair]:
    top = limbs[6].view(np.int64)
    arc = (top + (1 << 21)) >> 22
    # The signed rest after the arc, cut into three integers of at most 54, 53 and 43 bits: all exact.
    first = ((top - (arc << 22)) << 32) + limbs[5].view(np.int64)
    second = (limbs[4] << np.uint64(21)) + (limbs[3] >> np.uint64(11))
    third = ((limbs[3] & np.uint64(0x7FF)) << np.uint64(32)) + limbs[2]
    high, low = dd.two_sum(first * 2.0**-64, second * 2.0**-117)
    turns = dd.fast_two_sum(high, low + third * 2.0**-160)
    sign = np.copysign(1.0, x)
    rest = dd.multiply((turns[0] * sign, turns[1] * sign), _TWO_PI)
    # Below half an arc's angle, x is its own rest; the table does not reach down to all of these.
    small = np.abs(x) < 2.0**-9
    arc = np.where(small, 0, np.where(x < 0.0, -arc, arc) & (STEPS - 1))
    return arc, dd.choose(small, (x, 0.0), rest)


def narrow_reduced(x: Array) -> tuple[Array, Array]:
    """Reduce to n (to be taken modulo ``STEPS``) and r, for |x| <= ``NARROW_LIMIT`` of at most 24 bits.

    r is within 2^-52 of itself: n has at most 22 bits, so that its products with the two parts of 31 bits
    are exact. So is the first subtraction, whose operands are multiples of 2^-39 and whose result is below
    2^-7. The second is exact where its result is below 2^-17, and elsewhere rounds relatively. The third
    part's product is below 2^-46 and errs by 2^-99, and no number of 24 bits up to 2^14 comes nearer to a
    multiple of a quarter turn than 2^-45.
    """
    n = np.rint(x * _ARCS_PER_RADIAN)
    r = x - n * _ARC[0]
    r -= n * _ARC[1]
    r -= n * _ARC[2]
    return n.astype(np.int64), r
