"""Matrix products against exact chains, against numpy, and with lanes that have no value."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.tileref.kernels import at, first_of_block, tile
from tests.tileref.numerics import oracle
from tests.tileref.operations import operation
from tests.tileref.scalar import numbers as scalar
from tests.tileref.support import run
from tileref.numerics.formats import FORMATS

BLOCKS = 2


def kernel(text: str, shapes: list[tuple[int, ...]], formats: list[str], result: int, holes: bool) -> str:
    """A kernel that loads operands %a, %b, %c, ..., and stores %r, which has the type of operand ``result``."""
    parameters, loads, name_types = [], [], {}
    for name, shape, element in zip("abcde", shapes, formats, strict=False):
        size = math.prod(shape)
        parameters.append(f"%p{name}: tile<ptr<{element}>>")
        loads.append(f"%{name}_e = constant <i32: {size}> : tile<i32>")
        loads.append(f"%{name}_f = muli %x, %{name}_e : tile<i32>")
        loads.append(at(f"{name}_s", f"p{name}", element, size, f"{name}_f"))
        mask = types = ""
        if holes:
            parameters.append(f"%m{name}: tile<ptr<i1>>")
            loads.append(at(f"{name}_ms", f"m{name}", "i1", size, f"{name}_f"))
            loads.append(
                f"%{name}_m, %{name}_u = load_ptr_tko weak %{name}_ms : tile<{size}xptr<i1>> -> tile<{size}xi1>, token"
            )
            mask, types = f", %{name}_m", f", tile<{size}xi1>"
        loads.append(
            f"%{name}_v, %{name}_t = load_ptr_tko weak %{name}_s{mask} : tile<{size}xptr<{element}>>{types}"
            f" -> tile<{size}x{element}>, token"
        )
        name_types[name.upper()] = tile(shape, element)
        loads.append(f"%{name} = reshape %{name}_v : tile<{size}x{element}> -> {tile(shape, element)}")
    size, element = math.prod(shapes[result]), formats[result]
    lines = "\n".join(loads)
    return f"""
    entry @k({", ".join(parameters)}, %out: tile<ptr<{element}>>) {{
      {first_of_block(size)}
      {lines}
      {text.format(**name_types) if "%r = " in text else "%r = " + text.format(**name_types)}
      {at("to", "out", element, size)}
      %flat = reshape %r : {tile(shapes[result], element)} -> tile<{size}x{element}>
      %t = store_ptr_tko weak %to, %flat : tile<{size}xptr<{element}>>, tile<{size}x{element}> -> token
      return
    }}
    """


def launch(
    text: str, arrays: list[NDArray[Any]], formats: list[str], result: int = 2, masks: list[Any] | None = None
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Operands of shape (blocks, ...) in, the products and their lanes without a value out."""
    shapes = [a.shape[1:] for a in arrays]
    out = np.zeros_like(arrays[result])
    arguments: list[Any] = []
    for k, array in enumerate(arrays):
        arguments.append(array.copy())
        if masks is not None:
            arguments.append(masks[k])
    found = run(
        kernel(text, shapes, formats, result, masks is not None), BLOCKS, [*arguments, out], model="spec"
    )
    none = np.zeros(out.shape, np.bool_)
    return out, found.undefined_elements.get(len(arguments), none).reshape(out.shape)


def some(rng: np.random.Generator, shape: tuple[int, ...], element: str) -> NDArray[Any]:
    """Numbers of a format, many of which a product must round; a few specials."""
    dtype = FORMATS[element].dtype
    values = rng.normal(0, 1, shape) * 2.0 ** rng.integers(-3, 4, shape)
    values.reshape(-1)[:3] = [0.0, -0.0, 1.0]
    values = values.astype(np.float32).astype(dtype) if element != "f64" else values
    if element == "tf32":
        values = (values.view(np.uint32) & np.uint32(0xFFFF_E000)).view(np.float32)
    return np.asarray(values)


def patterns(array: NDArray[Any]) -> NDArray[np.uint64]:
    return array.view(f"u{array.dtype.itemsize}").astype(np.uint64)


def exact_chain(
    a: NDArray[Any], b: NDArray[Any], c: NDArray[Any], source: str, target: str, rhs: str = ""
) -> NDArray[np.uint64]:
    """Acc = round(a[i, k] * b[k, j] + acc) for k ascending, of matrices or batches of them."""
    decoded = [
        np.array(oracle.decode_all(patterns(x).reshape(-1), f), object)
        for x, f in ((a, source), (b, rhs or source), (c, target))
    ]
    left, right = decoded[0].reshape(*a.shape, 4), decoded[1].reshape(*b.shape, 4)
    out = patterns(c).copy()
    for index in np.ndindex(*c.shape):
        *batch, i, j = index
        for k in range(a.shape[-1]):
            x, y = tuple(left[(*batch, i, k)]), tuple(right[(*batch, k, j)])
            acc = oracle.decode(int(out[index]), target)
            out[index] = oracle.encode(oracle.fused(x, y, acc, "nearest_even"), target, "nearest_even")
    return out


