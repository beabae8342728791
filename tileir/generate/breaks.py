"""Illegal kernels: a legal form with one of its parts changed.

Changes are blind: they do not know the rules, so some of them leave the kernel legal. What they are for is to
ask two verifiers the same question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from .. import ops as o
from ..attributes import (
    Attribute,
    Bounded,
    DenseElements,
    DivBy,
    FloatAttribute,
    IntegerAttribute,
    SameElements,
)
from ..module import Module, Operation, Region, Value
from ..types import (
    BF16,
    F4E2M1FN,
    F8E4M3FN,
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
    GatherScatterViewType,
    PaddingValue,
    PartitionViewType,
    PointerType,
    StridedViewType,
    TensorViewType,
    TileType,
    Type,
    ViewType,
)
from ..version import DEFAULT, Version
from .forms import BASES, Base, Case
from .maker import WEAK, Maker, scalar, tile

Change = Callable[[Maker, Case], None]


@dataclass(frozen=True, slots=True)
class Break:
    """A base, and what is changed about it before the operation is made."""

    base: Base
    label: str
    change: Change

    def module(self, version: Version | None = None) -> Module:
        """The module with the changed operation, whose results are not used."""
        maker = Maker()
        case = self.base.make(maker)
        self.change(maker, case)
        maker.append(self.base.kind(result_types=case.result_types, **case.parts))
        return maker.finish(max(self.base.since, DEFAULT) if version is None else version)


_TENSOR = TensorViewType(F32, (None, 64), (None, 1))
_OTHERS: tuple[Type, ...] = (
    TOKEN,
    _TENSOR,
    PartitionViewType((4, 8), _TENSOR, (0, 1)),
    GatherScatterViewType((4, 8), _TENSOR, 0),
)
_ELEMENTS = (F32, I32, I1, I8, I16, I64, I4, F16, BF16, F64, TF32, F8E4M3FN, F8E8M0FNU, PointerType(F32))
_BAD_TILES: tuple[Type, ...] = (tile(F32, 3), tile(I32, 1 << 13, 1 << 12), scalar(F4E2M1FN))


def other_types(type_: Type) -> Iterator[Type]:
    """Types that differ from ``type_`` in one respect."""
    match type_:
        case TileType():
            for element in _ELEMENTS:
                if element != type_.element:
                    yield TileType(type_.shape, element)
            shapes = [
                (*type_.shape, 1),
                (*type_.shape, 2),
                type_.shape[:-1],
                tuple(2 * d for d in type_.shape),
                type_.shape[::-1],
            ]
            for shape in dict.fromkeys(shapes):
                if shape != type_.shape:
                    yield TileType(shape, type_.element)
            yield from _OTHERS
        case TensorViewType():
            yield from (
                replace(type_, element=I32 if type_.element is F32 else F32),
                replace(type_, shape=(*type_.shape, 4), strides=(*type_.strides, 1)),
                replace(type_, shape=tuple(8 for _ in type_.shape)),
                replace(type_, strides=tuple(2 for _ in type_.strides)),
            )
            yield from _OTHERS
            yield tile(F32, 4)
        case PartitionViewType() | StridedViewType() | GatherScatterViewType():
            yield from _other_views(type_)
            yield from _OTHERS
            yield tile(F32, 4)
        case _:
            yield from _OTHERS[1:]
            yield scalar(I32)


def _other_views(type_: ViewType) -> Iterator[Type]:
    yield replace(type_, tile_shape=tuple(2 * d for d in type_.tile_shape))
    yield replace(type_, tile_shape=type_.tile_shape[::-1])
    yield replace(type_, padding=PaddingValue.NAN)
    yield replace(type_, padding=PaddingValue.ZERO)


def bad_types() -> Iterator[Type]:
    """Types that no value may have."""
    yield from _BAD_TILES
    yield TensorViewType(F32, (0, 4), (4, 1))
    yield TensorViewType(F32, (4, 4), (-1, 1))
    yield TensorViewType(I4, (4,), (1,))
    for changes in (
        {"tile_shape": (3, 8)},
        {"tile_shape": (4,)},
        {"tile_shape": ()},
        {"tile_shape": (1 << 13, 1 << 12)},
        {"dim_map": (0, 0)},
        {"dim_map": (0, 2)},
        {"dim_map": (0,)},
        {"dim_map": (-1, 0)},
    ):
        yield replace(PartitionViewType((4, 8), _TENSOR, (0, 1)), **changes)
    integers = TensorViewType(I32, (None, 64), (None, 1))
    for padding in PaddingValue:
        yield PartitionViewType((4, 8), integers, (0, 1), padding)
        yield GatherScatterViewType((4, 8), integers, 0, padding)
    for strides in ((0, 1), (-1, 1), (1,), ()):
        yield StridedViewType((4, 8), strides, _TENSOR, (0, 1))
    yield GatherScatterViewType((4, 8), _TENSOR, 2)
    yield GatherScatterViewType((4,), _TENSOR, 0)
    yield GatherScatterViewType((3, 8), _TENSOR, 0)
    yield PartitionViewType((1, 1), TensorViewType(F4E2M1FN, (4, 4), (4, 1)), (0, 1))


def breaks_of(kind: type[Operation], bases: int = 3) -> Iterator[Break]:
    """Changes to the first bases of an operation."""
    for start in BASES.get(kind.opcode, ())[:bases]:
        case = start.make(Maker())
        yield from _operands(start, case)
        yield from _results(start, case)
        yield from _attributes(start, case)
        yield from _regions(start, case)


def _operands(start: Base, case: Case) -> Iterator[Break]:
    for part in start.kind.declaration.operands:
        value = case.parts.get(part.name)
        if part.kind == "variadic":
            yield from _variadic(start, part.name, value or ())
        else:
            if value is None and part.name in case.extras:
                value = case.extras[part.name]()
            if value is None:
                continue
            for type_ in other_types(value.type):
                yield Break(start, f"{part.name}: {type_}", _set_operand(part.name, type_))


def _set_operand(name: str, type_: Type) -> Change:
    def change(maker: Maker, case: Case) -> None:
        case.parts[name] = maker.value(type_)

    return change


def _variadic(start: Base, name: str, values: tuple[Value, ...]) -> Iterator[Break]:
    def drop(maker: Maker, case: Case) -> None:
        case.parts[name] = case.parts.get(name, ())[:-1]

    def add(type_: Type) -> Change:
        def change(maker: Maker, case: Case) -> None:
            case.parts[name] = (*case.parts.get(name, ()), maker.value(type_))

        return change

    if values:
        yield Break(start, f"{name}: one less", drop)
    yield Break(start, f"{name}: one more", add(values[-1].type if values else scalar(I32)))
    for index, value in list(enumerate(values))[:2]:

        def change_at(type_: Type, index: int = index) -> Change:
            def change(maker: Maker, case: Case) -> None:
                changed = list(case.parts[name])
                changed[index] = maker.value(type_)
                case.parts[name] = tuple(changed)

            return change

        for type_ in other_types(value.type):
            yield Break(start, f"{name}[{index}]: {type_}", change_at(type_))


def _set_results(types: list[Type]) -> Change:
    def change(maker: Maker, case: Case) -> None:
        case.result_types = types

    return change


def _results(start: Base, case: Case) -> Iterator[Break]:
    types = list(case.result_types)
    for index, old in enumerate(types):
        others = [*other_types(old), *(bad_types() if index == 0 else ())]
        for type_ in others:
            changed = [*types[:index], type_, *types[index + 1 :]]
            yield Break(start, f"result {index}: {type_}", _set_results(changed))
    if start.kind.declaration.count_results:
        if types:
            yield Break(start, "one result less", _set_results(types[:-1]))
        yield Break(start, "one result more", _set_results([*types, types[-1] if types else scalar(I32)]))


_PREDICATES: tuple[Attribute, ...] = (
    *(DivBy(n) for n in (0, 3, 1, 1 << 63)),
    *(
        DivBy(4, every, along)
        for every, along in ((1, 0), (1, 5), (1, -1), (1000, 0), (-1, 0), (None, 0), (1, None))
    ),
    *(SameElements(v) for v in ((), (1,), (1, 1), (1, 1, 1), (-1, 1), (1000, 1), (0, 0))),
    *(
        Bounded(*b)
        for b in ((1, 0), (None, None), (-128, 127), (-129, 0), (0, 128), (None, 1 << 40), (-(1 << 63), 0))
    ),
)
_STRINGS = ("", "%", "%d", "%d %d %d", "100%%", "%5", "%%%d", "%q", "a%lld %f", "no_such_global")
_IDENTITIES: tuple[tuple[Attribute, ...], ...] = (
    (),
    (IntegerAttribute(I32, 0),),
    (FloatAttribute(F32, 0),),
    (FloatAttribute(F16, 0),),
    (FloatAttribute(BF16, 0),),
    (IntegerAttribute(I1, 0),),
    (FloatAttribute(F32, 0), IntegerAttribute(I32, 0)),
    (FloatAttribute(F32, 0),) * 3,
)
_CHOICES: dict[Any, tuple[Any, ...]] = {
    "int": (0, 1, 2, 3, 4, 7, 64, 1 << 31, 1 << 40),
    "bool": (False, True),
    "str": _STRINGS,
    "array": _IDENTITIES,
    "tagged": _PREDICATES,
    "dense_int32_array": ((), (0,), (1, 0), (0, 0), (0, 2), (-1, 0), (0, 1, 2), (2, 1, 0), (0, 1)),
    "dense_bool_array": ((), (True,), (True, False), (False, False, True)),
    "dense_typed_elements": (
        DenseElements(scalar(F32), b"\1\0\0\0"),
        DenseElements(tile(I32, 4), b"\1\0\0\0"),
        DenseElements(tile(F16, 4, 4), b"\1\0"),
    ),
}


def _set_part(name: str, value: Any) -> Change:
    def change(maker: Maker, case: Case) -> None:
        case.parts[name] = value

    return change


def _attributes(start: Base, case: Case) -> Iterator[Break]:
    for part in start.kind.declaration.attributes:
        if isinstance(part.kind, str):
            for value in _CHOICES.get(part.kind, ()):
                spelled = str(value)[:80]
                yield Break(start, f"{part.name}: {spelled}", _set_part(part.name, value))
        else:
            for value in part.kind:
                yield Break(start, f"{part.name}: {value}", _set_part(part.name, value))
    for flag in start.kind.declaration.flags:
        yield Break(start, f"{flag.name}: true", _set_part(flag.name, True))


# Regions. A change gets the region in the case, which the maker made anew.

Edit = Callable[[Maker, Region], None]


def _regions(start: Base, case: Case) -> Iterator[Break]:
    for name in start.kind.declaration.regions:
        if not isinstance(case.parts.get(name), Region):
            continue

        def edit(edit_: Edit, name: str = name) -> Change:
            return lambda maker, case: edit_(maker, case.parts[name])

        for label, edit_ in _EDITS:
            yield Break(start, f"{name}: {label}", edit(edit_))
        for index, value in enumerate(case.parts[name].arguments[:3]):
            for type_ in other_types(value.type):
                change = edit(_retype(index, type_))
                yield Break(start, f"{name} argument {index}: {type_}", change)


def _retype(index: int, type_: Type) -> Edit:
    """Change an argument's type. What uses it goes, or rules of other operations would break too."""

    def edit(maker: Maker, region: Region) -> None:
        region.arguments[index].type = type_

    return edit


