"""Operations across the devices of a multicast group."""

from __future__ import annotations

from ..attributes import MemoryOrderingSemantics, MemoryScope, MultimemReductionKind
from ..declare import attribute, no_promise, operand, optional_operand, result_of, variadic
from ..module import Operation, Value
from ..version import V13_5
from .elements import INTEGER, NUMBER


class MultimemLoadReduceViewTko(
    Operation, opcode=123, name="multimem_load_reduce_view_tko", since=V13_5, count_results=True
):
    """The devices' tiles of a view, combined."""

    memory_ordering_semantics: MemoryOrderingSemantics = attribute(MemoryOrderingSemantics)
    memory_scope: MemoryScope | None = attribute(MemoryScope, bit=0)
    reduction: MultimemReductionKind = attribute(MultimemReductionKind, MultimemReductionKind.ADD)
    inbounds: tuple[bool, ...] = attribute("dense_bool_array", no_promise)
    view: Value = operand()
    index: tuple[Value, ...] = variadic(INTEGER, counted=True)
    token: Value | None = optional_operand(bit=1)
    reduced_values: Value = result_of(NUMBER)
    result_token: Value = result_of()
    assembly = (
        "$memory_ordering_semantics{ $memory_scope}? %view[%index]"
        "{ token = %token}? {inbounds = $inbounds}?"
        "{ attributes {{reduction = #cuda_tile.multimem_reduction_kind<$reduction>}}}?"
        " : type(view){, each(index)}?{, type(token)}? -> type(reduced_values), type(result_token)"
    )


class MultimemReduceViewTko(
    Operation, opcode=124, name="multimem_reduce_view_tko", since=V13_5, count_results=True
):
    """A tile combined into every device's tile of a view."""

    memory_ordering_semantics: MemoryOrderingSemantics = attribute(MemoryOrderingSemantics)
    memory_scope: MemoryScope = attribute(MemoryScope)
    reduction: MultimemReductionKind = attribute(MultimemReductionKind, MultimemReductionKind.ADD)
    inbounds: tuple[bool, ...] = attribute("dense_bool_array", no_promise)
    view: Value = operand()
    tile: Value = operand(NUMBER)
    index: tuple[Value, ...] = variadic(INTEGER, counted=True)
    token: Value | None = optional_operand(bit=0)
    result_token: Value = result_of()
    assembly = (
        "$memory_ordering_semantics $memory_scope %view, %tile[%index]"
        "{ token = %token}? {inbounds = $inbounds}?"
        "{ attributes {{reduction = #cuda_tile.multimem_reduction_kind<$reduction>}}}?"
        " : type(view), type(tile){, each(index)}?{, type(token)}? -> type(result_token)"
    )


class MultimemStoreViewTko(
    Operation, opcode=125, name="multimem_store_view_tko", since=V13_5, count_results=True
):
    """A tile stored to every device's tile of a view."""

    memory_ordering_semantics: MemoryOrderingSemantics = attribute(MemoryOrderingSemantics)
    memory_scope: MemoryScope | None = attribute(MemoryScope, bit=0)
    inbounds: tuple[bool, ...] = attribute("dense_bool_array", no_promise)
    view: Value = operand()
    tile: Value = operand(NUMBER)
    index: tuple[Value, ...] = variadic(INTEGER, counted=True)
    token: Value | None = optional_operand(bit=1)
    result_token: Value = result_of()
    assembly = (
        "$memory_ordering_semantics{ $memory_scope}? %view, %tile[%index]"
        "{ token = %token}? {inbounds = $inbounds}?"
        " : type(view), type(tile){, each(index)}?{, type(token)}? -> type(result_token)"
    )
