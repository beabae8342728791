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

from .evidence import Answer, Evidence, Kept, Source, bits_of, block_hashes, read_record
from .probe import Probe

WHOLE = 4096
"""Bytes that an answer may take compressed to be kept whole, if nobody says otherwise.

The family ``math`` was given 131072: its functions of f32 and f64 are not explained, and how far off they are
matters.
"""


def record_path(folder: Path, source: Source, family: str) -> Path:
    """Where the answers to a family's probes are kept."""
    return folder / source.gpu / f"{source.assembler}-O{source.opt_level}" / f"{family}.json"


def write(
    folder: Path,
    source: Source,
    probes: Iterable[Probe],
    outputs: Mapping[str, NDArray[Any]],
    undefined: Iterable[str] = (),
    limit: int = WHOLE,
) -> Path:
    """Record what a GPU answered to probes of one family, beside those recorded before; give the path.

    Args:
        folder: of all answers (``ANSWERS``).
        source: where they come from.
        probes: what was launched, all of one family.
        outputs: by probe the output buffer after the launch.
        undefined: names of probes some of whose elements have no defined value; these are kept whole, as are
            those that another level's record keeps whole.
        limit: bytes that another answer may take compressed to be kept whole.

    Raises:
        TileError: one of the probes is recorded already, with something else; or the record is of another
            day, device, driver or assembler.
    """
    probes = list(probes)
    family = probes[0].family
    path = record_path(folder, source, family)
    evidence, some_undefined = Evidence(folder), set(undefined)
    recorded = {} if not path.exists() else read_record(path)
    for name, before in recorded.items():
        if before.source != source:
            raise TileError(
                f"the record has answers of another launch already, such as that to {name}",
                rule="record-source",
                file=str(path),
                found=before.source,
                expected=source,
            )
    for probe in probes:
        bits = bits_of(outputs[probe.name])
        hashes = (probe.kernel_hash, probe.inputs_hash, hashlib.sha256(bits.tobytes()).hexdigest())
        known = recorded.get(probe.name)
        if known is not None and (known.kernel, known.inputs, known.answer) != hashes:
            raise TileError(
                f"there is another answer to {probe.name} already; answers are never edited",
                rule="record-differs",
                file=str(path),
            )
        if known is not None:
            continue
        others = [a for a in evidence.answers(probe, source.gpu) if a.source.opt_level != source.opt_level]
        whole = probe.name in some_undefined or any(a.kept == "whole" for a in others)
        kept: Kept = "whole"
        if any((a.kernel, a.inputs, a.answer) == hashes for a in others):
            kept = "level"
        elif not whole and len(lzma.compress(bits.tobytes())) > limit:
            kept = "blocks"
        data = {"whole": bits.tobytes(), "blocks": block_hashes(bits), "level": b""}[kept]
        recorded[probe.name] = Answer(*hashes, kept, data, source)
    _write(path, source, recorded)
    return path


def _write(path: Path, source: Source, answers: Mapping[str, Answer]) -> None:
    entries = [
        {
            "name": name,
            "kernel": answer.kernel,
            "inputs": answer.inputs,
            "answer": answer.answer,
            "kept": answer.kept,
            "bytes": len(answer.data),
        }
        for name, answer in answers.items()
    ]
    lines = ",\n".join(f"  {json.dumps(e)}" for e in entries)
    document = f'{{\n "source": {json.dumps(vars(source))},\n "probes": [\n{lines}\n ]\n}}\n'
    path.parent.mkdir(parents=True, exist_ok=True)
    data = b"".join(answer.data for answer in answers.values())
    _replace(path.with_suffix(".xz"), lzma.compress(data, preset=9))
    _replace(path, document.encode())


def _replace(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(data)
    os.replace(temporary, path)
