"""Walking a kernel forwards: for each buffer, how far the device's answer may be from the model's.

The walk is an abstract run over all blocks and lanes at once. It starts from the buffers' real contents, so
that magnitudes are those of this case, and meets a loop's body as often as it may run. What it cannot
follow (an address or a branch that depends on an uncertain value) it gives up: the error has no bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tileir.attributes import AtomicRMWMode, DenseElements, RoundingMode
from tileir.module import Function, Operation, Region, Value
from tileir.types import NumberType, PartitionViewType, StridedViewType, TensorViewType, TileType
from tileref import Explanation
from tileref.numerics.formats import FORMATS, FloatFormat
from tileref.targets.lanes import Lanes

from . import rules
from .rules import Unit, unit_of
from .uncertain import INF, Uncertain, interval, join, lost, origins_of
from .unmeasured import Claims

PASSES = 4
"""Times the kernel is walked so that what it writes reaches what it reads; growing errors are lost."""
ITERATIONS = 256
"""Times a loop's body is walked."""


def analyse(
    entry: Function, arguments: Sequence[Any], grid: Sequence[int], model: Claims
) -> dict[int, Uncertain]:
    """What each buffer holds after the kernel, by its position among the parameters.

    Args:
        entry: the kernel.
        arguments: arrays and numbers, as for a launch; nothing is written.
        grid: blocks along x, y and z.
        model: says which operations' bits are claimed, and documents the errors of the others: a model of the
            target, or ``Unmeasured``.
    """
    return _Flow(entry, arguments, grid, model).run()


@dataclass
class _Loop:
    """What leaves a loop's body: values for the next iteration, and values for the results."""

    carried: list[list[Uncertain]] = field(default_factory=list)
    results: list[list[Uncertain]] = field(default_factory=list)


