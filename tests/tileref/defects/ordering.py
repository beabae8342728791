"""Accesses to one element that nothing orders: lanes of a store, accesses of a block, and blocks."""

from __future__ import annotations

from tileref.kinds import Kind

from .case import Case, View, add, block, constant, equal, kernel, less, load, numbers, pointers, store


def at(*elements: int) -> str:
    """Pointers ``%fa`` of the lanes to these elements of the first argument."""
    text = ", ".join(map(str, elements))
    return block(f"  %at = constant <i32: [{text}]> : tile<8xi32>", pointers("fa", "a", "at"))


VALUES = "  %v = constant <i32: [11, 12, 13, 14, 15, 16, 17, 18]> : tile<8xi32>"
REPEATED = at(0, 1, 1, 1, 2, 3, 4, 5)
TENSOR = "tensor_view<4x8xi32, strides=[2,1]>"
FLAT = f"partition_view<tile=(4x8), {TENSOR}>"
OVERLAPPING = f"""
  %tensor = make_tensor_view %a, shape = [4, 8], strides = [2, 1] : {TENSOR}
  %view = make_partition_view %tensor : {FLAT}
  %all = iota : tile<32xi32>
  %w = reshape %all : tile<32xi32> -> tile<4x8xi32>"""
ROWS = "gather_scatter_view<tile=(4x4), tensor_view<6x8xi32, strides=[8,1]>, sparse_dim=0>"


def scatter_rows(rows: str) -> str:
    """A store of four rows of four to the first argument."""
    return f"""
  %tensor = make_tensor_view %a, shape = [6, 8], strides = [8, 1] : tensor_view<6x8xi32, strides=[8,1]>
  %view = make_gather_scatter_view %tensor : {ROWS}
  %rows = constant <i32: [{rows}]> : tile<4xi32>
  %all = iota : tile<16xi32>
  %w = reshape %all : tile<16xi32> -> tile<4x4xi32>
  %t = store_view_tko weak %w, %view[%rows, %c4] : tile<4x4xi32>, {ROWS}, tile<4xi32>, tile<i32> -> token"""


COLLIDING = Kind.COLLIDING_LANES
LANES = [
    Case(
        COLLIDING, "three lanes to one element",
        kernel(block(VALUES, REPEATED, store("t", "fa", "v") + " HERE")),
        operation="store_ptr_tko", lane=(1,), index=1, buffer=0, count=3, values=(12, 13, 14), undefined={0: [1]},
    ),
    Case(
        COLLIDING, "a view that overlaps itself",
        kernel(block(OVERLAPPING, f"  %t = store_view_tko weak %w, %view[%c0, %c0] : tile<4x8xi32>, {FLAT}, tile<i32> -> token HERE")),
        operation="store_view_tko", lane=(0, 2), index=2, buffer=0, count=28, values=(2, 8), undefined={0: range(2, 12)},
    ),
    Case(
        COLLIDING, "a row named twice",
        kernel(scatter_rows("5, 0, 5, 2") + " HERE"),
        operation="store_view_tko", lane=(0, 0), index=44, buffer=0, count=8, values=(0, 8), undefined={0: [44, 45, 46, 47]},
    ),
    Case(
        COLLIDING, "in the second block alone",
        kernel(block(
            VALUES, "  %half = muli %lanes, %block : tile<8xi32>",
            "  %quarter = divi %lanes, %t2 signed : tile<8xi32>", equal("one", "block", "t1", "8x"),
            "  %at = select %one, %quarter, %lanes : tile<8xi1>, tile<8xi32>",
            "  %to = addi %from, %at : tile<8xi32>", pointers("fa", "a", "to"), store("t", "fa", "v") + " HERE",
        )),
        grid=3, operation="store_ptr_tko", block=(1, 0, 0), lane=(0,), index=8, buffer=0, count=8,
        values=(11, 12), undefined={0: [8, 9, 10, 11]},
    ),
    Case(COLLIDING, "the same value", kernel(block(REPEATED, store("t", "fa", "t4")))),
    Case(COLLIDING, "all but one masked off", kernel(block(VALUES, REPEATED, less("two", "lanes", "t2"), store("t", "fa", "v", mask="two")))),
    Case(COLLIDING, "other elements each", kernel(block(VALUES, at(7, 6, 5, 4, 3, 2, 1, 0), store("t", "fa", "v")))),
    Case(COLLIDING, "atomically added", kernel(block(VALUES, REPEATED, add("w", "fa", "v")))),
    Case(COLLIDING, "with the scope of the block", kernel(block(VALUES, REPEATED, store("t", "fa", "v", how="relaxed tl_blk")))),
    Case(COLLIDING, "rows of their own", kernel(scatter_rows("5, 0, 4, 2"))),
]  # fmt: skip

UNORDERED = Kind.UNORDERED_ACCESS
TILES = View([64], [8])
LOOP = """
  %done = for %i in (%c0 to %c4, step %c1) : tile<i32> iter_values(%t = %start) -> (token) {"""
