"""What this package says of a chunk or a file of bytecode, beside what the dialect's own tools say."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import tileir
from tileir.errors import TileError
from tileir.module import Module
from tileir.verify import unheeded_hints
from tileir.version import V13_3, Version

from .dress import dress
from .lit import BytecodeFile, Chunk
from .reasons import reason_for

TEST_FUNCTION_RULES = frozenset({"entry-returns-nothing", "entry-parameters", "return-nothing"})
"""What an entry must not do and a function for tests may."""


@dataclass(slots=True)
class Judged:
    """The verdict on one chunk or file.

    ``parsed`` is whether it was read at all, ``refused`` whether it was refused, by ``rule``; ``expected`` is
    what the dialect's own tools have against it. ``verdict`` is one of accepted, rightly refused, wrongly
    refused, wrongly accepted, and unsaid, where no test says what is right. ``at_place`` is whether a right
    refusal is about the operation that the test names (None: it names none, or the refusal does not).
    """

    name: str
    parsed: bool
    refused: bool
    verdict: str
    rule: str | None = None
    said: str | None = None
    expected: list[str] | None = None
    reason: str | None = None
    at_place: bool | None = None

    def document(self) -> dict[str, object]:
        """All of it, for JSON."""
        return asdict(self)


@dataclass(slots=True)
class Finding:
    """Whether a text was read, and what is against it: a rule, its words, and the line or the operation."""

    parsed: bool
    rule: str | None = None
    said: str | None = None
    line: int | None = None
    operation: str | None = None


def _read(chunk: Chunk) -> Finding:
    """What this package has against a chunk, if anything."""
    # What is to be written as bytecode has operations of the dialect alone.
    dressed = dress(chunk.text, foreign=not all("-mlir-to-cudatilebc" in run.command for run in chunk.runs))
    try:
        modules = tileir.parse_all(dressed.text, file=chunk.file)
    except TileError as error:
        line = error.line
        if error.line is not None:
            error.line += chunk.line
        return Finding(False, error.rule, str(error), line)
    versions = [Version(*run.version) for run in chunk.runs if run.version is not None]
    for module in modules:
        for version in versions or [module.version]:
            module.version = version
            found = _against(module, dressed.tests, hints=chunk.flag("Werr-hints"))
            if found is not None:
                return found
    return Finding(True)


def _against(module: Module, tests: frozenset[str], *, hints: bool) -> Finding | None:
    """What is against a module that was read: rules, and that it is another one after a round trip."""
    for diagnostic in [*tileir.verify(module), *(unheeded_hints(module) if hints else ())]:
        if not (diagnostic.function in tests and diagnostic.rule in TEST_FUNCTION_RULES):
            return Finding(True, diagnostic.rule, str(diagnostic), None, diagnostic.operation)
    if module.version < V13_3:
        # The dialect's own writer drops what this version has no place for; ours refuses to.
        module.producer = None
    text = tileir.parse(tileir.render(module, locations=True))
    # The disassembler's text, which ours is, does not name the producer.
    text.producer = module.producer
    again = {"written": tileir.read(tileir.write(module)), "printed": text}
    for form, other in again.items():
        if other != module:
            return Finding(True, "round-trip", f"the module is another one after it was {form}")
    return None


def _at_place(chunk: Chunk, finding: Finding) -> bool | None:
    lines = [e.line for e in chunk.expected if e.kind == "error" and e.line is not None]
    if not lines:
        return None
    if finding.line == 1:
        # Types that were used alone have become those of parameters of an entry on the first line.
        return None
    if finding.line is not None:
        # An operation may go on for some lines.
        return any(0 <= finding.line - line <= 4 for line in lines)
    if finding.operation in (None, "entry", "module", "global"):
        return None
    text = chunk.text.splitlines()
    named = "pow" if finding.operation == "fpowf" else str(finding.operation)
    return any(named in part for line in lines for part in text[line - 1 : line + 4])


def judge_chunk(chunk: Chunk) -> Judged:
    """The verdict on a chunk of a test file."""
    finding = _read(chunk)
    errors = [e.text for e in chunk.expected if e.kind == "error"]
    judged = _judged(chunk.name, finding, chunk.refused, errors)
    judged.reason = reason_for(judged, chunk)
    if judged.verdict == "rightly refused":
        judged.at_place = _at_place(chunk, finding)
    return judged


def judge_bytecode(file: BytecodeFile) -> Judged:
    """The verdict on a file of bytecode."""
    finding = Finding(True)
    try:
        module = tileir.read(file.path.read_bytes())
    except TileError as error:
        finding = Finding(False, error.rule, str(error))
    else:
        finding = _against(module, frozenset(), hints=False) or finding
    return _judged(file.file, finding, file.refused, [file.expected] if file.expected else [])


def _judged(name: str, finding: Finding, expected: bool | None, errors: list[str]) -> Judged:
    refused = finding.rule is not None
    if expected is None:
        verdict = "unsaid"
    elif refused:
        verdict = "rightly refused" if expected else "wrongly refused"
    else:
        verdict = "wrongly accepted" if expected else "accepted"
    return Judged(name, finding.parsed, refused, verdict, finding.rule, finding.said, errors or None)
