"""Views: tensors in memory, and the tiles they are cut into."""

from __future__ import annotations

from ..attributes import MemoryOrderingSemantics, MemoryScope, OptimizationHints
from ..declare import attribute, no_promise, operand, optional_operand, result_of, variadic, variadic_results
from ..module import Operation, Value
from ..version import V13_3, V13_4
from .elements import INTEGER, NUMBER, POINTERS


class GetIndexSpaceShape(Operation, opcode=45, name="get_index_space_shape", count_results=True):
    """How many tiles a view has along each dimension."""

    src: Value = operand()
    results = variadic_results()
    assembly = "%src : type(src) -> each(results)"


class GetTensorShape(Operation, opcode=47, name="get_tensor_shape", count_results=True):
    """The extents of a tensor view."""

    src: Value = operand()
    results = variadic_results()
    assembly = "%src : type(src) -> each(results)"


class LoadViewTko(Operation, opcode=62, name="load_view_tko", count_results=True):
    """The tile of a view at ``index``; lanes outside the tensor read the view's padding value."""

    memory_ordering_semantics: MemoryOrderingSemantics = attribute(MemoryOrderingSemantics)
    memory_scope: MemoryScope | None = attribute(MemoryScope, bit=0)
    optimization_hints: OptimizationHints | None = attribute("optimization_hints", bit=1)
    inbounds: tuple[bool, ...] = attribute("dense_bool_array", no_promise, since=V13_4)
    view: Value = operand()
    index: tuple[Value, ...] = variadic(INTEGER, counted=True)
    token: Value | None = optional_operand(bit=2)
    tile: Value = result_of(NUMBER)
    result_token: Value = result_of()
    assembly = (
        "$memory_ordering_semantics{ $memory_scope}? %view[%index]"
        "{ token = %token}?{ optimization_hints = $optimization_hints}?{ inbounds = $inbounds}?"
        " : type(view){, each(index)}? -> type(tile), type(result_token)"
    )


class MakePartitionView(Operation, opcode=66, name="make_partition_view"):
    """A tensor as a grid of tiles that touch."""

    tensor_view: Value = operand()
    result: Value = result_of()
    assembly = "%tensor_view : type(result)"
    result_name = "pview"


class MakeTensorView(Operation, opcode=67, name="make_tensor_view", count_results=True):
    """A tensor at ``base``; one operand for each dynamic extent and stride of its type."""

    base: Value = operand(POINTERS)
    dynamicShape: tuple[Value, ...] = variadic(INTEGER, counted=True)
    dynamicStrides: tuple[Value, ...] = variadic(INTEGER, counted=True)
    result: Value = result_of()
    result_name = "tview"


class StoreViewTko(Operation, opcode=102, name="store_view_tko", count_results=True):
    """``tile`` written to a view at ``index``; lanes outside the tensor are not written."""

    memory_ordering_semantics: MemoryOrderingSemantics = attribute(MemoryOrderingSemantics)
    memory_scope: MemoryScope | None = attribute(MemoryScope, bit=0)
    optimization_hints: OptimizationHints | None = attribute("optimization_hints", bit=1)
    inbounds: tuple[bool, ...] = attribute("dense_bool_array", no_promise, since=V13_4)
    tile: Value = operand(NUMBER)
    view: Value = operand()
    index: tuple[Value, ...] = variadic(INTEGER, counted=True)
    token: Value | None = optional_operand(bit=2)
    result_token: Value = result_of()
    assembly = (
        "$memory_ordering_semantics{ $memory_scope}? %tile, %view[%index]"
        "{ token = %token}?{ optimization_hints = $optimization_hints}?{ inbounds = $inbounds}?"
        " : type(tile), type(view){, each(index)}? -> type(result_token)"
    )


class MakeGatherScatterView(Operation, opcode=115, name="make_gather_scatter_view", since=V13_3):
    """A tensor by row numbers along one dimension."""

    tensor_view: Value = operand()
    result: Value = result_of()
    assembly = "%tensor_view : type(result)"
    result_name = "gsview"


class MakeStridedView(Operation, opcode=116, name="make_strided_view", since=V13_3):
    """A tensor as tiles that overlap or leave gaps."""

    tensor_view: Value = operand()
    result: Value = result_of()
    assembly = "%tensor_view : type(result)"
    result_name = "sview"
