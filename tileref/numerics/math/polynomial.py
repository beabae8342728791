"""Polynomials in float64."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tileref.numerics.math.double_double import Array


def polynomial(x: Array, *coefficients: float) -> NDArray[np.float64]:
    """The sum of ``coefficients[i] * x^i``, two or more, by Horner's rule, in a fresh array."""
    result = x * coefficients[-1]
    for coefficient in coefficients[-2:0:-1]:
        result += coefficient
        result *= x
    result += coefficients[0]
    return np.asarray(result)
