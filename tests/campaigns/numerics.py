"""Compare float arithmetic and conversions with MPFR on as many cases as you like, bit for bit.

    python -m tests.campaigns.numerics [--cases N] [--operations addf,fma] [--formats f32,tf32]
                                       [--modes zero] [--seed S] [--jobs J]

N is counted for each operation, format and direction. One line for each operation and format: cases,
differing lanes by direction, seconds. The first differences are printed as patterns, and any makes the exit
status 1.

The operands are the tests' own (`tests.tileref.numerics.hard`): specials, powers of two and neighbours,
halfway points and neighbours, subnormal borders, cancellation, operands of very different size. The oracle
is MPFR with the format's precision and exponents; ties away from zero, which it has not, are the truncation
to one more bit rounded away from zero. Formats that are not IEEE 754's (as targets of ftof) are left to the
exact integers of `tests.tileref.numerics.oracle`, on a tenth of the cases.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import gmpy2
import numpy as np
from numpy.typing import NDArray

from tests.tileref.numerics import hard, oracle
from tileref import numerics as n
from tileref.numerics.formats import F32, F64, FLOAT_FORMATS, FORMATS, FloatFormat, IntegerFormat, Rounding

Array = NDArray[Any]
BATCH = 50_000
ARITY = {"addf": 2, "subf": 2, "mulf": 2, "divf": 2, "remf": 2, "fma": 3, "sqrt": 1}
ARITHMETIC = ("f64", "f32", "tf32", "f16", "bf16")
SHOWN = 3


@dataclass
class Tally:
    """What one operation in one format came to."""

    name: str
    cases: dict[str, int] = field(default_factory=dict)
    differing: dict[str, int] = field(default_factory=dict)
    examples: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def count(
        self, mode: str, found: Array, expected: Array, fmt: FloatFormat, operands: list[Array]
    ) -> None:
        """Compare one batch."""
        bits = found.view(fmt.bits_dtype).astype(np.uint64)
        wrong = np.nonzero(bits != expected)[0]
        self.cases[mode] = self.cases.get(mode, 0) + bits.size
        self.differing[mode] = self.differing.get(mode, 0) + wrong.size
        for lane in wrong[: SHOWN - len(self.examples)]:
            given = ", ".join(hex(int(x.view(f"u{x.itemsize}")[lane])) for x in operands)
            self.examples.append(f"{mode}({given}) = {int(bits[lane]):#x}, MPFR {int(expected[lane]):#x}")


def as_f64(x: Array, fmt: FloatFormat) -> Array:
    """The lanes as float64, by numpy's and ml_dtypes' own exact widening."""
    with np.errstate(invalid="ignore"):
        return x.astype(np.float64)


def patterns(values: Array, fmt: FloatFormat) -> Array:
    """The patterns of float64s that are values of an IEEE format; NaN is the canonical one."""
    with np.errstate(invalid="ignore"):
        bits = values.astype(fmt.dtype).view(fmt.bits_dtype).astype(np.uint64)
    bits[np.isnan(values)] = fmt.canonical_nan
    return bits


def context(fmt: FloatFormat, rounding: Any, extra: int = 0) -> Any:
    """A gmpy2 context of the format's precision, or of `extra` bits more, and its exponents."""
    return gmpy2.context(
        precision=fmt.precision + extra,
        emax=fmt.emax + 1,
        emin=fmt.emin - fmt.precision + 2 - extra,
        subnormalize=True,
        round=rounding,
    )


def mpfr(operation: str, fmt: FloatFormat, mode: Rounding, exact: list[list[Any]]) -> Array:
    """The float64 values of the operation's results in the format."""
    if mode is Rounding.NEAREST_AWAY:
        truncated = _method(context(fmt, gmpy2.RoundToZero, extra=1), operation)
        away = context(fmt, gmpy2.RoundAwayZero)
        one = gmpy2.mpfr(1)
        return np.array([float(away.mul(v, one)) for v in map(truncated, *exact)])
    kind = {
        Rounding.NEAREST_EVEN: gmpy2.RoundToNearest,
        Rounding.ZERO: gmpy2.RoundToZero,
        Rounding.NEGATIVE_INF: gmpy2.RoundDown,
        Rounding.POSITIVE_INF: gmpy2.RoundUp,
    }[mode]
    return np.array([float(v) for v in map(_method(context(fmt, kind), operation), *exact)])


