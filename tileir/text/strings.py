"""Strings, symbols and keywords as MLIR spells them."""

from __future__ import annotations

import re

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*\Z")
_SPECIAL = re.compile(rb"[^ !#-\[\]-~]")


def escape(text: str) -> str:
    """``text`` in double quotes: a byte that is not printable, a quote or a backslash as two hex digits."""
    raw = text.encode("utf-8", "surrogateescape")
    return '"' + _SPECIAL.sub(_escape_byte, raw).decode("ascii") + '"'


def _escape_byte(match: re.Match[bytes]) -> bytes:
    byte = match[0]
    return rb"\\" if byte == b"\\" else b"\\%02X" % byte[0]


def keyword_or_string(text: str) -> str:
    """``text`` itself if it is a bare identifier, else quoted."""
    return text if _BARE.match(text) else escape(text)


def symbol(name: str) -> str:
    """A reference to the symbol ``name``."""
    return "@" + keyword_or_string(name)