def _drop_end(maker: Maker, region: Region) -> None:
    del region.operations[-1]


def _empty(maker: Maker, region: Region) -> None:
    region.operations.clear()


def _more_arguments(maker: Maker, region: Region) -> None:
    region.arguments = (*region.arguments, Value(scalar(I32), region, len(region.arguments)))


def _end_with(kind: type[Operation], keep: bool) -> Edit:
    def edit(maker: Maker, region: Region) -> None:
        last = region.operations[-1]
        operands = last.__dict__.get("operands", ()) if keep else ()
        region.operations[-1] = kind(operands=operands)

    return edit


def _end_twice(maker: Maker, region: Region) -> None:
    last = region.operations[-1]
    region.operations.append(type(last)(operands=last.__dict__.get("operands", ())))


def _yield_less(maker: Maker, region: Region) -> None:
    last = region.operations[-1]
    last.__dict__["operands"] = last.__dict__["operands"][:-1]


def _yield_more(maker: Maker, region: Region) -> None:
    last = region.operations[-1]
    given = last.__dict__["operands"]
    last.__dict__["operands"] = (*given, given[-1] if given else maker.value(scalar(I32)))


def _insert(
    kind: type[Operation], result_types: tuple[Type, ...], values: dict[str, Type], **parts: Any
) -> Edit:
    def edit(maker: Maker, region: Region) -> None:
        operands: dict[str, Any] = {name: maker.value(type_) for name, type_ in values.items()}
        region.operations.insert(0, kind(result_types=result_types, **operands, **parts))

    return edit


