"""Integer operations of every width and shape against Python's integers, and where they have no answer."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.tileref.kernels import RELATIONS, SHAPES, apply
from tests.tileref.operations import operation

WIDTHS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}
DTYPES = {"i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}
EVERY_WIDTH = pytest.mark.parametrize("element", WIDTHS)
OVERFLOWS = ("none", "no_signed_wrap", "no_unsigned_wrap", "no_wrap")
LANES = 64


def patterns(element: str, seed: int) -> list[int]:
    """Bit patterns: the ends of both ranges and their neighbours, small numbers, and random ones."""
    width = WIDTHS[element]
    rng = np.random.default_rng(seed)
    edges = [
        0,
        1,
        2,
        3,
        -1,
        -2,
        (1 << width - 1) - 1,
        -(1 << width - 1),
        -(1 << width - 1) + 1,
        width - 1,
        width,
    ]
    random = [int.from_bytes(rng.bytes(8), "little") >> int(rng.integers(0, 64)) for _ in range(LANES)]
    found = [v & ((1 << width) - 1) for v in [*edges, *random]]
    return [found[int(k)] for k in rng.permutation(len(found))][:LANES]


def array(values: list[int], element: str) -> Any:
    """Patterns as an array of the format."""
    if element == "i1":
        return np.array(values, np.bool_)
    unsigned = np.dtype(f"u{WIDTHS[element] // 8}")
    return np.array(values, np.uint64).astype(unsigned).view(DTYPES[element])


def signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) & 1 else value


def check(
    text: str,
    function: Callable[..., int],
    elements: list[str],
    *,
    result: str | None = None,
    shape: tuple[int, ...] = (8,),
    undefined: Callable[..., bool] | None = None,
    seed: int = 0,
) -> None:
    """Every lane that has an answer is ``function`` of the operands' patterns, and no other lane has one."""
    columns = [patterns(e, seed + k) for k, e in enumerate(elements)]
    target = elements[0] if result is None else result
    answer = apply(
        text, [array(c, e) for c, e in zip(columns, elements, strict=True)], elements, target, shape
    )
    lanes = list(zip(*columns, strict=True))
    unknown = np.array([undefined is not None and undefined(*lane) for lane in lanes])
    np.testing.assert_array_equal(answer.undefined, unknown)
    mask = (1 << WIDTHS[target]) - 1
    expected = [0 if gone else function(*lane) & mask for lane, gone in zip(lanes, unknown, strict=True)]
    found = np.where(unknown, 0, answer.array.astype(np.int64)).tolist()
    assert [v & mask for v in found] == expected
    kinds = {u.kind for u in answer.result.undefined}
    assert kinds <= {"overflow", "shift-count", "integer-division"}
    assert len(kinds) == unknown.any(), "what reaches memory without a value is reported, once"


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(
    ("name", "function"),
    [
        pytest.param("addi", lambda a, b: a + b, marks=operation("addi", oracle="numpy")),
        pytest.param("subi", lambda a, b: a - b, marks=operation("subi", oracle="numpy")),
        pytest.param("muli", lambda a, b: a * b, marks=operation("muli", oracle="numpy")),
    ],
)
@EVERY_WIDTH
def test_of_patterns(name: str, function: Callable[..., int], element: str, shape: tuple[int, ...]) -> None:
    check(f"{name} %a, %b : {{R}}", function, [element] * 2, shape=shape)


def wraps(value: int, width: int, read: str) -> bool:
    """Whether a true value lies outside a range."""
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if read == "signed" else (0, (1 << width) - 1)
    return not low <= value <= high


def promised(overflow: str) -> list[str]:
    return {
        "no_signed_wrap": ["signed"],
        "no_unsigned_wrap": ["unsigned"],
        "no_wrap": ["signed", "unsigned"],
    }.get(overflow, [])


def read(value: int, width: int, how: str) -> int:
    return signed(value, width) if how == "signed" else value


