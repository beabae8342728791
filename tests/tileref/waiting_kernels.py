"""Kernels whose blocks wait for each other, as text."""

from __future__ import annotations

START = """
  %b, %by_, %bz_ = get_tile_block_id : tile<i32>
  %n, %ny_, %nz_ = get_num_tile_blocks : tile<i32>
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
"""


def entry(parameters: str, body: str) -> str:
    """A kernel on i32 pointers called ``parameters``; ``%b`` is the block of ``%n``."""
    declared = ", ".join(f"%{name}: tile<ptr<i32>>" for name in parameters.split())
    return f"entry @k({declared}) {{{START}{body}  return\n}}\n"


def at(name: str, pointer: str, offset: str) -> str:
    """``%name`` is the address of element ``%offset`` behind ``%pointer``."""
    return f"  %{name} = offset %{pointer}, %{offset} : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>\n"


def load(name: str, pointer: str, order: str = "weak") -> str:
    """Load an i32."""
    return f"  %{name}, %{name}_t = load_ptr_tko {order} %{pointer} : tile<ptr<i32>> -> tile<i32>, token\n"


def store(pointer: str, value: str, order: str = "weak", name: str = "") -> str:
    """Store an i32."""
    token = name or f"{pointer}_{value}"
    return f"  %{token}_s = store_ptr_tko {order} %{pointer}, %{value} : tile<ptr<i32>>, tile<i32> -> token\n"


def binary(name: str, operation: str, left: str, right: str) -> str:
    """An operation on i32."""
    return f"  %{name} = {operation} %{left}, %{right} : tile<i32>\n"


def compare(name: str, kind: str, left: str, right: str) -> str:
    """A comparison of i32."""
    return f"  %{name} = cmpi {kind} %{left}, %{right}, signed : tile<i32> -> tile<i1>\n"


def swap(name: str, pointer: str, expected: str, wanted: str) -> str:
    """Compare and swap."""
    types = "tile<ptr<i32>>, tile<i32> -> tile<i32>, token"
    return (
        f"  %{name}, %{name}_t = atomic_cas_tko acq_rel device %{pointer}, %{expected}, %{wanted} : {types}\n"
    )


def update(name: str, pointer: str, mode: str, value: str) -> str:
    """An atomic update."""
    types = "tile<ptr<i32>>, tile<i32> -> tile<i32>, token"
    return f"  %{name}, %{name}_t = atomic_rmw_tko acq_rel device %{pointer}, {mode}, %{value} : {types}\n"


def until(condition: str, body: str) -> str:
    """Go round ``body`` until ``%condition`` is 1."""
    return f"  loop {{\n{body}  if %{condition} {{\n    break\n  }}\n  continue\n  }}\n"


def when(condition: str, body: str) -> str:
    """Run ``body`` where ``%condition`` is 1."""
    return f"  if %{condition} {{\n{body}  yield\n  }}\n"


ADD_TO_CELL = load("v", "cell") + binary("w", "addi", "v", "b") + store("cell", "w")

SPIN_LOCK = entry(
    "lock cell",
    until("free", swap("old", "lock", "zero", "one") + compare("free", "equal", "old", "zero"))
    + ADD_TO_CELL
    + update("released", "lock", "xchg", "zero"),
)

SPIN_LOCK_BY_EXCHANGE = entry(
    "lock cell",
    until("free", update("old", "lock", "xchg", "one") + compare("free", "equal", "old", "zero"))
    + ADD_TO_CELL
    + store("lock", "zero", "release device"),
)

NEVER_RELEASED = entry(
    "lock cell",
    until("free", swap("old", "lock", "zero", "one") + compare("free", "equal", "old", "zero")) + ADD_TO_CELL,
)

TICKET_LOCK = entry(
    "next serving cell",
    update("mine", "next", "add", "one")
    + until("turn", load("now", "serving", "acquire device") + compare("turn", "equal", "now", "mine"))
    + ADD_TO_CELL
    + binary("after", "addi", "mine", "one")
    + store("serving", "after", "release device"),
)


