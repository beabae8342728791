"""The lint for addends that are lost, on sums whose every step is known."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tileref
from tests.tileref.support import pointers, run
from tileir.errors import ArgumentError

STICKS = 2048
"""The f16 that one more does not change."""
COUNT = 2112


def load(element: str, count: int) -> str:
    return f"""
      %i = iota : tile<{count}xi32>
      {pointers("x", "p", element, count, "i")}
      %v, %t = load_ptr_tko weak %p : tile<{count}xptr<{element}>> -> tile<{count}x{element}>, token
    """


def fold(kind: str, element: str, count: int, body: str = "addf %l, %r") -> str:
    result = f"tile<{count}x{element}>" if kind == "scan" else f"tile<{element}>"
    direction = "reverse=false " if kind == "scan" else ""
    return f"""
    entry @k(%x: tile<ptr<{element}>>) {{
      {load(element, count)}
      %s = {kind} %v dim=0 {direction}identities=[0.0 : {element}] : tile<{count}x{element}> -> {result}
      (%l: tile<{element}>, %r: tile<{element}>) {{
        %m = {body} : tile<{element}>
        yield %m : tile<{element}>
      }}
      return
    }}
    """


def loop(body: str, start: float = 0.0, carried: str = "f16", count: int = COUNT) -> str:
    return f"""
    entry @k(%x: tile<{carried}>) {{
      %zero = constant <i32: 0> : tile<i32>
      %step = constant <i32: 1> : tile<i32>
      %n = constant <i32: {count}> : tile<i32>
      %start = constant <{carried}: {start:e}> : tile<{carried}>
      %one = constant <{carried}: 1.0> : tile<{carried}>
      %s = for %i in (%zero to %n, step %step) : tile<i32> iter_values(%a = %start) -> (tile<{carried}>) {{
        {body}
        continue %m : tile<{carried}>
      }}
      return
    }}
    """


def lints(text: str, args: list[Any], blocks: int = 1, **options: Any) -> list[tileref.Lint]:
    return run(text, blocks, args, lint="lost-addend", **options).lints


@pytest.mark.parametrize("kind", ["reduce", "scan"])
def test_ones_in_a_fold(kind: str) -> None:
    (lint,) = lints(fold(kind, "f16", COUNT), [np.ones(COUNT, np.float16)], blocks=2)
    # The sum of the first 2048 is 2048; step i adds element i + 1.
    assert lint.kind == "lost-addend"
    assert lint.operation == "addf"
    assert lint.step == (STICKS - 1,)
    assert lint.block == (0, 0, 0)
    assert (lint.count, lint.of) == (2 * (COUNT - STICKS), 2 * (COUNT - 1))
    assert "2048.0 + 1.0 is 2048.0 in f16" in lint.message


@pytest.mark.parametrize(
    "body",
    [
        "%m = addf %a, %x : tile<f16>",
        "%m = addf %x, %a : tile<f16>",
        "%m = fma %x, %one, %a : tile<f16>",
        "%m = fma %a, %one, %x : tile<f16>",
        "%h = mulf %a, %one : tile<f16>\n %m = addf %h, %x : tile<f16>",
    ],
)
def test_ones_in_a_loop(body: str) -> None:
    (lint,) = lints(loop(body), [1.0], blocks=3)
    assert lint.step == (STICKS,)
    assert (lint.count, lint.of) == (3 * (COUNT - STICKS), 3 * COUNT)


def test_zeros_infinities_and_nans_are_not_lost() -> None:
    text = loop("%m = addf %a, %x : tile<f16>", start=2048.0, count=3)
    for addend in (0.0, -0.0, np.inf, np.nan):
        assert lints(text, [np.float16(addend)]) == []
    assert lints(text, [2.0]) == []
    infinite = loop("%m = addf %a, %x : tile<f16>", start=np.inf, count=3).replace("f16: inf", "f16: 0x7C00")
    assert lints(infinite, [1.0]) == []
    (lint,) = lints(text, [-0.5])
    assert (lint.count, lint.of) == (3, 3)
    # A product too small for f64 is still no zero.
    tiny = loop("%m = fma %x, %x, %a : tile<f64>", start=1.0, carried="f64", count=2)
    (lint,) = lints(tiny, [5e-324])
    assert (lint.count, lint.of) == (2, 2)


def test_sums_of_what_is_not_carried_are_not_looked_at() -> None:
    body = "%o = addf %x, %one : tile<f16>\n %m = mulf %a, %o : tile<f16>"
    assert lints(loop(body, start=1.0, count=3), [2048.0]) == []


def test_elements_without_a_value_are_not_lost() -> None:
    x = np.full(4, 2048, np.float16)
    x[1:] = 1
    # Element 4 is not there, and nothing is after it.
    assert lints(fold("reduce", "f16", 8), [x[:4]])[0].of == 3
    (lint,) = lints(fold("reduce", "f16", 4), [x])
    assert (lint.count, lint.of) == (3, 3)


@pytest.mark.parametrize("target", ["f16", "f32"])
def test_a_matrix_product_by_the_step(target: str) -> None:
    """Row 0 is ones, row 1 zeros: only one of the two sums sticks."""
    count = COUNT
    text = f"""
    entry @k(%x: tile<ptr<f16>>) {{
      {load("f16", 2 * count)}
      %a = reshape %v : tile<{2 * count}xf16> -> tile<2x{count}xf16>
      %b = constant <f16: 1.0> : tile<{count}x1xf16>
      %z = constant <{target}: 0.0> : tile<2x1x{target}>
      %m = mmaf %a, %b, %z : tile<2x{count}xf16>, tile<{count}x1xf16>, tile<2x1x{target}>
      return
    }}
    """
    x = np.zeros((2, count), np.float16)
    x[0] = 1
    found = lints(text, [x.reshape(-1)])
    if target == "f32":
        assert found == []
        return
    (lint,) = found
    assert lint.operation == "mmaf"
    assert (lint.lane, lint.step) == ((0, 0), (STICKS,))
    assert (lint.count, lint.of) == (count - STICKS, count)


def test_a_matrix_product_as_the_model_sums() -> None:
    """A tensor core adds 16 products at once, to which an accumulator of 2^15 does not stick yet."""
    text = f"""
    entry @k(%x: tile<ptr<f16>>) {{
      {load("f16", 32 * 64)}
      %a = reshape %v : tile<2048xf16> -> tile<32x64xf16>
      %b = constant <f16: 1.0> : tile<64x32xf16>
      %z = constant <f16: START> : tile<32x32xf16>
      %m = mmaf %a, %b, %z : tile<32x64xf16>, tile<64x32xf16>, tile<32x32xf16>
      return
    }}
    """
    ones = np.ones(2048, np.float16)
    (spec,) = lints(text.replace("START", "2048.0"), [ones])
    assert (spec.count, spec.of, spec.step) == (64 * 1024, 64 * 1024, (0,))
    assert lints(text.replace("START", "2048.0"), [ones], model="sm_90") == []
    # Half of a unit in the last place is a tie, which goes to the even accumulator.
    (ties,) = lints(text.replace("START", "32768.0"), [ones], model="sm_90")
    assert (ties.count, ties.of, ties.step) == (4 * 1024, 4 * 1024, (0,))


def test_products_summed_before_the_accumulator() -> None:
    """In f32 the sum of 8 ones is exact, and lost when the accumulator is added at last."""
    text = f"""
    entry @k(%x: tile<ptr<f32>>) {{
      {load("f32", 8)}
      %a = reshape %v : tile<8xf32> -> tile<1x8xf32>
      %b = reshape %v : tile<8xf32> -> tile<8x1xf32>
      %z = constant <f32: 1.0e9> : tile<1x1xf32>
      %m = mmaf %a, %b, %z : tile<1x8xf32>, tile<8x1xf32>, tile<1x1xf32>
      return
    }}
    """
    (lint,) = lints(text, [np.ones(8, np.float32)], model="sm_90")
    assert lint.step == (8,)
    assert (lint.count, lint.of) == (1, 9)
    assert "1000000000.0 + 8.0" in lint.message


def test_bf16_and_one_report_an_operation() -> None:
    x = np.ones(512, ml_dtypes.bfloat16)
    (lint,) = lints(fold("reduce", "bf16", 512), [x])
    assert lint.step == (255,)
    assert "in bf16" in lint.message
    found = run(fold("reduce", "bf16", 512), 1, [x], lint=["lost-addend", "lost-addend"])
    assert len(found.lints) == 1
    assert str(found.lints[0]) == (
        "addf, block (0, 0, 0), lane (), step (255,): "
        "256 + 1 is 256 in bf16: the addend is lost [lost-addend, 256 of 511]"
    )


def test_there_is_no_such_lint() -> None:
    with pytest.raises(ArgumentError, match=r"no such lint.*expected lost-addend"):
        run(fold("reduce", "f16", 4), 1, [np.ones(4, np.float16)], lint="typo")
    assert run(fold("reduce", "f16", 4), 1, [np.ones(4, np.float16)]).lints == []
