"""Conversions between all formats that memory holds, against exact numbers, and the bytes of packed tiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.tileref.kernels import SHAPES, apply, bits, cycle
from tests.tileref.numerics import hard, oracle
from tests.tileref.operations import operation
from tests.tileref.support import pointers, run
from tileir.types import NUMBERS
from tileir.verify.conversion import conversion_modes
from tileref.numerics.formats import FORMATS, FloatFormat

FLOATS = ("f64", "f32", "tf32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "f8E8M0FNU")
INTEGERS = ("i1", "i8", "i16", "i32", "i64")
LANES = 96

PAIRS = [
    (source, target, str(mode))
    for source in FLOATS
    for target in FLOATS
    if source != target
    for mode in conversion_modes(NUMBERS[source], NUMBERS[target])
]


def fmt(element: str) -> FloatFormat:
    found = FORMATS[element]
    assert isinstance(found, FloatFormat)
    return found


def floats(element: str, count: int = LANES, seed: int = 1) -> NDArray[Any]:
    """Hard values of a format."""
    if fmt(element).width == 8:
        return (
            np.random.default_rng(seed)
            .permutation(np.arange(256, dtype=np.uint8))[:count]
            .view(fmt(element).dtype)
        )
    return hard.values(fmt(element), np.random.default_rng(seed), count)


@operation("ftof", oracle="exact")
@pytest.mark.parametrize(("source", "target", "rounding"), PAIRS)
def test_ftof(source: str, target: str, rounding: str) -> None:
    given = floats(source)
    found = apply(f"ftof %a rounding<{rounding}> : {{A}} -> {{R}}", [given], [source], target).array
    numbers = oracle.decode_all(bits(given), source)
    np.testing.assert_array_equal(bits(found), oracle.encode_all(numbers, target, rounding))


@operation("ftof", "unpack", "pack", oracle="exact")
@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64"])
def test_ftof_from_and_to_four_bits(element: str) -> None:
    every = np.arange(16, dtype=np.uint8)
    given = np.resize(every, 32)
    packed = (given[0::2] | given[1::2] << 4).view(np.int8)
    text = """
      %u = unpack %a : {A} -> tile<16xf4E2M1FN>
      %r = ftof %u : tile<16xf4E2M1FN> -> {R}"""
    found = apply(text, [packed], ["i8"], element, result_shape=(16,)).array
    numbers = oracle.decode_all(given.astype(np.uint64), "f4E2M1FN")
    np.testing.assert_array_equal(bits(found), oracle.encode_all(numbers, element, "nearest_even"))

    values = cycle(
        np.array(
            [0.0, -0.25, 0.25, 0.26, 0.75, 2.5, 3.5, 5.0, 5.1, -7.0, 100.0, -0.0, 1.0, 1.24, 1.26, -6.0]
        ),
        32,
    )
    narrow = values.astype(FORMATS[element].dtype)
    text = """
      %n = ftof %a : {A} -> tile<16xf4E2M1FN>
      %r = pack %n : tile<16xf4E2M1FN> -> {R}"""
    found = apply(text, [narrow], [element], "i8", shape=(16,), result_shape=(8,)).array
    numbers = oracle.decode_all(bits(narrow), element)
    nibbles = oracle.encode_all(numbers, "f4E2M1FN", "nearest_even").astype(np.uint8)
    np.testing.assert_array_equal(found.view(np.uint8), nibbles[0::2] | nibbles[1::2] << 4)


@operation("ftoi", "bitcast", oracle="exact")
@pytest.mark.parametrize("how", ["signed", "unsigned"])
def test_ftoi_from_four_bits(how: str) -> None:
    codes = np.arange(16, dtype=np.int8)
    text = f"""
      %n = trunci %a : {{A}} -> tile<8xi4>
      %f = bitcast %n : tile<8xi4> -> tile<8xf4E2M1FN>
      %r = ftoi %f {how} : tile<8xf4E2M1FN> -> {{R}}"""
    found = apply(text, [codes], ["i8"], "i8")
    whole = [oracle.as_int(x) for x in oracle.decode_all(codes.astype(np.uint64), "f4E2M1FN")]
    unknown = [how == "unsigned" and value < 0 for value in whole]
    np.testing.assert_array_equal(found.undefined, unknown)
    assert [v for v, gone in zip(found.array.tolist(), unknown, strict=True) if not gone] == [
        v for v, gone in zip(whole, unknown, strict=True) if not gone
    ]


@operation("itof", "bitcast", oracle="exact")
def test_itof_to_four_bits() -> None:
    given = np.arange(-16, 16, dtype=np.int8)
    text = """
      %f = itof %a signed : {A} -> tile<8xf4E2M1FN>
      %n = bitcast %f : tile<8xf4E2M1FN> -> tile<8xi4>
      %r = exti %n unsigned : tile<8xi4> -> {R}"""
    found = apply(text, [given], ["i8"], "i8").array
    expected = oracle.encode_all(map(oracle.integer, given.tolist()), "f4E2M1FN", "nearest_even")
    np.testing.assert_array_equal(found, expected.astype(np.int8))


@operation("ftof", oracle="written")
def test_one_rounding_where_two_would_differ() -> None:
    given = cycle(np.array([1 + 2.0**-8 + 2.0**-40, -431.99999999999994]), 16)
    bf16 = apply("ftof %a : {A} -> {R}", [given], ["f64"], "bf16").array
    assert float(bf16[0]) == 1.0078125
    f8 = apply("ftof %a : {A} -> {R}", [given], ["f64"], "f8E4M3FN").array
    assert float(f8[1]) == -416.0


@operation("itof", oracle="exact")
@pytest.mark.parametrize("how", ["signed", "unsigned"])
@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", ["f64", "f32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "tf32"])
def test_itof(source: str, target: str, how: str) -> None:
    width = FORMATS[source].width
    rng = np.random.default_rng(2)
    numbers = [
        0,
        1,
        -1,
        (1 << width - 1) - 1,
        -(1 << width - 1),
        16842753,
        16973823,
        65519,
        65520,
        464,
        465,
        2049,
    ]
    numbers += [
        int.from_bytes(rng.bytes(8), "little", signed=True) >> int(rng.integers(0, 64)) for _ in range(84)
    ]
    patterns = [n & ((1 << width) - 1) for n in numbers]
    if source == "i1":
        given: NDArray[Any] = np.array(patterns, np.bool_)
    else:
        given = np.array(patterns, np.uint64).astype(f"u{width // 8}").view(f"i{width // 8}")
    values = [p - (1 << width) if how == "signed" and p >> (width - 1) else p for p in patterns]
    found = apply(f"itof %a {how} : {{A}} -> {{R}}", [given], [source], target).array
    expected = oracle.encode_all(map(oracle.integer, values), target, "nearest_even")
    np.testing.assert_array_equal(bits(found), expected)


@operation("ftoi", oracle="exact")
@pytest.mark.parametrize("saturating", [False, True])
@pytest.mark.parametrize("how", ["signed", "unsigned"])
@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", FLOATS)
def test_ftoi(source: str, target: str, how: str, saturating: bool) -> None:
    width = FORMATS[target].width
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if how == "signed" else (0, (1 << width) - 1)
    given = floats(source, seed=4)
    if fmt(source).width > 8:
        with np.errstate(over="ignore"):
            edges = np.array([low, high, low - 1, high + 1, low - 0.5, high + 0.5, 0.9, -0.9], np.float64)
            given[-8:] = (
                edges.astype(np.float32).astype(given.dtype)
                if source == "tf32"
                else edges.astype(given.dtype)
            )
        if source == "tf32":
            given = (given.view(np.uint32) & np.uint32(0xFFFF_E000)).view(np.float32)
    flag = " saturating" if saturating else ""
    found = apply(f"ftoi %a {how}{flag} : {{A}} -> {{R}}", [given], [source], target)
    unknown, expected = [], []
    for number in oracle.decode_all(bits(given), source):
        sign, m, _, _ = number
        if m == oracle.NAN:
            value, inside = 0, False
        elif m == oracle.INF:
            value, inside = (low if sign else high), False
        else:
            whole = oracle.as_int(number)
            inside = low <= whole <= high
            value = min(max(whole, low), high)
        unknown.append(not inside and not saturating)
        expected.append(0 if unknown[-1] else value & ((1 << width) - 1))
    np.testing.assert_array_equal(found.undefined, unknown)
    answers = [int(v) & ((1 << width) - 1) for v in found.array.astype(np.int64)]
    assert [0 if gone else v for v, gone in zip(answers, unknown, strict=True)] == expected


SAME_WIDTH = [
    *(("i8", "f8E4M3FN"), ("f8E5M2", "i8"), ("f8E8M0FNU", "f8E4M3FN"), ("i16", "f16"), ("bf16", "f16")),
    *(("f16", "bf16"), ("bf16", "i16"), ("f32", "i32"), ("i32", "f32"), ("f64", "i64"), ("i64", "f64")),
]


@operation("bitcast", oracle="numpy")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("source", "target"), SAME_WIDTH)
def test_bitcast(source: str, target: str, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    size = FORMATS[source].dtype.itemsize
    given = np.frombuffer(rng.bytes(32 * size), FORMATS[source].dtype)
    found = apply("bitcast %a : {A} -> {R}", [given], [source], target, shape).array
    assert found.tobytes() == given.tobytes()


@operation("exti", "trunci", oracle="numpy")
@pytest.mark.parametrize("how", ["signed", "unsigned"])
def test_through_four_bits(how: str) -> None:
    given = np.arange(-128, 128, dtype=np.int8)
    text = f"""
      %n = trunci %a : {{A}} -> tile<8xi4>
      %r = exti %n {how} : tile<8xi4> -> {{R}}"""
    found = apply(text, [given], ["i8"], "i32").array
    low = given.astype(np.int32) & 15
    np.testing.assert_array_equal(found, np.where((low > 7) & (how == "signed"), low - 16, low))


PACKED = ("i8", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "i16", "f16", "bf16", "i32", "f32", "i64", "f64")


@operation("pack", oracle="numpy")
@pytest.mark.parametrize("element", PACKED)
def test_pack(element: str) -> None:
    dtype = FORMATS[element].dtype
    given = np.frombuffer(np.random.default_rng(5).bytes(32 * dtype.itemsize), dtype)
    found = apply("pack %a : {A} -> {R}", [given], [element], "i8", result_shape=(8 * dtype.itemsize,)).array
    assert found.tobytes() == given.tobytes()


@operation("unpack", oracle="numpy")
@pytest.mark.parametrize("element", PACKED)
def test_unpack(element: str) -> None:
    dtype = FORMATS[element].dtype
    given = np.frombuffer(np.random.default_rng(6).bytes(32), np.int8)
    found = apply("unpack %a : {A} -> {R}", [given], ["i8"], element, (16,), (16 // dtype.itemsize,)).array
    assert found.tobytes() == given.tobytes()


@operation("pack", "unpack", "trunci", "exti", oracle="numpy")
def test_integers_of_four_bits_are_packed_low_nibble_first() -> None:
    codes = np.random.default_rng(7).integers(0, 16, 32).astype(np.int8)
    text = """
      %n = trunci %a : {A} -> tile<16xi4>
      %r = pack %n : tile<16xi4> -> {R}"""
    packed = apply(text, [codes], ["i8"], "i8", (16,), (8,)).array
    np.testing.assert_array_equal(packed, codes[0::2] | codes[1::2] << 4)
    text = """
      %n = unpack %a : {A} -> tile<16xi4>
      %r = exti %n unsigned : tile<16xi4> -> {R}"""
    np.testing.assert_array_equal(apply(text, [packed], ["i8"], "i8", (8,), (16,)).array, codes)


@operation("pack", "unpack", oracle="numpy")
def test_a_byte_without_a_value_takes_the_elements_that_it_holds_part_of() -> None:
    given = np.arange(32, dtype=np.int8)
    there = np.ones(32, np.bool_)
    there[[5, 20]] = False
    found = apply("unpack %a : {A} -> {R}", [given], ["i8"], "i32", (8,), (2,), masks=[there])
    np.testing.assert_array_equal(np.flatnonzero(found.undefined), [1, 5])
    wide = np.arange(8, dtype=np.int32)
    found = apply("pack %a : {A} -> {R}", [wide], ["i32"], "i8", (4,), (16,), masks=[there[:8]])
    np.testing.assert_array_equal(np.flatnonzero(found.undefined), [20, 21, 22, 23])


@operation("ptr_to_int", "int_to_ptr", "ptr_to_ptr", oracle="numpy")
def test_pointers_as_numbers_and_back() -> None:
    text = f"""
    entry @k(%a: tile<ptr<i16>>, %b: tile<ptr<i64>>) {{
      %lanes = iota : tile<4xi32>
      {pointers("a", "from", "i16", 4, "lanes")}
      {pointers("b", "to", "i64", 4, "lanes")}
      %n = ptr_to_int %from : tile<4xptr<i16>> -> tile<4xi64>
      %four = constant <i64: 4> : tile<4xi64>
      %m = addi %n, %four : tile<4xi64>
      %p = int_to_ptr %m : tile<4xi64> -> tile<4xptr<i16>>
      %x, %t0 = load_ptr_tko weak %p : tile<4xptr<i16>> -> tile<4xi16>, token
      %q = ptr_to_ptr %from : tile<4xptr<i16>> -> tile<4xptr<i8>>
      %y, %t1 = load_ptr_tko weak %q : tile<4xptr<i8>> -> tile<4xi8>, token
      %wx = exti %x signed : tile<4xi16> -> tile<4xi64>
      %wy = exti %y unsigned : tile<4xi8> -> tile<4xi64>
      %k = constant <i64: 1000> : tile<4xi64>
      %s = muli %wx, %k : tile<4xi64>
      %r = addi %s, %wy : tile<4xi64>
      %t2 = store_ptr_tko weak %to, %r : tile<4xptr<i64>>, tile<4xi64> -> token
      return
    }}
    """
    given = np.array([0x0102, 0x0304, 0x0506, 0x0708, -9, -10], np.int16)
    out = np.zeros(4, np.int64)
    result = run(text, 1, [given, out])
    assert not result.undefined
    # Two elements on as an address plus four bytes; the low byte of each where only a byte is read.
    np.testing.assert_array_equal(out, given[2:].astype(np.int64) * 1000 + (given[:4] & 0xFF))


@operation("ptr_to_int", oracle="numpy")
def test_addresses_of_neighbours_are_their_size_apart() -> None:
    text = f"""
    entry @k(%a: tile<ptr<f64>>, %b: tile<ptr<i64>>) {{
      %lanes = iota : tile<8xi32>
      {pointers("a", "from", "f64", 8, "lanes")}
      {pointers("b", "to", "i64", 8, "lanes")}
      %n = ptr_to_int %from : tile<8xptr<f64>> -> tile<8xi64>
      %t = store_ptr_tko weak %to, %n : tile<8xptr<i64>>, tile<8xi64> -> token
      return
    }}
    """
    out = np.zeros(8, np.int64)
    run(text, 1, [np.zeros(8), out])
    assert set(np.diff(out).tolist()) == {8}
    assert out[0] % 16 == 0


def test_formats_of_this_file_are_all_that_there_are() -> None:
    assert {*FLOATS, "f4E2M1FN"} == {n for n, f in FORMATS.items() if isinstance(f, FloatFormat)}
