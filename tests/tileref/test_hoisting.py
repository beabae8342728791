"""What no block decides is evaluated once, and nobody can tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import tileir
import tileref
from tests.tileref.waiting_kernels import at, binary, entry, store
from tileir.errors import TileError
from tileir.ops import core, debugging, integer
from tileref import schedule
from tileref.evaluators import EVALUATORS
from tileref.hoisting import uniform


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How often each operation is evaluated, in chunks of one block."""
    counts: Counter[str] = Counter()

    def wrap(kind: Any) -> Any:
        function = EVALUATORS[kind]

        def evaluate(*arguments: Any) -> Any:
            counts[kind.mnemonic] += 1
            return function(*arguments)

        return evaluate

    monkeypatch.setattr(schedule, "CACHE_BYTES", 1)
    monkeypatch.setattr(schedule, "WORTH_BYTES", 1)
    for kind in (core.Constant, debugging.Assume, integer.MulI, integer.AddI):
        monkeypatch.setitem(EVALUATORS, kind, wrap(kind))
    yield counts


BODY = (
    "  %four = constant <i32: 4> : tile<i32>\n"
    + binary("eight", "addi", "four", "four")
    + "  %known = assume bounded<0, 100>, %eight : tile<i32>\n"
    + "  %sum = for %i in (%zero to %four, step %one) : tile<i32> iter_values(%s = %b) -> (tile<i32>) {\n"
    + binary("inside", "muli", "known", "known")
    + binary("t", "addi", "s", "inside")
    + "  continue %t : tile<i32>\n  }\n"
    + at("to", "out", "b")
    + store("to", "sum")
)


def test_uniform_operations_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    out = np.zeros(50, np.int32)
    with counted(monkeypatch) as counts:
        tileref.launch(tileir.parse(entry("out", BODY)), 50, [out], threads=1)
    np.testing.assert_array_equal(out, np.arange(50) + 4 * 64)
    # Three constants, 4 + 4, the assumption and 8 * 8 once; the sum in each turn of each block.
    assert counts == {"constant": 3, "assume": 1, "muli": 1, "addi": 1 + 50 * 4}


def test_what_a_block_decides_is_not_uniform() -> None:
    function = tileir.parse(entry("out", BODY)).entries[0]
    found = {value for operation in uniform(function) for value in operation.results}
    for operation in function.body.walk():
        if operation.mnemonic in ("get_tile_block_id", "for", "store_ptr_tko", "offset"):
            assert found.isdisjoint(operation.results)


OUT_OF_RANGE = at("past", "out", "n") + store("past", "one", name="first")
FALSE = (
    "  %big = constant <i32: 1000> : tile<i32>\n  %no = assume bounded<0, 100>, %big : tile<i32>\n"
    + store("out", "no")
)


def test_reports_come_in_the_order_of_the_program() -> None:
    for text, order in (
        (OUT_OF_RANGE + FALSE, ["out-of-range-store", "false-assumption"]),
        (FALSE + OUT_OF_RANGE, ["false-assumption", "out-of-range-store"]),
    ):
        module = tileir.parse(entry("out", text))
        result = tileref.launch(module, 3, [np.zeros(3, np.int32)])
        assert [u.kind for u in result.undefined] == order
        assert [u.count for u in result.undefined] == [3, 3]
        with pytest.raises(TileError) as error:
            tileref.launch(module, 3, [np.zeros(3, np.int32)], check="strict")
        assert error.value.rule == order[0]


def test_a_claim_in_a_branch_that_nobody_takes_is_not_checked() -> None:
    text = (
        "  %never = cmpi less_than %n, %zero, signed : tile<i32> -> tile<i1>\n  if %never {\n"
        + FALSE
        + "    yield\n  }\n"
    )
    assert not tileref.launch(tileir.parse(entry("out", text)), 3, [np.zeros(3, np.int32)]).undefined


def test_another_launch_of_the_same_kernel_has_other_parameters() -> None:
    text = """
    entry @k(%out: tile<ptr<i32>>, %p: tile<i32>) {
      %q = assume bounded<0, 10>, %p : tile<i32>
      %r = muli %q, %q : tile<i32>
      %s = store_ptr_tko weak %out, %r : tile<ptr<i32>>, tile<i32> -> token
      return
    }
    """
    loaded = tileref.load(tileir.parse(text))
    out = np.zeros(1, np.int32)
    for value, wrong in ((3, 0), (11, 1), (4, 0)):
        assert len(loaded.launch(1, [out, value]).undefined) == wrong
        assert out[0] == value * value