class _Flow:
    def __init__(self, entry: Function, arguments: Sequence[Any], grid: Sequence[int], model: Claims) -> None:
        self.entry = entry
        self.model = model
        self.grid = (*grid, 1, 1)[:3]
        self.values: dict[Value, Uncertain] = {}
        self.buffer_of: dict[Value, int] = {}
        self.memory: dict[int, Uncertain] = {}
        self.doubt: frozenset[Explanation] = frozenset()
        self.loops: list[_Loop] = []
        self.yielded: list[Uncertain] = []
        for position, (parameter, argument) in enumerate(zip(entry.parameters, arguments, strict=True)):
            if isinstance(argument, np.ndarray):
                self.buffer_of[parameter] = position
                self.memory[position] = _contents(argument)
                self.values[parameter] = interval(0.0, INF)
            else:
                number = float(argument)
                self.values[parameter] = interval(number, number)

    def run(self) -> dict[int, Uncertain]:
        for attempt in range(PASSES):
            before = dict(self.memory)
            self.region(self.entry.body)
            if all(_same_error(before[i], v) for i, v in self.memory.items()):
                break
            if attempt == PASSES - 1:
                for i, v in self.memory.items():
                    if not _same_error(before[i], v):
                        self.memory[i] = lost(v.origins)
        return self.memory

    def region(self, region: Region) -> None:
        for operation in region.operations:
            self.operation(operation)

    def of(self, value: Value) -> Uncertain:
        return self.values.get(value, interval(-INF, INF))

    def set(self, operation: Operation, *results: Uncertain) -> None:
        for value, result in zip(operation.results, results, strict=False):
            self.values[value] = result

    def operation(self, operation: Operation) -> None:
        special = getattr(self, f"do_{operation.mnemonic}", None)
        if special is not None:
            special(operation)
            return
        operands = [self.of(v) for v in operation.uses]
        # Views and pointers go on knowing their buffer.
        for used in operation.uses:
            if used in self.buffer_of:
                for made in operation.results:
                    self.buffer_of[made] = self.buffer_of[used]
                break
        name = operation.mnemonic
        unit = unit_of(_element(operation.results[0])) if operation.results else Unit(0.0, 0.0)
        result: Uncertain
        if name in _MOVES:
            result = join(operands) if operands else interval(-INF, INF)
        elif name in _FLOAT_RULES:
            result = _FLOAT_RULES[name](operands, unit)
        elif name in _INTEGER_RULES:
            lo, hi = _INTEGER_RULES[name](operands)
            origins = origins_of(operands)
            result = lost(origins, lo, hi) if origins else interval(lo, hi)
        else:
            origins = origins_of(operands)
            result = lost(origins) if origins else interval(-INF, INF)
        self.set(operation, *[self.explained(operation, result, operands, unit)] * len(operation.results))

    def explained(
        self, operation: Operation, result: Uncertain, operands: Sequence[Uncertain], unit: Unit
    ) -> Uncertain:
        """``result`` with the operation's own error added, where the model does not claim its bits."""
        explanation = self.model.explanation(operation)
        if explanation.exact:
            return result
        origins = result.origins | {explanation}
        if explanation.ulps is None or not _documented(operation, operands):
            return lost(origins, result.lo, result.hi)
        own = explanation.ulps * unit.relative
        return Uncertain(
            result.lo,
            result.hi,
            result.rel + own + result.rel * own if result.rel < INF else INF,
            result.abs * (1 + own) + explanation.ulps * unit.tiny if result.abs < INF else INF,
            origins,
            explanation.ulps if all(o.exact for o in operands) else None,
        )

    # Values from nothing.

    def do_constant(self, operation: Any) -> None:
        self.set(operation, _constant(operation.value))

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

    def address(self, values: Sequence[Value]) -> frozenset[Explanation]:
        return origins_of([self.of(v) for v in values])

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
            why = Explanation(False, operation.mnemonic, (_element(value),), "the order of atomics is open")
            u = lost(u.origins | {why})
        self.store(target, u, [target])
        buffer = self.buffer_of.get(target, -1)
        self.set(operation, self.memory.get(buffer, u))

    # Conversions that need both formats.

    def do_ftof(self, operation: Any) -> None:
        source, target = _element(operation.from_), _element(operation.to)
        u = self.of(operation.from_)
        wider = _precision(target) >= _precision(source)
        unit = Unit(0.0, 0.0) if wider else unit_of(target)
        result = u if u.exact or wider else rules.rounded(u, unit)
        result = replace(result, ulps=None) if not u.exact else result
        self.set(operation, self.explained(operation, result, [u], unit_of(target)))

    def do_ftoi(self, operation: Any) -> None:
        u = self.of(operation.from_)
        result = interval(*_ordered(math.floor, u.lo, u.hi))
        if not u.exact:
            result = Uncertain(result.lo, result.hi, 0.0, u.error + 1, u.origins)
        self.set(operation, result)

    def do_itof(self, operation: Any) -> None:
        u = self.of(operation.from_)
        self.set(operation, u if u.exact else rules.rounded(u, unit_of(_element(operation.to))))

    def do_bitcast(self, operation: Any) -> None:
        u = self.of(operation.source)
        self.set(operation, lost(u.origins) if u.origins else interval(-INF, INF))

    def do_mulf(self, operation: Any) -> None:
        a, b = self.of(operation.lhs), self.of(operation.rhs)
        unit = unit_of(_element(operation.result))
        self.set(operation, rules.multiply(a, b, unit, square=operation.lhs is operation.rhs))

    def do_select(self, operation: Any) -> None:
        condition = self.of(operation.cond)
        result = join([self.of(operation.val_if_true), self.of(operation.val_if_false)])
        if condition.origins:
            # Either value may be taken: off by no more than they lie apart.
            spread = result.hi - result.lo + result.error
            result = Uncertain(result.lo, result.hi, 0.0, spread, result.origins | condition.origins)
        self.set(operation, result)

    def do_cmpf(self, operation: Any) -> None:
        origins = self.address(operation.uses)
        self.set(operation, lost(origins, 0, 1) if origins else interval(0, 1))

    do_cmpi = do_cmpf

    # Folds and products.

    def do_reduce(self, operation: Any) -> None:
        self.fold(operation, self.model.reduce_order)

    def do_scan(self, operation: Any) -> None:
        self.fold(operation, self.model.scan_order)

    def fold(self, operation: Any, order_of: Callable[[Any], Any]) -> None:
        operands = [self.of(v) for v in operation.operands]
        explanation = self.model.explanation(operation)
        origins = origins_of(operands) | (frozenset() if explanation.exact else {explanation})
        body = operation.body.operations
        source = operation.operands[0].type
        count = source.shape[operation.dim]
        kind = body[0].mnemonic if len(operands) == 1 and len(body) == 2 else ""
        x = operands[0]
        if kind == "addf":
            # Two sums lie apart by what each is off: half a unit an addition, for both of them one.
            depth = _depth(order_of(operation).value, count) if explanation.exact else count - 1
            result = rules.folded(x, count, depth, unit_of(_element_of(source)))
            results = [replace(result, origins=origins) if origins else interval(result.lo, result.hi)]
        elif kind in ("maxf", "minf", "maxi", "mini"):
            results = [replace(x, ulps=None, origins=origins)]
        elif kind == "addi":
            lo, hi = min(x.lo, x.lo * count), max(x.hi, x.hi * count)
            results = [lost(origins) if origins else interval(lo, hi)]
        else:
            results = [lost(origins) if origins else interval(-INF, INF)] * len(operation.results)
        self.set(operation, *results)

    def do_mmaf(self, operation: Any) -> None:
        a, b, c = self.of(operation.lhs), self.of(operation.rhs), self.of(operation.acc)
        explanation = self.model.explanation(operation)
        origins = origins_of((a, b, c)) | (frozenset() if explanation.exact else {explanation})
        depth = operation.lhs.type.shape[-1]
        nothing = Unit(0.0, 0.0)
        products = rules.multiply(a, b, nothing)
        total = rules.add(rules.folded(products, depth, 0, nothing), c, nothing)
        if not origins:
            self.set(operation, interval(total.lo, total.hi))
            return
        # Tensor cores keep as few as 13 fraction bits of f8 products and truncate; others keep f32's.
        narrow = _element(operation.lhs).startswith("f8")
        accumulator = unit_of(_element(operation.result))
        unit = max(accumulator.relative, 2.0**-13 if narrow else 0.0)
        size = depth * products.magnitude + c.magnitude
        # Rounding of the products and of the sums, by two ways of doing it: half a unit each if rounded.
        absolute = (
            total.error + (depth + 2) * unit * size * (2 if narrow else 1) + (depth + 2) * accumulator.tiny
        )
        self.set(operation, Uncertain(total.lo, total.hi, 0.0, absolute, origins))

    # Control flow.

    def do_if(self, operation: Any) -> None:
        condition = self.of(operation.condition)
        self.doubt |= condition.origins
        ways = []
        for region in operation.regions:
            self.yielded = []
            self.region(region)
            if self.yielded:
                ways.append(self.yielded)
        for position, value in enumerate(operation.results):
            there = [w[position] for w in ways if position < len(w)]
            result = join(there) if there else interval(-INF, INF)
            if condition.origins:
                result = lost(result.origins | condition.origins)
            self.values[value] = result
        self.yielded = []

    def do_yield(self, operation: Any) -> None:
        self.yielded = [self.of(v) for v in operation.operands]

    def do_continue(self, operation: Any) -> None:
        if self.loops:
            self.loops[-1].carried.append([self.of(v) for v in operation.operands])

    def do_break(self, operation: Any) -> None:
        if self.loops:
            self.loops[-1].results.append([self.of(v) for v in operation.operands])

    def do_for(self, operation: Any) -> None:
        bounds = [self.of(v) for v in (operation.lowerBound, operation.upperBound, operation.step)]
        self.doubt |= origins_of(bounds)
        low, high, step = bounds
        most = max(0.0, (high.hi - low.lo) / step.lo) if step.lo > 0 and high.hi < INF else INF
        state = [self.of(v) for v in operation.initValues]
        induction = interval(low.lo, high.hi if high.hi < INF else INF)
        final, _ = self.iterate(operation.body, state, [induction], most)
        self.set(operation, *final)

    def do_loop(self, operation: Any) -> None:
        state = [self.of(v) for v in operation.initValues]
        _, results = self.iterate(operation.body, state, [], INF)
        if not results:
            results = [interval(-INF, INF)] * len(operation.results)
        self.set(operation, *results)

    def iterate(
        self, body: Region, state: list[Uncertain], leading: list[Uncertain], most: float
    ) -> tuple[list[Uncertain], list[Uncertain]]:
        """Walk a body until nothing changes, or ``most`` times: what it carries, what breaks bring out."""
        results: list[Uncertain] = []
        rounds = 0
        while rounds < min(most, ITERATIONS):
            rounds += 1
            for argument, u in zip(body.arguments, [*leading, *state], strict=False):
                self.values[argument] = u
            self.loops.append(_Loop())
            self.yielded = []
            self.region(body)
            loop = self.loops.pop()
            ways = loop.carried + ([self.yielded] if self.yielded else [])
            self.yielded = []
            for broken in loop.results:
                results = [join(p) for p in zip(results, broken, strict=False)] if results else broken
            after = [join([u, *(w[i] for w in ways if i < len(w))]) for i, u in enumerate(state)]
            settled = all(_same_error(u, v) for u, v in zip(state, after, strict=True))
            grows = after != state
            state = after
            if settled and rounds > 1:
                if grows and rounds < most:
                    # The errors have settled, the magnitudes have not: let them be anything.
                    state = [u.within(-INF, INF) if u.exact else u for u in state]
                    most = min(most, rounds + 2)
                else:
                    break
        else:
            if rounds < most:
                state = [lost(u.origins) if u.origins else u for u in state]
                results = [lost(u.origins) if u.origins else u for u in results]
        if self.doubt:
            state = [lost(u.origins | self.doubt) for u in state]
            results = [lost(u.origins | self.doubt) for u in results]
        return state, results


