"""Forms of the operations that work element by element, and of the conversions."""

from __future__ import annotations

from .. import ops as o
from ..attributes import (
    ComparisonOrdering,
    ComparisonPredicate,
    IntegerOverflow,
    RoundingMode,
    Signedness,
)
from ..module import Operation
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
    NumberType,
    PointerType,
    TileType,
    first_version,
)
from ..version import Version
from .forms import Case, base
from .maker import Maker

FLOATS = (F32, F16, BF16, F64)
INTEGERS = (I32, I1, I8, I16, I64)
ALL_FLOATS = (F16, BF16, F32, TF32, F64, F8E4M3FN, F8E5M2, F8E8M0FNU, F4E2M1FN)
SHAPES: tuple[tuple[int, ...], ...] = ((16,), (), (2, 8))

_NEEDED: dict[str, object] = {
    "signedness": Signedness.SIGNED,
    "comparison_predicate": ComparisonPredicate.LESS_THAN,
    "comparison_ordering": ComparisonOrdering.ORDERED,
}


def _same(kind: type[Operation], elements: tuple[NumberType, ...], result: NumberType | None = None) -> None:
    """Operands of one type, and a result of it (or of ``result``)."""
    declaration = kind.declaration
    names = [p.name for p in declaration.operands]
    needed = {p.name: _NEEDED[p.name] for p in declaration.attributes if not p.has_default}

    def add(type_: TileType) -> None:
        def make(maker: Maker) -> Case:
            parts = {name: maker.value(type_) for name in names}
            return Case([TileType(type_.shape, result or type_.element)], {**parts, **needed})

        base(kind, str(type_), make, type_)

    for shape in SHAPES:
        add(TileType(shape, elements[0]))
    for element in elements[1:]:
        add(TileType(SHAPES[0], element))


_FLOATING: tuple[type[Operation], ...] = (
    *(o.floating.AbsF, o.floating.AddF, o.floating.Ceil, o.floating.Cos, o.floating.CosH, o.floating.DivF),
    *(o.floating.Exp, o.floating.Exp2, o.floating.Floor, o.floating.Fma, o.floating.Log, o.floating.Log2),
    *(o.floating.MaxF, o.floating.MinF, o.floating.MulF, o.floating.NegF, o.floating.FPowF, o.floating.RemF),
    *(o.floating.Rsqrt, o.floating.Sin, o.floating.SinH, o.floating.Sqrt, o.floating.SubF, o.floating.Tan),
    *(o.floating.TanH, o.floating.Atan2),
)
_INTEGER: tuple[type[Operation], ...] = (
    *(o.integer.AbsI, o.integer.AddI, o.integer.DivI, o.integer.MaxI, o.integer.MinI, o.integer.MulhiI),
    *(o.integer.MulI, o.integer.NegI, o.integer.RemI, o.integer.ShLI, o.integer.ShRI, o.integer.SubI),
    *(o.bitwise.AndI, o.bitwise.OrI, o.bitwise.XOrI),
)
for _kind in _FLOATING:
    _same(_kind, FLOATS)
for _kind in _INTEGER:
    _same(_kind, INTEGERS)
_same(o.floating.CmpF, FLOATS, I1)
_same(o.integer.CmpI, INTEGERS, I1)


def _fpowi(type_: TileType, exponent: TileType) -> None:
    def make(maker: Maker) -> Case:
        return Case([type_], {"source": maker.value(type_), "exponent": maker.value(exponent)})

    base(o.floating.FPowI, f"{type_} {exponent}", make, type_)


for _float in FLOATS:
    for _integer in (I32, I8, I16, I64) if _float is F32 else (I32,):
        _fpowi(TileType((16,), _float), TileType((16,), _integer))


def _convert(
    kind: type[Operation],
    from_: NumberType | PointerType,
    to: NumberType | PointerType,
    shape: tuple[int, ...] = (16,),
    *,
    since: Version | None = None,
    **attributes: object,
) -> None:
    """A conversion with its only operand, whatever it is called."""
    name = kind.declaration.operands[0].name
    source, result = TileType(shape, from_), TileType(shape, to)

    def make(maker: Maker) -> Case:
        return Case([result], {name: maker.value(source), **attributes})

    versions = [first_version(source), first_version(result), *([since] if since else [])]
    base(kind, f"{source} -> {result}", make, since=max(versions))


_WIDTHS = (I4, I8, I16, I32, I64)
for _low, _narrow in enumerate((I1, *_WIDTHS)):
    for _wide in (I1, *_WIDTHS)[_low + 1 :]:
        _convert(o.conversion.ExtI, _narrow, _wide, signedness=Signedness.SIGNED)
        _convert(o.conversion.TruncI, _wide, _narrow, overflow=IntegerOverflow.NONE)
for _from in ALL_FLOATS:
    for _to in ALL_FLOATS:
        if _from is not _to:
            _mode = RoundingMode.ZERO if _to is F8E8M0FNU else RoundingMode.NEAREST_EVEN
            _convert(o.conversion.FToF, _from, _to, rounding_mode=_mode)
    for _integer in INTEGERS:
        _convert(o.conversion.FToI, _from, _integer, signedness=Signedness.SIGNED)
        if _from is not F8E8M0FNU:
            _convert(o.conversion.IToF, _integer, _from, signedness=Signedness.SIGNED)
for _group in (
    (I8, F8E4M3FN, F8E5M2, F8E8M0FNU),
    (I16, F16, BF16),
    (I32, F32),
    (I64, F64),
):
    for _from in _group:
        for _to in _group:
            if _from is not _to:
                _convert(o.conversion.Bitcast, _from, _to)
for _shape in SHAPES:
    _convert(o.conversion.IntToPtr, I64, PointerType(F32), _shape)
    _convert(o.conversion.PtrToInt, PointerType(F32), I64, _shape)
    _convert(o.conversion.PtrToPtr, PointerType(F32), PointerType(I8), _shape)


def _repack(kind: type[Operation], source: TileType, result: TileType) -> None:
    def make(maker: Maker) -> Case:
        return Case([result], {"source": maker.value(source)})

    base(kind, f"{source} -> {result}", make, source, result)


for _element in (F32, I4, F4E2M1FN, F16, BF16, F64, TF32, I1, I16, I32, I64):
    _unpacked = TileType((16,), _element)
    _packed = TileType((16 * _element.width // 8,), I8)
    _repack(o.conversion.Pack, _unpacked, _packed)
    _repack(o.conversion.Unpack, _packed, _unpacked)