PAIRS = [
    *(("f16", "f16"), ("f16", "f32"), ("bf16", "f32"), ("f32", "f32"), ("tf32", "f32"), ("f64", "f64")),
    *(("f8E4M3FN", "f16"), ("f8E4M3FN", "f32"), ("f8E5M2", "f16"), ("f8E5M2", "f32")),
]


@operation("mmaf", oracle="exact")
@pytest.mark.parametrize("sizes", [((4, 8), (8, 2), (4, 2)), ((2, 2, 4), (2, 4, 4), (2, 2, 4))], ids=str)
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_mmaf(source: str, target: str, sizes: tuple[tuple[int, ...], ...]) -> None:
    rng = np.random.default_rng(1)
    a, b, c = (some(rng, (BLOCKS, *s), f) for s, f in zip(sizes, (source, source, target), strict=True))
    found, undefined = launch("mmaf %a, %b, %c : {A}, {B}, {C}", [a, b, c], [source, source, target])
    np.testing.assert_array_equal(patterns(found), exact_chain(a, b, c, source, target))
    assert not undefined.any()


@operation("mmaf", oracle="exact")
def test_fast_acc_changes_nothing_in_the_plain_reading() -> None:
    rng = np.random.default_rng(2)
    a, b, c = (
        some(rng, (BLOCKS, 4, 4), "f8E5M2"),
        some(rng, (BLOCKS, 4, 4), "f8E5M2"),
        some(rng, (BLOCKS, 4, 4), "f32"),
    )
    found, _ = launch("mmaf %a, %b, %c fast_acc : {A}, {B}, {C}", [a, b, c], ["f8E5M2", "f8E5M2", "f32"])
    np.testing.assert_array_equal(patterns(found), exact_chain(a, b, c, "f8E5M2", "f32"))


@operation("mmai", oracle="numpy")
@pytest.mark.parametrize("right", ["signed", "unsigned"])
@pytest.mark.parametrize("left", ["signed", "unsigned"])
@pytest.mark.parametrize("sizes", [((4, 16), (16, 8), (4, 8)), ((2, 4, 8), (2, 8, 2), (2, 4, 2))], ids=str)
def test_mmai(left: str, right: str, sizes: tuple[tuple[int, ...], ...]) -> None:
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-128, 128, (BLOCKS, *s)).astype(np.int8) for s in sizes[:2])
    c = rng.integers(-(1 << 31), 1 << 31, (BLOCKS, *sizes[2])).astype(np.int32)
    found, _ = launch(f"mmai %a, %b, %c {left} {right} : {{A}}, {{B}}, {{C}}", [a, b, c], ["i8", "i8", "i32"])
    wide = [x.astype(np.int64) & (0xFF if how == "unsigned" else -1) for x, how in ((a, left), (b, right))]
    expected = np.matmul(wide[0], wide[1]) + c
    np.testing.assert_array_equal(found, expected.astype(np.int32))


@operation("mmaf_scaled", oracle="exact")
@pytest.mark.parametrize("batch", [(), (2,)], ids=str)
@pytest.mark.parametrize(("source", "scale"), [("f8E4M3FN", "f8E8M0FNU"), ("f8E5M2", "f8E8M0FNU")])
def test_mmaf_scaled(source: str, scale: str, batch: tuple[int, ...]) -> None:
    # Blocks of K that share a scale, for each row of the left and each column of the right.
    rng = np.random.default_rng(4)
    a, b = some(rng, (BLOCKS, *batch, 4, 64), source), some(rng, (BLOCKS, *batch, 64, 2), source)
    c = some(rng, (BLOCKS, *batch, 4, 2), "f32")
    powers = [2.0 ** rng.integers(-3, 4, shape) for shape in ((BLOCKS, *batch, 4, 2), (BLOCKS, *batch, 2, 2))]
    sa, sb = (p.astype(FORMATS[scale].dtype) for p in powers)
    text = "mmaf_scaled %a, %b, %c, %d, %e : {A}, {B}, {C}, {D}, {E}"
    found, _ = launch(text, [a, b, c, sa, sb], [source, source, "f32", scale, scale])
    left = a.astype(np.float32) * np.repeat(sa.astype(np.float32), 32, axis=-1)
    right = b.astype(np.float32) * np.repeat(sb.astype(np.float32), 32, axis=-2)
    np.testing.assert_array_equal(patterns(found), exact_chain(left, right, c, "f32", "f32"))