def _method(c: Any, operation: str) -> Callable[..., Any]:
    if operation == "ftof":
        one = gmpy2.mpfr(1)
        return lambda x: c.mul(x, one)
    names = {"addf": "add", "subf": "sub", "mulf": "mul", "divf": "div", "remf": "fmod"}
    method: Callable[..., Any] = getattr(c, names.get(operation, operation))
    return method


def operands_of(operation: str, fmt: FloatFormat, rng: np.random.Generator, count: int) -> list[Array]:
    """One batch of the hard inputs that suit the operation."""
    if operation == "fma":
        found = list(hard.triples(fmt, rng, count))
    elif operation == "sqrt":
        roots = hard.squares(fmt, rng, count)
        found = [np.where(rng.random(count) < 0.9, n.absf(roots, fmt), hard.values(fmt, rng, count))]
    else:
        found = list(hard.pairs(fmt, rng, count))
    # The pairs of specials come first; now and then is enough for them.
    first = 0 if rng.random() < 0.1 else found[0].size - count
    return [x[first : first + count] for x in found]


def arithmetic(operation: str, name: str, modes: list[Rounding], cases: int, seed: int) -> Tally:
    """The campaign of one operation in one format."""
    fmt = FORMATS[name]
    assert isinstance(fmt, FloatFormat)
    tally = Tally(f"{operation} {name}")
    start = time.perf_counter()
    rng = np.random.default_rng([seed, *operation.encode(), *name.encode()])
    done = 0
    while done < cases:
        operands = operands_of(operation, fmt, rng, min(BATCH, cases - done))
        exact = [list(map(gmpy2.mpfr, as_f64(x, fmt).tolist())) for x in operands]
        for mode in modes:
            if operation == "remf":
                found = n.remf(operands[0], operands[1], fmt)
            else:
                found = getattr(n, operation)(*operands, fmt, mode)
            expected = patterns(mpfr(operation, fmt, mode, exact), fmt)
            tally.count(mode.value, found, expected, fmt, operands)
        done += operands[0].size
    tally.seconds = time.perf_counter() - start
    return tally


