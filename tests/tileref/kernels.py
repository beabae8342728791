"""Kernels around one operation, made from its text: several blocks, any shape, an array in and an array out."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tileir
import tileref
from tileref.numerics.formats import FORMATS

Array = NDArray[Any]

SHAPES: tuple[tuple[int, ...], ...] = ((), (8,), (2, 4))
"""Shapes that elementwise operations are tried in."""
NAMES = "abcdef"
HALF = "f4E2M1FN"
"""The format that no pointer leads to; it comes and goes here as an i8 each, of which four bits are it."""
RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less_than": operator.lt,
    "less_than_or_equal": operator.le,
    "greater_than": operator.gt,
    "greater_than_or_equal": operator.ge,
}
"""What the predicates of comparisons say of two numbers."""


def tile(shape: Sequence[int], element: str) -> str:
    """The text of a tile type."""
    return f"tile<{''.join(f'{extent}x' for extent in shape)}{element}>"


def at(name: str, pointer: str, element: str, size: int, first: str = "first") -> str:
    """Text of pointers ``%name`` to ``size`` elements of parameter ``%pointer`` from element ``%first`` on."""
    many = tile((size,), f"ptr<{element}>")
    return f"""
      %{name}_0 = offset %{pointer}, %{first} : tile<ptr<{element}>>, tile<i32> -> tile<ptr<{element}>>
      %{name}_1 = reshape %{name}_0 : tile<ptr<{element}>> -> tile<1xptr<{element}>>
      %{name}_n = broadcast %{name}_1 : tile<1xptr<{element}>> -> {many}
      %{name}_l = iota : tile<{size}xi32>
      %{name} = offset %{name}_n, %{name}_l : {many}, tile<{size}xi32> -> {many}
    """


def first_of_block(size: int) -> str:
    """Text of ``%first``: where the elements of this block begin, ``size`` for each."""
    return f"""
      %x, %y, %z = get_tile_block_id : tile<i32>
      %each = constant <i32: {size}> : tile<i32>
      %first = muli %x, %each : tile<i32>
    """


@dataclass(slots=True)
class Answer:
    """What came out: the array, the lanes that have no value, and the launch."""

    array: Array
    undefined: NDArray[np.bool_]
    result: tileref.LaunchResult


def text_of(
    operation: str,
    formats: Sequence[str],
    result: str,
    shape: Sequence[int],
    result_shape: Sequence[int] | None = None,
    *,
    holes: bool = False,
) -> str:
    """A kernel that computes ``%r = operation``.

    Args:
        operation: the text behind ``%r =``, or lines of which one begins so, with ``%a``, ``%b``, ... for operands, ``{A}``, ``{B}``, ... for their
            types and ``{R}`` for the result's.
        formats: the elements of the operands.
        result: the elements of the result.
        shape: of the operands.
        result_shape: of the result, if it is another.
        holes: whether each operand has a mask as a parameter, and no value where that is false.
    """
    result_shape = shape if result_shape is None else result_shape
    size, result_size = math.prod(shape), math.prod(result_shape)
    parameters, loads = [], []
    for name, element in zip(NAMES, formats, strict=False):
        parameters.append(f"%p{name}: tile<ptr<{'i8' if element == HALF else element}>>")
        mask, mask_type = "", ""
        if holes:
            parameters.append(f"%m{name}: tile<ptr<i1>>")
            loads.append(at(f"{name}_ms", f"m{name}", "i1", size))
            loads.append(
                f"%{name}_m, %{name}_u = load_ptr_tko weak %{name}_ms : tile<{size}xptr<i1>> -> tile<{size}xi1>, token"
            )
            mask, mask_type = f", %{name}_m", f", tile<{size}xi1>"
        held = "i8" if element == HALF else element
        loads.append(at(f"{name}_s", f"p{name}", held, size))
        pointers = tile((size,), f"ptr<{held}>")
        loaded = f"{name}_b" if element == HALF else f"{name}_v"
        loads.append(
            f"%{loaded}, %{name}_t = load_ptr_tko weak %{name}_s{mask} : {pointers}{mask_type} -> tile<{size}x{held}>, token"
        )
        if element == HALF:
            loads.append(f"%{name}_c = trunci %{loaded} : tile<{size}xi8> -> tile<{size}xi4>")
            loads.append(f"%{name}_v = bitcast %{name}_c : tile<{size}xi4> -> tile<{size}x{element}>")
        loads.append(f"%{name} = reshape %{name}_v : tile<{size}x{element}> -> {tile(shape, element)}")
    types = {name.upper(): tile(shape, f) for name, f in zip(NAMES, formats, strict=False)}
    types["R"] = tile(result_shape, result)
    body = operation.format(**types)
    inputs = "\n".join(loads)
    outer, last, narrowed = result, "flat", ""
    if result == HALF:
        outer, last = "i8", "whole"
        narrowed = f"%bits = bitcast %flat : tile<{result_size}x{result}> -> tile<{result_size}xi4>\n"
        narrowed += f"%whole = exti %bits unsigned : tile<{result_size}xi4> -> tile<{result_size}xi8>"
    return f"""
    entry @k({", ".join([*parameters, f"%out: tile<ptr<{outer}>>"])}) {{
      {first_of_block(size)}
      {inputs}
      {body if "%r = " in body else "%r = " + body}
      %flat = reshape %r : {types["R"]} -> tile<{result_size}x{result}>
      %result_each = constant <i32: {result_size}> : tile<i32>
      %result_first = muli %x, %result_each : tile<i32>
      {narrowed}
      {at("to", "out", outer, result_size, "result_first")}
      %t = store_ptr_tko weak %to, %{last} : tile<{result_size}xptr<{outer}>>, tile<{result_size}x{outer}> -> token
      return
    }}
    """


def apply(
    operation: str,
    operands: Sequence[Array],
    formats: Sequence[str],
    result: str | None = None,
    shape: Sequence[int] = (8,),
    result_shape: Sequence[int] | None = None,
    *,
    masks: Sequence[NDArray[np.bool_]] | None = None,
    model: str = "spec",
) -> Answer:
    """Launch the kernel of ``text_of`` on arrays of one length, a block for each tile of them.

    ``masks`` are false where an operand is to have no value.
    """
    result = formats[0] if result is None else result
    text = text_of(operation, formats, result, shape, result_shape, holes=masks is not None)
    size = math.prod(shape)
    blocks, rest = divmod(operands[0].size, size)
    assert rest == 0
    assert blocks > 1
    lanes = blocks * math.prod(shape if result_shape is None else result_shape)
    out = np.zeros(lanes, FORMATS[result].dtype)
    arguments: list[Any] = []
    for position, array in enumerate(operands):
        arguments.append(array.copy().view(np.int8) if formats[position] == HALF else array.copy())
        if masks is not None:
            arguments.append(masks[position].copy())
    given = [a.tobytes() for a in arguments]
    given_out = out.view(np.int8) if result == HALF else out
    launched = tileref.launch(tileir.parse(text), blocks, [*arguments, given_out], model=model)
    assert [a.tobytes() for a in arguments] == given, "an operand was changed"
    undefined = launched.undefined_elements.get(len(arguments), np.zeros(lanes, bool))
    return Answer(out, undefined.reshape(-1), launched)


def bits(array: Array) -> NDArray[np.uint64]:
    """The bit patterns of an array's elements."""
    return array.view(f"u{array.dtype.itemsize}").astype(np.uint64)


def cycle(array: Array, count: int) -> Array:
    """``count`` elements of an array, from its start again where it ends."""
    return np.resize(array, count)
