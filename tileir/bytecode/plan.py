"""What an operation's bytes hold in one version: its declaration, less what is newer."""

from __future__ import annotations

from typing import Any, Literal

from ..declare import AttributePart, Part
from ..module import Operation
from ..version import Version

OperandPlan = tuple[str, Literal["one", "optional", "variadic"], int | None, bool, int]
"""Name, kind, flag bit, whether its count precedes it, and how many single operands come after it."""


class Plan:
    """The parts of an operation that a version has, ready to read and write.

    Attributes:
        has_flags: whether there is a flags word.
        flags, attributes, operands: the parts that are there, in order.
        known_bits: the bits of the flags word that mean something.
        defaults: what the parts have that are not there, or need not be.
        computed_defaults: defaults that depend on the operation's other parts.
        newer: parts that the version does not have.
        implied_token: whether the operation has a result that the version's bytes do not have.
    """

    __slots__ = (
        "attributes",
        "computed_defaults",
        "defaults",
        "flags",
        "has_flags",
        "implied_token",
        "kind",
        "known_bits",
        "newer",
        "operands",
    )

    def __init__(self, kind: type[Operation], version: Version) -> None:
        d = kind.declaration

        def there(part: Part) -> bool:
            return part.since is None or part.since <= version

        self.kind = kind
        self.has_flags = d.flags_since is not None and version >= d.flags_since
        self.flags = [(p.name, p.bit) for p in d.flags if there(p)]
        self.attributes: list[AttributePart] = [p for p in d.attributes if there(p)]
        operands = [p for p in d.operands if there(p)]
        self.operands: list[OperandPlan] = [
            (p.name, p.kind, p.bit, p.counted, sum(q.kind == "one" for q in operands[i + 1 :]))
            for i, p in enumerate(operands)
        ]
        bits = [bit for _, bit in self.flags]
        bits += [p.bit for p in self.attributes if p.bit is not None]
        bits += [p.bit for p in operands if p.bit is not None]
        self.known_bits = sum(1 << b for b in bits)
        self.defaults: dict[str, Any] = {k: v for k, v in d.defaults.items() if not callable(v)}
        present = {p.name for p in self.attributes}
        self.computed_defaults = [(k, v) for k, v in d.defaults.items() if callable(v) and k not in present]
        self.newer: list[Part] = [p for p in (*d.operands, *d.attributes, *d.flags) if not there(p)]
        self.implied_token = any(not there(p) for p in d.results)


_PLANS: dict[tuple[int, Version], Plan] = {}


def plan(kind: type[Operation], version: Version) -> Plan:
    """The plan of an operation in a version; made once."""
    key = kind.opcode, version
    found = _PLANS.get(key)
    if found is None:
        found = _PLANS[key] = Plan(kind, version)
    return found
