"""Forms of control flow and of matrix products."""

from __future__ import annotations

from collections.abc import Callable

from .. import ops as o
from ..attributes import ComparisonPredicate, IntegerOverflow, Signedness
from ..module import Value
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
    I8,
    I16,
    I32,
    I64,
    TF32,
    TOKEN,
    NumberType,
    PointerType,
    TileType,
    Type,
)
from .forms import Case, base
from .maker import Maker, scalar, tile


def _more(maker: Maker, value: Value) -> Value:
    """Something else of the same type, made from ``value``."""
    type_ = value.type
    if not isinstance(type_, TileType) or not isinstance(type_.element, NumberType):
        return value
    kind = o.floating.AddF if type_.element.is_float else o.integer.AddI
    result: Value = maker.op(kind, [type_], lhs=value, rhs=value)
    return result


CARRIED: dict[str, tuple[Type, ...]] = {
    "nothing": (),
    "one": (tile(F32, 16),),
    "two": (tile(F32, 16), scalar(I32)),
    "pointers": (tile(PointerType(F32), 16),),
    "token": (TOKEN,),
}


def _for(label: str, types: tuple[Type, ...], index: NumberType) -> None:
    def make(maker: Maker) -> Case:
        bounds = {n: maker.value(scalar(index)) for n in ("lowerBound", "upperBound", "step")}
        initial = tuple(maker.value(t) for t in types)
        with maker.region(scalar(index), *types) as body:
            maker.op(o.control.Continue, operands=tuple(_more(maker, v) for v in body.arguments[1:]))
        return Case(types, {**bounds, "initValues": initial, "body": body})

    base(o.control.For, f"{label} {index}", make)


for _label, _types in CARRIED.items():
    _for(_label, _types, I32)
for _index in (I64, I16, I8):
    _for("one", CARRIED["one"], _index)


def _loop(label: str, types: tuple[Type, ...]) -> None:
    def make(maker: Maker) -> Case:
        initial = tuple(maker.value(t) for t in types)
        counter = maker.value(scalar(I32))
        with maker.region(scalar(I32), *types) as body:
            count, *carried = body.arguments
            done = maker.op(
                o.integer.CmpI,
                [scalar(I1)],
                lhs=count,
                rhs=counter,
                comparison_predicate=ComparisonPredicate.GREATER_THAN,
                signedness=Signedness.SIGNED,
            )
            with maker.region() as then:
                maker.op(o.control.Break, operands=tuple(carried))
            with maker.region() as otherwise:
                maker.op(o.control.Yield, operands=())
            maker.op(o.control.If, condition=done, thenRegion=then, elseRegion=otherwise)
            following = [
                maker.op(o.integer.AddI, [scalar(I32)], lhs=count, rhs=count, overflow=IntegerOverflow.NONE),
                *(_more(maker, v) for v in carried),
            ]
            maker.op(o.control.Continue, operands=tuple(following))
        return Case(types, {"initValues": (counter, *initial), "body": body})

    base(o.control.Loop, label, make)


for _label, _types in CARRIED.items():
    _loop(_label, _types)


def _if(label: str, types: tuple[Type, ...]) -> None:
    def make(maker: Maker) -> Case:
        condition = maker.value(scalar(I1))
        values = tuple(maker.value(t) for t in types)
        regions = []
        for change in (True, False):
            with maker.region() as region:
                given = tuple(_more(maker, v) if change else v for v in values)
                maker.op(o.control.Yield, operands=given)
            regions.append(region)
        return Case(types, {"condition": condition, "thenRegion": regions[0], "elseRegion": regions[1]})

    base(o.control.If, label, make)


for _label, _types in CARRIED.items():
    _if(_label, _types)


# The terminators, each inside what it ends.


def _in_if(maker: Maker, end: Callable[[], None]) -> Case:
    with maker.region() as then:
        end()
    with maker.region() as otherwise:
        maker.op(o.control.Yield, operands=())
    parts = {"condition": maker.value(scalar(I1)), "thenRegion": then, "elseRegion": otherwise}
    return Case([], parts)


base(o.control.If, "return", lambda maker: _in_if(maker, lambda: maker.op(o.control.Return, operands=())))


def _matrix(lhs: NumberType, acc: NumberType, shape: tuple[int, ...] = ()) -> None:
    m, n, k = 16, 8, 32
    a, b, c = TileType((*shape, m, k), lhs), TileType((*shape, k, n), lhs), TileType((*shape, m, n), acc)

    def make(maker: Maker) -> Case:
        return Case([c], {"lhs": maker.value(a), "rhs": maker.value(b), "acc": maker.value(c)})

    base(o.matrix.MmaF, f"{a} {c}", make, a)


for _lhs, _acc in (
    *((F16, F32), (F16, F16), (BF16, F32), (TF32, F32), (F32, F32), (F64, F64)),
    *((F8E4M3FN, F32), (F8E4M3FN, F16), (F8E5M2, F32), (F8E5M2, F16)),
):
    _matrix(_lhs, _acc)
_matrix(F16, F32, (2,))


def _integer_matrix(shape: tuple[int, ...]) -> None:
    a, b, c = TileType((*shape, 16, 32), I8), TileType((*shape, 32, 8), I8), TileType((*shape, 16, 8), I32)

    def make(maker: Maker) -> Case:
        parts = {
            "lhs": maker.value(a),
            "rhs": maker.value(b),
            "acc": maker.value(c),
            "signedness_lhs": Signedness.SIGNED,
            "signedness_rhs": Signedness.SIGNED,
        }
        return Case([c], parts)

    base(o.matrix.MmaI, f"{a}", make)


_integer_matrix(())
_integer_matrix((2,))


def _scaled(element: NumberType, scale: NumberType, block: int, shape: tuple[int, ...] = ()) -> None:
    m, n, k = 128, 64, 128
    types = {
        "lhs": TileType((*shape, m, k), element),
        "rhs": TileType((*shape, k, n), element),
        "acc": TileType((*shape, m, n), F32),
        "lhs_scale": TileType((*shape, m, k // block), scale),
        "rhs_scale": TileType((*shape, k // block, n), scale),
    }

    def make(maker: Maker) -> Case:
        return Case([types["acc"]], {name: maker.value(t) for name, t in types.items()})

    base(o.matrix.MmaFScaled, f"{types['lhs']} {scale} {block}", make, *types.values())


for _element in (F8E4M3FN, F8E5M2):
    _scaled(_element, F8E8M0FNU, 32)
_scaled(F4E2M1FN, F8E8M0FNU, 32)
_scaled(F4E2M1FN, F8E8M0FNU, 16)
_scaled(F4E2M1FN, F8E4M3FN, 16)
_scaled(F8E4M3FN, F8E8M0FNU, 32, (2,))
