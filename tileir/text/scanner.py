"""A position in a text: words, punctuation, numbers and strings, and errors that say where."""

from __future__ import annotations

import re
from typing import NoReturn

from ..errors import TextError

SPACE = r"(?:[ \t\r\n]+|//[^\n]*)*"
"""What may stand between tokens. Every pattern takes it along, which saves a step a token."""


def token_pattern(pattern: str) -> re.Pattern[str]:
    """``pattern`` and the space behind it."""
    return re.compile(pattern + SPACE)


_SPACE = re.compile(SPACE)
_WORD = token_pattern(r"([A-Za-z_][A-Za-z0-9_$.]*)")
_VALUE = token_pattern(r"%([0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*)(?:#([0-9]+))?")
_ALIAS = token_pattern(r"([A-Za-z_$.-][A-Za-z0-9_$.-]*)")
_INTEGER = token_pattern(r"(-?(?:0x[0-9A-Fa-f]+|[0-9]+))")
_FLOAT = token_pattern(r"(-?[0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?)")
_STRING = token_pattern(r'"((?:[^"\\\n]|\\.)*)"')
_ESCAPE = re.compile(rb'\\([0-9A-Fa-f]{2}|[nt"\\])')
_BAD_ESCAPE = re.compile(r'\\(?![0-9A-Fa-f]{2}|[nt"\\])')
_TOKEN = re.compile(r'"[^"\n]*"?|[%@#!]?[A-Za-z0-9_$.-]+|->|.')
_TOKENS: dict[str, re.Pattern[str]] = {}

LONGEST_NUMBER = 1100
"""Digits of the longest literal that can matter: f64's smallest number written out has 1075 decimals."""


class Scanner:
    """Walks over ``text``; every method that takes something skips the space and comments behind it."""

    __slots__ = ("file", "position", "text")

    def __init__(self, text: str, file: str | None = None) -> None:
        self.text = text
        self.file = file
        self.position = 0
        self.skip()

    def skip(self) -> None:
        """Step over space and comments."""
        match = _SPACE.match(self.text, self.position)
        assert match is not None
        self.position = match.end()

    def fail(
        self, message: str, rule: str, *, at: int | None = None, found: object = None, expected: object = None
    ) -> NoReturn:
        """Raise a ``TextError`` at ``at``, or here."""
        position = self.position if at is None else at
        before = self.text[:position]
        raise TextError(
            message,
            rule=rule,
            file=self.file,
            line=before.count("\n") + 1,
            column=position - (before.rfind("\n") + 1) + 1,
            found=found,
            expected=expected,
        )

    def unexpected(self, expected: str) -> NoReturn:
        """Raise that something else stands here."""
        self.fail("unexpected text", "syntax", found=self.next_token(), expected=expected)

    def next_token(self) -> str:
        """What stands here, for messages."""
        match = _TOKEN.match(self.text, self.position)
        if match is None:
            return "the end of the text" if self.position >= len(self.text) else "a line's end"
        token = match[0]
        return token if len(token) <= 40 else token[:40] + "..."

    def at(self, token: str) -> bool:
        """Whether ``token``, a word or punctuation, stands here."""
        pattern = _TOKENS.get(token) or _token(token)
        return pattern.match(self.text, self.position) is not None

    def accept(self, token: str) -> bool:
        """Take ``token`` if it stands here."""
        pattern = _TOKENS.get(token) or _token(token)
        found = pattern.match(self.text, self.position)
        if found is None:
            return False
        self.position = found.end()
        return True

    def expect(self, token: str) -> None:
        """Take ``token``, or fail."""
        if not self.accept(token):
            self.unexpected(f"'{token}'")

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Take what ``pattern``, which takes the space behind it, matches here, if it does."""
        found = pattern.match(self.text, self.position)
        if found is not None:
            self.position = found.end()
        return found

    def word(self, expected: str) -> str:
        """Take a word."""
        found = self.match(_WORD)
        if found is None:
            self.unexpected(expected)
        return found[1]

    def peek_word(self) -> str:
        """The word that stands here, or nothing."""
        found = _WORD.match(self.text, self.position)
        return found[1] if found is not None else ""

    def alias(self) -> str:
        """Take the name of an alias, ``#`` or ``!`` taken before."""
        found = self.match(_ALIAS)
        if found is None:
            self.unexpected("a name")
        return found[1]

    def value(self) -> tuple[str, int | None]:
        """Take ``%name`` or ``%name#number``."""
        found = self.match(_VALUE)
        if found is None:
            self.unexpected("a value")
        number = found[2]
        if number is None:
            return found[1], None
        return found[1], int(number) if len(number) < 10 else 1 << 40

    def integer(self, low: int, high: int) -> int:
        """Take an integer from ``low`` to ``high``."""
        start = self.position
        found = self.match(_INTEGER)
        if found is None:
            self.unexpected("an integer")
        return self.number(found[1], start, low, high)

    def number(self, literal: str, start: int, low: int, high: int) -> int:
        """``literal``, which stands at ``start``, as an integer from ``low`` to ``high``."""
        value = int(literal, 0 if "x" in literal else 10) if len(literal) <= 40 else None
        if value is None or not low <= value <= high:
            self.fail(
                "an integer is out of range",
                "integer-range",
                at=start,
                found=literal[:40],
                expected=f"{low} to {high}",
            )
        return value

    def literal(self) -> tuple[str, bool]:
        """Take a number as it is spelled, and whether it is spelled as a decimal fraction."""
        start = self.position
        found = self.match(_FLOAT)
        decimal = found is not None
        if found is None:
            found = self.match(_INTEGER)
        if found is None:
            self.unexpected("a number")
        if len(found[1]) > LONGEST_NUMBER:
            self.fail("a number is too long", "number-length", at=start, expected=f"at most {LONGEST_NUMBER}")
        return found[1], decimal

    def string(self) -> str:
        """Take a string in double quotes."""
        start = self.position
        found = self.match(_STRING)
        if found is None:
            self.unexpected("a string in double quotes")
        inside = found[1]
        if "\\" in inside:
            bad = _BAD_ESCAPE.search(inside.replace("\\\\", "__"))
            if bad is not None:
                self.fail(
                    "a string has an unknown escape",
                    "string-escape",
                    at=start + 1 + bad.start(),
                    expected=r"\\, \", \n, \t or two hexadecimal digits",
                )
        raw = _ESCAPE.sub(_unescape, inside.encode("utf-8", "surrogatepass"))
        return raw.decode("utf-8", "surrogateescape")

    def word_or_string(self, expected: str) -> str:
        """Take a word or a string."""
        return self.string() if self.at('"') else self.word(expected)

    def symbol(self) -> str:
        """Take ``@name``."""
        if not self.at("@"):
            self.unexpected("a symbol")
        self.position += 1
        return self.word_or_string("a symbol's name")


def _token(token: str) -> re.Pattern[str]:
    """The pattern of a word or of punctuation; kept, since a program has few of them."""
    end = r"(?![A-Za-z0-9_$.])" if token[-1].isalnum() else ""
    made = _TOKENS[token] = token_pattern(re.escape(token) + end)
    return made


def _unescape(match: re.Match[bytes]) -> bytes:
    code = match[1]
    if len(code) == 2:
        return bytes((int(code, 16),))
    return {b"n": b"\n", b"t": b"\t"}.get(code, code)