_MOVES = frozenset(
    {"assume", "broadcast", "cat", "extract", "insert", "permute", "reshape", "ptr_to_ptr", "offset"}
)


def _negated(x: Uncertain) -> Uncertain:
    return x.within(-x.hi, -x.lo)


def _absolute(x: Uncertain) -> Uncertain:
    return x.within(x.least, x.magnitude)


_FLOAT_RULES: Mapping[str, Callable[[list[Uncertain], Unit], Uncertain]] = {
    "addf": lambda o, u: rules.add(o[0], o[1], u),
    "subf": lambda o, u: rules.add(o[0], o[1], u, -1.0),
    "divf": lambda o, u: rules.divide(o[0], o[1], u),
    "fma": lambda o, u: rules.fused(o[0], o[1], o[2], u),
    "maxf": lambda o, u: rules.larger(o[0], o[1]),
    "minf": lambda o, u: rules.smaller(o[0], o[1]),
    "negf": lambda o, u: _negated(o[0]),
    "absf": lambda o, u: _absolute(o[0]),
    "exp": lambda o, u: rules.exponential(o[0], u),
    "exp2": lambda o, u: rules.exponential(o[0], u, 2.0),
    "log": lambda o, u: rules.logarithm(o[0], u),
    "log2": lambda o, u: rules.logarithm(o[0], u, 2.0),
    "sqrt": lambda o, u: rules.root(o[0], u),
    "rsqrt": lambda o, u: rules.inverse_root(o[0], u),
    "sin": lambda o, u: rules.lipschitz(o[0], u, -1.0, 1.0),
    "cos": lambda o, u: rules.lipschitz(o[0], u, -1.0, 1.0),
    "tanh": lambda o, u: rules.lipschitz(o[0], u, -1.0, 1.0),
    "sinh": lambda o, u: rules.hyperbolic(o[0], u, even=False),
    "cosh": lambda o, u: rules.hyperbolic(o[0], u, even=True),
}


