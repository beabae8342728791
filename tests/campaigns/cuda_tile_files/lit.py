"""What lit and MLIR's test tools make of a test file: its runs, its chunks, and what each chunk expects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_RUN = re.compile(r"^\s*(?://|#)\s*RUN:\s*(.*)$")
_EXPECTED = re.compile(
    r"//\s*expected-(error|warning|note|remark)(?:-re)?\s*(?:@([+-]\d+|below|above|unknown)?)?\s*\{\{(.*)\}\}"
)
_CHECK = re.compile(r"//\s*(?:CHECK|[A-Z][A-Z_0-9-]*)(?:-NEXT|-SAME|-DAG)?:\s*(.*)$")
_VERSION = re.compile(r"-bytecode-version=(\d+)\.(\d+)")
_BYTECODE = re.compile(r"%S/(\S+\.(?:tileirbc|bc))")
SPLIT = re.compile(r"^// -----[^\n]*$", re.MULTILINE)
_FLAGS = ("Wunsupported-hints", "Werr-hints", "canonicalize", "test-debuginfo-update-symbol-name")


@dataclass(slots=True)
class Expected:
    """One thing that a chunk is expected to make the tools say, and the line it is about (None: any)."""

    kind: str
    text: str
    line: int | None


@dataclass(slots=True)
class Run:
    """One command of a file: whether it must fail, and the flags that matter."""

    command: str
    fails: bool
    version: tuple[int, int] | None
    bytecode: str | None
    flags: frozenset[str]


@dataclass(slots=True)
class Chunk:
    """A module's text, the line of the file that it starts after, and what is expected of it."""

    file: str
    number: int
    text: str
    line: int
    runs: list[Run]
    expected: list[Expected] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The file and the number of the chunk in it."""
        return f"{self.file}:{self.line + 1}"

    @property
    def refused(self) -> bool:
        """Whether the dialect's own tools refuse it."""
        return any(e.kind == "error" for e in self.expected)

    def flag(self, name: str) -> bool:
        """Whether any run has the flag."""
        return any(name in run.flags for run in self.runs)


def _runs(text: str) -> list[Run]:
    commands: list[str] = []
    continued = False
    for line in text.splitlines():
        match = _RUN.match(line)
        if match is None:
            continued = False
            continue
        if continued:
            commands[-1] = commands[-1][:-1] + match[1]
        else:
            commands.append(match[1])
        continued = match[1].endswith("\\")
    runs = []
    for command in commands:
        version = _VERSION.search(command)
        bytecode = _BYTECODE.search(command)
        runs.append(
            Run(
                command,
                command.startswith("not "),
                (int(version[1]), int(version[2])) if version else None,
                bytecode[1] if bytecode else None,
                frozenset(f for f in _FLAGS if f in command),
            )
        )
    return runs


def _expected(text: str, verified: bool, fails: bool) -> Iterator[Expected]:
    """What the comments of a chunk say that the tools say."""
    for number, line in enumerate(text.splitlines(), 1):
        match = _EXPECTED.search(line)
        if match is not None:
            place = match[2]
            if not verified and match[1] == "error":
                continue
            at: int | None = number
            if place == "below":
                at = number + 1
            elif place == "above":
                at = number - 1
            elif place == "unknown":
                at = None
            elif place:
                at = number + int(place)
            yield Expected(match[1], match[3], at)
        elif fails and (check := _CHECK.search(line)) is not None and "NOT:" not in line:
            # A run that must fail is compared with what it writes to its error stream.
            yield Expected("error", check[1], None)


def read_file(path: Path, name: str) -> list[Chunk]:
    """The chunks of a test file."""
    text = path.read_text(encoding="utf-8")
    runs = _runs(text)
    # Files that only tell the tools to read bytecode have no text of their own to read.
    texts = [run for run in runs if run.bytecode is None and "%s" in run.command]
    if not texts:
        return []
    split = any("split-input-file" in run.command for run in texts)
    verified = any("verify-diagnostics" in run.command for run in texts)
    fails = all(run.fails for run in texts)
    places = [0]
    if split:
        for match in SPLIT.finditer(text):
            places += [match.start(), match.end()]
    places.append(len(text))
    chunks = []
    for start, end in zip(places[::2], places[1::2], strict=True):
        part = text[start:end]
        if not re.sub(r"//[^\n]*|\s", "", part):
            continue
        line = text.count("\n", 0, start)
        expected = list(_expected(part, verified, fails))
        chunks.append(Chunk(name, len(chunks), part, line, texts, expected))
    return chunks


@dataclass(slots=True)
class BytecodeFile:
    """A file of bytecode, and whether the dialect's own tools refuse it (None: nothing says)."""

    file: str
    path: Path
    refused: bool | None
    expected: str


def bytecode_files(folder: Path) -> list[BytecodeFile]:
    """The files of bytecode in ``folder``, with what the tests around them expect."""
    runs: dict[Path, tuple[bool, str]] = {}
    for path in sorted(folder.rglob("*.mlir")):
        text = path.read_text(encoding="utf-8")
        for run in _runs(text):
            if run.bytecode is None:
                continue
            prefix = re.search(r"--check-prefix=(\S+)", run.command)
            check = re.search(rf"//\s*{prefix[1] if prefix else 'CHECK'}:\s*(.*)", text)
            runs[(path.parent / run.bytecode).resolve()] = (run.fails, check[1] if check else "")
    found = []
    for path in sorted([*folder.rglob("*.tileirbc"), *folder.rglob("*.bc")]):
        refused, text = runs.get(path.resolve(), (None, ""))
        found.append(BytecodeFile(str(path.relative_to(folder)), path, refused, text))
    return found
