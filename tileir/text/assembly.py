"""The assembly format of an operation: one line in its declaration, read by the printer and the parser.

The format says what follows the operation's name, spaces included:

====================  ====================================================================
``%lhs``              an operand; a variadic one is a list parted by commas
``$rounding_mode``    an attribute, spelled by its kind; a flag is spelled by its own name
``@name``             an attribute that names a symbol
``type(lhs)``         the type of an operand or a result; a list of them for a variadic one
``type(lhs, result)`` the one type that all of these have
``each(index)``       the one type that every value of a variadic part has, or all their types
``{, %mask}?``        a group that is there if its first part is: an operand that is given,
                      a flag that is set, an attribute that is not its default
``{ $a| $b}*``        such groups, printed in this order and read in any
``#body``             a region as a block; a terminator without operands may be left out
``^body``             a region with its arguments, on a line of its own
====================  ====================================================================

Everything else stands for itself, and ``{{`` and ``}}`` for a brace.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Literal:
    """Text that stands for itself."""

    text: str


@dataclass(frozen=True, slots=True)
class Use:
    """An operand."""

    name: str


@dataclass(frozen=True, slots=True)
class Attr:
    """An attribute or a flag."""

    name: str


@dataclass(frozen=True, slots=True)
class Symbol:
    """A string attribute that names a symbol."""

    name: str


@dataclass(frozen=True, slots=True)
class TypeOf:
    """The type of the last of ``names``, which all of them have."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Each:
    """The one type of every value of a variadic part, or all their types if they differ."""

    name: str


@dataclass(frozen=True, slots=True)
class Block:
    """A region; ``arguments`` says whether its arguments are spelled before it."""

    name: str
    arguments: bool


@dataclass(frozen=True, slots=True)
class Group:
    """Elements that are there if the part called ``anchor`` is."""

    anchor: str
    elements: tuple[Element, ...]


@dataclass(frozen=True, slots=True)
class AnyOrder:
    """Groups that may be read in any order."""

    groups: tuple[Group, ...]


Element = Literal | Use | Attr | Symbol | TypeOf | Each | Block | Group | AnyOrder

_TOKEN = re.compile(
    r"%(?P<use>\w+)|\$(?P<attr>\w+)|@(?P<symbol>\w+)|type\((?P<type>[^)]*)\)|each\((?P<each>\w+)\)"
    r"|(?P<brace>\{\{|\}\})|#(?P<block>\w+)(?!\.|\w)|\^(?P<body>\w+)|(?P<open>\{)|(?P<close>\}[?*])|(?P<bar>\|)"
)


def parse_format(text: str) -> tuple[Element, ...]:
    """The elements of a format; a mistake in one is a mistake in this package (AssertionError)."""
    levels: list[list[list[Element]]] = [[[]]]
    position = 0
    for match in _TOKEN.finditer(text):
        here = levels[-1][-1]
        if match.start() > position:
            _literal(here, text[position : match.start()])
        position = match.end()
        kind, value = match.lastgroup, match[match.lastgroup or 0]
        match kind:
            case "brace":
                _literal(here, value[0])
            case "use":
                here.append(Use(value))
            case "attr":
                here.append(Attr(value))
            case "symbol":
                here.append(Symbol(value))
            case "type":
                here.append(TypeOf(tuple(name.strip() for name in value.split(","))))
            case "each":
                here.append(Each(value))
            case "block" | "body":
                here.append(Block(value, kind == "body"))
            case "open":
                levels.append([[]])
            case "bar":
                levels[-1].append([])
            case "close":
                groups = tuple(Group(_anchor(g), tuple(g)) for g in levels.pop())
                levels[-1][-1].append(groups[0] if value == "}?" else AnyOrder(groups))
    if position < len(text):
        _literal(levels[-1][-1], text[position:])
    if len(levels) != 1 or len(levels[0]) != 1:
        raise AssertionError(f"unbalanced groups in the format {text!r}")
    return tuple(levels[0][0])


def _literal(elements: list[Element], text: str) -> None:
    if elements and isinstance(elements[-1], Literal):
        text = elements.pop().text + text  # type: ignore[union-attr]
    elements.append(Literal(text))


def _anchor(elements: list[Element]) -> str:
    for element in elements:
        match element:
            case Use(name) | Attr(name) | Symbol(name) | Each(name) | Block(name):
                return name
            case TypeOf(names):
                return names[0]
    raise AssertionError(f"a group without a part: {elements}")