CHAINS = [
    Case(
        UNORDERED, "a store after the load it depends on",
        kernel(block(load("v", "ma") + " THERE", "  %w = addi %v, %t1 : tile<8xi32>", store("t", "ma", "w") + " HERE")),
        grid=3, operation="store_ptr_tko", lane=(0,), index=0, buffer=0, count=24, other=(0, 0, 0), undefined={},
    ),
    Case(
        UNORDERED, "a load after a store",
        kernel(block(TILES.making, TILES.store("s", "lanes", "x") + " THERE", TILES.load("v", "x") + " HERE", store("t", "mb", "v"))),
        grid=2, operation="load_view_tko", lane=(0,), index=0, buffer=0, count=16, other=(0, 0, 0),
        undefined={1: range(16)},
    ),
    Case(
        UNORDERED, "two stores that overlap by half",
        kernel(block(
            "  %to = addi %mine, %t4 : tile<8xi32>", pointers("fa", "a", "to"), less("two", "block", "t1"),
            store("s", "ma", "lanes", mask="two") + " THERE", store("t", "fa", "t3", mask="two") + " HERE",
        )),
        grid=2, operation="store_ptr_tko", lane=(0,), index=4, buffer=0, count=4, other=(0, 0, 0), other_lane=(4,),
        undefined={0: [4, 5, 6, 7]},
    ),
    Case(
        UNORDERED, "by a token from before",
        kernel(block(
            "  %none = make_token : token", store("s", "ma", "lanes", after="none") + " THERE",
            load("v", "ma", token="none") + " HERE",
        )),
        operation="load_ptr_tko", lane=(0,), index=0, buffer=0, count=8, other=(0, 0, 0),
    ),
    Case(
        UNORDERED, "from one iteration to the next",
        kernel(block(
            "  %start = make_token : token", LOOP, load("v", "ma", token="start") + " HERE",
            "  %both = join_tokens %t, %v_t : token", store("s", "ma", "lanes", after="both") + " THERE",
            "  continue %s : token", "  }",
        )),
        operation="load_ptr_tko", lane=(0,), index=0, buffer=0, count=24, other=(0, 0, 0),
    ),
    Case(
        UNORDERED, "in the blocks whose branch forgets it",
        kernel(block(
            "  %none = make_token : token", store("s", "ma", "lanes") + " THERE", equal("one", "x", "c1"),
            "  %t = if %one -> (token) {\n  yield %none : token\n  } else {\n  yield %s : token\n  }",
            load("v", "ma", token="t") + " HERE",
        )),
        grid=3, operation="load_ptr_tko", block=(1, 0, 0), lane=(0,), index=8, buffer=0, count=8, other=(1, 0, 0),
    ),
    Case(
        UNORDERED, "an atomic addition after a weak load",
        kernel(block(load("v", "ma") + " THERE", add("w", "ma", "lanes") + " HERE")),
        operation="atomic_rmw_tko", lane=(0,), index=0, buffer=0, count=8, other=(0, 0, 0),
    ),
    Case(UNORDERED, "by its token", kernel(block(load("v", "ma"), store("t", "ma", "v", after="v_t"), load("w", "ma", token="t"))), grid=3),
    Case(
        UNORDERED, "by a joined token",
        kernel(block(
            store("s", "ma", "lanes"), load("v", "mb"), "  %j = join_tokens %v_t, %s : token", load("w", "ma", token="j"),
        )),
    ),
    Case(UNORDERED, "two loads", kernel(block(load("v", "ma"), load("w", "ma")))),
    Case(
        UNORDERED, "other elements",
        kernel(block(less("low", "lanes", "t4"), less("high", "t3", "lanes"), store("s", "ma", "lanes", mask="low"), store("t", "ma", "lanes", mask="high"))),
    ),
    Case(UNORDERED, "both with the scope of the block", kernel(block(store("s", "ma", "lanes", how="relaxed tl_blk"), load("v", "ma", how="relaxed tl_blk")))),
    Case(UNORDERED, "through a chain of other accesses", kernel(block(
        store("s", "ma", "lanes"), load("v", "mb", token="s"), store("u", "mb", "v", after="v_t"), store("t", "ma", "v", after="u"),
    ))),
    Case(
        UNORDERED, "carried around a loop",
        kernel(block(
            "  %start = make_token : token", LOOP, load("v", "ma", token="t"), store("s", "ma", "lanes", after="v_t"),
            "  continue %s : token", "  }", load("w", "ma", token="done"),
        )),
        grid=2,
    ),
    Case(
        UNORDERED, "through both sides of a branch",
        kernel(block(
            "  %none = make_token : token", store("s", "ma", "lanes"), equal("one", "x", "c1"),
            "  %t = if %one -> (token) {\n  yield %s : token\n  } else {\n" + store("u", "ma", "t1", after="s") + "\n  yield %u : token\n  }",
            load("v", "ma", token="t"),
        )),
        grid=3,
    ),
]  # fmt: skip

