"""Integer operations against Python's unbounded integers."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tileref.numerics import integer
from tileref.numerics.formats import I1, I4, I8, I16, I32, I64, INTEGER_FORMATS, IntegerFormat

WIDE = (I16, I32, I64)
ROUNDINGS = integer.DIVISION_ROUNDINGS
SIGNEDNESS = (True, False)

pytestmark = pytest.mark.filterwarnings("error")


# The oracle: one lane, Python integers. Patterns are 0 .. 2^width - 1; None stands for a marked lane.


def read(pattern: int, width: int, signed: bool) -> int:
    return pattern - (1 << width) if signed and pattern >> (width - 1) else pattern


def kept(exact_signed: int, exact_unsigned: int, width: int, overflow: str) -> int | None:
    """The wrapped pattern, or None when the exact result leaves the range that ``overflow`` promises."""
    low, high = -(1 << (width - 1)), 1 << (width - 1)
    if overflow in ("no_signed_wrap", "no_wrap") and not low <= exact_signed < high:
        return None
    if overflow in ("no_unsigned_wrap", "no_wrap") and not 0 <= exact_unsigned < 2 * high:
        return None
    return exact_signed % (1 << width)


def both_readings(operation: Callable[[int, int], int]) -> Callable[..., int | None]:
    def lane(a: int, b: int, width: int, overflow: str) -> int | None:
        as_signed = operation(read(a, width, True), read(b, width, True))
        return kept(as_signed, operation(a, b), width, overflow)

    return lane


def shli_lane(a: int, b: int, width: int, overflow: str) -> int | None:
    if b >= width:
        return None
    return kept(read(a, width, True) << b, a << b, width, overflow)


def shri_lane(a: int, b: int, width: int, signed: bool) -> int | None:
    return None if b >= width else (read(a, width, signed) >> b) % (1 << width)


def divi_lane(a: int, b: int, width: int, rounding: str, signed: bool) -> int | None:
    x, y = read(a, width, signed), read(b, width, signed)
    if y == 0 or (signed and x == -(1 << (width - 1)) and y == -1):
        return None
    floor, ceiling = x // y, -(-x // y)
    truncated = floor if floor >= 0 else ceiling
    return {"zero": truncated, "negative_inf": floor, "positive_inf": ceiling}[rounding] % (1 << width)


def remi_lane(a: int, b: int, width: int, signed: bool) -> int | None:
    x, y = read(a, width, signed), read(b, width, signed)
    if y == 0:
        return None
    magnitude = abs(x) % abs(y)
    return (magnitude if x >= 0 else -magnitude) % (1 << width)


def chosen_lane(choose: Callable[..., int]) -> Callable[..., int]:
    def lane(a: int, b: int, width: int, signed: bool) -> int:
        return choose(a, b, key=lambda pattern: read(pattern, width, signed))

    return lane


COMPARE: dict[str, Callable[[int, int], bool]] = {
    "equal": lambda x, y: x == y,
    "not_equal": lambda x, y: x != y,
    "less_than": lambda x, y: x < y,
    "less_than_or_equal": lambda x, y: x <= y,
    "greater_than": lambda x, y: x > y,
    "greater_than_or_equal": lambda x, y: x >= y,
}

# Every binary operation with every attribute: (name, our call, the oracle's lane).
Case = tuple[str, Callable[..., Any], Callable[..., "int | None"]]
CASES: list[Case] = []
for promise in integer.OVERFLOW:
    for name, lane in (
        ("addi", both_readings(lambda x, y: x + y)),
        ("subi", both_readings(lambda x, y: x - y)),
        ("muli", both_readings(lambda x, y: x * y)),
        ("shli", shli_lane),
    ):
        ours = getattr(integer, name)
        CASES.append(
            (
                f"{name}-{promise}",
                lambda a, b, fmt, f=ours, o=promise: f(a, b, fmt, o),
                lambda a, b, w, f=lane, o=promise: f(a, b, w, o),
            )
        )
for is_signed in SIGNEDNESS:
    for name, lane in (
        ("remi", remi_lane),
        ("shri", shri_lane),
        ("mini", chosen_lane(min)),
        ("maxi", chosen_lane(max)),
    ):
        ours = getattr(integer, name)
        CASES.append(
            (
                f"{name}-{'signed' if is_signed else 'unsigned'}",
                lambda a, b, fmt, f=ours, s=is_signed: f(a, b, fmt, signed=s),
                lambda a, b, w, f=lane, s=is_signed: f(a, b, w, s),
            )
        )
    for mode in ROUNDINGS:
        CASES.append(
            (
                f"divi-{mode}-{'signed' if is_signed else 'unsigned'}",
                lambda a, b, fmt, r=mode, s=is_signed: integer.divi(a, b, fmt, r, signed=s),
                lambda a, b, w, r=mode, s=is_signed: divi_lane(a, b, w, r, s),
            )
        )
    for relation, compare in COMPARE.items():
        CASES.append(
            (
                f"cmpi-{relation}-{'signed' if is_signed else 'unsigned'}",
                lambda a, b, fmt, p=relation, s=is_signed: (integer.cmpi(a, b, fmt, p, signed=s), None),
                lambda a, b, w, c=compare, s=is_signed: int(c(read(a, w, s), read(b, w, s))),
            )
        )
CASES += [
    ("mulhii", integer.mulhii, lambda a, b, w: a * b >> w),
    ("andi", integer.andi, lambda a, b, w: a & b),
    ("ori", integer.ori, lambda a, b, w: a | b),
    ("xori", integer.xori, lambda a, b, w: a ^ b),
]

UNARY: list[Case] = [
    ("absi", lambda x, y, fmt: integer.absi(x, fmt), lambda a, b, w: abs(read(a, w, True)) % (1 << w)),
    *(
        (
            f"negi-{promise}",
            lambda x, y, fmt, o=promise: integer.negi(x, fmt, o),
            lambda a, b, w, o=read_as: kept(-read(a, w, True), -a, w, o),
        )
        # A negation is signed whatever is promised: "no wrap" says nothing of the unsigned reading.
        for promise, read_as in (
            ("none", "none"),
            ("no_signed_wrap", "no_signed_wrap"),
            ("no_unsigned_wrap", "no_unsigned_wrap"),
            ("no_wrap", "no_signed_wrap"),
        )
    ),
]


def stored(patterns: Any, fmt: IntegerFormat) -> Any:
    bits = np.array(patterns, np.uint64)
    if fmt is I1:
        return bits.astype(np.bool_)
    # Sign-extended by hand, for i4's sake: the storage holds -8 .. 7.
    sign = np.uint64(1 << (fmt.width - 1))
    return np.subtract(bits ^ sign, sign).view(np.int64).astype(fmt.dtype)


def check(case: Case, a: list[int], b: list[int], fmt: IntegerFormat) -> None:
    _, call, lane = case
    x, y = stored(a, fmt), stored(b, fmt)
    x_before, y_before = x.copy(), y.copy()
    result, undefined = call(x, y, fmt)
    np.testing.assert_array_equal(x, x_before)
    np.testing.assert_array_equal(y, y_before)
    assert not np.shares_memory(result, x)
    assert not np.shares_memory(result, y)
    expected = [lane(p, q, fmt.width) for p, q in zip(a, b, strict=True)]
    assert undefined is None or (undefined.dtype == np.bool_ and undefined.shape == result.shape)
    marked = np.zeros(len(a), np.bool_) if undefined is None else undefined
    np.testing.assert_array_equal(marked, [value is None for value in expected])
    if result.dtype == np.bool_:
        wanted = np.array([bool(value) for value in expected])
    else:
        wanted = stored([value or 0 for value in expected], fmt)
        assert result.dtype == fmt.dtype
        if fmt is I4:
            assert ((result >= -8) & (result <= 7)).all()
    np.testing.assert_array_equal(result[~marked], wanted[~marked])


def ids(cases: list[Case]) -> dict[str, Any]:
    return {"argvalues": cases, "ids": [case[0] for case in cases]}


@pytest.mark.parametrize("case", **ids(UNARY))
@pytest.mark.parametrize("fmt", [I1, I4, I8, I16], ids=lambda fmt: fmt.name)
def test_every_number_of_a_narrow_format(case: Case, fmt: IntegerFormat) -> None:
    values = list(range(1 << fmt.width))
    check(case, values, values, fmt)


@pytest.mark.parametrize("case", **ids(CASES))
@pytest.mark.parametrize("fmt", [I1, I4, I8], ids=lambda fmt: fmt.name)
def test_every_pair_of_a_narrow_format(case: Case, fmt: IntegerFormat) -> None:
    values = range(1 << fmt.width)
    a, b = zip(*itertools.product(values, values), strict=True)
    check(case, list(a), list(b), fmt)


def edges(width: int) -> list[int]:
    around = {0, width, 1 << (width // 2), (1 << width) // 4, (1 << width) // 2}
    return sorted({(v + d) % (1 << width) for v in around for d in range(-3, 4)})


@pytest.mark.parametrize("case", **ids(CASES + UNARY))
@pytest.mark.parametrize("fmt", WIDE, ids=lambda fmt: fmt.name)
def test_edges_and_random_pairs_of_a_wide_format(case: Case, fmt: IntegerFormat) -> None:
    a, b = (list(side) for side in zip(*itertools.product(edges(fmt.width), repeat=2), strict=True))
    rng = np.random.default_rng(1)
    for shift_a, shift_b in itertools.product(range(0, fmt.width, 7), repeat=2):
        # Random magnitudes of every size, so that products and quotients cross every border.
        a += [int(v) >> 64 - fmt.width + shift_a for v in rng.integers(0, 1 << 64, 4, np.uint64)]
        b += [int(v) >> 64 - fmt.width + shift_b for v in rng.integers(0, 1 << 64, 4, np.uint64)]
    check(case, a, b, fmt)


@given(st.data())
def test_any_pair(data: st.DataObject) -> None:
    fmt = data.draw(st.sampled_from(INTEGER_FORMATS))
    case = data.draw(st.sampled_from(CASES + UNARY))
    values = st.lists(st.integers(0, (1 << fmt.width) - 1), min_size=4, max_size=4)
    check(case, data.draw(values), data.draw(values), fmt)


@pytest.mark.parametrize("case", **ids(CASES + UNARY))
@pytest.mark.parametrize("fmt", INTEGER_FORMATS, ids=lambda fmt: fmt.name)
def test_shapes_and_broadcasting(case: Case, fmt: IntegerFormat) -> None:
    _, call, _ = case
    column = stored((edges(fmt.width) * 3)[:6], fmt)[:, None]
    row = stored((edges(fmt.width) * 3)[-5:], fmt)[::-1]
    result, undefined = call(column, row, fmt)
    assert result.shape in ((6, 5), (6, 1))  # the unary operations have one operand's shape
    for i, j in itertools.product(*map(range, result.shape)):
        lane, mark = call(column[i, 0, ...], row[j, ...], fmt)  # arrays of no dimension
        assert isinstance(lane, np.ndarray)
        assert lane.shape == ()
        assert lane == result[i, j]
        assert (mark is not None) == (undefined is not None and undefined[i, j])
    empty, mark = call(stored([], fmt), stored([], fmt), fmt)
    assert empty.shape == (0,)
    assert mark is None


WIDENINGS = [(s, t) for s, t in itertools.product(INTEGER_FORMATS, repeat=2) if s.width < t.width]


@pytest.mark.parametrize(("narrow", "wide"), WIDENINGS, ids=lambda fmt: fmt.name)
def test_exti_and_trunci(narrow: IntegerFormat, wide: IntegerFormat) -> None:
    patterns = edges(narrow.width) if narrow.width > 8 else list(range(1 << narrow.width))
    x = stored(patterns, narrow)
    for signed in SIGNEDNESS:
        extended, undefined = integer.exti(x, narrow, wide, signed=signed)
        assert undefined is None
        assert extended.dtype == wide.dtype
        expected = [read(p, narrow.width, signed) for p in patterns]
        np.testing.assert_array_equal(extended, stored([e % (1 << wide.width) for e in expected], wide))
    patterns = edges(wide.width) if wide.width > 8 else list(range(1 << wide.width))
    patterns += [p % (1 << wide.width) for e in edges(narrow.width) for p in (e, -e, e + (1 << narrow.width))]
    x = stored(patterns, wide)
    low = [p % (1 << narrow.width) for p in patterns]
    signed_keeps = [
        read(p, wide.width, True) == read(q, narrow.width, True) for p, q in zip(patterns, low, strict=True)
    ]
    unsigned_keeps = [p == q for p, q in zip(patterns, low, strict=True)]
    keeps = {
        "none": [True] * len(low),
        "no_signed_wrap": signed_keeps,
        "no_unsigned_wrap": unsigned_keeps,
        "no_wrap": [s and u for s, u in zip(signed_keeps, unsigned_keeps, strict=True)],
    }
    for overflow, kept_lanes in keeps.items():
        truncated, undefined = integer.trunci(x, wide, narrow, overflow)
        np.testing.assert_array_equal(truncated, stored(low, narrow))
        marked = np.zeros(len(low), np.bool_) if undefined is None else undefined
        assert marked.tolist() == [not k for k in kept_lanes]


def test_an_unknown_attribute_is_refused() -> None:
    x = np.ones(2, np.int32)
    for call in (
        lambda: integer.addi(x, x, I32, "nsw"),
        lambda: integer.shli(x, x, I32, "wrap"),
        lambda: integer.trunci(x, I32, I8, "nuw"),
        lambda: integer.divi(x, x, I32, "nearest_even"),
        lambda: integer.cmpi(x, x, I32, "ult"),
        lambda: integer.exti(x, I32, I8),
        lambda: integer.trunci(x, I32, I32),
    ):
        with pytest.raises(ValueError, match=r"must be|expected one of"):
            call()


# Faults that users of other tile compilers and interpreters have met.


def test_one_bit_arithmetic_is_modulo_two() -> None:
    a, b = np.array([True, True, False]), np.array([True, False, False])
    for operation, expected in (
        (integer.addi, [False, True, False]),
        (integer.subi, [False, True, False]),
        (integer.muli, [True, False, False]),
        (integer.xori, [False, True, False]),
    ):
        result, undefined = operation(a, b, I1)
        assert result.tolist() == expected
        assert undefined is None
    total = np.array(False)
    for lane in a:
        total, _ = integer.addi(total, np.asarray(lane), I1)
    assert not total
    assert integer.exti(integer.addi(a, b, I1)[0], I1, I32)[0].tolist() == [0, -1, 0]


def test_narrow_shifts_keep_their_width_and_signedness() -> None:
    four = np.array([4], np.int8)
    raised, _ = integer.shli(np.array([48], np.int8), four, I8)
    assert integer.shri(raised, four, I8, signed=False)[0].tolist() == [0]
    raised, _ = integer.shli(np.array([8], np.int8), four, I8)
    assert integer.shri(raised, four, I8, signed=True)[0].tolist() == [-8]


def test_unsigned_bytes_are_compared_chosen_and_widened_as_unsigned() -> None:
    big, small = np.array([200], np.uint8).view(np.int8), np.array([50], np.int8)
    assert not integer.cmpi(big, small, I8, "less_than", signed=False)[0]
    assert integer.cmpi(big, small, I8, "less_than", signed=True)[0]
    assert integer.mini(big, small, I8, signed=False)[0] == small
    assert integer.maxi(big, small, I8, signed=False)[0] == big
    assert integer.exti(big, I8, I32, signed=False)[0] == 200
    assert integer.exti(big, I8, I32, signed=True)[0] == -56


def test_division_roundings_and_remainders_of_negative_operands() -> None:
    a, b = np.array([7, -7], np.int32), np.array([-3, 3], np.int32)
    quotients = {mode: integer.divi(a, b, I32, mode)[0].tolist() for mode in ROUNDINGS}
    assert quotients == {"zero": [-2, -2], "positive_inf": [-2, -2], "negative_inf": [-3, -3]}
    a, b = np.array([7, 7, -7, -7], np.int32), np.array([3, -3, 3, -3], np.int32)
    assert integer.remi(a, b, I32)[0].tolist() == [1, 1, -1, -1]


def test_a_shift_leaves_its_operand_alone() -> None:
    x = np.array([-8, 7, -1], np.int32)
    y, _ = integer.shri(x, np.ones(3, np.int32), I32)
    z, _ = integer.addi(x, y, I32)
    assert (x.tolist(), y.tolist(), z.tolist()) == ([-8, 7, -1], [-4, 3, -1], [-12, 10, -2])
