"""What each floating-point operation does to intervals and errors.

An operation on values that are off answers something that is off. These are first-order textbook bounds
(Higham, Accuracy and Stability of Numerical Algorithms, chapters 2 to 4), taken without first-order
simplification: each rule bounds the difference between the operation on the model's operands and on the
device's, both rounded. ``unit`` is one unit in the last place relative to the value, ``tiny`` the smallest
positive number of the format: two roundings of neighbouring reals are at most one unit apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from tileref.numerics.formats import FORMATS, FloatFormat

from .uncertain import INF, Uncertain, interval, lost, origins_of, times


@dataclass(frozen=True, slots=True)
class Unit:
    """A format's unit in the last place: relative to a normal number, and of the smallest numbers."""

    relative: float
    tiny: float


def unit_of(format_name: str) -> Unit:
    """The unit of a format; nothing for an integer format."""
    fmt = FORMATS.get(format_name)
    if not isinstance(fmt, FloatFormat):
        return Unit(0.0, 0.0)
    return Unit(2.0 ** (1 - fmt.precision), math.ldexp(1.0, max(fmt.emin - fmt.precision + 1, -1074)))


def _safely(function: Callable[[float], float], x: float) -> float:
    try:
        return function(x)
    except OverflowError:
        return INF
    except ValueError:
        return math.nan


def _made(
    operands: tuple[Uncertain, ...], lo: float, hi: float, rel: float, absolute: float, unit: Unit
) -> Uncertain:
    """A result whose error comes from its operands; the rounding may fall the other way."""
    origins = origins_of(operands)
    lo, hi = (-INF if math.isnan(lo) else lo), (INF if math.isnan(hi) else hi)
    if not origins:
        return interval(lo, hi)
    if math.isnan(rel) or math.isnan(absolute):
        return lost(origins, lo, hi)
    grown = 1 + unit.relative
    return Uncertain(lo, hi, rel * grown + unit.relative, absolute * grown + unit.tiny, origins)


def add(a: Uncertain, b: Uncertain, unit: Unit, sign: float = 1.0) -> Uncertain:
    """``a + b``, or ``a - b`` with sign -1. Of one sign, relative errors don't grow; else they may cancel."""
    if sign < 0:
        b = b.within(-b.hi, -b.lo)
    same = (a.lo >= 0 and b.lo >= 0) or (a.hi <= 0 and b.hi <= 0)
    rel = max(a.rel, b.rel) if same else 0.0
    absolute = a.abs + b.abs if same else a.error + b.error
    return _made((a, b), a.lo + b.lo, a.hi + b.hi, rel, absolute, unit)


