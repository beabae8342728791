"""The places of a kernel that can be looked at: its operations, and where its regions begin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from tileir.errors import ArgumentError
from tileir.locations import CallSite, LexicalBlock, Location, SourceLocation, Subprogram
from tileir.module import Function, Operation, Region, Value
from tileir.ops.reduction import Reduce, Scan
from tileir.text.names import Names
from tileir.types import TileType

from ..regions import TERMINATORS
from . import blocks
from .selections import Places, Where

Stage = Literal["operation", "arguments", "terminator"]


@dataclass(frozen=True, eq=False)
class Site:
    """A place that can be looked at.

    Attributes:
        stage: an operation that has run, a region that begins with its arguments, or its end.
        name: the operation's name; for arguments that of the operation around them, or ``entry``.
        operation: the operation, or the one around; None for the kernel's own arguments.
        region: the region that begins, or that the operation is in.
        values: what is defined here.
        location: the source location.
    """

    stage: Stage
    name: str
    operation: Operation | None
    region: Region
    values: tuple[Value, ...]
    location: Location | None


class Sites:
    """All places of a function, and what its values are called."""

    def __init__(self, function: Function) -> None:
        self.function = function
        names = Names()
        names.number(function.body, None)
        self.names = names.of
        self.all: list[Site] = []
        self.regions: list[Region] = []
        self.owners: dict[int, Operation | None] = {}
        self._homes: dict[Operation, Region] = {}
        self._visit(function.body, None, function.location)

    def _visit(self, region: Region, owner: Operation | None, location: Location | None) -> None:
        self.owners[id(region)] = owner
        self.regions.append(region)
        name = "entry" if owner is None else owner.mnemonic
        if region.arguments:
            self.all.append(Site("arguments", name, owner, region, region.arguments, location))
        for operation in region.operations:
            stage: Stage = "terminator" if isinstance(operation, TERMINATORS) else "operation"
            self.all.append(
                Site(stage, operation.mnemonic, operation, region, operation.results, operation.location)
            )
            self._homes[operation] = region
            for inner in operation.regions:
                self._visit(inner, operation, operation.location)

    def stems(self) -> dict[Value, str]:
        """What the files of tiles are called in a folder: ``17`` for ``%17``, ``17.1`` for the next ``%17``.

        Regions beside each other may give one name to several values.
        """
        found: dict[Value, str] = {}
        taken: dict[str, int] = {}
        for site in self.all:
            for value in site.values:
                if isinstance(value.type, TileType):
                    stem = self.names[value].removeprefix("%")
                    number = taken[stem] = taken.get(stem, -1) + 1
                    found[value] = stem if number == 0 else f"{stem}.{number}"
        return found

    def is_in_body(self, region: Region) -> bool:
        """Whether ``region`` is the body of a reduction or a scan, or inside of one."""
        owner = self.owners[id(region)]
        while owner is not None:
            if isinstance(owner, Reduce | Scan):
                return True
            region = self._homes[owner]
            owner = self.owners[id(region)]
        return False

    def find(self, where: Where, *, grid: blocks.Grid) -> dict[Site, tuple[Value, ...]]:
        """The sites that ``where`` names, each with those of its values that it names.

        The ends of regions repeat values that are known: they are found only by the operation's name. What is
        in the body of a reduction or a scan is found only by the value's name, or if bodies are asked for: it
        is every lane's every step.

        Raises:
            ArgumentError: the kernel has no such operation, value or line, or the grid no such block.
        """
        self._check(where.places)
        blocks.check_inside(where.blocks, grid)
        found = {}
        hidden = False
        for site in self.all:
            if site.stage == "terminator" and not where.places.operations:
                continue
            if self.is_in_body(site.region) and not where.places.values and not where.bodies:
                hidden |= self._values(site, where) is not None
                continue
            values = self._values(site, where)
            if values is not None:
                found[site] = values
        if not found:
            hint = "; bodies of reductions and scans have: add the word bodies" if hidden else ""
            raise ArgumentError(
                f"the kernel has nothing that is all of this{hint}", rule="selection", found=where
            )
        return found

    def _values(self, site: Site, where: Where) -> tuple[Value, ...] | None:
        places, but = where.places, where.but
        lines = lines_of(site.location)
        if places.operations and not places.operation(site.name):
            return None
        if places.lines and not places.line(lines):
            return None
        if but.operation(site.name) or but.line(lines):
            return None
        values = site.values
        if places.values:
            values = tuple(v for v in values if places.value(self.names[v]))
            if not values:
                return None
        if but.values:
            kept = tuple(v for v in values if not but.value(self.names[v]))
            if values and not kept:
                return None
            values = kept
        return values

    def _check(self, places: Places) -> None:
        operations = list(dict.fromkeys(s.name for s in self.all))
        for pattern in places.operations:
            if not any(Places(operations=(pattern,)).operation(name) for name in operations):
                raise _nothing("no operation", pattern, operations)
        values = list(dict.fromkeys(self.names.values()))
        for pattern in places.values:
            if not any(Places(values=(pattern,)).value(name) for name in values):
                raise _nothing("no value", pattern, values, " (`tileir dis` prints them)")
        known = list(dict.fromkeys(line for s in self.all for line in lines_of(s.location)))
        for line in places.lines:
            if not known:
                raise ArgumentError("the kernel has no source lines", rule="selection", found=line)
            if not any(line.holds(*each) for each in known):
                raise _nothing("nothing at the source line", str(line), [f"{f}:{n}" for f, n in known])


def _nothing(what: str, pattern: str, names: Sequence[str], hint: str = "") -> ArgumentError:
    near = get_close_matches(pattern, names, 5, 0.5) or names[:SHOWN]
    more = "" if len(near) == len(names) or len(near) < SHOWN else ", ..."
    return ArgumentError(
        f"the kernel has {what} {pattern}{hint}",
        rule="selection",
        found=pattern,
        expected=f"such as {', '.join(near)}{more}",
    )


SHOWN = 12
"""Names in a message."""


def lines_of(location: Location | None) -> tuple[tuple[str, int], ...]:
    """The source lines (file, number) of a location: the innermost first, then those that called it."""
    match location:
        case SourceLocation():
            return ((location.filename, location.line),)
        case CallSite():
            return lines_of(location.callee) + lines_of(location.caller)
        case Subprogram() | LexicalBlock():
            return ((str(location.file), location.line),) if location.file is not None else ()
    return ()
