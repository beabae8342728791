"""Whatever a launch says names the source line of the operation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileir
import tileref
from tests.tileref.inspection.kernels import BRANCH, LOOP
from tests.tileref.inspection.test_lost_addends import fold
from tests.tileref.support import pointers
from tests.tileref.waiting_kernels import CHAIN_DOWN
from tileir.errors import TileError
from tileir.locations import SourceLocation

LINES = {
    name: line
    for line, name in enumerate(
        [
            "if",
            "loop",
            "for",
            "divi",
            "assert",
            "print_tko",
            "store_ptr_tko",
            "load_ptr_tko",
            "assume",
            "addf",
        ],
        1,
    )
}


def located(text: str) -> tileir.Module:
    """A kernel whose operations have lines of their own."""
    module = tileir.parse(text)
    for operation in module.walk():
        operation.location = SourceLocation(None, "k.py", LINES.get(operation.mnemonic, 99), 0)
    return module


def place(name: str) -> str:
    return f"k.py:{LINES[name]}:0"


def says(conversion: str) -> str:
    return f"""
    entry @k(%x: tile<i32>) {{
      %t = print_tko "{conversion}", %x : tile<i32> -> token
      return
    }}
    """


@pytest.mark.parametrize(
    ("text", "blocks", "args", "options", "operation", "rule"),
    [
        (
            LOOP,
            2,
            [np.ones(8, np.float32), np.zeros(8, np.float32), 9],
            {"step_budget": 3},
            "for",
            "step-budget",
        ),
        (BRANCH, 2, [np.zeros(1, np.int32)], {"check": "strict"}, "store_ptr_tko", "out-of-range-store"),
        (CHAIN_DOWN, 3, [np.zeros(3, np.int32)] * 2, {"blocks": "0-1"}, "loop", "deadlock"),
        (says("%9999d"), 1, [3], {}, "print_tko", "print-format"),
        (says("%.99999d"), 1, [3], {}, "print_tko", "print-format"),
    ],
)
def test_errors(text: str, blocks: int, args: list[Any], options: Any, operation: str, rule: str) -> None:
    with pytest.raises(TileError) as raised:
        tileref.launch(located(text), blocks, args, **options)
    error = raised.value
    assert (error.rule, error.operation, error.location) == (rule, operation, place(operation))
    assert place(operation) in str(error)


@pytest.mark.parametrize("text", [BRANCH, CHAIN_DOWN])
def test_an_array_that_is_read_only(text: str) -> None:
    """Also where blocks run in turns."""
    arrays = [np.zeros(3, np.int32) for _ in range(1 if text is BRANCH else 2)]
    for array in arrays:
        array.flags.writeable = False
    with pytest.raises(TileError, match="read-only") as raised:
        tileref.launch(located(text), 3, arrays)
    assert raised.value.location == place("store_ptr_tko")


def test_the_error_of_an_inner_operation_is_its_own() -> None:
    """Not that of the loop around it."""
    text = """
    entry @k(%x: tile<i32>) {
      %zero = constant <i32: 0> : tile<i32>
      %one = constant <i32: 1> : tile<i32>
      for %i in (%zero to %x, step %one) : tile<i32> {
        %t = print_tko "%99999d", %i : tile<i32> -> token
        continue
      }
      return
    }
    """
    with pytest.raises(TileError) as raised:
        tileref.launch(located(text), 1, [1])
    assert raised.value.operation == "print_tko"


def test_what_is_in_the_result() -> None:
    text = f"""
    entry @k(%x: tile<ptr<i32>>, %zero: tile<i32>) {{
      %b, %y, %z = get_tile_block_id : tile<i32>
      %t = print_tko "block %d", %b : tile<i32> -> token
      %one = constant <i32: 1> : tile<i32>
      %q = divi %one, %zero signed : tile<i32>
      %c = cmpi equal %b, %one, signed : tile<i32> -> tile<i1>
      assert %c, "is block 1" : tile<i1>
      %i = iota : tile<4xi32>
      {pointers("x", "p", "i32", 4, "i")}
      %v, %u = load_ptr_tko weak %p : tile<4xptr<i32>> -> tile<4xi32>, token
      %w = assume bounded<5, ?>, %v : tile<4xi32>
      %s = offset %x, %q : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %r = store_ptr_tko weak %s, %zero : tile<ptr<i32>>, tile<i32> -> token
      return
    }}
    """
    result = tileref.launch(located(text), (3, 2), [np.zeros(3, np.int32), 0])
    assert [(p.text, p.block, p.location) for p in result.printed] == [
        (f"block {x}", (x, y, 0), place("print_tko")) for y in range(2) for x in range(3)
    ]
    assert result.prints == [p.text for p in result.printed]
    assert {a.location for a in result.assertions} == {place("assert")}
    # That the blocks race for the element as well is not looked at here.
    found = {u.operation: u for u in result.undefined if u.kind != "race"}
    assert set(found) == {"load_ptr_tko", "assume", "store_ptr_tko"}
    for name, event in found.items():
        assert event.location == place(name)
    # Where a value was lost is named beside where it is used.
    assert f"from divi at {place('divi')}" in found["store_ptr_tko"].message


def test_lints() -> None:
    (lint,) = tileref.launch(located(fold("reduce", "f16", 64)), 1, [np.array([2048] + [1] * 63, np.float16)],
                             lint="lost-addend").lints  # fmt: skip
    assert lint.location == place("addf")
    assert f"at {place('addf')}" in str(lint)
