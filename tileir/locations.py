"""Where an operation comes from: the debug attributes of the bytecode, as values."""

from __future__ import annotations

from dataclasses import dataclass
from posixpath import join


class Location:
    """Any debug attribute; ``str()`` is ``file:line:column`` where it has one."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class File(Location):
    """A source file."""

    name: str
    directory: str

    def __str__(self) -> str:
        return join(self.directory, self.name)


@dataclass(frozen=True, slots=True)
class CompileUnit(Location):
    """The file a compiler was run on."""

    file: File | None

    def __str__(self) -> str:
        return str(self.file)


@dataclass(frozen=True, slots=True)
class Subprogram(Location):
    """A function of the source program."""

    file: File | None
    line: int
    name: str
    linkage_name: str
    compile_unit: CompileUnit | None
    scope_line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class LexicalBlock(Location):
    """A block of the source program."""

    scope: Location | None
    file: File | None
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class SourceLocation(Location):
    """A place in the source program."""

    scope: Location | None
    filename: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.filename}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class CallSite(Location):
    """``callee``, a place inside a function that was called from ``caller`` and inlined there."""

    callee: Location | None
    caller: Location | None

    def __str__(self) -> str:
        return str(self.callee)
