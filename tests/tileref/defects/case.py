"""One kernel of the suite, and the text that all of them share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tileref.kinds import Kind

N = 8
"""Lanes of the tiles."""


@dataclass(frozen=True)
class Case:
    """A kernel that breaks the rule ``kind``, or, where ``operation`` is None, nearly does.

    A line of ``text`` that ends in HERE or THERE is where the operation that is reported, or the other one of
    the two, stands. What is expected is what ``Undefined`` calls it; the other access is by the same lane to
    the same element if it is not said by which and to what (``other_place``: buffer and index).
    """

    kind: Kind
    name: str
    text: str
    grid: Any = 1
    args: Callable[[], list[Any]] = field(default=lambda: [numbers(64), numbers(64)])
    operation: str | None = None
    block: tuple[int, int, int] = (0, 0, 0)
    lane: tuple[int, ...] | None = None
    index: int | None = None
    buffer: int | None = None
    count: int | None = None
    other: tuple[int, int, int] | None = None
    other_lane: tuple[int, ...] | None = None
    other_place: tuple[int, int] | None = None
    values: tuple[Any, ...] = ()
    undefined: dict[int, Sequence[int]] | None = None

    def __str__(self) -> str:
        return f"{self.kind.value}-{self.name}"

    @property
    def source(self) -> str:
        """The text with locations where the marks are."""
        lines = self.text.strip().split("\n")
        for number, line in enumerate(lines, start=1):
            for mark, file in (("HERE", "here"), ("THERE", "there")):
                if line.endswith(f" {mark}"):
                    lines[number - 1] = line[: -len(mark)] + f'loc("{file}":{number}:1)'
        return "\n".join(lines)


def numbers(count: int, dtype: Any = np.int32) -> np.ndarray[Any, Any]:
    """0, 1, 2, ..."""
    return np.arange(count).astype(dtype)


def constant(name: str, value: int, shape: str = "") -> str:
    """A constant of i32."""
    return f"%{name} = constant <i32: {value}> : tile<{shape}i32>"


def spread(name: str, scalar: str) -> str:
    """The tile ``%name`` of N times the scalar ``%scalar``, an i32."""
    return f"""
  %{name}_1 = reshape %{scalar} : tile<i32> -> tile<1xi32>
  %{name} = broadcast %{name}_1 : tile<1xi32> -> tile<{N}xi32>"""


def pointers(name: str, base: str, offsets: str, element: str = "i32") -> str:
    """Pointers ``%name``: the scalar ``%base`` advanced by the tile ``%offsets`` of N i32."""
    scalar, one, many = (f"tile<{s}ptr<{element}>>" for s in ("", "1x", f"{N}x"))
    return f"""
  %{name}_1 = reshape %{base} : {scalar} -> {one}
  %{name}_n = broadcast %{name}_1 : {one} -> {many}
  %{name} = offset %{name}_n, %{offsets} : {many}, tile<{N}xi32> -> {many}"""


def kernel(body: str, parameters: str = "%a: tile<ptr<i32>>, %b: tile<ptr<i32>>") -> str:
    """A kernel of ``body``, which finds there:

    ``%x`` the block's number, ``%lanes`` 0 to 7, ``%mine`` the elements from 8 times the block on,
    ``%pa`` and ``%pb`` pointers to the lanes' elements of the arguments, ``%ma`` and ``%mb`` to the block's,
    ``%block`` the block's number in every lane, and the constants ``%c0`` to ``%c4`` and ``%t0`` to ``%t4``.
    """
    both = "%b:" in parameters
    constants = "\n  ".join(constant(f"c{i}", i) for i in range(5))
    tiles = "\n  ".join(constant(f"t{i}", i, f"{N}x") for i in range(5))
    return f"""
