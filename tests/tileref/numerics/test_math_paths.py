"""The two paths of the mathematical functions agree, and neither the machine nor the chunk shows."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import os
import subprocess
import sys
import threading
from typing import Any

import gmpy2
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.tileref.numerics import math_inputs
from tests.tileref.numerics.math_oracle import BINARY, UNARY
from tests.tileref.numerics.test_math_rounding import FUNCTIONS
from tileref.numerics import math
from tileref.numerics.bits import bits_of
from tileref.numerics.formats import BF16, F16, F32, F64, FloatFormat
from tileref.numerics.math import evaluate as evaluation
from tileref.numerics.math import power
from tileref.numerics.math import settle as settling
from tileref.numerics.nan import canonical

NAMES = UNARY + BINARY


def operands_of(name: str, fmt: FloatFormat, count: int, seed: int) -> tuple[NDArray[Any], ...]:
    if name in BINARY:
        return math_inputs.binary(name, fmt, count, seed)
    return (math_inputs.unary(name, fmt, count, seed),)


def ordinary(name: str, fmt: FloatFormat, count: int) -> tuple[NDArray[Any], ...]:
    """Operands of everyday size: the claim about the slow path's rarity is about these."""
    rng = np.random.default_rng(9)
    x = rng.uniform(-20, 20, count).astype(fmt.dtype)
    y = rng.uniform(-20, 20, count).astype(fmt.dtype)
    if name in ("log", "log2", "rsqrt", "pow"):
        x = np.abs(x)
    return (x, y) if name in BINARY else (x,)


@pytest.mark.parametrize("fmt", [F32, F64], ids=lambda fmt: fmt.name)
@pytest.mark.parametrize("name", NAMES)
def test_the_slow_path_agrees(name: str, fmt: FloatFormat) -> None:
    """With a bound so large that thousands of lanes are undecided, every bit stays."""
    function = FUNCTIONS[name]
    operands = operands_of(name, fmt, 6_000, seed=4)
    doubtful = dataclasses.replace(function, narrow_error=2.0**-25, wide_error=2.0**-54)
    slow = evaluation.evaluate(doubtful, operands, fmt, canonical)
    fast = evaluation.evaluate(function, operands, fmt, canonical)
    np.testing.assert_array_equal(bits_of(slow, fmt), bits_of(fast, fmt))


@pytest.mark.parametrize("fmt", [F32, F64], ids=lambda fmt: fmt.name)
@pytest.mark.parametrize("name", NAMES)
def test_the_slow_path_is_rare(name: str, fmt: FloatFormat, monkeypatch: pytest.MonkeyPatch) -> None:
    settled = 0

    def counting(function: str, hard: tuple[Any, ...], target: FloatFormat) -> Any:
        nonlocal settled
        settled += hard[0].size
        return original(function, hard, target)

    original = settling.settle
    monkeypatch.setattr(evaluation, "settle", counting)
    monkeypatch.setattr(power, "settle", counting)
    getattr(math, name)(*ordinary(name, fmt, 1 << 18), fmt)
    assert settled <= 1


@pytest.mark.parametrize("fmt", [F32, F64], ids=lambda fmt: fmt.name)
@pytest.mark.parametrize("name", NAMES)
def test_the_stated_errors_have_a_margin(name: str, fmt: FloatFormat) -> None:
    """The approximations stay within a quarter of the bounds that the rounding test is told."""
    function = FUNCTIONS[name]
    with np.errstate(all="ignore"):
        operands = tuple(lane.astype(np.float64) for lane in operands_of(name, fmt, 3_000, seed=5))
        special = function.known(*operands)
        if special is not None:
            operands = tuple(lane[~special[0]] for lane in operands)
        if name == "tanh":  # from 20 on it is 1 in every format, and no more is asked for
            operands = (operands[0][np.abs(operands[0]) <= 20.0],)
        exponent: Any = None
        if fmt is F64:
            (high, low), exponent = function.wide(*operands)
            bound = function.wide_error
        else:
            high, low, bound = function.narrow(*operands), 0.0, function.narrow_error
    count = high.size
    rows = (
        *operands,
        high,
        np.broadcast_to(low, count),
        np.broadcast_to(0 if exponent is None else exponent, count),
    )
    worst = 0.0
    with gmpy2.context(precision=220, emax=1 << 20, emin=-(1 << 20)) as exact:
        for *lane, above, below, power_of_two in zip(*(row.tolist() for row in rows), strict=True):
            true = getattr(exact, function.mpfr)(*lane)
            # Where the result is zero or infinite after rounding, the approximation need only be so too.
            low_end, high_end = (2.0**-1070, 2.0**1023) if fmt is F64 else (2.0**-150, 2.0**128)
            if low_end < abs(true) < high_end:
                approximate = (gmpy2.mpfr(above) + gmpy2.mpfr(below)) * gmpy2.exp2(power_of_two)
                worst = max(worst, float(abs((approximate - true) / true)))
    assert worst <= bound / 4


def digest(fmt: FloatFormat) -> str:
    found = hashlib.sha256()
    for name in NAMES:
        found.update(bits_of(getattr(math, name)(*operands_of(name, fmt, 2_000, seed=6), fmt), fmt).tobytes())
    return found.hexdigest()


def test_chunks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [digest(F32), digest(F64)]
    monkeypatch.setattr(evaluation, "CHUNK", 46)
    assert [digest(F32), digest(F64)] == before


def test_threads_and_their_gmpy2_contexts_do_not_show() -> None:
    want = digest(F32)
    found: list[str] = []

    def run() -> None:
        with gmpy2.context(precision=3, round=gmpy2.RoundUp):
            found.append(digest(F32))

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [want] * 3


def test_constants_do_not_depend_on_the_callers_gmpy2_context() -> None:
    """Imported and computed under an odd context, in a process of its own."""
    assert _elsewhere(
        "import gmpy2; gmpy2.set_context(gmpy2.context(precision=3, round=gmpy2.RoundUp))"
    ) == digest(F64)


def test_the_processors_features_do_not_show() -> None:
    umath = importlib.import_module("numpy._core._multiarray_umath")
    usable = [feature for feature in umath.__cpu_dispatch__ if umath.__cpu_features__.get(feature)]
    if not usable:
        pytest.skip("numpy uses no feature of this processor that can be switched off")
    assert _elsewhere("", NPY_DISABLE_CPU_FEATURES=" ".join(usable)) == digest(F64)


def _elsewhere(preparation: str, **environment: str) -> str:
    program = f"""
{preparation}
from tests.tileref.numerics.test_math_paths import digest
from tileref.numerics.formats import F64
print(digest(F64))
"""
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
        cwd=os.getcwd(),
    )
    return run.stdout.strip()


@pytest.mark.parametrize("fmt", [F16, BF16], ids=lambda fmt: fmt.name)
def test_a_table_of_all_values_is_quick(fmt: FloatFormat) -> None:
    """No more than a handful of the 65,536 lanes of a table may need the slow path."""
    patterns = np.arange(1 << 16, dtype=np.uint16).view(fmt.dtype)
    with np.errstate(all="ignore"):
        x = patterns.astype(np.float64)
        for name in UNARY:
            function = FUNCTIONS[name]
            _, undecided = evaluation._tested(function, (x,), function.known(x), fmt)
            assert undecided.sum() <= 40, name