@operation("mmaf_scaled", oracle="exact")
@pytest.mark.parametrize("source", ["f8E4M3FN", "f8E5M2"])
def test_scaled_factors_beyond_f32_have_products_within(source: str) -> None:
    rng = np.random.default_rng(6)
    shapes = ((BLOCKS, 4, 32), (BLOCKS, 32, 4), (BLOCKS, 4, 4), (BLOCKS, 4, 1), (BLOCKS, 1, 4))
    a, b = (some(rng, shape, source) for shape in shapes[:2])
    c = some(rng, shapes[2], "f32")
    # From the least scale to the greatest, so that some products leave f32 and others do not.
    sa, sb = (
        np.resize(np.array([254, 0, 127, 250], np.uint8), shape).view(FORMATS["f8E8M0FNU"].dtype)
        for shape in shapes[3:]
    )
    text = "mmaf_scaled %a, %b, %c, %d, %e : {A}, {B}, {C}, {D}, {E}"
    found, _ = launch(text, [a, b, c, sa, sb], [source, source, "f32", "f8E8M0FNU", "f8E8M0FNU"])
    narrow, wide, single = scalar.FLOATS[source], scalar.FLOATS["f64"], scalar.FLOATS["f32"]

    def factor(tile: Any, scales: Any, *at: int, row: int) -> Any:
        value = scalar.value(int(patterns(tile)[at]), narrow)
        return value * Fraction(2) ** (int(patterns(scales).reshape(BLOCKS, 4)[at[0], row]) - 127)

    for block, i, j in np.ndindex(BLOCKS, 4, 4):
        total = int(patterns(c)[block, i, j])
        for k in range(32):
            x, y = factor(a, sa, block, i, k, row=i), factor(b, sb, block, k, j, row=j)
            z = scalar.value(total, single)
            if all(isinstance(v, Fraction) for v in (x, y, z)):
                signs = [
                    int(patterns(t)[at]) & narrow.sign for t, at in ((a, (block, i, k)), (b, (block, k, j)))
                ]
                both = total == single.sign and signs[0] != signs[1]
                total = scalar.rounded(x * y + z, single, minus=x * y == 0 and both)
                continue
            # Infinities and NaNs behave as in any format.
            bits = [
                scalar.rounded(v, wide) if isinstance(v, Fraction) else scalar.infinite(v, wide)
                for v in (x, y, z)
            ]
            total = scalar.convert(scalar.fused(*bits, wide), wide, single, "nearest_even")
        assert int(patterns(found)[block, i, j]) == total, (block, i, j)


@operation("mmaf_scaled", "unpack", oracle="exact")
@pytest.mark.parametrize(("scale", "block"), [("f8E8M0FNU", 16), ("f8E8M0FNU", 32), ("f8E4M3FN", 16)])
def test_mmaf_scaled_of_four_bits(scale: str, block: int) -> None:
    rng = np.random.default_rng(5)
    k = 64
    codes = [rng.integers(0, 16, shape).astype(np.uint8) for shape in ((BLOCKS, 4, k), (BLOCKS, k, 2))]
    a, b = (
        (c.reshape(BLOCKS, -1)[:, 0::2] | c.reshape(BLOCKS, -1)[:, 1::2] << 4).view(np.int8) for c in codes
    )
    c = some(rng, (BLOCKS, 4, 2), "f32")
    powers = [2.0 ** rng.integers(-3, 4, s) for s in ((BLOCKS, 4, k // block), (BLOCKS, k // block, 2))]
    sa, sb = (p.astype(FORMATS[scale].dtype) for p in powers)
    text = f"""
      %ua = unpack %a : {{A}} -> tile<{4 * k}xf4E2M1FN>
      %va = reshape %ua : tile<{4 * k}xf4E2M1FN> -> tile<4x{k}xf4E2M1FN>
      %ub = unpack %b : {{B}} -> tile<{2 * k}xf4E2M1FN>
      %vb = reshape %ub : tile<{2 * k}xf4E2M1FN> -> tile<{k}x2xf4E2M1FN>
      %r = mmaf_scaled %va, %vb, %c, %d, %e
        : tile<4x{k}xf4E2M1FN>, tile<{k}x2xf4E2M1FN>, {{C}}, {{D}}, {{E}}"""
    found, _ = launch(text, [a, b, c, sa, sb], ["i8", "i8", "f32", scale, scale])
    table = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)
    values = [np.where(x < 8, table[x & 7], -table[x & 7]).astype(np.float32) for x in codes]
    left = values[0] * np.repeat(sa.astype(np.float32), block, axis=2)
    right = values[1] * np.repeat(sb.astype(np.float32), block, axis=1)
    np.testing.assert_array_equal(patterns(found), exact_chain(left, right, c, "f32", "f32"))


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=operation(kind, oracle="numpy")) for kind in ("mmaf", "mmai")]
)
def test_a_lane_without_a_value_takes_its_row_or_column(kind: str) -> None:
    element, target, how = ("f16", "f32", "") if kind == "mmaf" else ("i8", "i32", " signed signed")
    a, b = np.ones((BLOCKS, 4, 8), FORMATS[element].dtype), np.ones((BLOCKS, 8, 2), FORMATS[element].dtype)
    c = np.zeros((BLOCKS, 4, 2), FORMATS[target].dtype)
    masks = [np.ones(x.shape, np.bool_) for x in (a, b, c)]
    masks[0][0, 1, 5] = masks[1][1, 3, 0] = masks[2][0, 3, 1] = False
    found, undefined = launch(
        f"{kind} %a, %b, %c{how} : {{A}}, {{B}}, {{C}}", [a, b, c], [element, element, target], masks=masks
    )
    expected = np.zeros(c.shape, np.bool_)
    expected[0, 1, :] = expected[1, :, 0] = expected[0, 3, 1] = True
    np.testing.assert_array_equal(undefined, expected)
    assert set(found[~expected].tolist()) == {8}
