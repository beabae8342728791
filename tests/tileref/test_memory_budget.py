"""What a launch takes besides the arrays is within its memory budget, and no budget changes an answer."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.ma
import pytest

import corpora
import tileir
import tileref
from tests.tileref.kernels import at, first_of_block
from tests.tileref.waiting_kernels import CHAIN_UP
from tileir.errors import ArgumentError, TileError
from tileref import schedule
from tileref.footprint import Footprint
from tileref.targets.hardware import ex2_approx_ftz_f32

MIB = 1 << 20
CASES = [
    *("sort/bitonic_f32", "softmax/*_f16", "scan/cumsum_f64_256", "attention/paged*", "matmul/*"),
    *("index/private_histogram_i32", "binary/pow_f64", "loop/dot_f32", "gather/*", "reduce/sum_f16*"),
    *("view/*", "mma/f16_f32_64x64x64", "wait/locked*", "quantise/*", "convolution/*f16"),
]


@contextmanager
def measured() -> Iterator[list[int]]:
    """The most bytes that were there at a time within, more than before; appended at the end."""
    found: list[int] = []
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        yield found
        found.append(tracemalloc.get_traced_memory()[1] - before)
    finally:
        tracemalloc.stop()


def footprint(text: str) -> Footprint:
    loaded = tileref.load(tileir.parse(text))
    return loaded.prepared(loaded.module.entries[0]).footprint


def launched(
    loaded: tileref.Loaded, grid: Any, args: list[Any], budget: int, **options: Any
) -> tuple[list[bytes], int] | None:
    """The arrays' bytes after a launch and what it took, or None if it was refused."""
    with measured() as found:
        try:
            loaded.launch(grid, args, memory_budget=budget, check="off", **options)
        except ArgumentError as error:
            if error.rule != "memory-budget":
                raise
            return None
    return [a.tobytes() for a in args if isinstance(a, np.ndarray)], found[0]


