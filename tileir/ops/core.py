"""Tiles from nothing, and tiles of another shape."""

from __future__ import annotations

from ..attributes import DenseElements
from ..declare import attribute, operand, result_of, variadic
from ..module import Operation, Value
from ..version import V13_4
from .elements import ANY, BOOL, I32, INTEGER, NUMBER


class Broadcast(Operation, opcode=11):
    """Dimensions of extent 1 repeated to the result's extent."""

    source: Value = operand(ANY)
    result: Value = result_of(ANY)
    assembly = "%source : type(source) -> type(result)"
    result_name = "bcast"


class Cat(Operation, opcode=12):
    """Two tiles joined along dimension ``dim``."""

    lhs: Value = operand(ANY)
    rhs: Value = operand(ANY)
    dim: int = attribute("int")
    result: Value = result_of(ANY)
    assembly = "%lhs, %rhs dim = $dim : type(lhs), type(rhs) -> type(result)"


class Constant(Operation, opcode=16):
    """A tile known when the module was written."""

    value: DenseElements = attribute("dense_typed_elements")
    result: Value = result_of(NUMBER)
    assembly = "$value"


class Extract(Operation, opcode=38, count_operands=True, count_results=True):
    """The subtile with slice number ``indices[k]`` along dimension k."""

    source: Value = operand(ANY)
    indices: tuple[Value, ...] = variadic(I32)
    result: Value = result_of(ANY)
    assembly = "%source[%indices] : type(source) -> type(result)"


class GetNumTileBlocks(Operation, opcode=46, name="get_num_tile_blocks"):
    """The extents of the grid."""

    gridSize_x: Value = result_of(I32)
    gridSize_y: Value = result_of(I32)
    gridSize_z: Value = result_of(I32)
    assembly = ": type(gridSize_x, gridSize_y, gridSize_z)"


class GetTileBlockId(Operation, opcode=48, name="get_tile_block_id"):
    """Where in the grid this block is."""

    blockId_x: Value = result_of(I32)
    blockId_y: Value = result_of(I32)
    blockId_z: Value = result_of(I32)
    assembly = ": type(blockId_x, blockId_y, blockId_z)"


class Iota(Operation, opcode=58):
    """0, 1, 2, ... along the only dimension."""

    result: Value = result_of(INTEGER)
    assembly = ": type(result)"


class Permute(Operation, opcode=83):
    """Dimensions reordered: dimension k of the result is dimension ``permutation[k]`` of the source."""

    source: Value = operand(ANY)
    permutation: tuple[int, ...] = attribute("dense_int32_array")
    result: Value = result_of(ANY)
    assembly = "%source $permutation : type(source) -> type(result)"


class Reshape(Operation, opcode=91):
    """The same elements in row-major order under another shape."""

    source: Value = operand(ANY)
    result: Value = result_of(ANY)
    assembly = "%source : type(source) -> type(result)"
    result_name = "reshape"


class Select(Operation, opcode=95):
    """``val_if_true`` where ``cond`` is 1, else ``val_if_false``."""

    cond: Value = operand(BOOL)
    val_if_true: Value = operand(ANY)
    val_if_false: Value = operand(ANY)
    result: Value = result_of(ANY)
    assembly = "%cond, %val_if_true, %val_if_false : type(cond), type(val_if_true, val_if_false, result)"


class Insert(Operation, opcode=118, since=V13_4, count_operands=True, count_results=True):
    """``destination`` with the subtile of slice number ``indices[k]`` along dimension k replaced."""

    source: Value = operand(ANY)
    destination: Value = operand(ANY)
    indices: tuple[Value, ...] = variadic(I32)
    result: Value = result_of(ANY)
    assembly = "%source, %destination[%indices] : type(source), type(destination, result)"
