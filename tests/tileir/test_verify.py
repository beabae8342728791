"""The verifier: legal forms pass, every rule fires for what breaks it, and NVIDIA's tools agree."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import Any

import pytest

import tileir
from tests.tileir.support import needs_tileiras
from tileir import generate, registry
from tileir import locations as loc
from tileir import ops as o
from tileir import types as t
from tileir.attributes import (
    AtomicRMWMode,
    DenseElements,
    MemoryOrderingSemantics,
    MemoryScope,
    RoundingMode,
    StringAttribute,
)
from tileir.errors import ArgumentError, AssemblerError, WriteError
from tileir.generate.maker import Maker, scalar, tile
from tileir.module import Global, Module, Region
from tileir.verify import Diagnostic
from tileir.verify.conversion import conversion_modes
from tileir.verify.debugging import conversions
from tileir.verify.rules import RULES
from tileir.verify.targets import FORMATS
from tileir.version import SUPPORTED, V13_1, V13_3, V13_4, V13_5, Version

Mode = RoundingMode
Ordering = MemoryOrderingSemantics


def rules(module: Module, target: str | None = None) -> set[str]:
    return {d.rule for d in tileir.verify(module, target)}


def form(mnemonic: str, label: str = "") -> generate.Form:
    kind = registry.BY_NAME[mnemonic]
    return generate.Form(next(b for b in generate.BASES[kind.opcode] if label in b.label), ())


def test_every_base_is_legal_in_every_version_that_has_it() -> None:
    for bases in generate.BASES.values():
        for number, base in enumerate(bases):
            plain = generate.Form(base, ())
            version = (base.since, V13_5)[number % 2]
            allowed = {"power-exponent"} if "xi64" in base.label and base.kind is o.floating.FPowI else set()
            if version >= V13_5 and "f4E2M1FN" in base.label:
                allowed.add("f4-pointer-is-scalar")
            if base.kind.mnemonic.startswith("multimem"):
                allowed |= {"multimem-elements"} if "f8" in base.label else set()
            assert rules(plain.module(version)) <= allowed, plain.label


@cache
def fired() -> dict[str, list[str]]:
    """For each rule, the changes to the first base of an operation that it has something against."""
    found: dict[str, list[str]] = defaultdict(list)
    for opcode in sorted(registry.BY_OPCODE):
        kind = registry.BY_OPCODE[opcode]
        for change in generate.breaks_of(kind, 1):
            for diagnostic in tileir.verify(change.module()):
                found[diagnostic.rule].append(f"{kind.mnemonic}: {change.label}")
    for number, one in enumerate(generate.all_forms()):
        if one.choices and number % 3 == 0:
            for diagnostic in tileir.verify(one.module()):
                found[diagnostic.rule].append(one.label)
    return found


MULTICAST = t.PointerAttribute.MULTICAST


def by_hand() -> dict[str, Module]:
    """Modules for the rules that no blind change breaks."""
    made: dict[str, Module] = {}

    def module(rule: str) -> Maker:
        maker = Maker()
        made[rule] = maker.module
        maker.module.version = V13_5
        return maker

    def tensor(element: t.NumberType, *strides: int | None) -> t.TensorViewType:
        return t.TensorViewType(element, (64,) * len(strides), strides, MULTICAST)

    def shared(maker: Maker, type_: t.TensorViewType, shape: tuple[int, ...]) -> None:
        view = t.PartitionViewType(shape, type_, tuple(range(len(shape))))
        index = tuple(maker.value(scalar(t.I32)) for _ in shape)
        parts: dict[str, Any] = {"view": maker.value(view), "index": index}
        value = maker.value(t.TileType(shape, type_.element))
        parts |= {
            "memory_ordering_semantics": Ordering.WEAK,
            "tile": value,
            "inbounds": (False,) * len(shape),
        }
        maker.op(o.multimem.MultimemStoreViewTko, [t.TOKEN], **parts)

    pointers = tile(t.PointerType(t.F32, MULTICAST), 4)
    maker = module("access-not-multicast")
    maker.op(
        o.memory.LoadPtrTko,
        [tile(t.F32, 4), t.TOKEN],
        memory_ordering_semantics=Ordering.WEAK,
        source=maker.value(pointers),
    )
    maker = module("atomic-not-multicast")
    maker.op(
        o.atomic.AtomicRMWTko,
        [tile(t.F32, 4), t.TOKEN],
        memory_ordering_semantics=Ordering.RELAXED,
        memory_scope=MemoryScope.DEVICE,
        mode=AtomicRMWMode.ADDF,
        pointers=maker.value(pointers),
        arg=maker.value(tile(t.F32, 4)),
    )
    for rule, type_ in (
        ("view-not-multicast", tensor(t.F32, 1)),
        ("f4-packing", t.TensorViewType(t.F4E2M1FN, (64,), (2,))),
    ):
        maker = module(rule)
        view = t.PartitionViewType((4,), type_, (0,))
        parts = {"view": maker.value(view), "index": (maker.value(scalar(t.I32)),)}
        results = [tile(type_.element, 4), t.TOKEN]
        maker.op(o.view.LoadViewTko, results, memory_ordering_semantics=Ordering.WEAK, **parts)
    shared(module("multimem-half-stride"), tensor(t.F16, 2), (4,))
    shared(module("multimem-size"), tensor(t.F16, 1), (1,))
    maker = module("alloca-numbers")
    maker.op(o.memory.Alloca, [scalar(t.PointerType(t.F32))], num_elem=1 << 63, alignment=4)
    maker = module("assume-predicate")
    value = maker.value(scalar(t.I32))
    maker.op(o.debugging.Assume, [value.type], value=value, predicate=StringAttribute("even"))
    maker = module("constant-size")
    maker.op(o.core.Constant, [tile(t.F32, 4)], value=DenseElements(tile(t.F32, 4), bytes(range(8))))
    maker = module("load-padding")
    maker.op(
        o.memory.LoadPtrTko,
        [tile(t.F32, 4), t.TOKEN],
        memory_ordering_semantics=Ordering.WEAK,
        source=maker.value(tile(t.PointerType(t.F32), 4)),
        mask=maker.value(tile(t.I1, 4)),
        paddingValue=maker.value(tile(t.F16, 4)),
    )
    for broken in made.values():
        broken.functions[0].body.operations.append(o.control.Return(operands=()))
    return made


@pytest.mark.parametrize(("rule", "module"), by_hand().items())
def test_a_rule_fires_alone(rule: str, module: Module) -> None:
    assert rules(module) == {rule}


def test_every_rule_of_an_operation_is_broken_by_something() -> None:
    names = {name for rules_ in RULES.values() for name, _ in rules_}
    assert names - fired().keys() == by_hand().keys()
    assert len(names) > 100


def test_a_diagnostic_says_what_where_and_why() -> None:
    maker = Maker("k")
    place = loc.SourceLocation(loc.Subprogram(None, 1, "k", "k", None, 1), "/src/k.py", 7, 9)
    value = maker.value(tile(t.F32, 4))
    operation = o.floating.AddF(
        result_types=[tile(t.F32, 8)], lhs=value, rhs=value, rounding_mode=Mode.FULL, location=place
    )
    maker.append(operation)
    found = [d for d in tileir.verify(maker.finish()) if d.operation == "addf"]
    assert {d.rule for d in found} == {"same-type", "rounding-mode"}
    mode = next(d for d in found if d.rule == "rounding-mode")
    assert isinstance(mode, Diagnostic)
    assert (mode.function, mode.location, mode.found) == ("k", place, "full")
    assert mode.expected == "nearest_even or zero or negative_inf or positive_inf"
    assert str(mode) == (
        "addf in @k at /src/k.py:7:9: the operation has no such rounding mode (found full, expected "
        "nearest_even or zero or negative_inf or positive_inf) [rounding-mode]"
    )


@pytest.mark.parametrize(
    ("from_", "to", "modes"),
    [
        (t.F32, t.F8E8M0FNU, {Mode.ZERO, Mode.POSITIVE_INF}),
        (t.F32, t.F8E4M3FN, {Mode.NEAREST_EVEN}),
        (t.F8E4M3FN, t.F8E5M2, {Mode.NEAREST_EVEN}),
        (t.F16, t.F32, {*list(Mode)[:4], Mode.NEAREST_AWAY}),
        (t.F64, t.F32, set(list(Mode)[:4])),
        (t.F32, t.TF32, {Mode.NEAREST_EVEN, Mode.ZERO, Mode.NEAREST_AWAY}),
        (t.F32, t.F16, {Mode.NEAREST_EVEN, Mode.ZERO}),
        (t.F16, t.BF16, {Mode.NEAREST_EVEN, Mode.ZERO}),
        (t.F8E8M0FNU, t.F32, {Mode.NEAREST_EVEN, Mode.ZERO}),
        (t.F8E8M0FNU, t.F64, {*list(Mode)[:4], Mode.NEAREST_AWAY}),
    ],
)
def test_conversions_round_as_their_table_says(
    from_: t.NumberType, to: t.NumberType, modes: set[RoundingMode]
) -> None:
    assert set(conversion_modes(from_, to)) == modes
    base = next(
        b for b in generate.BASES[o.conversion.FToF.opcode] if b.label == f"tile<16x{from_}> -> tile<16x{to}>"
    )
    for mode in Mode:
        module = generate.Form(base, (("rounding_mode", mode),)).module()
        assert ("conversion-rounding" in rules(module)) == (mode not in modes)


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("%d", 1), ("100%%", 0), ("%", None), ("%5", None), ("%%%d", 1), ("%5.2f %s", 2), ("%q%d", 2)],
)
def test_a_format_string_takes_so_many_arguments(text: str, count: int | None) -> None:
    assert conversions(text) == count


@pytest.mark.parametrize(("element", "first"), [*FORMATS.items()], ids=str)
def test_a_target_has_a_format_or_not(element: t.NumberType, first: int) -> None:
    for type_ in (tile(element, 2), scalar(t.PointerType(element))):
        maker = Maker()
        if type_.shape:
            maker.value(type_)
        else:
            maker.parameter(type_)
        module = maker.finish()
        assert rules(module, f"sm_{first}") == set()
        assert rules(module, f"sm_{first - 1}") == {"target-format"}
        assert rules(module) == set()


def test_bf16_is_added_atomically_from_sm_89_on() -> None:
    module = form("atomic_rmw_tko", "bf16").module()
    assert rules(module, "sm_88") == {"target-bf16-atomics"}
    assert rules(module, "sm_89") == set()
    exchange = generate.Form(form("atomic_rmw_tko", "16xf16").base, (("mode", AtomicRMWMode.ADDF),)).module()
    assert rules(exchange, "sm_80") == set()
    for bad in ("sm_9", "90", "sm_90a", ""):
        with pytest.raises(ArgumentError):
            tileir.verify(module, bad)


def test_a_module_is_checked_against_its_own_version() -> None:
    module = form("atan2").module(V13_4)
    assert rules(module) == set()
    module.version = V13_1
    assert rules(module) == {"operation-version"}
    narrow = form("load_ptr_tko", "f8E8M0FNU").module(V13_4)
    narrow.version = V13_1
    assert "type-version" in rules(narrow)
    flagged = generate.Form(form("for", "nothing i32").base, (("unsignedCmp", True),)).module(V13_4)
    flagged.version = V13_1
    assert rules(flagged) == {"part-version"}
    printed = tileir.parse(
        'entry @k() { %t = print_tko "x" -> token %u = join_tokens %t, %t : token return }'
    )
    assert rules(printed) == set()
    printed.version = V13_1
    assert rules(printed) == {"result-version"}
    with pytest.raises(WriteError, match=r"the result of print_tko is used, and needs bytecode 13\.2"):
        tileir.write(printed)


def test_a_value_is_used_where_it_is_defined() -> None:
    maker = Maker()
    with maker.region() as then:
        inner = maker.constant(scalar(t.F32))
        maker.op(o.control.Yield, operands=())
    maker.op(o.control.If, condition=maker.value(scalar(t.I1)), thenRegion=then, elseRegion=None)
    maker.op(o.floating.AbsF, [scalar(t.F32)], source=inner)
    late = maker.finish()
    assert rules(late) == {"operand-defined"}
    late.functions[0].body.operations.reverse()
    assert "operand-defined" in rules(late)


def entry(*operations: object, name: str = "k") -> Module:
    maker = Maker(name)
    return maker.finish()


def test_entries_and_globals_keep_their_rules() -> None:
    maker = Maker()
    maker.parameter(tile(t.F32, 4))
    assert rules(maker.finish()) == {"entry-parameters"}
    returning = entry()
    returning.functions[0].result_types = (scalar(t.I32),)
    assert rules(returning) == {"entry-returns-nothing"}
    other = entry()
    other.functions[0].is_entry = False
    assert rules(other) == {"function-is-entry"}
    open_ended = entry()
    open_ended.functions[0].body.operations.clear()
    assert rules(open_ended) == {"entry-end"}
    twice = entry()
    Maker("k", twice).finish()
    assert rules(twice) == {"symbol-once"}
    flat = entry()
    flat.globals.append(Global("g", DenseElements(scalar(t.F32), bytes(4))))
    assert rules(flat) == {"global-rank"}
    short = entry()
    short.globals.append(Global("g", DenseElements(tile(t.F32, 4), bytes(range(8)))))
    assert rules(short) == {"global-size"}


@pytest.mark.parametrize("version", SUPPORTED)
@pytest.mark.parametrize("spelled", ["global constant @g", "global private @g", "global @g"])
def test_what_a_global_says_of_itself_needs_13_3(spelled: str, version: Version) -> None:
    module = tileir.parse(f"{spelled} <f32: 1.0> : tile<1xf32> entry @k() {{ return }}")
    module.version = version
    expected = {"global-version"} if version < V13_3 and spelled != "global @g" else set()
    assert rules(module) == expected
    if expected:
        with pytest.raises(WriteError):
            tileir.write(module)
    else:
        tileir.write(module)


def test_locations_agree_with_their_entry() -> None:
    file = loc.File("k.py", "/")
    own = loc.Subprogram(file, 1, "k", "k", loc.CompileUnit(file), 1)
    stranger = loc.Subprogram(file, 1, "k", "stranger", loc.CompileUnit(file), 1)

    def at(function: loc.Location | None, operation: loc.Location | None) -> set[str]:
        module = entry()
        module.functions[0].location = function
        module.functions[0].body.operations[0].location = operation
        return rules(module)

    def place(scope: loc.Location | None) -> loc.SourceLocation:
        return loc.SourceLocation(scope, "/k.py", 1, 1)

    assert at(place(own), place(loc.LexicalBlock(own, file, 1, 1))) == set()
    assert at(place(own), loc.CallSite(place(stranger), place(own))) == set()
    assert at(place(own), place(stranger)) == {"operation-locations"}
    assert at(None, place(own)) == {"operation-locations"}
    assert at(place(stranger), None) == {"entry-location"}
    assert at(loc.CallSite(place(own), place(own)), None) == {"entry-location"}
    assert at(place(own), place(None)) == {"location-parts"}
    assert at(place(own), loc.CallSite(file, place(own))) == {"location-parts"}
    assert "location-parts" in at(place(loc.Subprogram(None, 1, "k", "k", None, 1)), None)


def nested(kinds: str) -> Module:
    """An entry with a return inside loops and branches: f, l and i, outermost first."""
    maker = Maker()
    flag, bound = maker.value(scalar(t.I1)), maker.value(scalar(t.I32))
    body = Region((), [o.control.Return(operands=())])
    for kind in reversed(kinds):
        if kind == "i":
            inner = o.control.If(condition=flag, thenRegion=body, elseRegion=None)
            body = Region((), [inner])
        elif kind == "l":
            loop = o.control.Loop(initValues=(), body=body)
            body = Region((), [loop])
        else:
            parts = {"lowerBound": bound, "upperBound": bound, "step": bound}
            body.arguments = Region([scalar(t.I32)]).arguments
            body = Region((), [o.control.For(initValues=(), body=body, **parts)])  # type: ignore[arg-type]
        following = kinds[kinds.index(kind) - 1] if kinds.index(kind) else ""
        if following:
            body.operations.append(
                o.control.Yield(operands=()) if following == "i" else o.control.Continue(operands=())
            )
    maker.function.body.operations += body.operations
    return maker.finish()


@pytest.mark.parametrize(
    ("kinds", "legal"), [("i", True), ("l", True), ("li", True), ("fi", False), ("fli", False)]
)
def test_a_return_does_not_stand_under_a_for(kinds: str, legal: bool) -> None:
    assert ("return-in-entry" in rules(nested(kinds))) != legal


def test_odd_modules_are_answered_and_not_crashed_on() -> None:
    """Parts of wrong kinds are diagnostics, whatever they are."""
    for wrong in (None, 3, "x", (), Region(), tile(t.F32, 4)):
        maker = Maker()
        value = maker.value(tile(t.F32, 4))
        operation = o.floating.AddF(result_types=[value.type], lhs=value, rhs=value)
        for name in ("lhs", "rounding_mode"):
            operation.__dict__[name] = wrong
        maker.append(operation)
        assert rules(maker.finish()) & {"operand-present", "attribute-kind"}
    deep = Region((), [o.control.Yield(operands=())])
    maker = Maker()
    flag = maker.value(scalar(t.I1))
    for _ in range(150):
        branch = o.control.If(condition=flag, thenRegion=deep, elseRegion=None)
        deep = Region((), [branch, o.control.Yield(operands=())])
    maker.function.body.operations += deep.operations[:1]
    assert "region-depth" in rules(maker.finish())


@needs_tileiras
def test_the_disassembler_refuses_what_we_refuse() -> None:
    """A slice of ``tests.campaigns.illegal_modules``."""
    counts = {True: 0, False: 0}
    differing = []
    for opcode in sorted(registry.BY_OPCODE):
        kind = registry.BY_OPCODE[opcode]
        for change in list(generate.breaks_of(kind, 1))[::23]:
            module = change.module()
            if module.version > V13_4:
                continue
            ours = bool(tileir.verify(module))
            try:
                tileir.write(module)
            except WriteError:
                continue
            try:
                tileir.disassemble(module)
                theirs = False
            except AssemblerError:
                theirs = True
            counts[theirs] += 1
            if ours != theirs:
                differing.append(f"{kind.mnemonic} {change.label}")
    assert differing == []
    assert counts[True] > 200
    assert counts[False] > 5
