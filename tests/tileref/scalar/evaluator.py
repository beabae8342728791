"""Running a kernel as its definition reads, for one block: operation by operation, lane by lane."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tileir.module import Module, Operation, Region
from tileir.types import GatherScatterViewType, PointerType, TileType

from . import numbers as n

Lane = Any
"""A pattern, a pointer as (buffer, byte), or None."""


class OutsideScope(Exception):
    """The program does something this evaluator says nothing about, such as branching on no value."""


@dataclass
class Tile:
    """A tile of one block: its lanes in row-major order."""

    shape: tuple[int, ...]
    element: Any
    lanes: list[Lane]


@dataclass
class Tensor:
    """A tensor in memory."""

    type: Any
    base: tuple[int, int]
    shape: list[int]
    strides: list[int]


@dataclass
class View:
    """A tensor cut into tiles."""

    type: Any
    tensor: Tensor


class Buffer:
    """Bytes, and which of them have no value."""

    def __init__(self, data: bytes) -> None:
        self.bytes = bytearray(data)
        self.undefined = bytearray(len(data))


def _tile_type(value: Any) -> TileType:
    assert isinstance(value.type, TileType)
    return value.type


def places(shape: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All index tuples in row-major order."""
    return itertools.product(*map(range, shape))


def flat(place: Sequence[int], shape: Sequence[int]) -> int:
    """The number of a place in row-major order."""
    number = 0
    for at, extent in zip(place, shape, strict=True):
        number = number * extent + at
    return number


