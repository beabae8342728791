"""Answers recorded from GPUs, with where they come from. A record is never edited.

One record is ``<gpu>/<assembler>/<case>/<id>.json`` beside ``<id>.npz``; ``id`` is made of the hashes of
kernel and inputs, so that a changed case finds no record and makes a new one beside the old. Where
optimization levels answered differently each has a record of its own, ``<id>-O<levels>.json``.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tileir.errors import TileError
from tileref.numerics.formats import FORMATS

from . import arrays, documents
from .case import Buffer, Case

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Record:
    """What a GPU answered.

    Attributes:
        gpu: the target, such as ``sm_90``.
        device: the GPU's name.
        driver: the driver's version.
        assembler: the assembler's version.
        date: when it was launched, ``YYYY-MM-DD``; empty if nobody said.
        opt_levels: the assembler's optimization levels that all gave these bits.
        outputs: for each output parameter's position the array it held afterwards.
        path: the file it was read from.
    """

    gpu: str
    device: str
    driver: str
    assembler: str
    date: str
    opt_levels: tuple[int, ...]
    outputs: Mapping[int, NDArray[Any]]
    path: Path | None = None


def record_id(case: Case) -> str:
    """16 hexadecimal digits that name the kernel and the inputs of ``case``."""
    return hashlib.sha256(f"{case.kernel_hash} {case.inputs_hash}".encode()).hexdigest()[:16]


class Folder:
    """A folder of records."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def find(self, case: Case, gpu: str) -> list[Record]:
        """The records of ``case`` on ``gpu`` by the newest assembler, the highest level first: one, or one
        for each group of optimization levels that answered alike. Records of another kernel or other inputs
        are passed over, which the log tells.

        Raises:
            TileError: a record of this kernel and these inputs is damaged.
        """
        found = []
        for path in sorted(self.path.glob(f"{_safe(gpu)}/*/{case.name}/*.json")):
            if path.stem.partition("-")[0] == record_id(case):
                found.append(self._read(path, case))
            else:
                logger.info("%s: passed over, it is of another kernel or other inputs", path)
        newest = max((_version(r.assembler) for r in found), default=())
        found = [r for r in found if _version(r.assembler) == newest]
        return sorted(found, key=lambda r: max(r.opt_levels, default=0), reverse=True)

    def stale(self, case: Case, gpu: str) -> int:
        """How many records of this case's name are of another kernel or other inputs."""
        paths = self.path.glob(f"{_safe(gpu)}/*/{case.name}/*.json")
        return sum(path.stem.partition("-")[0] != record_id(case) for path in paths)

    def gpus(self) -> list[str]:
        """The targets that there are records of."""
        if not self.path.is_dir():
            return []
        return sorted(p.name for p in self.path.iterdir() if p.is_dir())

    def write(self, case: Case, record: Record, alone: bool = True) -> Path | None:
        """Add a record, and give its path; None if the same assembler's is there already.

        Args:
            case: what it is of.
            record: the answer.
            alone: whether all levels answered so; else the levels become part of the record's name.

        Raises:
            TileError: the answer that is there already has other bits.
        """
        if not set(case.outputs) <= record.outputs.keys():
            raise TileError(f"the answer of {case.name} lacks an output", rule="record-output")
        folder = self.path / _safe(record.gpu) / _safe(record.assembler) / case.name
        levels = "" if alone else f"-O{''.join(map(str, sorted(record.opt_levels)))}"
        path = folder / f"{record_id(case)}{levels}.json"
        if path.exists():
            old = self._read(path, case)
            if any(old.outputs[i].tobytes() != record.outputs[i].tobytes() for i in case.outputs):
                raise TileError(
                    f"{case.name} is recorded with other bits; answers are never edited",
                    rule="record-differs",
                    file=str(path),
                )
            return None
        arrays.write(path.with_suffix(".npz"), {str(i): record.outputs[i] for i in case.outputs})
        document = {
            "case": case.name,
            "gpu": record.gpu,
            "device": record.device,
            "driver": record.driver,
            "assembler": record.assembler,
            "date": record.date,
            "opt_levels": list(record.opt_levels),
            "kernel_sha256": case.kernel_hash,
            "inputs_sha256": case.inputs_hash,
        }
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        temporary.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        os.replace(temporary, path)
        return path

    def _read(self, path: Path, case: Case) -> Record:
        document = documents.load(path, "record")

        def text(key: str) -> str:
            value: str = documents.get(document, key, str, path)
            return value

        for key, expected in (("kernel_sha256", case.kernel_hash), ("inputs_sha256", case.inputs_hash)):
            if text(key) != expected:
                raise TileError(
                    "the record's hash is not the one its name stands for",
                    rule="record-hash",
                    file=str(path),
                    found=text(key)[:16],
                    expected=expected[:16],
                )
        outputs = {}
        for position in case.outputs:
            buffer = case.parameters[position]
            assert isinstance(buffer, Buffer)
            dtype: np.dtype[Any] = FORMATS[buffer.format].dtype
            outputs[position] = arrays.read(path.with_suffix(".npz"), str(position), dtype, buffer.shape)
        return Record(
            gpu=text("gpu"),
            device=text("device"),
            driver=text("driver"),
            assembler=text("assembler"),
            date=text("date"),
            opt_levels=documents.integers(
                documents.get(document, "opt_levels", list, path), path, "opt_levels"
            ),
            outputs=outputs,
            path=path,
        )


def _safe(name: str) -> str:
    """``name`` as a folder's name."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise TileError("not fit for a folder's name", rule="record-name", found=name)
    return name


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", text))
