"""MLIR's generic form, of everything that is declared, and what else other tools put around the dialect's text."""

from __future__ import annotations

import pytest

import tileir
from tileir import registry
from tileir import types as t
from tileir.errors import TextError
from tileir.locations import SourceLocation, Subprogram
from tileir.version import V13_5

from .generic_form import spell
from .test_text_forms import forms


@pytest.mark.parametrize("mnemonic", sorted(registry.BY_NAME))
def test_the_generic_form_is_the_same_module(mnemonic: str) -> None:
    for form in forms().get(mnemonic, [])[:48]:
        module = form.module(V13_5)
        assert tileir.parse(spell(module)) == module, form.label


WHOLE = """
global constant @table alignment = 64 <i32: [1, 2]> : tile<2xi32>
global private @seed <f64: 0.5> : tile<1xf64>
entry @count(%n: tile<i32>, %p: tile<ptr<i32>>) optimization_hints = <sm_90 = {occupancy = 2}> {
  %zero = constant <i32: 0> : tile<i32>
  %one = constant <i32: 1> : tile<i32>
  %sum = for %i in (%zero to %n, step %one) : tile<i32> iter_values(%s = %zero) -> (tile<i32>) {
    %odd = trunci %i : tile<i32> -> tile<i1>
    %more = if %odd -> (tile<i32>) {
      %a = addi %s, %i overflow<no_signed_wrap> : tile<i32>
      yield %a : tile<i32>
    } else {
      yield %s : tile<i32>
    }
    continue %more : tile<i32>
  }
  %t = store_ptr_tko weak %p, %sum : tile<ptr<i32>>, tile<i32> -> token
  if %odd_unused {
    return
  }
  return
}
""".replace("  if %odd_unused {\n    return\n  }\n", "")


def test_globals_hints_and_nested_regions() -> None:
    module = tileir.parse(WHOLE)
    module.producer = "a test"
    again = tileir.parse(spell(module))
    assert again == module
    assert again.name == module.name
    assert tileir.verify(again) == []


def body(line: str) -> str:
    return f"entry @k(%x: tile<2xf32>, %n: tile<i32>, %p: tile<ptr<f32>>) {{\n  {line}\n  return\n}}"


def test_the_forms_stand_side_by_side_and_properties_may_stand_behind() -> None:
    generic = body(
        '%a = "cuda_tile.mulf"(%x, %x) <{flush_to_zero}> {rounding_mode = #cuda_tile.rounding<zero>} '
        ": (tile<2xf32>, !cuda_tile.tile<2xf32>) -> tile<2xf32>\n  %b = negf %a : tile<2xf32>"
    )
    own = body("%a = mulf %x, %x rounding<zero> flush_to_zero : tile<2xf32>\n  %b = negf %a : tile<2xf32>")
    assert tileir.parse(generic) == tileir.parse(own)


def test_what_has_no_form_of_its_own_is_read_for_the_verifier_to_refuse() -> None:
    text = body(
        '%c = "cuda_tile.cmpi"(%n, %n) <{comparison_predicate = #cuda_tile.comparison_predicate<equal>, '
        "signedness = #cuda_tile.signedness<signed>}> : (tile<i32>, tile<i32>) -> tile<4xi1>"
    )
    rules = [d.rule for d in tileir.verify(tileir.parse(text)) if d.operation == "cmpi"]
    assert rules == ["comparison-types"]


