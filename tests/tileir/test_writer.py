"""The writer: the bytes of cuda-tile, and a refusal by name of what a version cannot hold."""

from __future__ import annotations

import pytest

import tileir
from tests.tileir.support import needs_second_writer, needs_tileiras, shared_cases
from tileir import generate, registry
from tileir import locations as loc
from tileir import ops as o
from tileir import types as t
from tileir.attributes import (
    ArrayAttribute,
    DenseElements,
    DictionaryAttribute,
    FloatAttribute,
    IntegerAttribute,
    OptimizationHints,
    RoundingMode,
    StringAttribute,
    SymbolVisibility,
)
from tileir.errors import WriteError
from tileir.generate.maker import Maker, scalar, tile
from tileir.module import Global, Module, Operation, Region
from tileir.version import SUPPORTED, V13_1, V13_2, V13_3, V13_4, V13_5, Version

FILE = loc.File("kernel.py", "/src")
UNIT = loc.CompileUnit(FILE)


def located(version: Version = V13_4) -> Module:
    """A kernel with every kind of location."""
    maker = Maker("k")
    subprogram = loc.Subprogram(FILE, 3, "k", "k", UNIT, 4)
    block = loc.LexicalBlock(subprogram, FILE, 5, 6)
    maker.function.location = loc.SourceLocation(subprogram, "/src/kernel.py", 3, 1)
    maker.keep(maker.value(tile(t.F32, 4)))
    module = maker.finish(version)
    callee = loc.SourceLocation(block, "/src/kernel.py", 7, 8)
    places = [None, callee, loc.CallSite(callee, maker.function.location), maker.function.location]
    for number, operation in enumerate(module.walk()):
        operation.location = places[number % len(places)]
    return module


def with_globals(version: Version) -> Module:
    maker = Maker("k")
    maker.value(scalar(t.F32))
    module = maker.finish(version)
    module.globals = [
        Global("table", DenseElements(tile(t.F32, 4), bytes(range(16))), alignment=256),
        Global("flags", DenseElements(tile(t.I1, 16), bytes(i % 2 for i in range(16)))),
    ]
    return module


def test_rewriting_a_shared_case_gives_its_bytes() -> None:
    cases = shared_cases()
    if not cases:
        pytest.skip("the recorded cases are not there")
    different = []
    for case in cases:
        data = (case / "kernel.tilebc").read_bytes()
        if tileir.write(tileir.read(data)) != data:
            different.append(case.name)
    assert different == []


@pytest.mark.parametrize("version", SUPPORTED, ids=str)
def test_every_operation_is_read_back_as_it_was(version: Version) -> None:
    count = 0
    for number, form in enumerate(generate.all_forms()):
        if form.since > version or number % 11:
            continue
        module = form.module(version)
        assert tileir.read(tileir.write(module)) == module, form.label
        count += 1
    assert count > 300


@needs_second_writer
@pytest.mark.parametrize("version", SUPPORTED, ids=str)
def test_a_second_writer_agrees_on_every_operation(version: Version) -> None:
    from tests.tileir.second_writer import write_theirs

    seen = set()
    for number, form in enumerate(generate.all_forms()):
        # The campaign ``second_writer`` goes through all of them.
        if form.since > version or (form.choices and number % 97):
            continue
        module = form.module(version)
        assert tileir.write(module).hex() == write_theirs(module, version).hex(), form.label
        seen.add(form.kind.mnemonic)
    missing = {k.mnemonic for k in registry.BY_OPCODE.values() if k.since <= version} - seen
    assert missing <= {"break", "continue", "return", "yield"}


@needs_second_writer
@pytest.mark.parametrize("version", SUPPORTED, ids=str)
def test_a_second_writer_agrees_on_debug_information_globals_and_hints(version: Version) -> None:
    from tests.tileir.second_writer import write_theirs

    hints = OptimizationHints(
        (("sm_90", DictionaryAttribute((("num_cta_in_cga", IntegerAttribute(t.I32, 2)),))),)
    )
    hinted = located(version)
    hinted.functions[0].hints = hints
    two = located(version)
    second = Maker("second", two)
    second.finish(version)
    for module in (located(version), hinted, two, with_globals(version)):
        data = tileir.write(module)
        assert data.hex() == write_theirs(module, version).hex()
        assert tileir.read(data) == module


