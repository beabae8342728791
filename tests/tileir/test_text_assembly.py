"""The formats in the declarations: how they are read, and that they spell all there is."""

from __future__ import annotations

import pytest

from tileir import registry
from tileir.module import Operation
from tileir.text.assembly import (
    AnyOrder,
    Attr,
    Block,
    Each,
    Element,
    Group,
    Literal,
    Symbol,
    TypeOf,
    Use,
    parse_format,
)
from tileir.text.custom import PARSERS, PRINTERS


def test_a_format() -> None:
    assert parse_format("%a, $b{ token=%c}? : type(a, r)") == (
        Use("a"),
        Literal(", "),
        Attr("b"),
        Group("c", (Literal(" token="), Use("c"))),
        Literal(" : "),
        TypeOf(("a", "r")),
    )
    assert parse_format("{ $x| $y}*{{%z}}") == (
        AnyOrder((Group("x", (Literal(" "), Attr("x"))), Group("y", (Literal(" "), Attr("y"))))),
        Literal("{"),
        Use("z"),
        Literal("}"),
    )


@pytest.mark.parametrize("text", ["{%a", "%a}?", "{, }?"])
def test_a_mistake_in_a_format(text: str) -> None:
    with pytest.raises((AssertionError, IndexError)):
        parse_format(text)


def spelled(elements: tuple[Element, ...]) -> set[str]:
    names: set[str] = set()
    for element in elements:
        match element:
            case Use(name) | Attr(name) | Symbol(name) | Block(name, _) | Each(name):
                names.add(name)
            case TypeOf(parts):
                names |= set(parts)
            case Group(_, inner):
                names |= spelled(inner)
            case AnyOrder(groups):
                names |= spelled(groups)
    return names


@pytest.mark.parametrize("kind", registry.BY_NAME.values(), ids=lambda k: k.mnemonic)
def test_every_part_is_spelled(kind: type[Operation]) -> None:
    if kind in PRINTERS:
        assert kind in PARSERS
        return
    names = spelled(parse_format(kind.assembly))
    declaration = kind.declaration
    parts = {p.name for p in (*declaration.results, *declaration.operands)}
    assert declaration.names <= names
    assert names <= declaration.names | parts
