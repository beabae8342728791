"""Shapes of tensors and views, and rows that are scattered, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.tileref.kernels import at, first_of_block
from tests.tileref.operations import operation
from tests.tileref.support import run


@operation("get_tensor_shape", "make_tensor_view", oracle="numpy")
@pytest.mark.parametrize("element", ["i8", "i16", "i32", "i64"])
def test_the_extents_of_a_tensor(element: str) -> None:
    tensor = "tensor_view<5x?x7xf32, strides=[?,7,1]>"
    text = f"""
    entry @k(%a: tile<ptr<f32>>, %n: tile<i32>, %out: tile<ptr<i64>>) {{
      {first_of_block(3)}
      %m = addi %n, %x : tile<i32>
      %tensor = make_tensor_view %a, shape = [5, %m, 7], strides = [%n, 7, 1] : tile<i32> -> {tensor}
      %d0, %d1, %d2 = get_tensor_shape %tensor : {tensor} -> tile<{element}>
      %k0 = {widened("d0", element)}
      %k1 = {widened("d1", element)}
      %k2 = {widened("d2", element)}
      {stored(["k0", "k1", "k2"])}
      return
    }}
    """
    out = np.zeros((3, 3), np.int64)
    run(text, 3, [np.zeros(4, np.float32), 11, out])
    np.testing.assert_array_equal(out, [[5, 11 + block, 7] for block in range(3)])


def widened(name: str, element: str) -> str:
    """Text of ``%name`` as an i64."""
    if element == "i64":
        return f"reshape %{name} : tile<i64> -> tile<i64>"
    return f"exti %{name} signed : tile<{element}> -> tile<i64>"


def stored(names: list[str]) -> str:
    """Text that stores scalars from ``%first`` of ``%out`` on."""
    return "".join(
        f"""
      %c_{k} = constant <i32: {k}> : tile<i32>
      %i_{k} = addi %first, %c_{k} : tile<i32>
      %p_{k} = offset %out, %i_{k} : tile<ptr<i64>>, tile<i32> -> tile<ptr<i64>>
      %s_{k} = store_ptr_tko weak %p_{k}, %{name} : tile<ptr<i64>>, tile<i64> -> token
    """
        for k, name in enumerate(names)
    )


@pytest.mark.parametrize("element", ["i8", "i16", "i32", "i64"])
@pytest.mark.parametrize(
    ("make", "view", "expected"),
    [
        pytest.param(
            "make_partition_view",
            "partition_view<tile=(4x2), {tensor}>",
            lambda n: (-(-9 // 4), -(-n // 2)),
            marks=operation("make_partition_view", "get_index_space_shape", oracle="numpy"),
        ),
        pytest.param(
            "make_partition_view",
            "partition_view<tile=(4x2), {tensor}, dim_map=[1, 0]>",
            lambda n: (-(-n // 4), -(-9 // 2)),
            marks=operation("make_partition_view", "get_index_space_shape", oracle="numpy"),
        ),
        pytest.param(
            "make_strided_view",
            "strided_view<tile=(4x2), traversal_strides=[3,5], {tensor}>",
            lambda n: (-(-9 // 3), -(-n // 5)),
            marks=operation("make_strided_view", "get_index_space_shape", oracle="numpy"),
        ),
        pytest.param(
            "make_gather_scatter_view",
            "gather_scatter_view<tile=(4x2), {tensor}, sparse_dim=0>",
            # A gather/scatter view is indexed by elements in every dimension.
            lambda n: (9, n),
            marks=operation("make_gather_scatter_view", "get_index_space_shape", oracle="numpy"),
        ),
    ],
)
def test_how_many_tiles_a_view_has(make: str, view: str, expected: object, element: str) -> None:
    tensor = "tensor_view<9x?xf32, strides=[16,1]>"
    view = view.format(tensor=tensor)
    text = f"""
    entry @k(%a: tile<ptr<f32>>, %n: tile<i32>, %out: tile<ptr<i64>>) {{
      {first_of_block(2)}
      %m = addi %n, %x : tile<i32>
      %tensor = make_tensor_view %a, shape = [9, %m], strides = [16, 1] : tile<i32> -> {tensor}
      %view = {make} %tensor : {view}
      %d0, %d1 = get_index_space_shape %view : {view} -> tile<{element}>
      %k0 = {widened("d0", element)}
      %k1 = {widened("d1", element)}
      {stored(["k0", "k1"])}
      return
    }}
    """
    out = np.zeros((6, 2), np.int64)
    run(text, 6, [np.zeros(4, np.float32), 1, out])
    np.testing.assert_array_equal(out, [expected(1 + block) for block in range(6)])  # type: ignore[operator]


@operation("make_gather_scatter_view", "store_view_tko", oracle="numpy")
def test_rows_that_are_scattered() -> None:
    tensor = "tensor_view<6x8xf32, strides=[8,1]>"
    view = f"gather_scatter_view<tile=(4x4), {tensor}, sparse_dim=0>"
    text = f"""
    entry @k(%a: tile<ptr<f32>>, %i: tile<ptr<i32>>, %v: tile<ptr<f32>>) {{
      {first_of_block(16)}
      %tensor = make_tensor_view %a, shape = [6, 8], strides = [8, 1] : {tensor}
      %view = make_gather_scatter_view %tensor : {view}
      %zero = constant <i32: 0> : tile<i32>
      %four = constant <i32: 4> : tile<i32>
      %column = muli %x, %four : tile<i32>
      {at("ip", "i", "i32", 4, "zero")}
      {at("from", "v", "f32", 16)}
      %rows, %t0 = load_ptr_tko weak %ip : tile<4xptr<i32>> -> tile<4xi32>, token
      %flat, %t1 = load_ptr_tko weak %from : tile<16xptr<f32>> -> tile<16xf32>, token
      %tile = reshape %flat : tile<16xf32> -> tile<4x4xf32>
      %u = store_view_tko weak %tile, %view[%rows, %column] : tile<4x4xf32>, {view}, tile<4xi32>, tile<i32> -> token
      return
    }}
    """
    memory = np.full((6, 8), -1, np.float32)
    rows = np.array([5, 0, 4, 2], np.int32)
    values = np.arange(32, dtype=np.float32)
    result = run(text, 2, [memory, rows, values])
    expected = np.full((6, 8), -1, np.float32)
    expected[rows] = np.concatenate(values.reshape(2, 4, 4), axis=1)
    np.testing.assert_array_equal(memory, expected)
    assert not result.undefined


@operation("make_tensor_view", "load_view_tko", oracle="numpy")
@pytest.mark.parametrize("element", ["i8", "i16", "i32", "i64"])
def test_extents_and_strides_of_every_width(element: str) -> None:
    tensor = "tensor_view<?x4xf32, strides=[?,1]>"
    view = f"partition_view<tile=(2x4), {tensor}>"
    text = f"""
    entry @k(%a: tile<ptr<f32>>, %n: tile<{element}>, %s: tile<{element}>, %b: tile<ptr<f32>>) {{
      %zero = constant <i32: 0> : tile<i32>
      %tensor = make_tensor_view %a, shape = [%n, 4], strides = [%s, 1] : tile<{element}> -> {tensor}
      %view = make_partition_view %tensor : {view}
      %v, %t = load_view_tko weak %view[%zero, %zero] : {view}, tile<i32> -> tile<2x4xf32>, token
      {at("to", "b", "f32", 8, "zero")}
      %flat = reshape %v : tile<2x4xf32> -> tile<8xf32>
      %u = store_ptr_tko weak %to, %flat : tile<8xptr<f32>>, tile<8xf32> -> token
      return
    }}
    """
    source, out = np.arange(32, dtype=np.float32), np.zeros(8, np.float32)
    run(text, 1, [source, 2, 7, out])
    np.testing.assert_array_equal(out, [0, 1, 2, 3, 7, 8, 9, 10])