@pytest.mark.parametrize(
    ("line", "rule", "says"),
    [
        ('"arith.addf"(%x, %x) : (tile<2xf32>, tile<2xf32>) -> tile<2xf32>', "operation-name", "arith"),
        ('"cuda_tile.nothing"() : () -> ()', "operation-name", "cuda_tile.nothing"),
        ('"cuda_tile.negf"(%n) : (tile<2xf32>) -> tile<2xf32>', "value-type", "tile<2xf32>"),
        ('"cuda_tile.negf"(%x, %x) : (tile<2xf32>, tile<2xf32>) -> tile<2xf32>', "operand-count", "source"),
        ('"cuda_tile.negf"(%x) <{flush_to_zero}> : (tile<2xf32>) -> tile<2xf32>', "attribute-name", "unknown"),
        ('"cuda_tile.rsqrt"(%x) <{flush_to_zero, flush_to_zero}> : (tile<2xf32>) -> ()', "attribute-name", "twice"),
        ('"cuda_tile.absi"(%n) : (tile<i32>, tile<i32>) -> tile<i32>', "type-count", "found 2"),
        ('"cuda_tile.exti"(%n) : (tile<i32>) -> tile<i64>', "part-missing", "signedness"),
        (
            '%a:2 = "cuda_tile.negf"(%x) : (tile<2xf32>) -> tile<2xf32>',
            "result-count",
            "found 2, expected 1",
        ),
        (
            '%a, %t = "cuda_tile.load_ptr_tko"(%p, %n, %n) : (tile<ptr<f32>>, tile<i32>, tile<i32>) -> (tile<f32>, token)',
            "operand-segments",
            "operandSegmentSizes",
        ),
        (
            '"cuda_tile.exti"(%n) <{signedness = #cuda_tile.signedness<odd>}> : (tile<i32>) -> tile<i64>',
            "keyword",
            "unsigned or signed",
        ),
        ('"cuda_tile.exti"(%n) <{signedness = 2 : i32}> : (tile<i32>) -> tile<i64>', "keyword", "found 2"),
        ('"cuda_tile.loop"() : () -> ()', "region-count", "found 0, expected 1"),
        ('"cuda_tile.reduce"(%x) <{dim = 0 : i32, identities = dense<0> : tile<i32>}> ({}) : (tile<2xf32>) -> ()',
         "syntax", "'['"),
    ],
)  # fmt: skip
def test_a_generic_form_that_is_wrong(line: str, rule: str, says: str) -> None:
    with pytest.raises(TextError) as caught:
        tileir.parse(body(line))
    assert caught.value.rule == rule
    assert caught.value.line == 2
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("properties", "rule"),
    [
        ("function_type = (tile<i32>) -> (), sym_name = \"k\"", "value-type"),
        ("function_type = () -> ()", "part-missing"),
        ("function_type = () -> (), sym_name = \"k\", sym_visibility = \"private\"", "attribute-name"),
    ],
)  # fmt: skip
def test_a_generic_entry_that_is_wrong(properties: str, rule: str) -> None:
    with pytest.raises(TextError) as caught:
        tileir.parse(
            f'"cuda_tile.entry"() <{{{properties}}}> ({{ "cuda_tile.return"() : () -> () }}) : () -> ()'
        )
    assert caught.value.rule == rule


MODULES = """
#unit = #cuda_tile.di_compile_unit<file = #file>
#file = #cuda_tile.di_file<"f.py" in "/src">
cuda_tile.module @first {
  entry @k() { return }
}
!many = tile<8xi32>
cuda_tile.module @second {
  entry @k() { %i = iota : !many return }
}
"""


@pytest.mark.parametrize(
    "around", ["{}", "module {{ {} }}", "module attributes {{gpu.container_module, a.b = 3 : i32}} {{ {} }}"]
)
def test_several_modules_in_one_text(around: str) -> None:
    text = around.format(MODULES)
    first, second = tileir.parse_all(text)
    assert (first.name, second.name) == ("first", "second")
    assert [f.name for f in first.functions] == ["k"]
    assert second.functions[0].body.operations[0].results[0].type == t.TileType((8,), t.I32)
    with pytest.raises(TextError) as caught:
        tileir.parse(text)
    assert caught.value.rule == "module-count"
    assert "found 2" in str(caught.value)


def test_a_text_without_modules_is_one() -> None:
    assert tileir.parse_all("entry @k() { return }") == [tileir.parse("entry @k() { return }")]
    assert tileir.parse_all("") == [tileir.Module()]


def test_a_name_of_several_values_is_the_first_of_them() -> None:
    own = "%v, %t = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token\n  %a = negf %v : tile<f32>"
    packed = "%v:2 = load_ptr_tko weak %p : tile<ptr<f32>> -> tile<f32>, token\n  %a = negf %v : tile<f32>"
    assert tileir.parse(body(packed)) == tileir.parse(body(own))


def test_a_power_under_its_former_name() -> None:
    former = tileir.parse(body("%y = pow %x, %x : tile<2xf32>"))
    assert former == tileir.parse(body("%y = fpowf %x, %x : tile<2xf32>"))


def test_a_subprogram_may_leave_out_where_its_scope_begins() -> None:
    text = (
        '#f = #cuda_tile.di_file<"f.py" in "/src">\n#u = #cuda_tile.di_compile_unit<file = #f>\n'
        '#s = #cuda_tile.di_subprogram<file = #f, line = 3, name = "k", linkageName = "k", compileUnit = #u>\n'
        'entry @k() { return } loc(#cuda_tile.di_loc<loc("f.py":3:1) in #s>)'
    )
    location = tileir.parse(text).functions[0].location
    assert isinstance(location, SourceLocation)
    assert isinstance(location.scope, Subprogram)
    assert (location.scope.line, location.scope.scope_line) == (3, 0)


@pytest.mark.parametrize(
    ("text", "rule", "says"),
    [
        ('entry @k() { return loc("a name") }', "location", "a name"),
        ('entry @k() { return loc("a name"(unknown)) }', "location", "a name"),
        ("entry @k() { return } {a = 0}", "attribute-name", "cannot hold"),
        ("entry @k(%n: tile<i32>) { %m = negi %n : tile<i32> {a} return }", "attribute-name", "cannot hold"),
        ('module { "gpu.module"() : () -> () }', "operation-name", "gpu.module"),
    ],
)
def test_what_the_bytecode_cannot_hold(text: str, rule: str, says: str) -> None:
    with pytest.raises(TextError) as caught:
        tileir.parse(text)
    assert caught.value.rule == rule
    assert says in str(caught.value)
