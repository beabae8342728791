"""Values that the dialect does not give, once they matter, and claims that are false."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tileref.kinds import Kind

from .case import Case, N, View, add, block, constant, kernel, less, load, numbers, store

QUOTIENT = "  %q = divi %t1, %lanes signed : tile<8xi32>"
"""Has no value in lane 0."""
UNDEFINED = Kind.UNDEFINED_VALUE
SIX = View([6], [8])
HALF = less("half", "lanes", "t4")
USES = [
    Case(
        UNDEFINED, "a mask from lanes that were masked off",
        kernel(block(HALF, load("v", "pa", mask="half"), less("m", "v", "t3"), store("t", "pb", "lanes", mask="m") + " HERE")),
        operation="store_ptr_tko", lane=(4,), count=4,
    ),
    Case(
        UNDEFINED, "a pointer from a division by zero",
        kernel(block(QUOTIENT, "  %fa = offset %pa, %q : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>", load("v", "fa") + " HERE")),
        operation="load_ptr_tko", lane=(0,), count=1,
    ),
    Case(
        UNDEFINED, "the bound of a loop, in one block",
        kernel(block(
            "  %end = divi %c4, %x signed : tile<i32>", "  for %i in (%c0 to %end, step %c1) : tile<i32> {", "  continue", "  } HERE",
        )),
        grid=3, operation="for", lane=(), count=1,
    ),
    Case(
        UNDEFINED, "a printed value",
        kernel(block(QUOTIENT, '  %t = print_tko "%i", %q : tile<8xi32> -> token HERE')),
        operation="print_tko", lane=(0,), count=1,
    ),
    Case(
        UNDEFINED, "what is atomically added",
        kernel(block(QUOTIENT, "  %v, %v_t = atomic_rmw_tko relaxed device %pa, add, %q : tile<8xptr<i32>>, tile<8xi32> -> tile<8xi32>, token HERE")),
        operation="atomic_rmw_tko", lane=(0,), count=1, undefined={0: [0]},
    ),
    Case(UNDEFINED, "what is not atomically added, as it is masked off", kernel(block(QUOTIENT, less("in", "t0", "lanes"), add("v", "pa", "q", mask="in")))),
    Case(
        UNDEFINED, "what a compare and swap that is masked off would store",
        kernel(block(
            QUOTIENT, less("in", "t0", "lanes"),
            "  %v, %v_t = atomic_cas_tko relaxed device %pa, %q, %q, %in"
            " : tile<8xptr<i32>>, tile<8xi32>, tile<8xi1> -> tile<8xi32>, token",
        )),
    ),
    Case(
        UNDEFINED, "what would be added beyond the tensor",
        kernel(block(
            "  %n7 = constant <i32: 7> : tile<8xi32>", "  %down = subi %n7, %lanes : tile<8xi32>",
            "  %q = divi %t1, %down signed : tile<8xi32>", SIX.making, SIX.add("t", "q", "c0"),
        )),
    ),
    Case(UNDEFINED, "padded", kernel(block(HALF, load("v", "pa", mask="half", pad="t0"), less("m", "v", "t3"), store("t", "pb", "lanes", mask="m")))),
    Case(
        UNDEFINED, "not selected",
        kernel(block(
            QUOTIENT, less("low", "lanes", "t1"), "  %s = select %low, %t0, %q : tile<8xi1>, tile<8xi32>",
            "  %fa = offset %pa, %s : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>", load("v", "fa"),
        )),
    ),
    Case(
        UNDEFINED, "a pointer that is masked off",
        kernel(block(
            QUOTIENT, "  %fa = offset %pa, %q : tile<8xptr<i32>>, tile<8xi32> -> tile<8xptr<i32>>", less("in", "t0", "lanes"),
            load("v", "fa", mask="in", pad="t0"), store("t", "pb", "v"),
        )),
    ),
]  # fmt: skip


def assumed(claim: str) -> str:
    """A kernel that claims something of what it loads, and stores it."""
    return kernel(
        block(load("v", "ma"), f"  %w = assume {claim}, %v : tile<8xi32> HERE", store("t", "mb", "w"))
    )


def given(*values: int) -> Callable[[], list[Any]]:
    """A first argument of these elements."""
    return lambda: [np.array(values, np.int32), numbers(64)]


FALSE = Kind.FALSE_ASSUMPTION
CLAIMS = [
    Case(FALSE, "below a bound", assumed("bounded<0, ?>"), args=given(0, 1, 2, -3, 4, 5, -6, 7), operation="assume", lane=(3,), count=2),
    Case(FALSE, "not a multiple", assumed("div_by<4>"), grid=2, args=given(*range(0, 32, 4), *[4] * 5, 6, 8, 8), operation="assume", block=(1, 0, 0), lane=(5,), count=1),
    Case(FALSE, "not the same", assumed("same_elements<[4]>"), args=given(1, 1, 1, 1, 2, 2, 3, 2), operation="assume", lane=(6,), count=1),
    Case(FALSE, "within its bounds", assumed("bounded<0, 7>").replace(" HERE", ""), args=given(*range(8))),
    Case(FALSE, "multiples", assumed("div_by<4>").replace(" HERE", ""), args=given(*range(-16, 16, 4))),
    Case(FALSE, "the same by fours", assumed("same_elements<[4]>").replace(" HERE", ""), args=given(1, 1, 1, 1, 2, 2, 2, 2)),
]  # fmt: skip


def stepping(step: str) -> str:
    """A loop from 0 to 4 by ``%step``."""
    return kernel(block(step, "  for %i in (%c0 to %c4, step %step) : tile<i32> {", "  continue", "  } HERE"))


STEP = Kind.LOOP_STEP
STEPS = [
    Case(STEP, "zero", stepping(constant("step", 0)), operation="for", lane=(), count=1),
    Case(STEP, "negative", stepping(constant("step", -2)), grid=2, operation="for", lane=(), count=2),
    Case(STEP, "of one block", stepping("  %step = subi %c2, %x : tile<i32>"), grid=3, operation="for", block=(2, 0, 0), lane=(), count=1),
    Case(STEP, "one", stepping(constant("step", 1))),
    Case(STEP, "beyond the end", stepping(constant("step", 100))),
    Case(STEP, "another in each block", stepping("  %step = addi %c1, %x : tile<i32>"), grid=3),
]  # fmt: skip

FLOATS = "%a: tile<ptr<f32>>, %c: tile<ptr<i32>>"


def folded(what: str, identity: str, body: str, kind: str = "f32") -> str:
    """A reduction of 8 loaded numbers by ``body``."""
    scan = what == "scan"
    head = (
        f"scan %v dim=0 reverse=false identities=[{identity} : {kind}]"
        if scan
        else f"reduce %v dim=0 identities=[{identity} : {kind}]"
    )
    result = f"tile<8x{kind}>" if scan else f"tile<{kind}>"
    return f"""
