"""One operation on each element of one array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cuda.tile as ct

from ..build.draft import LANES, TILE, Draft, hard, output

FLOATS = ("f16", "bf16", "f32", "f64")
MATH = (
    *("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh"),
    *("floor", "ceil", "abs", "negative"),
)
GRID = (LANES // TILE,)


def unary(operation: Any) -> Any:
    """A kernel that applies ``operation`` to each element."""

    @ct.kernel
    def apply(x, y, T: ct.Constant[int]):
        i = ct.bid(0)
        ct.store(y, index=(i,), tile=operation(ct.load(x, index=(i,), shape=(T,))))

    return apply


def exp2_flushed(x):
    return ct.exp2(x, flush_to_zero=True)


def rsqrt_flushed(x):
    return ct.rsqrt(x, flush_to_zero=True)


def sqrt_flushed(x):
    return ct.sqrt(x, flush_to_zero=True)


def sqrt_approx(x):
    return ct.sqrt(x, rounding_mode=ct.RoundingMode.APPROX)


def sqrt_towards_zero(x):
    return ct.sqrt(x, rounding_mode=ct.RoundingMode.RZ)


def tanh_approx(x):
    return ct.tanh(x, rounding_mode=ct.RoundingMode.APPROX)


def exp_approx(x):
    return ct.exp(x, rounding_mode=ct.RoundingMode.APPROX)


def is_nan(x):
    return ct.where(ct.isnan(x), 1.0, 0.0)


def logistic(x):
    return 1.0 / (1.0 + ct.exp(-x))


VARIANTS = {
    "exp2_flushed": exp2_flushed,
    "rsqrt_flushed": rsqrt_flushed,
    "sqrt_flushed": sqrt_flushed,
    "sqrt_approx": sqrt_approx,
    "sqrt_towards_zero": sqrt_towards_zero,
    "tanh_approx": tanh_approx,
    "exp_approx": exp_approx,
    "isnan": is_nan,
    "logistic": logistic,
}


def drafts() -> Iterator[Draft]:
    """Every unary operation in every float format, and the variants of some in f32."""
    for operation in MATH:
        for fmt in FLOATS:
            name = f"unary/{operation}_{fmt}"
            yield Draft(name, unary(getattr(ct, operation)), GRID, [hard(fmt, name), output(fmt), TILE])
    for variant, function in VARIANTS.items():
        name = f"unary/{variant}_f32"
        yield Draft(name, unary(function), GRID, [hard("f32", name), output("f32"), TILE])
