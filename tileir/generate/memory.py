"""Forms of the operations on memory: through pointers, through views, atomic, and across devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import ops as o
from ..attributes import (
    AtomicRMWMode,
    DenseElements,
    MemoryOrderingSemantics,
    MemoryScope,
    MultimemReductionKind,
)
from ..module import Global, Operation, Value
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
    Element,
    GatherScatterViewType,
    NumberType,
    PaddingValue,
    PartitionViewType,
    PointerAttribute,
    PointerType,
    StridedViewType,
    TensorViewType,
    TileType,
    Type,
    ViewType,
    first_version,
)
from ..version import V13_3, V13_5
from .forms import PRESENT, Case, base
from .maker import WEAK, Maker, scalar, tile

NUMBERS = (F32, I1, I8, I16, I32, I64, F16, BF16, TF32, F64, F8E4M3FN, F8E5M2, F8E8M0FNU, F4E2M1FN)
RELAXED, ACQUIRE, RELEASE = (
    MemoryOrderingSemantics.RELAXED,
    MemoryOrderingSemantics.ACQUIRE,
    MemoryOrderingSemantics.RELEASE,
)
DEVICE = MemoryScope.DEVICE


def _token(maker: Maker) -> Callable[[], Value]:
    return lambda: maker.value(TOKEN)


def _load(element: NumberType, shape: tuple[int, ...], **more: Any) -> None:
    type_ = TileType(shape, element)
    pointers = TileType(shape, PointerType(element))

    def make(maker: Maker) -> Case:
        mask = maker.value(TileType(shape, I1))
        extras: dict[str, Callable[[], Any]] = {"mask": lambda: mask, "token": _token(maker)}
        parts = {"memory_ordering_semantics": WEAK, "source": maker.value(pointers), **more}
        if more.get("mask") is PRESENT:
            parts["mask"] = extras.pop("mask")()
            extras["paddingValue"] = lambda: maker.value(type_)
        return Case([type_, TOKEN], parts, extras)

    base(o.memory.LoadPtrTko, f"{type_}{_more(more)}", make, type_)


def _store(element: NumberType, shape: tuple[int, ...], **more: Any) -> None:
    type_ = TileType(shape, element)
    pointers = TileType(shape, PointerType(element))

    def make(maker: Maker) -> Case:
        extras: dict[str, Callable[[], Any]] = {
            "mask": lambda: maker.value(TileType(shape, I1)),
            "token": _token(maker),
        }
        parts = {
            "memory_ordering_semantics": WEAK,
            "destination": maker.value(pointers),
            "value": maker.value(type_),
            **more,
        }
        return Case([TOKEN], parts, extras)

    base(o.memory.StorePtrTko, f"{type_}{_more(more)}", make, type_)


def _more(more: dict[str, Any]) -> str:
    return "".join(f" {value}" for value in more.values())


for _e in NUMBERS:
    _load(_e, (16,))
    _store(_e, (16,))
for _shape in ((), (2, 8)):
    _load(F32, _shape)
    _store(F32, _shape)
_load(F32, (16,), mask=PRESENT)
_load(F32, (16,), memory_ordering_semantics=RELAXED, memory_scope=DEVICE)
_store(F32, (16,), memory_ordering_semantics=RELEASE, memory_scope=MemoryScope.SYS)


def _token_op(kind: type[Operation], *names: str, optional: bool = False) -> None:
    def make(maker: Maker) -> Case:
        extras = {"token": _token(maker)} if optional else {}
        return Case([TOKEN], {name: maker.value(TOKEN) for name in names}, extras)

    base(kind, "", make)


_token_op(o.memory.MakeToken)
_token_op(o.memory.MemoryFenceAliasTko, "token")
_token_op(o.memory.GdcLaunchDependentsTko, optional=True)
_token_op(o.memory.GdcWaitTko, optional=True)
for _count in (2, 3):

    def _join(maker: Maker, count: int = _count) -> Case:
        return Case([TOKEN], {"tokens": tuple(maker.value(TOKEN) for _ in range(count))})

    base(o.memory.JoinTokens, f"{_count}", _join)


def _offset(pointee: NumberType, offset: NumberType, shape: tuple[int, ...]) -> None:
    pointers = TileType(shape, PointerType(pointee))

    def make(maker: Maker) -> Case:
        parts = {"ptr": maker.value(pointers), "offset": maker.value(TileType(shape, offset))}
        return Case([pointers], parts)

    base(o.memory.Offset, f"{pointers} {offset}", make, pointers)


for _e in (I32, I8, I16, I64):
    _offset(F32, _e, (16,))
for _shape in ((), (2, 8)):
    _offset(F32, I32, _shape)
for _e in NUMBERS[1:]:
    _offset(_e, I32, (16,))


def _alloca(pointee: NumberType, alignment: int) -> None:
    base(
        o.memory.Alloca,
        f"{pointee}",
        lambda maker: Case([scalar(PointerType(pointee))], {"num_elem": 64, "alignment": alignment}),
        pointee,
    )


for _e in NUMBERS:
    _alloca(_e, 16)


def _get_global(element: NumberType) -> None:
    def make(maker: Maker) -> Case:
        name = f"data_{len(maker.module.globals)}"
        data = b"".join((i % 2).to_bytes(element.bytes, "little") for i in range(4))
        maker.module.globals.append(Global(name, DenseElements(tile(element, 4), data), alignment=16))
        return Case([scalar(PointerType(element))], {"name": name})

    base(o.memory.GetGlobal, f"{element}", make, element)


for _e in NUMBERS:
    _get_global(_e)


# Views


def _tensor(element: NumberType, attribute: PointerAttribute | None = None) -> TensorViewType:
    # Two f4E2M1FN share a byte, so that the assembler wants to see that a row begins with a whole one.
    stride = 64 if element is F4E2M1FN else None
    return TensorViewType(element, (None, 64), (stride, 1), attribute)


def _partition(element: NumberType, padding: PaddingValue | None = None) -> PartitionViewType:
    return PartitionViewType((4, 8), _tensor(element), (0, 1), padding)


_F32 = _tensor(F32)
TENSORS = (
    _F32,
    TensorViewType(F32, (64,), (1,)),
    TensorViewType(F32, (8, 16), (16, 1)),
    TensorViewType(F32, (None, None, None), (None, None, None)),
    TensorViewType(F32, (), ()),
    TensorViewType(F32, (1 << 33, 4), (4, 1)),
    _tensor(F32, PointerAttribute.DEFAULT),
    *(_tensor(e) for e in NUMBERS[1:]),
)
PARTITIONS = (
    PartitionViewType((4, 8), _F32, (0, 1)),
    PartitionViewType((4, 8), _F32, (1, 0)),
    *(PartitionViewType((4, 8), _F32, (0, 1), padding) for padding in PaddingValue),
    PartitionViewType((1, 1), _F32, (0, 1)),
    PartitionViewType((16,), TensorViewType(F32, (64,), (1,)), (0,)),
    *(_partition(e) for e in NUMBERS[1:]),
    _partition(I32, PaddingValue.ZERO),
)
STRIDED = (
    StridedViewType((4, 8), (2, 4), _F32, (0, 1)),
    StridedViewType((4, 8), (8, 3), _F32, (1, 0), PaddingValue.NAN),
    *(StridedViewType((4, 8), (2, 4), _tensor(e), (0, 1)) for e in NUMBERS[1:]),
)
SPARSE = (
    GatherScatterViewType((4, 8), _F32, 0),
    GatherScatterViewType((4, 8), _F32, 1, PaddingValue.NEG_INF),
    *(GatherScatterViewType((4, 8), _tensor(e), 0) for e in NUMBERS[1:]),
)
VIEWS: tuple[ViewType, ...] = (*PARTITIONS, *STRIDED, *SPARSE)


def indices(maker: Maker, view: ViewType, element: Element = I32) -> tuple[Value, ...]:
    """Values that say which tile of a view is meant."""
    types = [scalar(element)] * len(view.tile_shape)
    if isinstance(view, GatherScatterViewType):
        types[view.sparse_dim] = tile(element, view.tile_shape[view.sparse_dim])
    return tuple(maker.value(t) for t in types)


def view_tile(view: ViewType) -> TileType:
    """The tile that a view gives."""
    return TileType(view.tile_shape, view.tensor_view.element)


def _make_tensor(type_: TensorViewType, index: NumberType) -> None:
    def make(maker: Maker) -> Case:
        base_ = maker.parameter(scalar(PointerType(type_.element, type_.attribute)))
        shape = tuple(maker.value(scalar(index)) for d in type_.shape if d is None)
        strides = tuple(maker.value(scalar(index)) for d in type_.strides if d is None)
        return Case([type_], {"base": base_, "dynamicShape": shape, "dynamicStrides": strides})

    base(o.view.MakeTensorView, f"{type_} {index}", make, type_)


for _tensor_view in TENSORS:
    _make_tensor(_tensor_view, I32)
for _index in (I64, I16, I8):
    _make_tensor(_F32, _index)


def _make_view(kind: type[Operation], view: ViewType) -> None:
    def make(maker: Maker) -> Case:
        return Case([view], {"tensor_view": maker.value(view.tensor_view)})

    base(kind, f"{view}", make, view)


for _view in VIEWS:
    if isinstance(_view, PartitionViewType):
        _make_view(o.view.MakePartitionView, _view)
    elif isinstance(_view, StridedViewType):
        _make_view(o.view.MakeStridedView, _view)
    else:
        _make_view(o.view.MakeGatherScatterView, _view)


def _shape_of(kind: type[Operation], src: Type, rank: int, element: NumberType) -> None:
    def make(maker: Maker) -> Case:
        return Case([scalar(element)] * rank, {"src": maker.value(src)})

    base(kind, f"{src} {element}", make, src)


for _index in (I32, I64, I16, I8):
    _shape_of(o.view.GetTensorShape, _F32, 2, _index)
    _shape_of(o.view.GetIndexSpaceShape, PARTITIONS[0], 2, _index)
for _view in (PARTITIONS[1], STRIDED[0], SPARSE[0]):
    _shape_of(o.view.GetIndexSpaceShape, _view, 2, I32)


def _inbounds(view: ViewType) -> Callable[[], tuple[bool, ...]]:
    return lambda: tuple(i % 2 == 0 for i in range(len(view.tile_shape)))


def _none(view: ViewType) -> tuple[bool, ...]:
    return (False,) * len(view.tile_shape)


def _load_view(view: ViewType, index: NumberType = I32, **more: Any) -> None:
    def make(maker: Maker) -> Case:
        parts = {
            "memory_ordering_semantics": WEAK,
            "view": maker.value(view),
            "index": indices(maker, view, index),
            "inbounds": _none(view),
            **more,
        }
        extras: dict[str, Callable[[], Any]] = {"token": _token(maker), "inbounds": _inbounds(view)}
        return Case([view_tile(view), TOKEN], parts, extras)

    base(o.view.LoadViewTko, f"{view} {index}{_more(more)}", make, view)


def _store_view(view: ViewType, index: NumberType = I32, **more: Any) -> None:
    def make(maker: Maker) -> Case:
        parts = {
            "memory_ordering_semantics": WEAK,
            "tile": maker.value(view_tile(view)),
            "view": maker.value(view),
            "index": indices(maker, view, index),
            "inbounds": _none(view),
            **more,
        }
        extras: dict[str, Callable[[], Any]] = {"token": _token(maker), "inbounds": _inbounds(view)}
        return Case([TOKEN], parts, extras)

    base(o.view.StoreViewTko, f"{view} {index}{_more(more)}", make, view)


for _view in VIEWS:
    _load_view(_view)
    _store_view(_view)
for _index in (I64, I16, I8):
    _load_view(PARTITIONS[0], _index)
    _store_view(PARTITIONS[0], _index)
_load_view(PARTITIONS[0], memory_ordering_semantics=ACQUIRE, memory_scope=DEVICE)
_store_view(PARTITIONS[0], memory_ordering_semantics=RELAXED, memory_scope=MemoryScope.TL_BLK)


# Atomic operations


def _atomic(element: NumberType, mode: AtomicRMWMode, shape: tuple[int, ...] = (16,)) -> None:
    type_, pointers = TileType(shape, element), TileType(shape, PointerType(element))

    def make(maker: Maker) -> Case:
        parts = {
            "memory_ordering_semantics": RELAXED,
            "memory_scope": DEVICE,
            "pointers": maker.value(pointers),
            "mode": mode,
            "arg": maker.value(type_),
        }
        extras: dict[str, Callable[[], Any]] = {
            "mask": lambda: maker.value(TileType(shape, I1)),
            "token": _token(maker),
        }
        return Case([type_, TOKEN], parts, extras)

    base(o.atomic.AtomicRMWTko, f"{type_} {mode}", make, type_)


for _e in (I32, I64):
    _atomic(_e, AtomicRMWMode.ADD)
for _e in (F32, F64, F16, BF16):
    _atomic(_e, AtomicRMWMode.ADDF)
for _shape in ((), (2, 8)):
    _atomic(I32, AtomicRMWMode.ADD, _shape)


def _exchange(element: NumberType, shape: tuple[int, ...] = (16,)) -> None:
    type_, pointers = TileType(shape, element), TileType(shape, PointerType(element))

    def make(maker: Maker) -> Case:
        parts = {
            "memory_ordering_semantics": RELAXED,
            "memory_scope": DEVICE,
            "pointers": maker.value(pointers),
            "cmp": maker.value(type_),
            "val": maker.value(type_),
        }
        extras: dict[str, Callable[[], Any]] = {
            "mask": lambda: maker.value(TileType(shape, I1)),
            "token": _token(maker),
        }
        return Case([type_, TOKEN], parts, extras)

    base(o.atomic.AtomicCASTko, f"{type_}", make, type_)


for _e in (I32, I64, F32, F64):
    _exchange(_e)
for _shape in ((), (2, 8)):
    _exchange(I32, _shape)


def _reduce_view(view: ViewType, mode: AtomicRMWMode, index: NumberType = I32) -> None:
    def make(maker: Maker) -> Case:
        parts = {
            "memory_ordering_semantics": RELAXED,
            "memory_scope": DEVICE,
            "view": maker.value(view),
            "index": indices(maker, view, index),
            "mode": mode,
            "inbounds": _none(view),
            "value": maker.value(view_tile(view)),
        }
        extras: dict[str, Callable[[], Any]] = {"token": _token(maker), "inbounds": _inbounds(view)}
        return Case([TOKEN], parts, extras)

    base(o.atomic.AtomicRedViewTko, f"{view} {mode} {index}", make, since=max(V13_3, first_version(view)))


for _e in (I32, I64):
    _reduce_view(_partition(_e), AtomicRMWMode.ADD)
for _e in (F32, F64, F16, BF16):
    _reduce_view(_partition(_e), AtomicRMWMode.ADDF)
_reduce_view(STRIDED[0], AtomicRMWMode.ADDF)
_reduce_view(_partition(I32), AtomicRMWMode.MAX, I64)


# Across devices


def _multimem(kind: type[Operation], element: NumberType, reduction: MultimemReductionKind) -> None:
    view = PartitionViewType((4, 8), _tensor(element, PointerAttribute.MULTICAST), (0, 1))
    declared = {p.name for p in (*kind.declaration.operands, *kind.declaration.attributes)}

    def make(maker: Maker) -> Case:
        parts: dict[str, Any] = {
            "memory_ordering_semantics": RELAXED,
            "memory_scope": MemoryScope.SYS,
            "view": maker.value(view),
            "index": indices(maker, view),
            "inbounds": _none(view),
        }
        results: list[Type] = [TOKEN]
        if "reduction" in declared:
            parts["reduction"] = reduction
        if "tile" in declared:
            parts["tile"] = maker.value(view_tile(view))
        else:
            results.insert(0, view_tile(view))
        extras: dict[str, Callable[[], Any]] = {"token": _token(maker), "inbounds": _inbounds(view)}
        return Case(results, parts, extras)

    base(kind, f"{element} {reduction}", make, view, since=V13_5)


for _kind in (
    o.multimem.MultimemLoadReduceViewTko,
    o.multimem.MultimemReduceViewTko,
    o.multimem.MultimemStoreViewTko,
):
    for _e in (F32, I32, I64, F16, BF16, F64, F8E4M3FN, F8E5M2):
        _multimem(_kind, _e, MultimemReductionKind.ADD)