@needs_second_writer
def test_a_negative_f64_loses_its_sign_in_the_second_writer() -> None:
    """cuda-tile 1.7.0 gives such a number a 65th bit, which NVIDIA's readers and ours drop, sign and all."""
    from tests.tileir.second_writer import write_theirs

    def fold(bits: int) -> Module:
        base = next(b for b in generate.BASES[o.reduction.Reduce.opcode] if b.label == "f64 addf dim=1")
        return generate.Form(base, (("identities", (FloatAttribute(t.F64, bits),)),)).module(V13_4)

    negative, positive = fold(0xBFF8 << 48), fold(0x3FF8 << 48)
    assert tileir.write(positive) == write_theirs(positive, V13_4)
    assert tileir.read(tileir.write(negative)) == negative
    assert tileir.read(write_theirs(negative, V13_4)) == positive


@needs_tileiras
def test_a_negative_f64_keeps_its_sign_in_the_disassembler() -> None:
    base = next(b for b in generate.BASES[o.reduction.Reduce.opcode] if b.label == "f64 addf dim=1")
    form = generate.Form(base, (("identities", (FloatAttribute(t.F64, 0xBFF8 << 48),)),))
    assert "identities=[-1.500000e+00]" in tileir.disassemble(form.module(V13_4))


def one(kind: type[Operation], version: Version, **choices: object) -> Module:
    """The first form of an operation with some parts chosen, in a version."""
    base = generate.BASES[kind.opcode][0]
    module = generate.Form(base, tuple(choices.items())).module(V13_5)
    module.version = version
    return module


