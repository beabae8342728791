"""Accesses that go to no element, or to none that is there, and promises about where tiles lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tileref.kinds import Kind

from .case import Case, N, View, add, block, constant, kernel, less, load, numbers, pointers, store

THRICE = block("  %far = muli %lanes, %t3 : tile<8xi32>", pointers("fa", "a", "far"))
BEFORE = block("  %before = subi %lanes, %t1 : tile<8xi32>", pointers("fa", "a", "before"))


def short(count: int) -> Callable[[], list[Any]]:
    """A first argument of ``count`` elements."""
    return lambda: [numbers(count), numbers(64)]


def outside(kind: Kind, operation: str, access: Callable[[str, str], str]) -> list[Case]:
    """Faults and near misses of one kind of access; ``access(pointers, mask)`` is its text."""
    edge = View([12], [8], padding="zero" if operation.startswith("load") else "")
    through_view = {
        "load_ptr_tko": edge.load("w", "x"),
        "store_ptr_tko": edge.store("w", "lanes", "x"),
        "atomic_rmw_tko": edge.add("w", "lanes", "x"),
    }[operation]
    return [
        Case(
            kind, "strided too far",
            kernel(block(THRICE, access("fa", "") + " HERE")),
            args=short(16), operation=operation, lane=(6,), index=18, buffer=0, count=2,
        ),
        Case(
            kind, "second block behind the end",
            kernel(block(access("ma", "") + " HERE")),
            grid=2, args=short(12), operation=operation, block=(1, 0, 0), lane=(4,), index=12, buffer=0, count=4,
        ),
        Case(
            kind, "one before the start",
            kernel(block(BEFORE, access("fa", "") + " HERE")),
            args=short(16), operation=operation, lane=(0,), index=-1, buffer=0, count=1,
        ),
        Case(
            kind, "masked off",
            kernel(block(THRICE, constant("end", 16, "8x"), less("in", "far", "end"), access("fa", "in"))),
            args=short(16),
        ),
        Case(kind, "up to the last element", kernel(access("ma", "")), grid=2, args=short(16)),
        Case(kind, "a tile over the edge of its tensor", kernel(block(edge.making, through_view)), grid=2, args=short(12)),
    ]  # fmt: skip


def _load(at: str, mask: str) -> str:
    return load("v", at, mask=mask, pad="t0" if mask else "")


def _store(at: str, mask: str) -> str:
    return store("t", at, "lanes", mask=mask)


def _add(at: str, mask: str) -> str:
    return add("v", at, "lanes", mask=mask)


RANGES = [
    *outside(Kind.OUT_OF_RANGE_LOAD, "load_ptr_tko", _load),
    *outside(Kind.OUT_OF_RANGE_STORE, "store_ptr_tko", _store),
    *outside(Kind.OUT_OF_RANGE_ATOMIC, "atomic_rmw_tko", _add),
]

ADDRESS = f"""
  %i0 = constant <i64: 4096> : tile<{N}xi64>
  %fa = int_to_ptr %i0 : tile<{N}xi64> -> tile<{N}xptr<i32>>"""
NULL = ADDRESS.replace("4096", "0")
TO_AND_FRO = f"""
  %i0 = ptr_to_int %pa : tile<{N}xptr<i32>> -> tile<{N}xi64>
  %fa = int_to_ptr %i0 : tile<{N}xi64> -> tile<{N}xptr<i32>>"""
LAST = f"""
  %i0 = constant <i64: [1, 1, 1, 1, 1, 1, 1, 4398046511104]> : tile<{N}xi64>
  %fa = offset %ma, %i0 : tile<{N}xptr<i32>>, tile<{N}xi64> -> tile<{N}xptr<i32>>"""
WILD = Kind.WILD_POINTER
WILDS = [
    Case(WILD, "an integer", kernel(block(ADDRESS, _load("fa", "") + " HERE")), operation="load_ptr_tko", lane=(0,), count=8),
    Case(WILD, "null", kernel(block(NULL, _store("fa", "") + " HERE")), operation="store_ptr_tko", lane=(0,), count=8),
    Case(
        WILD, "a lane that leaves every buffer",
        kernel(block(LAST, _add("fa", "") + " HERE")),
        grid=3, operation="atomic_rmw_tko", lane=(7,), count=3,
    ),
    Case(WILD, "an address to an integer and back", kernel(block(TO_AND_FRO, _load("fa", "")))),
    Case(WILD, "masked off", kernel(block(NULL, less("off", "lanes", "t0"), _store("fa", "off")))),
    Case(WILD, "never accessed", kernel(block(ADDRESS, store("t", "pa", "lanes")))),
]  # fmt: skip


def _at_byte(at: int, shape: str = "8x") -> str:
    """Pointers ``%fa`` to i32, ``at`` bytes behind those of the lanes."""
    return f"""
  %bytes = ptr_to_ptr %pa : tile<{shape}ptr<i32>> -> tile<{shape}ptr<i8>>
  {constant("at", at, shape)}
  %odd = offset %bytes, %at : tile<{shape}ptr<i8>>, tile<{shape}i32> -> tile<{shape}ptr<i8>>
  %fa = ptr_to_ptr %odd : tile<{shape}ptr<i8>> -> tile<{shape}ptr<i32>>"""


BENT = Kind.MISALIGNED_POINTER
CROOKED = [
    Case(BENT, "by one byte", kernel(block(_at_byte(1), _load("fa", "") + " HERE")), operation="load_ptr_tko", lane=(0,), index=0, buffer=0, count=8),
    Case(BENT, "by half an element", kernel(block(_at_byte(2), _store("fa", "") + " HERE")), operation="store_ptr_tko", lane=(0,), index=0, buffer=0, count=8),
    Case(
        BENT, "atomically, where a mask lets it",
        kernel(block(_at_byte(7), less("in", "t2", "lanes"), _add("fa", "in") + " HERE")),
        operation="atomic_rmw_tko", lane=(3,), index=4, buffer=0, count=5,
    ),
    Case(BENT, "by an element", kernel(block(_at_byte(4), _load("fa", "")))),
    Case(BENT, "masked off", kernel(block(_at_byte(3), less("off", "lanes", "t0"), _store("fa", "off")))),
    Case(
        BENT, "bytes may lie anywhere",
        kernel(block(_at_byte(1), "  %v, %t = load_ptr_tko weak %odd : tile<8xptr<i8>> -> tile<8xi8>, token")),
    ),
]  # fmt: skip

LINE, PLANE = View([20], [8], padding="zero"), View([8, 12], [4, 8], padding="zero")
BARE = View([20], [8])
IN = Kind.INBOUNDS
PROMISES = [
    Case(
        IN, "a load over the edge",
        kernel(block(LINE.making, LINE.load("v", "x", promise="true") + " HERE")),
        grid=3, operation="load_view_tko", block=(2, 0, 0), lane=(4,), count=4,
    ),
    Case(
        IN, "a store over the edge",
        kernel(block(BARE.making, BARE.store("t", "lanes", "c2", promise="true") + " HERE")),
        operation="store_view_tko", lane=(4,), count=4,
    ),
    Case(
        IN, "along the second dimension",
        kernel(block(PLANE.making, PLANE.load("v", "c0", "x", promise="false, true") + " HERE")),
        grid=2, operation="load_view_tko", block=(1, 0, 0), lane=(0, 4), count=16,
    ),
    Case(
        IN, "an atomic addition over the edge",
        kernel(block(BARE.making, BARE.add("t", "lanes", "x", promise="true") + " HERE")),
        grid=3, operation="atomic_red_view_tko", block=(2, 0, 0), lane=(4,), count=4,
    ),
    Case(IN, "nothing promised", kernel(block(LINE.making, LINE.load("v", "x", promise="false"))), grid=3),
    Case(IN, "kept", kernel(block(LINE.making, LINE.load("v", "x", promise="true"))), grid=2),
    Case(IN, "of the other dimension", kernel(block(PLANE.making, PLANE.load("v", "c0", "x", promise="true, false"))), grid=2),
]  # fmt: skip

FRESH = f"""
  %fresh = alloca num_elem = 8, alignment = 4 : tile<ptr<i32>>{pointers("pf", "fresh", "lanes")}"""
UNWRITTEN = Kind.UNWRITTEN_MEMORY
NEVER = [
    Case(UNWRITTEN, "nothing was", kernel(block(FRESH, load("v", "pf") + " HERE")), grid=2, operation="load_ptr_tko", lane=(0,), count=16),
    Case(
        UNWRITTEN, "the second half was not",
        kernel(block(FRESH, less("half", "lanes", "t4"), store("s", "pf", "lanes", mask="half"), load("v", "pf", token="s") + " HERE")),
        operation="load_ptr_tko", lane=(4,), count=4,
    ),
    Case(
        UNWRITTEN, "added to before it was",
        kernel(block(FRESH, add("v", "pf", "lanes") + " HERE")),
        operation="atomic_rmw_tko", lane=(0,), count=8,
    ),
    Case(UNWRITTEN, "all was", kernel(block(FRESH, store("s", "pf", "lanes"), load("v", "pf", token="s"), store("u", "ma", "v"))), grid=2),
    Case(
        UNWRITTEN, "only the half that was is read",
        kernel(block(FRESH, less("half", "lanes", "t4"), store("s", "pf", "lanes", mask="half"), load("v", "pf", token="s", mask="half", pad="t1"), store("u", "ma", "v"))),
    ),
    Case(UNWRITTEN, "allocated and forgotten", kernel(block(FRESH, store("u", "pa", "lanes")))),
]  # fmt: skip

CASES = [*RANGES, *WILDS, *CROOKED, *PROMISES, *NEVER]
