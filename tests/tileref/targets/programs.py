"""What the tests of functions' programs share, whatever the format."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tileref.numerics.formats import FloatFormat
from tileref.targets import sm_90
from tileref.targets.sm_90_math import PROGRAMS


def run(name: str, fmt: FloatFormat, *operands: Any) -> Any:
    """What the program of a function answers."""
    arrays = [np.asarray(operand, fmt.dtype) for operand in operands]
    return PROGRAMS[name, fmt.name, ""](*arrays, fmt, nan=sm_90.nan)


def largest_error(name: str, fmt: FloatFormat, function: Callable[..., Any], *operands: Any) -> float:
    """Of a program, against MPFR's ``function``, in units of the last place of the exact value in ``fmt``."""
    import gmpy2

    found = run(name, fmt, *operands)

    def error(answer: Any, exact: Any) -> float:
        unit = float(np.spacing(np.abs(fmt.dtype.type(float(exact)))))
        return abs(float((gmpy2.mpfr(float(answer)) - exact) / gmpy2.mpfr(unit)))

    with gmpy2.context(gmpy2.get_context(), precision=1300):
        lanes = zip(found, *operands, strict=True)
        return max(error(f, function(*(gmpy2.mpfr(float(v)) for v in values))) for f, *values in lanes)


def every_pair(values: Sequence[float], fmt: FloatFormat) -> tuple[Any, Any]:
    """Each of ``values``, of both signs, and a NaN, with each."""
    signed = [*values, *(-v for v in values), np.nan]
    one, other = (np.array(each, fmt.dtype) for each in zip(*itertools.product(signed, signed), strict=True))
    return one, other
