"""Attributes as the disassembler spells them."""

from __future__ import annotations

from .. import attributes as a
from ..types import TF32, NumberType, Type
from .numbers import is_hexadecimal, spell_float, spell_integer, spell_number
from .strings import escape, keyword_or_string

HEX_LIMIT = 100
"""A constant of more elements than this, not all the same, is spelled as its bytes."""


def spell_attribute(attribute: a.Attribute) -> str:
    """``attribute`` with its type, where another than the default."""
    match attribute:
        case a.IntegerAttribute(type_, bits):
            text = spell_integer(bits, type_)
            return text if type_.width in (1, 64) else f"{text} : {type_}"
        case a.FloatAttribute(type_, bits):
            text = spell_float(bits, type_)
            return text if type_.name == "f64" and not is_hexadecimal(text) else f"{text} : {type_}"
        case a.BoolAttribute(value):
            return "true" if value else "false"
        case a.StringAttribute(value):
            return escape(value)
        case a.TypeAttribute(type_):
            return spell_prefixed(type_)
        case a.ArrayAttribute(elements):
            return spell_array(elements)
        case a.DictionaryAttribute():
            return (
                "{"
                + ", ".join(f"{keyword_or_string(k)} = {spell_attribute(v)}" for k, v in by_key(attribute))
                + "}"
            )
        case a.DenseElements():
            return f"dense<{spell_elements(attribute)}> : {spell_prefixed(attribute.type)}"
        case a.OptimizationHints():
            return f"#cuda_tile.optimization_hints{spell_hints(attribute)}"
        case a.AssumePredicate():
            return f"#cuda_tile.{spell_predicate(attribute)}"
    raise AssertionError(f"no spelling for {attribute!r}")


def spell_prefixed(type_: Type) -> str:
    """A type outside the dialect's own forms: with its dialect."""
    return str(type_) if isinstance(type_, NumberType) else f"!cuda_tile.{type_}"


def spell_array(elements: tuple[a.Attribute, ...]) -> str:
    """A list of attributes."""
    return "[" + ", ".join(map(spell_attribute, elements)) + "]"


def by_key(dictionary: a.DictionaryAttribute) -> list[tuple[str, a.Attribute]]:
    """The entries in the order of their keys' bytes, which is how MLIR keeps a dictionary."""
    return sorted(dictionary.entries, key=lambda entry: entry[0].encode("utf-8", "surrogateescape"))


def spell_hints(hints: a.OptimizationHints) -> str:
    """Hints in angle brackets, an architecture after the other; numbers without their types."""
    architectures = sorted(hints.architectures, key=lambda item: item[0].encode("utf-8", "surrogateescape"))
    inside = []
    for architecture, values in architectures:
        entries = ", ".join(f"{key} = {_without_type(value)}" for key, value in by_key(values))
        inside.append(f"{architecture} = {{{entries}}}")
    return f"<{', '.join(inside)}>"


def _without_type(attribute: a.Attribute) -> str:
    if isinstance(attribute, a.IntegerAttribute | a.FloatAttribute):
        return spell_number(attribute.bits, attribute.type)
    return spell_attribute(attribute)


def spell_predicate(predicate: a.AssumePredicate) -> str:
    """What an ``assume`` claims."""
    match predicate:
        case a.DivBy(divisor, every, along):
            tail = "" if every is None else f", every {every} along {along}"
            return f"div_by<{divisor}{tail}>"
        case a.SameElements(values):
            return f"same_elements<[{', '.join(map(str, values))}]>"
        case a.Bounded(lb, ub):
            return f"bounded<{'?' if lb is None else lb}, {'?' if ub is None else ub}>"
    raise AssertionError(f"no spelling for {predicate!r}")


def spell_elements(constant: a.DenseElements) -> str:
    """The elements of a constant: one for all, nested lists, or the bytes in hexadecimal."""
    element = constant.type.element
    assert isinstance(element, NumberType)
    bits = constant.bits()
    if len(bits) == 1:
        return spell_number(bits[0], element)
    if len(bits) > HEX_LIMIT:
        return f'"0x{stored(constant).hex().upper()}"'
    texts = [spell_number(b, element) for b in bits]
    for extent in reversed(constant.type.shape):
        texts = [f"[{', '.join(texts[i : i + extent])}]" for i in range(0, len(texts), extent)]
    return texts[0]


def stored(constant: a.DenseElements) -> bytes:
    """The bytes of a constant as MLIR keeps them: three for an element of tf32, which has 19 bits."""
    data = constant.data
    if constant.type.element != TF32:
        return data
    packed = bytearray(len(data) // 4 * 3)
    packed[0::3], packed[1::3], packed[2::3] = data[0::4], data[1::4], data[2::4]
    return bytes(packed)
