"""Arithmetic in every format and direction, against exact integers and against MPFR."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gmpy2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.tileref.numerics import hard, oracle
from tests.tileref.numerics.agree import assert_patterns
from tileref import numerics as n
from tileref.numerics import lanes
from tileref.numerics.formats import (
    BF16,
    F4E2M1FN,
    F8E4M3FN,
    F8E5M2,
    F8E8M0FNU,
    F16,
    F32,
    F64,
    FLOAT_FORMATS,
    TF32,
    FloatFormat,
    Rounding,
)

pytestmark = pytest.mark.filterwarnings("error")

Array = NDArray[Any]

BY_NAME = {"ids": lambda f: f.name}
EVERY_MODE = pytest.mark.parametrize("rounding", Rounding, ids=lambda r: r.value)
FORMATS = [F64, F32, TF32, F16, BF16, F8E5M2, F8E4M3FN]
EVERY_FORMAT = pytest.mark.parametrize("fmt", FORMATS, **BY_NAME)

# What each operation is on exact numbers. Only sums look at the direction, for the sign of a zero.
EXACT: dict[str, Callable[..., oracle.Number]] = {
    "addf": oracle.add,
    "subf": lambda x, y, r: oracle.add(x, oracle.negate(y), r),
    "mulf": lambda x, y, r: oracle.multiply(x, y),
    "divf": lambda x, y, r: oracle.divide(x, y),
    "fma": oracle.fused,
    "sqrt": lambda x, r: oracle.root(x),
}


def check(operation: str, fmt: FloatFormat, rounding: Rounding, *operands: Array) -> None:
    """The operation on `operands` gives what rounding the exact results gives, and leaves them alone."""
    before = [x.copy() for x in operands]
    found = getattr(n, operation)(*operands, fmt, rounding)
    decoded = [oracle.decode_all(x.view(fmt.bits_dtype), fmt.name) for x in operands]
    exact = [EXACT[operation](*numbers, rounding.value) for numbers in zip(*decoded, strict=True)]
    assert_patterns(found, oracle.encode_all(exact, fmt.name, rounding.value), fmt, *operands)
    for x, y in zip(before, operands, strict=True):
        assert x.tobytes() == y.tobytes()


@EVERY_FORMAT
@EVERY_MODE
@pytest.mark.parametrize("operation", ["addf", "subf", "mulf", "divf"])
def test_binary(operation: str, fmt: FloatFormat, rounding: Rounding) -> None:
    check(operation, fmt, rounding, *hard.pairs(fmt, np.random.default_rng(11), 600))


@EVERY_FORMAT
@EVERY_MODE
def test_fma(fmt: FloatFormat, rounding: Rounding) -> None:
    check("fma", fmt, rounding, *hard.triples(fmt, np.random.default_rng(12), 1500))


@EVERY_FORMAT
@EVERY_MODE
def test_fma_of_all_triples_of_specials(fmt: FloatFormat, rounding: Rounding) -> None:
    x = hard.specials(fmt)[::2]
    a, b, c = (part.reshape(-1).view(fmt.dtype) for part in np.meshgrid(*[x.view(fmt.bits_dtype)] * 3))
    keep = np.random.default_rng(13).random(a.size) < 0.5
    check("fma", fmt, rounding, a[keep], b[keep], c[keep])


@EVERY_FORMAT
@EVERY_MODE
def test_sqrt(fmt: FloatFormat, rounding: Rounding) -> None:
    rng = np.random.default_rng(14)
    x = np.concatenate([hard.values(fmt, rng, 400), n.absf(hard.squares(fmt, rng, 800), fmt)])
    check("sqrt", fmt, rounding, x)


@pytest.mark.parametrize("fmt", [F16, BF16], **BY_NAME)
@EVERY_MODE
def test_sqrt_of_every_value(fmt: FloatFormat, rounding: Rounding) -> None:
    x = np.arange(1 << 15, dtype=np.uint16).view(fmt.dtype).copy()
    check("sqrt", fmt, rounding, x)


@pytest.mark.parametrize("fmt", [F8E4M3FN, F8E5M2, F8E8M0FNU, F4E2M1FN], **BY_NAME)
@EVERY_MODE
@pytest.mark.parametrize("operation", ["addf", "mulf", "divf"])
def test_all_pairs_of_the_small_formats(operation: str, fmt: FloatFormat, rounding: Rounding) -> None:
    every = np.arange(1 << fmt.width).astype(np.uint8)
    a, b = np.repeat(every, every.size).view(fmt.dtype), np.tile(every, every.size).view(fmt.dtype)
    check(operation, fmt, rounding, a, b)


@pytest.mark.parametrize("fmt", [F64, F32, F16, BF16], **BY_NAME)
@pytest.mark.parametrize(
    "rounding", [r for r in Rounding if r is not Rounding.NEAREST_AWAY], ids=lambda r: r.value
)
def test_against_mpfr(fmt: FloatFormat, rounding: Rounding) -> None:
    a, b, c = hard.triples(fmt, np.random.default_rng(15), 1000)
    context = oracle.mpfr_context(fmt.name, rounding.value)
    # float64 holds every value of these formats, and a gmpy2 number of 53 bits does.
    exact = [
        [gmpy2.mpfr(v, 53) for v in (x if fmt is F64 else n.ftof(x, fmt, F64)).tolist()] for x in (a, b, c)
    ]
    for operation, function in (
        ("addf", context.add),
        ("subf", context.sub),
        ("mulf", context.mul),
        ("divf", context.div),
        ("fma", context.fma),
        ("sqrt", context.sqrt),
    ):
        count = {"fma": 3, "sqrt": 1}.get(operation, 2)
        found = getattr(n, operation)(*(a, b, c)[:count], fmt, rounding)
        expected = np.array([float(v) for v in map(function, *exact[:count])])
        with np.errstate(invalid="ignore"):
            rounded = expected.astype(fmt.dtype)
        bits = rounded.view(fmt.bits_dtype)
        bits[np.isnan(expected)] = fmt.canonical_nan
        assert_patterns(found, bits.astype(np.uint64), fmt, *(a, b, c)[:count])


def bits_of(pattern: int, fmt: FloatFormat) -> Array:
    return np.array([pattern], fmt.bits_dtype).view(fmt.dtype)


@settings(max_examples=400, deadline=None)
@given(
    fmt=st.sampled_from(FORMATS),
    rounding=st.sampled_from(list(Rounding)),
    operation=st.sampled_from(sorted(EXACT)),
    data=st.data(),
)
def test_any_operation_on_anything(
    fmt: FloatFormat, rounding: Rounding, operation: str, data: st.DataObject
) -> None:
    count = {"fma": 3, "sqrt": 1}.get(operation, 2)
    top = (1 << (fmt.width - fmt.unused_bits)) - 1
    patterns = [data.draw(st.integers(0, top)) << fmt.unused_bits for _ in range(count)]
    check(operation, fmt, rounding, *(bits_of(p, fmt) for p in patterns))


@pytest.mark.parametrize("fmt", FLOAT_FORMATS, **BY_NAME)
def test_remf(fmt: FloatFormat) -> None:
    rng = np.random.default_rng(16)
    a, b = hard.pairs(fmt, rng, 1500)
    decoded = [oracle.decode_all(x.view(fmt.bits_dtype), fmt.name) for x in (a, b)]
    if fmt is F64:
        # The exact remainder of the largest by the least takes thousands of bits, and few of those suffice.
        assert a.size > 2000
    exact = [oracle.remainder(x, y) for x, y in zip(*decoded, strict=True)]
    assert_patterns(n.remf(a, b, fmt), oracle.encode_all(exact, fmt.name, "nearest_even"), fmt, a, b)


@pytest.mark.parametrize("fmt", FLOAT_FORMATS, **BY_NAME)
def test_floor_and_ceil(fmt: FloatFormat) -> None:
    if fmt.storage_width <= 16:
        x = np.arange(1 << fmt.width).astype(fmt.bits_dtype).view(fmt.dtype)
    else:
        x = hard.values(fmt, np.random.default_rng(17), 5000)
    decoded = oracle.decode_all(x.view(fmt.bits_dtype), fmt.name)
    for function, up, direction in ((n.floor, False, "negative_inf"), (n.ceil, True, "positive_inf")):
        exact = [oracle.integral(number, up) for number in decoded]
        assert_patterns(function(x, fmt), oracle.encode_all(exact, fmt.name, direction), fmt, x)


@pytest.mark.parametrize("fmt", FLOAT_FORMATS, **BY_NAME)
def test_absf_and_negf_touch_the_sign_alone(fmt: FloatFormat) -> None:
    rng = np.random.default_rng(18)
    bits = rng.integers(0, 1 << min(fmt.width, 63), 3000).astype(fmt.bits_dtype)
    bits[::2] |= fmt.bits_dtype.type(fmt.sign_bit)
    x = bits.view(fmt.dtype)
    assert (n.absf(x, fmt).view(fmt.bits_dtype) == bits & fmt.bits_dtype.type(fmt.magnitude_mask)).all()
    turned = n.negf(x, fmt).view(fmt.bits_dtype)
    assert (turned == (bits ^ fmt.bits_dtype.type(fmt.sign_bit) if fmt.signed else 0xFF)).all()


def flush_number(number: oracle.Number) -> oracle.Number:
    """An f32 number with its subnormals flushed."""
    sign, m, e, _ = number
    return (sign, 0, 0, False) if m > 0 and m.bit_length() + e <= -126 else number


@EVERY_MODE
@pytest.mark.parametrize("operation", sorted(EXACT))
def test_flush_to_zero(operation: str, rounding: Rounding) -> None:
    rng = np.random.default_rng(19)
    a, b, c = hard.triples(F32, rng, 1500)
    # Results around the least normal value.
    a[-500:] = np.float32(2.0**-126) * (1 + rng.integers(-4, 5, 500) * 2.0**-23).astype(np.float32)
    b[-500:] = (1 + rng.integers(-4, 5, 500) * 2.0**-23).astype(np.float32)
    operands = (a, b, c)[: {"fma": 3, "sqrt": 1}.get(operation, 2)]
    found = getattr(n, operation)(*operands, F32, rounding, flush_to_zero=True)
    decoded = [map(flush_number, oracle.decode_all(x.view(np.uint32), "f32")) for x in operands]
    exact = [EXACT[operation](*numbers, rounding.value) for numbers in zip(*decoded, strict=True)]
    expected = oracle.encode_all(exact, "f32", rounding.value)
    small = (expected & 0x7FFFFFFF) < 0x00800000
    expected[small] &= 0x80000000
    assert_patterns(found, expected, F32, *operands)


def test_flush_to_zero_is_of_f32() -> None:
    with pytest.raises(ValueError, match="f64"):
        n.addf(np.zeros(1), np.zeros(1), F64, flush_to_zero=True)


def test_another_type_is_refused() -> None:
    with pytest.raises(TypeError, match="f16 is stored as float16, found an array of float32"):
        n.mulf(np.zeros(1, np.float16), np.zeros(1, np.float32), F16)


def calls(fmt: FloatFormat) -> list[Callable[..., Array]]:
    """Every function here, as functions of up to three operands."""
    found: list[Callable[..., Array]] = []
    for rounding in (Rounding.NEAREST_EVEN, Rounding.NEGATIVE_INF):
        for operation in ("addf", "subf", "mulf", "divf"):
            found.append(
                lambda a, b, c, o=operation, r=rounding: getattr(n, o)(a, b, fmt, r),
            )
        found.append(lambda a, b, c, r=rounding: n.fma(a, b, c, fmt, r))
        found.append(lambda a, b, c, r=rounding: n.sqrt(a, fmt, r))
    found.append(lambda a, b, c: n.remf(a, b, fmt))
    found += [lambda a, b, c, o=o: getattr(n, o)(a, fmt) for o in ("floor", "ceil", "absf", "negf")]
    found += [lambda a, b, c, o=o: getattr(n, o)(a, b, fmt) for o in ("maxf", "minf")]
    return found


@pytest.mark.parametrize("fmt", [F64, F32, F16, BF16], **BY_NAME)
def test_shapes_strides_and_operands(fmt: FloatFormat) -> None:
    rng = np.random.default_rng(20)
    base = hard.values(fmt, rng, 6 * 4 * 5).reshape(6, 4, 5)
    a, b, c = base[::2, :, ::-1], base[1:2, :, :1], base[0, 0]
    for function in calls(fmt):
        before = base.tobytes()
        found = function(a, b, c)
        assert base.tobytes() == before
        assert found.shape in ((3, 4, 5),)
        assert found.flags.owndata or found.base is not None
        assert not np.shares_memory(found, base)
        full = [np.ascontiguousarray(np.broadcast_to(x, (3, 4, 5))).reshape(-1) for x in (a, b, c)]
        assert found.tobytes() == function(*full).tobytes()
        scalars = function(*(x[7] for x in full))
        assert isinstance(scalars, np.ndarray)
        assert scalars.shape == ()
        assert scalars.tobytes() == found.reshape(-1)[7].tobytes()
        assert function(*(x[:0] for x in full)).shape == (0,)
        found[...] = 0


@pytest.mark.parametrize("fmt", [F64, F32, F16, BF16], **BY_NAME)
def test_blocks_do_not_show(fmt: FloatFormat) -> None:
    count = lanes.BLOCK * 2 + 77
    a, b, c = (np.resize(x, count) for x in hard.triples(fmt, np.random.default_rng(21), 3000))
    for function in calls(fmt):
        whole = function(a, b, c)
        cut = [function(a[i : i + 5000], b[i : i + 5000], c[i : i + 5000]) for i in range(0, count, 5000)]
        assert whole.tobytes() == np.concatenate(cut).tobytes()
        # One operand of one lane, against many.
        assert (
            function(a, b[:1], c[:1]).tobytes()
            == function(a, np.full_like(b, b[0]), np.full_like(c, c[0])).tobytes()
        )
