"""Rules of bytecode versions: what is newer than the module's own."""

from __future__ import annotations

from ..attributes import SymbolVisibility
from ..module import Global, Module, Operation
from ..types import F4E2M1FN, PointerType, TileType, Type, first_version
from ..version import V13_3, V13_5
from .diagnostic import Problem
from .rules import Context, Problems


def global_version(global_: Global, module: Module) -> Problems:
    """A global that is constant, or not public, needs a version that says so."""
    if module.version < V13_3:
        if global_.constant:
            yield Problem("a constant global needs bytecode 13.3", module.version)
        if global_.visibility is not SymbolVisibility.PUBLIC:
            yield Problem(f"a {global_.visibility} global needs bytecode 13.3", module.version)


def operation_version(op: Operation, context: Context) -> Problems:
    """The operation is in the module's bytecode version."""
    if op.since > context.module.version:
        yield Problem(f"the operation needs bytecode {op.since}", context.module.version)


def part_version(op: Operation, context: Context) -> Problems:
    """A part newer than the module's bytecode version has the meaning of being left out."""
    declaration = op.declaration
    for part in (*declaration.operands, *declaration.attributes, *declaration.flags):
        if part.since is None or part.since <= context.module.version:
            continue
        default = declaration.defaults.get(part.name)
        meaning = default(op.__dict__) if callable(default) else default
        if op.__dict__[part.name] != meaning:
            yield Problem(f"{part.name} needs bytecode {part.since}", context.module.version)


def result_version(op: Operation, context: Context) -> Problems:
    """What is used was written: a result newer than the module's version may be there, but in no bytes."""
    for value in op.uses:
        owner = value.owner
        if not isinstance(owner, Operation):
            continue
        parts = owner.declaration.results
        since = parts[-1 if value.index >= len(parts) else value.index].since
        if since is not None and since > context.module.version:
            yield Problem(f"the result of {owner.mnemonic} needs bytecode {since}", context.module.version)


def type_version(type_: Type, module: Module) -> Problems:
    """A type is in the module's bytecode version."""
    since = first_version(type_)
    if since > module.version:
        yield Problem(f"the type {type_} needs bytecode {since}", module.version)


def f4_pointer_is_scalar(type_: Type, module: Module) -> Problems:
    """From 13.5 on there are no tiles of pointers to f4E2M1FN: views are its way into memory.

    The disassembler of 13.5 asks for this of older bytecode too; that of 13.4 does not.
    """
    if module.version < V13_5 or not isinstance(type_, TileType) or not type_.shape:
        return
    if isinstance(type_.element, PointerType) and type_.element.pointee is F4E2M1FN:
        yield Problem("pointers to f4E2M1FN are scalars", type_)
