"""Globals live as long as the loaded module."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import tileir
import tileref
from tests.tileref.waiting_kernels import START, at, binary, load, store, update
from tileir.errors import TileError

COUNTS = (
    "global @count <i32: 5> : tile<1xi32>\n"
    "global private @table <i32: [10, 20, 30, 40]> : tile<4xi32>\n"
    f"entry @add(%out: tile<ptr<i32>>) {{{START}"
    "  %count = get_global @count : tile<ptr<i32>>\n"
    + update("was", "count", "add", "one")
    + "  %table = get_global @table : tile<ptr<i32>>\n"
    + at("entry", "table", "b")
    + load("v", "entry")
    + binary("w", "addi", "v", "was")
    + at("to", "out", "b")
    + store("to", "w")
    + store("entry", "w")
    + f"  return\n}}\nentry @reset() {{{START}"
    "  %count = get_global @count : tile<ptr<i32>>\n" + store("count", "zero") + "  return\n}\n"
)


def launch(kernel: object, grid: int = 1) -> list[int]:
    out = np.zeros(grid, np.int32)
    tileref.launch(kernel, grid, [out], entry="add")
    return out.tolist()


def test_the_next_launch_finds_what_the_last_one_left() -> None:
    loaded = tileref.load(tileir.parse(COUNTS))
    assert launch(loaded, 2) == [15, 26]
    assert launch(loaded, 2) == [15 + 7, 26 + 8]
    assert loaded.globals["count"].tolist() == [9]
    assert loaded.globals["table"].tolist() == [22, 34, 30, 40]


def test_another_entry_sees_the_same_globals_and_so_does_the_host() -> None:
    loaded = tileref.load(tileir.parse(COUNTS))
    launch(loaded)
    loaded.launch(1, [], entry="reset")
    assert loaded.globals["count"].tolist() == [0]
    loaded.globals["table"][0] = 100
    assert launch(loaded) == [100]


def test_a_module_is_loaded_afresh_for_each_launch() -> None:
    module = tileir.parse(COUNTS)
    assert [launch(module) for _ in range(3)] == [[15]] * 3
    first, second = tileref.load(module), tileref.load(module)
    assert launch(first) == [15]
    assert launch(first) == [21]
    assert launch(second) == [15]


def test_bytecode_and_paths_are_loaded(tmp_path: Path) -> None:
    data = tileir.write(tileir.parse(COUNTS))
    path = tmp_path / "counts.tilebc"
    path.write_bytes(data)
    for kernel in (data, path, str(path)):
        loaded = tileref.load(kernel)
        assert launch(loaded) + launch(loaded) == [15, 21]


def test_globals_are_arrays_of_their_types() -> None:
    text = """
    global @f <f32: [1.5, -2.0]> : tile<2xf32>
    global @h <bf16: 3.0> : tile<3xbf16>
    global @b <i1: [true, false]> : tile<2xi1>
    global @t <tf32: 1.5> : tile<2xtf32>
    entry @k(%x: tile<ptr<tf32>>, %y: tile<ptr<i1>>) {
      %t = get_global @t : tile<ptr<tf32>>
      %v, %v_t = load_ptr_tko weak %t : tile<ptr<tf32>> -> tile<tf32>, token
      %s = store_ptr_tko weak %x, %v : tile<ptr<tf32>>, tile<tf32> -> token
      %b = get_global @b : tile<ptr<i1>>
      %w, %w_t = load_ptr_tko weak %b : tile<ptr<i1>> -> tile<i1>, token
      %u = store_ptr_tko weak %y, %w : tile<ptr<i1>>, tile<i1> -> token
      return
    }
    """
    loaded = tileref.load(tileir.parse(text))
    found = loaded.globals
    assert {name: (a.dtype, a.tolist()) for name, a in found.items()} == {
        "f": (np.dtype(np.float32), [1.5, -2.0]),
        "h": (np.dtype(ml_dtypes.bfloat16), [3.0] * 3),
        "b": (np.dtype(np.bool_), [True, False]),
        "t": (np.dtype(np.float32), [1.5] * 2),
    }
    x, y = np.zeros(1, np.float32), np.zeros(1, np.bool_)
    loaded.launch(1, [x, y])
    assert (x[0], y[0]) == (1.5, True)


def test_what_has_no_value_has_none_in_the_next_launch_either() -> None:
    text = """
    global @g <i32: 0> : tile<1xi32>
    entry @spoil(%x: tile<ptr<i32>>) {
      %g = get_global @g : tile<ptr<i32>>
      %no = constant <i1: false> : tile<i1>
      %v, %v_t = load_ptr_tko weak %x, %no : tile<ptr<i32>>, tile<i1> -> tile<i32>, token
      %s = store_ptr_tko weak %g, %v : tile<ptr<i32>>, tile<i32> -> token
      return
    }
    entry @read(%x: tile<ptr<i32>>) {
      %g = get_global @g : tile<ptr<i32>>
      %v, %v_t = load_ptr_tko weak %g : tile<ptr<i32>> -> tile<i32>, token
      %s = store_ptr_tko weak %x, %v : tile<ptr<i32>>, tile<i32> -> token
      return
    }
    """
    loaded = tileref.load(tileir.parse(text))
    x = np.zeros(1, np.int32)
    assert not loaded.launch(1, [x], entry="read").undefined_elements
    loaded.launch(1, [x], entry="spoil")
    assert loaded.launch(1, [x], entry="read").undefined_elements[0].all()


def test_a_launch_that_fails_leaves_what_it_did() -> None:
    text = (
        COUNTS
        + """
    entry @fail(%out: tile<ptr<i32>>) {
      %one = constant <i32: 1> : tile<i32>
      %far = constant <i32: 100> : tile<i32>
      %count = get_global @count : tile<ptr<i32>>
      %s = store_ptr_tko weak %count, %far : tile<ptr<i32>>, tile<i32> -> token
      %p = offset %out, %far : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %u = store_ptr_tko weak %p, %one : tile<ptr<i32>>, tile<i32> -> token
      return
    }
    """
    )
    loaded = tileref.load(tileir.parse(text))
    with pytest.raises(TileError, match="out-of-range-store"):
        loaded.launch(1, [np.zeros(1, np.int32)], entry="fail", check="strict")
    assert launch(loaded) == [110]
