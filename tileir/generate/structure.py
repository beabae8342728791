"""Forms of the operations that make tiles, reshape them, and fold them."""

from __future__ import annotations

from collections.abc import Callable

from .. import ops as o
from ..attributes import (
    Attribute,
    Bounded,
    ComparisonOrdering,
    ComparisonPredicate,
    DenseElements,
    DivBy,
    FloatAttribute,
    IntegerAttribute,
    IntegerOverflow,
    SameElements,
    Signedness,
)
from ..module import Operation, Value
from ..types import (
    BF16,
    F4E2M1FN,
    F8E4M3FN,
    F8E5M2,
    F8E8M0FNU,
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
    NumberType,
    PointerType,
    TensorViewType,
    TileType,
    Type,
)
from .forms import Case, base
from .maker import Maker, scalar, tile

ELEMENTS = (F32, I1, I8, I16, I32, I64, F16, BF16, TF32, F64, F8E4M3FN, F8E5M2, F8E8M0FNU, F4E2M1FN)
EVERY = (*ELEMENTS, I4, PointerType(F32))


def _of(kind: type[Operation], label: str, sources: dict[str, Type], result: Type, **more: object) -> None:
    def make(maker: Maker) -> Case:
        return Case([result], {**{n: maker.value(t) for n, t in sources.items()}, **more})

    base(kind, label, make, result, *sources.values())


for _e in EVERY:
    _of(o.core.Broadcast, f"{_e}", {"source": tile(_e, 1, 8)}, tile(_e, 4, 8))
    _of(o.core.Reshape, f"{_e}", {"source": tile(_e, 4, 8)}, tile(_e, 2, 16))
    _of(o.core.Permute, f"{_e}", {"source": tile(_e, 2, 8)}, tile(_e, 8, 2), permutation=(1, 0))
    _of(o.core.Cat, f"{_e}", {"lhs": tile(_e, 4, 8), "rhs": tile(_e, 4, 8)}, tile(_e, 8, 8), dim=0)
    if _e is not F4E2M1FN:
        _of(
            o.core.Select,
            f"{_e}",
            {"cond": tile(I1, 8), "val_if_true": tile(_e, 8), "val_if_false": tile(_e, 8)},
            tile(_e, 8),
        )
_of(o.core.Broadcast, "nothing", {"source": tile(F32, 4)}, tile(F32, 4))
_of(o.core.Broadcast, "rank 3", {"source": tile(F32, 1, 4, 1)}, tile(F32, 2, 4, 8))
_of(o.core.Reshape, "to scalar", {"source": tile(F32, 1, 1)}, scalar(F32))
_of(o.core.Reshape, "of scalar", {"source": scalar(F32)}, tile(F32, 1))
_of(o.core.Permute, "rank 3", {"source": tile(F32, 2, 4, 8)}, tile(F32, 8, 2, 4), permutation=(2, 0, 1))
_of(o.core.Cat, "last", {"lhs": tile(F32, 4, 8), "rhs": tile(F32, 4, 8)}, tile(F32, 4, 16), dim=1)
for _e in (I32, I8, I16, I64):
    _of(o.core.Iota, f"{_e}", {}, tile(_e, 16))


def _grid(kind: type[Operation]) -> None:
    base(kind, "", lambda maker: Case([scalar(I32)] * 3, {}))


_grid(o.core.GetNumTileBlocks)
_grid(o.core.GetTileBlockId)


def _extract(element: NumberType | PointerType) -> None:
    def extract(maker: Maker) -> Case:
        indices = (maker.value(scalar(I32)), maker.value(scalar(I32)))
        return Case([tile(element, 2, 4)], {"source": maker.value(tile(element, 8, 8)), "indices": indices})

    def insert(maker: Maker) -> Case:
        indices = (maker.value(scalar(I32)), maker.value(scalar(I32)))
        source, destination = maker.value(tile(element, 2, 4)), maker.value(tile(element, 8, 8))
        parts = {"source": source, "destination": destination, "indices": indices}
        return Case([tile(element, 8, 8)], parts)

    base(o.core.Extract, f"{element}", extract, tile(element, 2))
    base(o.core.Insert, f"{element}", insert, tile(element, 2))


for _e in EVERY:
    _extract(_e)


def _constant(type_: TileType, label: str, data: bytes) -> None:
    base(
        o.core.Constant,
        f"{type_} {label}",
        lambda maker: Case([type_], {"value": DenseElements(type_, data)}),
        type_,
    )


for _e in ELEMENTS:
    _shape = (2,) if _e is F4E2M1FN else ()
    _constant(TileType(_shape, _e), "one", b"\x01" + b"\x00" * (_e.bytes - 1))
    _constant(tile(_e, 4, 4), "splat", b"\x01" + b"\x00" * (_e.bytes - 1))
    _dense = b"".join(((i * 5 + 1) % (2 if _e is I1 else 16)).to_bytes(_e.bytes, "little") for i in range(16))
    _constant(tile(_e, 4, 4), "dense", _dense)
_constant(tile(I1, 2), "dense", b"\x01\x00")


