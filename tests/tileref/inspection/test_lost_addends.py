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
    text = loop("%m = addf %a, %x : tile<f16>", start=2048.0, count=64)
    for addend in (0.0, -0.0, np.inf, np.nan):
        assert lints(text, [np.float16(addend)]) == []
    assert lints(text, [2.0]) == []
    infinite = loop("%m = addf %a, %x : tile<f16>", start=np.inf, count=64).replace("f16: inf", "f16: 0x7C00")
    assert lints(infinite, [1.0]) == []
    (lint,) = lints(text, [-0.5])
    assert (lint.count, lint.of) == (64, 64)


def test_what_would_not_change_the_sum_at_once_either_is_ordinary_rounding() -> None:
    tiny = loop("%m = fma %x, %x, %a : tile<f64>", start=1.0, carried="f64", count=64)
    assert lints(tiny, [5e-324]) == []
    text = loop("%m = addf %x, %a : tile<f64>", start=1.0, carried="f64", count=64)
    # The last place of 1 is 2^-52: 64 times 2^-56 are 4 of it, 64 times 2^-55 are 8.
    assert lints(text, [2.0**-56]) == []
    (lint,) = lints(text, [2.0**-55])
    assert (lint.count, lint.of, lint.step) == (64, 64, (0,))


@pytest.mark.parametrize(("ones", "told"), [(31, False), (32, True)])
def test_how_many_in_a_row(ones: int, told: bool) -> None:
    x = np.ones(64, np.float16)
    x[0] = 2048
    x[1 + ones :] = 2
    found = lints(fold("reduce", "f16", 64), [x])
    assert [lint.count for lint in found] == ([32] if told else [])


def test_zeros_do_not_end_a_row_and_what_shows_does() -> None:
    x = np.ones(128, np.float16)
    x[0] = 2048
    x[1::2] = 0
    (lint,) = lints(fold("reduce", "f16", 128), [x])
    assert (lint.count, lint.of, lint.step) == (63, 63, (1,))
    x = np.ones(128, np.float16)
    x[0] = 2048
    x[::16] = 2048
    assert lints(fold("reduce", "f16", 128), [x]) == []


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("element", ["f16", "bf16", "f32"])
def test_ordinary_rounding_is_not_told(element: str, seed: int) -> None:
    """Addends of all sizes and both signs: some are lost, and the sum is none the worse for it."""
    random = np.random.default_rng(seed)
    dtype = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32}[element]
    spread = random.standard_normal(1024) * np.exp2(random.integers(-30, 1, 1024))
    decaying = np.exp2(-np.arange(1024) / 4)
    for values in (spread, decaying, random.standard_normal(1024)):
        assert lints(fold("reduce", element, 1024), [values.astype(dtype)]) == []


def test_the_first_lane_and_block() -> None:
    """Lane 5 sticks at step 2048, from which 1 does not move it; the others do not, as they add 2 or nothing."""
    text = f"""
    entry @k(%x: tile<ptr<f16>>) {{
      {load("f16", 8)}
      %bx, %by, %bz = get_tile_block_id : tile<i32>
      %zero = constant <i32: 0> : tile<i32>
      %step = constant <i32: 1> : tile<i32>
      %n = constant <i32: 100> : tile<i32>
      %start = constant <f16: 2048.0> : tile<8xf16>
      %s = for %j in (%zero to %n, step %step) : tile<i32> iter_values(%a = %start) -> (tile<8xf16>) {{
        %m = addf %a, %v : tile<8xf16>
        continue %m : tile<8xf16>
      }}
      return
    }}
    """
    x = np.full(8, 2, np.float16)
    x[5], x[6] = 1, 0
    (lint,) = lints(text, [x], blocks=2)
    assert (lint.lane, lint.step, lint.block, lint.count) == ((5,), (0,), (0, 0, 0), 2 * 100)


def test_sums_of_what_is_not_carried_are_not_looked_at() -> None:
    body = "%o = addf %x, %one : tile<f16>\n %m = mulf %a, %o : tile<f16>"
    assert lints(loop(body, start=1.0, count=3), [2048.0]) == []


def test_elements_without_a_value_are_not_lost() -> None:
    x = np.ones(64, np.float16)
    x[0] = 2048
    # Element 40 is not there, and nothing is after it.
    assert lints(fold("reduce", "f16", 64), [x[:40]])[0].of == 39
    (lint,) = lints(fold("reduce", "f16", 64), [x])
    assert (lint.count, lint.of) == (63, 63)


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
      {load("f16", 16 * 1024)}
      %a = reshape %v : tile<16384xf16> -> tile<16x1024xf16>
      %b = constant <f16: 1.0> : tile<1024x32xf16>
      %z = constant <f16: START> : tile<16x32xf16>
      %m = mmaf %a, %b, %z : tile<16x1024xf16>, tile<1024x32xf16>, tile<16x32xf16>
      return
    }}
    """
    ones = np.ones(16384, np.float16)
    (spec,) = lints(text.replace("START", "2048.0"), [ones])
    assert (spec.count, spec.of, spec.step) == (1024 * 512, 1024 * 512, (0,))
    assert lints(text.replace("START", "2048.0"), [ones], model="sm_90") == []
    # Half of a unit in the last place is a tie, which goes to the even accumulator.
    (ties,) = lints(text.replace("START", "32768.0"), [ones], model="sm_90")
    assert (ties.count, ties.of, ties.step) == (64 * 512, 64 * 512, (0,))


def test_products_summed_before_the_accumulator() -> None:
    """In f32 the sum of 8 ones is exact, and lost when the accumulator is added at last, turn after turn."""
    text = f"""
    entry @k(%x: tile<ptr<f32>>) {{
      {load("f32", 8)}
      %a = reshape %v : tile<8xf32> -> tile<1x8xf32>
      %b = reshape %v : tile<8xf32> -> tile<8x1xf32>
      %z = constant <f32: 1.0e9> : tile<1x1xf32>
      %zero = constant <i32: 0> : tile<i32>
      %step = constant <i32: 1> : tile<i32>
      %n = constant <i32: 80> : tile<i32>
      %s = for %j in (%zero to %n, step %step) : tile<i32> iter_values(%c = %z) -> (tile<1x1xf32>) {{
        %m = mmaf %a, %b, %c : tile<1x8xf32>, tile<8x1xf32>, tile<1x1xf32>
        continue %m : tile<1x1xf32>
      }}
      return
    }}
    """
    (lint,) = lints(text, [np.ones(8, np.float32)], model="sm_90")
    assert lint.step == (0, 8)
    assert (lint.count, lint.of) == (80, 80 * 9)
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
        "256.0 + 1.0 is 256.0 in bf16, and so on: the accumulator sticks [lost-addend, 256 of 511]"
    )


def test_there_is_no_such_lint() -> None:
    with pytest.raises(ArgumentError, match=r"no such lint.*expected lost-addend"):
        run(fold("reduce", "f16", 4), 1, [np.ones(4, np.float16)], lint="typo")
    assert run(fold("reduce", "f16", 4), 1, [np.ones(4, np.float16)]).lints == []
