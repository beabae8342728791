"""Tiles of memory that nobody writes are read in place: no answer may show it. Against plain numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileir
import tileref
from tests.tileref.support import run
from tileir.errors import ArgumentError
from tileref.evaluators.view import Rectangles

ROW = 8
BLOCKS = 4


def tensor(extents: str, strides: str) -> str:
    return f"tensor_view<{extents}xf32, strides=[{strides}]>"


FLAT = tensor("4x8", "8,1")
VIEW = f"partition_view<tile=(1x{ROW}), {FLAT}>"
TILE = f"tile<1x{ROW}xf32>"
BLOCK = """
  %x, %y, %z = get_tile_block_id : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
"""


def view(name: str, pointer: str) -> str:
    """Text of ``%name``: the rows of what ``%pointer`` leads to."""
    return f"""
  %{name}_t = make_tensor_view %{pointer}, shape = [4, 8], strides = [8, 1] : {FLAT}
  %{name} = make_partition_view %{name}_t : {VIEW}
    """


def load(value: str, name: str, row: str = "x", after: str = "") -> str:
    token = f" token={after}" if after else ""
    return f"  %{value}, %{value}_t = load_view_tko weak %{name}[%{row}, %zero]{token} : {VIEW}, tile<i32>, tile<i32> -> {TILE}, token\n"


def store(value: str, name: str, row: str = "x", token: str = "done", after: str = "") -> str:
    after = f" token={after}" if after else ""
    return f"  %{token} = store_view_tko weak %{value}, %{name}[%{row}, %zero]{after} : {TILE}, {VIEW}, tile<i32>, tile<i32> -> token\n"


def kernel(parameters: str, body: str) -> str:
    names = ", ".join(f"%{p}: tile<ptr<f32>>" for p in parameters.split())
    return f"entry @k({names}) {{{BLOCK}{body}  return\n}}"


def rows(start: float = 0) -> np.ndarray:
    return (np.arange(BLOCKS * ROW) + start).astype(np.float32).reshape(BLOCKS, ROW)


# A value that was loaded before memory changed: by the token, the store comes after the load.
SWAP = kernel(
    "a b out",
    view("va", "a")
    + view("vb", "b")
    + view("vo", "out")
    + load("v", "va")
    + load("w", "vb")
    + store("w", "va", after="%v_t")
    + store("v", "vo", token="last"),
)


@pytest.mark.parametrize("check", ["on", "off"])
def test_an_argument_that_is_written_is_copied_when_it_is_loaded(check: Any) -> None:
    a, b, out = rows(), rows(100), np.zeros((BLOCKS, ROW), np.float32)
    run(SWAP, BLOCKS, [a, b, out], check=check)
    np.testing.assert_array_equal(out, rows())
    np.testing.assert_array_equal(a, rows(100))
    np.testing.assert_array_equal(b, rows(100))


@pytest.mark.parametrize("shift", [0, 1, 8, 24])
def test_an_array_that_another_argument_overlaps_is_no_other_memory(shift: int) -> None:
    """``%b`` is read and ``%a`` written, and both are parts of one array."""
    text = kernel(
        "a b out",
        view("va", "a")
        + view("vb", "b")
        + view("vo", "out")
        + load("w", "vb")
        + load("v", "va", after="%w_t")
        + "  %twice = addf %v, %v : TILE\n".replace("TILE", TILE)
        + "  %both = join_tokens %w_t, %v_t : token\n"
        + store("twice", "va", after="%both")
        + store("w", "vo", token="last"),
    )
    whole = (np.arange(BLOCKS * ROW + shift) + 1).astype(np.float32)
    a, b = whole[: BLOCKS * ROW], whole[shift:]
    before = b.copy().reshape(BLOCKS, ROW)
    out = np.zeros((BLOCKS, ROW), np.float32)
    # One block, which does everything in its own order, so that nothing is left open: row 0 alone.
    run(text, 1, [a, b, out])
    np.testing.assert_array_equal(out[0], before[0])
    expected = (np.arange(BLOCKS * ROW + shift) + 1).astype(np.float32)
    expected[:ROW] *= 2
    np.testing.assert_array_equal(whole, expected)


def test_the_same_array_twice() -> None:
    a, out = rows(), np.zeros((BLOCKS, ROW), np.float32)
    b = a  # SWAP writes what it read of b to a: the same.
    run(SWAP, BLOCKS, [a, b, out], check="off")
    np.testing.assert_array_equal(out, rows())


def test_read_only_arrays_are_read_and_not_written() -> None:
    a, b, out = rows(), rows(100), np.zeros((BLOCKS, ROW), np.float32)
    b.flags.writeable = False
    run(SWAP, BLOCKS, [a, b, out])
    np.testing.assert_array_equal(a, rows(100))
    a.flags.writeable = False
    with pytest.raises(ArgumentError, match="read-only"):
        run(SWAP, BLOCKS, [a, rows(), out])


@pytest.mark.parametrize("taken", [0, 1])
def test_a_store_in_a_branch_is_one(taken: int) -> None:
    """The argument is written only where a number says so, in every block or in none."""
    text = kernel(
        "a out",
        view("va", "a")
        + view("vo", "out")
        + load("v", "va")
        + f"""
  %wanted = constant <i32: {1 - taken}> : tile<i32>
  %some = cmpi equal %zero, %wanted, signed : tile<i32> -> tile<i1>
  %c = constant <f32: 5.0> : {TILE}
  if %some {{
"""
        + store("c", "va", after="%v_t")
        + "  }\n"
        + store("v", "vo", token="last"),
    )
    a, out = rows(), np.zeros((BLOCKS, ROW), np.float32)
    run(text, BLOCKS, [a, out])
    np.testing.assert_array_equal(out, rows())
    np.testing.assert_array_equal(a, np.full((BLOCKS, ROW), 5) if taken else rows())


def test_a_global_that_is_written() -> None:
    values = ", ".join(str(float(i)) for i in range(BLOCKS * ROW))
    text = f"global @g <f32: [{values}]> : tile<{BLOCKS * ROW}xf32>\n" + kernel(
        "out",
        "  %g = get_global @g : tile<ptr<f32>>\n"
        + view("vg", "g")
        + view("vo", "out")
        + load("v", "vg")
        + f"  %c = constant <f32: 5.0> : {TILE}\n"
        + store("c", "vg", after="%v_t")
        + store("v", "vo", token="last"),
    )
    loaded, out = tileref.load(tileir.parse(text)), np.zeros((BLOCKS, ROW), np.float32)
    loaded.launch(BLOCKS, [out])
    np.testing.assert_array_equal(out, rows())
    assert (loaded.globals["g"] == 5).all()
    loaded.launch(BLOCKS, [out])
    assert (out == 5).all()


def test_a_table_leads_to_an_argument() -> None:
    """The kernel writes through an address that it found in a table: to any array."""
    text = f"""
    entry @k(%a: tile<ptr<f32>>, %table: tile<ptr<i64>>, %out: tile<ptr<f32>>) {{
      {BLOCK}
      {view("va", "a")}
      {view("vo", "out")}
      {load("v", "va")}
      %word, %wt = load_ptr_tko weak %table : tile<ptr<i64>> -> tile<i64>, token
      %p = int_to_ptr %word : tile<i64> -> tile<ptr<f32>>
      {view("vp", "p")}
      %c = constant <f32: 5.0> : {TILE}
      {store("c", "vp", after="%v_t")}
      {store("v", "vo", token="last")}
      return
    }}
    """
    a, out = rows(), np.zeros((BLOCKS, ROW), np.float32)
    run(text, BLOCKS, [a, tileref.Table((a,)), out])
    np.testing.assert_array_equal(out, rows())
    assert (a == 5).all()


@pytest.mark.parametrize(
    "line",
    [
        "%w = addf %v, %v rounding<nearest_even> : TILE",
        "%w = exp %v : TILE",
        "%w = negf %v : TILE",
        "%w = sqrt %v rounding<nearest_even> : TILE",
        "%w = maxf %v, %v : TILE",
        "%w = fma %v, %v, %v : TILE",
        "%n, %u = constant <f32: 0.0> : TILE",
    ],
)
def test_no_operation_changes_what_it_is_given(line: str) -> None:
    if line.startswith("%n"):
        # A fold works in place where it may; this tile is the argument's memory.
        line = """%r = reduce %v dim=1 identities=[0.0 : f32] : TILE -> tile<1xf32>
        (%l: tile<f32>, %q: tile<f32>) {
          %s = addf %l, %q : tile<f32>
          yield %s : tile<f32>
        }
        %r1 = reshape %r : tile<1xf32> -> tile<1x1xf32>
        %w = broadcast %r1 : tile<1x1xf32> -> TILE"""
    text = kernel(
        "a out",
        view("va", "a") + view("vo", "out") + load("v", "va") + line.replace("TILE", TILE) + store("w", "vo"),
    )
    a = rows(1)
    a[0] = [np.nan, np.inf, -np.inf, -0.0, 1e-45, -1e38, 3, 0]
    given = a.tobytes()
    out = np.zeros((BLOCKS, ROW), np.float32)
    for model in ("spec", "sm_90"):
        # Memory that can be written to, and memory that would not let itself be changed.
        run(text, BLOCKS, [a, out], model=model)
        assert a.tobytes() == given
        fixed = np.frombuffer(given, np.float32).reshape(a.shape)
        again = np.zeros_like(out)
        run(text, BLOCKS, [fixed, again], model=model)
        assert again.tobytes() == out.tobytes()


def strided(extents: tuple[int, int], strides: tuple[int, int], tile: tuple[int, int], index: str) -> str:
    """A kernel that copies a tile of a view of ``%a`` with strides, block by block, to the same tile of ``%b``."""
    kind = tensor(f"{extents[0]}x{extents[1]}", f"{strides[0]},{strides[1]}")
    of, shape = f"partition_view<tile=({tile[0]}x{tile[1]}), {kind}>", f"tile<{tile[0]}x{tile[1]}xf32>"
    made = f"shape = [{extents[0]}, {extents[1]}], strides = [{strides[0]}, {strides[1]}] : {kind}"
    return f"""
    entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {{
      {BLOCK}
      %three = constant <i32: 3> : tile<i32>
      %back = subi %three, %x : tile<i32>
      %odd = muli %x, %x : tile<i32>
      %ta = make_tensor_view %a, {made}
      %tb = make_tensor_view %b, {made}
      %va = make_partition_view %ta : {of}
      %vb = make_partition_view %tb : {of}
      %v, %t = load_view_tko weak %va[{index}] : {of}, tile<i32>, tile<i32> -> {shape}, token
      %u = store_view_tko weak %v, %vb[{index}] : {shape}, {of}, tile<i32>, tile<i32> -> token
      return
    }}
    """


GRIDS = [
    pytest.param((4, 8), (8, 1), (1, 8), "%x, %zero", [0, 1, 2, 3], id="rows"),
    pytest.param((4, 8), (8, 1), (1, 8), "%back, %zero", [3, 2, 1, 0], id="rows backwards"),
    pytest.param((16, 8), (8, 1), (1, 8), "%odd, %zero", [0, 1, 4, 9], id="rows unevenly apart"),
    pytest.param((4, 8), (24, 3), (1, 8), "%x, %zero", [0, 1, 2, 3], id="with gaps"),
    pytest.param((4, 8), (1, 4), (1, 8), "%x, %zero", [0, 1, 2, 3], id="columns of memory"),
    pytest.param((4, 8), (1, 4), (1, 8), "%back, %zero", [3, 2, 1, 0], id="columns backwards"),
    pytest.param((4, 7), (8, 1), (1, 8), "%x, %zero", [0, 1, 2, 3], id="a partial tile"),
    pytest.param((7, 8), (8, 1), (2, 8), "%x, %zero", [0, 1, 2, 3], id="the last tile partial"),
    pytest.param((4, 8), (8, 1), (1, 8), "%three, %zero", [3, 3, 3, 3], id="all the same"),
    pytest.param((4, 8), (2, 1), (1, 8), "%three, %zero", [3, 3, 3, 3], id="rows that overlap"),
]


@pytest.mark.parametrize("check", ["on", "off"])
@pytest.mark.parametrize(("extents", "strides", "tile", "index", "numbers"), GRIDS)
def test_evenly_spaced_tiles(
    extents: tuple[int, int],
    strides: tuple[int, int],
    tile: tuple[int, int],
    index: str,
    numbers: list[int],
    check: Any,
) -> None:
    size = (extents[0] - 1) * strides[0] + (extents[1] - 1) * strides[1] + 1
    source, out = np.arange(1, size + 1, dtype=np.float32), np.zeros(size, np.float32)
    run(strided(extents, strides, tile, index), BLOCKS, [source, out], check=check)
    expected = np.zeros(size, np.float32)
    for number in numbers:
        for row in range(number * tile[0], min((number + 1) * tile[0], extents[0])):
            for column in range(min(tile[1], extents[1])):
                place = row * strides[0] + column * strides[1]
                expected[place] = source[place]
    np.testing.assert_array_equal(out, expected)


def test_of_blocks_that_store_over_each_other_the_last_one_stays() -> None:
    """Rows two elements apart, of eight each: what is left is the highest block's, and the rest a race."""
    kind = tensor("4x8", "2,1")
    of = f"partition_view<tile=(1x{ROW}), {kind}>"
    text = f"""
    entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {{
      {BLOCK}
      {view("va", "a")}
      {load("v", "va")}
      %tb = make_tensor_view %b, shape = [4, 8], strides = [2, 1] : {kind}
      %vb = make_partition_view %tb : {of}
      %u = store_view_tko weak %v, %vb[%x, %zero] : {TILE}, {of}, tile<i32>, tile<i32> -> token
      return
    }}
    """
    out = np.zeros(14, np.float32)
    run(text, BLOCKS, [rows(), out], check="off")
    expected = np.zeros(14, np.float32)
    for block in range(BLOCKS):
        expected[2 * block : 2 * block + ROW] = rows()[block]
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(
    "first", [[0, 8, 16, 24], [24, 16, 8, 0], [0, 0, 0], [3], [0, 8, 24], [0, 1, 2], [8, 4]]
)
@pytest.mark.parametrize("strides", [(1,), (2,), (0,)])
def test_rectangles_against_element_by_element(first: list[int], strides: tuple[int, ...]) -> None:
    """Loads and stores of evenly spaced rectangles, also those that overlap, repeat or go backwards."""
    memory = tileref.memory.Memory()
    array = np.arange(64, dtype=np.uint32)
    buffer = memory.add(array.view(np.uint8), "an array")
    dtype, shape = np.dtype(np.uint32), (4,)
    places = np.add.outer(first, np.arange(4) * strides[0])
    tiles = Rectangles(buffer, np.array(first), strides)
    copied = tiles.read(dtype, shape)
    np.testing.assert_array_equal(copied, array[places])
    copied[:] = 0
    assert array.tolist() == list(range(64))
    buffer.unchanged = True
    if len(set(np.diff(first).tolist())) <= 1:
        assert np.shares_memory(tiles.read(dtype, shape), array)
        assert not tiles.read(dtype, shape).flags.writeable
    np.testing.assert_array_equal(tiles.read(dtype, shape), array[places])
    buffer.unchanged = False
    data = np.arange(100, 100 + 4 * len(first), dtype=np.uint32).reshape(len(first), 4)
    expected = array.copy()
    for place, value in zip(places.reshape(-1), data.reshape(-1), strict=True):
        expected[place] = value
    tiles.write(dtype, shape, data, len(first))
    np.testing.assert_array_equal(array, expected)


def test_blocks_of_one_place_store_one_after_the_other() -> None:
    memory = tileref.memory.Memory()
    array = np.zeros(8, np.uint32)
    tiles = Rectangles(memory.add(array.view(np.uint8), "an array"), np.array([2]), (1,))
    tiles.write(np.dtype(np.uint32), (4,), np.arange(12, dtype=np.uint32).reshape(3, 4), 3)
    assert array.tolist() == [0, 0, 8, 9, 10, 11, 0, 0]
