"""f4E2M1FN in memory, two elements a byte, against nibbles written out and taken apart by plain numpy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import tileir
import tileref
from tests.tileref.support import run
from tileir.errors import ArgumentError, UnsupportedError
from tileref.buffers import argument

VALUES = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
"""Of the sixteen patterns."""


def nibbles(packed: NDArray[Any]) -> NDArray[np.uint8]:
    """The patterns in bytes, in the order of elements; the last axis twice as long."""
    return np.stack([packed & 15, packed >> 4], axis=-1).reshape(*packed.shape[:-1], -1)


def together(codes: NDArray[Any]) -> NDArray[np.uint8]:
    """The bytes of patterns."""
    return (codes[..., 0::2] | codes[..., 1::2] << 4).astype(np.uint8)


def copying(tensor: str, tile: str, shape: str, strides: str, index: str, padding: str = "") -> str:
    """A kernel that copies a tile a block from ``%a`` to ``%b`` and leaves it in ``%wide`` as f32."""
    view = f"partition_view<tile=({tile}),{padding} {tensor}>"
    made = f"tile<{tile}x"
    lanes = int(np.prod([int(n) for n in tile.split("x")]))
    return f"""
    entry @k(%a: tile<ptr<f4E2M1FN>>, %b: tile<ptr<f4E2M1FN>>, %wide: tile<ptr<f32>>) {{
      %x, %y, %z = get_tile_block_id : tile<i32>
      %zero = constant <i32: 0> : tile<i32>
      %ta = make_tensor_view %a, shape = [{shape}], strides = [{strides}] : {tensor}
      %tb = make_tensor_view %b, shape = [{shape}], strides = [{strides}] : {tensor}
      %va = make_partition_view %ta : {view}
      %vb = make_partition_view %tb : {view}
      %v, %t = load_view_tko weak %va[{index}] : {view}, tile<i32>, tile<i32> -> {made}f4E2M1FN>, token
      %u = store_view_tko weak %v, %vb[{index}] : {made}f4E2M1FN>, {view}, tile<i32>, tile<i32> -> token
      %f = ftof %v rounding<nearest_even> : {made}f4E2M1FN> -> {made}f32>
      %flat = reshape %f : {made}f32> -> tile<1x{lanes}xf32>
      %tw = make_tensor_view %wide, shape = [4, {lanes}], strides = [{lanes}, 1] : tensor_view<4x{lanes}xf32, strides=[{lanes},1]>
      %vw = make_partition_view %tw : partition_view<tile=(1x{lanes}), tensor_view<4x{lanes}xf32, strides=[{lanes},1]>>
      %w = store_view_tko weak %flat, %vw[%x, %zero] : tile<1x{lanes}xf32>, partition_view<tile=(1x{lanes}), tensor_view<4x{lanes}xf32, strides=[{lanes},1]>>, tile<i32>, tile<i32> -> token
      return
    }}
    """


def test_the_example_of_the_dialect() -> None:
    tensor = "tensor_view<1x2xf4E2M1FN, strides=[2,1]>"
    text = copying(tensor, "1x2", "1, 2", "2, 1", "%zero, %zero")
    wide, out = np.zeros((4, 2), np.float32), np.zeros(1, np.uint8)
    run(text, 1, [np.array([0b0011_0001], np.uint8), out, wide])
    assert wide[0].tolist() == [0.5, 1.5]
    assert out.tolist() == [0b0011_0001]


@pytest.mark.parametrize("check", ["on", "off"])
def test_rows(check: Any) -> None:
    codes = np.random.default_rng(1).integers(0, 16, (8, 16)).astype(np.uint8)
    text = copying("tensor_view<8x16xf4E2M1FN, strides=[16,1]>", "2x16", "8, 16", "16, 1", "%x, %zero")
    wide, out = np.zeros((4, 32), np.float32), np.full((8, 8), 0xAA, np.uint8)
    result = run(text, 4, [together(codes), out, wide], check=check)
    assert not result.undefined
    np.testing.assert_array_equal(nibbles(out), codes)
    np.testing.assert_array_equal(wide.view(np.uint32), VALUES[codes].reshape(4, 32).view(np.uint32))


def test_columns_lie_next_to_each_other() -> None:
    codes = np.random.default_rng(2).integers(0, 16, (8, 16)).astype(np.uint8)  # By columns.
    text = copying("tensor_view<16x8xf4E2M1FN, strides=[1,16]>", "4x8", "16, 8", "1, 16", "%x, %zero")
    wide, out = np.zeros((4, 32), np.float32), np.zeros((8, 8), np.uint8)
    run(text, 4, [together(codes), out, wide])
    np.testing.assert_array_equal(nibbles(out), codes)
    np.testing.assert_array_equal(wide.reshape(16, 8), VALUES[codes].T)


def test_a_partial_tile_is_padded_and_leaves_the_rest_alone() -> None:
    codes = np.random.default_rng(3).integers(0, 16, (4, 16)).astype(np.uint8)
    text = copying(
        *("tensor_view<4x6xf4E2M1FN, strides=[16,1]>", "1x8", "4, 6", "16, 1", "%x, %zero"),
        padding=" padding_value = neg_inf,",
    )
    wide, out = np.zeros((4, 8), np.float32), np.full((4, 8), 0x77, np.uint8)
    result = run(text, 4, [together(codes), out, wide])
    assert not result.undefined
    np.testing.assert_array_equal(wide[:, :6], VALUES[codes[:, :6]])
    assert (wide[:, 6:] == -6).all()
    np.testing.assert_array_equal(nibbles(out)[:, :6], codes[:, :6])
    assert (out[:, 3:] == 0x77).all()


def test_a_byte_has_no_value_if_one_of_its_halves_has_none() -> None:
    text = copying("tensor_view<4x5xf4E2M1FN, strides=[16,1]>", "1x8", "4, 5", "16, 1", "%x, %zero")
    text = "\n".join(
        line.replace("4x5x", "4x8x").replace("4, 5", "4, 8") if "%tb" in line or "%vb" in line else line
        for line in text.splitlines()
    )
    codes = np.random.default_rng(6).integers(0, 16, (4, 16)).astype(np.uint8)
    wide, out = np.zeros((4, 8), np.float32), np.zeros((4, 8), np.uint8)
    result = run(text, 4, [together(codes), out, wide])
    np.testing.assert_array_equal(
        result.undefined_elements[1], [[False, False, True, True] + [False] * 4] * 4
    )
    np.testing.assert_array_equal(result.undefined_elements[2], [[False] * 5 + [True] * 3] * 4)
    np.testing.assert_array_equal(nibbles(out)[:, :5], codes[:, :5])


def test_outside_of_the_array_and_two_blocks_in_one_byte_are_reported_by_the_byte() -> None:
    text = copying("tensor_view<8x16xf4E2M1FN, strides=[16,1]>", "2x16", "8, 16", "16, 1", "%x, %zero")
    wide, out = np.zeros((4, 32), np.float32), np.zeros((4, 8), np.uint8)
    result = run(text, 4, [np.zeros((8, 8), np.uint8), out, wide])
    (event,) = result.undefined
    assert (event.kind, event.block, event.buffer) == ("out-of-range-store", (2, 0, 0), 1)
    same = text.replace("%vb[%x, %zero]", "%vb[%zero, %zero]")
    result = run(same, 2, [np.zeros((8, 8), np.uint8), np.zeros((8, 8), np.uint8), wide])
    assert [e.kind for e in result.undefined] == []  # They store the same.
    codes = np.arange(64, dtype=np.uint8).reshape(8, 8)
    result = run(same, 2, [codes, np.zeros((8, 8), np.uint8), wide])
    assert {e.kind for e in result.undefined} == {"race"}
    np.testing.assert_array_equal(result.undefined_elements[1].any(axis=1), [True, True] + [False] * 6)


@pytest.mark.parametrize(("tile", "index"), [("2x1", "%zero, %x"), ("16x1", "%zero, %x")])
def test_a_store_of_half_a_byte_is_refused_and_a_load_is_none(tile: str, index: str) -> None:
    text = copying("tensor_view<16x8xf4E2M1FN, strides=[8,1]>", tile, "16, 8", "8, 1", index)
    codes = np.random.default_rng(4).integers(0, 16, (16, 8)).astype(np.uint8)
    rows = int(tile.split("x")[0])
    wide, out = np.zeros((4, rows), np.float32), np.zeros((16, 4), np.uint8)
    with pytest.raises(UnsupportedError) as error:
        run(text, 4, [together(codes), out, wide])
    assert error.value.rule == "half-byte"
    assert error.value.operation == "store_view_tko"
    loads = "\n".join(line for line in text.splitlines() if "%u = " not in line)
    run(loads, 4, [together(codes), out, wide])
    np.testing.assert_array_equal(wide, VALUES[codes[:rows, :4]].T)


@pytest.mark.parametrize(
    "line",
    [
        "%q = offset %a, %x : tile<ptr<f4E2M1FN>>, tile<i32> -> tile<ptr<f4E2M1FN>>",
        "%q, %t = load_ptr_tko weak %a : tile<ptr<f4E2M1FN>> -> tile<f4E2M1FN>, token",
    ],
)
def test_pointers_to_halves_of_bytes_are_refused(line: str) -> None:
    text = f"entry @k(%a: tile<ptr<f4E2M1FN>>, %x: tile<i32>) {{\n {line}\n return\n }}"
    with pytest.raises(UnsupportedError, match="views are the way to them"):
        run(text, 1, [np.zeros(4, np.uint8), 0])


def test_an_array_of_one_element_a_byte_is_refused() -> None:
    text = copying("tensor_view<1x2xf4E2M1FN, strides=[2,1]>", "1x2", "1, 2", "2, 1", "%zero, %zero")
    wide, bytes_ = np.zeros((4, 2), np.float32), np.zeros(1, np.uint8)
    with pytest.raises(ArgumentError, match="two elements a byte, the even one in the low half"):
        run(text, 1, [np.zeros(2, ml_dtypes.float4_e2m1fn), bytes_, wide])
    with pytest.raises(ArgumentError, match="argument-type"):
        run(text, 1, [np.zeros(2, np.float32), bytes_, wide])


def test_bytes_that_a_kernel_unpacks_are_the_elements_that_a_view_loads() -> None:
    tensor, bytes_ = "tensor_view<1x32xf4E2M1FN, strides=[32,1]>", "tensor_view<16xi8, strides=[1]>"
    text = copying(tensor, "1x32", "1, 32", "32, 1", "%zero, %zero").replace(
        "%v, %t = load_view_tko weak %va[%zero, %zero] : partition_view<tile=(1x32), " + tensor + ">, "
        "tile<i32>, tile<i32> -> tile<1x32xf4E2M1FN>, token",
        f"""%p = ptr_to_ptr %a : tile<ptr<f4E2M1FN>> -> tile<ptr<i8>>
      %tr = make_tensor_view %p, shape = [16], strides = [1] : {bytes_}
      %vr = make_partition_view %tr : partition_view<tile=(16), {bytes_}>
      %raw, %t = load_view_tko weak %vr[%zero] : partition_view<tile=(16), {bytes_}>, tile<i32> -> tile<16xi8>, token
      %un = unpack %raw : tile<16xi8> -> tile<32xf4E2M1FN>
      %v = reshape %un : tile<32xf4E2M1FN> -> tile<1x32xf4E2M1FN>""",
    )
    assert "unpack" in text
    given = np.random.default_rng(5).integers(0, 256, 16).astype(np.uint8)
    wide, out = np.zeros((4, 32), np.float32), np.zeros(16, np.uint8)
    run(text, 1, [given, out, wide])
    np.testing.assert_array_equal(out, given)
    np.testing.assert_array_equal(wide[0], VALUES[nibbles(given)])


def test_a_global_is_packed() -> None:
    text = copying("tensor_view<1x4xf4E2M1FN, strides=[4,1]>", "1x4", "1, 4", "4, 1", "%zero, %zero")
    text = "global @table <f4E2M1FN: [0.5, -1.5, 3.0, 6.0]> : tile<4xf4E2M1FN>\n" + text.replace(
        "%ta = make_tensor_view %a",
        "%g = get_global @table : tile<ptr<f4E2M1FN>>\n      %ta = make_tensor_view %g",
    )
    loaded = tileref.load(tileir.parse(text))
    assert loaded.globals["table"].tolist() == [0xB1, 0x75]
    wide, out = np.zeros((4, 4), np.float32), np.zeros(2, np.uint8)
    loaded.launch(1, [np.zeros(1, np.uint8), out, wide])
    assert wide[0].tolist() == [0.5, -1.5, 3, 6]
    assert out.tolist() == [0xB1, 0x75]


def test_arguments_of_the_command_line_are_packed() -> None:
    assert argument("fill:f4E2M1FN:2x4:-1.5").tolist() == [[0xBB, 0xBB], [0xBB, 0xBB]]
    with pytest.raises(ArgumentError, match="share a byte"):
        argument("zeros:f4E2M1FN:4x3")
