"""Why this package and the dialect's own tools may differ about a chunk: each reason has a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .judge import Judged
    from .lit import Chunk

TEST_OPERATION = "an operation that is there for the tools' own tests"
TEST_FUNCTION = "what a function for tests returns, which no entry does"
LATER = "legal from 13.4 on"
PASS = "what a pass of the tools does, not the text"
LOCATION = "a location that the bytecode cannot hold"
DISCARDED = "an attribute that the bytecode cannot hold"

_LATER = ("invalid rounding mode specified. Only 'nearest_even' is supported",)
"""What 13.3 has against modules that the disassembler of 13.4 has nothing against: ``ftof`` that widens."""


def reason_for(judged: Judged, chunk: Chunk) -> str | None:
    """The name of the reason for a verdict that is wrong, if it is known."""
    if judged.verdict not in ("wrongly refused", "wrongly accepted"):
        return None
    if judged.verdict == "wrongly refused":
        if "testing$bytecode" in (judged.said or ""):
            return TEST_OPERATION
        if judged.rule in ("location", "location-parts"):
            return LOCATION
        if judged.rule == "attribute-name" and "cannot hold" in (judged.said or ""):
            return DISCARDED
        return None
    expected = " ".join(judged.expected or [])
    if "testing$func" in chunk.text and "return" in expected and "function" in expected:
        return TEST_FUNCTION
    if chunk.flag("test-debuginfo-update-symbol-name"):
        return PASS
    if any(text in expected for text in _LATER) and "ftof" in chunk.text:
        return LATER
    return None
