"""Arguments that share memory: one access through each, and nothing that orders the two."""

from __future__ import annotations

from typing import Any

import numpy as np

from tileref.kinds import Kind

from .case import Case, View, block, kernel, load, numbers, pointers, store


def same() -> list[Any]:
    """The same array twice."""
    array = numbers(64)
    return [array, array]


def overlapping() -> list[Any]:
    """Two arrays, of which the second begins in the middle of the first."""
    array = numbers(96)
    return [array[:64], array[32:]]


def adjacent() -> list[Any]:
    """Two arrays, of which the second begins where the first ends."""
    array = numbers(128)
    return [array[:64], array[64:]]


def bytes_within() -> list[Any]:
    """An array of i32, and eight of its bytes, from the second on."""
    array = numbers(64)
    return [array, array.view(np.int8)[1:9]]


def between() -> list[Any]:
    """Bytes of a file: numbers of i32 that begin at an odd byte, and the first 64 bytes."""
    data = np.zeros(512, np.uint8)
    return [data[3 : 3 + 256].view(np.int32), data[:64].view(np.int32)]


BYTES = "%a: tile<ptr<i32>>, %c: tile<ptr<i8>>"
TO_BYTES = block(
    pointers("pc", "c", "lanes", "i8"),
    "  %v = constant <i8: 7> : tile<8xi8>",
    "  %s = store_ptr_tko weak %pc, %v : tile<8xptr<i8>>, tile<8xi8> -> token",
)
NEXT = block(
    "  %on = addi %mine, %n : tile<8xi32>", pointers("next", "b", "on"), load("v", "next") + " THERE",
    store("t", "ma", "lanes", after="v_t") + " HERE",
)  # fmt: skip
READS = View([64], [8], base="b")
WRITES = View([64], [8], base="a")
RACE, UNORDERED = Kind.RACE, Kind.UNORDERED_ACCESS

CASES = [
    Case(
        RACE, "a block loads through one argument what another stores through the other", kernel(NEXT),
        grid=4, args=same, operation="store_ptr_tko", block=(1, 0, 0), lane=(0,), index=8, buffer=0, count=24,
        other=(0, 0, 0), other_place=(1, 8),
    ),
    Case(
        RACE, "tiles of one array under two names",
        kernel(block(
            READS.making, WRITES.making, "  %on = addi %x, %c1 : tile<i32>", READS.load("v", "on") + " THERE",
            WRITES.store("t", "lanes", "x", after="v_t") + " HERE",
        )),
        grid=4, args=same, operation="store_view_tko", block=(1, 0, 0), lane=(0,), index=8, buffer=0, count=24,
        other=(0, 0, 0), other_place=(1, 8),
    ),
    Case(
        RACE, "arguments that overlap by half",
        kernel(block(store("s", "ma", "block") + " HERE", store("t", "mb", "block", after="s") + " THERE")),
        grid=5, args=overlapping, operation="store_ptr_tko", block=(4, 0, 0), lane=(0,), index=32, buffer=0, count=8,
        other=(0, 0, 0), other_place=(1, 0), undefined={0: range(32, 40), 1: range(8)},
    ),
    Case(
        UNORDERED, "a store after a load through another name",
        kernel(block(load("v", "mb") + " THERE", store("t", "ma", "v") + " HERE")),
        grid=2, args=same, operation="store_ptr_tko", lane=(0,), index=0, buffer=0, count=16, other=(0, 0, 0),
        other_place=(1, 0), undefined={},
    ),
    Case(
        UNORDERED, "some bytes of an element",
        kernel(block(TO_BYTES + " THERE", load("w", "pa") + " HERE"), BYTES),
        args=bytes_within, operation="load_ptr_tko", lane=(0,), index=0, buffer=0, count=3, other=(0, 0, 0),
        other_place=(1, 0),
    ),
    Case(
        UNORDERED, "elements that lie across those of another name",
        kernel(block(load("v", "pb") + " THERE", store("t", "pa", "t3") + " HERE")),
        args=between, operation="store_ptr_tko", lane=(0,), index=0, buffer=0, count=8, other=(0, 0, 0),
        other_place=(1, 0), undefined={},
    ),
    Case(RACE, "arguments that lie side by side", kernel(NEXT.replace(" HERE", "").replace(" THERE", "")), grid=4, args=adjacent),
    Case(RACE, "one array under two names, each block its own", kernel(block(load("v", "mb"), store("t", "ma", "v", after="v_t"))), grid=8, args=same),
    Case(RACE, "one array under two names that is only read", kernel(block(load("v", "pb"), load("w", "pa"))), grid=8, args=same),
    Case(RACE, "the halves that do not overlap", kernel(block(store("s", "ma", "block"), store("t", "mb", "block", after="s"))), grid=4, args=overlapping),
    Case(UNORDERED, "other bytes", kernel(block(TO_BYTES, "  %far = addi %lanes, %t4 : tile<8xi32>", pointers("fa", "a", "far"), load("w", "fa")), BYTES), args=bytes_within),
    Case(UNORDERED, "through another name by its token", kernel(block(store("s", "ma", "lanes"), load("v", "mb", token="s"))), grid=2, args=same),
    Case(
        UNORDERED, "tiles under two names, by their tokens",
        kernel(block(
            READS.making, WRITES.making, READS.load("v", "x"), WRITES.store("s", "v", "x", after="v_t"), READS.load("w", "x", token="s"),
        )),
        grid=8, args=same,
    ),
]  # fmt: skip
