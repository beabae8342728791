"""Random kernels that the verifier has nothing against, with arguments, out of a seed.

Blocks share no memory that is written, and what is written twice is ordered by tokens, so that the order of
blocks and lanes never shows. Values that may lack one ("tainted") decide nothing: no branch, no address.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from typing import Any

from tileir import ops as o
from tileir.attributes import (
    AtomicRMWMode,
    ComparisonOrdering,
    ComparisonPredicate,
    DenseElements,
    FloatAttribute,
    IntegerAttribute,
    IntegerOverflow,
    MemoryOrderingSemantics,
    MemoryScope,
    RoundingMode,
    Signedness,
)
from tileir.generate import Maker
from tileir.module import Module, Value
from tileir.types import (
    BF16,
    F8E4M3FN,
    F8E5M2,
    F16,
    F32,
    F64,
    I1,
    I4,
    I8,
    I16,
    I32,
    I64,
    TF32,
    TOKEN,
    GatherScatterViewType,
    NumberType,
    PaddingValue,
    PartitionViewType,
    PointerType,
    StridedViewType,
    TensorViewType,
    TileType,
    Type,
)

from . import numbers as n

INTEGERS = (I1, I8, I16, I32, I64)
FLOATS = (F16, BF16, F32, F64)
NARROW = (F8E4M3FN, F8E5M2, TF32)
SHAPES: tuple[tuple[int, ...], ...] = (
    *((), (), (1,), (2,), (4,), (8,), (2, 4), (4, 2), (2, 2), (1, 8), (2, 2, 2), (4, 1, 2), (8, 4)),
)
IEEE = (RoundingMode.NEAREST_EVEN, RoundingMode.ZERO, RoundingMode.NEGATIVE_INF, RoundingMode.POSITIVE_INF)
WEAK = MemoryOrderingSemantics.WEAK


@dataclass
class Argument:
    """One argument: the bytes of an array, or the pattern of a number."""

    element: NumberType
    data: bytes | None = None
    bits: int = 0


@dataclass
class Program:
    """A kernel and what it is launched with."""

    seed: int
    module: Module
    grid: tuple[int, ...]
    arguments: list[Argument] = field(default_factory=list)


class Programs:
    """Makes the program of one seed; ``program`` is it."""

    def __init__(self, seed: int, length: int = 14) -> None:
        self.rng = random.Random(seed)
        self.maker = Maker()
        self.arguments: list[Argument] = []
        self.scopes: list[list[Value]] = [[]]
        self.tainted: set[Value] = set()
        self.pure = False
        self.loops = 0
        self.grid = self.rng.choice([(1,), (3,), (5,), (2, 3), (2, 1, 2)])
        self.blocks = prod(self.grid)
        self.block = self._block_number()
        for _ in range(length):
            self.statement()
        for value in self._some_values():
            self.store(value)
        module = self.maker.finish()
        self.program = Program(seed, module, self.grid, self.arguments)

    # -- values

    def op(self, kind: Any, types: Sequence[Type], *, taints: bool = False, **parts: Any) -> Any:
        """Append an operation and remember its results."""
        results = self.maker.op(kind, types, **parts)
        operation = self.maker._region.operations[-1]
        tainted = taints or any(v in self.tainted for v in operation.uses)
        for value in operation.results:
            if isinstance(value.type, TileType):
                self.scopes[-1].append(value)
            if tainted:
                self.tainted.add(value)
        return results

    def quiet(self, kind: Any, type_: Type, **parts: Any) -> Any:
        """Append an operation whose result nobody else uses."""
        return self.maker.op(kind, [type_], **parts)

    def bits(self, element: NumberType) -> int:
        """A pattern: an interesting one more often than chance would have it."""
        rng, width = self.rng, n.width(element.name)
        if rng.random() < 0.35:
            return rng.getrandbits(width)
        if element.is_integer:
            top = 1 << (width - 1)
            return rng.choice([0, 1, 2, 3, -1, -2, top, top - 1, top + 1, rng.randrange(64)]) % (1 << width)
        fmt = n.FLOATS[element.name]
        specials = [0, 1, 1 << fmt.fraction, (1 << fmt.fraction) - 1, fmt.largest]
        specials += [b for b in (fmt.infinity, fmt.nan) if b is not None]
        if rng.random() < 0.4:
            return rng.choice(specials) | rng.choice([0, fmt.sign])
        number = rng.randrange(-40, 40)
        return n.convert(
            n.rounded(n.Fraction(number, rng.choice([1, 2, 3, 8])), n.FLOATS["f64"]),
            n.FLOATS["f64"],
            fmt,
            "nearest_even",
        )

    def array(self, element: NumberType, count: int) -> bytes:
        """Elements as they lie in memory."""
        shift = 13 if element is TF32 else 0
        return b"".join((self.bits(element) << shift).to_bytes(element.bytes, "little") for _ in range(count))

    def constant(self, type_: TileType, bits: Sequence[int] | None = None) -> Value:
        """A constant tile."""
        element = type_.element
        assert isinstance(element, NumberType)
        if bits is None:
            splat = self.rng.random() < 0.3
            bits = [self.bits(element) for _ in range(1 if splat else type_.size)]
        data = b"".join(b.to_bytes(element.bytes, "little") for b in bits)
        value: Value = self.quiet(o.core.Constant, type_, value=DenseElements(type_, data))
        self.scopes[-1].append(value)
        return value

    def pointers(self, element: NumberType, shape: tuple[int, ...], count: int, data: bytes) -> Value:
        """Pointers to ``count`` elements of an array for each block, the first of them to a tile of ``shape``."""
        self.arguments.append(Argument(element, data))
        pointer = PointerType(element)
        base = self.maker.parameter(TileType((), pointer))
        return self.spread(self.of_block(base, count), shape)

    def of_block(self, base: Value, count: int) -> Value:
        """A pointer advanced by ``count`` elements a block."""
        scalar = TileType((), I32)
        none = IntegerOverflow.NONE
        each = self.quiet(o.core.Constant, scalar, value=DenseElements(scalar, count.to_bytes(4, "little")))
        first = self.quiet(o.integer.MulI, scalar, lhs=self.block, rhs=each, overflow=none)
        return self.quiet(o.memory.Offset, base.type, ptr=base, offset=first)  # type: ignore[no-any-return]

    def spread(self, pointer: Value, shape: tuple[int, ...]) -> Value:
        """Pointers to neighbours, from a pointer to the first of them."""
        assert isinstance(pointer.type, TileType)
        element = pointer.type.element
        if shape:
            pointer = self.quiet(o.core.Reshape, TileType((1,) * len(shape), element), source=pointer)
            pointer = self.quiet(o.core.Broadcast, TileType(shape, element), source=pointer)
            number = self.rng.choice([I32, I64])
            lane = self.quiet(o.core.Iota, TileType((prod(shape),), number))
            lane = self.quiet(o.core.Reshape, TileType(shape, number), source=lane)
            pointer = self.quiet(o.memory.Offset, TileType(shape, element), ptr=pointer, offset=lane)
        return pointer

    def load(self, type_: TileType, *, clean: bool = False) -> Value:
        """A tile that each block has of its own, from memory; with a mask at times."""
        element = type_.element
        assert isinstance(element, NumberType)
        stored = self.pointers(
            element, type_.shape, type_.size, self.array(element, self.blocks * type_.size)
        )
        mask = padding = None
        if not clean and self.rng.random() < 0.25:
            mask = self.get(TileType(type_.shape, I1), clean=True)
            if self.rng.random() < 0.6:
                padding = self.get(type_)
        taints = mask is not None and padding is None
        found = self.op(
            o.memory.LoadPtrTko,
            [type_, TOKEN],
            taints=taints,
            memory_ordering_semantics=WEAK,
            source=stored,
            mask=mask,
            paddingValue=padding,
        )
        return found[0]  # type: ignore[no-any-return]

    def get(self, type_: TileType, *, clean: bool = False) -> Value:
        """A value of a type: one that is there, or a new one."""
        there = [v for scope in self.scopes for v in scope if v.type == type_]
        if clean:
            there = [v for v in there if v not in self.tainted]
        if there and self.rng.random() < 0.8:
            return self.rng.choice(there)
        if type_.element is I4:
            wide = self.get(TileType(type_.shape, I8), clean=clean)
            return self.op(o.conversion.TruncI, [type_], from_=wide, overflow=IntegerOverflow.NONE)  # type: ignore[no-any-return]
        if self.pure or self.rng.random() < 0.25:
            return self.constant(type_)
        return self.load(type_, clean=clean)

    def _some_values(self) -> Iterator[Value]:
        values = [
            v
            for v in self.scopes[0]
            if isinstance(v.type, TileType) and isinstance(v.type.element, NumberType)
        ]
        yield from (v for v in values if v.type.element is not I4 and self.rng.random() < 0.7)

    def _block_number(self) -> Value:
        scalar, none = TileType((), I32), IntegerOverflow.NONE
        x, y, z = self.maker.op(o.core.GetTileBlockId, [scalar] * 3)
        wide, high, _ = self.maker.op(o.core.GetNumTileBlocks, [scalar] * 3)
        rows = self.quiet(o.integer.MulI, scalar, lhs=z, rhs=high, overflow=none)
        rows = self.quiet(o.integer.AddI, scalar, lhs=rows, rhs=y, overflow=none)
        number = self.quiet(o.integer.MulI, scalar, lhs=rows, rhs=wide, overflow=none)
        number = self.quiet(o.integer.AddI, scalar, lhs=number, rhs=x, overflow=none)
        self.scopes[0] += [x, y, z, wide, number]
        return number  # type: ignore[no-any-return]

    def store(self, value: Value) -> None:
        """A tile to where this block alone writes."""
        type_ = value.type
        assert isinstance(type_, TileType)
        element = type_.element
        assert isinstance(element, NumberType)
        count = self.blocks * type_.size
        where = self.pointers(element, type_.shape, type_.size, self.array(element, count))
        mask = self.get(TileType(type_.shape, I1), clean=True) if self.rng.random() < 0.2 else None
        token = self.maker.op(
            o.memory.StorePtrTko,
            [TOKEN],
            memory_ordering_semantics=WEAK,
            destination=where,
            value=value,
            mask=mask,
        )
        if self.rng.random() < 0.3 and not self.loops:
            self.op(
                o.memory.LoadPtrTko,
                [type_, TOKEN],
                taints=True,
                memory_ordering_semantics=WEAK,
                source=where,
                token=token,
            )

    # -- statements

    def statement(self) -> None:
        """Something, by chance."""
        kinds: list[tuple[int, Callable[[], None]]] = [
            (20, self.integer),
            (20, self.floating),
            (14, self.conversion),
            (12, self.shape),
            (8, self.fold),
        ]
        if not self.pure:
            kinds += [(4, self.product), (6, self.view)]
            if len(self.scopes) < 4:
                kinds += [(6, self.branch), (4, self.counted), (4, self.endless)]
            if not self.loops and len(self.scopes) == 1:
                kinds += [(4, self.atomic), (4, self.view_store)]
            elif not self.loops:
                kinds += [(3, self.store_some)]
        elif len(self.scopes) < 5:
            kinds += [(5, self.branch)]
        weights = [weight for weight, _ in kinds]
        self.rng.choices([f for _, f in kinds], weights)[0]()

    def store_some(self) -> None:
        """Store a value inside a branch."""
        self.store(self.get(TileType(self.any_shape(), self.rng.choice((*INTEGERS, *FLOATS)))))

    def any_shape(self) -> tuple[int, ...]:
        """The shape of a tile; in the body of a fold there are scalars only."""
        return () if self.pure else self.rng.choice(SHAPES)

    def integer(self) -> None:
        """Integer arithmetic."""
        i, rng = o.integer, self.rng
        type_ = TileType(self.any_shape(), rng.choice(INTEGERS))
        kinds: list[Any] = [i.AddI, i.SubI, i.MulI, i.MulhiI, i.AbsI, i.NegI, i.MaxI, i.MinI, i.DivI, i.RemI]
        kinds += [i.ShLI, i.ShRI, o.bitwise.AndI, o.bitwise.OrI, o.bitwise.XOrI, i.CmpI]
        kind = rng.choice(kinds)
        parts: dict[str, Any] = {p.name: self.get(type_) for p in kind.declaration.operands}
        names = {p.name for p in kind.declaration.attributes}
        taints = False
        if "signedness" in names:
            parts["signedness"] = rng.choice([Signedness.SIGNED, Signedness.UNSIGNED])
        if "overflow" in names:
            parts["overflow"] = IntegerOverflow.NONE
            if kind not in (i.ShLI, i.NegI) and rng.random() < 0.3:
                parts["overflow"], taints = rng.choice(list(IntegerOverflow)), True
        if "rounding" in names:
            modes = [RoundingMode.ZERO, RoundingMode.POSITIVE_INF]
            if parts["signedness"] is Signedness.SIGNED:
                modes.append(RoundingMode.NEGATIVE_INF)
            parts["rounding"] = rng.choice(modes)
        if kind in (i.DivI, i.RemI):
            if rng.random() < 0.5:
                one = self.constant(type_, [1])
                parts["rhs"] = self.op(o.bitwise.OrI, [type_], lhs=parts["rhs"], rhs=one)
            taints = True
        if kind in (i.ShLI, i.ShRI):
            if rng.random() < 0.8:
                most = self.constant(type_, [n.width(type_.element.name) - 1])  # type: ignore[union-attr]
                parts["rhs"] = self.op(o.bitwise.AndI, [type_], lhs=parts["rhs"], rhs=most)
            taints = True
        result = type_
        if kind is i.CmpI:
            parts["comparison_predicate"] = rng.choice(list(ComparisonPredicate))
            result = TileType(type_.shape, I1)
        self.op(kind, [result], taints=taints, **parts)

    def floating(self) -> None:
        """Float arithmetic."""
        f, rng = o.floating, self.rng
        type_ = TileType(self.any_shape(), rng.choice(FLOATS))
        kinds: list[Any] = [f.AddF, f.SubF, f.MulF, f.DivF, f.Fma, f.Sqrt, f.AbsF, f.NegF, f.Ceil, f.Floor]
        kinds += [f.MaxF, f.MinF, f.RemF, f.CmpF, f.AddF, f.MulF, f.Fma]
        kind = rng.choice(kinds)
        parts: dict[str, Any] = {p.name: self.get(type_) for p in kind.declaration.operands}
        if any(p.name == "rounding_mode" for p in kind.declaration.attributes):
            parts["rounding_mode"] = rng.choice(IEEE)
        for flag in kind.declaration.flags:
            allowed = flag.name != "flush_to_zero" or type_.element is F32
            parts[flag.name] = allowed and rng.random() < 0.4
        result = type_
        if kind is f.CmpF:
            parts["comparison_predicate"] = rng.choice(list(ComparisonPredicate))
            parts["comparison_ordering"] = rng.choice(list(ComparisonOrdering))
            result = TileType(type_.shape, I1)
        self.op(kind, [result], **parts)

    def conversion(self) -> None:
        """To another format."""
        c, rng = o.conversion, self.rng
        shape = self.any_shape()
        kind = rng.choice([c.ExtI, c.TruncI, c.IToF, c.FToI, c.FToF, c.FToF, c.Bitcast, c.Pack, c.Unpack])
        sign = rng.choice([Signedness.SIGNED, Signedness.UNSIGNED])
        if kind in (c.ExtI, c.TruncI):
            one, other = sorted(rng.sample((*INTEGERS, I4), 2), key=lambda t: t.width)
            wide, narrow = TileType(shape, other), TileType(shape, one)
            if kind is c.ExtI:
                self.op(kind, [wide], from_=self.get(narrow), signedness=sign)
            else:
                promise = rng.choice(list(IntegerOverflow))
                self.op(
                    kind,
                    [narrow],
                    taints=promise is not IntegerOverflow.NONE,
                    from_=self.get(wide),
                    overflow=promise,
                )
        elif kind is c.IToF:
            source = self.get(TileType(shape, rng.choice(INTEGERS)))
            self.op(kind, [TileType(shape, rng.choice((*FLOATS, *NARROW)))], from_=source, signedness=sign)
        elif kind is c.FToI:
            source, saturating = self.get(TileType(shape, rng.choice((*FLOATS, *NARROW)))), rng.random() < 0.6
            type_ = TileType(shape, rng.choice(INTEGERS))
            self.op(
                kind, [type_], taints=not saturating, from_=source, signedness=sign, saturating=saturating
            )
        elif kind is c.FToF:
            from tileir.verify.conversion import conversion_modes

            one, other = rng.sample((*FLOATS, *NARROW), 2)
            mode = rng.choice(conversion_modes(one, other))
            self.op(kind, [TileType(shape, other)], from_=self.get(TileType(shape, one)), rounding_mode=mode)
        elif kind is c.Bitcast:
            group = rng.choice([(I8, F8E4M3FN, F8E5M2), (I16, F16, BF16), (I32, F32), (I64, F64)])
            one, other = rng.sample(group, 2)
            self.op(kind, [TileType(shape, other)], source=self.get(TileType(shape, one)))
        elif not self.pure:
            element = rng.choice((F32, F16, I16, I32, I64, F64, BF16))
            count = rng.choice([2, 4, 8])
            there, packed = TileType((count,), element), TileType((count * element.width // 8,), I8)
            if kind is c.Pack:
                self.op(kind, [packed], source=self.get(there))
            else:
                self.op(kind, [there], source=self.get(packed))

    def shape(self) -> None:
        """The same lanes elsewhere."""
        c, rng = o.core, self.rng
        element = rng.choice((*INTEGERS, *FLOATS))
        shape = self.any_shape()
        kind = rng.choice([c.Reshape, c.Broadcast, c.Permute, c.Cat, c.Extract, c.Insert, c.Select, c.Iota])
        type_ = TileType(shape, element)
        if kind is c.Select or self.pure:
            cond = self.get(TileType(shape, I1))
            self.op(c.Select, [type_], cond=cond, val_if_true=self.get(type_), val_if_false=self.get(type_))
        elif kind is c.Reshape:
            same = [s for s in SHAPES if prod(s) == prod(shape)]
            self.op(kind, [TileType(rng.choice(same), element)], source=self.get(type_))
        elif kind is c.Broadcast and shape:
            narrow = tuple(1 if rng.random() < 0.5 else extent for extent in shape)
            self.op(kind, [type_], source=self.get(TileType(narrow, element)))
        elif kind is c.Permute and len(shape) > 1:
            if rng.random() < 0.5:
                shape = (2, 4, 1) if rng.random() < 0.5 else (2, 4, 8)
                type_ = TileType(shape, element)
            order = rng.sample(range(len(shape)), len(shape))
            self.op(
                kind,
                [TileType(tuple(shape[d] for d in order), element)],
                source=self.get(type_),
                permutation=tuple(order),
            )
        elif kind is c.Cat and shape:
            dim = rng.randrange(len(shape))
            joined = tuple(extent * 2 if k == dim else extent for k, extent in enumerate(shape))
            self.op(kind, [TileType(joined, element)], lhs=self.get(type_), rhs=self.get(type_), dim=dim)
        elif kind in (c.Extract, c.Insert) and shape:
            part = tuple(rng.choice([e for e in (1, 2, 4, 8) if e <= extent]) for extent in shape)
            indices = tuple(
                self.constant(TileType((), I32), [rng.randrange(extent // p)])
                if rng.random() < 0.8
                else self.get(TileType((), I32))
                for extent, p in zip(shape, part, strict=True)
            )
            if kind is c.Extract:
                self.op(kind, [TileType(part, element)], taints=True, source=self.get(type_), indices=indices)
            else:
                source = self.get(TileType(part, element))
                self.op(
                    kind, [type_], taints=True, source=source, destination=self.get(type_), indices=indices
                )
        else:
            self.op(c.Iota, [TileType((rng.choice([2, 4, 8]),), rng.choice((I8, I16, I32, I64)))])

    # -- regions

    @contextmanager
    def region(self, *types: Type) -> Iterator[Any]:
        """A region, whose values are seen inside it alone."""
        self.scopes.append([])
        with self.maker.region(*types) as made:
            self.scopes[-1] += [v for v in made.arguments if isinstance(v.type, TileType)]
            yield made
        self.scopes.pop()

    def few(self, most: int = 4) -> None:
        """Some statements."""
        for _ in range(self.rng.randrange(most)):
            self.statement()

    def carried(self) -> list[TileType]:
        """Types of what a region gives or carries."""
        elements = (*INTEGERS, *FLOATS)
        return [TileType(self.any_shape(), self.rng.choice(elements)) for _ in range(self.rng.randrange(3))]

    def condition(self) -> Value:
        """A scalar that decides something."""
        return self.get(TileType((), I1), clean=not self.pure)

    def branch(self) -> None:
        """An ``if``."""
        if self.pure:
            there = [
                v for s in self.scopes for v in s if v.type == TileType((), I1) and v not in self.tainted
            ]
            if not there:
                return
            condition = self.rng.choice(there)
        else:
            condition = self.condition()
        types = self.carried()
        regions = []
        for _ in range(2):
            with self.region() as made:
                self.few()
                counted = any(kind == "for" for kind, _ in self.inside)
                if not self.pure and not counted and self.rng.random() < 0.06:
                    self.maker.op(o.control.Return, operands=())
                elif self.loops and self.rng.random() < 0.15:
                    self.leave()
                else:
                    self.maker.op(o.control.Yield, operands=tuple(self.get(t) for t in types))
            regions.append(made)
        if not types and self.rng.random() < 0.3:
            regions[1] = None
        self.op(
            o.control.If,
            types,
            taints=True,
            condition=condition,
            thenRegion=regions[0],
            elseRegion=regions[1],
        )

    loop_types: list[list[TileType]]

    def leave(self) -> None:
        """Go on with the innermost loop, or leave it if it can be left."""
        kind, types = self.inside[-1]
        if kind == "loop" and self.rng.random() < 0.5:
            self.maker.op(o.control.Break, operands=tuple(self.get(t) for t in types[1:]))
        elif kind == "loop":
            self.maker.op(o.control.Continue, operands=(self.following(), *(self.get(t) for t in types[1:])))
        else:
            self.maker.op(o.control.Continue, operands=tuple(self.get(t) for t in types))

    @property
    def inside(self) -> list[tuple[str, list[TileType]]]:
        """The loops around, and what they carry."""
        if not hasattr(self, "_inside"):
            self._inside: list[tuple[str, list[TileType]]] = []
            self._counters: list[Value] = []
        return self._inside

    def following(self) -> Value:
        """The innermost loop's counter, one on."""
        scalar = TileType((), I32)
        one = self.quiet(o.core.Constant, scalar, value=DenseElements(scalar, (1).to_bytes(4, "little")))
        none = IntegerOverflow.NONE
        return self.quiet(o.integer.AddI, scalar, lhs=self._counters[-1], rhs=one, overflow=none)  # type: ignore[no-any-return]

    def _small(self, element: NumberType, most: int) -> Value:
        """A number below a power of two that blocks may have of their own."""
        type_ = TileType((), element)
        return self.op(
            o.bitwise.AndI, [type_], lhs=self.get(type_, clean=True), rhs=self.constant(type_, [most])
        )  # type: ignore[no-any-return]

    def counted(self) -> None:
        """A ``for``."""
        rng = self.rng
        element = rng.choice((I8, I16, I32, I64))
        type_, top = TileType((), element), 1 << (n.width(element.name) - 1)
        is_unsigned = rng.random() < 0.4
        if rng.random() < 0.7:
            lower, upper = self._small(element, 3), self._small(element, 7)
        else:
            # Up to the greatest number, or from below to above the greatest signed one.
            ends = top - 1 if not is_unsigned else rng.choice([2 * top - 1, top + rng.randrange(4)])
            lower, upper = self.constant(type_, [ends - rng.randrange(8)]), self.constant(type_, [ends])
        step = self.constant(type_, [rng.randrange(1, 4)])
        types = self.carried()
        start = [self.get(t) for t in types]
        with self.region(type_, *types) as body:
            self.tainted.update(body.arguments[1:])
            self.loops += 1
            self.inside.append(("for", types))
            self.few()
            self.maker.op(o.control.Continue, operands=tuple(self.get(t) for t in types))
            self.inside.pop()
            self.loops -= 1
        self.op(
            o.control.For,
            types,
            taints=True,
            lowerBound=lower,
            upperBound=upper,
            step=step,
            initValues=tuple(start),
            unsignedCmp=is_unsigned,
            body=body,
        )

    def endless(self) -> None:
        """A ``loop`` that a counter ends."""
        scalar = TileType((), I32)
        limit = self._small(I32, 7)
        types = self.carried()
        start = [self.constant(scalar, [0]), *(self.get(t) for t in types)]
        with self.region(scalar, *types) as body:
            self.tainted.update(body.arguments[1:])
            self.loops += 1
            self.inside.append(("loop", [scalar, *types]))
            self._counters.append(body.arguments[0])
            done = self.quiet(
                o.integer.CmpI,
                TileType((), I1),
                lhs=body.arguments[0],
                rhs=limit,
                comparison_predicate=ComparisonPredicate.GREATER_THAN_OR_EQUAL,
                signedness=Signedness.SIGNED,
            )
            with self.region() as then:
                self.maker.op(o.control.Break, operands=tuple(self.get(t) for t in types))
            with self.region() as otherwise:
                self.maker.op(o.control.Yield, operands=())
            self.maker.op(o.control.If, condition=done, thenRegion=then, elseRegion=otherwise)
            self.few()
            self.maker.op(o.control.Continue, operands=(self.following(), *(self.get(t) for t in types)))
            self._counters.pop()
            self.inside.pop()
            self.loops -= 1
        self.op(o.control.Loop, types, taints=True, initValues=tuple(start), body=body)

    def fold(self) -> None:
        """A reduction or a scan."""
        if self.pure:
            return
        rng = self.rng
        shape = rng.choice([s for s in (*SHAPES, (16,), (4, 8)) if s])
        dim = rng.randrange(len(shape))
        is_scan = rng.random() < 0.5
        elements = [rng.choice((*INTEGERS, *FLOATS)) for _ in range(1 if is_scan else rng.randrange(1, 4))]
        operands = tuple(self.get(TileType(shape, e)) for e in elements)
        identities = tuple(
            FloatAttribute(e, self.bits(e)) if e.is_float else IntegerAttribute(e, self.bits(e))
            for e in elements
        )
        arguments = [TileType((), e) for e in elements for _ in range(2)]
        outer, loops = self.scopes, self.loops
        captured = [v for scope in outer for v in scope if isinstance(v.type, TileType) and not v.type.shape]
        single = len(elements) == 1 and rng.random() < 0.5
        # Without captured values at times, as most bodies are.
        self.scopes = (
            [[v for v in captured if isinstance(v.type.element, NumberType)]] if rng.random() < 0.4 else [[]]
        )  # type: ignore[union-attr]
        self.pure, self.loops = True, 0
        with self.region(*arguments) as body:
            if single:
                given: list[Value] = [self._one_operation(body.arguments, elements[0])]
            else:
                self.tainted.update(body.arguments if any(v in self.tainted for v in operands) else ())
                for _ in range(rng.randrange(1, 4)):
                    self.statement()
                given = [self._latest(TileType((), e), body.arguments[2 * i]) for i, e in enumerate(elements)]
            self.maker.op(o.control.Yield, operands=tuple(given))
        self.pure, self.loops, self.scopes = False, loops, outer
        dims = shape[:dim] + shape[dim + 1 :]
        results = [TileType(shape if is_scan else dims, e) for e in elements]
        parts: dict[str, Any] = {"reverse": rng.random() < 0.5} if is_scan else {}
        kind = o.reduction.Scan if is_scan else o.reduction.Reduce
        self.op(
            kind, results, taints=True, operands=operands, dim=dim, identities=identities, body=body, **parts
        )

    def _latest(self, type_: TileType, otherwise: Value) -> Value:
        there = [v for v in self.scopes[-1] if v.type == type_]
        return self.rng.choice(there[-3:]) if there else otherwise

    def _one_operation(self, sides: Sequence[Value], element: NumberType) -> Value:
        rng = self.rng
        type_, (lhs, rhs) = TileType((), element), sides
        if rng.random() < 0.2:
            lhs, rhs = rhs, lhs
        parts: dict[str, Any] = {}
        if element.is_float:
            kind: Any = rng.choice([o.floating.AddF, o.floating.MulF, o.floating.MaxF, o.floating.MinF])
            if kind in (o.floating.AddF, o.floating.MulF):
                parts["rounding_mode"] = rng.choice([RoundingMode.NEAREST_EVEN, *IEEE])
            for flag in kind.declaration.flags:
                parts[flag.name] = (flag.name == "propagate_nan" or element is F32) and rng.random() < 0.3
        else:
            i, b = o.integer, o.bitwise
            kind = rng.choice([i.AddI, i.MulI, i.MaxI, i.MinI, b.AndI, b.OrI, b.XOrI])
            if kind in (i.MaxI, i.MinI):
                parts["signedness"] = rng.choice([Signedness.SIGNED, Signedness.UNSIGNED])
            if kind in (i.AddI, i.MulI):
                parts["overflow"] = rng.choice([IntegerOverflow.NONE, IntegerOverflow.NONE, *IntegerOverflow])
        return self.maker.op(kind, [type_], lhs=lhs, rhs=rhs, **parts)  # type: ignore[no-any-return]

    # -- products and memory

    def product(self) -> None:
        """A matrix product."""
        rng = self.rng
        batch = (2,) if rng.random() < 0.3 else ()
        m, k, c = (rng.choice([1, 2, 4]) for _ in range(3))
        if rng.random() < 0.4:
            a, b, acc = (
                TileType((*batch, m, k), I8),
                TileType((*batch, k, c), I8),
                TileType((*batch, m, c), I32),
            )
            signs = [rng.choice([Signedness.SIGNED, Signedness.UNSIGNED]) for _ in range(2)]
            self.op(
                o.matrix.MmaI,
                [acc],
                lhs=self.get(a),
                rhs=self.get(b),
                acc=self.get(acc),
                signedness_lhs=signs[0],
                signedness_rhs=signs[1],
            )
            return
        pairs = [(F16, F16), (F16, F32), (BF16, F32), (F32, F32), (F64, F64), (TF32, F32)]
        pairs += [(F8E4M3FN, F16), (F8E4M3FN, F32), (F8E5M2, F16), (F8E5M2, F32)]
        factor, total = rng.choice(pairs)
        a, b = TileType((*batch, m, k), factor), TileType((*batch, k, c), factor)
        acc = TileType((*batch, m, c), total)
        self.op(o.matrix.MmaF, [acc], lhs=self.get(a), rhs=self.get(b), acc=self.get(acc))

    def _tensor(self, element: NumberType, rank: int) -> tuple[Value, tuple[int, ...], int]:
        """A tensor that each block has of its own, its extents, and how many elements it takes."""
        rng = self.rng
        extents = tuple(rng.randrange(1, 7) for _ in range(rank))
        order = rng.sample(range(rank), rank)
        strides, reach = [0] * rank, rng.choice([1, 1, 2])
        for d in order:
            strides[d] = reach
            reach *= extents[d] + rng.choice([0, 0, 1])
        size = 1 + sum((e - 1) * s for e, s in zip(extents, strides, strict=True))
        size += rng.randrange(3)
        self.arguments.append(Argument(element, self.array(element, self.blocks * size)))
        base = self.of_block(self.maker.parameter(TileType((), PointerType(element))), size)
        number = rng.choice([I32, I64, I8])
        dynamic: list[list[Value]] = [[], []]

        def shown(numbers: Sequence[int], kept: list[Value]) -> tuple[int | None, ...]:
            spelled: list[int | None] = []
            for number_ in numbers:
                static = rng.random() < 0.5
                spelled.append(number_ if static else None)
                if not static:
                    kept.append(self.constant(TileType((), number), [number_]))
            return tuple(spelled)

        type_ = TensorViewType(element, shown(extents, dynamic[0]), shown(strides, dynamic[1]))
        tensor = self.quiet(
            o.view.MakeTensorView,
            type_,
            base=base,
            dynamicShape=tuple(dynamic[0]),
            dynamicStrides=tuple(dynamic[1]),
        )
        return tensor, extents, size

    def _view(self, element: NumberType) -> tuple[Value, tuple[Value, ...], tuple[int, ...]]:
        """A view, an index into it, and its tile's shape."""
        rng = self.rng
        rank = rng.randrange(1, 4)
        tensor, extents, _ = self._tensor(element, rank)
        tile = tuple(rng.choice([1, 2, 4]) for _ in range(rank))
        padding = rng.choice([None, PaddingValue.ZERO])
        if element.is_float:
            padding = rng.choice([None, *PaddingValue])
        if n.FLOATS.get(element.name, n.FLOATS["f32"]).infinity is None and padding not in (
            None,
            PaddingValue.ZERO,
        ):
            padding = PaddingValue.NAN
        number = TileType((), rng.choice([I32, I64, I16, I8]))
        kind = rng.randrange(3)
        type_: Any
        if kind == 2:
            sparse = rng.randrange(rank)
            type_ = GatherScatterViewType(tile, tensor.type, sparse, padding)  # type: ignore[arg-type]
            rows = TileType((tile[sparse],), number.element)
            first = rng.randrange(4)
            index = tuple(
                self.constant(rows, rng.sample(range(first, first + 8), tile[d]))
                if d == sparse
                else self.constant(number, [rng.randrange(extents[d] + 1)])
                for d in range(rank)
            )
            made = o.view.MakeGatherScatterView
        else:
            dims = tuple(rng.sample(range(rank), rank))
            steps = tile if kind == 0 else tuple(rng.choice([1, 2, 3, 4, 8]) for _ in tile)
            if kind == 0:
                type_ = PartitionViewType(tile, tensor.type, dims, padding)  # type: ignore[arg-type]
            else:
                type_ = StridedViewType(tile, steps, tensor.type, dims, padding)  # type: ignore[arg-type]
            index = tuple(
                self.constant(number, [rng.randrange(extents[d] // s + 2)])
                for d, s in zip(dims, steps, strict=True)
            )
            made = o.view.MakePartitionView if kind == 0 else o.view.MakeStridedView
        view = self.quiet(made, type_, tensor_view=tensor)
        if rng.random() < 0.3:
            self.op(o.view.GetIndexSpaceShape, [number] * rank, src=view)
        if rng.random() < 0.2:
            self.op(o.view.GetTensorShape, [number] * rank, src=tensor)
        return view, index, tile

    def view(self) -> None:
        """A load through a view."""
        element = self.rng.choice((*INTEGERS, *FLOATS, *NARROW))
        view, index, tile = self._view(element)
        self.op(
            o.view.LoadViewTko,
            [TileType(tile, element), TOKEN],
            taints=view.type.padding is None,  # type: ignore[union-attr]
            memory_ordering_semantics=WEAK,
            view=view,
            index=index,
        )

    def view_store(self) -> None:
        """A store through a view, and what is there afterwards."""
        element = self.rng.choice((*INTEGERS, *FLOATS))
        view, index, tile = self._view(element)
        type_ = TileType(tile, element)
        token = self.maker.op(
            o.view.StoreViewTko,
            [TOKEN],
            memory_ordering_semantics=WEAK,
            tile=self.get(type_),
            view=view,
            index=index,
        )
        if self.rng.random() < 0.5:
            self.op(
                o.view.LoadViewTko,
                [type_, TOKEN],
                taints=True,
                memory_ordering_semantics=WEAK,
                view=view,
                index=index,
                token=token,
            )

    def atomic(self) -> None:
        """An atomic operation, of lanes that meet."""
        rng, modes = self.rng, AtomicRMWMode
        element = rng.choice((I32, I64, F32, F64, F16, BF16))
        shape = self.any_shape()
        type_ = TileType(shape, element)
        size = type_.size
        base = self.pointers(element, (), size, self.array(element, self.blocks * size))
        where = self.spread(base, shape)
        if shape and rng.random() < 0.5:
            # Several lanes on one element.
            at = self.constant(TileType(shape, I32), [rng.randrange(max(1, size // 2)) for _ in range(size)])
            wide = self.quiet(o.core.Reshape, TileType((1,) * len(shape), PointerType(element)), source=base)
            wide = self.quiet(o.core.Broadcast, TileType(shape, PointerType(element)), source=wide)
            where = self.quiet(o.memory.Offset, wide.type, ptr=wide, offset=at)
        mask = self.get(TileType(shape, I1), clean=True) if rng.random() < 0.4 else None
        parts: dict[str, Any] = {
            "memory_ordering_semantics": MemoryOrderingSemantics.RELAXED,
            "memory_scope": MemoryScope.DEVICE,
            "pointers": where,
            "mask": mask,
        }
        if rng.random() < 0.3 and element in (I32, I64, F32, F64):
            cmp, val = self.get(type_, clean=True), self.get(type_, clean=True)
            self.op(o.atomic.AtomicCASTko, [type_, TOKEN], cmp=cmp, val=val, **parts)
            return
        if element in (F16, BF16):
            mode = modes.ADDF
        elif element.is_float:
            mode = rng.choice([modes.ADDF, modes.XCHG])
        else:
            mode = rng.choice([m for m in modes if m is not modes.ADDF])
        arg = self.get(type_, clean=True)
        self.op(o.atomic.AtomicRMWTko, [type_, TOKEN], taints=mask is not None, mode=mode, arg=arg, **parts)
