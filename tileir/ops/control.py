"""Control flow: branches, loops and their terminators."""

from __future__ import annotations

from ..declare import flag, operand, region, variadic, variadic_results
from ..module import Operation, Region, Value
from ..version import V13_2
from .elements import BOOL, INTEGER


class Break(Operation, opcode=10, count_operands=True, count_results=True):
    """Leave the innermost ``loop`` with its results."""

    operands: tuple[Value, ...] = variadic()
    assembly = "{%operands : type(operands)}?"


class Continue(Operation, opcode=17, count_operands=True, count_results=True):
    """Go on with the innermost loop's next iteration."""

    operands: tuple[Value, ...] = variadic()
    assembly = "{%operands : type(operands)}?"


class For(Operation, opcode=41, count_operands=True, count_results=True):
    """A loop over [``lowerBound``, ``upperBound``) by ``step``, carrying values.

    The body's arguments are the induction variable and the carried values.
    """

    lowerBound: Value = operand(INTEGER)
    upperBound: Value = operand(INTEGER)
    step: Value = operand(INTEGER)
    initValues: tuple[Value, ...] = variadic()
    unsignedCmp: bool = flag(0, since=V13_2)
    body: Region = region()
    results = variadic_results()
    result_name = "for"


class If(Operation, opcode=50, count_results=True):
    """One of two regions; their ``yield`` gives the results."""

    condition: Value = operand(BOOL)
    thenRegion: Region = region()
    elseRegion: Region | None = region(optional=True)
    results = variadic_results()
    assembly = "%condition{ -> (type(results))}? #thenRegion{ else #elseRegion}?"


class Loop(Operation, opcode=65, count_operands=True, count_results=True):
    """A loop that runs until a ``break``, carrying values."""

    initValues: tuple[Value, ...] = variadic()
    body: Region = region()
    results = variadic_results()


class Return(Operation, opcode=92, count_operands=True, count_results=True):
    """End the kernel for this block."""

    operands: tuple[Value, ...] = variadic()
    assembly = "{%operands : type(operands)}?"


class Yield(Operation, opcode=109, count_operands=True, count_results=True):
    """Give values to the operation around the region."""

    operands: tuple[Value, ...] = variadic()
    assembly = "{%operands : type(operands)}?"
