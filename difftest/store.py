"""The folder that the stages work in: contents named by their hash, records named by what they are about.

``blobs/<sha256>`` holds bytes, compressed; ``<kind>/<id>.json`` holds a record. Both are written whole or
not at all, and never change once they are there, so that a stage may be killed at any time and run again,
or run beside another one. Only the standard library is used here.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tileir.errors import TileError

BLOB_LIMIT = 4 << 30
"""Bytes that one blob may hold."""
RECORD_LIMIT = 64 << 20
"""Bytes that one record may take."""

_HASH = re.compile(r"[0-9a-f]{64}")
_ID = re.compile(r"[0-9a-f]{16}")


class FolderError(TileError):
    """A folder is not what a stage can work with: it is missing, incomplete or damaged."""


def digest(data: bytes) -> str:
    """SHA-256, hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def identify(*parts: object) -> str:
    """16 hexadecimal digits that name ``parts`` (anything JSON can hold) by content."""
    return digest(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode())[:16]


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(data)
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise FolderError(f"cannot write: {error.strerror}", rule="folder-write", file=str(path)) from error


class Store:
    """A folder of blobs and records."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def put(self, data: bytes) -> str:
        """Keep ``data``; its hash."""
        name = digest(data)
        path = self._blob(name)
        if not path.exists():
            write_whole(path, zlib.compress(data, 6))
        return name

    def get(self, name: str) -> bytes:
        """The contents with this hash.

        Raises:
            FolderError: they are not there, or are damaged.
        """
        path = self._blob(name)
        try:
            packed = path.read_bytes()
        except OSError as error:
            raise FolderError(
                f"cannot read the contents: {error.strerror}", rule="blob-missing", file=str(path)
            ) from error
        decompressor = zlib.decompressobj()
        try:
            data = decompressor.decompress(packed, BLOB_LIMIT)
        except zlib.error as error:
            raise FolderError(f"damaged contents: {error}", rule="blob-damaged", file=str(path)) from error
        if digest(data) != name:
            raise FolderError(
                "the contents are not those of this name",
                rule="blob-damaged",
                file=str(path),
                found=digest(data)[:16],
                expected=name[:16],
            )
        return data

    def write(self, kind: str, identity: str, record: Mapping[str, Any]) -> None:
        """Keep a record."""
        text = json.dumps(record, indent=1, sort_keys=True) + "\n"
        write_whole(self._record(kind, identity), text.encode())

    def has(self, kind: str, identity: str) -> bool:
        """Whether the record is there."""
        return self._record(kind, identity).exists()

    def read(self, kind: str, identity: str) -> dict[str, Any]:
        """A record.

        Raises:
            FolderError: it is not there, or is damaged.
        """
        return read_json(self._record(kind, identity), kind)

    def all(self, kind: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every record of a kind with its id, in the order of the ids."""
        for path in sorted((self.path / kind).glob("*.json")):
            if _ID.fullmatch(path.stem):
                yield path.stem, read_json(path, kind)

    def _blob(self, name: str) -> Path:
        # Names come out of files: a name that is no hash could leave the folder.
        if not _HASH.fullmatch(name):
            raise FolderError(
                "not the hash of a blob", rule="blob-name", file=str(self.path), found=name[:80]
            )
        return self.path / "blobs" / name

    def _record(self, kind: str, identity: str) -> Path:
        if not _ID.fullmatch(identity):
            raise FolderError("not an id", rule="record-name", file=str(self.path), found=identity[:80])
        return self.path / kind / f"{identity}.json"


def read_json(path: Path, what: str) -> dict[str, Any]:
    """The JSON object in a file.

    Raises:
        FolderError: there is none, or it is damaged.
    """
    try:
        if path.stat().st_size > RECORD_LIMIT:
            raise FolderError(f"too large for a record of {what}", rule="folder-record", file=str(path))
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FolderError(
            f"cannot read the record of {what}: {error.strerror}", rule="folder-record", file=str(path)
        ) from error
    except (ValueError, RecursionError) as error:
        raise FolderError(
            f"the record of {what} is damaged: {error}", rule="folder-record", file=str(path)
        ) from error
    if not isinstance(document, dict):
        raise FolderError(f"the record of {what} is no object", rule="folder-record", file=str(path))
    return document
