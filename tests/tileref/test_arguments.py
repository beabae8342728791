"""A launch refuses what it cannot run, before anything runs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tileir
import tileref
from tests.tileref.scalar import numbers as scalar
from tests.tileref.support import pointers, run
from tileir.errors import ArgumentError, TileError, UnsupportedError
from tileref.numerics.formats import FORMATS

FILL = f"""
entry @fill(%out: tile<ptr<f32>>, %value: tile<f32>) {{
  %lanes = iota : tile<8xi32>
  {pointers("out", "at", "f32", 8, "lanes")}
  %one = reshape %value : tile<f32> -> tile<1xf32>
  %many = broadcast %one : tile<1xf32> -> tile<8xf32>
  %token = store_ptr_tko weak %at, %many : tile<8xptr<f32>>, tile<8xf32> -> token
  return
}}
"""


def out() -> np.ndarray[Any, Any]:
    return np.zeros(8, np.float32)


@pytest.mark.parametrize("value", [1.5, np.float32(1.5), np.array(1.5, np.float32), 1])
def test_scalars(value: Any) -> None:
    array = out()
    run(FILL, 1, [array, value])
    assert (array == np.float32(value)).all()


@pytest.mark.parametrize(
    ("args", "rule"),
    [
        ([out()], "argument-count"),
        ([out(), 1.0, 2.0], "argument-count"),
        ([[0.0] * 8, 1.0], "argument-type"),
        ([np.zeros(8, np.float64), 1.0], "argument-type"),
        ([np.zeros(8, np.int32), 1.0], "argument-type"),
        ([np.zeros((8, 2), np.float32)[:, 0], 1.0], "argument-layout"),
        ([out(), "1.0"], "argument-type"),
        ([out(), np.float64(1.0)], "argument-type"),
        ([out(), out()], "argument-type"),
        ([out()[::-1], 1.0], "argument-layout"),
        ([np.broadcast_to(np.float32(0), (8,)), 1.0], "argument-read-only"),
        ([out().astype(">f4"), 1.0], "argument-type"),
        ([np.zeros(8, object), 1.0], "argument-type"),
        ([np.zeros(8, [("x", "f4")]), 1.0], "argument-type"),
        ([np.ma.masked_array(out()), 1.0], "argument-type"),
        ([None, 1.0], "argument-type"),
        ([out(), None], "argument-type"),
        ([out(), 1j], "argument-type"),
        ([out(), 10**400], "argument-range"),
        (None, "argument-count"),
        ("ab", "argument-count"),
        ({0: out(), 1: 1.0}, "argument-count"),
        ((x for x in (out(), 1.0)), "argument-count"),
    ],
)
def test_arguments_are_refused(args: Any, rule: str) -> None:
    with pytest.raises(ArgumentError) as error:
        run(FILL, 1, args)
    assert error.value.rule == rule
    assert error.value.expected is not None or rule == "argument-read-only"
    for array in args if isinstance(args, list) else []:
        assert not isinstance(array, np.ndarray) or not array.any()


@pytest.mark.parametrize(
    "grid",
    [0, -1, (), (1, 1, 1, 1), (1, 0), 1 << 24, "1", (1.5,), 1.0, None, np.array(2), [[1], 2], object()],
)
def test_grids_are_refused(grid: Any) -> None:
    with pytest.raises(ArgumentError) as error:
        run(FILL, grid, [out(), 1.0])
    assert error.value.rule == "grid"


@pytest.mark.parametrize("number", [-129, 256, 1 << 40])
def test_an_integer_that_does_not_fit_is_refused(number: int) -> None:
    text = "entry @k(%x: tile<i8>) { return }"
    with pytest.raises(ArgumentError) as error:
        run(text, 1, [number])
    assert error.value.rule == "argument-range"
    for fits in (-128, 255, np.int8(-3), np.uint8(200)):
        run(text, 1, [fits])


def test_an_unknown_model_names_those_there_are() -> None:
    with pytest.raises(ArgumentError, match="spec or sm_90"):
        run(FILL, 1, [out(), 1.0], model="sm_1")


def test_several_entries_need_a_name() -> None:
    text = "entry @a() { return } entry @b() { return }"
    with pytest.raises(ArgumentError, match="a, b"):
        run(text, 1, [])
    assert run(text, 1, [], entry="b").entry == "b"
    with pytest.raises(ArgumentError):
        run(text, 1, [], entry="c")


def test_a_missing_file_and_a_foreign_one(tmp_path: Any) -> None:
    with pytest.raises(TileError, match="cannot read"):
        tileref.launch(tmp_path / "none.tilebc", 1, [])
    foreign = tmp_path / "foreign.tilebc"
    foreign.write_bytes(b"\x7fELF" + bytes(60))
    with pytest.raises(TileError, match="not Tile IR") as error:
        tileref.launch(foreign, 1, [])
    assert error.value.offset == 0


def test_several_devices_are_refused_by_name() -> None:
    module = tileir.parse(FILL)
    store = next(op for op in module.walk() if op.mnemonic == "store_ptr_tko")
    from tileir.ops.multimem import MultimemStoreViewTko

    entry = module.functions[0].body
    view = MultimemStoreViewTko(
        view=store.uses[0],
        tile=store.uses[1],
        index=(),
        memory_ordering_semantics=store.memory_ordering_semantics,
        result_types=[store.results[0].type],
    )
    entry.operations.insert(-1, view)
    with pytest.raises(UnsupportedError, match="several devices") as error:
        tileref.launch(module, 1, [out(), 1.0])
    assert error.value.operation == "multimem_store_view_tko"


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, ml_dtypes.float8_e5m2, np.float16])
def test_narrow_floats_go_in_and_out_as_their_own_type(dtype: Any) -> None:
    name = {"bfloat16": "bf16", "float8_e5m2": "f8E5M2", "float16": "f16"}[np.dtype(dtype).name]
    text = f"""
    entry @copy(%a: tile<ptr<{name}>>, %b: tile<ptr<{name}>>) {{
      %lanes = iota : tile<8xi32>
      {pointers("a", "from", name, 8, "lanes")}
      {pointers("b", "to", name, 8, "lanes")}
      %x, %t = load_ptr_tko weak %from : tile<8xptr<{name}>> -> tile<8x{name}>, token
      %u = store_ptr_tko weak %to, %x token = %t : tile<8xptr<{name}>>, tile<8x{name}> -> token
      return
    }}
    """
    source = np.array([0, -0.0, 1, -1.5, np.inf, -np.inf, 0.25, np.nan]).astype(dtype)
    target = np.zeros(8, dtype)
    run(text, 1, [source, target])
    unsigned = f"u{np.dtype(dtype).itemsize}"
    np.testing.assert_array_equal(source.view(unsigned), target.view(unsigned))


def test_an_array_in_the_other_order_is_written_in_place() -> None:
    array = np.zeros((2, 4), np.float32, order="F")
    run(FILL, 1, [array, 2.0])
    assert (array == 2.0).all()


def test_a_read_only_array_is_read_and_not_written() -> None:
    text = f"""
    entry @copy(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {{
      %lanes = iota : tile<8xi32>
      {pointers("a", "from", "f32", 8, "lanes")}
      {pointers("b", "to", "f32", 8, "lanes")}
      %x, %t = load_ptr_tko weak %from : tile<8xptr<f32>> -> tile<8xf32>, token
      %u = store_ptr_tko weak %to, %x token = %t : tile<8xptr<f32>>, tile<8xf32> -> token
      return
    }}
    """
    fixed = np.arange(8, dtype=np.float32)
    fixed.flags.writeable = False
    target = np.zeros(8, np.float32)
    run(text, 1, [fixed, target])
    np.testing.assert_array_equal(target, fixed)
    with pytest.raises(ArgumentError, match="writes to argument 1, which is a read-only array"):
        run(text, 1, [target, fixed])


def test_nothing_has_changed_where_a_read_only_array_would_be() -> None:
    text = f"""
    entry @both(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {{
      %lanes = iota : tile<8xi32>
      {pointers("a", "first", "f32", 8, "lanes")}
      {pointers("b", "second", "f32", 8, "lanes")}
      %one = constant <f32: 1.0> : tile<8xf32>
      %u = store_ptr_tko weak %first, %one : tile<8xptr<f32>>, tile<8xf32> -> token
      %v = store_ptr_tko weak %second, %one : tile<8xptr<f32>>, tile<8xf32> -> token
      return
    }}
    """
    fixed, free = out(), out()
    fixed.flags.writeable = False
    with pytest.raises(ArgumentError, match="writes to argument 1"):
        run(text, 1, [free, fixed])
    assert not free.any()


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "tf32", "f64", "f8E4M3FN", "f8E5M2"])
def test_numbers_are_rounded_once(element: str) -> None:
    text = f"""
    entry @k(%x: tile<{element}>, %to: tile<ptr<{element}>>) {{
      %t = store_ptr_tko weak %to, %x : tile<ptr<{element}>>, tile<{element}> -> token
      return
    }}
    """
    fmt = scalar.FLOATS[element]
    array = np.zeros(1, FORMATS[element].dtype)
    numbers = [0.1, 1 + 2**-8 + 2**-40, -431.99999999999994, 1e-300, 3.14e38, 2.0**-133 * 1.5]
    # An f64 rounds these first, and onto a midpoint of a narrower format.
    integers = [16973823, 2**53 + 1, 2**60 + 2**36 + 1, -(2**60) - 2**36 - 1, 2**100 + 2**76 + 1, 10**20]
    for number in (
        *numbers,
        *integers,
        *(2**width + 2 ** (width - fmt.fraction - 1) + 1 for width in (8, 60, 90)),
    ):
        run(text, 1, [number, array])
        expected = scalar.rounded(Fraction(number), fmt) << (13 if element == "tf32" else 0)
        assert int(array.view(f"u{array.itemsize}")[0]) == expected, number


def test_a_tf32_holds_no_more_than_it_can() -> None:
    text = """
    entry @k(%x: tile<tf32>, %to: tile<ptr<tf32>>) {
      %t = store_ptr_tko weak %to, %x : tile<ptr<tf32>>, tile<tf32> -> token
      return
    }
    """
    array = np.zeros(1, np.float32)
    run(text, 1, [np.float32(1.1), array])
    # 0x3F8CCCCD, to the nearest pattern without the 13 low bits.
    assert array.view(np.uint32)[0] == 0x3F8CC000


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("threads", value) for value in (0, -1, 1.5, "2", True)),
        *(("step_budget", value) for value in (0, -5, "a", 1e3)),
    ],
)
def test_options_are_refused(option: str, value: Any) -> None:
    array = out()
    with pytest.raises(ArgumentError) as error:
        run(FILL, 1, [array, 1.0], **{option: value})
    assert error.value.rule == option.replace("_", "-")
    assert not array.any()


@pytest.mark.parametrize("kernel", [None, 3, object(), np.zeros(3), ["k.tilebc"]])
def test_what_is_no_kernel_is_refused(kernel: Any) -> None:
    with pytest.raises(ArgumentError) as error:
        tileref.launch(kernel, 1, [])
    assert error.value.rule == "kernel"


def test_a_name_that_is_loaded_when_asked_for() -> None:
    assert tileref.cutile.launch is not tileref.launch
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        tileref.nothing  # noqa: B018
