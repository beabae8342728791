"""Loads and stores through pointers and views, against plain numpy; and what is out of bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tileref
from tests.tileref.operations import operation
from tests.tileref.support import pointers, run
from tileir.errors import UnsupportedError
from tileref import memory

LANES = 16


def gather_kernel(masked: bool, padded: bool) -> str:
    tail, types = "", ""
    if masked:
        tail += ", %mask"
        types += f", tile<{LANES}xi1>"
    if padded:
        tail += ", %pad"
        types += f", tile<{LANES}xf32>"
    return f"""
    entry @k(%a: tile<ptr<f32>>, %i: tile<ptr<i32>>, %m: tile<ptr<i1>>, %b: tile<ptr<f32>>) {{
      %lanes = iota : tile<{LANES}xi32>
      {pointers("i", "ip", "i32", LANES, "lanes")}
      {pointers("m", "mp", "i1", LANES, "lanes")}
      {pointers("b", "to", "f32", LANES, "lanes")}
      %index, %t0 = load_ptr_tko weak %ip : tile<{LANES}xptr<i32>> -> tile<{LANES}xi32>, token
      %mask, %t1 = load_ptr_tko weak %mp : tile<{LANES}xptr<i1>> -> tile<{LANES}xi1>, token
      {pointers("a", "from", "f32", LANES, "index")}
      %pad = constant <f32: -7.000000e+00> : tile<{LANES}xf32>
      %x, %t2 = load_ptr_tko weak %from{tail} : tile<{LANES}xptr<f32>>{types} -> tile<{LANES}xf32>, token
      %t3 = store_ptr_tko weak %to, %x : tile<{LANES}xptr<f32>>, tile<{LANES}xf32> -> token
      return
    }}
    """


indices = st.lists(st.integers(-3, 23), min_size=LANES, max_size=LANES)
masks = st.lists(st.booleans(), min_size=LANES, max_size=LANES)


@operation("load_ptr_tko", "offset", oracle="numpy")
@settings(max_examples=60, deadline=None)
@given(indices, masks, st.booleans(), st.booleans())
def test_gather(index: list[int], mask: list[bool], masked: bool, padded: bool) -> None:
    padded = padded and masked
    source = np.arange(20, dtype=np.float32) + 100
    out = np.zeros(LANES, np.float32)
    at, on = np.array(index, np.int32), np.array(mask)
    result = run(gather_kernel(masked, padded), 1, [source, at, on, out])

    active = on if masked else np.ones(LANES, bool)
    inside = (at >= 0) & (at < 20)
    nowhere = active & ~inside
    unknown = nowhere | (~active & (not padded))
    found = result.undefined_elements.get(3, np.zeros(LANES, bool))
    np.testing.assert_array_equal(found, unknown)
    expected = np.where(active & inside, source[np.where(inside, at, 0)], np.float32(-7))
    np.testing.assert_array_equal(out[~unknown], expected[~unknown])

    kinds = {u.kind: u for u in result.undefined}
    assert ("out-of-range-load" in kinds) == bool(nowhere.any())
    if nowhere.any():
        event = kinds["out-of-range-load"]
        first = int(np.argmax(nowhere))
        assert event.count == nowhere.sum()
        assert event.lane == (first,)
        assert event.index == index[first]
        assert event.buffer == 0


@operation("store_ptr_tko", oracle="written")
def test_a_false_mask_of_a_scalar_store_stores_nothing() -> None:
    text = """
    entry @k(%a: tile<ptr<f32>>) {
      %false = constant <i1: false> : tile<i1>
      %v = constant <f32: 5.000000e+00> : tile<f32>
      %t = store_ptr_tko weak %a, %v, %false : tile<ptr<f32>>, tile<f32>, tile<i1> -> token
      return
    }
    """
    out = np.zeros(1, np.float32)
    assert not run(text, 1, [out]).undefined
    assert out[0] == 0


def test_neighbouring_buffers_are_never_touched() -> None:
    text = f"""
    entry @k(%a: tile<ptr<i32>>, %n: tile<i32>) {{
      %lanes = iota : tile<8xi32>
      %n1 = reshape %n : tile<i32> -> tile<1xi32>
      %nn = broadcast %n1 : tile<1xi32> -> tile<8xi32>
      %at = muli %lanes, %nn : tile<8xi32>
      {pointers("a", "to", "i32", 8, "at")}
      %t = store_ptr_tko weak %to, %lanes : tile<8xptr<i32>>, tile<8xi32> -> token
      return
    }}
    """
    whole = np.full(64, -1, np.int32)
    middle = whole[24:28]
    result = run(text, 1, [middle, 3])
    np.testing.assert_array_equal(whole[24:28], [0, -1, -1, 1])
    assert (np.delete(whole, [24, 27]) == -1).all()
    (event,) = result.undefined
    assert (event.kind, event.count, event.lane, event.index) == ("out-of-range-store", 6, (2,), 6)
    assert "4 elements" in event.message
    with pytest.raises(tileref.UndefinedBehaviour):
        run(text, 1, [middle, 3], check="strict")
    assert not run(text, 1, [middle, 3], check="off").undefined


def test_a_misaligned_pointer_is_reported() -> None:
    text = """
    entry @k(%a: tile<ptr<i8>>, %b: tile<ptr<i32>>) {
      %one = constant <i32: 1> : tile<i32>
      %p = offset %a, %one : tile<ptr<i8>>, tile<i32> -> tile<ptr<i8>>
      %q = ptr_to_ptr %p : tile<ptr<i8>> -> tile<ptr<i32>>
      %v, %t = load_ptr_tko weak %q : tile<ptr<i32>> -> tile<i32>, token
      %u = store_ptr_tko weak %b, %v : tile<ptr<i32>>, tile<i32> -> token
      return
    }
    """
    result = run(text, 1, [np.zeros(16, np.int8), np.zeros(1, np.int32)])
    assert result.undefined[0].kind == "misaligned-pointer"
    assert result.undefined_elements[1].all()


def test_bytes_of_another_format_through_converted_pointers() -> None:
    text = """
    entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<i32>>) {
      %i = ptr_to_int %a : tile<ptr<f32>> -> tile<i64>
      %four = constant <i64: 4> : tile<i64>
      %j = addi %i, %four : tile<i64>
      %p = int_to_ptr %j : tile<i64> -> tile<ptr<i32>>
      %v, %t = load_ptr_tko weak %p : tile<ptr<i32>> -> tile<i32>, token
      %u = store_ptr_tko weak %b, %v : tile<ptr<i32>>, tile<i32> -> token
      return
    }
    """
    source, out = np.array([1.0, -2.5], np.float32), np.zeros(1, np.int32)
    assert not run(text, 1, [source, out]).undefined
    assert out[0] == source.view(np.int32)[1]


def test_bools_are_bytes_and_any_nonzero_byte_is_true() -> None:
    text = f"""
    entry @k(%a: tile<ptr<i1>>, %b: tile<ptr<i1>>) {{
      %lanes = iota : tile<4xi32>
      {pointers("a", "from", "i1", 4, "lanes")}
      {pointers("b", "to", "i1", 4, "lanes")}
      %v, %t = load_ptr_tko weak %from : tile<4xptr<i1>> -> tile<4xi1>, token
      %u = store_ptr_tko weak %to, %v : tile<4xptr<i1>>, tile<4xi1> -> token
      return
    }}
    """
    out = np.full(4, 9, np.uint8)
    run(text, 1, [np.array([0, 1, 2, 255], np.uint8), out])
    np.testing.assert_array_equal(out, [0, 1, 1, 1])


def test_memory_nobody_wrote_has_no_value() -> None:
    text = """
    entry @k(%out: tile<ptr<f32>>) {
      %p = alloca num_elem = 4, alignment = 4 : tile<ptr<f32>>
      %one = constant <i32: 1> : tile<i32>
      %q = offset %p, %one : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
      %v = constant <f32: 3.000000e+00> : tile<f32>
      %t = store_ptr_tko weak %p, %v : tile<ptr<f32>>, tile<f32> -> token
      %a, %t1 = load_ptr_tko weak %p token = %t : tile<ptr<f32>> -> tile<f32>, token
      %b, %t2 = load_ptr_tko weak %q token = %t : tile<ptr<f32>> -> tile<f32>, token
      %o = offset %out, %one : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
      %t3 = store_ptr_tko weak %out, %a : tile<ptr<f32>>, tile<f32> -> token
      %t4 = store_ptr_tko weak %o, %b : tile<ptr<f32>>, tile<f32> -> token
      return
    }
    """
    out = np.zeros(2, np.float32)
    result = run(text, 3, [out])
    np.testing.assert_array_equal(result.undefined_elements[0], [False, True])
    assert out[0] == 3


def test_an_overwritten_element_is_defined_again() -> None:
    text = """
    entry @k(%out: tile<ptr<i32>>, %zero: tile<i32>) {
      %one = constant <i32: 1> : tile<i32>
      %bad = divi %one, %zero signed : tile<i32>
      %t = store_ptr_tko weak %out, %bad : tile<ptr<i32>>, tile<i32> -> token
      %u = store_ptr_tko weak %out, %one token = %t : tile<ptr<i32>>, tile<i32> -> token
      return
    }
    """
    out = np.zeros(1, np.int32)
    assert not run(text, 1, [out, 0]).undefined_elements
    assert out[0] == 1


PADDINGS = {"zero": 0.0, "neg_zero": -0.0, "nan": np.nan, "pos_inf": np.inf, "neg_inf": -np.inf, None: None}


@st.composite
def views(draw: st.DrawFn) -> dict[str, object]:
    """A tensor of rank 2 or 3 with any strides, and a grid of tiles over it."""
    rank = draw(st.integers(1, 3))
    extents = [draw(st.integers(1, 9)) for _ in range(rank)]
    order = draw(st.permutations(range(rank)))
    strides = [0] * rank
    step = draw(st.integers(1, 2))
    for d in order:
        strides[d] = step
        step *= extents[d] + draw(st.integers(0, 2))
    tile = [draw(st.sampled_from([1, 2, 4])) for _ in range(rank)]
    dim_map = draw(st.permutations(range(rank)))
    strided = draw(st.booleans())
    traversal = [draw(st.integers(1, 5)) if strided else t for t in tile]
    return {
        "extents": extents,
        "strides": strides,
        "tile": tile,
        "dim_map": list(dim_map),
        "traversal": traversal if strided else None,
        "padding": draw(st.sampled_from(list(PADDINGS))),
        "dynamic": draw(st.booleans()),
    }


def view_text(v: dict[str, object], store: bool) -> tuple[str, list[int]]:
    """A kernel that copies one tile a block from a view to a packed buffer, or back; and its grid."""
    extents, strides, tile = v["extents"], v["strides"], v["tile"]
    dim_map, traversal, padding = v["dim_map"], v["traversal"], v["padding"]
    steps = traversal or tile
    grid = [-(-extents[d] // s) for d, s in zip(dim_map, steps, strict=True)]
    rank = len(tile)
    shape = "x".join("?" if v["dynamic"] else str(e) for e in extents)
    tensor = f"tensor_view<{shape}xf32, strides=[{','.join(map(str, strides))}]>"
    tiles = "x".join(map(str, tile))
    pad = "" if padding is None else f", padding_value = {padding}"
    mapped = "" if dim_map == list(range(rank)) else f", dim_map=[{', '.join(map(str, dim_map))}]"
    if traversal is None:
        view = f"partition_view<tile=({tiles}){pad}, {tensor}{mapped}>"
        make = "make_partition_view"
    else:
        along = ",".join(map(str, traversal))
        view = f"strided_view<tile=({tiles}), traversal_strides=[{along}]{pad}, {tensor}{mapped}>"
        make = "make_strided_view"
    size = int(np.prod(tile))
    dyn = (
        ""
        if not v["dynamic"]
        else "".join(f"%e{k} = constant <i32: {e}> : tile<i32>\n" for k, e in enumerate(extents))
    )
    operands = ", ".join(f"%e{k}" if v["dynamic"] else str(e) for k, e in enumerate(extents))
    types = "tile<i32> -> " if v["dynamic"] else ""
    index = ", ".join(("%x", "%y", "%z")[:rank])
    packed = f"""
      %nx, %ny, %nz = get_num_tile_blocks : tile<i32>
      %a0 = muli %z, %ny : tile<i32>
      %a1 = addi %a0, %y : tile<i32>
      %a2 = muli %a1, %nx : tile<i32>
      %a3 = addi %a2, %x : tile<i32>
      %size = constant <i32: {size}> : tile<i32>
      %first = muli %a3, %size : tile<i32>
      %f1 = reshape %first : tile<i32> -> tile<1xi32>
      %fn = broadcast %f1 : tile<1xi32> -> tile<{size}xi32>
      %lanes = iota : tile<{size}xi32>
      %at = addi %fn, %lanes : tile<{size}xi32>
      {pointers("b", "packed", "f32", size, "at")}
    """
    if store:
        move = f"""
      %v, %t = load_ptr_tko weak %packed : tile<{size}xptr<f32>> -> tile<{size}xf32>, token
      %w = reshape %v : tile<{size}xf32> -> tile<{tiles}xf32>
      %u = store_view_tko weak %w, %view[{index}] token = %t : tile<{tiles}xf32>, {view}, tile<i32> -> token
    """
    else:
        move = f"""
      %v, %t = load_view_tko weak %view[{index}] : {view}, tile<i32> -> tile<{tiles}xf32>, token
      %w = reshape %v : tile<{tiles}xf32> -> tile<{size}xf32>
      %u = store_ptr_tko weak %packed, %w token = %t : tile<{size}xptr<f32>>, tile<{size}xf32> -> token
    """
    text = f"""
    entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {{
      %x, %y, %z = get_tile_block_id : tile<i32>
      {dyn}
      %tensor = make_tensor_view %a, shape = [{operands}], strides = [{", ".join(map(str, strides))}] : {types}{tensor}
      %view = {make} %tensor : {view}
      {packed}
      {move}
      return
    }}
    """
    return text, grid


@operation("load_view_tko", "make_tensor_view", oracle="numpy")
@settings(max_examples=120, deadline=None)
@given(views())
def test_a_view_loads_what_its_definition_says(v: dict[str, object]) -> None:
    text, grid = view_text(v, store=False)
    extents, strides, tile, dim_map = v["extents"], v["strides"], v["tile"], v["dim_map"]
    steps = v["traversal"] or tile
    size = sum((e - 1) * s for e, s in zip(extents, strides, strict=True)) + 1
    source = np.arange(size, dtype=np.float32) + 1
    blocks = int(np.prod(grid))
    out = np.zeros(blocks * int(np.prod(tile)), np.float32)
    result = run(text, grid, [source, out])

    expected = np.zeros_like(out)
    unknown = np.zeros(out.shape, bool)
    position = 0
    for block in np.ndindex(*reversed(([*grid, 1, 1])[:3])):
        index = tuple(reversed(block))
        for lane in np.ndindex(*tile):
            at = [0] * len(extents)
            for k, d in enumerate(dim_map):
                at[d] = index[k] * steps[k] + lane[k]
            if all(a < e for a, e in zip(at, extents, strict=True)):
                expected[position] = source[sum(a * s for a, s in zip(at, strides, strict=True))]
            elif v["padding"] is None:
                unknown[position] = True
            else:
                expected[position] = PADDINGS[v["padding"]]  # type: ignore[index]
            position += 1
    found = result.undefined_elements.get(1, np.zeros(out.shape, bool))
    np.testing.assert_array_equal(found, unknown)
    np.testing.assert_array_equal(out[~unknown].view(np.uint32), expected[~unknown].view(np.uint32))
    assert not result.undefined


@operation("store_view_tko", "make_partition_view", oracle="numpy")
@settings(max_examples=80, deadline=None)
@given(views())
def test_a_view_stores_inside_its_tensor_alone(v: dict[str, object]) -> None:
    v["traversal"] = None  # tiles that overlap would race
    text, grid = view_text(v, store=True)
    extents, strides, tile, dim_map = v["extents"], v["strides"], v["tile"], v["dim_map"]
    size = sum((e - 1) * s for e, s in zip(extents, strides, strict=True)) + 1
    target = np.full(size + 8, -1, np.float32)
    blocks = int(np.prod(grid))
    packed = np.arange(blocks * int(np.prod(tile)), dtype=np.float32)
    result = run(text, grid, [target, packed])
    expected = np.full(size + 8, -1, np.float32)
    position = 0
    for block in np.ndindex(*reversed(([*grid, 1, 1])[:3])):
        index = tuple(reversed(block))
        for lane in np.ndindex(*tile):
            at = [0] * len(extents)
            for k, d in enumerate(dim_map):
                at[d] = index[k] * tile[k] + lane[k]
            if all(a < e for a, e in zip(at, extents, strict=True)):
                expected[sum(a * s for a, s in zip(at, strides, strict=True))] = packed[position]
            position += 1
    np.testing.assert_array_equal(target, expected)
    assert not result.undefined


def test_a_broken_promise_of_inbounds_is_reported() -> None:
    tensor = "tensor_view<5xf32, strides=[1]>"
    view = f"partition_view<tile=(4), padding_value = zero, {tensor}>"
    text = f"""
    entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {{
      %x, %y, %z = get_tile_block_id : tile<i32>
      %tensor = make_tensor_view %a, shape = [5], strides = [1] : {tensor}
      %view = make_partition_view %tensor : {view}
      %v, %t = load_view_tko weak %view[%x] inbounds = [true] : {view}, tile<i32> -> tile<4xf32>, token
      return
    }}
    """
    args = [np.zeros(5, np.float32), np.zeros(1, np.float32)]
    assert not run(text, 1, args).undefined
    (event,) = run(text, 2, args).undefined
    assert (event.kind, event.block, event.lane) == ("inbounds", (1, 0, 0), (1,))


@operation("make_gather_scatter_view", "load_view_tko", oracle="numpy")
def test_rows_of_a_gather_view() -> None:
    """The index of the dense dimension is an element, not a tile, and need not be a multiple of the tile."""
    tensor = "tensor_view<6x8xf32, strides=[8,1]>"
    view = f"gather_scatter_view<tile=(4x4), padding_value = nan, {tensor}, sparse_dim=0>"
    text = f"""
    entry @k(%a: tile<ptr<f32>>, %i: tile<ptr<i32>>, %b: tile<ptr<f32>>) {{
      %x, %y, %z = get_tile_block_id : tile<i32>
      %tensor = make_tensor_view %a, shape = [6, 8], strides = [8, 1] : {tensor}
      %view = make_gather_scatter_view %tensor : {view}
      %lanes = iota : tile<4xi32>
      {pointers("i", "ip", "i32", 4, "lanes")}
      %rows, %t0 = load_ptr_tko weak %ip : tile<4xptr<i32>> -> tile<4xi32>, token
      %three = constant <i32: 3> : tile<i32>
      %column = muli %x, %three : tile<i32>
      %v, %t = load_view_tko weak %view[%rows, %column] : {view}, tile<4xi32>, tile<i32> -> tile<4x4xf32>, token
      %flat = reshape %v : tile<4x4xf32> -> tile<16xf32>
      %n = constant <i32: 16> : tile<i32>
      %first = muli %x, %n : tile<i32>
      %f1 = reshape %first : tile<i32> -> tile<1xi32>
      %fn = broadcast %f1 : tile<1xi32> -> tile<16xi32>
      %l16 = iota : tile<16xi32>
      %at = addi %fn, %l16 : tile<16xi32>
      {pointers("b", "to", "f32", 16, "at")}
      %u = store_ptr_tko weak %to, %flat : tile<16xptr<f32>>, tile<16xf32> -> token
      return
    }}
    """
    source = np.arange(48, dtype=np.float32).reshape(6, 8)
    rows = np.array([5, 0, 6, 2], np.int32)
    out = np.zeros((2, 4, 4), np.float32)
    run(text, 2, [source, rows, out])
    for block in range(2):
        expected = source[np.minimum(rows, 5)][:, block * 3 : block * 3 + 4].copy()
        expected[2] = np.nan
        np.testing.assert_array_equal(out[block], expected)


def test_the_index_space_of_a_gather_view_is_the_tensors_shape() -> None:
    """The code of tileiras 13.4.92 for sm_90 stores the two extents as they are."""
    tensor = "tensor_view<?x?xf32, strides=[?,1]>"
    view = f"gather_scatter_view<tile=(4x4), padding_value = nan, {tensor}, sparse_dim=0>"
    text = f"""
    entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<i32>>, %n: tile<i32>, %m: tile<i32>) {{
      %tensor = make_tensor_view %a, shape = [%n, %m], strides = [%m, 1] : tile<i32> -> {tensor}
      %view = make_gather_scatter_view %tensor : {view}
      %s0, %s1 = get_index_space_shape %view : {view} -> tile<i32>
      %t0 = store_ptr_tko weak %b, %s0 : tile<ptr<i32>>, tile<i32> -> token
      %one = constant <i32: 1> : tile<i32>
      %next = offset %b, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %t1 = store_ptr_tko weak %next, %s1 : tile<ptr<i32>>, tile<i32> -> token
      return
    }}
    """
    out = np.zeros(2, np.int32)
    run(text, 1, [np.zeros(42, np.float32), out, 6, 7])
    assert out.tolist() == [6, 7]


@operation("alloca", oracle="written")
@pytest.mark.parametrize("count", [1 << 36, 1 << 40, (1 << 63) - 1])
def test_an_allocation_that_no_memory_holds_is_refused(count: int) -> None:
    text = f"""
    entry @k() {{
      %p = alloca num_elem = {count}, alignment = 8 : tile<ptr<i64>>
      return
    }}
    """
    with pytest.raises(UnsupportedError) as error:
        run(text, 2, [])
    assert error.value.rule == "alloca-size"
    assert error.value.operation == "alloca"


def test_more_buffers_than_addresses_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MOST", 8)
    text = """
    entry @k(%n: tile<i32>) {
      %zero = constant <i32: 0> : tile<i32>
      %one = constant <i32: 1> : tile<i32>
      for %i in (%zero to %n, step %one) : tile<i32> {
        %p = alloca num_elem = 4, alignment = 8 : tile<ptr<i64>>
        continue
      }
      return
    }
    """
    run(text, 1, [8])
    with pytest.raises(UnsupportedError, match="more allocations"):
        run(text, 1, [9])
