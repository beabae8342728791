"""Memory through pointers: loads, stores, globals, allocations, and the fences between them."""

from __future__ import annotations

from ..attributes import MemoryOrderingSemantics, MemoryScope, OptimizationHints
from ..declare import attribute, flag, operand, optional_operand, result_of, variadic
from ..module import Operation, Value
from ..version import V13_3, V13_4
from .elements import ANY, BOOL, INTEGER, NUMBER, POINTERS


class GetGlobal(Operation, opcode=44, name="get_global"):
    """The address of a global of the module."""

    name: str = attribute("str")
    result: Value = result_of(POINTERS)
    assembly = "@name : type(result)"


class JoinTokens(Operation, opcode=60, name="join_tokens", count_operands=True, count_results=True):
    """A token that comes after all of ``tokens``."""

    tokens: tuple[Value, ...] = variadic()
    result: Value = result_of()
    assembly = "%tokens : type(result)"


class LoadPtrTko(Operation, opcode=61, name="load_ptr_tko"):
    """The elements that a tile of pointers points at."""

    memory_ordering_semantics: MemoryOrderingSemantics = attribute(MemoryOrderingSemantics)
    memory_scope: MemoryScope | None = attribute(MemoryScope, bit=0)
    optimization_hints: OptimizationHints | None = attribute("optimization_hints", bit=1)
    source: Value = operand(POINTERS)
    mask: Value | None = optional_operand(BOOL, bit=2)
    paddingValue: Value | None = optional_operand(NUMBER, bit=3)
    token: Value | None = optional_operand(bit=4)
    result: Value = result_of(ANY)
    result_token: Value = result_of()
    assembly = (
        "$memory_ordering_semantics{ $memory_scope}? %source{, %mask}?{, %paddingValue}?"
        "{ token=%token}?{ optimization_hints = $optimization_hints}?"
        " : type(source){, type(mask)}?{, type(paddingValue)}? -> type(result), type(result_token)"
    )


class MakeToken(Operation, opcode=68, name="make_token"):
    """A token that comes after nothing."""

    result: Value = result_of()
    assembly = ": type(result)"


class Offset(Operation, opcode=81):
    """Pointers advanced by a signed number of elements."""

    ptr: Value = operand(POINTERS)
    offset: Value = operand(INTEGER)
    result: Value = result_of(POINTERS)
    assembly = "%ptr, %offset : type(ptr), type(offset) -> type(result)"


class StorePtrTko(Operation, opcode=101, name="store_ptr_tko"):
    """A tile written where a tile of pointers points."""

    memory_ordering_semantics: MemoryOrderingSemantics = attribute(MemoryOrderingSemantics)
    memory_scope: MemoryScope | None = attribute(MemoryScope, bit=0)
    optimization_hints: OptimizationHints | None = attribute("optimization_hints", bit=1)
    destination: Value = operand(POINTERS)
    value: Value = operand(ANY)
    mask: Value | None = optional_operand(BOOL, bit=2)
    token: Value | None = optional_operand(bit=3)
    result_token: Value = result_of()
    assembly = (
        "$memory_ordering_semantics{ $memory_scope}? %destination, %value{, %mask}?"
        "{ token=%token}?{ optimization_hints = $optimization_hints}?"
        " : type(destination), type(value){, type(mask)}? -> type(result_token)"
    )


class Alloca(Operation, opcode=113, since=V13_3):
    """The address of fresh memory for ``num_elem`` elements that lives as long as the block around it."""

    num_elem: int = attribute("int")
    alignment: int = attribute("int")
    global_: bool = flag(0)
    result: Value = result_of(POINTERS)
    assembly = "num_elem = $num_elem, alignment = $alignment{ $global_}? : type(result)"


class GdcLaunchDependentsTko(
    Operation, opcode=119, name="gdc_launch_dependents_tko", since=V13_4, count_operands=True
):
    """Dependent kernels may be scheduled."""

    token: Value | None = optional_operand()
    result_token: Value = result_of()
    assembly = "{token = %token }?-> type(result_token)"


class GdcWaitTko(Operation, opcode=120, name="gdc_wait_tko", since=V13_4, count_operands=True):
    """Wait for the kernel before this one."""

    token: Value | None = optional_operand()
    result_token: Value = result_of()
    assembly = "{token = %token }?-> type(result_token)"


class MemoryFenceAliasTko(Operation, opcode=122, name="memory_fence_alias_tko", since=V13_4):
    """Earlier accesses through other aliases of the same memory complete first."""

    token: Value = operand()
    result_token: Value = result_of()
    assembly = "%token"