def _corners(operands: list[Uncertain]) -> tuple[float, float]:
    found = [
        0.0 if 0 in (x, y) else x * y
        for x in (operands[0].lo, operands[0].hi)
        for y in (operands[1].lo, operands[1].hi)
    ]
    return min(found), max(found)


_INTEGER_RULES: Mapping[str, Callable[[list[Uncertain]], tuple[float, float]]] = {
    "addi": lambda o: (o[0].lo + o[1].lo, o[0].hi + o[1].hi),
    "subi": lambda o: (o[0].lo - o[1].hi, o[0].hi - o[1].lo),
    "muli": _corners,
    "maxi": lambda o: (max(o[0].lo, o[1].lo), max(o[0].hi, o[1].hi)),
    "mini": lambda o: (min(o[0].lo, o[1].lo), min(o[0].hi, o[1].hi)),
    "exti": lambda o: (o[0].lo, o[0].hi),
    "trunci": lambda o: (o[0].lo, o[0].hi),
}
"""Intervals of integers, for trip counts alone: wrap-around would only make a loop shorter or endless."""


def _documented(operation: Operation, operands: Sequence[Uncertain]) -> bool:
    """Whether the operands lie where the documented bound holds.

    That of the approximate division holds for divisors from 2^-126 to 2^126 (the dialect's text on divf).
    """
    if getattr(operation, "rounding_mode", None) is RoundingMode.APPROX and operation.mnemonic == "divf":
        return operands[1].least >= 2.0**-126 and operands[1].magnitude <= 2.0**126
    return True


