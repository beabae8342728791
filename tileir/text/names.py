"""Names of values, given as MLIR gives them.

A region is numbered as a whole before the regions inside it; each of those starts from the counters and the
names of where its parent ended, so that siblings may repeat each other's names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from ..attributes import DenseElements
from ..errors import UnsupportedError
from ..module import Operation, Region, Value
from ..ops.control import For
from ..ops.core import Constant
from ..ops.debugging import Assume
from ..ops.reduction import Reduce
from ..types import NumberType
from .numbers import FORMATS, decode, spell_integer

LONGEST_NAME = 1 << 12
"""A chain of claims about claims gives names as long as the chain."""

_INVALID = re.compile(rb"[^A-Za-z0-9$._-]")
_PLAIN = re.compile(r"[A-Za-z$._-][A-Za-z0-9$._-]*\Z")


class Names:
    """Names of all values of a function: ``of[value]`` is how it is used, ``%`` included."""

    def __init__(self) -> None:
        self.of: dict[Value, str] = {}
        self.results: dict[Operation, str] = {}
        self._used: set[str] = set()
        self._next_value = 0
        self._next_argument = 0
        self._next_conflict = 0

    def number(self, region: Region, owner: Operation | None) -> None:
        """Name everything that ``region``, of ``owner``, and the regions inside it define."""
        added: list[str] = []
        suggested = _argument_names(owner, region) if owner is not None else ()
        for argument, name in zip(region.arguments, suggested, strict=False):
            self.of[argument] = "%" + self._unique(name, added)
        for argument in region.arguments[len(suggested) :]:
            self.of[argument] = "%" + self._unique(f"arg{self._next_argument}", added, plain=True)
            self._next_argument += 1
        for operation in region.operations:
            if operation.results:
                self._number_results(operation, added)
        counters = self._next_value, self._next_argument, self._next_conflict
        for operation in region.operations:
            for inner in operation.regions:
                self.number(inner, operation)
                self._next_value, self._next_argument, self._next_conflict = counters
        self._used.difference_update(added)

    def _number_results(self, operation: Operation, added: list[str]) -> None:
        results = operation.results
        count = len(results)
        suggested = suggested_names(operation)
        if count == 1:
            if suggested:
                name = "%" + self._unique(suggested[0], added)
            else:
                name = f"%{self._next_value}"
                self._next_value += 1
            self.of[results[0]] = self.results[operation] = name
            return
        # A result that is given a name begins a group, which runs up to the next one.
        starts = sorted({0, *suggested})
        heads = {}
        for index, name in suggested.items():
            heads[index] = self._unique(name, added)
        if 0 not in heads:
            heads[0] = str(self._next_value)
            self._next_value += 1
        groups = []
        for start, end in zip(starts, [*starts[1:], count], strict=True):
            head = "%" + heads[start]
            if end - start == 1:
                self.of[results[start]] = head
                groups.append(head)
            else:
                for i in range(start, end):
                    self.of[results[i]] = f"{head}#{i - start}"
                groups.append(f"{head}:{end - start}")
        self.results[operation] = ", ".join(groups)

    def _unique(self, name: str, added: list[str], *, plain: bool = False) -> str:
        if not plain:
            name = _sanitize(name)
        used = self._used
        if name in used:
            base = name + "_"
            while True:
                name = f"{base}{self._next_conflict}"
                self._next_conflict += 1
                if name not in used:
                    break
        used.add(name)
        added.append(name)
        return name


def _sanitize(name: str) -> str:
    if _PLAIN.match(name):
        return name
    raw = name.encode("utf-8", "surrogateescape")
    valid = _INVALID.sub(lambda m: b"_" if m[0] == b" " else b"%X" % m[0][0], raw).decode("ascii")
    return valid if _PLAIN.match(name[0]) else "_" + valid


def suggested_names(operation: Operation) -> dict[int, str]:
    """Names that an operation asks for, by the number of the result."""
    kind = type(operation)
    names = _NAMES.get(kind)
    if names is None:
        declared = kind.declaration.results
        if kind.result_name is not None:
            names = {0: kind.result_name}
        else:
            names = {part.index: part.name for part in declared} if len(declared) > 1 else {}
        _NAMES[kind] = names
    custom = _CUSTOM.get(kind)
    return names if custom is None else {0: custom(operation)}


_NAMES: dict[type[Operation], dict[int, str]] = {}


def _assume_name(operation: Assume) -> str:
    prefix: list[str] = []
    value = operation.value
    while isinstance(value.owner, Assume):
        prefix.append("assume_")
        value = value.owner.value
        if len(prefix) > LONGEST_NAME // len("assume_"):
            raise UnsupportedError(
                "claims about claims are chained too long to be named", rule="name-length", operation="assume"
            )
    owner = value.owner
    if isinstance(owner, Operation) and _has_names(type(owner)):
        prefix.append("assume_" + suggested_names(owner).get(value.index, ""))
    else:
        prefix.append("assume")
    return "".join(prefix)


def _has_names(kind: type[Operation]) -> bool:
    return (
        kind in _CUSTOM
        or kind.result_name is not None
        or len(kind.declaration.results) > 1
        or kind.mnemonic in ("if", "loop")
    )


def _constant_name(operation: Constant) -> str:
    value: DenseElements = operation.value
    element = value.type.element
    assert isinstance(element, NumberType)
    bits = value.bits()
    if element.width == 1:
        if all(b & 1 for b in bits):
            return "true"
        return "cst_i1" if any(b & 1 for b in bits) else "false"
    middle = ""
    if len(bits) == 1:
        middle = (
            _integer_part(bits[0], element) if element.is_float else "_" + spell_integer(bits[0], element)
        )
    return f"cst{middle}_{element}"


def _integer_part(bits: int, element: NumberType) -> str:
    """The value if it is a number from 0 to 2^64 without decimals; -0 is not one."""
    format_ = FORMATS[element.name]
    parts = decode(bits & ((1 << format_.width) - 1), format_)
    if parts is None:
        return "_NaN" if _is_nan(bits, element) else ""
    sign, significand, exponent = parts
    if sign:
        return ""
    if exponent >= 0:
        value = significand << exponent
    elif significand & ((1 << -exponent) - 1):
        return ""
    else:
        value = significand >> -exponent
    return f"_{value}" if value < 1 << 64 else ""


def _is_nan(bits: int, element: NumberType) -> bool:
    format_ = FORMATS[element.name]
    return format_.specials != "ieee" or bool(bits & ((1 << (format_.precision - 1)) - 1))


_CUSTOM: dict[type[Operation], Callable[[Any], str]] = {Assume: _assume_name, Constant: _constant_name}


def _argument_names(owner: Operation, region: Region) -> tuple[str, ...]:
    count = len(region.arguments)
    if isinstance(owner, For):
        return ("loopIdx", *(f"iterArg{i}" for i in range(count - 1)))[:count]
    if isinstance(owner, Reduce):
        return tuple(_reduce_names(count))
    return ()


def _reduce_names(count: int) -> Iterator[str]:
    for i in range(count):
        side = "rhs" if i % 2 else "lhs"
        yield f"reduce_{side}{i // 2}" if count > 2 else f"reduce_{side}"
