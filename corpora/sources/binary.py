"""One operation on the elements of two arrays, pair by pair."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cuda.tile as ct

from ..build.draft import LANES, TILE, Draft, hard, output

FLOATS = ("f16", "bf16", "f32", "f64")
ARITHMETIC = ("add", "sub", "mul", "truediv", "minimum", "maximum", "mod", "pow", "atan2")
GRID = (LANES // TILE,)


def binary(operation: Any) -> Any:
    """A kernel that applies ``operation`` to each pair of elements."""

    @ct.kernel
    def apply(x, y, z, T: ct.Constant[int]):
        i = ct.bid(0)
        a = ct.load(x, index=(i,), shape=(T,))
        b = ct.load(y, index=(i,), shape=(T,))
        ct.store(z, index=(i,), tile=operation(a, b))

    return apply


def add_flushed(a, b):
    return ct.add(a, b, flush_to_zero=True)


def add_towards_zero(a, b):
    return ct.add(a, b, rounding_mode=ct.RoundingMode.RZ)


def add_upwards(a, b):
    return ct.add(a, b, rounding_mode=ct.RoundingMode.RP)


def add_downwards(a, b):
    return ct.add(a, b, rounding_mode=ct.RoundingMode.RM)


def mul_flushed(a, b):
    return ct.mul(a, b, flush_to_zero=True)


def mul_towards_zero(a, b):
    return ct.mul(a, b, rounding_mode=ct.RoundingMode.RZ)


def divide_approx(a, b):
    return ct.truediv(a, b, rounding_mode=ct.RoundingMode.APPROX)


def divide_full(a, b):
    return ct.truediv(a, b, rounding_mode=ct.RoundingMode.FULL)


def divide_upwards(a, b):
    return ct.truediv(a, b, rounding_mode=ct.RoundingMode.RP)


def maximum_nan(a, b):
    return ct.maximum(a, b, propagate_nan=True)


def minimum_nan(a, b):
    return ct.minimum(a, b, propagate_nan=True)


def multiply_add(a, b):
    """A product and a sum, which a compiler may fuse into one rounding."""
    return a * b + b


def difference_of_products(a, b):
    """Cancellation: a fused step shows."""
    return a * a - b * b


VARIANTS = {
    "add_flushed": add_flushed,
    "add_towards_zero": add_towards_zero,
    "add_upwards": add_upwards,
    "add_downwards": add_downwards,
    "mul_flushed": mul_flushed,
    "mul_towards_zero": mul_towards_zero,
    "divide_approx": divide_approx,
    "divide_full": divide_full,
    "divide_upwards": divide_upwards,
    "maximum_nan": maximum_nan,
    "minimum_nan": minimum_nan,
    "multiply_add": multiply_add,
    "difference_of_products": difference_of_products,
}


@ct.kernel
def compare(x, y, outputs, T: ct.Constant[int]):
    """The six relations, and a selection by one of them."""
    i = ct.bid(0)
    a = ct.load(x, index=(i,), shape=(T,))
    b = ct.load(y, index=(i,), shape=(T,))
    ct.store(outputs[0], index=(i,), tile=ct.astype(ct.equal(a, b), ct.int8))
    ct.store(outputs[1], index=(i,), tile=ct.astype(ct.not_equal(a, b), ct.int8))
    ct.store(outputs[2], index=(i,), tile=ct.astype(ct.less(a, b), ct.int8))
    ct.store(outputs[3], index=(i,), tile=ct.astype(ct.less_equal(a, b), ct.int8))
    ct.store(outputs[4], index=(i,), tile=ct.astype(ct.greater(a, b), ct.int8))
    ct.store(outputs[5], index=(i,), tile=ct.astype(ct.greater_equal(a, b), ct.int8))
    ct.store(outputs[6], index=(i,), tile=ct.where(ct.less(a, b), a, b))


def drafts() -> Iterator[Draft]:
    """Every binary operation in every float format, variants of some, and comparisons of all formats."""
    for operation in ARITHMETIC:
        for fmt in FLOATS:
            name = f"binary/{operation}_{fmt}"
            yield _draft(name, fmt, getattr(ct, operation))
    for variant, function in VARIANTS.items():
        yield _draft(f"binary/{variant}_f32", "f32", function)
    for fmt in (*FLOATS, "i8", "i16", "i32", "i64"):
        for unsigned in (False, True) if fmt.startswith("i") else (False,):
            name = f"compare/{'u' if unsigned else ''}{fmt}"
            operands = [hard(fmt, name, role, unsigned=unsigned) for role in ("lhs", "rhs")]
            answers = [*[output("i8")] * 6, output(fmt, unsigned=unsigned)]
            yield Draft(name, compare, GRID, [*operands, answers, TILE])


def _draft(name: str, fmt: str, operation: Any) -> Draft:
    operands = [hard(fmt, name, "lhs"), hard(fmt, name, "rhs")]
    return Draft(name, binary(operation), GRID, [*operands, output(fmt), TILE])
