"""Where lines about a kernel go: a stream, or a file that grows while the kernel runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import IO, Any

from tileir.errors import TileError


class Lines:
    """Writes lines of text, or of JSON, to a stream or a file.

    Args:
        to: a stream, or the path of a file, which is written anew; standard output if not given.
        as_json: one JSON object a line.
    """

    def __init__(self, to: IO[str] | str | PathLike[str] | None = None, *, as_json: bool = False) -> None:
        self.as_json = as_json
        self._to = to
        self._file: IO[str] | None = None
        self._written = False

    def open(self) -> None:
        """Before the first line.

        Raises:
            TileError: the file cannot be written.
        """
        if self._to is None or hasattr(self._to, "write") or self._file is not None:
            return
        try:
            self._file = Path(self._to).open("a" if self._written else "w", encoding="utf-8")  # noqa: SIM115
        except OSError as error:
            raise self._failed(error) from error
        # A launch after this one goes on where it ended.
        self._written = True

    def write(self, text: str, fields: Mapping[str, Any]) -> None:
        """One line: the text, or the fields."""
        stream: Any = self._file if self._file is not None else self._to or sys.stdout
        line = json.dumps(fields, allow_nan=False) if self.as_json else text
        try:
            stream.write(line + "\n")
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self._failed(error) from error

    def close(self) -> None:
        """After the last line.

        Raises:
            TileError: what was still to be written cannot be.
        """
        file, self._file = self._file, None
        if file is None:
            return
        try:
            file.close()
        except OSError as error:
            raise self._failed(error) from error

    def _failed(self, error: OSError) -> TileError:
        return TileError(f"cannot write the file: {error.strerror}", rule="file", file=str(self._to))
