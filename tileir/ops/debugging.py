"""Claims, checks and prints."""

from __future__ import annotations

import builtins

from ..attributes import AssumePredicate
from ..declare import attribute, operand, optional_operand, result_of, variadic, variadic_results
from ..module import Operation, Value
from ..version import V13_2
from .elements import ANY, BOOL


class Assert(Operation, opcode=5):
    """Report ``message`` for every element of ``condition`` that is 0."""

    condition: Value = operand(BOOL)
    message: str = attribute("str")
    assembly = "%condition, $message : type(condition)"


class Assume(Operation, opcode=6):
    """The operand, claimed to satisfy ``predicate``; a false claim makes the program undefined."""

    predicate: AssumePredicate = attribute("tagged")
    value: Value = operand()
    result: Value = result_of()
    assembly = "$predicate, %value : type(value, result)"


class PrintTko(Operation, opcode=85, name="print_tko", count_results=True):
    """Print ``str`` in C's printf style; called ``print``, without tokens, before 13.2."""

    str: builtins.str = attribute("str")
    args: tuple[Value, ...] = variadic(ANY, counted=True)
    token: Value | None = optional_operand(bit=0, since=V13_2)
    results = variadic_results(since=V13_2)
    assembly = "$str{, %args}?{ token=%token}?{ : type(args)}? -> type(results)"
