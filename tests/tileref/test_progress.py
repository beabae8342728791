"""Blocks that wait for each other, against numpy."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from tests.tileref import waiting_kernels as kernels
from tests.tileref.support import run
from tests.tileref.waiting_kernels import (
    add_to_cell,
    at,
    binary,
    compare,
    entry,
    load,
    store,
    swap,
    until,
    update,
    when,
)
from tileir.errors import TileError
from tileref import schedule


def zeros(*sizes: int) -> list[np.ndarray]:
    return [np.zeros(size, np.int32) for size in sizes]


@pytest.mark.parametrize("text", [kernels.SPIN_LOCK, kernels.SPIN_LOCK_BY_EXCHANGE])
def test_a_spin_lock_guards_a_sum(text: str) -> None:
    lock, cell = zeros(1, 1)
    result = run(text, 300, [lock, cell], step_budget=10**5)
    assert not result.undefined
    # Each block reads what another stored, which no token of its own waits for, but the lock.
    assert not result.undefined_elements
    assert (lock[0], cell[0]) == (0, sum(range(300)))


def test_a_ticket_lock_guards_a_sum() -> None:
    next_, serving, cell = zeros(1, 1, 1)
    run(kernels.TICKET_LOCK, 300, [next_, serving, cell], step_budget=10**5)
    assert (next_[0], serving[0], cell[0]) == (300, 300, sum(range(300)))


def test_a_lock_that_is_held_while_others_run() -> None:
    # Block 0 takes the lock and then waits for a flag of the last block, which takes no lock.
    last = binary("last", "subi", "n", "one") + compare("is_last", "equal", "b", "last")
    text = entry(
        "lock flag cell",
        last
        + when("is_last", store("flag", "one", "release device"))
        + compare("is_not", "less_than", "b", "last")
        + when(
            "is_not",
            until(
                "free", swap("old", "lock", "zero", "one") + compare("free", "equal", "old", "zero"), "old_t"
            )
            + until("set", load("f", "flag", "acquire device") + compare("set", "equal", "f", "one"))
            + add_to_cell("old_t_got")
            + update("released", "lock", "xchg", "zero", after="cell_w_s"),
        ),
    )
    lock, flag, cell = zeros(1, 1, 1)
    run(text, 100, [lock, flag, cell], step_budget=10**5)
    assert (lock[0], flag[0], cell[0]) == (0, 1, sum(range(99)))


def test_a_block_may_wait_for_any_lower_one() -> None:
    flags, out = zeros(3000, 3000)
    result = run(kernels.CHAIN_UP, 3000, [flags, out])
    assert not result.undefined
    np.testing.assert_array_equal(out, np.cumsum(np.arange(3000)))


def test_a_block_may_wait_for_a_higher_one_that_is_in_flight() -> None:
    blocks = schedule.IN_FLIGHT
    flags, out = zeros(blocks, blocks)
    run(kernels.CHAIN_DOWN, blocks, [flags, out], step_budget=10**6)
    np.testing.assert_array_equal(out, np.cumsum(np.arange(blocks)[::-1])[::-1])


def test_a_block_that_waits_for_one_not_in_flight_waits_for_ever() -> None:
    blocks = schedule.IN_FLIGHT + 1
    with pytest.raises(TileError) as error:
        run(kernels.CHAIN_DOWN, blocks, zeros(blocks, blocks))
    assert error.value.rule == "deadlock"
    assert f"{blocks - 1} blocks in flight, {blocks - 1} waiting in loop" in str(error.value)
    assert "1 of the grid not started" in str(error.value)


def test_a_grid_barrier() -> None:
    count, values, out = zeros(1, 700, 700)
    run(kernels.GRID_BARRIER, 700, [count, values, out], step_budget=10**5)
    np.testing.assert_array_equal(out, np.arange(700)[::-1])


def test_decoupled_look_back() -> None:
    blocks = 2048
    x = np.random.default_rng(7).integers(-1000, 1000, blocks).astype(np.int32)
    status, sums, prefixes, out = zeros(*[blocks] * 4)
    result = run(kernels.LOOK_BACK, blocks, [x, status, sums, prefixes, out], step_budget=10**6)
    assert not result.undefined
    np.testing.assert_array_equal(out, np.cumsum(x))


def test_the_order_does_not_depend_on_threads() -> None:
    said = '  %said = print_tko "%d %d\\0A", %me, %end : tile<i32>, tile<i32> -> token\n'
    text = kernels.LOOK_BACK.replace("  return", said + "  return")
    prints = []
    for threads in (1, 4):
        x = np.arange(256, dtype=np.int32)
        result = run(text, 256, [x, *zeros(*[256] * 4)], threads=threads)
        prints.append(result.prints)
    # Where a block's look back ended shows who had run before.
    assert prints[0] == prints[1]
    assert [int(line.split()[0]) for line in prints[0]] == [block ^ 7 for block in range(256)]
    assert len({int(a) - int(b) for a, b in map(str.split, prints[0])}) > 3


def test_a_lock_never_released_is_a_deadlock() -> None:
    lock, cell = zeros(1, 1)
    with pytest.raises(TileError) as error:
        run(kernels.NEVER_RELEASED, 10, [lock, cell])
    assert error.value.rule == "deadlock"
    assert error.value.operation == "loop"
    assert "9 blocks in flight, 9 waiting in loop (the first is block 1)" in str(error.value)


def test_a_deadlock_of_blocks_that_keep_changing_what_they_carry() -> None:
    # Each carries 0, 1, 2, 0, 1, 2, ...: as it was only every third round.
    text = entry(
        "flag out",
        "  %three = constant <i32: 3> : tile<i32>\n"
        "  %r = loop iter_values(%i = %zero) : tile<i32> -> tile<i32> {\n"
        + load("f", "flag", "acquire device")
        + compare("set", "equal", "f", "one")
        + "  if %set {\n    break %i : tile<i32>\n  }\n"
        + binary("j", "addi", "i", "one")
        + "  %k = remi %j, %three signed : tile<i32>\n"
        "  continue %k : tile<i32>\n  }\n" + store("out", "r"),
    )
    with pytest.raises(TileError) as error:
        run(text, 4, zeros(1, 1))
    assert error.value.rule == "deadlock"


def test_blocks_that_only_swap_a_value_back_and_forth_are_a_deadlock() -> None:
    # Memory changes all the time, and is as it was after every round.
    text = entry(
        "cell out",
        "  %five = constant <i32: 5> : tile<i32>\n"
        + until("five_", update("old", "cell", "xchg", "b") + compare("five_", "equal", "old", "five")),
    )
    with pytest.raises(TileError) as error:
        run(text, 3, zeros(1, 1))
    assert error.value.rule == "deadlock"


GIVE_UP = entry(
    "flag out",
    "  %limit = constant <i32: 500> : tile<i32>\n"
    "  %r = loop iter_values(%i = %zero) : tile<i32> -> tile<i32> {\n"
    + load("f", "flag", "acquire device")
    + compare("set", "equal", "f", "one")
    + compare("late", "equal", "i", "limit")
    + "  %stop = ori %set, %late : tile<i1>\n"
    "  if %stop {\n    break %i : tile<i32>\n  }\n"
    + binary("j", "addi", "i", "one")
    + "  continue %j : tile<i32>\n  }\n"
    + at("to", "out", "b")
    + store("to", "r"),
)


def test_a_counter_in_a_register_ends_a_wait() -> None:
    flag, out = zeros(1, 6)
    run(GIVE_UP, 6, [flag, out])
    np.testing.assert_array_equal(out, [500] * 6)


def test_counting_in_memory_is_progress() -> None:
    # Nobody carries anything, and what they wait for is how often they all went round.
    text = entry(
        "count out",
        "  %many = constant <i32: 1000> : tile<i32>\n"
        + until("enough", update("c", "count", "add", "one") + compare("enough", "greater_than", "c", "many"))
        + at("to", "out", "b")
        + store("to", "one"),
    )
    count, out = zeros(1, 5)
    run(text, 5, [count, out])
    np.testing.assert_array_equal(out, [1] * 5)
    assert count[0] == 1001 + 5


def test_an_endless_count_ends_by_the_step_budget() -> None:
    text = GIVE_UP.replace("500", "-1")
    with pytest.raises(TileError) as error:
        run(text, 6, zeros(1, 6), step_budget=3000)
    assert error.value.rule == "step-budget"
    assert "6 blocks in flight, 6 waiting in loop (the first is block 0)" in str(error.value)
    assert "at most 3000 iterations" in str(error.value)


def test_the_budget_counts_all_blocks() -> None:
    flag, out = zeros(1, 6)
    rounds = 6 * 501
    run(GIVE_UP, 6, [flag, out], step_budget=rounds)
    with pytest.raises(TileError, match="step-budget"):
        run(GIVE_UP, 6, [flag, out], step_budget=rounds - 1)


def test_a_deadlock_names_every_loop_with_its_line() -> None:
    def wait(flag: str, line: int) -> str:
        body = until(
            f"{flag}_set",
            load(f"{flag}_f", flag, "acquire device") + compare(f"{flag}_set", "equal", f"{flag}_f", "one"),
        )
        return body[: body.rindex("}") + 1] + f' loc("k.py":{line}:5)\n'

    text = entry(
        "here there",
        compare("is_first", "equal", "b", "zero")
        + f"  if %is_first {{\n{wait('here', 7)}  yield\n  }} else {{\n{wait('there', 9)}  yield\n  }}\n",
    )
    with pytest.raises(TileError) as error:
        run(text, 3, zeros(1, 1))
    assert "2 waiting in loop at k.py:9:5 (the first is block 1)" in str(error.value)
    assert "1 waiting in loop at k.py:7:5 (the first is block 0)" in str(error.value)


def test_what_one_block_raises_ends_them_all() -> None:
    text = entry(
        "flags out",
        "  %seven = constant <i32: 7> : tile<i32>\n"
        + compare("is_seven", "equal", "b", "seven")
        + "  %far = constant <i32: 100000> : tile<i32>\n"
        + at("nowhere", "out", "far")
        + when("is_seven", store("nowhere", "one"))
        + until("set", load("f", "flags", "acquire device") + compare("set", "equal", "f", "one"))
        + store("flags", "one", name="late"),
    )
    before = threading.active_count()
    with pytest.raises(TileError) as error:
        run(text, 20, zeros(1, 1), check="strict")
    assert error.value.rule == "out-of-range-store"
    assert threading.active_count() == before


def test_a_wait_inside_for_and_if_and_a_return_out_of_it() -> None:
    # Round i of block b waits until the counter has reached i * n; odd blocks return from within the wait.
    text = entry(
        "count flag out",
        "  %three = constant <i32: 3> : tile<i32>\n  %two = constant <i32: 2> : tile<i32>\n"
        + at("to", "out", "b")
        + "  %sum = for %i in (%zero to %three, step %one) : tile<i32> iter_values(%s = %zero) -> (tile<i32>) {\n"
        + update("arrived", "count", "add", "one")
        + binary("round", "addi", "i", "one")
        + binary("wanted", "muli", "round", "n")
        + until(
            "all",
            load("c", "count", "acquire device") + compare("all", "greater_than_or_equal", "c", "wanted"),
        )
        + binary("t", "addi", "s", "round")
        + "  continue %t : tile<i32>\n  }\n"
        + store("to", "sum")
        + "  %odd = remi %b, %two signed : tile<i32>\n"
        + compare("is_odd", "equal", "odd", "one")
        + "  loop {\n"
        + load("f", "flag", "acquire device")
        + compare("set", "equal", "f", "one")
        + "  if %set {\n    break\n  }\n"
        + compare("is_last", "equal", "sum", "zero")
        + "  if %is_odd {\n    return\n  }\n"
        + store("flag", "one", "release device")
        + "  continue\n  }\n"
        + store("to", "b", name="end"),
    )
    count, flag, out = zeros(1, 1, 9)
    run(text, 9, [count, flag, out], step_budget=10**4)
    # Block 0 sets the flag in its first turn, so that those after it find it set and none returns.
    assert count[0] == 27
    np.testing.assert_array_equal(out, np.arange(9))
