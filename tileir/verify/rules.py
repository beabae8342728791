"""The rules: small functions, each about one thing, that are registered for the operations they are about.

A rule is a generator: it is given an operation whose declared form is right (see ``declared``) and yields a
``Problem`` for everything that is wrong with it. Its name, with dashes, is the name of the rule.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ..module import Function, Global, Module, Operation, Region, Value
from .diagnostic import Problem

Problems = Iterator[Problem]
Rule = Callable[[Any, "Context"], Problems]
R = TypeVar("R", bound=Rule)


@dataclass(slots=True)
class Context:
    """What is around an operation.

    Attributes:
        module: the module it is in.
        function: the function it is in.
        parents: the operations around it, outermost first, each with the region that was entered.
        globals: the globals of the module, by name.
        defined: the values that may be used here.
    """

    module: Module
    function: Function
    parents: list[tuple[Operation, Region]] = field(default_factory=list)
    globals: dict[str, Global] = field(default_factory=dict)
    defined: set[Value] = field(default_factory=set)

    def nearest(self, *kinds: type[Operation]) -> Operation | None:
        """The innermost operation around this one that is one of ``kinds``."""
        return next((op for op, _ in reversed(self.parents) if isinstance(op, kinds)), None)


RULES: dict[int, list[tuple[str, Rule]]] = defaultdict(list)
"""The rules of each operation, by opcode, in the order they are checked."""


def rule(*kinds: type[Operation]) -> Callable[[R], R]:
    """Register the function as a rule for ``kinds``."""

    def register(function: R) -> R:
        for kind in kinds:
            RULES[kind.opcode].append((name_of(function), function))
        return function

    return register


def name_of(function: Callable[..., Any]) -> str:
    """The name of the rule that a function is."""
    return function.__name__.replace("_", "-")
