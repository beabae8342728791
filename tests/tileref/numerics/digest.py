"""One hash of the results of every float operation and conversion on the hard inputs.

    python -m tests.tileref.numerics.digest

prints it, beside the versions and processor features of numpy. It must be the same on every machine.
"""

from __future__ import annotations

import hashlib

import ml_dtypes
import numpy as np

from tests.tileref.numerics import hard
from tileref import numerics as n
from tileref.numerics.float_compare import PREDICATES
from tileref.numerics.formats import BF16, F16, F32, F64, FLOAT_FORMATS, I8, I32, I64, TF32, Rounding

COUNT = 4000


def digest() -> str:
    """The hash, in hexadecimal."""
    total = hashlib.sha256()
    for fmt in (F64, F32, TF32, F16, BF16):
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


def features() -> list[str]:
    """The processor features that numpy found and chooses its loops by, beyond its baseline."""
    from numpy._core import _multiarray_umath as umath

    found: dict[str, bool] = umath.__cpu_features__
    return [name for name in umath.__cpu_dispatch__ if found.get(name)]


if __name__ == "__main__":
    print(digest(), "numpy", np.__version__, "ml_dtypes", ml_dtypes.__version__, *features())
