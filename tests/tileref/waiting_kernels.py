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


def waits(after: str) -> str:
    """What makes an access wait for the token ``%after``, if there is one."""
    return f" token = %{after}" if after else ""


def load(name: str, pointer: str, order: str = "weak", after: str = "") -> str:
    """Load an i32; its token is ``%name_t``."""
    types = "tile<ptr<i32>> -> tile<i32>, token"
    return f"  %{name}, %{name}_t = load_ptr_tko {order} %{pointer}{waits(after)} : {types}\n"


def store(pointer: str, value: str, order: str = "weak", name: str = "", after: str = "") -> str:
    """Store an i32; its token is ``%pointer_value_s``."""
    token = name or f"{pointer}_{value}"
    types = "tile<ptr<i32>>, tile<i32> -> token"
    return f"  %{token}_s = store_ptr_tko {order} %{pointer}, %{value}{waits(after)} : {types}\n"


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


def update(name: str, pointer: str, mode: str, value: str, after: str = "") -> str:
    """An atomic update."""
    types = "tile<ptr<i32>>, tile<i32> -> tile<i32>, token"
    operands = f"%{pointer}, {mode}, %{value}{waits(after)}"
    return f"  %{name}, %{name}_t = atomic_rmw_tko acq_rel device {operands} : {types}\n"


def until(condition: str, body: str, token: str = "") -> str:
    """Go round ``body`` until ``%condition`` is 1; ``%token_got`` is the last round's ``%token``."""
    if not token:
        return f"  loop {{\n{body}  if %{condition} {{\n    break\n  }}\n  continue\n  }}\n"
    return f"""  %{token}_none = make_token : token
  %{token}_got = loop iter_values(%{token}_c = %{token}_none) : token -> token {{
{body}  if %{condition} {{
    break %{token} : token
  }}
  continue %{token}_c : token
  }}
"""


def when(condition: str, body: str) -> str:
    """Run ``body`` where ``%condition`` is 1."""
    return f"  if %{condition} {{\n{body}  yield\n  }}\n"


def add_to_cell(after: str) -> str:
    """Add the block's number to the cell; the token is ``%cell_w_s``."""
    return load("v", "cell", after=after) + binary("w", "addi", "v", "b") + store("cell", "w", after="v_t")


SPIN_LOCK = entry(
    "lock cell",
    until("free", swap("old", "lock", "zero", "one") + compare("free", "equal", "old", "zero"), "old_t")
    + add_to_cell("old_t_got")
    + update("released", "lock", "xchg", "zero", after="cell_w_s"),
)

SPIN_LOCK_BY_EXCHANGE = entry(
    "lock cell",
    until("free", update("old", "lock", "xchg", "one") + compare("free", "equal", "old", "zero"), "old_t")
    + add_to_cell("old_t_got")
    + store("lock", "zero", "release device", after="cell_w_s"),
)

NEVER_RELEASED = entry(
    "lock cell",
    until("free", swap("old", "lock", "zero", "one") + compare("free", "equal", "old", "zero"), "old_t")
    + add_to_cell("old_t_got"),
)

TICKET_LOCK = entry(
    "next serving cell",
    update("mine", "next", "add", "one")
    + until(
        "turn", load("now", "serving", "acquire device") + compare("turn", "equal", "now", "mine"), "now_t"
    )
    + add_to_cell("now_t_got")
    + binary("after", "addi", "mine", "one")
    + store("serving", "after", "release device", after="cell_w_s"),
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
  {until("set", load("f", "flag", "acquire device") + compare("set", "equal", "f", "one"), "f_t")}
  {load("v", "theirs", after="f_t_got")}
  {binary("w", "addi", "v", "b")}
    yield %w : tile<i32>
  }}
"""
        + store("mine", "sum")
        + store("done", "one", "release device", after="mine_sum_s"),
    )


CHAIN_UP = chain(-1, "  %last = constant <i32: 0> : tile<i32>\n")
CHAIN_DOWN = chain(1, binary("last", "subi", "n", "one"))

GRID_BARRIER = entry(
    "count values out",
    at("mine", "values", "b")
    + store("mine", "b")
    + update("arrived", "count", "add", "one", after="mine_b_s")
    + until("all", load("c", "count", "acquire device") + compare("all", "equal", "c", "n"), "c_t")
    + binary("mirror1", "subi", "n", "b")
    + binary("mirror", "subi", "mirror1", "one")
    + at("theirs", "values", "mirror")
    + load("v", "theirs", after="c_t_got")
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
    + store("my_status", "one", "release device", after="my_sum_mine_s")
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
{load("p", "prefix_j", after="s_t")}
{binary("all", "addi", "so_far", "p")}
      break %all, %j : tile<i32>, tile<i32>
    }}
{at("sum_j", "sums", "j")}
{load("a", "sum_j", after="s_t")}
{binary("more", "addi", "so_far", "a")}
{binary("next", "subi", "j", "one")}
    continue %more, %next : tile<i32>, tile<i32>
  }}
"""
    + binary("inclusive", "addi", "exclusive", "mine")
    + store("my_prefix", "inclusive")
    + store("my_status", "two", "release device", after="my_prefix_inclusive_s")
    + at("to", "out", "me")
    + store("to", "inclusive"),
)
"""Merrill and Garland's single-pass scan: one element a block, by decoupled look-back."""
