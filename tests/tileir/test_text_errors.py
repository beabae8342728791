"""What is wrong with a text: the rule, the place, and what was found and expected."""

from __future__ import annotations

import pytest

import tileir
from tileir.errors import TextError

HEAD = "entry @k(%n: tile<i32>, %x: tile<f32>, %p: tile<ptr<f32>>, %c: tile<i1>) {\n"


@pytest.mark.parametrize(
    ("body", "rule", "line", "column", "says"),
    [
        ("  %a = addq %n", "operation-name", 2, 8, "addq"),
        ("  %a = addi %n %n : tile<i32>", "syntax", 2, 16, "expected ','"),
        ("  %a = addi %n, %m : tile<i32>", "value-undefined", 2, 17, "%m"),
        ("  %a = addi %n, %n : tile<i64>", "value-type", 2, 22, "expected tile<i32>"),
        ("  %n = addi %n, %n : tile<i32>", "value-name", 2, 3, "%n"),
        ("  %a, %b = addi %n, %n : tile<i32>", "result-count", 2, 12, "found 2, expected 1"),
        ("  %a = cmpi below %n, %n, signed : tile<i32> -> tile<i1>", "keyword", 2, 13, "less_than"),
        ("  %a = constant <i8: 256> : tile<i8>", "integer-range", 2, 22, "-128 to 255"),
        ("  %a = constant <i8: 1.5> : tile<i8>", "number-form", 2, 22, "1.5"),
        ("  %a = constant <f32: 1> : tile<f32>", "number-form", 2, 23, "point"),
        ("  %a = constant <f8E4M3FN: 500.0> : tile<f8E4M3FN>", "number-range", 2, 28, "500.0"),
        ("  %a = constant <i8: [1, 2]> : tile<4xi8>", "constant-shape", 2, 22, "expected [4]"),
        ("  %a = constant <i8: [[1, 2], [3]]> : tile<2x2xi8>", "constant-shape", 2, 31, "found [1]"),
        ('  %a = constant <i32: "0x01"> : tile<2xi32>', "constant-size", 2, 23, "1 bytes"),
        ("  %a = constant <i16: 1> : tile<i8>", "constant-type", 2, 18, "expected i8"),
        ("  %a = iota : tile<4xq32>", "type-name", 2, 22, "q32"),
        ("  %a = iota : tile<4x>", "syntax", 2, 22, "a type"),
        ("  %a = iota : tile<0xi32>", "integer-range", 2, 20, "found 0"),
        ("  %a = iota : tile<4xi32", "syntax", 2, 19, "not closed"),
        ("  ^bb0:", "block-count", 2, 3, "one block"),
        ('  print_tko "a\\q" -> token', "string-escape", 2, 15, "hexadecimal"),
        ("  %a = assume even, %n : tile<i32>", "keyword", 2, 15, "div_by"),
        (
            "  %t = make_tensor_view %p, shape = [4], strides = [1] : tensor_view<8xf32, strides=[1]>",
            "tensor-shape",
            *(2, 37, "expected [8]"),
        ),
        ("  return loc(fused[])", "location", 2, 14, "callsite"),
        ("  return loc(#nowhere)", "alias", 2, 14, "#nowhere"),
        ("  %a = addi %n#1, %n : tile<i32>", "value-number", 2, 13, "%n#1"),
    ],
)
def test_a_line_that_is_wrong(body: str, rule: str, line: int, column: int, says: str) -> None:
    with pytest.raises(TextError) as caught:
        tileir.parse(HEAD + body + "\n}\n", file="k.mlir")
    error = caught.value
    assert (error.rule, error.line, error.column) == (rule, line, column)
    assert str(error).startswith(f"k.mlir:{line}:{column}")
    assert says in str(error)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("entry @k() {", "syntax"),
        ("entry @k() { } entry @k() { }", "symbol"),
        ("#a = #b\n#b = #a\n", "alias-cycle"),
        ("!a = !b\n!b = !a\n", "alias-cycle"),
        ("entry k() { }", "syntax"),
        ("cuda_tile.module @m attributes {x = 1} { }", "module-attribute"),
        ("entry @k() { } }", "syntax"),
        ('global @g <i8: "0xZZ"> : tile<1xi8>', "constant-hex"),
        ("entry @k() optimization_hints=<a = {}, a = {}> { }", "dictionary-key"),
        ("entry @k() optimization_hints=<a = {x = 1, x = 2}> { }", "dictionary-key"),
        ("\0", "syntax"),
        ("entry @k(%a: tile<" + "8x" * 300 + "f32>) { }", "rank"),
        ("#a = " + "[" * 100, "attribute-depth"),
        ("entry @k(%c: tile<i1>) { " + "if %c { " * 300, "region-depth"),
        ("#a = " + "9" * 5000, "number-length"),
        ("#a = 1." + "9" * 5000, "number-length"),
    ],
)
def test_a_text_that_is_wrong(text: str, rule: str) -> None:
    with pytest.raises(TextError) as caught:
        tileir.parse(text)
    assert caught.value.rule == rule
    assert caught.value.line is not None


def test_an_empty_text_is_an_empty_module() -> None:
    assert tileir.parse(" // nothing\n") == tileir.Module()
    assert tileir.render(tileir.Module()) == "\n"
