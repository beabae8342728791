"""One hash of the results of every float operation, function and conversion on the hard inputs.

    python -m tests.tileref.numerics.digest

prints it, beside the versions and processor features of numpy. It must be the same on every machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial

import ml_dtypes
import numpy as np

from tests.tileref.numerics import hard, math_inputs
from tileref import numerics as n
from tileref.numerics.float_compare import PREDICATES
from tileref.numerics.formats import (
    BF16,
    F16,
    F32,
    F64,
    FLOAT_FORMATS,
    I8,
    I32,
    I64,
    TF32,
    FloatFormat,
    Rounding,
)

COUNT = 4000
MATH_COUNT = 400
FORMATS = (F64, F32, TF32, F16, BF16)
FUNCTIONS = ("exp", "exp2", "log", "log2", "rsqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")


def arithmetic(fmt: FloatFormat) -> str:
    """The hash of one format's arithmetic, comparisons and conversions."""
    total = hashlib.sha256()
    a, b, c = hard.triples(fmt, np.random.default_rng(61), COUNT)
    for rounding in Rounding:
        for operation in (n.addf, n.subf, n.mulf, n.divf):
            total.update(operation(a, b, fmt, rounding).tobytes())
        total.update(n.fma(a, b, c, fmt, rounding).tobytes())
        total.update(n.sqrt(a, fmt, rounding).tobytes())
        for target in FLOAT_FORMATS:
            total.update(n.ftof(a, fmt, target, rounding).tobytes())
    for extreme in (n.maxf, n.minf, n.remf):
        total.update(extreme(a, b, fmt).tobytes())
    for unary in (n.floor, n.ceil, n.absf, n.negf):
        total.update(unary(a, fmt).tobytes())
    for predicate in PREDICATES:
        total.update(n.cmpf(a, b, fmt, predicate, True).tobytes())
    for whole in (I8, I32, I64):
        found, undefined = n.ftoi(a, fmt, whole)
        total.update(found.tobytes())
        total.update(np.packbits(undefined).tobytes() if undefined is not None else b"")
        for rounding in Rounding:
            total.update(n.itof(found, whole, fmt, rounding).tobytes())
    if fmt is not TF32:
        power = np.random.default_rng(62).integers(-40, 41, a.size, np.int8)
        total.update(n.fpowi(a, power, fmt).tobytes())
    return total.hexdigest()


def mathematics(fmt: FloatFormat) -> str:
    """The hash of one format's mathematical functions."""
    total = hashlib.sha256()
    for name in FUNCTIONS:
        total.update(getattr(n, name)(math_inputs.unary(name, fmt, MATH_COUNT, 63), fmt).tobytes())
    for name in ("atan2", "pow"):
        total.update(getattr(n, name)(*math_inputs.binary(name, fmt, MATH_COUNT, 64), fmt).tobytes())
    return total.hexdigest()


def pieces() -> list[Callable[[], str]]:
    """What ``digest`` is put together from, to be called in any order and at the same time."""
    return [
        *(partial(arithmetic, fmt) for fmt in FORMATS),
        *(partial(mathematics, fmt) for fmt in FORMATS if fmt is not TF32),
    ]


def digest() -> str:
    """The hash, in hexadecimal."""
    return hashlib.sha256("".join(piece() for piece in pieces()).encode()).hexdigest()


def features() -> list[str]:
    """The processor features that numpy found and chooses its loops by, beyond its baseline."""
    from numpy._core import _multiarray_umath as umath

    found: dict[str, bool] = umath.__cpu_features__
    return [name for name in umath.__cpu_dispatch__ if found.get(name)]


if __name__ == "__main__":
    print(digest(), "numpy", np.__version__, "ml_dtypes", ml_dtypes.__version__, *features())
