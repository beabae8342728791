"""Walking through what makes values from nothing, and through memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tileir.attributes import AtomicRMWMode
from tileir.module import Operation, Value
from tileir.types import PartitionViewType, StridedViewType, TensorViewType
from tileref import Explanation

from .reading import constant, element
from .rules import Unit
from .state import State
from .uncertain import INF, Uncertain, interval, join, lost


class Memory(State):
    """Constants, tensors, loads, stores and atomic operations."""

    # Values from nothing.

    def do_constant(self, operation: Any) -> None:
        self.set(operation, constant(operation.value))

    def do_iota(self, operation: Any) -> None:
        self.set(operation, interval(0, operation.result.type.size - 1))

    def do_get_tile_block_id(self, operation: Operation) -> None:
        self.set(operation, *(interval(0, n - 1) for n in self.grid))

    def do_get_num_tile_blocks(self, operation: Operation) -> None:
        self.set(operation, *(interval(n, n) for n in self.grid))

    def do_make_tensor_view(self, operation: Any) -> None:
        self.buffer_of[operation.result] = self.buffer_of.get(operation.base, -1)
        self.values[operation.result] = interval(0.0, INF)

    def do_get_tensor_shape(self, operation: Any) -> None:
        self.set(operation, *(interval(*e) for e in self.extents(operation.src)))

    def do_get_index_space_shape(self, operation: Any) -> None:
        view = operation.src.type
        extents = self.extents(operation.src)
        if isinstance(view, PartitionViewType | StridedViewType):
            steps = view.traversal_strides
            extents = [
                (math.ceil(extents[d][0] / s), math.ceil(extents[d][1] / s) if extents[d][1] < INF else INF)
                for d, s in zip(view.dim_map, steps, strict=True)
            ]
        self.set(operation, *(interval(*e) for e in extents))

    def extents(self, value: Value) -> list[tuple[float, float]]:
        """The extents of the tensor below a view."""
        operation = value.owner
        while isinstance(operation, Operation) and operation.mnemonic != "make_tensor_view":
            operation = operation.uses[0].owner
        if not isinstance(operation, Operation):
            return [(0.0, INF)] * 8
        tensor = operation.results[0].type
        assert isinstance(tensor, TensorViewType)
        dynamic = iter(operation.__dict__["dynamicShape"])
        found = []
        for extent in tensor.shape:
            u = interval(extent, extent) if extent is not None else self.of(next(dynamic))
            found.append((max(0.0, u.lo), u.hi))
        return found

    # Memory.

    def load(self, operation: Operation, target: Value, where: Sequence[Value], padding: Uncertain) -> None:
        buffer = self.buffer_of.get(target, -1)
        value = join([self.memory.get(buffer, interval(-INF, INF)), padding])
        doubt = self.address(where)
        if not doubt:
            # What a model does not claim of a load is the pattern of a padding NaN, never a number.
            value = self.explained(operation, value, [value], Unit(0.0, 0.0))
        self.set(operation, lost(value.origins | doubt) if doubt else value)

    def do_load_view_tko(self, operation: Any) -> None:
        padding = interval(0.0, 0.0)
        self.load(operation, operation.view, operation.index, padding)

    def do_load_ptr_tko(self, operation: Any) -> None:
        padding = interval(0.0, 0.0) if operation.paddingValue is None else self.of(operation.paddingValue)
        where = [operation.source] + ([operation.mask] if operation.mask is not None else [])
        self.load(operation, operation.source, where, padding)

    def store(self, target: Value, value: Uncertain, where: Sequence[Value]) -> None:
        doubt = self.address(where) | self.doubt
        if doubt:
            value = lost(value.origins | doubt)
        buffer = self.buffer_of.get(target, -1)
        for position in [buffer] if buffer in self.memory else list(self.memory):
            self.memory[position] = join([self.memory[position], value])

    def do_store_view_tko(self, operation: Any) -> None:
        self.store(operation.view, self.of(operation.tile), operation.index)

    def do_store_ptr_tko(self, operation: Any) -> None:
        where = [operation.destination] + ([operation.mask] if operation.mask is not None else [])
        self.store(operation.destination, self.of(operation.value), where)

    def do_atomic_rmw_tko(self, operation: Any) -> None:
        self.atomic(operation, operation.pointers, operation.arg, operation.mode)

    def do_atomic_cas_tko(self, operation: Any) -> None:
        self.atomic(operation, operation.pointers, operation.val, None)

    def atomic(self, operation: Operation, target: Value, value: Value, mode: Any) -> None:
        u = self.of(value)
        if mode is AtomicRMWMode.ADDF:
            # The order of the blocks is the hardware's: a sum of floats has no claimed bits.
            why = Explanation(False, operation.mnemonic, (element(value),), "the order of atomics is open")
            u = lost(u.origins | {why})
        self.store(target, u, [target])
        buffer = self.buffer_of.get(target, -1)
        self.set(operation, self.memory.get(buffer, u))
