"""Attempts to make the checks miss a fault, or raise a false alarm: which kinds are reported, and no others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tileir
import tileref

from .case import View, add, block, equal, kernel, load, numbers, pointers, store

ATTEMPTS: list[Any] = []


def attempt(
    name: str, text: str, kinds: list[str], grid: int = 1, args: Callable[[], list[Any]] | None = None
) -> None:
    """Note a kernel, and the kinds of undefined behaviour that it shows."""
    ATTEMPTS.append(pytest.param(text, kinds, grid, args, id=name))


def same() -> list[Any]:
    """One array twice."""
    array = numbers(64)
    return [array, array]


QUOTIENT = "  %q = divi %t1, %lanes signed : tile<8xi32>"
INSIDE = "  %in = cmpi greater_than %lanes, %t0, signed : tile<8xi32> -> tile<8xi1>"
attempt(
    "atomic of masked-off undefined value",
    kernel(block(QUOTIENT, INSIDE, add("v", "pa", "q", mask="in"))),
    [],
)
attempt("atomic of undefined value", kernel(block(QUOTIENT, add("v", "pa", "q"))), ["undefined-value"])
attempt(
    "cas masked-off undefined",
    kernel(
        block(
            QUOTIENT,
            INSIDE,
            "  %v, %v_t = atomic_cas_tko relaxed device %pa, %t0, %q, %in : tile<8xptr<i32>>, tile<8xi32>, tile<8xi1> -> tile<8xi32>, token",
        )
    ),
    [],
)
attempt(
    "cas cmp masked-off undefined",
    kernel(
        block(
            QUOTIENT,
            INSIDE,
            "  %v, %v_t = atomic_cas_tko relaxed device %pa, %q, %t0, %in : tile<8xptr<i32>>, tile<8xi32>, tile<8xi1> -> tile<8xi32>, token",
        )
    ),
    [],
)
SIX = View([6], [8])
attempt(
    "view atomic with undefined lanes outside",
    kernel(
        block("  %q = divi %t1, %d signed : tile<8xi32>", SIX.making, SIX.add("t", "q", "c0")).replace(
            "  %q = divi",
            "  %d7 = constant <i32: 7> : tile<8xi32>\n  %d = subi %d7, %lanes : tile<8xi32>\n  %q = divi",
        )
    ),
    [],
)
attempt(
    "interleaved strided blocks",
    kernel(
        block(
            "  %f2 = muli %lanes, %t2 : tile<8xi32>",
            "  %to = addi %f2, %block : tile<8xi32>",
            pointers("fa", "a", "to"),
            store("t", "fa", "block"),
        )
    ),
    [],
    grid=2,
)
attempt(
    "interleaved with 3 blocks",
    kernel(
        block(
            "  %f2 = muli %lanes, %t2 : tile<8xi32>",
            "  %to = addi %f2, %block : tile<8xi32>",
            pointers("fa", "a", "to"),
            store("t", "fa", "block"),
        )
    ),
    ["race"],
    grid=3,
)
attempt(
    "blocks with disjoint masks",
    kernel(
        block(
            "  %par = remi %lanes, %t2 unsigned : tile<8xi32>",
            equal("m", "par", "block", "8x"),
            store("t", "pa", "lanes", mask="m"),
        )
    ),
    [],
    grid=2,
)
attempt(
    "blocks with masks that meet",
    kernel(
        block(
            "  %m = cmpi greater_than_or_equal %lanes, %block, signed : tile<8xi32> -> tile<8xi1>",
            store("t", "pa", "block", mask="m"),
        )
    ),
    ["race"],
    grid=2,
)
attempt(
    "token in a branch taken by none",
    kernel(
        block(
            "  %none = make_token : token",
            store("s", "ma", "lanes"),
            equal("one", "x", "c4"),
            "  %t = if %one -> (token) {\n  yield %none : token\n  } else {\n  yield %s : token\n  }",
            load("v", "ma", token="t"),
        )
    ),
    [],
    grid=3,
)
LOOP = "  %done, %tk = loop iter_values(%i = %c0, %t = %s) : tile<i32>, token -> tile<i32>, token {"


def carrying(token: str) -> str:
    """A loop that stores what it loaded, and hands ``token`` on when it ends."""
    return kernel(
        block(
            store("s", "ma", "lanes"),
            LOOP,
            load("v", "ma", token="t"),
            store("u", "ma", "v", after="v_t"),
            "  %j = addi %i, %c1 : tile<i32>",
            "  %e = cmpi greater_than %j, %c3, signed : tile<i32> -> tile<i1>",
            f"  if %e {{\n  break %j, {token} : tile<i32>, token\n  }}",
            "  continue %j, %u : tile<i32>, token\n  }",
            load("w", "ma", token="tk"),
        )
    )


attempt("loop carried token", carrying("%u"), [], grid=2)
attempt(
    "loop break forgets token",
    carrying("%v_t"),
    ["unordered-access"],
    grid=2,
)
attempt(
    "store after others returned",
    kernel(block(equal("one", "x", "c0"), "  if %one {\n  return\n  }", store("t", "pa", "lanes"))),
    [],
    grid=2,
)
attempt(
    "assume in a dead branch",
    kernel(
        block(
            equal("one", "x", "c4"),
            "  if %one {\n  %w = assume bounded<100, ?>, %x : tile<i32>\n  yield\n  }",
        )
    ),
    [],
    grid=3,
)
attempt(
    "assume in a live branch",
    kernel(
        block(
            equal("one", "x", "c2"),
            "  if %one {\n  %w = assume bounded<100, ?>, %x : tile<i32>\n  yield\n  }",
        )
    ),
    ["false-assumption"],
    grid=3,
)
attempt("assume of undefined", kernel(block(QUOTIENT, "  %w = assume bounded<0, ?>, %q : tile<8xi32>")), [])
SUM = "  %r = reduce %q dim=0 identities=[0 : i32] : tile<8xi32> -> tile<i32> (%l: tile<i32>, %e: tile<i32>) {\n  %s2 = addi %l, %e : tile<i32>\n  yield %s2 : tile<i32>\n  }"
KEPT = "  %st = store_ptr_tko weak %a, %r : tile<ptr<i32>>, tile<i32> -> token"
attempt("undefined through a reduce", kernel(block(QUOTIENT, SUM, KEPT)), ["integer-division"])
attempt(
    "hidden before a reduce",
    kernel(
        block(
            QUOTIENT.replace("%q", "%q0"),
            INSIDE,
            "  %q = select %in, %q0, %t0 : tile<8xi1>, tile<8xi32>",
            SUM,
            KEPT,
        )
    ),
    [],
)
attempt(
    "select by an undefined condition",
    kernel(
        block(
            QUOTIENT,
            equal("cd", "q", "t0", "8x"),
            "  %w = select %cd, %t1, %t1 : tile<8xi1>, tile<8xi32>",
            store("t", "pa", "w"),
        )
    ),
    ["integer-division"],
)
attempt(
    "print of a defined", kernel(block('  %t = print_tko "%i", %lanes : tile<8xi32> -> token')), [], grid=2
)
PADDED = View([60], [8], padding="zero")
attempt(
    "padded load past the tensor",
    kernel(
        block(
            PADDED.making,
            "  %c7 = constant <i32: 7> : tile<i32>",
            PADDED.load("v", "c7"),
            store("t", "mb", "v"),
        )
    ),
    [],
)
SIXTY = View([60], [8])
attempt(
    "unpadded load past the tensor stored",
    kernel(
        block(
            SIXTY.making,
            "  %c7 = constant <i32: 7> : tile<i32>",
            SIXTY.load("v", "c7"),
            store("t", "mb", "v"),
        )
    ),
    [],
)
attempt(
    "inbounds promise broken",
    kernel(
        block(SIXTY.making, "  %c7 = constant <i32: 7> : tile<i32>", SIXTY.load("v", "c7", promise="true"))
    ),
    ["inbounds"],
)
attempt("inbounds kept", kernel(block(SIXTY.making, SIXTY.load("v", "c4", promise="true"))), [])
attempt(
    "store past view edge",
    kernel(block(SIXTY.making, "  %c7 = constant <i32: 7> : tile<i32>", SIXTY.store("v", "lanes", "c7"))),
    [],
)
LARGER = View([70], [8])
attempt(
    "tensor claims more than buffer",
    kernel(block(LARGER.making, "  %c8 = constant <i32: 8> : tile<i32>", LARGER.load("v", "c8"))),
    ["out-of-range-load"],
)
LAST = View([60], [8])
attempt(
    "two blocks, last partial tile", kernel(block(LAST.making, LAST.store("t", "block", "x"))), [], grid=8
)
attempt(
    "alias atomic vs weak load",
    kernel(block(load("v", "pb"), add("w", "pa", "t1"))),
    ["race"],
    grid=2,
    args=same,
)
attempt(
    "alias atomics both relaxed",
    kernel(block(add("v", "pb", "t1"), add("w", "pa", "t1"))),
    [],
    grid=2,
    args=same,
)
attempt(
    "relaxed store vs relaxed load by blocks",
    kernel(block(store("s", "pa", "block", how="relaxed device"), load("v", "pa", how="relaxed device"))),
    [],
    grid=3,
)
attempt(
    "relaxed tl_blk store by blocks",
    kernel(block(store("s", "pa", "block", how="relaxed tl_blk"))),
    ["race"],
    grid=3,
)
attempt(
    "relaxed sys vs device",
    kernel(block(store("s", "pa", "block", how="relaxed sys"), load("v", "pa", how="relaxed device"))),
    [],
    grid=3,
)
attempt(
    "weak store then atomic same block no token",
    kernel(block(store("s", "ma", "lanes"), add("v", "ma", "t1"))),
    ["unordered-access"],
    grid=2,
)
attempt(
    "weak store then atomic with token",
    kernel(block(store("s", "ma", "lanes"), add("v", "ma", "t1", token="s"))),
    [],
    grid=2,
)
attempt(
    "weak read by other after atomic",
    kernel(
        block(
            equal("one", "x", "c0"),
            "  if %one {",
            load("v", "pa"),
            "  yield\n  } else {",
            add("w", "pa", "t1"),
            "  yield\n  }",
        )
    ),
    ["race"],
    grid=2,
)
attempt(
    "weak stores of the same value + reader",
    kernel(block(store("s", "pa", "t3"), load("v", "pa", token="s"))),
    ["race"],
    grid=2,
)
attempt(
    "masked colliding lanes equal",
    kernel(
        block(
            "  %at = constant <i32: [0,0,1,1,2,2,3,3]> : tile<8xi32>",
            pointers("fa", "a", "at"),
            "  %hv = divi %lanes, %t2 signed : tile<8xi32>",
            store("t", "fa", "hv"),
        )
    ),
    [],
)
attempt(
    "masked colliding lanes differ",
    kernel(
        block(
            "  %at = constant <i32: [0,0,1,1,2,2,3,3]> : tile<8xi32>",
            pointers("fa", "a", "at"),
            store("t", "fa", "lanes"),
        )
    ),
    ["colliding-lanes"],
)
attempt(
    "cas all fail counts as write?",
    kernel(
        block(
            "  %m1 = constant <i32: -1> : tile<8xi32>",
            "  %v, %v_t = atomic_cas_tko relaxed device %pa, %m1, %t0 : tile<8xptr<i32>>, tile<8xi32> -> tile<8xi32>, token",
            load("w", "pa", token="v_t"),
        )
    ),
    ["race"],
    grid=2,
)
attempt(
    "i1 packed neighbours",
    kernel(
        block(
            pointers("pc", "c", "mine", "i1"),
            equal("m", "lanes", "t0", "8x"),
            "  %s = store_ptr_tko weak %pc, %m : tile<8xptr<i1>>, tile<8xi1> -> token",
        ),
        "%a: tile<ptr<i32>>, %c: tile<ptr<i1>>",
    ),
    [],
    grid=4,
    args=lambda: [numbers(64), np.zeros(64, np.bool_)],
)
GLOBAL = "global @g <i32: [1, 2, 3, 4, 5, 6, 7, 8]> : tile<8xi32>\n"


def with_global(body: str) -> str:
    """A module with the global ``@g`` of eight numbers."""
    return "cuda_tile.module @m {\n" + GLOBAL + kernel(body) + "\n}"


TO_GLOBAL = block("  %g = get_global @g : tile<ptr<i32>>", pointers("pg", "g", "lanes"))
attempt("global stored by blocks", with_global(block(TO_GLOBAL, store("s", "pg", "block"))), ["race"], grid=2)
attempt("global read only", with_global(block(TO_GLOBAL, load("s", "pg"))), [], grid=2)
attempt(
    "global one past",
    with_global(
        block(TO_GLOBAL, "  %on = addi %lanes, %t1 : tile<8xi32>", pointers("ph", "g", "on"), load("s", "ph"))
    ),
    ["out-of-range-load"],
)
ALLOCATED = block(
    "  %al = alloca num_elem = 8, alignment = 4 : tile<ptr<i32>>", pointers("pl", "al", "lanes")
)
attempt(
    "alloca by each block",
    kernel(block(ALLOCATED, store("s", "pl", "lanes"), load("v", "pl", token="s"), store("t", "ma", "v"))),
    [],
    grid=3,
)
attempt("alloca unwritten", kernel(block(ALLOCATED, load("v", "pl"))), ["unwritten-memory"], grid=3)
attempt(
    "alloca unordered",
    kernel(block(ALLOCATED, store("s", "pl", "lanes"), load("v", "pl"))),
    ["unordered-access"],
    grid=3,
)


@pytest.mark.parametrize(("text", "kinds", "grid", "args"), ATTEMPTS)
def test_what_is_reported_and_no_more(
    text: str, kinds: list[str], grid: int, args: Callable[[], list[Any]] | None
) -> None:
    arguments = [numbers(64), numbers(64)] if args is None else args()
    result = tileref.launch(tileir.parse(text), grid, arguments)
    assert {str(event.kind) for event in result.undefined} == set(kinds)
