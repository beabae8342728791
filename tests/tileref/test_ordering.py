"""The watch over the order of accesses, against a comparison of every two accesses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

import tileir
import tileref
from tests.tileref.ordering_programs import BEFORE, SIZE, Step, programs, raced, text, unordered, waited
from tileref.ordering.past import NOTHING, WINDOW, Past, joined
from tileref.ordering.tokens import Token, join_tokens, merge_tokens
from tileref.undefined import Other


def place(accessed: tileref.Undefined | Other) -> int:
    """Which element of the buffer it is about."""
    return accessed.index + (BEFORE if accessed.buffer == 1 else 0)


def arguments() -> list[np.ndarray]:
    memory = np.arange(SIZE, dtype=np.int32)
    return [memory, memory[BEFORE:]]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs())
def test_what_is_reported_is_what_the_definitions_say(program: tuple[int, list[Step]]) -> None:
    blocks, steps = program
    memory = np.arange(SIZE, dtype=np.int32)
    result = tileref.launch(tileir.parse(text(steps)), blocks, [memory, memory[BEFORE:]])
    races = raced(blocks, steps)
    found = [u for u in result.undefined if u.kind == "race"]
    assert {place(u) for u in found} <= races
    for event in result.undefined:
        # Both accesses are where they are said to be, and meet.
        one, other = (steps[int(a.location.split(":")[1])] for a in (event, event.other))
        assert one.elements(event.block[0])[event.lane[0]] == place(event)
        assert other.elements(event.other.block[0])[event.other.lane[0]] == place(event.other) == place(event)
        assert one.writes or other.writes
    plain = all(s.value is None for s in steps)
    if plain or not races:
        assert sum(u.count for u in found) == len(races)
    else:
        # Of stores of several values one after another the last may count alone; see docs/undefined.md.
        assert sum(u.count for u in found) <= len(races)
    # Where blocks race as well, what a block did on its own is told of the elements that are left.
    missing = unordered(blocks, steps)
    reported = {int(u.location.split(":")[1]): u for u in result.undefined if u.kind == "unordered-access"}
    assert set(reported) <= set(missing)
    for number, event in reported.items():
        assert event.count <= len(missing[number])
        assert (event.block[0], place(event)) in missing[number]
        other = int(event.other.location.split(":")[1])
        assert other < number
        assert other not in waited(steps, number)
    if not raced(blocks, steps, letter=True):
        # An element is surely told of until something is wrong with it.
        told: set[tuple[int, int]] = set()
        for number, places in sorted(missing.items()):
            count = reported[number].count if number in reported else 0
            assert len(places - told) <= count <= len(places)
            told |= places


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_it_is_the_same_whichever_blocks_run_together(program: tuple[int, list[Step]]) -> None:
    blocks, steps = program
    # Kernels with atomic operations always run the same blocks together.
    assume(all(s.kind != "add" for s in steps))
    # Values are compared with those that are there at the time: see docs/undefined.md.
    assume(all(s.value is None for s in steps))
    module = tileir.parse(text(steps))

    def races(together: int, threads: int) -> list[tileref.Undefined]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("tileref.schedule.blocks_together", lambda *_: together)
            result = tileref.launch(module, blocks, arguments(), threads=threads)
        return [u for u in result.undefined if u.kind == "race"]

    assert races(1, 1) == races(3, 1) == races(1, 4) == races(100, 1)


def test_what_is_waited_for() -> None:
    past = NOTHING.after(3).after(5)
    assert [n for n in range(8) if n in past] == [3, 5]
    both = joined([past, NOTHING.after(4)])
    assert [n for n in range(8) if n in both] == [3, 4, 5]
    assert both.bits == 0b111000
    long = past.after(3 * WINDOW)
    assert 0 in long
    assert 3 * WINDOW in long
    assert 3 * WINDOW - 1 not in long
    assert 5 in joined([long, NOTHING])
    assert Past(4, 0b10).bits == 0b101111


def test_tokens_of_blocks_that_part_are_kept_apart() -> None:
    before = Token((NOTHING.after(0),))
    one, other = before.after(1), before.after(2)
    merged = merge_tokens(4, [(np.array([0, 2]), one), (np.array([1, 3]), other)])
    assert merged.which is not None
    held = [[n for n in range(4) if n in merged.pasts[w]] for w in merged.which]
    assert held == [[0, 1], [0, 2], [0, 1], [0, 2]]
    assert merged.take(np.array([1, 3])).which.tolist() == [1, 1]
    joint = join_tokens([merged, Token((NOTHING.after(3),))])
    assert [3 in p and 0 in p for p in joint.pasts] == [True, True]
    assert merge_tokens(2, [(np.array([0]), one), (np.array([1]), one)]) == one
