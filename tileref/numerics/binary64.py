"""f64 arithmetic in every direction, and the fused multiply-add: kernels on flat arrays.

There is no wider float to lean on. Each operation is the processor's own, rounded to nearest even, and its
exact error, found by error-free transformations, which decides about the step to the neighbour. Where the
error itself would overflow or underflow, the lane is computed again on significands in [1, 2), and its
exponent comes back in the one final rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .error_free import two_product, two_sum
from .formats import F64, Rounding
from .rounding import decompose, power_of_two, round_sum, step_from_nearest, to_odd

Array = NDArray[Any]
Bools = NDArray[np.bool_]

# Within these, no part of a `two_product` overflows or loses bits below the least subnormal: the error is at
# least 2**-106 of the product.
_SMALL = 2.0**-900
_LARGE = 2.0**990


def zero_signs(out: Array, zero: Bools, a: Array, b: Array, rounding: Rounding) -> None:
    """Give the lanes of `out` where a + b is exactly `zero` the sign that IEEE 754 says, in place.

    Terms of one sign keep it; terms of different signs give +0, or -0 where the direction is NEGATIVE_INF.
    """
    if zero.any():
        first, second = np.signbit(a[zero]), np.signbit(b[zero])
        minus = (first | second) if rounding is Rounding.NEGATIVE_INF else (first & second)
        out[zero] = np.where(minus, -0.0, 0.0)


def add(out: Array, a: Array, b: Array, rounding: Rounding) -> None:
    """The sum in any direction; for float32 too, as `two_sum` is."""
    _, error = two_sum(a, b, out)
    step_from_nearest(out, error, rounding)
    if rounding is Rounding.NEGATIVE_INF:
        # Rounding never makes a sum zero: the terms cancelled or are zeros.
        zero_signs(out, out == 0, a, b, rounding)
    # An operand is infinite or NaN, or something overflowed.
    sure = np.isfinite(error)
    if not sure.all():
        unsure = ~sure
        x, y = a[unsure].astype(np.float64), b[unsure].astype(np.float64)
        if out.dtype == np.float64:
            out[unsure] = _scaled_fma(x, np.ones_like(x), y, rounding)
        else:
            # Two finite float32s near the overflow: their sum in float64 is at least 2**127, and the error of
            # float64 moves to the odd neighbour what it cannot hold.
            exact = to_odd(*two_sum(x, y))
            again = exact.astype(np.float32)
            step_from_nearest(again, exact - again, rounding)
            out[unsure] = again


def multiply(out: Array, a: Array, b: Array, rounding: Rounding) -> None:
    """The product in any direction."""
    nearest, error = two_product(a, b)
    np.copyto(out, nearest)
    step_from_nearest(out, error, rounding)
    size = np.abs(nearest)
    sure = (size >= _SMALL) & (size <= _LARGE) & (np.abs(a) <= _LARGE) & (np.abs(b) <= _LARGE)
    if not sure.all():
        unsure = ~sure
        x, y = a[unsure], b[unsure]
        x_part, x_power = decompose(x)
        y_part, y_power = decompose(y)
        again = round_sum(*two_product(x_part, y_part), F64, rounding, x_power + y_power)
        # The processor's own zero, infinity or NaN where an operand is one.
        special = _special(x) | _special(y)
        out[unsure] = np.where(special, nearest[unsure], again)


def divide(out: Array, a: Array, b: Array, rounding: Rounding) -> None:
    """The quotient in any direction.

    With q the rounded quotient, a - q * b is a float64 and has the sign of the error times that of b. A
    quotient is never halfway between two normal float64s: such a point has 54 bits, the last one set, and so
    its product with b has more bits than a.
    """
    nearest = a / b
    np.copyto(out, nearest)
    size, divisor, dividend = np.abs(nearest), np.abs(b), np.abs(a)
    sure = (size >= _SMALL) & (size <= _LARGE) & (dividend >= _SMALL) & (dividend <= _LARGE)
    sure &= (divisor >= 2.0**-990) & (divisor <= _LARGE)
    if rounding is not Rounding.NEAREST_AWAY:
        product, rest = two_product(nearest, b)
        np.subtract(a, product, out=product)
        product -= rest
        np.negative(product, out=product, where=np.signbit(b))
        step_from_nearest(out, product, rounding)
    if not sure.all():
        unsure = ~sure
        x, y = a[unsure], b[unsure]
        x_part, x_power = decompose(x)
        y_part, y_power = decompose(y)
        quotient = x_part / y_part
        product, rest = two_product(quotient, y_part)
        rest = (x_part - product) - rest
        # Of the error only its sign counts, as long as it is less than half of the last place.
        rest = np.sign(rest) * np.where(np.signbit(y_part), -(2.0**-60), 2.0**-60)
        again = round_sum(quotient, rest, F64, rounding, x_power - y_power)
        special = _special(x) | _special(y)
        out[unsure] = np.where(special, nearest[unsure], again)


def square_root(out: Array, a: Array, rounding: Rounding) -> None:
    """The square root in any direction. It is never subnormal, never overflows and is never halfway."""
    np.sqrt(a, out=out)
    if rounding is Rounding.NEAREST_AWAY:
        return
    part, power = decompose(a)
    # An even exponent, so that the root of the significand is the significand of the root.
    part *= np.where(power & np.int64(1), 2.0, 1.0)
    root = np.sqrt(part)
    product, rest = two_product(root, root)
    step_from_nearest(out, (part - product) - rest, rounding)


def fma(out: Array, a: Array, b: Array, c: Array, rounding: Rounding) -> None:
    """Fused a * b + c with one rounding, by Boldo and Melquiond's algorithm (see `to_odd`).

    a * b = p + q and the three terms p, q and c are folded into a leading part and a rest rounded to odd,
    whose last bit lies so far below the leading part's that no halfway point or float64 comes between the
    rest and what it stands for.
    """
    p, q = two_product(a, b)
    size = np.abs(p)
    within = (np.abs(a) <= _LARGE) & (np.abs(b) <= _LARGE) & (np.abs(c) <= _LARGE)
    sure = within & (size >= _SMALL) & (size <= _LARGE)
    nearest, error = _fold(p, q, c)
    np.copyto(out, nearest)
    step_from_nearest(out, error, rounding)
    # Where nothing underflows, a zero is exact.
    zero_signs(out, nearest == 0, p, c, rounding)
    if not sure.all():
        # A product that is zero because a factor is loses nothing.
        sure |= within & ((a == 0) | (b == 0))
        unsure = ~sure
        out[unsure] = _scaled_fma(a[unsure], b[unsure], c[unsure], rounding)


def _fold(p: Array, q: Array, c: Array) -> tuple[Array, Array]:
    """The sum p + q + c, |q| at most half a last place of p, as a nearest float64 and an error.

    The two are not exactly the sum, but round like it in every direction and to every precision up to 53.
    """
    high, low = two_sum(c, q)
    leading, rest = two_sum(p, high)
    return two_sum(leading, to_odd(*two_sum(low, rest)))


def _scaled_fma(a: Array, b: Array, c: Array, rounding: Rounding) -> Array:
    """`fma` for any operands: on significands, with the exponent added in the final rounding."""
    a_part, a_power = decompose(a)
    b_part, b_power = decompose(b)
    c_part, c_power = decompose(c)
    p, q = two_product(a_part, b_part)
    power = a_power + b_power
    # A zero has no exponent of its own.
    power = np.where(p == 0, c_power, power)
    apart = np.where(c == 0, np.int64(0), c_power - power)
    # p + q has 106 bits at most, and c 53. With more than 140 binades between them, the lesser is below every
    # halfway point, and its distance does not matter.
    power += np.maximum(apart - np.int64(140), np.int64(0))
    np.clip(apart, -140, 140, out=apart)
    nearest, error = _fold(p, q, c_part * power_of_two(apart))
    result = round_sum(nearest, error, F64, rounding, power)
    zero_signs(result, (nearest == 0) & (error == 0), p, c, rounding)
    # With infinities and NaNs the processor is right, unless a finite product overflows on its way to them.
    product_finite = np.isfinite(a) & np.isfinite(b)
    finite = product_finite & np.isfinite(c)
    if not finite.all():
        result = np.where(finite, result, np.where(product_finite, c, a * b + c))
    return result


def _special(x: Array) -> Bools:
    """Zero, infinite or NaN."""
    return np.asarray((x == 0) | ~np.isfinite(x))