class Block:
    """One block of a kernel."""

    def __init__(
        self, buffers: list[Buffer], at: tuple[int, int, int], grid: tuple[int, int, int], module: Module
    ) -> None:
        self.buffers, self.at, self.grid, self.module = buffers, at, grid, module
        self.values: dict[Any, Any] = {}

    # -- regions

    def region(self, region: Region, arguments: Sequence[Any] = ()) -> tuple[str, list[Any]]:
        """Run a region; which terminator ended it, and with what."""
        for argument, value in zip(region.arguments, arguments, strict=True):
            self.values[argument] = value
        for op in region.operations:
            name = type(op).__name__
            if name in ("Yield", "Continue", "Break", "Return"):
                return name, [self.values[v] for v in op.uses]
            if name in ("If", "For", "Loop"):
                left = getattr(self, name)(op)
                if left is not None:
                    return left  # type: ignore[no-any-return]
                continue
            answer = getattr(self, name)(op)
            results = answer if isinstance(answer, tuple) else (answer,)
            for value, result in zip(op.results, results, strict=True):
                self.values[value] = result
        raise AssertionError("a region without an end")

    def _keep(self, op: Operation, values: Sequence[Any]) -> None:
        for result, value in zip(op.results, values, strict=True):
            self.values[result] = value

    def scalar(self, value: Any) -> int:
        """The one lane of a scalar, which must have a value."""
        lane = self.values[value].lanes[0]
        if lane is None:
            raise OutsideScope("control flow on no value")
        return lane  # type: ignore[no-any-return]

    def If(self, op: Any) -> Any:
        region = op.thenRegion if self.scalar(op.condition) else op.elseRegion
        if region is None:
            return None
        name, values = self.region(region)
        if name != "Yield":
            return name, values
        self._keep(op, values)
        return None

    def For(self, op: Any) -> Any:
        width = n.WIDTHS[_tile_type(op.lowerBound).element.name]  # type: ignore[union-attr]
        kind = "unsigned" if op.unsignedCmp else "signed"
        at, upper, step = (
            n.read(self.scalar(v), kind, width) for v in (op.lowerBound, op.upperBound, op.step)
        )
        carried = [self.values[v] for v in op.initValues]
        while at < upper:
            number = Tile((), _tile_type(op.lowerBound).element, [at % (1 << width)])
            name, values = self.region(op.body, [number, *carried])
            if name != "Continue":
                return name, values
            carried = values
            at += step
        self._keep(op, carried)
        return None

    def Loop(self, op: Any) -> Any:
        carried = [self.values[v] for v in op.initValues]
        while True:
            name, values = self.region(op.body, carried)
            if name == "Break":
                self._keep(op, values)
                return None
            if name == "Return":
                return name, values
            carried = values

    # -- lanes

    def each(self, op: Any, function: Callable[..., Lane], *operands: Any) -> Tile:
        """A function of lanes, which has no value where an operand has none."""
        tiles = [self.values[v] for v in operands]
        type_ = _tile_type(op.results[0])
        lanes = [
            None if any(lane is None for lane in lanes) else function(*lanes)
            for lanes in zip(*(t.lanes for t in tiles), strict=True)
        ]
        return Tile(type_.shape, type_.element, lanes)

    def _integers(
        self, op: Any, function: Callable[..., Lane], *operands: Any, signs: str = "signed"
    ) -> Tile:
        width = n.WIDTHS[_tile_type(operands[0]).element.name]  # type: ignore[union-attr]

        def lane(*bits: int) -> Lane:
            answer = function(*(n.read(b, signs, width) for b in bits))
            return None if answer is None else answer % (1 << width)

        return self.each(op, lane, *operands)

    def _promised(self, op: Any, function: Callable[..., int], *operands: Any) -> Tile:
        width = n.WIDTHS[_tile_type(operands[0]).element.name]  # type: ignore[union-attr]
        promise = str(op.overflow)

        def lane(*bits: int) -> Lane:
            plain = function(*bits)
            with_sign = function(*(n.signed(b, width) for b in bits))
            least = -(1 << (width - 1))
            if promise in ("no_signed_wrap", "no_wrap") and not least <= with_sign < -least:
                return None
            if promise in ("no_unsigned_wrap", "no_wrap") and not 0 <= plain < 1 << width:
                return None
            return plain % (1 << width)

        return self.each(op, lane, *operands)

    def AddI(self, op: Any) -> Tile:
        return self._promised(op, lambda a, b: a + b, op.lhs, op.rhs)

    def SubI(self, op: Any) -> Tile:
        return self._promised(op, lambda a, b: a - b, op.lhs, op.rhs)

    def MulI(self, op: Any) -> Tile:
        return self._promised(op, lambda a, b: a * b, op.lhs, op.rhs)

    def NegI(self, op: Any) -> Tile:
        if str(op.overflow) == "no_wrap":
            raise OutsideScope("open")
        return self._promised(op, lambda a: -a, op.source)

    def AbsI(self, op: Any) -> Tile:
        return self._integers(op, abs, op.source)

    def MaxI(self, op: Any) -> Tile:
        return self._integers(op, max, op.lhs, op.rhs, signs=str(op.signedness))

    def MinI(self, op: Any) -> Tile:
        return self._integers(op, min, op.lhs, op.rhs, signs=str(op.signedness))

    def MulhiI(self, op: Any) -> Tile:
        width = n.WIDTHS[_tile_type(op.x).element.name]  # type: ignore[union-attr]
        return self._integers(op, lambda a, b: a * b >> width, op.x, op.y, signs="unsigned")

    def DivI(self, op: Any) -> Tile:
        width = n.WIDTHS[_tile_type(op.lhs).element.name]  # type: ignore[union-attr]
        kind, mode = str(op.signedness), str(op.rounding)

        def divide(a: int, b: int) -> Lane:
            if b == 0 or (kind == "signed" and a == -(1 << (width - 1)) and b == -1):
                return None
            exact = Fraction(a, b)
            return {"zero": math.trunc, "positive_inf": math.ceil, "negative_inf": math.floor}[mode](exact)

        return self._integers(op, divide, op.lhs, op.rhs, signs=kind)

    def RemI(self, op: Any) -> Tile:
        def remainder(a: int, b: int) -> Lane:
            return None if b == 0 else a - b * math.trunc(Fraction(a, b))

        return self._integers(op, remainder, op.lhs, op.rhs, signs=str(op.signedness))

    def ShLI(self, op: Any) -> Tile:
        width = n.WIDTHS[_tile_type(op.lhs).element.name]  # type: ignore[union-attr]
        if str(op.overflow) != "none":
            raise OutsideScope("a promise of a shift")
        return self._integers(
            op, lambda a, b: None if b >= width else a << b, op.lhs, op.rhs, signs="unsigned"
        )

    def ShRI(self, op: Any) -> Tile:
        width = n.WIDTHS[_tile_type(op.lhs).element.name]  # type: ignore[union-attr]
        kind = str(op.signedness)

        def shift(a: int, b: int) -> Lane:
            return None if b >= width else (n.read(a, kind, width) >> b) % (1 << width)

        return self.each(op, shift, op.lhs, op.rhs)

    def AndI(self, op: Any) -> Tile:
        return self.each(op, lambda a, b: a & b, op.lhs, op.rhs)

    def OrI(self, op: Any) -> Tile:
        return self.each(op, lambda a, b: a | b, op.lhs, op.rhs)

    def XOrI(self, op: Any) -> Tile:
        return self.each(op, lambda a, b: a ^ b, op.lhs, op.rhs)

    RELATIONS = {  # noqa: RUF012
        "equal": lambda a, b: a == b,
        "not_equal": lambda a, b: a != b,
        "less_than": lambda a, b: a < b,
        "less_than_or_equal": lambda a, b: a <= b,
        "greater_than": lambda a, b: a > b,
        "greater_than_or_equal": lambda a, b: a >= b,
    }

    def CmpI(self, op: Any) -> Tile:
        width = n.WIDTHS[_tile_type(op.lhs).element.name]  # type: ignore[union-attr]
        kind, relation = str(op.signedness), self.RELATIONS[str(op.comparison_predicate)]
        return self.each(
            op, lambda a, b: int(relation(n.read(a, kind, width), n.read(b, kind, width))), op.lhs, op.rhs
        )

    def CmpF(self, op: Any) -> Tile:
        fmt = self._format(op.lhs)
        relation, ordered = (
            self.RELATIONS[str(op.comparison_predicate)],
            str(op.comparison_ordering) == "ordered",
        )

        def compare(a: int, b: int) -> int:
            if n.is_nan(a, fmt) or n.is_nan(b, fmt):
                return int(not ordered)
            return int(relation(n.value(a, fmt), n.value(b, fmt)))

        return self.each(op, compare, op.lhs, op.rhs)

    def _format(self, value: Any) -> n.Float:
        return n.FLOATS[_tile_type(value).element.name]  # type: ignore[union-attr]

    def _rounding(self, op: Any, function: Callable[..., int], *operands: Any) -> Tile:
        fmt, mode, ftz = self._format(op.results[0]), str(op.rounding_mode), op.flush_to_zero
        return self.each(op, lambda *lanes: function(*lanes, fmt, mode, ftz), *operands)

    def AddF(self, op: Any) -> Tile:
        return self._rounding(op, n.add, op.lhs, op.rhs)

    def SubF(self, op: Any) -> Tile:
        return self._rounding(
            op, lambda a, b, fmt, *how: n.add(a, n.negate(b, fmt), fmt, *how), op.lhs, op.rhs
        )

    def MulF(self, op: Any) -> Tile:
        return self._rounding(op, n.multiply, op.lhs, op.rhs)

    def DivF(self, op: Any) -> Tile:
        return self._rounding(op, n.divide, op.lhs, op.rhs)

    def Fma(self, op: Any) -> Tile:
        return self._rounding(op, n.fused, op.lhs, op.rhs, op.acc)

    def Sqrt(self, op: Any) -> Tile:
        return self._rounding(op, n.root, op.source)

    def AbsF(self, op: Any) -> Tile:
        fmt = self._format(op.source)
        return self.each(op, lambda a: a & ~fmt.sign, op.source)

    def NegF(self, op: Any) -> Tile:
        fmt = self._format(op.source)
        return self.each(op, lambda a: n.negate(a, fmt), op.source)

    def Ceil(self, op: Any) -> Tile:
        fmt = self._format(op.source)
        return self.each(op, lambda a: n.whole(a, fmt, "up"), op.source)

    def Floor(self, op: Any) -> Tile:
        fmt = self._format(op.source)
        return self.each(op, lambda a: n.whole(a, fmt, "down"), op.source)

    def RemF(self, op: Any) -> Tile:
        fmt = self._format(op.lhs)
        return self.each(op, lambda a, b: n.remainder(a, b, fmt), op.lhs, op.rhs)

    def _extreme(self, op: Any, larger: bool) -> Tile:
        fmt, propagate, ftz = self._format(op.lhs), op.propagate_nan, op.flush_to_zero
        return self.each(
            op, lambda a, b: n.extreme(a, b, fmt, larger=larger, propagate=propagate, ftz=ftz), op.lhs, op.rhs
        )

    def MaxF(self, op: Any) -> Tile:
        return self._extreme(op, larger=True)

    def MinF(self, op: Any) -> Tile:
        return self._extreme(op, larger=False)

    # -- conversions

    def ExtI(self, op: Any) -> Tile:
        source, target = (n.WIDTHS[_tile_type(v).element.name] for v in (op.from_, op.to))  # type: ignore[union-attr]
        return self.each(op, lambda a: n.read(a, str(op.signedness), source) % (1 << target), op.from_)

    def TruncI(self, op: Any) -> Tile:
        source, target = (n.WIDTHS[_tile_type(v).element.name] for v in (op.from_, op.to))  # type: ignore[union-attr]
        promise = str(op.overflow)

        def cut(a: int) -> Lane:
            low = a % (1 << target)
            if promise in ("no_signed_wrap", "no_wrap") and n.signed(low, target) != n.signed(a, source):
                return None
            if promise in ("no_unsigned_wrap", "no_wrap") and low != a:
                return None
            return low

        return self.each(op, cut, op.from_)

    def IToF(self, op: Any) -> Tile:
        source, fmt = n.WIDTHS[_tile_type(op.from_).element.name], self._format(op.to)  # type: ignore[union-attr]
        mode = str(op.rounding_mode)
        return self.each(
            op, lambda a: n.rounded(Fraction(n.read(a, str(op.signedness), source)), fmt, mode), op.from_
        )

    def FToI(self, op: Any) -> Tile:
        fmt, target = self._format(op.from_), n.WIDTHS[_tile_type(op.to).element.name]  # type: ignore[union-attr]
        is_signed = str(op.signedness) == "signed"
        low, high = (-(1 << (target - 1)), (1 << (target - 1)) - 1) if is_signed else (0, (1 << target) - 1)

        def cut(a: int) -> Lane:
            x = n.value(a, fmt)
            if x != x:
                return 0 if op.saturating else None
            number = math.trunc(x) if isinstance(x, Fraction) else (high + 1 if x > 0 else low - 1)
            if not low <= number <= high:
                return max(low, min(high, number)) % (1 << target) if op.saturating else None
            return number % (1 << target)

        return self.each(op, cut, op.from_)

    def FToF(self, op: Any) -> Tile:
        source, target, mode = self._format(op.from_), self._format(op.to), str(op.rounding_mode)
        return self.each(op, lambda a: n.convert(a, source, target, mode), op.from_)

    def Bitcast(self, op: Any) -> Tile:
        return self.each(op, lambda a: a, op.source)

    def _bits(self, value: Any) -> tuple[list[int | None], int]:
        tile, width = self.values[value], n.width(_tile_type(value).element.name)  # type: ignore[union-attr]
        bits: list[int | None] = []
        for lane in tile.lanes:
            bits += [None if lane is None else lane >> i & 1 for i in range(width)]
        return bits, width

    def _regroup(self, op: Any) -> Tile:
        bits, _ = self._bits(op.source)
        type_ = _tile_type(op.result)
        width = n.width(type_.element.name)  # type: ignore[union-attr]
        lanes: list[Lane] = []
        for first in range(0, len(bits), width):
            group = bits[first : first + width]
            known = [b for b in group if b is not None]
            lanes.append(sum(b << i for i, b in enumerate(known)) if len(known) == width else None)
        return Tile(type_.shape, type_.element, lanes)

    Pack = Unpack = _regroup

    # -- shapes

    def Constant(self, op: Any) -> Tile:
        type_ = _tile_type(op.result)
        size = op.value.element_bytes
        data = [
            int.from_bytes(op.value.data[i : i + size], "little") for i in range(0, len(op.value.data), size)
        ]
        data = [bits % (1 << n.width(type_.element.name)) for bits in data]  # type: ignore[union-attr]
        return Tile(type_.shape, type_.element, data * (type_.size // len(data)))

    def Iota(self, op: Any) -> Tile:
        type_ = _tile_type(op.result)
        width = n.WIDTHS[type_.element.name]  # type: ignore[union-attr]
        return Tile(type_.shape, type_.element, [i % (1 << width) for i in range(type_.size)])

    def Reshape(self, op: Any) -> Tile:
        type_ = _tile_type(op.result)
        return Tile(type_.shape, type_.element, list(self.values[op.source].lanes))

    def _built(self, op: Any, lane: Callable[[tuple[int, ...]], Lane]) -> Tile:
        type_ = _tile_type(op.result)
        return Tile(type_.shape, type_.element, [lane(place) for place in places(type_.shape)])

    def Broadcast(self, op: Any) -> Tile:
        source = self.values[op.source]

        def lane(place: tuple[int, ...]) -> Lane:
            at = [0 if extent == 1 else p for p, extent in zip(place, source.shape, strict=True)]
            return source.lanes[flat(at, source.shape)]

        return self._built(op, lane)

    def Permute(self, op: Any) -> Tile:
        source = self.values[op.source]

        def lane(place: tuple[int, ...]) -> Lane:
            at = [0] * len(place)
            for k, dimension in enumerate(op.permutation):
                at[dimension] = place[k]
            return source.lanes[flat(at, source.shape)]

        return self._built(op, lane)

    def Cat(self, op: Any) -> Tile:
        lhs, rhs = self.values[op.lhs], self.values[op.rhs]

        def lane(place: tuple[int, ...]) -> Lane:
            at = list(place)
            if at[op.dim] < lhs.shape[op.dim]:
                return lhs.lanes[flat(at, lhs.shape)]
            at[op.dim] -= lhs.shape[op.dim]
            return rhs.lanes[flat(at, rhs.shape)]

        return self._built(op, lane)

    def _slice(self, op: Any, whole: Sequence[int], part: Sequence[int]) -> list[int] | None:
        numbers = [self.values[v].lanes[0] for v in op.indices]
        if any(i is None for i in numbers):
            return None
        if any(not 0 <= n.signed(i, 32) < w // p for i, w, p in zip(numbers, whole, part, strict=True)):
            return None
        return [i * p for i, p in zip(numbers, part, strict=True)]

    def Extract(self, op: Any) -> Tile:
        source, type_ = self.values[op.source], _tile_type(op.result)
        first = self._slice(op, source.shape, type_.shape)

        def lane(place: tuple[int, ...]) -> Lane:
            if first is None:
                return None
            return source.lanes[flat([f + p for f, p in zip(first, place, strict=True)], source.shape)]

        return self._built(op, lane)

    def Insert(self, op: Any) -> Tile:
        source, destination = self.values[op.source], self.values[op.destination]
        first = self._slice(op, destination.shape, source.shape)

        def lane(place: tuple[int, ...]) -> Lane:
            if first is None:
                return None
            at = [p - f for p, f in zip(place, first, strict=True)]
            if all(0 <= a < extent for a, extent in zip(at, source.shape, strict=True)):
                return source.lanes[flat(at, source.shape)]
            return destination.lanes[flat(place, destination.shape)]

        return self._built(op, lane)

    def Select(self, op: Any) -> Tile:
        tiles = [self.values[v].lanes for v in (op.cond, op.val_if_true, op.val_if_false)]
        type_ = _tile_type(op.result)
        lanes = [None if c is None else a if c else b for c, a, b in zip(*tiles, strict=True)]
        return Tile(type_.shape, type_.element, lanes)

    def GetTileBlockId(self, op: Any) -> tuple[Tile, ...]:
        return tuple(Tile((), _tile_type(v).element, [i]) for v, i in zip(op.results, self.at, strict=True))

    def GetNumTileBlocks(self, op: Any) -> tuple[Tile, ...]:
        return tuple(Tile((), _tile_type(v).element, [i]) for v, i in zip(op.results, self.grid, strict=True))

    def Assume(self, op: Any) -> Any:
        return self.values[op.value]

    # -- folds

    def _lines(self, op: Any) -> Iterator[tuple[tuple[int, ...], list[tuple[Lane, ...]]]]:
        """Each line along ``dim``: the place without that dimension, and what the operands hold there."""
        tiles = [self.values[v] for v in op.operands]
        shape = tiles[0].shape
        rest = shape[: op.dim] + shape[op.dim + 1 :]
        for place in places(rest):
            line = []
            for i in range(shape[op.dim]):
                at = flat((*place[: op.dim], i, *place[op.dim :]), shape)
                line.append(tuple(t.lanes[at] for t in tiles))
            yield place, line

    def _combine(self, op: Any, left: Sequence[Lane], right: Sequence[Lane]) -> tuple[Lane, ...]:
        arguments = []
        for i, (a, b) in enumerate(zip(left, right, strict=True)):
            element = _tile_type(op.operands[i]).element
            arguments += [Tile((), element, [a]), Tile((), element, [b])]
        _, values = self.region(op.body, arguments)
        return tuple(t.lanes[0] for t in values)

    def Reduce(self, op: Any) -> tuple[Tile, ...]:
        found: list[list[Lane]] = [[] for _ in op.results]
        for _, line in self._lines(op):
            total = line[0]
            for item in line[1:]:
                total = self._combine(op, total, item)
            for lanes, lane in zip(found, total, strict=True):
                lanes.append(lane)
        types = [_tile_type(v) for v in op.results]
        return tuple(Tile(t.shape, t.element, lanes) for t, lanes in zip(types, found, strict=True))

    def Scan(self, op: Any) -> tuple[Tile, ...]:
        types = [_tile_type(v) for v in op.results]
        found = [[None] * t.size for t in types]
        for place, line in self._lines(op):
            order = range(len(line))[:: -1 if op.reverse else 1]
            total: tuple[Lane, ...] | None = None
            for i in order:
                total = line[i] if total is None else self._combine(op, total, line[i])
                at = flat((*place[: op.dim], i, *place[op.dim :]), types[0].shape)
                for lanes, lane in zip(found, total, strict=True):
                    lanes[at] = lane
        return tuple(Tile(t.shape, t.element, lanes) for t, lanes in zip(types, found, strict=True))

    # -- products

    def _product(self, op: Any, step: Callable[[int, int, int], int]) -> Tile:
        lhs, rhs, acc = (self.values[v] for v in (op.lhs, op.rhs, op.acc))

        def lane(place: tuple[int, ...]) -> Lane:
            *batch, row, column = place
            total = acc.lanes[flat(place, acc.shape)]
            for k in range(lhs.shape[-1]):
                a = lhs.lanes[flat((*batch, row, k), lhs.shape)]
                b = rhs.lanes[flat((*batch, k, column), rhs.shape)]
                total = None if None in (a, b, total) else step(a, b, total)
            return total

        return self._built(op, lane)

    def MmaI(self, op: Any) -> Tile:
        left, right = str(op.signedness_lhs), str(op.signedness_rhs)
        return self._product(op, lambda a, b, c: (n.read(a, left, 8) * n.read(b, right, 8) + c) % (1 << 32))

    def MmaF(self, op: Any) -> Tile:
        source, fmt = self._format(op.lhs), self._format(op.acc)
        wide = n.FLOATS["f64"]

        def step(a: int, b: int, c: int) -> int:
            if source is fmt:
                return n.fused(a, b, c, fmt)
            # Through a format that holds all three exactly, down to the one rounding.
            a, b, c = (n.convert(x, f, wide, "nearest_even") for x, f in ((a, source), (b, source), (c, fmt)))
            numbers = [n.value(x, wide) for x in (a, b, c)]
            if not all(isinstance(x, Fraction) for x in numbers):
                return n.convert(n.fused(a, b, c, wide), wide, fmt, "nearest_even")
            minus = n.negative(a, wide) != n.negative(b, wide) and n.negative(c, wide)
            return n.rounded(numbers[0] * numbers[1] + numbers[2], fmt, minus=minus)  # type: ignore[arg-type]

        return self._product(op, step)

    # -- memory

    def Offset(self, op: Any) -> Tile:
        element = _tile_type(op.ptr).element
        assert isinstance(element, PointerType)
        width = n.WIDTHS[_tile_type(op.offset).element.name]  # type: ignore[union-attr]
        size = element.pointee.bytes
        return self.each(op, lambda p, o: (p[0], p[1] + n.signed(o, width) * size), op.ptr, op.offset)

    def PtrToPtr(self, op: Any) -> Tile:
        type_ = _tile_type(op.result)
        return Tile(type_.shape, type_.element, list(self.values[op.source].lanes))

    def _load(self, pointer: tuple[int, int], element: Any) -> Lane:
        buffer, at = self.buffers[pointer[0]], pointer[1]
        if at < 0 or at + element.bytes > len(buffer.bytes) or at % element.bytes:
            raise OutsideScope("an access out of range")
        if any(buffer.undefined[at : at + element.bytes]):
            return None
        bits = int.from_bytes(buffer.bytes[at : at + element.bytes], "little")
        if element.name == "i1":
            return int(bits != 0)
        if element.name == "tf32":
            return bits >> 13
        return bits % (1 << n.width(element.name))

    def _store(self, pointer: tuple[int, int], element: Any, lane: Lane) -> None:
        buffer, at = self.buffers[pointer[0]], pointer[1]
        if at < 0 or at + element.bytes > len(buffer.bytes) or at % element.bytes:
            raise OutsideScope("an access out of range")
        for byte in range(element.bytes):
            buffer.undefined[at + byte] = lane is None
        if lane is not None:
            bits = lane << 13 if element.name == "tf32" else lane
            buffer.bytes[at : at + element.bytes] = bits.to_bytes(element.bytes, "little")

    def _masks(self, op: Any, count: int) -> list[int]:
        if op.mask is None:
            return [1] * count
        lanes: list[Any] = self.values[op.mask].lanes
        if None in lanes:
            raise OutsideScope("a mask without a value")
        return lanes

    def LoadPtrTko(self, op: Any) -> tuple[Any, ...]:
        pointers, type_ = self.values[op.source], _tile_type(op.result)
        element = pointers.element.pointee
        padding = None if op.paddingValue is None else self.values[op.paddingValue].lanes
        lanes = []
        for i, (pointer, active) in enumerate(zip(pointers.lanes, self._masks(op, type_.size), strict=True)):
            if not active:
                lanes.append(None if padding is None else padding[i])
            elif pointer is None:
                raise OutsideScope("a pointer without a value")
            else:
                lanes.append(self._load(pointer, element))
        return Tile(type_.shape, type_.element, lanes), None

    def StorePtrTko(self, op: Any) -> None:
        pointers, value = self.values[op.destination], self.values[op.value]
        masks = self._masks(op, len(value.lanes))
        for pointer, lane, active in zip(pointers.lanes, value.lanes, masks, strict=True):
            if active and pointer is None:
                raise OutsideScope("a pointer without a value")
            if active:
                self._store(pointer, pointers.element.pointee, lane)

    def AtomicRMWTko(self, op: Any) -> tuple[Any, ...]:
        pointers, arg = self.values[op.pointers], self.values[op.arg]
        element, type_ = pointers.element.pointee, _tile_type(op.result)
        mode, width = op.mode.name, n.width(element.name)
        combine: Callable[[int, int], int] = {
            "AND": lambda a, b: a & b,
            "OR": lambda a, b: a | b,
            "XOR": lambda a, b: a ^ b,
            "ADD": lambda a, b: (a + b) % (1 << width),
            "ADDF": lambda a, b: n.add(a, b, n.FLOATS[element.name]),
            "MAX": lambda a, b: max(a, b, key=lambda v: n.signed(v, width)),
            "MIN": lambda a, b: min(a, b, key=lambda v: n.signed(v, width)),
            "UMAX": max,
            "UMIN": min,
            "XCHG": lambda _a, b: b,
        }[mode]
        lanes = []
        for pointer, lane, active in zip(pointers.lanes, arg.lanes, self._masks(op, type_.size), strict=True):
            if not active:
                lanes.append(None)
                continue
            old = self._load(pointer, element)
            if old is None or lane is None:
                raise OutsideScope("an atomic operation on no value")
            self._store(pointer, element, combine(old, lane))
            lanes.append(old)
        return Tile(type_.shape, type_.element, lanes), None

    def AtomicCASTko(self, op: Any) -> tuple[Any, ...]:
        pointers, cmp, val = (self.values[v] for v in (op.pointers, op.cmp, op.val))
        element, type_ = pointers.element.pointee, _tile_type(op.result)
        lanes = []
        for pointer, expected, wanted, active in zip(
            pointers.lanes, cmp.lanes, val.lanes, self._masks(op, type_.size), strict=True
        ):
            if not active:
                lanes.append(expected)
                continue
            old = self._load(pointer, element)
            if None in (old, expected, wanted):
                raise OutsideScope("an atomic operation on no value")
            if old == expected:
                self._store(pointer, element, wanted)
            lanes.append(old)
        return Tile(type_.shape, type_.element, lanes), None

    def MakeToken(self, _op: Any) -> None:
        return None

    def JoinTokens(self, _op: Any) -> None:
        return None

    # -- views

    def _unsigned(self, value: Any) -> int:
        return self.scalar(value)

    def MakeTensorView(self, op: Any) -> Tensor:
        type_ = op.result.type
        extents, strides = iter(op.dynamicShape), iter(op.dynamicStrides)
        shape = [self._unsigned(next(extents)) if d is None else d for d in type_.shape]
        steps = [self._unsigned(next(strides)) if d is None else d for d in type_.strides]
        return Tensor(type_, self.scalar(op.base), shape, steps)  # type: ignore[arg-type]

    def MakePartitionView(self, op: Any) -> View:
        return View(op.result.type, self.values[op.tensor_view])

    MakeStridedView = MakeGatherScatterView = MakePartitionView

    def GetTensorShape(self, op: Any) -> tuple[Tile, ...]:
        return self._counts(op, self.values[op.src].shape)

    def _counts(self, op: Any, numbers: Sequence[int]) -> tuple[Tile, ...]:
        types = [_tile_type(v) for v in op.results]
        widths = [n.WIDTHS[t.element.name] for t in types]  # type: ignore[union-attr]
        return tuple(
            Tile((), t.element, [i % (1 << w)]) for t, i, w in zip(types, numbers, widths, strict=True)
        )

    def GetIndexSpaceShape(self, op: Any) -> tuple[Tile, ...]:
        view = self.values[op.src]
        if isinstance(view.type, GatherScatterViewType):
            return self._counts(op, view.tensor.shape)
        steps = view.type.traversal_strides
        extents = [view.tensor.shape[d] for d in view.type.dim_map]
        return self._counts(op, [math.ceil(Fraction(e, s)) for e, s in zip(extents, steps, strict=True)])

    def _lane_pointers(self, view: View, index: Sequence[Any]) -> list[tuple[int, int] | None]:
        """Where each lane of a tile of a view lies; None outside the tensor."""
        type_, tensor = view.type, view.tensor
        numbers = [self.values[v].lanes for v in index]
        if any(None in lanes for lanes in numbers):
            raise OutsideScope("an index without a value")
        size = tensor.type.element.bytes
        found: list[tuple[int, int] | None] = []
        for place in places(type_.tile_shape):
            at, inside = tensor.base[1], True
            for k, p in enumerate(place):
                if isinstance(type_, GatherScatterViewType):
                    dimension = k
                    where = numbers[k][p] if k == type_.sparse_dim else numbers[k][0] + p
                else:
                    dimension = type_.dim_map[k]
                    where = numbers[k][0] * type_.traversal_strides[k] + p
                inside &= where < tensor.shape[dimension]
                at += where * tensor.strides[dimension] * size
            found.append((tensor.base[0], at) if inside else None)
        return found

    def LoadViewTko(self, op: Any) -> tuple[Any, ...]:
        view, type_ = self.values[op.view], _tile_type(op.tile)
        element = view.tensor.type.element
        padding: Lane = None
        if view.type.padding is not None:
            kind, padding = view.type.padding.name, 0
            if element.is_float:
                fmt = n.FLOATS[element.name]
                padding = {
                    "ZERO": lambda: 0,
                    "NEG_ZERO": lambda: fmt.sign,
                    "NAN": lambda: fmt.nan,
                    "POS_INF": lambda: fmt.infinity,
                    "NEG_INF": lambda: None if fmt.infinity is None else fmt.sign | fmt.infinity,
                }[kind]()
                if padding is None:
                    raise OutsideScope("a padding that the format has not")
        pointers = self._lane_pointers(view, op.index)
        lanes = [padding if p is None else self._load(p, element) for p in pointers]
        return Tile(type_.shape, type_.element, lanes), None

    def StoreViewTko(self, op: Any) -> None:
        view, tile = self.values[op.view], self.values[op.tile]
        for pointer, lane in zip(self._lane_pointers(view, op.index), tile.lanes, strict=True):
            if pointer is not None:
                self._store(pointer, view.tensor.type.element, lane)


def run(module: Module, grid: Sequence[int], arguments: Sequence[Any]) -> list[Buffer | None]:
    """Run the only entry of ``module`` block by block.

    ``arguments`` are bytes for pointers and patterns for numbers. Gives the buffers as the kernel leaves them.
    """
    entry = module.entries[0]
    three = (*grid, 1, 1)[:3]
    buffers = [Buffer(a) for a in arguments if isinstance(a, bytes)]
    numbers = iter(range(len(buffers)))
    lanes = [(next(numbers), 0) if isinstance(a, bytes) else a for a in arguments]
    for z, y, x in itertools.product(*(range(extent) for extent in reversed(three))):
        block = Block(buffers, (x, y, z), three, module)
        values = [
            Tile((), _tile_type(p).element, [lane])
            for p, lane in zip(entry.body.arguments, lanes, strict=True)
        ]
        block.region(entry.body, values)
    given = iter(buffers)
    return [next(given) if isinstance(a, bytes) else None for a in arguments]
