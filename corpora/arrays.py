"""Arrays in ``npz`` files: bits only, nothing unpickled, sizes checked before they are believed."""

from __future__ import annotations

import io
import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileir.errors import TileError

LIMIT = 1 << 30
"""Bytes that one array of a file may take."""


def read(path: Path, key: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """The array ``key`` of an npz file as ``dtype`` and ``shape``; stored as unsigned integers or as it is.

    Raises:
        TileError: the file is damaged, or the array is missing, of another shape or another width.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            member = archive.getinfo(f"{key}.npy")
            if member.file_size > LIMIT:
                raise TileError("the array is too large", rule="array-size", file=str(path), found=key)
            with archive.open(member) as stream:
                array = np.lib.format.read_array(io.BytesIO(stream.read(LIMIT + 1)), allow_pickle=False)
    except KeyError as error:
        raise TileError(
            "the file has no such array", rule="array-missing", file=str(path), found=key
        ) from error
    except OSError as error:
        text = error.strerror or str(error)
        raise TileError(f"cannot read the arrays: {text}", rule="array-file", file=str(path)) from error
    except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, NotImplementedError, RuntimeError) as error:
        raise TileError(f"the arrays are damaged: {error}", rule="array-file", file=str(path)) from error
    if array.shape != shape or array.dtype.itemsize != dtype.itemsize or array.dtype.hasobject:
        raise TileError(
            f"the array {key} is not what it should be",
            rule="array-type",
            file=str(path),
            found=f"{array.dtype} {array.shape}",
            expected=f"{dtype} {shape}",
        )
    return np.ascontiguousarray(array).view(dtype).reshape(shape).copy()


def write(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays to a compressed npz file as unsigned integers of their width, whole or not at all.

    The same arrays give the same bytes: entries carry no date.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(arrays):
            array = np.ascontiguousarray(arrays[name])
            stream = io.BytesIO()
            bits = array.view(np.dtype(f"u{array.dtype.itemsize}")).reshape(array.shape)
            np.lib.format.write_array(stream, bits, allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, stream.getvalue(), compresslevel=9)
    os.replace(temporary, path)