entry @k({parameters}) {{
  %x, %y, %z = get_tile_block_id : tile<i32>
  {constants}
  {tiles}
  %lanes = iota : tile<{N}xi32>
  {spread("block", "x")}
  %n = constant <i32: {N}> : tile<{N}xi32>
  %from = muli %block, %n : tile<{N}xi32>
  %mine = addi %from, %lanes : tile<{N}xi32>
  {pointers("pa", "a", "lanes")}
  {pointers("ma", "a", "mine")}
  {pointers("pb", "b", "lanes") if both else ""}
  {pointers("mb", "b", "mine") if both else ""}
{body}
  return
}}"""


def load(value: str, at: str, *, token: str = "", mask: str = "", pad: str = "", how: str = "weak") -> str:
    """Load ``%value`` through the pointers ``%at``; the token is ``%value_t``."""
    tail, types = "", ""
    if mask:
        tail, types = f", %{mask}", f", tile<{N}xi1>"
    if pad:
        tail, types = f"{tail}, %{pad}", f"{types}, tile<{N}xi32>"
    after = f" token = %{token}" if token else ""
    return (
        f"  %{value}, %{value}_t = load_ptr_tko {how} %{at}{tail}{after}"
        f" : tile<{N}xptr<i32>>{types} -> tile<{N}xi32>, token"
    )


def store(token: str, at: str, value: str, *, after: str = "", mask: str = "", how: str = "weak") -> str:
    """Store ``%value`` through the pointers ``%at``; the token is ``%token``."""
    tail, types = (f", %{mask}", f", tile<{N}xi1>") if mask else ("", "")
    waits = f" token = %{after}" if after else ""
    return (
        f"  %{token} = store_ptr_tko {how} %{at}, %{value}{tail}{waits}"
        f" : tile<{N}xptr<i32>>, tile<{N}xi32>{types} -> token"
    )


def add(
    value: str, at: str, amount: str, *, token: str = "", mask: str = "", how: str = "relaxed device"
) -> str:
    """Atomically add ``%amount``; ``%value`` was there, the token is ``%value_t``."""
    tail, types = (f", %{mask}", f", tile<{N}xi1>") if mask else ("", "")
    waits = f" token = %{token}" if token else ""
    return (
        f"  %{value}, %{value}_t = atomic_rmw_tko {how} %{at}, add, %{amount}{tail}{waits}"
        f" : tile<{N}xptr<i32>>, tile<{N}xi32>{types} -> tile<{N}xi32>, token"
    )


def less(name: str, left: str, right: str, shape: str = f"{N}x") -> str:
    """The mask ``%name`` where ``%left`` is less than ``%right``."""
    return f"  %{name} = cmpi less_than %{left}, %{right}, signed : tile<{shape}i32> -> tile<{shape}i1>"


def equal(name: str, left: str, right: str, shape: str = "") -> str:
    """The condition ``%name`` whether ``%left`` is ``%right``."""
    return f"  %{name} = cmpi equal %{left}, %{right}, signed : tile<{shape}i32> -> tile<{shape}i1>"


class View:
    """A partition view of the tensor at ``%base``: its type, its making, and its accesses."""

    def __init__(
        self, extents: Sequence[int], tile: Sequence[int], *, padding: str = "", base: str = "a"
    ) -> None:
        strides = [int(np.prod(extents[k + 1 :])) for k in range(len(extents))]
        shape, along = "x".join(map(str, extents)), ",".join(map(str, strides))
        tensor = f"tensor_view<{shape}xi32, strides=[{along}]>"
        tiles = "x".join(map(str, tile))
        pad = f", padding_value = {padding}" if padding else ""
        self.type = f"partition_view<tile=({tiles}){pad}, {tensor}>"
        self.tile = f"tile<{tiles}xi32>"
        self.base = base
        self.making = f"""
  %{base}_tensor = make_tensor_view %{base}, shape = [{", ".join(map(str, extents))}], strides = [{along}] : {tensor}
  %{base}_view = make_partition_view %{base}_tensor : {self.type}"""

    def load(self, value: str, *index: str, token: str = "", promise: str = "") -> str:
        """Load the tile at ``index``."""
        at, waits = ", ".join(f"%{i}" for i in index), f" token = %{token}" if token else ""
        inbounds = f" inbounds = [{promise}]" if promise else ""
        return (
            f"  %{value}, %{value}_t = load_view_tko weak %{self.base}_view[{at}]{waits}{inbounds}"
            f" : {self.type}, tile<i32> -> {self.tile}, token"
        )

    def store(self, token: str, value: str, *index: str, after: str = "", promise: str = "") -> str:
        """Store a tile at ``index``."""
        at, waits = ", ".join(f"%{i}" for i in index), f" token = %{after}" if after else ""
        inbounds = f" inbounds = [{promise}]" if promise else ""
        return (
            f"  %{token} = store_view_tko weak %{value}, %{self.base}_view[{at}]{waits}{inbounds}"
            f" : {self.tile}, {self.type}, tile<i32> -> token"
        )

    def add(self, token: str, value: str, *index: str, promise: str = "") -> str:
        """Atomically add a tile at ``index``."""
        at = ", ".join(f"%{i}" for i in index)
        inbounds = f" inbounds = [{promise}]" if promise else ""
        return (
            f"  %{token} = atomic_red_view_tko relaxed device %{self.base}_view[{at}], add, %{value}{inbounds}"
            f" : {self.tile}, {self.type}, tile<i32> -> token"
        )


def block(*lines: str) -> str:
    """Lines of a body."""
    return "\n".join(lines)
