"""Files in and out of commands: read with a name for messages, written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from .bytecode import read
from .bytecode.sections import MAGIC
from .errors import TileError
from .module import Module
from .text import parse

STANDARD = "-"
"""Standard input or output, in place of a path."""


def read_bytes(path: str) -> bytes:
    """All of a file, or of standard input.

    Raises:
        TileError: it cannot be read.
    """
    try:
        return sys.stdin.buffer.read() if path == STANDARD else Path(path).read_bytes()
    except OSError as error:
        raise TileError(f"cannot read the file: {error.strerror}", rule="file", file=path) from error


def read_module(path: str) -> Module:
    """The module in a file of bytecode or of text; see ``load``."""
    return load(path)[0]


def load(path: str) -> tuple[Module, int]:
    """The module in a file of bytecode or of text, which the first bytes tell apart, and the file's size.

    Raises:
        TileError: the file cannot be read, or is neither.
    """
    data = read_bytes(path)
    name = "<stdin>" if path == STANDARD else path
    if data.startswith(MAGIC[:4]):
        try:
            module = read(data)
        except TileError as error:
            error.file = name
            raise
    else:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise TileError(
                "the file is neither bytecode nor text", rule="file-kind", file=name, offset=error.start
            ) from error
        module = parse(text, file=name)
    module.source = name
    return module, len(data)


def write_whole(path: str, data: bytes) -> None:
    """Write a file, or standard output. Until all is written, what was there before stays.

    Raises:
        TileError: it cannot be written.
    """
    if path != STANDARD:
        with replacing(path) as file:
            file.write(data)
        return
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _unwritable(path, error) from error


@contextlib.contextmanager
def replacing(path: str) -> Iterator[IO[bytes]]:
    """A file to write to that takes the place of ``path`` when all is written, and vanishes if it is not.

    Raises:
        TileError: it cannot be written.
    """
    try:
        handle, temporary = tempfile.mkstemp(prefix=".tileir-", dir=Path(path).parent)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
            # A temporary file is readable for its owner alone; a new file is as readable as any other.
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(temporary, 0o666 & ~mask)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: str, error: OSError) -> TileError:
    return TileError(f"cannot write the file: {error.strerror}", rule="file", file=path)