RACE = Kind.RACE
FLAGS = block(
    constant("flag_at", 0, "8x"), less("first_lane", "lanes", "t1"), pointers("flag", "b", "flag_at")
)
LAST = block(
    "  %z_last = cmpi equal %count, %t2, signed : tile<8xi32> -> tile<8xi1>",
    "  %last_w = exti %z_last unsigned : tile<8xi1> -> tile<8xi32>",
    "  %last_1 = extract %last_w[%c0] : tile<8xi32> -> tile<1xi32>",
    "  %last_0 = reshape %last_1 : tile<1xi32> -> tile<i32>",
    equal("last", "last_0", "c1"),
)


def handover(order: str, token: str, waits: str, marks: tuple[str, str] = ("THERE", "HERE")) -> str:
    """Three blocks store their elements and count themselves; the last one loads what the first stored."""
    return kernel(block(
        FLAGS, store("s", "ma", "mine") + f" {marks[0]}",
        add("count", "flag", "t1", mask="first_lane", how=f"{order} device", token=token),
        LAST,
        "  if %last {",
        load("v", "pa", token=waits) + f" {marks[1]}",
        "  yield",
        "  }",
    ))  # fmt: skip


def flags() -> list[object]:
    """Elements to store to, and a counter."""
    return [numbers(32), numbers(8) * 0]


BLOCKS = [
    Case(
        RACE, "blocks store different values to one tile",
        kernel(block(TILES.making, TILES.store("t", "block", "c0") + " HERE")),
        grid=4, operation="store_view_tko", block=(3, 0, 0), lane=(0,), index=0, buffer=0, count=8, other=(0, 0, 0), undefined={0: range(8)},
    ),
    Case(
        RACE, "a block loads what its neighbour stores",
        kernel(block(
            TILES.making, "  %next = addi %x, %c1 : tile<i32>", TILES.load("v", "next") + " THERE",
            TILES.store("t", "lanes", "x", after="v_t") + " HERE",
        )),
        grid=3, operation="store_view_tko", block=(1, 0, 0), lane=(0,), index=8, buffer=0, count=16, other=(0, 0, 0),
    ),
    Case(
        RACE, "tiles that overlap by an element",
        kernel(block(
            "  %n7 = constant <i32: 7> : tile<8xi32>", "  %f7 = muli %block, %n7 : tile<8xi32>",
            "  %to = addi %f7, %lanes : tile<8xi32>", pointers("fa", "a", "to"), store("t", "fa", "lanes") + " HERE",
        )),
        grid=3, operation="store_ptr_tko", block=(1, 0, 0), lane=(0,), index=7, buffer=0, count=2, other=(0, 0, 0), other_lane=(7,), undefined={0: [7, 14]},
    ),
    Case(
        RACE, "a weak load of what others add to",
        kernel(block(add("v", "pa", "t1") + " HERE", load("w", "pa", token="v_t") + " THERE")),
        grid=2, operation="atomic_rmw_tko", block=(0, 0, 0), lane=(0,), index=0, buffer=0, count=8, other=(1, 0, 0),
    ),
    Case(
        RACE, "atomic additions with the scope of the block",
        kernel(add("v", "pa", "t1", how="relaxed tl_blk") + " HERE"),
        grid=2, operation="atomic_rmw_tko", block=(1, 0, 0), lane=(0,), index=0, buffer=0, count=8, other=(0, 0, 0),
    ),
    Case(
        RACE, "handed over without acquire and release", handover("relaxed", "s", "count_t", ("HERE", "THERE")),
        grid=3, args=flags, operation="store_ptr_tko", block=(0, 0, 0), lane=(0,), index=0, buffer=0, count=8, other=(2, 0, 0),
    ),
    Case(
        RACE, "released before the stores that it should wait for", handover("acq_rel", "", "count_t"),
        grid=3, args=flags, operation="load_ptr_tko", block=(2, 0, 0), lane=(0,), index=0, buffer=0, count=8, other=(0, 0, 0),
    ),
    Case(
        RACE, "loaded before the acquire", handover("acq_rel", "s", ""),
        grid=3, args=flags, operation="load_ptr_tko", block=(2, 0, 0), lane=(0,), index=0, buffer=0, count=8, other=(0, 0, 0),
    ),
    Case(RACE, "a tile a block", kernel(block(TILES.making, TILES.store("t", "block", "x"))), grid=4),
    Case(RACE, "the same value", kernel(block(TILES.making, TILES.store("t", "t3", "c0"))), grid=4),
    Case(RACE, "all only read", kernel(block(TILES.making, TILES.load("v", "c0"), store("t", "mb", "v"))), grid=4),
    Case(RACE, "all with the scope of the device", kernel(block(add("v", "pa", "t1"), load("w", "pa", token="v_t", how="relaxed device"))), grid=4),
    Case(RACE, "handed over by acquire and release", handover("acq_rel", "s", "count_t", ("", "")), grid=3, args=flags),
    Case(
        RACE, "in place, tile by tile",
        kernel(block(TILES.making, TILES.load("v", "x"), TILES.store("t", "lanes", "x", after="v_t"))), grid=8,
    ),
]  # fmt: skip

CASES = [*LANES, *CHAINS, *BLOCKS]
