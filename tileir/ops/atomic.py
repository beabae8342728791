"""Atomic memory operations."""

from __future__ import annotations

from ..attributes import AtomicRMWMode, MemoryOrderingSemantics, MemoryScope
from ..declare import attribute, no_promise, operand, optional_operand, result_of, variadic
from ..module import Operation, Value
from ..version import V13_3, V13_5
from .elements import BOOL, INTEGER, NUMBER, POINTERS


class AtomicCASTko(Operation, opcode=7, name="atomic_cas_tko"):
    """``val`` stored where memory equals ``cmp`` bit for bit; answers what was there."""

    memory_ordering_semantics: MemoryOrderingSemantics = attribute(MemoryOrderingSemantics)
    memory_scope: MemoryScope = attribute(MemoryScope)
    pointers: Value = operand(POINTERS)
    cmp: Value = operand(NUMBER)
    val: Value = operand(NUMBER)
    mask: Value | None = optional_operand(BOOL, bit=0)
    token: Value | None = optional_operand(bit=1)
    result: Value = result_of(NUMBER)
    result_token: Value = result_of()
    assembly = (
        "$memory_ordering_semantics $memory_scope %pointers, %cmp, %val{, %mask}?{ token=%token}?"
        " : type(pointers), type(cmp, val){, type(mask)}? -> type(result), type(result_token)"
    )


class AtomicRMWTko(Operation, opcode=8, name="atomic_rmw_tko"):
    """Memory combined with ``arg`` by ``mode``; answers what was there."""

    memory_ordering_semantics: MemoryOrderingSemantics = attribute(MemoryOrderingSemantics)
    memory_scope: MemoryScope = attribute(MemoryScope)
    pointers: Value = operand(POINTERS)
    mode: AtomicRMWMode = attribute(AtomicRMWMode)
    arg: Value = operand(NUMBER)
    mask: Value | None = optional_operand(BOOL, bit=0)
    token: Value | None = optional_operand(bit=1)
    result: Value = result_of(NUMBER)
    result_token: Value = result_of()
    assembly = (
        "$memory_ordering_semantics $memory_scope %pointers, $mode, %arg{, %mask}?{ token=%token}?"
        " : type(pointers), type(arg){, type(mask)}? -> type(result), type(result_token)"
    )


class AtomicRedViewTko(Operation, opcode=117, name="atomic_red_view_tko", since=V13_3, count_results=True):
    """A tile of a view combined with ``value`` by ``mode``; answers nothing."""

    memory_ordering_semantics: MemoryOrderingSemantics = attribute(MemoryOrderingSemantics)
    memory_scope: MemoryScope = attribute(MemoryScope)
    view: Value = operand()
    index: tuple[Value, ...] = variadic(INTEGER, counted=True)
    mode: AtomicRMWMode = attribute(AtomicRMWMode)
    inbounds: tuple[bool, ...] = attribute("dense_bool_array", no_promise, since=V13_5)
    value: Value = operand(NUMBER)
    token: Value | None = optional_operand(bit=0)
    result_token: Value = result_of()
    assembly = (
        "$memory_ordering_semantics $memory_scope %view[%index], $mode, %value"
        "{ token = %token}?{ inbounds = $inbounds}?"
        " : type(value), type(view){, each(index)}? -> type(result_token)"
    )
