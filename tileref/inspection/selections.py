"""What a user wants to look at: one small language for traces, watches, breakpoints and probes.

A selection is words with spaces between them. Words of one kind widen it, kinds narrow each other:

    mulf  load_*            operations, by name or pattern
    %17  %iterArg*          values, as ``tileir dis`` names them
    file.py:123  :120-130   source lines
    block=3  block=0-7  block=3,0,0  block=0-3,*,*
    iteration=5  iteration=0-2  iteration=2,5
    nan  inf  undefined  changed  >1e4  abs>=2  ==0  >0&<1
    differs=FILE.npz        values that are not what a probe, or another program, wrote to the file
    first  first=10         the first match alone, or so many
    bodies                  also in bodies of reductions and scans, every lane's every step
    !constant  !%3  !:40    but not these
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from tileir.errors import ArgumentError

from . import blocks
from .conditions import Condition, condition

_LINE = re.compile(r"(?P<file>[^:]*):(?P<first>\d+)(?:-(?P<last>\d+)|:\d+)?\Z")
_NAME = re.compile(r"[A-Za-z_*?\[][\w*?\[\]!]*\Z")
_PAIR = re.compile(r"(block|iteration|first|differs)=(.*)\Z", re.DOTALL)
_RANGE = re.compile(r"(\d+)(?:-(\d+))?\Z")


@dataclass(frozen=True, slots=True)
class Line:
    """Lines of a source file; of any file if ``file`` is empty."""

    file: str
    first: int
    last: int

    def holds(self, file: str, line: int) -> bool:
        """Whether this is one of them: ``file`` may be the end of a path."""
        at = self.first <= line <= self.last
        return at and (not self.file or file == self.file or file.endswith("/" + self.file))

    def __str__(self) -> str:
        last = "" if self.last == self.first else f"-{self.last}"
        return f"{self.file}:{self.first}{last}"


@dataclass(frozen=True, slots=True)
class Places:
    """Operations, values and lines by name."""

    operations: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    lines: tuple[Line, ...] = ()

    def operation(self, name: str) -> bool:
        """Whether an operation's name is among these."""
        return any(fnmatchcase(name, pattern) for pattern in self.operations)

    def value(self, name: str) -> bool:
        """Whether a value's name is among these."""
        return any(fnmatchcase(name, pattern) for pattern in self.values)

    def line(self, at: tuple[tuple[str, int], ...]) -> bool:
        """Whether one of the lines (file, number) is among these."""
        return any(line.holds(*each) for line in self.lines for each in at)


@dataclass(frozen=True, slots=True)
class Where:
    """A selection: where to look, in which blocks, at which time, and under which conditions."""

    text: str = ""
    places: Places = field(default_factory=Places)
    but: Places = field(default_factory=Places)
    blocks: tuple[blocks.Part, ...] = ()
    iterations: tuple[tuple[tuple[int, int], ...], ...] = ()
    conditions: tuple[Condition, ...] = ()
    differs: tuple[str, ...] = ()
    limit: int | None = None
    bodies: bool = False

    def __str__(self) -> str:
        return self.text


def where(text: str | Where) -> Where:
    """The selection that ``text`` writes.

    Raises:
        ArgumentError: a word of it means nothing.
    """
    if isinstance(text, Where):
        return text
    if not isinstance(text, str):
        raise _wrong(text, "a selection is text")
    found = Where(text)
    for word in text.split():
        found = _add(found, word)
    return found


def _add(to: Where, word: str) -> Where:
    pair = _PAIR.match(word)
    if pair is not None:
        return _pair(to, word, pair[1], pair[2])
    if word == "first":
        return replace(to, limit=1)
    if word == "bodies":
        return replace(to, bodies=True)
    wanted = condition(word)
    if wanted is not None:
        return replace(to, conditions=(*to.conditions, wanted))
    if word.startswith("!") and condition(word[1:]) is None:
        return replace(to, but=_place(to.but, word, word[1:]))
    return replace(to, places=_place(to.places, word, word))


def _place(to: Places, word: str, name: str) -> Places:
    if name.startswith("%") and len(name) > 1:
        return replace(to, values=(*to.values, name))
    line = _LINE.match(name)
    if line is not None:
        first = int(line["first"])
        last = first if line["last"] is None else int(line["last"])
        if last < first:
            raise _wrong(word, "the range of lines is empty")
        return replace(to, lines=(*to.lines, Line(line["file"], first, last)))
    if _NAME.match(name):
        return replace(to, operations=(*to.operations, name))
    raise _wrong(word, "this word of a selection means nothing")


def _pair(to: Where, word: str, key: str, value: str) -> Where:
    if key == "block":
        return replace(to, blocks=(*to.blocks, blocks.part(value)))
    if key == "differs":
        if not value:
            raise _wrong(word, "this names no file", "differs=FILE.npz, differs=FILE.npy or differs=FOLDER/")
        return replace(to, differs=(*to.differs, value))
    if key == "first":
        if not value.isdecimal() or int(value) == 0:
            raise _wrong(word, "this is no number of matches", "first=1 or more")
        return replace(to, limit=int(value))
    ranges = []
    for piece in value.split(","):
        match = _RANGE.match(piece)
        if match is None:
            raise _wrong(word, "this names no iterations", "iteration=5, iteration=0-3 or iteration=2,0-3")
        ranges.append((int(match[1]), int(match[2] or match[1])))
    return replace(to, iterations=(*to.iterations, tuple(ranges)))


def _wrong(found: object, message: str, expected: object = None) -> ArgumentError:
    return ArgumentError(
        message,
        rule="selection",
        found=found,
        expected=expected
        or "an operation such as mulf, a value such as %17, file.py:12, block=3, iteration=2, first, bodies, "
        "nan, inf, undefined, changed, a comparison such as >1e4, or differs=FILE.npz",
    )
