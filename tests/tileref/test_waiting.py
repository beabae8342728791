"""Which loops are taken to wait, and whether the kernels without one still run blocks together."""

from __future__ import annotations

import numpy as np
import pytest

import tileir
import tileref
from tests.tileref import waiting_kernels as kernels
from tests.tileref.support import run
from tests.tileref.waiting_kernels import at, binary, compare, entry, load, store, swap, until, update
from tileref import launching
from tileref.waiting import find_waits, plan


def waiting(text: str, *same: set[int]) -> int:
    """How many loops wait, where the parameters of each set lie in the same memory."""
    waits = find_waits(tileir.parse(text).entries[0])
    return len(waits.among(lambda a, b: any({a, b} <= each for each in same)))


@pytest.mark.parametrize(
    "text",
    [
        kernels.SPIN_LOCK,
        kernels.SPIN_LOCK_BY_EXCHANGE,
        kernels.TICKET_LOCK,
        kernels.CHAIN_UP,
        kernels.GRID_BARRIER,
        kernels.LOOK_BACK,
    ],
)
def test_loops_that_wait(text: str) -> None:
    assert waiting(text) == 1


COLLATZ = entry(
    "out",
    "  %two = constant <i32: 2> : tile<i32>\n  %three = constant <i32: 3> : tile<i32>\n"
    + at("to", "out", "b")
    + load("start", "to")
    + "  %r, %last = loop iter_values(%s = %zero, %v = %start) : tile<i32>, tile<i32> -> tile<i32>, tile<i32> {\n"
    + compare("done", "equal", "v", "one")
    + "  if %done {\n    break %s, %v : tile<i32>, tile<i32>\n  }\n"
    + "  %odd_ = remi %v, %two signed : tile<i32>\n"
    + compare("odd", "equal", "odd_", "one")
    + "  %w = if %odd -> (tile<i32>) {\n"
    + binary("t", "muli", "v", "three")
    + binary("u", "addi", "t", "one")
    + "    yield %u : tile<i32>\n  } else {\n"
    + "  %h = divi %v, %two signed rounding<zero> : tile<i32>\n    yield %h : tile<i32>\n  }\n"
    + binary("n1", "addi", "s", "one")
    + "  continue %n1, %w : tile<i32>, tile<i32>\n  }\n"
    + store("to", "r"),
)
"""It loads and stores the same memory, but not inside the loop."""


def collatz(n: int) -> int:
    steps = 0
    while n != 1:
        n = n * 3 + 1 if n % 2 else n // 2
        steps += 1
    return steps


def test_a_loop_over_registers_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    assert waiting(COLLATZ) == 0
    monkeypatch.setattr(launching, "run_in_turns", None)
    out = np.arange(1, 301, dtype=np.int32)
    run(COLLATZ, 300, [out])
    np.testing.assert_array_equal(out, [collatz(n) for n in range(1, 301)])


def search(step: str) -> str:
    """Goes through ``table`` from the block's number on until it finds a 0; ``step`` is one more thing it does."""
    return entry(
        "table out",
        "  %r = loop iter_values(%i = %b) : tile<i32> -> tile<i32> {\n"
        + at("p", "table", "i")
        + load("v", "p")
        + step
        + compare("found", "equal", "v", "zero")
        + "  if %found {\n    break %i : tile<i32>\n  }\n"
        + binary("j", "addi", "i", "one")
        + "  continue %j : tile<i32>\n  }\n"
        + at("to", "out", "b")
        + store("to", "r"),
    )


def test_a_search_through_memory_that_nobody_writes_does_not_wait() -> None:
    assert waiting(search("")) == 0


def test_a_search_through_an_array_that_is_given_twice_waits() -> None:
    assert waiting(search(""), {0, 1}) == 1
    table = np.array([1, 1, 1, 0, 1, 0], np.int32)
    out = np.full(5, 7, np.int32)
    run(search(""), 5, [table, out])
    np.testing.assert_array_equal(out, [3, 3, 3, 3, 5])
    both = np.array([1, 1, 1, 0, 1, 0], np.int32)
    run(search(""), 5, [both, both])
    np.testing.assert_array_equal(both, [3, 3, 3, 3, 5, 0])