def _store(maker: Maker, region: Region) -> None:
    pointers, value = maker.value(scalar(PointerType(F32))), maker.value(scalar(F32))
    parts: dict[str, Any] = {"memory_ordering_semantics": WEAK, "destination": pointers, "value": value}
    region.operations.insert(0, o.memory.StorePtrTko(result_types=[TOKEN], **parts))


_EDITS: tuple[tuple[str, Edit], ...] = (
    ("no end", _drop_end),
    ("empty", _empty),
    ("one argument more", _more_arguments),
    *(
        (f"ends with {kind.__name__.lower()}{'' if keep else ' of nothing'}", _end_with(kind, keep))
        for kind in (o.control.Yield, o.control.Break, o.control.Continue, o.control.Return)
        for keep in (True, False)
    ),
    ("ends twice", _end_twice),
    ("gives one less", _yield_less),
    ("gives one more", _yield_more),
    ("stores", _store),
    ("prints", _insert(o.debugging.PrintTko, (TOKEN,), {}, str="", args=())),
    ("asserts", _insert(o.debugging.Assert, (), {"condition": scalar(I1)}, message="")),
    ("makes a token", _insert(o.memory.MakeToken, (TOKEN,), {})),
    ("asks for the block", _insert(o.core.GetTileBlockId, (scalar(I32),) * 3, {})),
    ("assumes", _insert(o.debugging.Assume, (scalar(I32),), {"value": scalar(I32)}, predicate=DivBy(4))),
    ("makes a tile", _insert(o.core.Iota, (tile(I32, 16),), {})),
    (
        "allocates",
        _insert(o.memory.Alloca, (scalar(PointerType(F32)),), {}, num_elem=4, alignment=4),
    ),
)
