"""Corpora that others made: a folder with a ``manifest.json`` and a folder a case.

The manifest tells ``device``, ``driver``, ``tileiras`` and ``cases``; a case its ``name`` (also its folder,
with ``kernel.tilebc`` and ``data.npz``), ``entry``, ``grid`` and ``params``. A parameter is an ``i32``, a
``scalar`` (little-endian hexadecimal bytes, of ``dtype``), or a ``buffer``: the name of an array, stored
as it is or as unsigned integers of its width. A buffer with an ``answer`` is an output, and the array of
that name holds what the device answered; an output whose answer nobody kept is marked ``output``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tileir.errors import TileError
from tileref.numerics.formats import FORMATS

from . import arrays, documents
from .case import Buffer, Case, Parameter, Scalar
from .records import Record

FORMAT_OF_DTYPE: Mapping[str, str] = {
    **{f"float{w}": f"f{w}" for w in (16, 32, 64)},
    **{f"int{w}": f"i{w}" for w in (8, 16, 32, 64)},
    **{f"uint{w}": f"i{w}" for w in (8, 16, 32, 64)},
    "bool": "i1",
    "bfloat16": "bf16",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e5m2": "f8E5M2",
    "float8_e8m0fnu": "f8E8M0FNU",
}
"""Names that array libraries use, and the dialect's for the same format."""


@dataclass(frozen=True, slots=True)
class Stored:
    """Contents kept in an npz file."""

    path: Path
    key: str

    def array(self, buffer: Buffer) -> NDArray[Any]:
        """A fresh copy of the stored array."""
        return arrays.read(self.path, self.key, FORMATS[buffer.format].dtype, buffer.shape)


class _Answers:
    """The records of a foreign folder: at most one a case."""

    def __init__(self, manifest: dict[str, Any], path: Path) -> None:
        self.path = path
        self.device = documents.get(manifest, "device", str, path, default="")
        self.driver = documents.get(manifest, "driver", str, path, default="")
        self.assembler = documents.get(manifest, "tileiras", str, path, default="")
        target = re.search(r"\bsm_\d+[a-z]?\b", self.device)
        self.gpu = documents.get(manifest, "gpu", str, path, default=target[0] if target else "")
        self.keys: dict[str, dict[int, str]] = {}
        self.levels: dict[str, tuple[int, ...]] = {}

    def find(self, case: Case, gpu: str) -> list[Record]:
        """The device's answer for ``case``, if there is one of this target."""
        keys = self.keys.get(case.name, {})
        if gpu != self.gpu or not keys:
            return []
        outputs = {}
        for position, key in keys.items():
            buffer = case.parameters[position]
            assert isinstance(buffer, Buffer)
            outputs[position] = Stored(case.path.with_name("data.npz"), key).array(buffer)
        levels = self.levels[case.name]
        return [Record(self.gpu, self.device, self.driver, self.assembler, "", levels, outputs, self.path)]

    def stale(self, case: Case, gpu: str) -> int:
        """None: a folder's answers are of its own kernels."""
        return 0


def foreign(folder: Path) -> list[Case]:
    """The cases of a foreign folder, in its manifest's order.

    Raises:
        TileError: the manifest is missing or damaged; damage to a case's own files shows when it is used.
    """
    path = folder / "manifest.json"
    manifest = documents.load(path, "manifest")
    answers = _Answers(manifest, path)
    return [_case(entry, folder, path, answers) for entry in documents.get(manifest, "cases", list, path)]


def _case(entry: Any, folder: Path, path: Path, answers: _Answers) -> Case:
    name = documents.get(entry, "name", str, path)
    # The name becomes a path: it must stay inside the folder.
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*", name):
        raise TileError("not a case's name", rule="case-name", file=str(path), found=name[:40])
    data = folder / name / "data.npz"
    parameters = []
    keys = {}
    for position, parameter in enumerate(documents.get(entry, "params", list, path)):
        parameters.append(_parameter(parameter, data, path))
        if "answer" in parameter:
            keys[position] = documents.get(parameter, "answer", str, path)
    answers.keys[name] = keys
    agree = documents.get(entry, "opt_levels_agree", bool, path, default=False)
    answers.levels[name] = (0, 3) if agree else ()
    return Case(
        name=name,
        path=folder / name / "kernel.tilebc",
        entry=documents.get(entry, "entry", str, path),
        grid=documents.integers(documents.get(entry, "grid", list, path), path, "grid", lowest=1),
        parameters=tuple(parameters),
        records=answers,
    )


def _parameter(entry: Any, data: Path, path: Path) -> Parameter:
    if not isinstance(entry, dict):
        raise TileError("not a parameter", rule="json-kind", file=str(path), found=str(entry)[:40])
    if "i32" in entry:
        return Scalar("i32", documents.get(entry, "i32", int, path) & 0xFFFFFFFF)
    dtype = documents.get(entry, "dtype", str, path)
    format_name = FORMAT_OF_DTYPE.get(dtype)
    if format_name is None:
        raise TileError("a dtype that no format has", rule="corpus-dtype", file=str(path), found=dtype)
    if "scalar" in entry:
        try:
            bits = int.from_bytes(bytes.fromhex(documents.get(entry, "scalar", str, path)), "little")
        except ValueError as error:
            raise TileError("not hexadecimal", rule="json-kind", file=str(path)) from error
        return Scalar(format_name, bits)
    name = documents.get(entry, "buffer", str, path)
    shape = documents.integers(documents.get(entry, "shape", list, path), path, "shape")
    output = "answer" in entry or documents.get(entry, "output", bool, path, default=False)
    return Buffer(name, format_name, shape, Stored(data, name), output=output)
