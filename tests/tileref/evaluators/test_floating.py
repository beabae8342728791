"""Float arithmetic of every format, rounding mode and shape against exact numbers rounded once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.tileref.kernels import RELATIONS, SHAPES, apply, bits, cycle
from tests.tileref.numerics import hard, oracle
from tests.tileref.operations import operation
from tileref.numerics.formats import FORMATS, FloatFormat

FLOATS = ("f16", "bf16", "f32", "f64")
ROUNDINGS = ("nearest_even", "zero", "negative_inf", "positive_inf")
EVERY_FLOAT = pytest.mark.parametrize("element", FLOATS)
EVERY_SHAPE = pytest.mark.parametrize("shape", SHAPES, ids=str)
LANES = 192
TINIEST_NORMAL = 0x0080_0000
"""Of f32."""


def fmt(element: str) -> FloatFormat:
    found = FORMATS[element]
    assert isinstance(found, FloatFormat)
    return found


def operands(element: str, count: int, seed: int = 1) -> list[NDArray[Any]]:
    """``LANES`` hard lanes of so many operands."""
    rng = np.random.default_rng(seed)
    if count == 1:
        return [hard.values(fmt(element), rng, LANES)]
    if count == 2:
        some = hard.pairs(fmt(element), rng, LANES)
    else:
        some = hard.triples(fmt(element), rng, LANES)
    chosen = rng.permutation(some[0].size)[:LANES]
    return [x[chosen] for x in some]


def flushed(patterns: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """f32 patterns with subnormals as the zeros of their signs."""
    sign = np.uint64(0x8000_0000)
    return np.where((patterns & ~sign) < TINIEST_NORMAL, patterns & sign, patterns)


def check(
    text: str,
    exact: Callable[..., oracle.Number],
    element: str,
    count: int,
    *,
    rounding: str = "nearest_even",
    flush: bool = False,
    shape: tuple[int, ...] = (8,),
) -> None:
    given = operands(element, count)
    found = apply(text, given, [element] * count, shape=shape)
    patterns = [flushed(bits(x)) if flush else bits(x) for x in given]
    numbers = [oracle.decode_all(p, element) for p in patterns]
    expected = oracle.encode_all((exact(*lane) for lane in zip(*numbers, strict=True)), element, rounding)
    expected = flushed(expected) if flush else expected
    assert not found.undefined.any()
    wrong = np.flatnonzero(bits(found.array) != expected)
    assert not wrong.size, [(int(w), *(float(x[w]) for x in given)) for w in wrong[:5]]


ARITHMETIC = [
    pytest.param("addf", 2, marks=operation("addf", oracle="exact")),
    pytest.param("subf", 2, marks=operation("subf", oracle="exact")),
    pytest.param("mulf", 2, marks=operation("mulf", oracle="exact")),
    pytest.param("divf", 2, marks=operation("divf", oracle="exact")),
    pytest.param("fma", 3, marks=operation("fma", oracle="exact")),
    pytest.param("sqrt", 1, marks=operation("sqrt", oracle="exact")),
]


def exact_of(name: str, rounding: str) -> Callable[..., oracle.Number]:
    """What an operation is on exact numbers; sums look at the direction for the sign of a zero."""
    return {
        "addf": lambda x, y: oracle.add(x, y, rounding),
        "subf": lambda x, y: oracle.add(x, oracle.negate(y), rounding),
        "mulf": oracle.multiply,
        "divf": oracle.divide,
        "fma": lambda x, y, z: oracle.fused(x, y, z, rounding),
        "sqrt": oracle.root,
    }[name]


@pytest.mark.parametrize(("name", "count"), ARITHMETIC)
@pytest.mark.parametrize("rounding", ROUNDINGS)
@EVERY_FLOAT
def test_rounded(name: str, count: int, rounding: str, element: str) -> None:
    names = ", ".join(["%a", "%b", "%c"][:count])
    text = f"{name} {names} rounding<{rounding}> : {{R}}"
    check(text, exact_of(name, rounding), element, count, rounding=rounding)


@pytest.mark.parametrize(("name", "count"), ARITHMETIC)
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_flushed(name: str, count: int, rounding: str) -> None:
    names = ", ".join(["%a", "%b", "%c"][:count])
    text = f"{name} {names} rounding<{rounding}> flush_to_zero : {{R}}"
    check(text, exact_of(name, rounding), "f32", count, rounding=rounding, flush=True)


@pytest.mark.parametrize(("name", "count"), ARITHMETIC)
@EVERY_SHAPE
def test_to_nearest_is_what_is_meant_where_nothing_is_said(
    name: str, count: int, shape: tuple[int, ...]
) -> None:
    names = ", ".join(["%a", "%b", "%c"][:count])
    check(f"{name} {names} : {{R}}", exact_of(name, "nearest_even"), "f32", count, shape=shape)


@pytest.mark.parametrize(
    ("text", "exact", "count"),
    [
        pytest.param(
            "divf %a, %b rounding<approx>", oracle.divide, 2, marks=operation("divf", oracle="exact")
        ),
        pytest.param("divf %a, %b rounding<full>", oracle.divide, 2, marks=operation("divf", oracle="exact")),
        pytest.param("sqrt %a rounding<approx>", oracle.root, 1, marks=operation("sqrt", oracle="exact")),
    ],
)
def test_an_approximation_is_exact_in_the_plain_reading(
    text: str, exact: Callable[..., oracle.Number], count: int
) -> None:
    check(f"{text} : {{R}}", exact, "f32", count)


@operation("remf", oracle="exact")
@EVERY_SHAPE
@EVERY_FLOAT
def test_remf(element: str, shape: tuple[int, ...]) -> None:
    check("remf %a, %b : {R}", oracle.remainder, element, 2, shape=shape)


@pytest.mark.parametrize(
    ("name", "up"),
    [
        pytest.param("ceil", True, marks=operation("ceil", oracle="exact")),
        pytest.param("floor", False, marks=operation("floor", oracle="exact")),
    ],
)
@EVERY_SHAPE
@EVERY_FLOAT
def test_integral(name: str, up: bool, element: str, shape: tuple[int, ...]) -> None:
    check(f"{name} %a : {{R}}", lambda x: oracle.integral(x, up), element, 1, shape=shape)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        pytest.param("absf", lambda p, sign: p & ~sign, marks=operation("absf", oracle="numpy")),
        pytest.param("negf", lambda p, sign: p ^ sign, marks=operation("negf", oracle="numpy")),
    ],
)
@EVERY_SHAPE
@EVERY_FLOAT
def test_signs(name: str, change: Callable[[Any, Any], Any], element: str, shape: tuple[int, ...]) -> None:
    given = operands(element, 1)
    given[0][-1] = np.nan
    found = apply(f"{name} %a : {{R}}", given, [element], shape=shape)
    sign = np.uint64(1) << np.uint64(fmt(element).width - 1)
    np.testing.assert_array_equal(bits(found.array), change(bits(given[0]), sign))


def order(number: oracle.Number) -> tuple[int, int]:
    """A key that sorts numbers, -0 just below +0."""
    sign, m, e, _ = number
    if m == oracle.INF:
        m, e = 1, 2000
    scaled = m << (e + 1100)
    return (-scaled if sign else scaled), -sign


@pytest.mark.parametrize("propagate", [False, True])
@pytest.mark.parametrize(
    ("name", "choose"),
    [
        pytest.param("maxf", max, marks=operation("maxf", oracle="exact")),
        pytest.param("minf", min, marks=operation("minf", oracle="exact")),
    ],
)
@pytest.mark.parametrize(("element", "flush"), [*((f, False) for f in FLOATS), ("f32", True)])
def test_extremes(name: str, choose: Callable[..., Any], element: str, propagate: bool, flush: bool) -> None:
    def exact(x: oracle.Number, y: oracle.Number) -> oracle.Number:
        there = [n for n in (x, y) if n[1] != oracle.NAN]
        if not there or (propagate and len(there) < 2):
            return oracle.NOT_A_NUMBER
        return choose(there, key=order)  # type: ignore[no-any-return]

    flags = " propagate_nan" * propagate + " flush_to_zero" * flush
    for shape in SHAPES:
        check(f"{name} %a, %b{flags} : {{R}}", exact, element, 2, flush=flush, shape=shape)


@operation("cmpf", oracle="exact")
@pytest.mark.parametrize("predicate", RELATIONS)
@pytest.mark.parametrize("ordering", ["ordered", "unordered"])
@EVERY_FLOAT
def test_cmpf(element: str, ordering: str, predicate: str) -> None:
    given = operands(element, 2, seed=8)
    # Equal numbers, zeros of both signs, and a NaN on each side and on both.
    for x, some in zip(
        given, ([1.0, 0.0, -0.0, np.nan, 1.0, np.nan], [1.0, -0.0, 0.0, 1.0, np.nan, np.nan]), strict=True
    ):
        x[:6] = np.array(some).astype(x.dtype)
    found = apply(f"cmpf {predicate} {ordering} %a, %b : {{A}} -> {{R}}", given, [element] * 2, "i1")
    numbers = [oracle.decode_all(bits(x), element) for x in given]
    expected = []
    for x, y in zip(*numbers, strict=True):
        if oracle.NAN in (x[1], y[1]):
            expected.append(ordering == "unordered")
        else:
            # The value alone: zeros of both signs are equal.
            expected.append(RELATIONS[predicate](order(x)[0], order(y)[0]))
    assert found.array.tolist() == expected


@operation("fma", "mulf", "addf", oracle="written")
def test_one_rounding_and_not_two() -> None:
    a, b, c = (cycle(np.array([x], np.float32), 16) for x in (4097.0, 4097.0, 2.0**-30))
    assert set(apply("fma %a, %b, %c : {R}", [a, b, c], ["f32"] * 3).array.tolist()) == {16785410.0}
    product = apply("mulf %a, %b : {R}", [a, b], ["f32"] * 2).array
    assert set(apply("addf %a, %b : {R}", [product, c], ["f32"] * 2).array.tolist()) == {16785408.0}
