"""The instruction reference of the documentation, made from the declarations.

``python -m tileir.reference > docs/instructions.md`` writes it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator
from enum import EnumMeta
from typing import Any

from . import ops, registry
from .declare import AttributePart, Elements, FlagPart, OperandPart, RegionPart, ResultPart
from .module import Operation
from .ops import elements
from .types import NUMBERS
from .version import SUPPORTED, V13_1

PREFACE = """\
# Instructions

Every operation of CUDA Tile IR that this package knows, bytecode {oldest} to {newest}. This page is made from
the declarations in `tileir.ops` by `python -m tileir.reference`; do not edit it.

*Form* is what the text holds: `%x` is an operand, `$x` an attribute, `type(x)` the type of an operand or a
result, `each(x)` the one type of several values (or all of their types), `@x` a symbol, `#x` a block, `^x` a
block with arguments. What stands in `{{...}}?` is there if its first part is; `{{a|b}}*` are such groups,
which may be read in any order; `{{{{` and `}}}}` are braces. A part without a version is as old as its
operation.

An *integer* is {integers}; a *float* is {floats}; a *number* is an integer, a float, {others}.
"""

_KINDS = {
    "int": "integer",
    "bool": "`true` or `false`",
    "str": "string",
    "array": "list of numbers",
    "tagged": "claim: `div_by<...>`, `same_elements<...>` or `bounded<...>`",
    "optimization_hints": "hints by architecture",
    "dense_int32_array": "list of integers",
    "dense_bool_array": "list of `true` and `false`",
    "dense_typed_elements": "elements of a tile",
}


def reference() -> str:
    """The page, as Markdown."""
    return "".join(_page())


def _page() -> Iterator[str]:
    others = sorted(elements.NUMBER - elements.INTEGER - elements.FLOAT, key=list(NUMBERS).index)
    yield PREFACE.format(
        oldest=SUPPORTED[0],
        newest=SUPPORTED[-1],
        integers=_listed(elements.INTEGER, "or"),
        floats=_listed(elements.FLOAT, "or"),
        others=_listed(others, "or"),
    )
    for family in ops.__all__:
        module = getattr(ops, family)
        kinds = [k for k in registry.BY_NAME.values() if k.__module__ == module.__name__]
        if not kinds:
            continue
        title = (inspect.getdoc(module) or family).splitlines()[0].rstrip(".")
        yield f"\n## {title}\n"
        for kind in sorted(kinds, key=lambda k: k.mnemonic):
            yield from _operation(kind)


def _operation(kind: type[Operation]) -> Iterator[str]:
    since = "" if kind.since == V13_1 else f", since {kind.since}"
    summary = inspect.cleandoc(kind.__doc__ or "").replace("``", "`")
    yield f"\n### `{kind.mnemonic}`\n\n{summary}\n\n"
    yield f"Opcode {kind.opcode}{since}. Form: {_form(kind)}\n"
    rows = list(_rows(kind))
    if rows:
        yield "\n| part | | what | since |\n| --- | --- | --- | --- |\n"
        for row in rows:
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n"


def _form(kind: type[Operation]) -> str:
    from .text.custom import PRINTERS

    custom = PRINTERS.get(kind)
    if custom is not None:
        return (inspect.getdoc(custom) or "").rstrip(".").replace("``", "`")
    return f"`{kind.mnemonic} {kind.assembly}`" if kind.assembly else f"`{kind.mnemonic}`"


def _rows(kind: type[Operation]) -> Iterator[tuple[str, str, str, str]]:
    declaration = kind.declaration
    parts: tuple[Any, ...] = (
        *declaration.operands,
        *declaration.attributes,
        *declaration.flags,
        *declaration.regions.values(),
        *declaration.results,
    )
    for part in parts:
        since = "" if part.since is None else str(part.since)
        yield f"`{part.name.rstrip('_')}`", _role(part), _what(part), since


def _role(part: Any) -> str:
    match part:
        case OperandPart(kind=kind):
            return {"one": "operand", "optional": "optional operand", "variadic": "operands"}[kind]
        case AttributePart():
            return "attribute" if not part.has_default else "optional attribute"
        case FlagPart():
            return "flag"
        case RegionPart():
            return "optional region" if part.optional else "region"
        case ResultPart():
            return "results" if part.variadic else "result"
    raise AssertionError(f"no role for {part!r}")


def _what(part: Any) -> str:
    if isinstance(part, AttributePart):
        kind: Any = part.kind
        members: list[Any] = list(kind) if isinstance(kind, EnumMeta) else []
        text = " or ".join(f"`{m}`" for m in members) or _KINDS[kind]
        if part.has_default and part.default is not None:
            default = "all `false`" if callable(part.default) else f"`{part.default}`"
            text += f"; {default} if not given"
        return text
    allowed: Elements | None = getattr(part, "elements", None)
    if allowed is None:
        return ""
    return f"tile of {_NAMED.get(allowed) or _listed(allowed, 'or')}"


_NAMED: dict[Elements, str] = {
    elements.INTEGER: "integers",
    elements.FLOAT: "floats",
    elements.NUMBER: "numbers",
    elements.ANY: "anything",
    elements.POINTERS: "pointers",
}


def _listed(names: Iterable[str], last: str) -> str:
    order = [*NUMBERS, elements.POINTER]
    *words, final = [f"`{name}`" for name in sorted(names, key=order.index)]
    return f"{', '.join(words)} {last} {final}" if words else final


if __name__ == "__main__":
    sys.stdout.write(reference())