@pytest.mark.parametrize("pattern", CASES)
def test_cases_of_the_package_stay_within_the_budget(pattern: str) -> None:
    for case in corpora.load(pattern)[:2]:
        loaded = tileref.load(case.kernel)
        # What is imported and compiled once is no launch's.
        loaded.launch(case.grid, case.arguments(), model="sm_90", check="off")
        answers = set()
        for budget in (MIB // 4, MIB, 8 * MIB):
            for threads in (1, 2):
                done = launched(loaded, case.grid, case.arguments(), budget, model="sm_90", threads=threads)
                if done is not None:
                    answers.add(tuple(done[0]))
                    assert done[1] <= budget, (case.name, budget, threads)
        assert len(answers) <= 1, case.name


def chain(name: str, element: str, length: int) -> str:
    """Text of an operation of one operand after another on 1024 lanes, each tile used once."""
    tile = f"tile<1024x{element}>"
    steps = "".join(f"%v{k + 1} = {name} %v{k} : {tile}\n" for k in range(length))
    return f"""
    entry @k(%a: tile<ptr<{element}>>, %b: tile<ptr<{element}>>) {{
      {first_of_block(1024)}
      {at("from", "a", element, 1024)}
      {at("to", "b", element, 1024)}
      %v0, %t = load_ptr_tko weak %from : tile<1024xptr<{element}>> -> {tile}, token
      {steps}
      %u = store_ptr_tko weak %to, %v{length} : tile<1024xptr<{element}>>, {tile} -> token
      return
    }}
    """


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize(("name", "element"), [("exp", "f32"), ("sin", "f64"), ("negf", "f16")])
def test_many_blocks_stay_within_the_budget(name: str, element: str, threads: int) -> None:
    blocks = 100
    text = chain(name, element, 3)
    loaded = tileref.load(tileir.parse(text))
    dtype = {"f16": np.float16, "f32": np.float32, "f64": np.float64}[element]
    source = np.random.default_rng(3).uniform(0.5, 2, blocks * 1024).astype(dtype)
    loaded.launch(1, [source, np.zeros_like(source)], model="sm_90")
    # The special function unit's table is worked out once a process, when enough of it was asked for.
    ex2_approx_ftz_f32(np.zeros(1 << 21, np.float32))
    answers = set()
    for budget in (MIB, 8 * MIB, 64 * MIB):
        args = [source, np.zeros_like(source)]
        done = launched(loaded, blocks, args, budget, model="sm_90", threads=threads)
        assert done is not None
        assert done[1] <= budget
        answers.add(tuple(done[0]))
    assert len(answers) == 1
    # A budget is there to be used: with eight times as much more blocks run together.
    assert footprint(text).fitting(8 * MIB) > 4 * footprint(text).fitting(MIB) > 0


def test_tiles_count_as_long_as_somebody_needs_them() -> None:
    short, long = footprint(chain("negf", "f32", 2)), footprint(chain("negf", "f32", 40))
    assert short.of(1) == long.of(1)
    tile = "tile<1024xf32>"
    kept = "".join(f"%s{k + 1} = addf %s{k}, %v{k} : {tile}\n" for k in range(1, 40))
    held = chain("negf", "f32", 40).replace("%u = store", f"%s1 = addf %v40, %v40 : {tile}\n{kept}%u = store")
    assert footprint(held).of(1) > short.of(1) + 36 * 4096


def test_a_budget_that_one_block_does_not_fit_is_refused_before_anything_runs() -> None:
    text = chain("negf", "f32", 1)
    taken = footprint(text)
    least = taken.fixed + taken.of(1)
    source, out = np.ones(2048, np.float32), np.zeros(2048, np.float32)
    with pytest.raises(ArgumentError) as error:
        tileref.launch(tileir.parse(text), 2, [source, out], memory_budget=least - 1)
    assert error.value.rule == "memory-budget"
    assert f"found {least - 1}, expected at least {least} bytes" in str(error.value)
    assert not out.any()
    tileref.launch(tileir.parse(text), 2, [source, out], memory_budget=least, threads=8)
    assert (out == -1).all()


def atomics(lanes: int) -> str:
    """Text of a kernel in which every block replaces all of ``%cell`` and keeps what was there."""
    tile, pointers = f"tile<{lanes}xi32>", f"tile<{lanes}xptr<i32>>"
    return f"""
    entry @k(%cell: tile<ptr<i32>>, %out: tile<ptr<i32>>) {{
      {first_of_block(lanes)}
      {at("to", "out", "i32", lanes)}
      %lane = iota : {tile}
      %c1 = reshape %cell : tile<ptr<i32>> -> tile<1xptr<i32>>
      %cn = broadcast %c1 : tile<1xptr<i32>> -> {pointers}
      %cells = offset %cn, %lane : {pointers}, {tile} -> {pointers}
      %one = constant <i32: 1> : tile<i32>
      %me = addi %x, %one : tile<i32>
      %m1 = reshape %me : tile<i32> -> tile<1xi32>
      %mine = broadcast %m1 : tile<1xi32> -> {tile}
      %was, %t = atomic_rmw_tko relaxed device %cells, xchg, %mine : {pointers}, {tile} -> {tile}, token
      %saw, %t1 = atomic_rmw_tko relaxed device %cells, xchg, %mine token=%t : {pointers}, {tile} -> {tile}, token
      %u = store_ptr_tko weak %to, %saw : {pointers}, {tile} -> token
      return
    }}
    """


@pytest.mark.parametrize(("lanes", "blocks"), [(4, 300), (8192, 130)])
def test_how_many_blocks_with_atomics_run_together_is_the_kernels_alone(lanes: int, blocks: int) -> None:
    text = atomics(lanes)
    taken = footprint(text)
    together = schedule.blocks_together(taken, True, 10**6, 1, 1)
    # All blocks of a group exchange once before any does so again: the first one finds the last one's number.
    expected = np.arange(blocks)
    starts = np.arange(0, blocks, together)
    expected[starts] = np.minimum(starts + together, blocks)
    assert (together == 256) == (lanes == 4)
    assert taken.of(together) <= 64 * MIB
    for threads, budget in ((1, 65 * MIB), (8, 1 << 30)):
        cell, out = np.zeros(lanes, np.int32), np.zeros((blocks, lanes), np.int32)
        done = launched(tileref.load(tileir.parse(text)), blocks, [cell, out], budget, threads=threads)
        assert done is not None
        np.testing.assert_array_equal(out, np.broadcast_to(expected[:, None], out.shape))
        assert done[1] <= 65 * MIB
    with pytest.raises(ArgumentError, match="memory-budget"):
        tileref.launch(tileir.parse(text), blocks, [cell, out], memory_budget=taken.of(min(together, blocks)))


def test_one_block_with_atomics_may_take_more_than_all_may_together() -> None:
    taken = footprint(atomics(1 << 20))
    assert schedule.blocks_together(taken, True, 100, 1, 1) == 1
    assert taken.of(1) > 64 * MIB
    with pytest.raises(ArgumentError, match="memory-budget"):
        schedule.groups(taken, True, 100, None, 64 * MIB)
    assert schedule.groups(taken, True, 100, 7, 1 << 30) == schedule.Groups(1, 1)


def waiting(lanes: int) -> str:
    """Text of a kernel whose blocks hold a tile while they wait for the block before them."""
    tile = f"tile<{lanes}xi32>"
    held = f"%held = iota : {tile}\n%own = addi %held, %held : {tile}\n"
    use = f"%kept = addi %own, %own : {tile}\n"
    assert "return" in CHAIN_UP
    head, tail = CHAIN_UP.split("{", 1)
    return head + "{\n" + held + tail.replace("  return", use + "  return")


def test_blocks_in_flight_are_as_many_as_fit() -> None:
    small, large = footprint(CHAIN_UP), footprint(waiting(1 << 20))
    assert schedule.in_flight(small, 10**6, 1 << 30) == 1024
    # What no block decides is there once, so that each block holds one tile at a time only where it uses it.
    few = schedule.in_flight(large, 10**6, 1 << 30)
    assert 1 <= few < 64
    assert schedule.in_flight(large, 10, 1 << 31) == few
    flags, out = np.zeros(100, np.int32), np.zeros(100, np.int32)
    with pytest.raises(ArgumentError, match="memory-budget"):
        tileref.launch(tileir.parse(CHAIN_UP), 100, [flags, out], memory_budget=100 * small.paused)
    least = small.fixed + 99 * small.paused + small.of(1)
    done = launched(tileref.load(tileir.parse(CHAIN_UP)), 100, [flags, out], least)
    assert done is not None
    assert done[1] <= least
    np.testing.assert_array_equal(out, np.cumsum(np.arange(100)))


def test_copies_of_the_blocks_that_stay_count() -> None:
    """Blocks that leave a loop early: what the others hold from before is there twice."""
    text = """
    entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<f32>>) {
      FIRST
      %v, %t = load_ptr_tko weak %from : tile<1024xptr<f32>> -> tile<1024xf32>, token
      %w = addf %v, %v : tile<1024xf32>
      %two = constant <i32: 2> : tile<i32>
      %zero = constant <i32: 0> : tile<i32>
      %odd = remi %x, %two signed : tile<i32>
      %is = cmpi equal %odd, %zero, signed : tile<i32> -> tile<i1>
      PART
      %s = addf %v, %w : tile<1024xf32>
      %u = store_ptr_tko weak %to, %s : tile<1024xptr<f32>>, tile<1024xf32> -> token
      return
    }
    """.replace("FIRST", first_of_block(1024) + at("from", "a", "f32", 1024) + at("to", "b", "f32", 1024))
    whole, parted = text.replace("PART", ""), text.replace("PART", "if %is { return }")
    assert footprint(parted).of(1) > footprint(whole).of(1) + 2 * 4096
    blocks = 512
    source, out = np.ones(blocks * 1024, np.float32), np.zeros(blocks * 1024, np.float32)
    loaded = tileref.load(tileir.parse(parted))
    loaded.launch(2, [source, out])
    for budget in (2 * MIB, 16 * MIB):
        out[:] = 0
        done = launched(loaded, blocks, [source, out], budget)
        assert done is not None
        assert done[1] <= budget
        np.testing.assert_array_equal(out.reshape(blocks, -1)[:, 0], np.arange(blocks) % 2 * 3)


def test_errors_say_what_is_needed() -> None:
    with pytest.raises(TileError, match="take more memory than the budget is"):
        schedule.check_budget(1, 2)
    schedule.check_budget(2, 2)
