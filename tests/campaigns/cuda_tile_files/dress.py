"""The test-only parts of a chunk, rewritten into Tile IR that anyone may read.

The files declare functions with ``testing$func``, which take and return anything, use values that operations of
no dialect give (``%0 = "some.op"() : () -> !cuda_tile.tile<f32>``), and leave the entry around operations out.
These become entries and parameters. Lines stay where they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_FUNCTION = re.compile(r"(?:cuda_tile\.)?testing\$func(\s+@)([A-Za-z_$.0-9-]+)")
_GENERIC_FUNCTION = re.compile(r'"cuda_tile\.testing\$func"(?=[^@]*?sym_name\s*=\s*"([^"]+)")')
_HEAD = re.compile(r"\b(?:cuda_tile\.)?(?:entry|testing\$func)\s+@[A-Za-z_$.0-9-]+\s*\(")
_FOREIGN = re.compile(
    r"""(?:(%[A-Za-z_0-9$.-]+)\s*=\s*)?                # what it gives
        "(?!cuda_tile\.|builtin\.)[a-z_]+(?:\.[a-z_]+)?"
        \s*\([^()]*\)\s*:\s*\([^()]*\)\s*->\s*""",
    re.VERBOSE,
)
_COMMENT = re.compile(r"//[^\n]*")
_ALIAS = re.compile(r"^\s*[#!][A-Za-z_$.-][A-Za-z0-9_$.-]*\s*=", re.MULTILINE)

TOP = "top"
"""The entry around operations that stand in none."""


@dataclass(slots=True)
class Dressed:
    """A text to read, and the names of its functions that are for tests and may take and return anything."""

    text: str
    tests: frozenset[str]


def dress(text: str, *, foreign: bool = True) -> Dressed:
    """``text`` without its test-only parts; operations of other dialects stay if not ``foreign``."""
    text = _COMMENT.sub("", text)
    tests = set()
    if not any(word in text for word in ("module", "entry", "testing$func", "global")) and not _ALIAS.search(
        text
    ):
        text = f"entry @{TOP}() {{ {text} }}"
        tests.add(TOP)
    if foreign:
        text = _without_foreign(text)
    tests |= {m[2] for m in _FUNCTION.finditer(text)} | {m[1] for m in _GENERIC_FUNCTION.finditer(text)}
    text = _FUNCTION.sub(lambda m: f"entry{m[1]}{m[2]}", text)
    text = _GENERIC_FUNCTION.sub('"cuda_tile.entry"', text)
    return Dressed(text, frozenset(tests))


def _without_foreign(text: str) -> str:
    """``text`` with a parameter for each value that an operation of no dialect gives."""
    start, number = 0, 0
    while (match := _FOREIGN.search(text, start)) is not None:
        end = _type_end(text, match.end())
        heads = list(_HEAD.finditer(text, 0, match.start()))
        if not heads:
            start = end
            continue
        gone = text[match.start() : end]
        type_ = text[match.end() : end].strip()
        text = text[: match.start()] + "\n" * gone.count("\n") + text[end:]
        if type_ != "()":
            # An operation that gives no value a name is there for its type.
            name = match[1] or f"%foreign_{number}"
            number += 1
            head = heads[-1].end()
            comma = "" if re.match(r"\s*\)", text[head:]) else ", "
            text = text[:head] + f"{name}: {type_}{comma}" + text[head:]
        start = 0
    return text


def _type_end(text: str, start: int) -> int:
    """Where the type that begins at ``start`` ends."""
    depth = 0
    for at in range(start, len(text)):
        character = text[at]
        if depth == 0 and (character.isspace() or character in "})"):
            return at
        if character in "<([":
            depth += 1
        elif character in ">)]" and text[at - 1] != "-":
            depth -= 1
    return len(text)
