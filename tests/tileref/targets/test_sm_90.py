"""Single answers of an H200 that tell the sm_90 model from plausible others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileir
import tileref
from tests.tileref.support import pointers, run
from tileir.ops.reduction import Reduce
from tileref.numerics.formats import FORMATS, FloatFormat, IntegerFormat
from tileref.targets.sm_90_layout import fresh, layout, warps_of


def one(
    operation: str, formats: list[str], patterns: list[int], result: str, model: str = "sm_90"
) -> tuple[int, tileref.LaunchResult]:
    """The pattern that ``%r = operation`` of operands %a, %b, ... with these patterns has."""
    names = "abc"[: len(formats)]
    parameters = "".join(f"%p{n}: tile<ptr<{f}>>, " for n, f in zip(names, formats, strict=True))
    loads = "".join(
        f"""
        {pointers(f"p{n}", f"at_{n}", f, 1, "zero")}
        %{n}, %t{n} = load_ptr_tko weak %at_{n} : tile<1xptr<{f}>> -> tile<1x{f}>, token
        """
        for n, f in zip(names, formats, strict=True)
    )
    text = f"""
    entry @k({parameters}%out: tile<ptr<{result}>>) {{
      %zero = iota : tile<1xi32>
      {loads}
      %r = {operation}
      {pointers("out", "to", result, 1, "zero")}
      %t = store_ptr_tko weak %to, %r : tile<1xptr<{result}>>, tile<1x{result}> -> token
      return
    }}
    """

    def array(fmt: str, pattern: int) -> np.ndarray[Any, Any]:
        known = FORMATS[fmt]
        dtype = known.bits_dtype if isinstance(known, FloatFormat) else known.unsigned_dtype
        return np.array([pattern], dtype).view(known.dtype)

    out = array(result, 0)
    outcome = run(text, 1, [*map(array, formats, patterns), out], model=model)
    known = FORMATS[result]
    unsigned = known.unsigned_dtype if isinstance(known, IntegerFormat) else known.bits_dtype
    return int(out.view(unsigned)[0]), outcome


@pytest.mark.parametrize(
    ("source", "target", "pattern", "device", "spec"),
    [
        # 107.99..., a midpoint once it is rounded to f32; 1.0625 and a bit
        ("f64", "f8E4M3FN", 0x405AFFFFFFFFFFFF, 0x6E, 0x6D),
        ("f64", "f8E4M3FN", 0x3FF1000000000001, 0x38, 0x39),
        # beyond the largest finite value, and infinite
        ("f32", "f8E4M3FN", 0x47000000, 0x7E, 0x7F),
        ("f32", "f8E5M2", 0xFF800000, 0xFB, 0xFC),
        # NaNs: sign and payload kept and made quiet, kept as they are, or forgotten
        ("f32", "f64", 0x7FBE9548, 0x7FFFD2A900000000, 0x7FF8000000000000),
        ("f64", "f32", 0xFFF090E5C158DDCC, 0xFFC4872E, 0x7FC00000),
        ("bf16", "f32", 0x7F81, 0x7F810000, 0x7FC00000),
        ("f16", "f32", 0x7C01, 0x7FFFFFFF, 0x7FC00000),
        ("f16", "f64", 0x7C01, 0x7FF8040000000000, 0x7FF8000000000000),
        ("f64", "f16", 0xFFF090E5C158DDCC, 0xFE24, 0x7E00),
    ],
)
def test_conversions(source: str, target: str, pattern: int, device: int, spec: int) -> None:
    operation = f"ftof %a : tile<1x{source}> -> tile<1x{target}>"
    assert one(operation, [source], [pattern], target)[0] == device
    assert one(operation, [source], [pattern], target, "spec")[0] == spec


def test_an_integer_becomes_an_8_bit_float_by_way_of_f16() -> None:
    operation = "itof %a signed : tile<1xi16> -> tile<1xf8E5M2>"
    assert one(operation, ["i16"], [0x0901], "f8E5M2")[0] == 0x68
    assert one(operation, ["i16"], [0x0901], "f8E5M2", "spec")[0] == 0x69


NAN = 0x7FF8000000000000
"""A quiet f64 NaN with an empty payload; its low bits tell operands apart."""
SIGNALLING = 0x7FF0000000000000
SIGN = 1 << 63
ONE = 0x3FF0000000000000


@pytest.mark.parametrize(
    ("operation", "patterns", "device"),
    [
        ("addf %a, %b : tile<1xf64>", [SIGNALLING + 1, SIGN + NAN + 2], SIGN + NAN + 2),
        ("addf %a, %b : tile<1xf64>", [SIGNALLING + 1, ONE], NAN + 1),
        ("divf %a, %b : tile<1xf64>", [SIGNALLING + 1, SIGN + NAN + 2], NAN + 1),
        ("fma %a, %b, %c : tile<1xf64>", [NAN + 1, NAN + 2, NAN + 3], NAN + 2),
        ("fma %a, %b, %c : tile<1xf64>", [NAN + 1, ONE, NAN + 3], NAN + 3),
        ("subf %a, %a : tile<1xf64>", [SIGNALLING], SIGN + NAN),
        ("subf %a, %a : tile<1xf32>", [0x7F800000], 0x7FFFFFFF),
        ("negf %a : tile<1xf32>", [0x7F800001], 0x7FFFFFFF),
        ("negf %a : tile<1xf64>", [NAN + 1], NAN + 1),
        ("maxf %a, %b propagate_nan : tile<1xf64>", [SIGN + NAN + 1, ONE], NAN),
    ],
)
def test_nans(operation: str, patterns: list[int], device: int) -> None:
    fmt = operation.rsplit("x", 1)[1].rstrip(">")
    assert one(operation, [fmt] * len(patterns), patterns, fmt)[0] == device


def test_a_product_that_was_subnormal_before_rounding_is_flushed() -> None:
    # (1 - 2^-24) * 2^-126 rounds up to the smallest normal number.
    patterns = [0x3F7FFFFF, 0x00800000]
    flushed = "mulf %a, %b flush_to_zero : tile<1xf32>"
    assert one(flushed, ["f32"] * 2, patterns, "f32")[0] == 0
    assert one(flushed, ["f32"] * 2, patterns, "f32", "spec")[0] == 0x00800000


@pytest.mark.parametrize(
    ("operation", "pattern", "device"),
    [
        # f16 arguments at which the answer is not the correctly rounded one: f32 lies on the other side
        ("exp2 %a : tile<1xf16>", 0x11C5, 0x3C01),
        ("log %a : tile<1xf16>", 0x1935, 0xC5FA),
        ("tan %a : tile<1xf16>", 0xF74A, 0xC7E9),
        # f32, by the hardware's tables
        ("exp2 %a : tile<1xf32>", 0xC010F76D, 0x3E550721),
        ("rsqrt %a : tile<1xf32>", 0x7806ADC0, 0x23307952),
        ("sqrt %a rounding<approx> : tile<1xf32>", 0x30E43655, 0x382AE9A9),
        ("exp %a rounding<approx> : tile<1xf32>", 0x4238E5A8, 0x60CE25AA),
    ],
)
def test_math(operation: str, pattern: int, device: int) -> None:
    fmt = operation.rsplit("x", 1)[1].rstrip(">")
    answer, outcome = one(operation, [fmt], [pattern], fmt)
    assert answer == device
    assert not outcome.unexplained


def test_what_is_not_known_is_not_claimed() -> None:
    angle = "atan2 %a, %b : tile<1xf64>"
    _, outcome = one(angle, ["f64", "f64"], [ONE, ONE], "f64")
    (explanation,) = outcome.unexplained
    assert (explanation.operation, set(explanation.formats), explanation.ulps) == ("atan2", {"f64"}, 0)
    assert not one(angle, ["f64", "f64"], [ONE, ONE], "f64", "spec")[1].unexplained


@pytest.mark.parametrize(
    ("shape", "lanes", "warps"),
    [
        ((4096,), (32,), (4,)),
        ((16,), (16,), (1,)),
        ((64, 32), (32, 1), (2, 2)),
        ((16, 16), (16, 2), (1, 4)),
        ((2, 256), (2, 16), (1, 4)),
        ((4, 8, 16), (4, 8, 1), (1, 1, 4)),
        ((16, 4, 64), (16, 2, 1), (1, 2, 2)),
    ],
)
def test_a_fresh_tile_is_spread_from_dimension_0_on(
    shape: tuple[int, ...], lanes: tuple[int, ...], warps: tuple[int, ...]
) -> None:
    found = fresh(shape, 4)
    assert (found.lanes, found.warps) == (lanes, warps)


def reductions(body: str) -> list[Reduce]:
    text = f"""
    entry @k(%p: tile<ptr<f32>>) optimization_hints=<sm_90 = {{num_worker_warps_per_cta = 8 : i32}}> {{
      %zero = constant <i32: 0> : tile<i32>
      %t = make_tensor_view %p, shape = [32, 64], strides = [64, 1] : tensor_view<32x64xf32, strides=[64,1]>
      %v = make_partition_view %t : partition_view<tile=(32x64), tensor_view<32x64xf32, strides=[64,1]>>
      %x, %token = load_view_tko weak %v[%zero, %zero]
          : partition_view<tile=(32x64), tensor_view<32x64xf32, strides=[64,1]>>, tile<i32> -> tile<32x64xf32>, token
      {body}
      return
    }}
    """
    module = tileir.parse(text)
    assert warps_of(module.functions[0]) == 8
    return [op for op in module.walk() if isinstance(op, Reduce)]


FOLD = "(%l: tile<f32>, %r: tile<f32>) { %s = addf %l, %r : tile<f32> yield %s : tile<f32> }"


def test_a_layout_is_followed_through_element_by_element_operations() -> None:
    (reduce,) = reductions(f"""
      %one = constant <f32: 1.000000e+00> : tile<32x64xf32>
      %y = addf %one, %x : tile<32x64xf32>
      %z = exp2 %y : tile<32x64xf32>
      %w = reduce %z dim=1 identities=[0.000000e+00 : f32] : tile<32x64xf32> -> tile<32xf32> {FOLD}
    """)
    assert layout(reduce.operands[0], 4).known
    assert tileref.model("sm_90").explanation(reduce).exact


@pytest.mark.parametrize(
    "made",
    [
        "%y = permute %x [1, 0] : tile<32x64xf32> -> tile<64x32xf32>",
        "%y = reshape %x : tile<32x64xf32> -> tile<64x32xf32>",
    ],
)
def test_what_moves_elements_is_not_claimed(made: str) -> None:
    (reduce,) = reductions(f"""
      {made}
      %w = reduce %y dim=1 identities=[0.000000e+00 : f32] : tile<64x32xf32> -> tile<64xf32> {FOLD}
    """)
    explanation = tileref.model("sm_90").explanation(reduce)
    assert not explanation.exact
    assert "tile<64x32xf32>" in explanation.reason


def test_a_reduction_of_a_reduction_is_not_claimed_but_for_bodies_without_an_order() -> None:
    first, second = reductions(f"""
      %y = reduce %x dim=0 identities=[0.000000e+00 : f32] : tile<32x64xf32> -> tile<64xf32> {FOLD}
      %w = reduce %y dim=0 identities=[0.000000e+00 : f32] : tile<64xf32> -> tile<f32> {FOLD}
    """)
    model = tileref.model("sm_90")
    assert model.explanation(first).exact
    assert not model.explanation(second).exact
    extreme = FOLD.replace("addf", "maxf")
    _, second = reductions(f"""
      %y = reduce %x dim=0 identities=[0.000000e+00 : f32] : tile<32x64xf32> -> tile<64xf32> {FOLD}
      %w = reduce %y dim=0 identities=[0xFF800000 : f32] : tile<64xf32> -> tile<f32> {extreme}
    """)
    assert model.explanation(second).exact


INTEGER = """
entry @k(%a: tile<ptr<i8>>, %b: tile<ptr<i8>>, %c: tile<ptr<i32>>) {{
  %z = constant <i32: 0> : tile<i32>
  %ta = make_tensor_view %a, shape = [{m}, {k}], strides = [{k}, 1] : tensor_view<{m}x{k}xi8, strides=[{k},1]>
  %va = make_partition_view %ta : partition_view<tile=({m}x{k}), tensor_view<{m}x{k}xi8, strides=[{k},1]>>
  %tb = make_tensor_view %b, shape = [{k}, {n}], strides = [{n}, 1] : tensor_view<{k}x{n}xi8, strides=[{n},1]>
  %vb = make_partition_view %tb : partition_view<tile=({k}x{n}), tensor_view<{k}x{n}xi8, strides=[{n},1]>>
  %tc = make_tensor_view %c, shape = [{m}, {n}], strides = [{n}, 1] : tensor_view<{m}x{n}xi32, strides=[{n},1]>
  %vc = make_partition_view %tc : partition_view<tile=({m}x{n}), tensor_view<{m}x{n}xi32, strides=[{n},1]>>
  %x, %t0 = load_view_tko weak %va[%z, %z]
      : partition_view<tile=({m}x{k}), tensor_view<{m}x{k}xi8, strides=[{k},1]>>, tile<i32> -> tile<{m}x{k}xi8>, token
  %y, %t1 = load_view_tko weak %vb[%z, %z]
      : partition_view<tile=({k}x{n}), tensor_view<{k}x{n}xi8, strides=[{n},1]>>, tile<i32> -> tile<{k}x{n}xi8>, token
  %w, %t2 = load_view_tko weak %vc[%z, %z]
      : partition_view<tile=({m}x{n}), tensor_view<{m}x{n}xi32, strides=[{n},1]>>, tile<i32> -> tile<{m}x{n}xi32>, token
  %r = mmai %x, %y, %w signed signed : tile<{m}x{k}xi8>, tile<{k}x{n}xi8>, tile<{m}x{n}xi32>
  %t3 = store_view_tko weak %r, %vc[%z, %z]
      : tile<{m}x{n}xi32>, partition_view<tile=({m}x{n}), tensor_view<{m}x{n}xi32, strides=[{n},1]>>, tile<i32> -> token
  return
}}
"""


@pytest.mark.parametrize(
    ("m", "n", "k", "model", "expected"),
    [
        # 32 products of +1 and then 32 of -1, on top of the largest i32
        (32, 32, 64, "sm_90", 2**31 - 1 - 32),
        (32, 32, 64, "spec", 2**31 - 1),
        (16, 8, 64, "sm_90", 2**31 - 1),
    ],
)
def test_integer_products_stop_at_the_end_on_tensor_cores(
    m: int, n: int, k: int, model: str, expected: int
) -> None:
    a = np.ones((m, k), np.int8)
    b = np.ones((k, n), np.int8)
    b[32:] = -1
    c = np.full((m, n), 2**31 - 1, np.int32)
    run(INTEGER.format(m=m, n=n, k=k), 1, [a, b, c], model=model)
    assert (c == expected).all()
