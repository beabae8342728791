"""Time the correctly rounded functions against numpy's own, in one run.

    python benchmarks/bench_math.py [--lanes N] [--repeat R]

One line a function and format: nanoseconds a lane of both, and their ratio. The targets are a ratio of 10
in f32 and 40 in f64.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from tileref.numerics import math
from tileref.numerics.formats import F32, F64, FloatFormat

TARGETS = {F32: 10.0, F64: 40.0}

NUMPY: dict[str, Callable[..., object]] = {
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "atan2": np.arctan2,
    "pow": np.power,
}
POSITIVE = ("log", "log2", "rsqrt", "pow")
BINARY = ("atan2", "pow")


def fastest(calls: list[Callable[[], object]], repeats: int) -> list[float]:
    """The least processor seconds of each call, the calls taking turns: a busy machine slows all alike."""
    best = [float("inf")] * len(calls)
    for _ in range(repeats):
        for i, call in enumerate(calls):
            start = time.process_time()
            call()
            best[i] = min(best[i], time.process_time() - start)
    return best


def measure(name: str, fmt: FloatFormat, lanes: int, repeats: int) -> tuple[float, float]:
    """Nanoseconds a lane, ours and numpy's."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-10, 10, lanes).astype(fmt.dtype)
    y = rng.uniform(-10, 10, lanes).astype(fmt.dtype)
    operands = (np.abs(x) if name in POSITIVE else x, y)[: 2 if name in BINARY else 1]
    with np.errstate(all="ignore"):
        ours, theirs = fastest(
            [lambda: getattr(math, name)(*operands, fmt), lambda: NUMPY[name](*operands)], repeats
        )
    return ours / lanes * 1e9, theirs / lanes * 1e9


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Time the mathematical functions against numpy's own.")
    parser.add_argument("--lanes", type=int, default=1 << 20)
    parser.add_argument("--repeat", type=int, default=9)
    arguments = parser.parse_args()
    print(f"{'function':9} {'format':6} {'ours ns':>9} {'numpy ns':>9} {'ratio':>7} {'target':>7}")
    for fmt, target in TARGETS.items():
        for name in NUMPY:
            ours, theirs = measure(name, fmt, arguments.lanes, arguments.repeat)
            print(f"{name:9} {fmt.name:6} {ours:9.2f} {theirs:9.2f} {ours / theirs:7.1f} {target:7.0f}")


if __name__ == "__main__":
    main()
