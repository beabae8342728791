"""Asking every rule about a module."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..locations import Location
from ..module import Function, Module, Operation, Region, Value
from ..types import Type
from . import atomic, control, conversion, core, debugging, elementwise, matrix, memory, reduction, view
from .declared import STRUCTURE, TYPES
from .diagnostic import Diagnostic, Problem
from .module import FUNCTION_RULES, GLOBAL_RULES, MODULE_RULES
from .rules import RULES, Context, name_of
from .targets import TARGET_RULES, number_of, target_format
from .types import check_type
from .versions import (
    f4_pointer_is_scalar,
    global_version,
    operation_version,
    part_version,
    result_version,
    type_version,
)

FAMILIES = (*(atomic, control, conversion, core, debugging, elementwise, matrix, memory, reduction, view),)
"""The modules that register rules."""

DEPTH = 100
"""Regions nest no deeper than this in any real module."""


def verify(module: Module, target: str | None = None) -> list[Diagnostic]:
    """Every rule of the dialect that a module breaks; an empty list for a legal one.

    Args:
        module: what to check; it need not come from a file.
        target: an architecture such as ``sm_90``, to check its rules as well.

    Raises:
        ArgumentError: the target is none.
    """
    return list(_Verifier(module, target).run())


class _Verifier:
    def __init__(self, module: Module, target: str | None) -> None:
        self.module = module
        self.target = None if target is None else number_of(target)
        self.globals = {g.name: g for g in module.globals}

    def run(self) -> Iterator[Diagnostic]:
        for module_rule in MODULE_RULES:
            for problem in module_rule(self.module):
                yield _diagnostic(module_rule, problem, "module", None, None)
        for global_ in self.module.globals:
            for global_rule in GLOBAL_RULES:
                for problem in global_rule(global_):
                    yield _diagnostic(global_rule, problem, "global", global_.name, global_.location)
            for problem in global_version(global_, self.module):
                yield _diagnostic(global_version, problem, "global", global_.name, global_.location)
            for name, problem in self._type(global_.value.type):
                yield _named(name, problem, "global", global_.name, global_.location)
        for function in self.module.functions:
            yield from self._function(function)

    def _function(self, function: Function) -> Iterator[Diagnostic]:
        for function_rule in FUNCTION_RULES:
            for problem in function_rule(function):
                yield _diagnostic(function_rule, problem, "entry", function.name, function.location)
        context = Context(self.module, function, globals=self.globals)
        for value in function.parameters:
            for name, problem in self._type(value.type):
                yield _named(name, problem, "entry", function.name, function.location)
        yield from self._region(function.body, context)

    def _region(self, region: Region, context: Context) -> Iterator[Diagnostic]:
        added: list[Value] = []

        def define(values: tuple[Value, ...]) -> None:
            added.extend(v for v in values if v not in context.defined)
            context.defined.update(values)

        define(region.arguments)
        for operation in region.operations:
            yield from self._operation(operation, context)
            define(operation.results)
        context.defined.difference_update(added)

    def _operation(self, op: Operation, context: Context) -> Iterator[Diagnostic]:
        for name, problem in self._problems(op, context):
            yield _named(name, problem, op.mnemonic, context.function.name, op.location)
        if len(context.parents) >= DEPTH:
            problem = Problem("regions are nested too deep", expected=f"at most {DEPTH}")
            yield _named("region-depth", problem, op.mnemonic, context.function.name, op.location)
            return
        for region in op.regions:
            context.parents.append((op, region))
            for value in region.arguments:
                for name, problem in self._type(value.type):
                    yield _named(name, problem, op.mnemonic, context.function.name, op.location)
            yield from self._region(region, context)
            context.parents.pop()

    def _problems(self, op: Operation, context: Context) -> Iterator[tuple[str, Problem]]:
        """What is wrong with an operation; rules that rely on others are left out if those fail."""
        found = [(name_of(r), p) for r in STRUCTURE for p in r(op, context)]
        yield from found
        if found:
            return
        for version_rule in (operation_version, part_version, result_version):
            for problem in version_rule(op, context):
                yield name_of(version_rule), problem
        for value in op.results:
            yield from self._type(value.type)
        found = [(name_of(r), p) for r in TYPES for p in r(op, context)]
        yield from found
        if any(name != "operand-defined" for name, _ in found):
            return
        for name, rule in RULES.get(op.opcode, ()):
            for problem in rule(op, context):
                yield name, problem
        if self.target is not None:
            for target_rule in TARGET_RULES:
                for problem in target_rule(op, self.target):
                    yield name_of(target_rule), problem

    def _type(self, type_: Type) -> Iterator[tuple[str, Problem]]:
        yield from check_type(type_)
        for version_rule in (type_version, f4_pointer_is_scalar):
            for problem in version_rule(type_, self.module):
                yield name_of(version_rule), problem
        if self.target is not None:
            for problem in target_format(type_, self.target):
                yield name_of(target_format), problem


def _diagnostic(
    rule: Callable[..., object],
    problem: Problem,
    operation: str,
    function: str | None,
    location: Location | None,
) -> Diagnostic:
    return _named(name_of(rule), problem, operation, function, location)


def _named(
    name: str, problem: Problem, operation: str, function: str | None, location: Location | None
) -> Diagnostic:
    found = None if problem.found is None else str(problem.found)
    expected = None if problem.expected is None else str(problem.expected)
    return Diagnostic(name, operation, function, location, problem.message, found, expected)