@pytest.mark.parametrize("overflow", OVERFLOWS)
@pytest.mark.parametrize(
    ("name", "function"),
    [
        pytest.param("addi", lambda a, b: a + b, marks=operation("addi", oracle="numpy")),
        pytest.param("subi", lambda a, b: a - b, marks=operation("subi", oracle="numpy")),
        pytest.param("muli", lambda a, b: a * b, marks=operation("muli", oracle="numpy")),
    ],
)
@EVERY_WIDTH
def test_a_wrap_that_was_promised_not_to_happen(
    name: str, function: Callable[[int, int], int], element: str, overflow: str
) -> None:
    width = WIDTHS[element]

    def undefined(a: int, b: int) -> bool:
        return any(
            wraps(function(read(a, width, how), read(b, width, how)), width, how)
            for how in promised(overflow)
        )

    check(f"{name} %a, %b overflow<{overflow}> : {{R}}", function, [element] * 2, undefined=undefined, seed=5)


@operation("shli", oracle="numpy")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("overflow", OVERFLOWS)
@EVERY_WIDTH
def test_shli(element: str, overflow: str, shape: tuple[int, ...]) -> None:
    width = WIDTHS[element]

    def undefined(a: int, b: int) -> bool:
        if b >= width:
            return True
        return any(wraps(read(a, width, how) << b, width, how) for how in promised(overflow))

    check(
        f"shli %a, %b overflow<{overflow}> : {{R}}",
        lambda a, b: a << b,
        [element] * 2,
        shape=shape,
        undefined=undefined,
        seed=9,
    )