def multiply(a: Uncertain, b: Uncertain, unit: Unit, square: bool = False) -> Uncertain:
    """``a * b``; ``square`` says that both are one value."""
    corners = [times(x, y) for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
    lo, hi = min(corners), max(corners)
    if square:
        lo, hi = a.least**2, times(a.magnitude, a.magnitude)
    rel = a.rel + b.rel + times(a.rel, b.rel)
    absolute = (
        times(a.abs, b.magnitude) * (1 + b.rel)
        + times(b.abs, a.magnitude) * (1 + a.rel)
        + times(a.abs, b.abs)
    )
    return _made((a, b), lo, hi, rel, absolute, unit)


def divide(a: Uncertain, b: Uncertain, unit: Unit) -> Uncertain:
    """``a / b``, as the product with a reciprocal."""
    return multiply(a, reciprocal(b), unit)


def reciprocal(b: Uncertain) -> Uncertain:
    """``1 / b``, unrounded."""
    if b.least > 0:
        lo, hi = sorted((1 / b.lo, 1 / b.hi))
    else:
        lo, hi = (0.0 if b.lo >= 0 else -INF), (0.0 if b.hi <= 0 else INF)
    if b.exact:
        return interval(lo, hi)
    relative = b.relative
    if relative >= 1:
        return lost(b.origins, lo, hi)
    return Uncertain(lo, hi, relative / (1 - relative), 0.0, b.origins)


def fused(a: Uncertain, b: Uncertain, c: Uncertain, unit: Unit) -> Uncertain:
    """``a * b + c``."""
    nothing = Unit(0.0, 0.0)
    return add(multiply(a, b, nothing), c, unit)


def larger(a: Uncertain, b: Uncertain) -> Uncertain:
    """The larger of two; the interval of the smaller is the caller's."""
    return _extreme(a, b, max(a.lo, b.lo), max(a.hi, b.hi))


def smaller(a: Uncertain, b: Uncertain) -> Uncertain:
    """The smaller of two."""
    return _extreme(a, b, min(a.lo, b.lo), min(a.hi, b.hi))


def _extreme(a: Uncertain, b: Uncertain, lo: float, hi: float) -> Uncertain:
    origins = origins_of((a, b))
    if not origins:
        return interval(lo, hi)
    if a.lo >= 0 and b.lo >= 0:
        return Uncertain(lo, hi, max(a.rel, b.rel), max(a.abs, b.abs), origins)
    return Uncertain(lo, hi, 0.0, max(a.error, b.error), origins)


def exponential(x: Uncertain, unit: Unit, base: float = math.e) -> Uncertain:
    """``base ** x``: an absolute error of the argument is a relative one of the result."""
    lo, hi = _safely(lambda v: base**v, x.lo), _safely(lambda v: base**v, x.hi)
    rel = _safely(math.expm1, x.error * math.log(base))
    return _made((x,), lo, hi, rel, 0.0, unit)


def logarithm(x: Uncertain, unit: Unit, base: float = math.e) -> Uncertain:
    """A relative error of the argument is an absolute one of the result."""
    lo = math.log(x.lo, base) if x.lo > 0 else -INF
    hi = math.log(x.hi, base) if x.hi > 0 and x.hi != INF else INF
    relative = x.relative
    absolute = INF if relative >= 1 else -math.log1p(-relative) / math.log(base)
    return _made((x,), lo, hi, 0.0, absolute, unit)


def root(x: Uncertain, unit: Unit) -> Uncertain:
    """A square root halves a relative error."""
    lo, hi = math.sqrt(max(0.0, x.lo)), math.sqrt(max(0.0, x.hi))
    relative = x.relative
    if relative < 1:
        return _made((x,), lo, hi, 1 - math.sqrt(1 - relative), 0.0, unit)
    return _made((x,), lo, hi, math.sqrt(1 + x.rel) - 1, math.sqrt(x.abs), unit)


def inverse_root(x: Uncertain, unit: Unit) -> Uncertain:
    """``1 / sqrt(x)``."""
    return _made((x,), *_bounds_and_error(reciprocal(root(x, Unit(0.0, 0.0)))), unit)


def _bounds_and_error(x: Uncertain) -> tuple[float, float, float, float]:
    return x.lo, x.hi, x.rel, x.abs


def lipschitz(x: Uncertain, unit: Unit, lo: float, hi: float) -> Uncertain:
    """sin, cos, tanh, atan2: the result moves no more than the argument."""
    return _made((x,), lo, hi, 0.0, x.error, unit)


def hyperbolic(x: Uncertain, unit: Unit, even: bool) -> Uncertain:
    """Cosh (even) or sinh, whose steepness is cosh at the far end."""
    far = _safely(math.cosh, x.magnitude)
    lo, hi = (1.0, far) if even else (_safely(math.sinh, x.lo), _safely(math.sinh, x.hi))
    if not even:
        lo, hi = (-INF if x.lo < 0 and lo == INF else lo), hi
    steep = _safely(math.cosh, x.magnitude + x.error)
    return _made((x,), lo, hi, 0.0, times(steep, x.error), unit)


def rounded(x: Uncertain, unit: Unit) -> Uncertain:
    """To another format, or to an integral value (unit 1 absolute is the caller's)."""
    return _made((x,), x.lo, x.hi, x.rel, x.abs, unit)


def folded(x: Uncertain, count: int, depth: int, unit: Unit) -> Uncertain:
    """The sum of ``count`` lanes, no lane of which takes part in more than ``depth`` additions."""
    lo, hi = min(x.lo, times(count, x.lo)), max(x.hi, times(count, x.hi))
    if x.lo >= 0:
        lo = times(count, x.lo)
    growth = _safely(lambda d: math.expm1(d * math.log1p(unit.relative)), depth)
    if x.one_sign:
        rel = x.rel + growth + times(x.rel, growth)
        absolute = times(times(count, x.abs), 1 + growth)
    else:
        # No partial sum is larger than the sum of magnitudes.
        rel = 0.0
        absolute = times(count, x.error) + times(growth, times(count, x.magnitude + x.error))
    return Uncertain(lo, hi, rel, absolute + times(depth, unit.tiny), x.origins)
