"""Rules of control flow: regions, what they are given, and how they end."""

from __future__ import annotations

from ..module import Operation, Region, Value
from ..ops import control as o
from ..ops import reduction as r
from ..types import TensorViewType, TileType, Type, ViewType
from .diagnostic import Problem
from .rules import Context, Problems, rule

TERMINATORS = (o.Break, o.Continue, o.Return, o.Yield)
_ENDS: dict[type[Operation], tuple[type[Operation], ...]] = {
    o.For: (o.Continue,),
    o.Loop: (o.Break, o.Continue, o.Return),
    o.If: (o.Yield, o.Break, o.Continue, o.Return),
    r.Reduce: (o.Yield,),
    r.Scan: (o.Yield,),
}


def _spell(types: list[Type]) -> str:
    return ", ".join(map(str, types)) or "nothing"


def _types(values: tuple[Value, ...]) -> list[Type]:
    return [v.type for v in values]


@rule(*_ENDS)
def region_end(op: Operation, context: Context) -> Problems:
    """A region ends with a terminator that its operation has."""
    allowed = _ENDS[type(op)]
    for region in op.regions:
        last = region.operations[-1] if region.operations else None
        if not isinstance(last, allowed):
            found = last.mnemonic if last is not None else "nothing"
            expected = " or ".join(k.mnemonic for k in allowed)
            yield Problem(f"a region of {op.mnemonic} ends otherwise", found, expected)


def check_terminators_last(region: Region) -> Problems:
    """A terminator stands at the end of a region, and nowhere else."""
    for operation in region.operations[:-1]:
        if isinstance(operation, TERMINATORS):
            yield Problem(f"{operation.mnemonic} stands before the end of a region")


@rule(*_ENDS)
def terminator_last(op: Operation, context: Context) -> Problems:
    """A terminator stands at the end of a region, and nowhere else."""
    for region in op.regions:
        yield from check_terminators_last(region)


@rule(o.For)
def for_bounds(op: o.For, context: Context) -> Problems:
    """Bounds and step are scalars of one type, and the induction variable too."""
    types = _types((op.lowerBound, op.upperBound, op.step))
    if any(t != types[0] for t in types):
        yield Problem("bounds and step are of one type", _spell(types))
    if isinstance(types[0], TileType) and types[0].shape:
        yield Problem("bounds and step are scalars", types[0])
    arguments = _types(op.body.arguments[:1])
    if arguments != types[:1]:
        yield Problem("the induction variable is of the bounds' type", _spell(arguments), types[0])


@rule(o.For)
def for_carried(op: o.For, context: Context) -> Problems:
    """Initial values, carried values and results are of the same types."""
    initial, carried = _types(op.initValues), _types(op.body.arguments[1:])
    if carried != initial:
        yield Problem(
            "the body's carried values are of the initial ones' types", _spell(carried), _spell(initial)
        )
    if _types(op.results) != initial:
        found = _spell(_types(op.results))
        yield Problem("the results are of the initial values' types", found, _spell(initial))


@rule(o.Loop)
def loop_carried(op: o.Loop, context: Context) -> Problems:
    """Initial and carried values are of the same types."""
    initial, carried = _types(op.initValues), _types(op.body.arguments)
    if carried != initial:
        yield Problem(
            "the body's carried values are of the initial ones' types", _spell(carried), _spell(initial)
        )


@rule(o.For, o.Loop, o.If)
def no_views(op: o.For | o.Loop | o.If, context: Context) -> Problems:
    """Views are neither carried by loops nor results of them or of branches."""
    carried = () if isinstance(op, o.If) else op.initValues
    for value in (*carried, *op.results):
        if isinstance(value.type, TensorViewType | ViewType):
            yield Problem(f"a view does not pass through {op.mnemonic}", value.type)


@rule(o.If)
def if_condition(op: o.If, context: Context) -> Problems:
    """The condition is a scalar, and the regions are given nothing."""
    if isinstance(op.condition.type, TileType) and op.condition.type.shape:
        yield Problem("the condition is a scalar", op.condition.type)
    for region in op.regions:
        if region.arguments:
            yield Problem("a branch has no arguments", len(region.arguments), 0)


@rule(o.If)
def if_yields(op: o.If, context: Context) -> Problems:
    """Both branches yield the results, if they yield at all; results need an else."""
    results = _types(op.results)
    if results and op.elseRegion is None:
        yield Problem("a branch with results has an else")
    for region in op.regions:
        last = region.operations[-1] if region.operations else None
        if isinstance(last, o.Yield) and _types(last.operands) != results:
            yield Problem("a branch yields the results", _spell(_types(last.operands)), _spell(results))


def _chain(context: Context, *targets: type[Operation]) -> Operation | None:
    """The innermost operation around this one that is no ``if``, if it is one of ``targets``."""
    for parent, _ in reversed(context.parents):
        if isinstance(parent, targets):
            return parent
        if not isinstance(parent, o.If):
            return None
    return None


@rule(o.Break)
def break_in_loop(op: o.Break, context: Context) -> Problems:
    """A break leaves the ``loop`` around it, with its results."""
    loop = _chain(context, o.Loop)
    if loop is None:
        yield Problem("break stands in a loop, or in an if in one")
    elif _types(op.operands) != _types(loop.results):
        found, expected = _spell(_types(op.operands)), _spell(_types(loop.results))
        yield Problem("a break gives the results of its loop", found, expected)


@rule(o.Continue)
def continue_in_loop(op: o.Continue, context: Context) -> Problems:
    """A continue goes on with the loop around it, with the values it carries."""
    loop = _chain(context, o.Loop, o.For)
    if loop is None:
        yield Problem("continue stands in a loop, or in an if in one")
        return
    assert isinstance(loop, o.For | o.Loop)
    expected = _types(loop.initValues)
    if _types(op.operands) != expected:
        yield Problem(
            "a continue gives the values that its loop carries", _spell(_types(op.operands)), _spell(expected)
        )


@rule(o.Yield)
def yield_in_region(op: o.Yield, context: Context) -> Problems:
    """A yield ends a branch or the body of a fold."""
    parent = context.parents[-1][0] if context.parents else None
    if not isinstance(parent, o.If | r.Reduce | r.Scan):
        yield Problem("yield ends a branch, or the body of a reduction or scan")


@rule(o.Return)
def return_in_entry(op: o.Return, context: Context) -> Problems:
    """A return stands in the entry itself, or in branches and loops in it, but not under a ``for``."""
    if any(not isinstance(parent, o.If | o.Loop) for parent, _ in context.parents):
        inner = next(p for p, _ in context.parents if not isinstance(p, o.If | o.Loop))
        yield Problem(f"return does not stand under {inner.mnemonic}")


@rule(o.Return)
def return_nothing(op: o.Return, context: Context) -> Problems:
    """An entry returns nothing."""
    if op.operands:
        yield Problem("an entry returns nothing", len(op.operands), 0)
