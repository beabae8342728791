"""Kernels as Tile IR text: the lines that all probes share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Shape = tuple[int, ...]
HEAD = (
    "%t = make_token : token",
    "%z = constant <i32: 0> : tile<i32>",
    "%bx, %by, %bz = get_tile_block_id : tile<i32>",
)
"""How every kernel begins: %t is its first token, %z zero, and %bx the number of the block."""


def tile(shape: Sequence[int], element: str) -> str:
    """The type of a tile."""
    return f"tile<{'x'.join([*map(str, shape), element])}>"


def dims(shape: Sequence[int]) -> str:
    """A shape as it stands in types and names, such as ``64x32``."""
    return "x".join(map(str, shape))


@dataclass(frozen=True, slots=True)
class View:
    """A view in tiles of ``tile`` of the row-major array of ``shape`` that parameter ``%name`` points to."""

    name: str
    format: str
    shape: Shape
    tile: Shape

    @property
    def strides(self) -> Shape:
        """Elements from one index to the next, of each dimension."""
        strides = [1]
        for extent in self.shape[:0:-1]:
            strides.insert(0, strides[0] * extent)
        return tuple(strides)

    @property
    def tensor_type(self) -> str:
        """The type of the array."""
        strides = ",".join(map(str, self.strides))
        return f"tensor_view<{dims(self.shape)}x{self.format}, strides=[{strides}]>"

    @property
    def type(self) -> str:
        """The type of its partition."""
        return f"partition_view<tile=({dims(self.tile)}), {self.tensor_type}>"

    @property
    def loaded(self) -> str:
        """The type of one of its tiles."""
        return tile(self.tile, self.format)

    def made(self) -> list[str]:
        """The lines that make it."""
        shape, strides = (", ".join(map(str, s)) for s in (self.shape, self.strides))
        name = self.name
        return [
            f"%v{name} = make_tensor_view %{name}, shape = [{shape}], strides = [{strides}]"
            f" : {self.tensor_type}",
            f"%p{name} = make_partition_view %v{name} : {self.type}",
        ]

    def load(self, index: Sequence[str], result: str) -> str:
        """The line that loads the tile at ``index`` as ``%result``."""
        return (
            f"%{result}, %t_{result} = load_view_tko weak %p{self.name}[{', '.join(index)}] token = %t"
            f" : {self.type}, tile<i32> -> {self.loaded}, token"
        )

    def store(self, index: Sequence[str], value: str) -> str:
        """The line that stores ``%value`` as the tile at ``index``."""
        return (
            f"%s_{self.name} = store_view_tko weak %{value}, %p{self.name}[{', '.join(index)}] token = %t"
            f" : {self.loaded}, {self.type}, tile<i32> -> token"
        )


def kernel(parameters: Sequence[tuple[str, str]], lines: Sequence[str], hints: str = "") -> str:
    """A module of one kernel ``k`` whose parameters point to elements of a format: name and format each."""
    signature = ", ".join(f"%{name}: tile<ptr<{element}>>" for name, element in parameters)
    body = "".join(f"  {line}\n" for line in (*HEAD, *lines, "return"))
    return f"entry @k({signature}) {hints}{{\n{body}}}\n"


def fold(
    result: str,
    source: str,
    shape: Shape,
    element: str,
    dim: int,
    *,
    operation: str | None = "addf",
    identity: str = "0.000000e+00",
    scan: bool = False,
    reverse: bool = False,
) -> list[str]:
    """A reduction of ``%source``, or its scan; without ``operation`` the body yields its first argument."""
    number, folded = f"tile<{element}>", tile(shape, element)
    left = shape if scan else shape[:dim] + shape[dim + 1 :]
    what = (
        f"scan %{source} dim={dim} reverse={str(reverse).lower()}" if scan else f"reduce %{source} dim={dim}"
    )
    combined = [f"  %s = {operation} %l, %r : {number}", f"  yield %s : {number}"]
    return [
        f"%{result} = {what} identities=[{identity} : {element}] : {folded} -> {tile(left, element)}",
        f"(%l: {number}, %r: {number}) {{",
        *(combined if operation else [f"  yield %l : {number}"]),
        "}",
    ]
