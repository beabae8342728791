"""The families of probes: each a function that yields its probes, always the same and in the same order."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..probe import Probe
from .arithmetic import arithmetic, nan
from .atomics import atomic
from .conversions import ftof, ftoi, itof
from .folds import reduce, reduce_warps, scan
from .integer_products import mmai
from .made_folds import reduce_made
from .mathematics import fpowi, math, math_large
from .mathematics_edges import math_edges
from .mathematics_f64 import math_f64
from .products import mma, mma_fast_acc, mma_loop
from .refolds import reduce_moved, reduce_twice

FAMILIES: dict[str, Callable[[], Iterator[Probe]]] = {
    "mma": mma,
    "mma_loop": mma_loop,
    "mma_fast_acc": mma_fast_acc,
    "mmai": mmai,
    "reduce": reduce,
    "reduce_warps": reduce_warps,
    "reduce_twice": reduce_twice,
    "reduce_moved": reduce_moved,
    "reduce_made": reduce_made,
    "scan": scan,
    "arithmetic": arithmetic,
    "nan": nan,
    "atomic": atomic,
    "math": math,
    "math_large": math_large,
    "math_edges": math_edges,
    "math_f64": math_f64,
    "fpowi": fpowi,
    "ftof": ftof,
    "itof": itof,
    "ftoi": ftoi,
}
"""By name, which is the first part of its probes' names."""
