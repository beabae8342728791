"""Compare the mathematical functions with MPFR on as many cases as you like, bit for bit.

    python -m tests.campaigns.math [--cases N] [--functions exp,sin] [--formats f32,f64] [--seed S] [--jobs J]

N is counted for each function and format. One line for each: cases, differing lanes, lanes that the slow path
settled, seconds. The first differences are printed as hexadecimal floats, and any makes the exit status 1.

The oracle is MPFR in the IEEE contexts that gmpy2 makes itself; the mixture of operands is the tests' own:
random patterns and magnitudes, short fractions, powers of two and their neighbours, neighbours of one, of
multiples of a quarter turn and of the places where results leave the format.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import gmpy2
import numpy as np
from numpy.typing import NDArray

from tests.tileref.numerics import math_inputs
from tests.tileref.numerics.math_oracle import BINARY, MPFR_NAMES, UNARY
from tileref.numerics import math
from tileref.numerics.bits import bits_of, nan_mask
from tileref.numerics.formats import F16, F32, F64, FloatFormat
from tileref.numerics.math import evaluate, power

FORMATS = {"f16": F16, "f32": F32, "f64": F64}
BATCH = 100_000


@dataclass
class Outcome:
    """What a function's share of the campaign found."""

    name: str
    format: str
    cases: int = 0
    settled: int = 0
    differences: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def line(self) -> str:
        """The report line, with up to five differences below it."""
        head = (
            f"{self.name:6} {self.format:4} {self.cases:>11} cases {len(self.differences):>3} differ "
            f"{self.settled:>7} settled {self.seconds:8.1f} s"
        )
        return "\n    ".join([head, *self.differences[:5]])


def campaign(name: str, format_name: str, cases: int, seed: int) -> Outcome:
    """Run one function in one format."""
    fmt = FORMATS[format_name]
    outcome = Outcome(name, format_name)
    start = time.perf_counter()
    _count_settled(outcome)
    rng = np.random.default_rng(seed)
    while outcome.cases < cases:
        batch = int(rng.integers(1 << 62))
        if name in BINARY:
            _compare(outcome, math_inputs.binary(name, fmt, BATCH, batch), fmt)
        else:
            _compare(outcome, (math_inputs.unary(name, fmt, BATCH, batch),), fmt)
    outcome.seconds = time.perf_counter() - start
    return outcome


def _count_settled(outcome: Outcome) -> None:
    """Let the slow path report how many lanes reach it."""
    from tileref.numerics.math.settle import settle

    def counting(function: str, operands: tuple[NDArray[Any], ...], fmt: FloatFormat) -> NDArray[Any]:
        outcome.settled += operands[0].size
        return settle(function, operands, fmt)

    for module in (evaluate, power):
        module.settle = counting  # type: ignore[attr-defined]


def _compare(outcome: Outcome, operands: tuple[NDArray[Any], ...], fmt: FloatFormat) -> None:
    got = getattr(math, outcome.name)(*operands, fmt)
    call = getattr(gmpy2.ieee(fmt.width), MPFR_NAMES.get(outcome.name, outcome.name))
    with np.errstate(invalid="ignore"):
        columns = [operand.astype(np.float64) for operand in operands]
        lanes = zip(*(column.tolist() for column in columns), strict=True)
        want = np.array([float(call(*lane)) for lane in lanes]).astype(fmt.dtype)
    if outcome.name == "rsqrt":
        # 1 / sqrt(-0) is -infinity; MPFR chooses otherwise.
        want[(columns[0] == 0.0) & np.signbit(columns[0])] = -np.inf
    same = (bits_of(got, fmt) == bits_of(want, fmt)) | (nan_mask(got, fmt) & nan_mask(want, fmt))
    for lane in np.flatnonzero(~same):
        inputs = ", ".join(float(column[lane]).hex() for column in columns)
        outcome.differences.append(f"({inputs}): {float(got[lane]).hex()}, MPFR {float(want[lane]).hex()}")
    outcome.cases += got.size


def main() -> int:
    """Parse the arguments, run, report."""
    parser = argparse.ArgumentParser(description="Compare the mathematical functions with MPFR, bit for bit.")
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--functions", default=",".join(UNARY + BINARY))
    parser.add_argument("--formats", default="f32,f64")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    names, formats = arguments.functions.split(","), arguments.formats.split(",")
    differing = 0
    with ProcessPoolExecutor(arguments.jobs) as pool:
        runs = [
            pool.submit(campaign, name, fmt, arguments.cases, arguments.seed)
            for fmt in formats
            for name in names
        ]
        for run in runs:
            outcome = run.result()
            differing += len(outcome.differences)
            print(outcome.line(), flush=True)
    print(f"{differing} differences")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
