"""What a GPU machine sends back: the launches of a folder, in a few archives of bounded size."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

from ..plan import LAUNCHES, parse_launch
from ..store import FolderError, Store, digest, write_whole

VOLUME = 12 << 20
"""Bytes after which another archive is begun."""
MEMBER_LIMIT = 1 << 30


def pack(folder: Path, out: Path) -> list[Path]:
    """Write every launch of ``folder``, and the blobs they answered, to ``launches-<n>.zip`` in ``out``."""
    store = Store(folder)
    members: dict[str, Path] = {}
    for identity, record in store.all(LAUNCHES):
        path = folder / LAUNCHES / f"{identity}.json"
        for blob in parse_launch(record, path).outputs.values():
            members[f"blobs/{blob}"] = folder / "blobs" / blob
        members[f"{LAUNCHES}/{identity}.json"] = path
    out.mkdir(parents=True, exist_ok=True)
    volumes: list[Path] = []
    archive: zipfile.ZipFile | None = None
    size = VOLUME + 1
    for name, path in members.items():
        if archive is None or size > VOLUME:
            if archive is not None:
                archive.close()
            volumes.append(out / f"launches-{len(volumes)}.zip")
            archive = zipfile.ZipFile(volumes[-1], "w", zipfile.ZIP_DEFLATED)
            size = 0
        archive.write(path, name)
        size += archive.getinfo(name).compress_size
    if archive is not None:
        archive.close()
    return volumes


def unpack(out: Path, folder: Path) -> int:
    """Take the launches of the archives in ``out`` into ``folder``; how many.

    Raises:
        FolderError: there is no archive, or one holds something else or is damaged.
    """
    archives = sorted(out.glob("launches-*.zip")) if out.is_dir() else [out]
    if not archives:
        raise FolderError("there is no archive of launches", rule="archive-missing", file=str(out))
    store = Store(folder)
    count = 0
    for path in archives:
        try:
            with zipfile.ZipFile(path) as archive:
                for member in archive.infolist():
                    if member.file_size > MEMBER_LIMIT:
                        raise FolderError("a member is too large", rule="archive-member", file=str(path))
                    _take(store, member.filename, archive.read(member), path)
                    count += member.filename.startswith(LAUNCHES)
        except (OSError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
            raise FolderError(f"cannot read the archive: {error}", rule="archive", file=str(path)) from error
    return count


def _take(store: Store, name: str, data: bytes, archive: Path) -> None:
    kind, _, rest = name.partition("/")
    if kind == "blobs":
        try:
            contents = zlib.decompressobj().decompress(data, MEMBER_LIMIT)
        except zlib.error as error:
            raise FolderError(
                f"damaged contents: {error}", rule="archive-member", file=str(archive)
            ) from error
        if digest(contents) != rest:
            raise FolderError(
                "contents of another name", rule="archive-member", file=str(archive), found=rest[:80]
            )
        store.put(contents)
    elif kind == LAUNCHES and rest.endswith(".json") and "/" not in rest:
        write_whole(store._record(LAUNCHES, rest.removesuffix(".json")), data)
    else:
        raise FolderError("an unknown member", rule="archive-member", file=str(archive), found=name[:80])