def conversion(source_name: str, name: str, modes: list[Rounding], cases: int, seed: int) -> Tally:
    """The campaign of ftof from f64 or f32 to one format."""
    source, target = FORMATS[source_name], FORMATS[name]
    assert isinstance(source, FloatFormat)
    assert isinstance(target, FloatFormat)
    tally = Tally(f"ftof {source_name} {name}")
    start = time.perf_counter()
    rng = np.random.default_rng([seed, *source_name.encode(), *name.encode()])
    by_mpfr = target.has_infinity
    wanted = cases if by_mpfr else cases // 10
    done = 0
    while done < wanted:
        x = hard.borders(source, target, rng, min(BATCH, wanted - done) // 7 + 1)
        numbers = [] if by_mpfr else oracle.decode_all(x.view(source.bits_dtype), source.name)
        exact = [list(map(gmpy2.mpfr, as_f64(x, source).tolist()))] if by_mpfr else []
        for mode in modes:
            if by_mpfr:
                expected = patterns(mpfr("ftof", target, mode, exact), target)
            else:
                expected = oracle.encode_all(numbers, name, mode.value)
            tally.count(mode.value, n.ftof(x, source, target, mode), expected, target, [x])
        done += x.size
    tally.seconds = time.perf_counter() - start
    return tally


def integers_of(fmt: IntegerFormat, rng: np.random.Generator, count: int) -> Array:
    """Integers of every length, half of them with zeros below a few leading bits, and their neighbours."""
    whole = rng.integers(fmt.minimum, fmt.maximum, count, fmt.dtype, endpoint=True)
    whole >>= rng.integers(0, fmt.width, count).astype(fmt.dtype)
    cut = rng.integers(0, fmt.width, count).astype(fmt.dtype)
    cleared = (whole >> cut) << cut
    near: Array = np.where(rng.random(count) < 0.5, cleared, whole) + rng.integers(-1, 2, count).astype(
        fmt.dtype
    )
    return near


def from_integers(source_name: str, name: str, modes: list[Rounding], cases: int, seed: int) -> Tally:
    """The campaign of itof, signed and unsigned, from one integer format to one IEEE format."""
    source, target = FORMATS[source_name], FORMATS[name]
    assert isinstance(source, IntegerFormat)
    assert isinstance(target, FloatFormat)
    tally = Tally(f"itof {source_name} {name}")
    start = time.perf_counter()
    rng = np.random.default_rng([seed, *source_name.encode(), *name.encode()])
    for done in range(0, cases, BATCH):
        x = integers_of(source, rng, min(BATCH, cases - done))
        for signed in (True, False):
            read = x if signed else x.view(source.unsigned_dtype)
            exact = [[gmpy2.mpfr(v, 64) for v in read.tolist()]]
            for mode in modes:
                expected = patterns(mpfr("ftof", target, mode, exact), target)
                tally.count(mode.value, n.itof(x, source, target, mode, signed), expected, target, [x])
    tally.seconds = time.perf_counter() - start
    return tally


def powers(name: str, cases: int, seed: int) -> Tally:
    """The campaign of fpowi in one format against its sequence of products in MPFR."""
    fmt = FORMATS[name]
    assert isinstance(fmt, FloatFormat)
    tally = Tally(f"fpowi {name}")
    start = time.perf_counter()
    rng = np.random.default_rng([seed, *name.encode()])
    steps = context(fmt if fmt in (F64, F32) else F32, gmpy2.RoundToNearest)
    last, one = context(fmt, gmpy2.RoundToNearest), gmpy2.mpfr(1)

    def power(x: float, exponent: int) -> float:
        result, square, left = one, gmpy2.mpfr(x), abs(exponent)
        while left:
            if left & 1:
                result = steps.mul(result, square)
            square = steps.mul(square, square)
            left >>= 1
        return float(last.mul(steps.div(one, result) if exponent < 0 else result, one))

    for done in range(0, cases, BATCH):
        count = min(BATCH, cases - done)
        a = hard.values(fmt, rng, count)
        exponent = rng.integers(-(2**31), 2**31, count) >> rng.integers(0, 32, count)
        given = zip(as_f64(a, fmt).tolist(), exponent.tolist(), strict=True)
        expected = patterns(np.array([power(x, e) for x, e in given]), fmt)
        n_array = exponent.astype(np.int32)
        tally.count("nearest_even", n.fpowi(a, n_array, fmt), expected, fmt, [a, n_array])
    tally.seconds = time.perf_counter() - start
    return tally


def main() -> int:
    """Run what the command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--operations", default=",".join([*ARITY, "ftof", "itof", "fpowi"]))
    parser.add_argument("--formats", default=",".join(f.name for f in FLOAT_FORMATS))
    parser.add_argument("--modes", default=",".join(r.value for r in Rounding))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    names = arguments.formats.split(",")
    modes = [Rounding(m) for m in arguments.modes.split(",")]
    work: list[tuple[Callable[..., Tally], tuple[Any, ...]]] = []
    for operation in arguments.operations.split(","):
        if operation == "ftof":
            for source in (F64, F32):
                targets = [t for t in names if t not in (source.name, "f64")]
                rest = (modes, arguments.cases, arguments.seed)
                work += [(conversion, (source.name, target, *rest)) for target in targets]
        elif operation == "itof":
            for whole in ("i32", "i64"):
                rest = (modes, arguments.cases, arguments.seed)
                work += [(from_integers, (whole, name, *rest)) for name in names if name in ARITHMETIC]
        elif operation == "fpowi":
            work += [
                (powers, (name, arguments.cases, arguments.seed))
                for name in names
                if name in ARITHMETIC and name != "tf32"
            ]
        elif operation in ARITY:
            # The remainder is exact, whatever the direction.
            used = [Rounding.NEAREST_EVEN] if operation == "remf" else modes
            for name in names:
                if name in ARITHMETIC:
                    work.append((arithmetic, (operation, name, used, arguments.cases, arguments.seed)))
        else:
            parser.error(f"unknown operation {operation}")
    failed = False
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for future in [pool.submit(function, *given) for function, given in work]:
            tally = future.result()
            wrong = {mode: count for mode, count in tally.differing.items() if count}
            failed |= bool(wrong)
            cases = sum(tally.cases.values())
            verdict = wrong or "no difference"
            print(f"{tally.name:20s} {cases:>12,d} cases  {verdict}  {tally.seconds:.1f} s", flush=True)
            for example in tally.examples:
                print(f"    {example}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