@pytest.mark.parametrize(
    ("module", "what", "needed"),
    [
        (one(o.floating.Atan2, V13_1), "the operation", "13.2"),
        (one(o.core.Insert, V13_3), "the operation", "13.4"),
        (one(o.multimem.MultimemStoreViewTko, V13_4), "multicast", "13.5"),
        (one(o.floating.TanH, V13_1, rounding_mode=RoundingMode.APPROX), "rounding_mode = approx", "13.2"),
        (one(o.floating.Exp, V13_2, rounding_mode=RoundingMode.APPROX), "rounding_mode = approx", "13.3"),
        (one(o.conversion.FToI, V13_3, saturating=True), "saturating = True", "13.4"),
        (one(o.control.For, V13_1, unsignedCmp=True), "unsignedCmp = True", "13.2"),
        (one(o.view.LoadViewTko, V13_3, inbounds=(True, False)), "inbounds = (True, False)", "13.4"),
        (one(o.atomic.AtomicRedViewTko, V13_4, inbounds=(False, True)), "inbounds = (False, True)", "13.5"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_what_is_newer_is_refused_by_name(module: Module, what: str, needed: str) -> None:
    with pytest.raises(WriteError, match="needs bytecode") as caught:
        tileir.write(module)
    assert what in caught.value.message
    assert needed in caught.value.message
    assert caught.value.found == str(module.version)
    module.version = Version.parse(needed)
    tileir.write(module)


def test_a_newer_part_with_its_default_is_no_obstacle() -> None:
    form = next(f for f in generate.forms_of(o.view.LoadViewTko) if f.since == V13_1)
    module = form.module(V13_1)
    assert tileir.read(tileir.write(module)) == module
    assert tileir.write(form.module(V13_4)) != tileir.write(module)


@pytest.mark.parametrize(
    ("type_", "needed"),
    [
        (t.F8E8M0FNU, "13.2"),
        (t.F4E2M1FN, "13.3"),
        (t.I4, "13.3"),
        (t.PointerType(t.F32, t.PointerAttribute.DEFAULT), "13.4"),
        (t.PointerType(t.F32, t.PointerAttribute.MULTICAST), "13.5"),
        (t.PointerType(t.F4E2M1FN), "13.3"),
    ],
    ids=str,
)
def test_a_newer_type_is_refused_by_name(type_: t.Element, needed: str) -> None:
    maker = Maker()
    maker.parameter(scalar(type_))
    module = maker.finish()
    version = Version.parse(needed)
    older = SUPPORTED[SUPPORTED.index(version) - 1]
    with pytest.raises(WriteError, match=f"needs bytecode {needed}") as caught:
        tileir.write(module, older)
    assert str(type_) in caught.value.message
    assert tileir.read(tileir.write(module, version)) == module


def test_globals_and_the_producer_need_their_version() -> None:
    module = with_globals(V13_3)
    module.globals[0].constant = True
    module.globals[1].visibility = SymbolVisibility.PRIVATE
    module.producer = "me 1.0"
    assert tileir.read(tileir.write(module)) == module
    for change in ("constant", "visibility", "producer"):
        older = with_globals(V13_2)
        if change == "constant":
            older.globals[0].constant = True
        elif change == "visibility":
            older.globals[0].visibility = SymbolVisibility.PRIVATE
        else:
            older.producer = "me 1.0"
        with pytest.raises(WriteError, match=r"needs bytecode 13\.3"):
            tileir.write(older)
    tileir.write(with_globals(V13_2))


def test_attributes_of_arguments_need_13_5() -> None:
    maker = Maker()
    maker.parameter(scalar(t.I32))
    module = maker.finish(V13_5)
    entry = DictionaryAttribute((("name", StringAttribute("n")),))
    module.functions[0].argument_attributes = ArrayAttribute((entry,))
    assert tileir.read(tileir.write(module)) == module
    with pytest.raises(WriteError, match=r"needs bytecode 13\.5"):
        tileir.write(module, V13_4)


def test_the_token_of_a_print_has_no_number_before_13_2() -> None:
    maker = Maker()
    maker.op(o.debugging.PrintTko, [t.TOKEN], str="hi", args=())
    later = maker.value(scalar(t.F32))
    maker.keep(later)
    module = maker.finish(V13_1)
    assert tileir.read(tileir.write(module)) == module
    printed = next(module.walk())
    used = Maker()
    token = used.op(o.debugging.PrintTko, [t.TOKEN], str="hi", args=())
    used.op(o.memory.JoinTokens, [t.TOKEN], tokens=(token, token))
    with pytest.raises(WriteError, match=r"the result of print_tko is used, and needs bytecode 13\.2"):
        tileir.write(used.finish(V13_1))
    assert printed.results[0].type is t.TOKEN


@pytest.mark.parametrize("version", [Version(13, 0), Version(13, 6), Version(12, 9)], ids=str)
def test_versions_that_are_not_published_are_refused(version: Version) -> None:
    with pytest.raises(WriteError, match="no such bytecode version"):
        tileir.write(Module(), version)


def test_a_value_used_where_it_is_not_defined_is_refused() -> None:
    maker = Maker()
    with maker.region() as then:
        inner = maker.constant(scalar(t.F32))
        maker.op(o.control.Yield, operands=())
    maker.op(o.control.If, condition=maker.value(scalar(t.I1)), thenRegion=then, elseRegion=None)
    maker.op(o.floating.AbsF, [scalar(t.F32)], source=inner)
    with pytest.raises(WriteError, match="not defined") as caught:
        tileir.write(maker.finish())
    assert caught.value.operation == "absf"


def test_regions_nested_without_end_are_refused() -> None:
    maker = Maker()
    condition = maker.value(scalar(t.I1))
    region = Region((), [o.control.Yield(operands=())])
    for _ in range(500):
        branch = o.control.If(condition=condition, thenRegion=region, elseRegion=None)
        region = Region((), [branch, o.control.Yield(operands=())])
    maker.function.body.operations += region.operations[:1]
    with pytest.raises(WriteError, match="too deep"):
        tileir.write(maker.finish())


@pytest.mark.parametrize(
    ("type_", "elements", "record"),
    [
        (tile(t.I1, 16), bytes(i % 2 for i in range(16)), "02 aa aa"),
        (tile(t.I1, 16), b"\1", "01 ff"),
        (tile(t.I1, 2), b"\1\0", "01 01"),
        (tile(t.I1, 8), b"\1", "01 ff"),
        (scalar(t.I1), b"\0", "01 00"),
        (tile(t.TF32, 2), b"\1\2\7\0\0\0\0\0", "06 01 02 07 00 00 00"),
        (tile(t.F4E2M1FN, 2), b"\1\2", "02 01 02"),
        (tile(t.F64, 2), bytes(range(16)), "10 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f"),
    ],
    ids=str,
)
def test_constants_are_packed_as_the_readers_expect(type_: t.TileType, elements: bytes, record: str) -> None:
    maker = Maker()
    value = DenseElements(type_, elements)
    maker.op(o.core.Constant, [type_], value=value)
    data = tileir.write(maker.finish())
    assert bytes.fromhex(record) in data
    read = next(tileir.read(data).walk())
    assert isinstance(read, o.core.Constant)
    assert read.value == value
    assert read.value.data == elements


def test_equal_elements_are_one_element() -> None:
    assert DenseElements(tile(t.F32, 4), b"\1\2\3\4" * 4) == DenseElements(tile(t.F32, 4), b"\1\2\3\4")
    assert DenseElements(tile(t.F32, 4), b"\1\2\3\4" * 4).is_splat
    mixed = DenseElements(tile(t.I16, 4), bytes(range(8)))
    assert not mixed.is_splat
    assert mixed.bits() == [0x100, 0x302, 0x504, 0x706]
