"""Reductions and scans."""

from __future__ import annotations

from ..attributes import Attribute
from ..declare import attribute, region, variadic, variadic_results
from ..module import Operation, Region, Value


class Reduce(Operation, opcode=88, count_operands=True, count_results=True):
    """Operands folded along ``dim`` by ``body``, whose arguments come in pairs: accumulator, element."""

    operands: tuple[Value, ...] = variadic()
    dim: int = attribute("int")
    identities: tuple[Attribute, ...] = attribute("array")
    body: Region = region()
    results = variadic_results()
    assembly = "%operands dim=$dim identities=$identities : type(operands) -> type(results) ^body"
    result_name = "reduce"


class Scan(Operation, opcode=94, count_operands=True, count_results=True):
    """The running fold along ``dim``, from the last element backwards if ``reverse``."""

    operands: tuple[Value, ...] = variadic()
    dim: int = attribute("int")
    reverse: bool = attribute("bool")
    identities: tuple[Attribute, ...] = attribute("array")
    body: Region = region()
    results = variadic_results()
    assembly = (
        "%operands dim=$dim reverse=$reverse identities=$identities : type(operands) -> type(results) ^body"
    )