entry @k(%a: tile<ptr<{kind}>>) {{
  %lanes = iota : tile<8xi32>
  %p1 = reshape %a : tile<ptr<{kind}>> -> tile<1xptr<{kind}>>
  %pn = broadcast %p1 : tile<1xptr<{kind}>> -> tile<8xptr<{kind}>>
  %p = offset %pn, %lanes : tile<8xptr<{kind}>>, tile<8xi32> -> tile<8xptr<{kind}>>
  %v, %t = load_ptr_tko weak %p : tile<8xptr<{kind}>> -> tile<8x{kind}>, token
  %r = {head} : tile<8x{kind}> -> {result} (%l: tile<{kind}>, %e: tile<{kind}>) {{
    %s = {body} : tile<{kind}>
    yield %s : tile<{kind}>
  }} HERE
  return
}}"""


def floats(*values: float) -> Callable[[], list[Any]]:
    """One argument of these numbers."""
    return lambda: [np.array(values, np.float32)]


BEST = """
entry @k(%a: tile<ptr<f32>>, %b: tile<ptr<i32>>) {
  %lanes = iota : tile<8xi32>
  %p1 = reshape %a : tile<ptr<f32>> -> tile<1xptr<f32>>
  %pn = broadcast %p1 : tile<1xptr<f32>> -> tile<8xptr<f32>>
  %p = offset %pn, %lanes : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
  %v, %t = load_ptr_tko weak %p : tile<8xptr<f32>> -> tile<8xf32>, token
  %best, %where = reduce %v, %lanes dim=0 identities=[0xFF800000 : f32, 0 : i32]
      : tile<8xf32>, tile<8xi32> -> tile<f32>, tile<i32>
  (%bv: tile<f32>, %ev: tile<f32>, %bi: tile<i32>, %ei: tile<i32>) {
    %later = cmpf greater_than ordered %ev, %bv : tile<f32> -> tile<i1>
    %nv = select %later, %ev, %bv : tile<i1>, tile<f32>
    %ni = select %later, %ei, %bi : tile<i1>, tile<i32>
    yield %nv, %ni : tile<f32>, tile<i32>
  }
  %u = store_ptr_tko weak %b, %where : tile<ptr<i32>>, tile<i32> -> token
  return
}"""
IDENTITY = Kind.IDENTITY
LOW = [-5.0, -3.0, -9.0, -2.5, -7.0, -8.0, -4.0, -6.0]
STARTS = [
    Case(IDENTITY, "one for a sum", folded("reduce", "1.000000e+00", "addf %l, %e"), args=floats(*LOW), operation="reduce", lane=(), count=1),
    Case(IDENTITY, "zero for the largest of negative numbers", folded("reduce", "0.000000e+00", "maxf %l, %e"), args=floats(*LOW), operation="reduce", lane=(), count=1),
    Case(IDENTITY, "zero for a running product", folded("scan", "0", "muli %l, %e", "i32"), args=lambda: [numbers(8) + 1], operation="scan", lane=(0,), count=8),
    Case(IDENTITY, "a number for the largest of infinities", folded("reduce", "-1.000000e+30", "maxf %l, %e"), args=floats(*[-np.inf] * 8), operation="reduce", lane=(), count=1),
    Case(IDENTITY, "a low number for the largest", folded("reduce", "-1.000000e+30", "maxf %l, %e").replace(" HERE", ""), args=floats(*LOW)),
    Case(IDENTITY, "a negative zero for a sum", folded("reduce", "-0.000000e+00", "addf %l, %e").replace(" HERE", ""), args=floats(*[0.0] * 8)),
    Case(IDENTITY, "a zero for a sum of negative zeros", folded("reduce", "0.000000e+00", "addf %l, %e").replace(" HERE", ""), args=floats(*[-0.0] * 8)),
    Case(IDENTITY, "where a NaN comes out", folded("reduce", "1.000000e+00", "mulf %l, %e").replace(" HERE", ""), args=floats(np.nan, *LOW[1:])),
    Case(IDENTITY, "of the largest and its place", BEST, args=lambda: [np.full(8, -np.inf, np.float32), numbers(1)]),
]  # fmt: skip


def stored(expression: str, mask: str = "") -> str:
    """A kernel that computes ``%v`` from the lanes and stores it."""
    before = less("m", "lanes", mask) if mask else ""
    return kernel(block(expression, before, store("t", "ma", "v", mask="m" if mask else "")))


def hidden(expression: str) -> str:
    """The same, with the lanes from 4 on not chosen before the store."""
    return kernel(block(
        expression, HALF, "  %w = select %half, %v, %t0 : tile<8xi1>, tile<8xi32>", store("t", "ma", "w"),
    ))  # fmt: skip


def arithmetic(
    kind: Kind, faults: list[tuple[str, str, str, int, int]], fine: list[tuple[str, str]], partial: str
) -> list[Case]:
    """Cases of an operation that answers nothing in some lanes.

    ``faults`` are name, text of ``%v``, operation, first lane and count; ``fine`` name and text;
    ``partial`` has no value from lane 4 on.
    """
    return [
        *(
            Case(kind, name, stored(text + " HERE"), operation=operation, lane=(lane,), count=count)
            for name, text, operation, lane, count in faults
        ),
        *(Case(kind, name, stored(text)) for name, text in fine),
        Case(kind, "masked off", stored(partial, mask="t4")),
        Case(kind, "not chosen", hidden(partial)),
        Case(kind, "computed for nothing", kernel(partial)),
    ]


def numbered(name: str, *values: int) -> str:
    """A tile of these numbers."""
    return f"  %{name} = constant <i32: [{', '.join(map(str, values))}]> : tile<8xi32>"


LARGE = numbered("large", *[1] * 6, 2147483647, -2147483648)
UPPER = numbered("upper", *[1] * 4, *[2147483647] * 4)
NONE = numbered("none", 1, 2, 3, 4, 0, 0, 0, 0)
WIDE = numbered("wide", *[1] * 4, 32, 33, -1, 99)
SIGNS = numbered("minus", *[3] * 7, -1)
DIVISIONS = arithmetic(
    Kind.INTEGER_DIVISION,
    [
        ("by zero", block("  %v = divi %t4, %lanes signed : tile<8xi32>"), "divi", 0, 1),
        ("the remainder by zero", block(NONE, "  %v = remi %t4, %none unsigned : tile<8xi32>"), "remi", 4, 4),
        (
            "that overflows",
            block(LARGE, SIGNS, "  %v = divi %large, %minus signed : tile<8xi32>"),
            "divi",
            7,
            1,
        ),
    ],
    [("without a sign", block(LARGE, SIGNS, "  %v = divi %large, %minus unsigned : tile<8xi32>"))],
    block(NONE, "  %v = divi %t4, %none signed : tile<8xi32>"),
)
NSW, NUW, NW = (f"overflow<{promise}>" for promise in ("no_signed_wrap", "no_unsigned_wrap", "no_wrap"))
OVERFLOWS = arithmetic(
    Kind.OVERFLOW,
    [
        ("a sum", block(LARGE, f"  %v = addi %large, %t1 {NSW} : tile<8xi32>"), "addi", 6, 1),
        ("a difference without a sign", f"  %v = subi %lanes, %t2 {NUW} : tile<8xi32>", "subi", 0, 2),
        ("a product", block(LARGE, f"  %v = muli %large, %t2 {NSW} : tile<8xi32>"), "muli", 6, 2),
        ("a negation", block(LARGE, f"  %v = negi %large {NSW} : tile<8xi32>"), "negi", 7, 1),
        ("a negation, either way", block(LARGE, f"  %v = negi %large {NW} : tile<8xi32>"), "negi", 7, 1),
    ],
    [
        ("nothing promised", block(LARGE, "  %v = addi %large, %t1 : tile<8xi32>")),
        ("the other promise", block(LARGE, f"  %v = addi %large, %t1 {NUW} : tile<8xi32>")),
        ("a negation is signed", block(SIGNS, f"  %v = negi %minus {NW} : tile<8xi32>")),
    ],
    block(UPPER, f"  %v = addi %upper, %t1 {NSW} : tile<8xi32>"),
)
TRUNCATED = Case(
    Kind.OVERFLOW, "a truncation",
    kernel(block(
        numbered("far", 1, 2, 3, 4, 5, 127, 128, -128), f"  %s = trunci %far {NSW} : tile<8xi32> -> tile<8xi8> HERE",
        "  %v = exti %s signed : tile<8xi8> -> tile<8xi32>", store("t", "ma", "v"),
    )),
    operation="trunci", lane=(6,), count=1,
)  # fmt: skip
SHIFTS = arithmetic(
    Kind.SHIFT_COUNT,
    [
        ("to the left", block(WIDE, "  %v = shli %t1, %wide : tile<8xi32>"), "shli", 4, 4),
        ("to the right", block(WIDE, "  %v = shri %t1, %wide signed : tile<8xi32>"), "shri", 4, 4),
        (
            "bits that were promised to stay",
            block(LARGE, f"  %v = shli %large, %t1 {NUW} : tile<8xi32>"),
            "shli",
            7,
            1,
        ),
    ],
    [("by less than the width", block(numbered("by", *[31] * 8), "  %v = shli %t1, %by : tile<8xi32>"))],
    block(WIDE, "  %v = shli %t1, %wide : tile<8xi32>"),
)


def converted(values: str, rest: str = "signed") -> str:
    """Floats to integers ``%v``."""
    return block(
        f"  %f = constant <f32: [{values}]> : tile<8xf32>",
        f"  %v = ftoi %f {rest} : tile<8xf32> -> tile<8xi32>",
    )


ZEROS = ", ".join(["0.000000e+00"] * 4)
BIG = ", ".join(["3.000000e+09"] * 4)
CONVERSIONS = arithmetic(
    Kind.FLOAT_TO_INTEGER,
    [
        ("too large", converted(f"{ZEROS}, {BIG}"), "ftoi", 4, 4),
        ("a NaN", converted(f"0x7FC00000, {ZEROS}, 1.000000e+00, 1.000000e+00, 1.000000e+00"), "ftoi", 0, 1),
        ("negative without a sign", converted(f"{ZEROS}, -1.000000e+00, {', '.join(['2.500000e+00'] * 3)}", "unsigned"), "ftoi", 4, 1),
    ],
    [("large without a sign", converted(f"{ZEROS}, {BIG}", "unsigned")), ("that truncates to zero", converted(f"{ZEROS}, {', '.join(['-9.000000e-01'] * 4)}", "unsigned"))],
    converted(f"{ZEROS}, {BIG}"),
)  # fmt: skip


def cut(index: str, name: str = "%v") -> str:
    """A quarter of the lanes."""
    return f"  {name} = extract %lanes[%{index}] : tile<8xi32> -> tile<2xi32>"


PAIRS = block(
    "  %two = iota : tile<2xi32>", "  %a1 = reshape %a : tile<ptr<i32>> -> tile<1xptr<i32>>",
    "  %a2 = broadcast %a1 : tile<1xptr<i32>> -> tile<2xptr<i32>>",
    "  %x2 = reshape %x : tile<i32> -> tile<1xi32>", "  %x3 = broadcast %x2 : tile<1xi32> -> tile<2xi32>",
    "  %twice = constant <i32: 2> : tile<2xi32>", "  %x4 = muli %x3, %twice : tile<2xi32>", "  %at = addi %x4, %two : tile<2xi32>",
    "  %pair = offset %a2, %at : tile<2xptr<i32>>, tile<2xi32> -> tile<2xptr<i32>>",
)  # fmt: skip
KEEP = "  %t = store_ptr_tko weak %pair, %v : tile<2xptr<i32>>, tile<2xi32> -> token"
SLICE = Kind.SLICE
SLICES = [
    Case(SLICE, "one too many", kernel(block(PAIRS, cut("c4") + " HERE", KEEP)), operation="extract", lane=(0,), count=2),
    Case(SLICE, "of one block", kernel(block(PAIRS, "  %i = addi %x, %c2 : tile<i32>", cut("i") + " HERE", KEEP)), grid=3, operation="extract", block=(2, 0, 0), lane=(0,), count=2),
    Case(
        SLICE, "inserted before the start",
        kernel(block("  %i = subi %c0, %c1 : tile<i32>", "  %two = iota : tile<2xi32>", "  %v = insert %two, %lanes[%i] : tile<2xi32>, tile<8xi32> HERE", store("t", "ma", "v"))),
        operation="insert", lane=(0,), count=8,
    ),
    Case(SLICE, "the last", kernel(block(PAIRS, cut("c3"), KEEP))),
    Case(SLICE, "for nothing", kernel(cut("c4"))),
    Case(SLICE, "of every block", kernel(block(PAIRS, cut("x"), KEEP)), grid=4),
]  # fmt: skip

CASES = [
    *USES, *CLAIMS, *STEPS, *STARTS, *DIVISIONS, *OVERFLOWS, TRUNCATED, *SHIFTS, *CONVERSIONS, *SLICES,
]  # fmt: skip
assert N == 8
