"""Functions where rules take the place of arithmetic: powers of whole numbers, angles of zeros, flushing."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ...case import Contents
from ..probe import Probe
from ..recipes import Every, Floats, HalvesAndExtremes, Patterns
from .arithmetic import FORMATS, LANES
from .elementwise import operation
from .mathematics import LARGE_LANES, STRIDE


def math_edges() -> Iterator[Probe]:
    """Powers and angles in every format, and the approximations of f32 with ``flush_to_zero``."""
    for mnemonic, element in product(("fpowf", "atan2"), FORMATS):
        halves = [HalvesAndExtremes(1), HalvesAndExtremes(2)]
        yield operation(f"math_edges/{mnemonic}_{element}", mnemonic, element, halves, LANES)
    for mode in ("approx", "full"):
        for kind in ("bits", "tiny"):
            yield _flushed_quotient(mode, kind, Floats(kind, 1), Floats(kind, 2))
        yield _flushed_quotient(mode, "any", Patterns(1), Patterns(2))
    yield operation(
        "math_edges/tanh_f32_approx", "tanh", "f32", [Every(STRIDE)], LARGE_LANES, "rounding<approx>"
    )
    yield operation(
        "math_edges/tanh_f32_approx_wide", "tanh", "f32", [Floats("wide", 1)], LANES, "rounding<approx>"
    )


def _flushed_quotient(mode: str, kind: str, *inputs: Contents) -> Probe:
    attributes = f"rounding<{mode}> flush_to_zero"
    return operation(f"math_edges/divf_f32_{mode}_{kind}", "divf", "f32", inputs, LANES, attributes)