def _assume(type_: Type, predicate: Attribute) -> None:
    _of(o.debugging.Assume, f"{type_} {predicate}", {"value": type_}, type_, predicate=predicate)


_VIEW = TensorViewType(F32, (None, 64), (64, 1))
for _predicate in (
    DivBy(16),
    DivBy(4, 4, 0),
    SameElements((4, 2)),
    Bounded(0, 100),
    Bounded(-5),
    Bounded(None, 7),
):
    _assume(tile(I32, 8, 4), _predicate)
_assume(tile(I8, 8), Bounded())
for _predicate in (DivBy(16), DivBy(8, 2, 0), SameElements((2,))):
    _assume(tile(PointerType(F32), 8), _predicate)
_assume(_VIEW, DivBy(16))
_assume(scalar(I64), DivBy(1 << 62))


def _assert(shape: tuple[int, ...]) -> None:
    base(
        o.debugging.Assert,
        f"{shape}",
        lambda maker: Case([], {"condition": maker.value(TileType(shape, I1)), "message": "no"}),
    )


_assert((4,))
_assert(())


def _print(text: str, *types: TileType) -> None:
    def make(maker: Maker) -> Case:
        parts = {"str": text, "args": tuple(maker.value(t) for t in types)}
        return Case([TOKEN], parts, {"token": lambda: maker.value(TOKEN)})

    base(o.debugging.PrintTko, repr(text), make, *types)


_print("hello\n")
_print("%d %f 100%%\n", scalar(I32), tile(F32, 4))

Combine = Callable[[Maker, Value, Value], Value]


def _addf(maker: Maker, left: Value, right: Value) -> Value:
    value: Value = maker.op(o.floating.AddF, [left.type], lhs=left, rhs=right)
    return value


def _maxf(maker: Maker, left: Value, right: Value) -> Value:
    value: Value = maker.op(o.floating.MaxF, [left.type], lhs=left, rhs=right)
    return value


def _addi(maker: Maker, left: Value, right: Value) -> Value:
    value: Value = maker.op(o.integer.AddI, [left.type], lhs=left, rhs=right, overflow=IntegerOverflow.NONE)
    return value


def _andi(maker: Maker, left: Value, right: Value) -> Value:
    value: Value = maker.op(o.bitwise.AndI, [left.type], lhs=left, rhs=right)
    return value


def _maxi(maker: Maker, left: Value, right: Value) -> Value:
    parts = {"lhs": left, "rhs": right, "signedness": Signedness.SIGNED}
    value: Value = maker.op(o.integer.MaxI, [left.type], **parts)
    return value


def _fold(element: NumberType, combine: Combine, identity: int, dim: int = 1) -> None:
    kind = FloatAttribute if element.is_float else IntegerAttribute
    shape = (4, 8)

    def body(maker: Maker) -> Case:
        source = maker.value(TileType(shape, element))
        with maker.region(scalar(element), scalar(element)) as region:
            result = combine(maker, *region.arguments)
            maker.op(o.control.Yield, operands=(result,))
        parts = {"operands": (source,), "dim": dim, "identities": (kind(element, identity),), "body": region}
        return Case([TileType(shape[:dim] + shape[dim + 1 :], element)], parts)

    def scan(maker: Maker) -> Case:
        case = body(maker)
        return Case([TileType(shape, element)], {**case.parts, "reverse": False})

    label = f"{element} {combine.__name__[1:]} dim={dim}"
    base(o.reduction.Reduce, label, body)
    base(o.reduction.Scan, label, scan)


_fold(F32, _addf, 0)
_fold(F32, _addf, 0, 0)
_fold(F32, _maxf, 0xFF800000)
_fold(F16, _addf, 0)
_fold(BF16, _addf, 0)
_fold(F64, _addf, 0)
_fold(I8, _addi, 0)
_fold(I16, _addi, 0)
_fold(I32, _addi, 0)
_fold(I32, _maxi, 0x80000000)
_fold(I64, _addi, 0)
_fold(I1, _andi, 1)


def _fold_two(maker: Maker) -> Case:
    """The largest value, and where it is."""
    values, places = maker.value(tile(F32, 4, 8)), maker.value(tile(I32, 4, 8))
    with maker.region(scalar(F32), scalar(F32), scalar(I32), scalar(I32)) as region:
        a, b, i, j = region.arguments
        greater = maker.op(
            o.floating.CmpF,
            [scalar(I1)],
            lhs=a,
            rhs=b,
            comparison_predicate=ComparisonPredicate.GREATER_THAN,
            comparison_ordering=ComparisonOrdering.ORDERED,
        )
        chosen = [
            maker.op(o.core.Select, [x.type], cond=greater, val_if_true=x, val_if_false=y)
            for x, y in ((a, b), (i, j))
        ]
        maker.op(o.control.Yield, operands=tuple(chosen))
    identities = (FloatAttribute(F32, 0xFF800000), IntegerAttribute(I32, 0))
    parts = {"operands": (values, places), "dim": 1, "identities": identities, "body": region}
    return Case([tile(F32, 4), tile(I32, 4)], parts)


base(o.reduction.Reduce, "two", _fold_two)
