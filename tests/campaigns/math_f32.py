"""Check functions of one operand on every f32 that matters, four thousand million at most.

    python -m tests.campaigns.math_f32 [--functions exp,sin] [--jobs J]

MPFR would take hours for each. numpy's float64 function, rounded to f32, is right except where the true value
lies so near a halfway point that float64 cannot tell, and there the two disagree or the lane is settled by
MPFR in both; so only lanes where the results differ go to MPFR, which decides. Any lane where MPFR does not
side with us is printed and makes the exit status 1.

Left out are arguments whose results are obvious: too small to matter or far beyond over- and underflow, and
the negative half of odd and even functions.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

from tests.tileref.numerics.math_oracle import correctly_rounded
from tileref.numerics import math
from tileref.numerics.formats import F32

BATCH = 1 << 20

# numpy's function, the magnitudes to go through, and whether negative numbers have to be seen too.
PLANS: dict[str, tuple[Callable[[Any], Any], float, float, bool]] = {
    "exp": (np.exp, 2.0**-26, 106.0, True),
    "exp2": (np.exp2, 2.0**-26, 152.0, True),
    "log": (np.log, 2.0**-149, np.inf, False),
    "log2": (np.log2, 2.0**-149, np.inf, False),
    "rsqrt": (lambda x: 1.0 / np.sqrt(x), 2.0**-149, np.inf, False),
    "sin": (np.sin, 2.0**-13, np.inf, False),
    "cos": (np.cos, 2.0**-13, np.inf, False),
    "tan": (np.tan, 2.0**-13, np.inf, False),
    "sinh": (np.sinh, 2.0**-13, 90.0, False),
    "cosh": (np.cosh, 2.0**-13, 90.0, False),
    "tanh": (np.tanh, 2.0**-13, 10.0, False),
}


def check(name: str) -> tuple[int, int, list[str], float]:
    """Lanes seen, lanes that MPFR was asked about, descriptions of the wrong ones, seconds."""
    function, low, high, both_signs = PLANS[name]
    first, last = (int(np.float32(edge).view(np.uint32)) for edge in (low, high))
    seen, asked, wrong, start = 0, 0, [], time.perf_counter()
    for sign in (0, 1 << 31) if both_signs else (0,):
        for begin in range(first, last, BATCH):
            x = np.arange(begin | sign, min(begin + BATCH, last) | sign, dtype=np.uint32).view(np.float32)
            got = getattr(math, name)(x, F32)
            with np.errstate(all="ignore"):
                other = function(x.astype(np.float64)).astype(np.float32)
            seen += x.size
            for lane in np.flatnonzero(got.view(np.uint32) != other.view(np.uint32)):
                asked += 1
                true = correctly_rounded(name, (float(x[lane]),), F32)
                if got[lane].view(np.uint32) != np.float32(true).view(np.uint32):
                    wrong.append(f"{float(x[lane]).hex()}: {float(got[lane]).hex()}, MPFR {true.hex()}")
    return seen, asked, wrong, time.perf_counter() - start


def main() -> int:
    """Parse the arguments, run, report."""
    parser = argparse.ArgumentParser(description="Check functions of one operand on every f32 that matters.")
    parser.add_argument("--functions", default=",".join(PLANS))
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    names = arguments.functions.split(",")
    failed = False
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for name, (seen, asked, wrong, seconds) in zip(names, pool.map(check, names), strict=True):
            print(
                f"{name:6} {seen:>11} values {asked:>6} asked of MPFR {len(wrong):>4} wrong {seconds:8.1f} s"
            )
            print("".join(f"    {line}\n" for line in wrong[:10]), end="", flush=True)
            failed |= bool(wrong)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
