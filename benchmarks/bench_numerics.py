"""Ratios of this package's speed to numpy's and ml_dtypes', measured in one run.

    python benchmarks/bench_numerics.py [--lanes N] [--repeat R]

Each line gives nanoseconds a lane of the function, of the yardstick, and their ratio, beside its goal. The
best of R runs counts, on one core.
"""

from __future__ import annotations

import argparse
import timeit
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tileref import numerics as n
from tileref.numerics.formats import BF16, F8E4M3FN, F8E5M2, F16, F32, F64, Rounding


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanes", type=int, default=1 << 20)
    parser.add_argument("--repeat", type=int, default=31)
    arguments = parser.parse_args()
    np.seterr(all="ignore")  # numpy's own yardsticks overflow
    rng = np.random.default_rng(1)
    count, repeat = arguments.lanes, arguments.repeat

    def line(name: str, ours: Callable[[], Any], yardstick: Callable[[], Any], goal: float | None) -> None:
        # In turns, so that a busy machine slows both.
        times = [(timeit.timeit(ours, number=1), timeit.timeit(yardstick, number=1)) for _ in range(repeat)]
        a, b = (min(column) / count * 1e9 for column in zip(*times, strict=True))
        aim = f"  goal {goal:g}" if goal else ""
        print(f"{name:34s} {a:8.2f} ns {b:8.2f} ns {a / b:8.2f}x{aim}", flush=True)

    x, y, z = (rng.standard_normal(count).astype(np.float32) for _ in range(3))
    dx, dy, dz = x.astype(np.float64), y.astype(np.float64) + 1e-12, z.astype(np.float64) * 1.1
    hx, hy = x.astype(np.float16), y.astype(np.float16)
    bx, by = x.astype(ml_dtypes.bfloat16), y.astype(ml_dtypes.bfloat16)
    down = Rounding.NEGATIVE_INF

    line("f32 fma / a*b+c", lambda: n.fma(x, y, z, F32), lambda: x * y + z, 20)
    line("f32 fma negative_inf / a*b+c", lambda: n.fma(x, y, z, F32, down), lambda: x * y + z, None)
    line("f32 add negative_inf / add", lambda: n.addf(x, y, F32, down), lambda: x + y, 25)
    line("f32 add zero / add", lambda: n.addf(x, y, F32, Rounding.ZERO), lambda: x + y, 25)
    line("f32 add nearest_away / add", lambda: n.addf(x, y, F32, Rounding.NEAREST_AWAY), lambda: x + y, 25)
    for target, goal in ((BF16, 4), (F16, 4), (F8E4M3FN, 4), (F8E5M2, 4)):
        line(
            f"f32 to {target.name} / astype",
            lambda target=target: n.ftof(x, F32, target),
            lambda target=target: x.astype(target.dtype),
            goal,
        )
    for name, ours, ufunc in (
        ("add", n.addf, np.add),
        ("sub", n.subf, np.subtract),
        ("mul", n.mulf, np.multiply),
        ("div", n.divf, np.divide),
    ):
        line(f"f32 {name} / numpy", lambda o=ours: o(x, y, F32), lambda u=ufunc: u(x, y), 2)
        line(f"f64 {name} / numpy", lambda o=ours: o(dx, dy, F64), lambda u=ufunc: u(dx, dy), 2)
        line(f"f16 {name} / numpy", lambda o=ours: o(hx, hy, F16), lambda u=ufunc: u(hx, hy), None)
        line(f"bf16 {name} / ml_dtypes", lambda o=ours: o(bx, by, BF16), lambda u=ufunc: u(bx, by), None)
    line("f64 fma / a*b+c", lambda: n.fma(dx, dy, dz, F64), lambda: dx * dy + dz, None)
    line("f64 add negative_inf / add", lambda: n.addf(dx, dy, F64, down), lambda: dx + dy, None)
    line("f64 mul negative_inf / mul", lambda: n.mulf(dx, dy, F64, down), lambda: dx * dy, None)
    line("f64 div negative_inf / div", lambda: n.divf(dx, dy, F64, down), lambda: dx / dy, None)
    line("f32 mul negative_inf / mul", lambda: n.mulf(x, y, F32, down), lambda: x * y, None)
    line("f16 fma / a*b+c", lambda: n.fma(hx, hy, hx, F16), lambda: hx * hy + hx, None)
    line("bf16 fma / a*b+c", lambda: n.fma(bx, by, bx, BF16), lambda: bx * by + bx, None)
    line("f32 remf / fmod", lambda: n.remf(x, y, F32), lambda: np.fmod(x, y), None)
    line("f64 remf / fmod", lambda: n.remf(dx, dy, F64), lambda: np.fmod(dx, dy), None)
    line("f32 floor / numpy", lambda: n.floor(x, F32), lambda: np.floor(x), None)
    line("f32 maxf / numpy", lambda: n.maxf(x, y, F32), lambda: np.maximum(x, y), None)
    line("f64 to bf16 / astype", lambda: n.ftof(dx, F64, BF16), lambda: dx.astype(ml_dtypes.bfloat16), None)


if __name__ == "__main__":
    main()
