"""Recording what a GPU answered to the probes of a family (see ``evidence``)."""

from __future__ import annotations

import hashlib
import json
import lzma
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tileir.errors import TileError

from .evidence import Kept, Source, bits_of, block_hashes
from .probe import Probe

WHOLE = 4096
"""Bytes that an answer may take compressed to be kept whole, if nobody says otherwise.

The family ``math`` was given 131072: its functions of f32 and f64 are not explained, and how far off they are
matters.
"""


def write(
    folder: Path,
    source: Source,
    probes: Iterable[Probe],
    outputs: Mapping[str, NDArray[Any]],
    undefined: Iterable[str] = (),
    limit: int = WHOLE,
) -> Path:
    """Record what a GPU answered to the probes of one family, and give the record's path.

    Args:
        folder: of all answers (``ANSWERS``).
        source: where they come from.
        probes: the family's, all of them.
        outputs: by probe the output buffer after the launch.
        undefined: names of probes some of whose elements have no defined value; these are kept whole.
        limit: bytes that another answer may take compressed to be kept whole.

    Raises:
        TileError: there is a record of this family already that says something else.
    """
    some_undefined, entries, chunks = set(undefined), [], []
    probes = list(probes)
    for probe in probes:
        bits = bits_of(outputs[probe.name])
        data = bits.tobytes()
        small = len(lzma.compress(data)) <= limit
        kept: Kept = "whole" if small or probe.name in some_undefined else "blocks"
        chunks.append(data if kept == "whole" else block_hashes(bits))
        entry = {
            "name": probe.name,
            "kernel": probe.kernel_hash,
            "inputs": probe.inputs_hash,
            "answer": hashlib.sha256(data).hexdigest(),
            "kept": kept,
            "bytes": len(chunks[-1]),
        }
        entries.append(entry)
    lines = ",\n".join(f"  {json.dumps(e)}" for e in entries)
    document = f'{{\n "source": {json.dumps(vars(source))},\n "probes": [\n{lines}\n ]\n}}\n'
    path = folder / source.gpu / f"{source.assembler}-O{source.opt_level}" / f"{probes[0].family}.json"
    if path.exists() and path.read_text(encoding="utf-8") != document:
        raise TileError(
            "there are other answers already; answers are never edited", rule="record-differs", file=str(path)
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    _replace(path.with_suffix(".xz"), lzma.compress(b"".join(chunks), preset=9))
    _replace(path, document.encode())
    return path


def _replace(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(data)
    os.replace(temporary, path)
