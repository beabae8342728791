"""Hypothesis strategies for whole modules, made out of the declared operations and their forms.

The modules are legal. They draw on every operation that a version has, use values of one operation in others,
nest branches and loops, and carry locations, hints, globals and a producer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from hypothesis import strategies as st

import tileir
from tileir import generate
from tileir import locations as loc
from tileir import ops as o
from tileir import types as t
from tileir.attributes import (
    Bounded,
    DenseElements,
    DictionaryAttribute,
    DivBy,
    IntegerAttribute,
    OptimizationHints,
    SameElements,
    SymbolVisibility,
)
from tileir.generate.control import CARRIED
from tileir.generate.maker import Maker, scalar, tile
from tileir.module import Function, Global, Module, Operation, Region, Value
from tileir.version import SUPPORTED, V13_3, Version

Draw = Any

NAMES = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_$.]{0,12}", fullmatch=True)
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="%\0"), max_size=12)
ELEMENTS = tuple(t.NUMBERS.values())


@cache
def _forms(version: Version) -> dict[int, list[generate.Form]]:
    """The forms that a version has, by opcode."""
    found: dict[int, list[generate.Form]] = {}
    for form in generate.all_forms():
        if form.since <= version:
            found.setdefault(form.kind.opcode, []).append(form)
    return found


@cache
def _is_legal(form: generate.Form, version: Version) -> bool:
    return not tileir.verify(form.module(version))


@st.composite
def forms(draw: Draw, version: Version) -> generate.Form:
    """A legal form of an operation that the version has: operations are drawn evenly, then their forms."""
    of_version = _forms(version)
    of_operation = of_version[draw(st.sampled_from(sorted(of_version)))]
    form = draw(st.sampled_from(of_operation))
    if not _is_legal(form, version):
        form = generate.Form(form.base, ())
    if not _is_legal(form, version):
        form = next(f for f in of_operation if _is_legal(f, version))
    return form


@st.composite
def constants(draw: Draw, version: Version) -> DenseElements:
    """A constant of any format, of one element or of different ones."""
    element = draw(st.sampled_from([e for e in ELEMENTS if e.since <= version and e is not t.I4]))
    shape = draw(st.sampled_from(((), (1,), (2,), (8,), (2, 4), (1, 2, 1), (16,))))
    if element is t.F4E2M1FN and all(d % 2 for d in shape):
        shape = (2,)
    type_ = t.TileType(shape, element)
    width = 19 if element is t.TF32 else element.width
    count = draw(st.sampled_from((1, type_.size)))
    numbers = draw(st.lists(st.integers(0, (1 << width) - 1), min_size=count, max_size=count))
    return DenseElements(type_, b"".join(n.to_bytes(element.bytes, "little") for n in numbers))


@st.composite
def tensor_views(draw: Draw, version: Version) -> t.TensorViewType:
    """A tensor of any rank up to 4."""
    element = draw(st.sampled_from([e for e in ELEMENTS if e.since <= version and e is not t.I4]))
    rank = draw(st.integers(0, 4))
    dimension = st.none() | st.integers(1, 1 << 40)
    sides = [tuple(draw(dimension) for _ in range(rank)) for _ in range(2)]
    return t.TensorViewType(element, *sides)


@st.composite
def views(draw: Draw, version: Version) -> t.Type:
    """A view of any kind that the version has, of a tensor of rank 1 to 4."""
    tensor = draw(tensor_views(version).filter(lambda v: v.rank > 0))
    rank = tensor.rank
    tile_shape = tuple(draw(st.sampled_from((1, 2, 4, 16))) for _ in range(rank))
    if tensor.element is t.F4E2M1FN:
        tile_shape = (2, *tile_shape[1:])
    paddings = [None, t.PaddingValue.ZERO, *(t.PaddingValue if tensor.element.is_float else ())]
    padding = draw(st.sampled_from(paddings))
    dim_map = tuple(draw(st.permutations(range(rank))))
    kind = draw(st.integers(0, 2 if version >= V13_3 else 0))
    if kind == 0:
        return t.PartitionViewType(tile_shape, tensor, dim_map, padding)
    if kind == 1:
        strides = tuple(draw(st.integers(1, 1 << 20)) for _ in range(rank))
        return t.StridedViewType(tile_shape, strides, tensor, dim_map, padding)
    return t.GatherScatterViewType(tile_shape, tensor, draw(st.integers(0, rank - 1)), padding)


NUMBERS_64 = st.integers(-(1 << 63), (1 << 63) - 1)


@st.composite
def locations(draw: Draw, subprogram: loc.Subprogram) -> loc.Location | None:
    """A place in a subprogram, in a block of it, or inlined there; or none."""
    line, column = draw(st.integers(0, 1 << 31)), draw(st.integers(0, 300))
    kind = draw(st.integers(0, 3))
    if kind == 0:
        return None
    scope: loc.Location = subprogram
    for _ in range(draw(st.integers(0, 2))):
        scope = loc.LexicalBlock(scope, subprogram.file, line, column)
    place = loc.SourceLocation(scope, draw(st.sampled_from(("k.py", "/a/b.py", ""))), line, column)
    if kind == 1:
        return place
    other = loc.Subprogram(subprogram.file, 9, "inner", "inner", subprogram.compile_unit, 9)
    callee = loc.SourceLocation(other, "inner.py", column, line)
    inlined = loc.CallSite(callee, place)
    return inlined if kind == 2 else loc.CallSite(None if column % 2 else callee, inlined)


class _Drawing(Maker):
    """A maker that often takes a value that is already there, of those that are in scope."""

    def __init__(self, draw: Draw, name: str, module: Module) -> None:
        super().__init__(name, module)
        self._draw = draw
        self._scopes: list[list[Value]] = [[]]

    def parameter(self, type_: t.Type) -> Value:
        value = super().parameter(type_)
        # A parameter is in scope everywhere, but the order of definition is the list's.
        self._scopes[0].append(value)
        return value

    def append(self, operation: Operation) -> Any:
        made = super().append(operation)
        parts = operation.declaration.results
        if not any(part.since is not None and part.since > self.module.version for part in parts):
            self._scopes[-1].extend(operation.results)
        return made

    @contextmanager
    def region(self, *argument_types: t.Type) -> Iterator[Region]:
        with super().region(*argument_types) as region:
            self._scopes.append(list(region.arguments))
            try:
                yield region
            finally:
                self._scopes.pop()

    def value(self, type_: t.Type) -> Value:
        known = [v for scope in self._scopes for v in scope if v.type == type_]
        if known and self._draw(st.booleans()):
            return self._draw(st.sampled_from(known))
        return super().value(type_)


def _step(draw: Draw, maker: _Drawing, version: Version, depth: int) -> None:
    kind = draw(st.integers(0, 9))
    if kind <= 4 or (kind >= 8 and depth >= 2):
        form = draw(forms(version))
        if depth == 0 or form.base.label != "return":  # a return does not stand under every region
            form.add(maker)
    elif kind == 5:
        value = draw(constants(version))
        maker.op(o.core.Constant, [value.type], value=value)
    elif kind == 6:
        maker.value(draw(views(version) | tensor_views(version)))
    elif kind == 7:
        _assume(draw, maker)
    elif kind == 8:
        _branch(draw, maker, version, depth)
    else:
        _loop(draw, maker, version, depth)


def _assume(draw: Draw, maker: _Drawing) -> None:
    type_ = draw(st.sampled_from((tile(t.I32, 8, 4), tile(t.I64, 2), scalar(t.I32))))
    low, high = sorted(
        (draw(st.integers(-(1 << 31), (1 << 31) - 1)), draw(st.integers(-(1 << 31), (1 << 31) - 1)))
    )
    predicates = [
        DivBy(1 << draw(st.integers(0, 62))),
        Bounded(draw(st.sampled_from((low, None))), draw(st.sampled_from((high, None)))),
        SameElements(tuple(draw(st.integers(0, d)) for d in type_.shape)),
    ]
    if type_.shape:
        along = draw(st.integers(0, len(type_.shape) - 1))
        predicates.append(DivBy(4, draw(st.integers(0, type_.shape[along])), along))
    predicate = draw(st.sampled_from(predicates))
    maker.op(o.debugging.Assume, [type_], predicate=predicate, value=maker.value(type_))


def _steps(draw: Draw, maker: _Drawing, version: Version, depth: int, most: int) -> None:
    for _ in range(draw(st.integers(0, most))):
        _step(draw, maker, version, depth)


def _branch(draw: Draw, maker: _Drawing, version: Version, depth: int) -> None:
    types = draw(st.sampled_from(list(CARRIED.values())))
    condition = maker.value(scalar(t.I1))
    regions: list[Region | None] = []
    for number in range(2):
        if number == 1 and not types and draw(st.booleans()):
            regions.append(None)
            continue
        with maker.region() as region:
            _steps(draw, maker, version, depth + 1, 3)
            maker.op(o.control.Yield, operands=tuple(maker.value(x) for x in types))
        regions.append(region)
    maker.op(o.control.If, types, condition=condition, thenRegion=regions[0], elseRegion=regions[1])


def _loop(draw: Draw, maker: _Drawing, version: Version, depth: int) -> None:
    types = draw(st.sampled_from(list(CARRIED.values())))
    initial = tuple(maker.value(x) for x in types)
    if draw(st.booleans()):
        index = scalar(draw(st.sampled_from((t.I32, t.I64))))
        bounds = {n: maker.value(index) for n in ("lowerBound", "upperBound", "step")}
        with maker.region(index, *types) as body:
            _steps(draw, maker, version, depth + 1, 3)
            maker.op(o.control.Continue, operands=tuple(maker.value(x) for x in types))
        maker.op(o.control.For, types, initValues=initial, body=body, **bounds)
    else:
        with maker.region(*types) as body:
            _steps(draw, maker, version, depth + 1, 3)
            kind = draw(st.sampled_from((o.control.Break, o.control.Continue)))
            maker.op(kind, operands=tuple(maker.value(x) for x in types))
        maker.op(o.control.Loop, types, initValues=initial, body=body)


@st.composite
def modules(draw: Draw, versions: tuple[Version, ...] = SUPPORTED, *, located: bool = True) -> Module:
    """A legal module in one of ``versions``; ``located`` gives some operations locations."""
    version = draw(st.sampled_from(versions))
    module = Module(version=version)
    names = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    for name in names[:2]:
        _function(draw, module, name, version, located)
    _globals(draw, module, version)
    if version >= V13_3:
        module.producer = draw(st.none() | TEXT)
    return module


def _globals(draw: Draw, module: Module, version: Version) -> None:
    for number in range(draw(st.integers(0, 2))):
        value = draw(constants(version).filter(lambda v: len(v.type.shape) == 1))
        global_ = Global(f"global {number}", value, alignment=draw(st.sampled_from((0, 1, 16, 256))))
        if version >= V13_3:
            global_.constant = draw(st.booleans())
            global_.visibility = draw(st.sampled_from(list(SymbolVisibility)))
        module.globals.append(global_)


def _function(draw: Draw, module: Module, name: str, version: Version, located: bool) -> None:
    maker = _Drawing(draw, name, module)
    _steps(draw, maker, version, 0, 6)
    maker.finish(version)
    function = maker.function
    if draw(st.booleans()):
        function.hints = draw(_hints())
    if located and draw(st.booleans()):
        _locate(draw, function)


@st.composite
def _hints(draw: Draw) -> OptimizationHints | None:
    architectures = draw(st.lists(st.sampled_from(("sm_90", "sm_100", "default")), max_size=2, unique=True))
    entries = [("num_cta_in_cga", 2), ("occupancy", draw(st.integers(1, 32)))]
    kept = entries[: draw(st.integers(0, 2))]
    dictionary = DictionaryAttribute(tuple((k, IntegerAttribute(t.I32, v)) for k, v in kept))
    return OptimizationHints(tuple((a, dictionary) for a in sorted(architectures)))


def _locate(draw: Draw, function: Function) -> None:
    file = loc.File("kernel.py", draw(st.sampled_from(("/src", ""))))
    subprogram = loc.Subprogram(file, 3, draw(NAMES), function.name, loc.CompileUnit(file), 4)
    function.location = loc.SourceLocation(subprogram, "/src/kernel.py", 3, 1)
    places = [draw(locations(subprogram)) for _ in range(3)]
    for operation in function.body.walk():
        operation.location = draw(st.sampled_from(places))
