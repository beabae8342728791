"""The slow path: one lane at a time, by MPFR.

MPFR's functions are correctly rounded at any precision. A context with the format's precision and exponent
range and with ``subnormalize`` gives the format's own rounding, subnormals included and without a second
rounding, because MPFR remembers on which side of its result the true value lies. Halfway cases round to even.
"""

from __future__ import annotations

import gmpy2
import numpy as np
from numpy.typing import NDArray

from tileref.numerics.formats import FloatFormat
from tileref.numerics.math.double_double import Array


def settle(function: str, operands: tuple[Array, ...], fmt: FloatFormat) -> NDArray[np.float64]:
    """The correctly rounded results of gmpy2's ``function``, exact in float64.

    ``operands`` are one-dimensional float64 arrays of numbers of the format.
    """
    # MPFR's significands lie in [1/2, 1): its exponents are one above IEEE 754's.
    context = gmpy2.context(
        precision=fmt.precision,
        emax=fmt.emax + 1,
        emin=fmt.emin - fmt.precision + 2,
        subnormalize=True,
        round=gmpy2.RoundToNearest,
    )
    call = getattr(context, function)
    lanes = zip(*(operand.tolist() for operand in operands), strict=True)
    return np.array([float(call(*lane)) for lane in lanes], np.float64)