@operation("shri", oracle="numpy")
@pytest.mark.parametrize("how", ["signed", "unsigned"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@EVERY_WIDTH
def test_shri(element: str, how: str, shape: tuple[int, ...]) -> None:
    width = WIDTHS[element]
    check(
        f"shri %a, %b {how} : {{R}}",
        lambda a, b: read(a, width, how) >> b,
        [element] * 2,
        shape=shape,
        undefined=lambda a, b: b >= width,
        seed=12,
    )


@operation("negi", oracle="numpy")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("overflow", ["none", "no_signed_wrap", "no_wrap"])
@EVERY_WIDTH
def test_negi(element: str, overflow: str, shape: tuple[int, ...]) -> None:
    lowest = 1 << (WIDTHS[element] - 1)
    check(
        f"negi %a overflow<{overflow}> : {{R}}",
        lambda a: -a,
        [element],
        shape=shape,
        undefined=lambda a: overflow != "none" and a == lowest,
    )


@operation("absi", oracle="numpy")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@EVERY_WIDTH
def test_absi(element: str, shape: tuple[int, ...]) -> None:
    # The lowest value has no opposite, and stays.
    check("absi %a : {R}", lambda a: abs(signed(a, WIDTHS[element])), [element], shape=shape)


@pytest.mark.parametrize("how", ["signed", "unsigned"])
@pytest.mark.parametrize(
    ("name", "function"),
    [
        pytest.param("maxi", max, marks=operation("maxi", oracle="numpy")),
        pytest.param("mini", min, marks=operation("mini", oracle="numpy")),
    ],
)
@EVERY_WIDTH
def test_extremes(name: str, function: Callable[[int, int], int], element: str, how: str) -> None:
    width = WIDTHS[element]
    check(
        f"{name} %a, %b {how} : {{R}}",
        lambda a, b: function(read(a, width, how), read(b, width, how)),
        [element] * 2,
        seed=3,
    )


@operation("mulhii", oracle="numpy")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@EVERY_WIDTH
def test_mulhii(element: str, shape: tuple[int, ...]) -> None:
    check("mulhii %a, %b : {R}", lambda a, b: a * b >> WIDTHS[element], [element] * 2, shape=shape)


ROUNDED: dict[str, Callable[[int, int], int]] = {
    "zero": lambda a, b: (abs(a) // abs(b)) * (-1 if (a < 0) != (b < 0) else 1),
    "negative_inf": lambda a, b: a // b,
    "positive_inf": lambda a, b: -(-a // b),
}


@operation("divi", oracle="numpy")
@pytest.mark.parametrize("rounding", ROUNDED)
@pytest.mark.parametrize("how", ["signed", "unsigned"])
@EVERY_WIDTH
def test_divi(element: str, how: str, rounding: str) -> None:
    width = WIDTHS[element]

    def undefined(a: int, b: int) -> bool:
        return b == 0 or (
            how == "signed" and signed(a, width) == -(1 << width - 1) and signed(b, width) == -1
        )

    check(
        f"divi %a, %b {how} rounding<{rounding}> : {{R}}",
        lambda a, b: ROUNDED[rounding](read(a, width, how), read(b, width, how)),
        [element] * 2,
        undefined=undefined,
        seed=21,
    )


@operation("divi", "remi", oracle="written")
def test_quotients_and_remainders_of_negative_numbers() -> None:
    a, b = np.array([7, -7, 7, -7] * 2, np.int32), np.array([3, 3, -3, -3] * 2, np.int32)
    wanted = {"zero": [2, -2, -2, 2], "negative_inf": [2, -3, -3, 2], "positive_inf": [3, -2, -2, 3]}
    for rounding, expected in wanted.items():
        answer = apply(f"divi %a, %b signed rounding<{rounding}> : {{R}}", [a, b], ["i32"] * 2, shape=(4,))
        assert answer.array.tolist() == expected * 2
    answer = apply("remi %a, %b signed : {R}", [a, b], ["i32"] * 2, shape=(4,))
    assert answer.array.tolist() == [1, -1, 1, -1] * 2


@operation("remi", oracle="numpy")
@pytest.mark.parametrize("how", ["signed", "unsigned"])
@EVERY_WIDTH
def test_remi(element: str, how: str) -> None:
    width = WIDTHS[element]

    def function(a: int, b: int) -> int:
        return int(math.copysign(1, read(a, width, how))) * (
            abs(read(a, width, how)) % abs(read(b, width, how))
        )

    # The minimum by -1 leaves 0: only a division by zero has no answer.
    check(f"remi %a, %b {how} : {{R}}", function, [element] * 2, undefined=lambda a, b: b == 0, seed=33)


@operation("cmpi", oracle="numpy")
@pytest.mark.parametrize("predicate", RELATIONS)
@pytest.mark.parametrize("how", ["signed", "unsigned"])
@EVERY_WIDTH
def test_cmpi(element: str, how: str, predicate: str) -> None:
    width = WIDTHS[element]
    check(
        f"cmpi {predicate} %a, %b, {how} : {{A}} -> {{R}}",
        lambda a, b: int(RELATIONS[predicate](read(a, width, how), read(b, width, how))),
        [element] * 2,
        result="i1",
        shape=(2, 4),
        seed=2,
    )


@operation("exti", oracle="numpy")
@pytest.mark.parametrize("how", ["signed", "unsigned"])
@pytest.mark.parametrize(
    ("element", "wide"), [(a, b) for a in WIDTHS for b in WIDTHS if WIDTHS[a] < WIDTHS[b]]
)
def test_exti(element: str, wide: str, how: str) -> None:
    check(
        f"exti %a {how} : {{A}} -> {{R}}",
        lambda a: read(a, WIDTHS[element], how),
        [element],
        result=wide,
        seed=6,
    )


@operation("trunci", oracle="numpy")
@pytest.mark.parametrize("overflow", OVERFLOWS)
@pytest.mark.parametrize(
    ("element", "narrow"), [(a, b) for a in WIDTHS for b in WIDTHS if WIDTHS[a] > WIDTHS[b]]
)
def test_trunci(element: str, narrow: str, overflow: str) -> None:
    def undefined(a: int) -> bool:
        return any(wraps(read(a, WIDTHS[element], how), WIDTHS[narrow], how) for how in promised(overflow))

    check(
        f"trunci %a overflow<{overflow}> : {{A}} -> {{R}}",
        lambda a: a,
        [element],
        result=narrow,
        undefined=undefined,
        seed=7,
    )