def chain(step: int, last: str) -> str:
    """Each block adds its number to what the neighbour ``step`` away wrote; ``last`` is the block that starts."""
    return entry(
        "flags out",
        f"  %step = constant <i32: {step}> : tile<i32>\n"
        + last
        + binary("neighbour", "addi", "b", "step")
        + at("flag", "flags", "neighbour")
        + at("theirs", "out", "neighbour")
        + at("mine", "out", "b")
        + at("done", "flags", "b")
        + f"""
  %starts = cmpi equal %b, %last, signed : tile<i32> -> tile<i1>
  %sum = if %starts -> (tile<i32>) {{
    yield %b : tile<i32>
  }} else {{
  {until("set", load("f", "flag", "acquire device") + compare("set", "equal", "f", "one"))}
  {load("v", "theirs")}
  {binary("w", "addi", "v", "b")}
    yield %w : tile<i32>
  }}
"""
        + store("mine", "sum")
        + store("done", "one", "release device"),
    )


CHAIN_UP = chain(-1, "  %last = constant <i32: 0> : tile<i32>\n")
CHAIN_DOWN = chain(1, binary("last", "subi", "n", "one"))

GRID_BARRIER = entry(
    "count values out",
    at("mine", "values", "b")
    + store("mine", "b")
    + update("arrived", "count", "add", "one")
    + until("all", load("c", "count", "acquire device") + compare("all", "equal", "c", "n"))
    + binary("mirror1", "subi", "n", "b")
    + binary("mirror", "subi", "mirror1", "one")
    + at("theirs", "values", "mirror")
    + load("v", "theirs")
    + at("to", "out", "b")
    + store("to", "v"),
)
"""Each block reads what the block opposite wrote before the barrier."""

LOOK_BACK = entry(
    "x status sums prefixes out",
    """
  %mask = constant <i32: 7> : tile<i32>
  %two = constant <i32: 2> : tile<i32>
"""
    # The blocks of each 8 are given the work in reverse, so that most find nothing ready.
    + binary("me", "xori", "b", "mask")
    + at("from", "x", "me")
    + load("mine", "from")
    + at("my_sum", "sums", "me")
    + at("my_prefix", "prefixes", "me")
    + at("my_status", "status", "me")
    + store("my_sum", "mine")
    + store("my_status", "one", "release device")
    + binary("before", "subi", "me", "one")
    + f"""
  %exclusive, %end = loop iter_values(%so_far = %zero, %j = %before) : tile<i32>, tile<i32> -> tile<i32>, tile<i32> {{
{compare("none", "less_than", "j", "zero")}
    if %none {{
      break %so_far, %j : tile<i32>, tile<i32>
    }}
{at("status_j", "status", "j")}
{load("s", "status_j", "acquire device")}
{compare("nothing", "equal", "s", "zero")}
    if %nothing {{
      continue %so_far, %j : tile<i32>, tile<i32>
    }}
{compare("whole", "equal", "s", "two")}
    if %whole {{
{at("prefix_j", "prefixes", "j")}
{load("p", "prefix_j")}
{binary("all", "addi", "so_far", "p")}
      break %all, %j : tile<i32>, tile<i32>
    }}
{at("sum_j", "sums", "j")}
{load("a", "sum_j")}
{binary("more", "addi", "so_far", "a")}
{binary("next", "subi", "j", "one")}
    continue %more, %next : tile<i32>, tile<i32>
  }}
"""
    + binary("inclusive", "addi", "exclusive", "mine")
    + store("my_prefix", "inclusive")
    + store("my_status", "two", "release device")
    + at("to", "out", "me")
    + store("to", "inclusive"),
)
"""Merrill and Garland's single-pass scan: one element a block, by decoupled look-back."""