def test_an_atomic_that_decides_nothing_does_not_wait() -> None:
    assert waiting(search(update("seen", "out", "add", "one"))) == 0


def test_an_order_among_accesses_decides_nothing() -> None:
    text = search(update("seen", "out", "add", "one")).replace(
        "load_ptr_tko weak %p :", "load_ptr_tko weak %p token=%first :"
    )
    text = text.replace(
        "  %p = offset", update("first_", "out", "add", "one").replace("first__t", "first") + "  %p = offset"
    )
    assert waiting(text) == 0


def test_a_weak_load_of_what_the_kernel_writes_waits() -> None:
    assert waiting(search(store("p", "one"))) == 1
    spin = until("set", load("f", "flag") + compare("set", "equal", "f", "one"))
    assert waiting(entry("flag", spin)) == 0
    assert waiting(entry("flag", store("flag", "one") + spin)) == 1


def test_a_load_that_is_not_weak_waits_whoever_writes() -> None:
    spin = until("set", load("f", "flag", "relaxed device") + compare("set", "equal", "f", "one"))
    assert waiting(entry("flag", spin)) == 1


def test_what_decides_may_come_a_long_way_round() -> None:
    # The loaded value is carried, then chosen by a branch, then summed in an inner loop that does not wait.
    text = entry(
        "flag",
        store("flag", "one")
        + "  %r = loop iter_values(%a = %zero) : tile<i32> -> tile<i32> {\n"
        + "  %sum = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%s = %zero) -> (tile<i32>) {\n"
        + binary("t", "addi", "s", "a")
        + "  continue %t : tile<i32>\n  }\n"
        + compare("end", "greater_than", "sum", "zero")
        + "  if %end {\n    break %sum : tile<i32>\n  }\n"
        + load("v", "flag")
        + compare("some", "equal", "v", "one")
        + "  %w = if %some -> (tile<i32>) {\n    yield %v : tile<i32>\n  } else {\n    yield %zero : tile<i32>\n  }\n"
        + "  continue %w : tile<i32>\n  }\n",
    )
    assert waiting(text) == 1


def test_the_loop_around_a_wait_need_not_wait() -> None:
    text = entry(
        "lock cell",
        "  %r = loop iter_values(%i = %zero) : tile<i32> -> tile<i32> {\n"
        + compare("end", "equal", "i", "n")
        + "  if %end {\n    break %i : tile<i32>\n  }\n"
        + until("free", swap("old", "lock", "zero", "one") + compare("free", "equal", "old", "zero"))
        + store("lock", "zero")
        + binary("j", "addi", "i", "one")
        + "  continue %j : tile<i32>\n  }\n",
    )
    function = tileir.parse(text).entries[0]
    loops = find_waits(function).among(lambda _a, _b: False)
    outer, inner = (o for o in function.body.walk() if o.mnemonic == "loop")
    assert loops == [inner]
    found = plan(function, loops)
    assert found.around == {id(outer), id(inner)}
    assert found.spins == {id(inner)}
    lock, cell = np.zeros(1, np.int32), np.zeros(1, np.int32)
    tileref.launch(tileir.parse(text), 5, [lock, cell], step_budget=100)
    assert lock[0] == 0


def test_a_pointer_out_of_memory_may_lead_anywhere() -> None:
    text = """
    entry @k(%table: tile<ptr<i64>>, %out: tile<ptr<i32>>) {
      %one = constant <i32: 1> : tile<i32>
      %q, %q_t = load_ptr_tko weak %table : tile<ptr<i64>> -> tile<i64>, token
      %p = int_to_ptr %q : tile<i64> -> tile<ptr<i32>>
    """
    text += (
        until("set", load("f", "p") + compare("set", "equal", "f", "one"))
        + store("out", "one")
        + "return\n}\n"
    )
    assert waiting(text) == 1
