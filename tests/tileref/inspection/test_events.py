"""What an observer is told, against numpy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tileir
import tileref
from tests.tileref.inspection.kernels import BRANCH, FOLD, LOOP
from tests.tileref.support import pointers, run
from tests.tileref.waiting_kernels import CHAIN_DOWN
from tileref.inspection import Callback, Event, Observer

BLOCKS = 5


def loop_arguments() -> list[Any]:
    return [np.arange(4 * BLOCKS, dtype=np.float32), np.zeros(4 * BLOCKS, np.float32), 2]


def test_every_operation_in_order_with_operands_and_results() -> None:
    events: list[Event] = []
    args = [np.arange(4, dtype=np.float32), np.zeros(4, np.float32), 2]
    run(LOOP, 1, args, observe=events.append)
    operations = [op.mnemonic for op in tileir.parse(LOOP).functions[0].body.operations]
    body = ["for", "addf", "continue"]
    at = operations.index("for")
    assert [e.name for e in events] == ["entry", *operations[:at], *body * 2, *operations[at:]]
    assert [e.stage for e in events if e.name == "for"] == ["arguments", "arguments", "operation"]
    (square,) = (e for e in events if e.name == "mulf")
    assert [s.name for s in (*square.operands, *square.results)] == ["%for", "%for", "%6"]
    np.testing.assert_array_equal(square.results[0].data, [[0.0, 4.0, 16.0, 36.0]])
    (load,) = (e for e in events if e.name == "load_ptr_tko")
    assert [(s.name, s.data is None) for s in load.results] == [("%result", False), ("%result_token", True)]
    assert str(load.results[0].type) == "tile<4xf32>"


def test_a_ragged_loop_names_blocks_and_iterations() -> None:
    """Block b goes round b + 2 times."""
    seen: dict[tuple[int, int], np.ndarray] = {}

    def note(event: Event) -> None:
        if event.name != "addf":
            return
        (sum_,) = event.results
        assert sum_.data is not None
        assert sum_.data.shape == (len(event.blocks), 4)
        for row, block in enumerate(event.blocks):
            (iteration,) = event.iteration
            assert (int(block), iteration) not in seen
            seen[int(block), iteration] = sum_.data[row]

    args = loop_arguments()
    x = args[0].reshape(BLOCKS, 4).copy()
    run(LOOP, BLOCKS, args, observe=note)
    assert sorted(seen) == [(b, i) for b in range(BLOCKS) for i in range(b + 2)]
    for (block, iteration), sum_ in seen.items():
        np.testing.assert_array_equal(sum_, x[block] * (iteration + 1))
    np.testing.assert_array_equal(
        args[1].reshape(BLOCKS, 4), (x * (np.arange(BLOCKS) + 2)[:, None].astype(np.float32)) ** 2
    )


def test_blocks_that_part() -> None:
    found: dict[str, dict[int, int]] = {"muli": {}, "subi": {}, "if": {}}

    def note(event: Event) -> None:
        if event.name in found:
            data = event.results[0].data
            assert data is not None
            found[event.name].update(zip(event.blocks.tolist(), data.tolist(), strict=True))

    run(BRANCH, 7, [np.zeros(7, np.int32)], observe=note)
    assert found["muli"] == {b: 2 * b for b in range(0, 7, 2)}
    assert found["subi"] == {b: -b for b in range(1, 7, 2)}
    assert found["if"] == {b: -b if b % 2 else 2 * b for b in range(7)}


def test_a_loop_that_some_blocks_leave_the_kernel_from() -> None:
    text = """
    entry @k(%out: tile<ptr<i32>>) {
      %b, %y, %z = get_tile_block_id : tile<i32>
      %zero = constant <i32: 0> : tile<i32>
      %one = constant <i32: 1> : tile<i32>
      %r = loop iter_values(%i = %zero) : tile<i32> -> tile<i32> {
        %done = cmpi equal %i, %b, signed : tile<i32> -> tile<i1>
        if %done {
          %odd = andi %b, %one : tile<i32>
          %leave = cmpi equal %odd, %one, signed : tile<i32> -> tile<i1>
          if %leave {
            return
          }
          break %i : tile<i32>
        }
        %next = addi %i, %one : tile<i32>
        continue %next : tile<i32>
      }
      %t = muli %r, %r : tile<i32>
      return
    }
    """
    events: list[Event] = []
    run(text, 6, [np.zeros(6, np.int32)], observe=events.append)
    (loop,) = (e for e in events if e.name == "loop" and e.stage == "operation")
    assert loop.blocks.tolist() == [0, 2, 4]
    np.testing.assert_array_equal(loop.results[0].data, [0, 2, 4])
    np.testing.assert_array_equal(loop.operands[0].data, [0, 0, 0])
    nexts = {e.iteration: e.blocks.tolist() for e in events if e.name == "addi"}
    assert nexts == {(i,): list(range(i + 1, 6)) for i in range(5)}
    squares = [e for e in events if e.name == "muli"]
    assert [e.blocks.tolist() for e in squares] == [[0, 2, 4]]


@pytest.mark.parametrize("blocks", [1, 3])
def test_bodies_of_reductions(blocks: int) -> None:
    """The left fold of four rows of two: step i adds row i + 1, in each lane of each block."""
    x = np.arange(8 * blocks, dtype=np.float32) + 1
    rows = x.reshape(blocks, 4, 2)
    steps: list[tuple[int, ...]] = []

    def note(event: Event) -> None:
        if event.name != "addf":
            return
        steps.append(event.iteration)
        (step,) = event.iteration
        assert event.lanes is not None
        assert event.lanes.tolist() == [[lane] for _ in range(blocks) for lane in range(2)]
        assert event.blocks.tolist() == [b for b in range(blocks) for _ in range(2)]
        left, right = (operand.data for operand in event.operands)
        np.testing.assert_array_equal(left, rows[:, : step + 1].sum(axis=1).ravel())
        np.testing.assert_array_equal(right, rows[:, step + 1].ravel())

    out = np.zeros(2 * blocks, np.float32)
    run(FOLD, blocks, [x, out], observe=note)
    assert steps == [(0,), (1,), (2,)]
    np.testing.assert_array_equal(out.reshape(blocks, 2), rows.sum(axis=1))


def test_a_value_that_is_the_same_in_all_blocks_has_a_row_for_each() -> None:
    shapes = {}

    def note(event: Event) -> None:
        for seen in event.results:
            if seen.data is not None:
                shapes[seen.name] = seen.data.shape

    run(LOOP, BLOCKS, loop_arguments(), observe=note)
    assert shapes["%cst_4_i32"] == (BLOCKS,)
    assert shapes["%0"] == (BLOCKS, 4)


def test_elements_without_a_value_are_marked() -> None:
    text = f"""
    entry @k(%x: tile<ptr<f32>>) {{
      %i = iota : tile<4xi32>
      {pointers("x", "p", "f32", 4, "i")}
      %v, %t = load_ptr_tko weak %p : tile<4xptr<f32>> -> tile<4xf32>, token
      %w = addf %v, %v : tile<4xf32>
      return
    }}
    """
    marks = {}

    def note(event: Event) -> None:
        if event.name in ("iota", "load_ptr_tko", "addf"):
            marks[event.name] = event.results[0].undefined

    run(text, 2, [np.ones(3, np.float32)], observe=note)
    assert marks["iota"] is None
    for name in ("load_ptr_tko", "addf"):
        np.testing.assert_array_equal(marks[name], [[False, False, False, True]] * 2)


@pytest.mark.parametrize("name", ["f32", "bf16", "f8E4M3FN", "i8", "i1"])
def test_nobody_can_write_to_what_is_shown(name: str) -> None:
    dtype = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f8E4M3FN": ml_dtypes.float8_e4m3fn}
    text = f"""
    entry @k(%x: tile<{name}>) {{
      %y = reshape %x : tile<{name}> -> tile<1x{name}>
      %z = broadcast %y : tile<1x{name}> -> tile<4x{name}>
      return
    }}
    """
    given = np.array(1, dtype.get(name, {"i8": np.int8, "i1": np.bool_}.get(name)))[()]
    checked = []

    def spoil(event: Event) -> None:
        for seen in (*event.operands, *event.results):
            assert seen.data is not None
            assert (seen.data == given).all()
            with pytest.raises(ValueError, match=r"read-only|WRITEABLE"):
                seen.data[...] = 0
            with pytest.raises(ValueError, match="WRITEABLE"):
                seen.data.flags.writeable = True
            with pytest.raises(ValueError, match="WRITEABLE"):
                seen.data.reshape(-1)[:1].flags.writeable = True
            checked.append(seen.name)

    run(text, 2, [given], observe=spoil)
    assert checked == ["%arg0", "%arg0", "%reshape", "%reshape", "%bcast"]


def test_the_answer_is_the_same_with_observers_and_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, watched = loop_arguments(), loop_arguments()
    run(LOOP, BLOCKS, plain)
    blocks: list[int] = []

    def note(event: Event) -> None:
        if event.name == "mulf":
            blocks.extend(event.blocks.tolist())

    monkeypatch.setattr("tileref.schedule.blocks_together", lambda *_: 1)
    run(LOOP, BLOCKS, watched, observe=note, threads=8)
    np.testing.assert_array_equal(plain[1], watched[1])
    assert blocks == list(range(BLOCKS))


def test_an_observer_of_its_own_is_told_what_it_selects() -> None:
    class Largest(Observer):
        largest = -np.inf

        def matched(self, match: Any) -> None:
            self.largest = max(self.largest, match.seen.data[match.rows].max())

    observer = Largest("addf block=1-3")
    args = loop_arguments()
    x = args[0].reshape(BLOCKS, 4).copy()
    run(LOOP, BLOCKS, args, observe=[observer])
    assert observer.largest == max((x[b] * (b + 2)).max() for b in (1, 2, 3))


def test_a_function_that_is_told_what_is_selected() -> None:
    found: list[tuple[str, list[int]]] = []
    callback = Callback(lambda e: found.append((e.name, e.blocks.tolist())), "addf iteration=1 >8 block=1-3")
    run(LOOP, BLOCKS, loop_arguments(), observe=callback)
    assert found == [("addf", [0, 1, 2, 3, 4])]


def test_without_observers_no_step_is_changed() -> None:
    """What is not looked at runs the evaluators themselves."""
    from tileref.evaluators import EVALUATORS
    from tileref.inspection.selections import where
    from tileref.inspection.session import Inspection
    from tileref.regions import prepare

    class Nobody(Observer):
        pass

    function = tileir.parse(LOOP).functions[0]
    inspection = Inspection(function, (1, 1, 1), [Nobody(where("mulf"))])
    plain = prepare(function.body)
    steps = inspection.instrument(function.body, plain)
    assert [s.operation.mnemonic for s in steps if s.looks] == ["mulf"]
    assert all(s.looks or s.evaluate is EVALUATORS.get(type(s.operation)) for s in steps)
    assert [s for s in plain if s not in steps] == [s for s in plain if s.operation.mnemonic == "mulf"]
    loop = next(op for op in function.body.operations if op.regions)
    inner = prepare(loop.regions[0])
    assert inspection.instrument(loop.regions[0], inner) == inner


def test_blocks_that_wait_for_each_other() -> None:
    """Block b waits for the flag of block b + 1, and adds b to what that one stored."""
    events: list[Event] = []
    progress: list[int] = []
    flags, out = np.zeros(6, np.int32), np.zeros(6, np.int32)
    run(CHAIN_DOWN, 6, [flags, out], observe=events.append, progress=lambda p: progress.append(p.done))
    assert out.tolist() == [15, 15, 14, 12, 9, 5]
    assert progress == [1, 2, 3, 4, 5, 6]
    loops = [e for e in events if e.name == "loop" and e.stage == "operation"]
    assert sorted(int(e.blocks[0]) for e in loops) == [0, 1, 2, 3, 4]
    for block in range(5):
        turns = [
            e.iteration
            for e in events
            if e.name == "load_ptr_tko" and e.iteration
            if e.blocks.tolist() == [block]
        ]
        # Blocks take turns, and each counts its own.
        assert turns == [(i,) for i in range(len(turns))]
        assert turns
    stops: list[int] = []
    run(CHAIN_DOWN, 6, [flags * 0, out * 0], blocks="3-5", progress=lambda p: stops.append(p.total))
    assert stops == [3, 3, 3]


def test_an_observer_is_a_function() -> None:
    with pytest.raises(tileir.TileError, match="an observer is a function"):
        run(LOOP, 1, loop_arguments(), observe=3)
    with pytest.raises(tileir.TileError, match="watch is a selection"):
        tileref.launch(tileir.parse(LOOP), 1, loop_arguments(), watch=[3])  # type: ignore[list-item]