def _element(value: Value) -> str:
    return _element_of(value.type)


def _element_of(type_: Any) -> str:
    if isinstance(type_, TileType) and isinstance(type_.element, NumberType):
        return type_.element.name
    return ""


def _precision(format_name: str) -> int:
    fmt = FORMATS.get(format_name)
    return fmt.precision if isinstance(fmt, FloatFormat) else 0


def _contents(array: Any) -> Uncertain:
    """The interval of a buffer's finite elements."""
    if array.size == 0:
        return interval(0.0, 0.0)
    with np.errstate(all="ignore"):
        wide = array.astype(np.float64)
    finite = wide[np.isfinite(wide)]
    if finite.size == 0:
        return interval(-INF, INF)
    return interval(float(finite.min()), float(finite.max()))


def _constant(value: DenseElements) -> Uncertain:
    element = value.type.element
    assert isinstance(element, NumberType)
    fmt = FORMATS[element.name]
    if fmt.width < 8:
        return interval(-INF, INF)
    return _contents(np.frombuffer(value.data, fmt.dtype))


def _same_error(a: Uncertain, b: Uncertain) -> bool:
    return (a.rel, a.abs, a.origins) == (b.rel, b.abs, b.origins)


def _ordered(function: Callable[[float], float], lo: float, hi: float) -> tuple[float, float]:
    def safe(x: float) -> float:
        return function(x) if math.isfinite(x) else x

    return safe(lo), safe(hi)


def _depth(order: Any, count: int) -> int:
    """In how many applications of the body a lane takes part at most: the order is asked, lane by lane."""

    def deeper(a: Lanes, b: Lanes) -> Lanes:
        return Lanes((np.maximum(*np.broadcast_arrays(a.data[0], b.data[0])) + 1,), (None,))

    lanes = Lanes((np.zeros((count, 1), dtype=np.int64),), (None,))
    return int(order(lanes, deeper).data[0].max(initial=0))
