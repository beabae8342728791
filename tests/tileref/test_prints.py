"""What kernels print comes block by block, and each block's in the order in which it printed it."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.tileref import waiting_kernels as kernels
from tests.tileref.support import run
from tests.tileref.test_progress import zeros
from tests.tileref.waiting_kernels import compare, entry, store, update

BLOCKS = 300


def say(what: str, *values: str) -> str:
    """Print ``what`` with i32 values."""
    names = ", ".join(f"%{v}" for v in values)
    types = ", ".join(["tile<i32>"] * len(values))
    return f'  %{what}_said = print_tko "{what}{" %d" * len(values)}\\0A", {names} : {types} -> token\n'


PARTING = entry(
    "out",
    "  %two = constant <i32: 2> : tile<i32>\n  %five = constant <i32: 5> : tile<i32>\n"
    "  %seven = constant <i32: 7> : tile<i32>\n"
    + say("begin", "b")
    + "  %times = remi %b, %seven signed : tile<i32>\n"
    "  for %i in (%zero to %times, step %one) : tile<i32> {\n"
    "  %odd_ = remi %i, %two signed : tile<i32>\n"
    + compare("odd", "equal", "odd_", "one")
    + "  if %odd {\n"
    + say("odd", "b", "i")
    + "    yield\n  } else {\n"
    + say("even", "b", "i")
    + "    yield\n  }\n"
    + say("turn", "i")
    + "    continue\n  }\n"
    + "  %fives = remi %b, %five signed : tile<i32>\n"
    + compare("fifth", "equal", "fives", "zero")
    + "  if %fifth {\n"
    + say("leaves", "b")
    + "    return\n  }\n"
    + say("end", "b"),
)


def parting(b: int) -> list[str]:
    lines = [f"begin {b}"]
    for i in range(b % 7):
        lines += [f"{'odd' if i % 2 else 'even'} {b} {i}", f"turn {i}"]
    return [*lines, f"leaves {b}" if b % 5 == 0 else f"end {b}"]


@pytest.mark.parametrize("threads", [1, 3])
def test_blocks_that_part_and_meet_again(threads: int) -> None:
    result = run(PARTING, BLOCKS, zeros(1), threads=threads)
    assert "".join(result.prints).splitlines() == [line for b in range(BLOCKS) for line in parting(b)]


def test_a_token_orders_what_is_joined_by_it() -> None:
    text = entry(
        "out",
        '  %x = print_tko "first %d\\0A", %b : tile<i32> -> token\n'
        '  %y = print_tko "second\\0A" token=%x -> token\n'
        "  %z = join_tokens %x, %y : token\n"
        '  %w = print_tko "third\\0A" token=%z -> token\n',
    )
    result = run(text, 3, zeros(1))
    assert "".join(result.prints) == "".join(f"first {b}\nsecond\nthird\n" for b in range(3))


def test_blocks_that_run_in_turns() -> None:
    # Block b waits for block b + 1, so that they end in the opposite order.
    text = kernels.CHAIN_DOWN.replace("  %starts =", say("begin", "b") + "  %starts =")
    text = text.replace("    yield %w", say("got", "b", "v") + "    yield %w").replace(
        "  return", say("end", "b") + "  return"
    )
    result = run(text, BLOCKS, zeros(BLOCKS, BLOCKS))
    expected = []
    for b in range(BLOCKS):
        expected += [
            f"begin {b}",
            *([f"got {b} {sum(range(b + 1, BLOCKS))}"] if b < BLOCKS - 1 else []),
            f"end {b}",
        ]
    assert "".join(result.prints).splitlines() == expected


def test_a_wait_prints_every_turn() -> None:
    # Turns that print are not left out, although they are all alike.
    text = entry(
        "count out",
        "  %many = constant <i32: 40> : tile<i32>\n"
        + store("out", "zero")
        + "  loop {\n"
        + update("c", "count", "add", "one")
        + say("turn", "c")
        + compare("enough", "greater_than_or_equal", "c", "many")
        + "  if %enough {\n    break\n  }\n  continue\n  }\n",
    )
    result = run(text, 3, zeros(1, 1))
    lines = [int(line.split()[1]) for line in "".join(result.prints).splitlines()]
    assert sorted(lines) == list(range(43))
    # Three blocks, whose turns alternate: each prints every third number, and one more at the end.
    starts = [i for i, (a, b) in enumerate(pairwise(lines)) if b < a]
    assert len(starts) == 2
