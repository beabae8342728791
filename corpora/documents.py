"""Reading JSON that others wrote: a wrong shape of it is a clear error, never a KeyError."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tileir.errors import TileError

LIMIT = 64 << 20
"""Bytes of a JSON document that are read."""


def load(path: Path, what: str) -> dict[str, Any]:
    """The object in the JSON file at ``path``.

    Raises:
        TileError: there is no such file, it is too large, or it holds no JSON object.
    """
    try:
        if path.stat().st_size > LIMIT:
            raise TileError(f"the {what} is too large", rule="json-size", file=str(path))
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TileError(
            f"cannot read the {what}: {error.strerror}", rule="json-file", file=str(path)
        ) from error
    except (ValueError, RecursionError) as error:
        raise TileError(f"the {what} is not JSON: {error}", rule="json-syntax", file=str(path)) from error
    if not isinstance(document, dict):
        raise TileError(f"the {what} is not a JSON object", rule="json-object", file=str(path))
    return document


def get(document: Any, key: str, kind: type | tuple[type, ...], path: Path, default: Any = ...) -> Any:
    """``document[key]`` if it is of ``kind``.

    Raises:
        TileError: it is missing and there is no ``default``, or of another kind.
    """
    if not isinstance(document, dict):
        raise TileError("not a JSON object", rule="json-object", file=str(path), found=str(document)[:40])
    value = document.get(key, default)
    if value is ...:
        raise TileError("an entry is missing", rule="json-missing", file=str(path), expected=repr(key))
    right = isinstance(value, kind) and not (isinstance(value, bool) and kind in (int, (int,)))
    if value is not default and not right:
        raise TileError(
            f"the entry {key!r} is of the wrong kind", rule="json-kind", file=str(path), found=str(value)[:40]
        )
    return value


def integers(values: Any, path: Path, what: str, lowest: int = 0) -> tuple[int, ...]:
    """A JSON list of integers, none below ``lowest``, as a tuple.

    Raises:
        TileError: it is anything else.
    """
    good = isinstance(values, list) and all(
        isinstance(v, int) and not isinstance(v, bool) and lowest <= v < 1 << 40 for v in values
    )
    if not good:
        raise TileError(
            f"not a list of integers: {what}", rule="json-kind", file=str(path), found=str(values)[:40]
        )
    return tuple(values)
