"""What GPUs answered to the probes, with where it comes from.

``answers/<gpu>/<assembler>-O<level>/<family>.json`` tells device, driver, date and, for each probe, the
hashes of its kernel, its inputs and its answer; ``<family>.xz`` beside it holds the answers in the same
order. An answer is kept whole where it is small compressed, or where some of its elements have no defined
value; of the others there is a hash for each block of elements. Answers are written by ``recording`` alone,
and never edited.
"""

from __future__ import annotations

import hashlib
import lzma
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from tileir.errors import TileError
from tileref.numerics.formats import FORMATS

from .. import documents
from ..case import Buffer, Case
from ..records import Record

if TYPE_CHECKING:
    from .probe import Probe

ANSWERS = Path(__file__).parent / "answers"
BLOCK = 1024
"""Elements that one hash stands for."""
BLOCK_HASH = 8
"""Bytes that are kept of a block's SHA-256; the whole answer's is kept in full."""
LIMIT = 256 << 20
"""Bytes that a family's answers may take."""
Kept = Literal["whole", "blocks"]


@dataclass(frozen=True)
class Answer:
    """What a GPU answered to one probe.

    Attributes:
        kernel, inputs, answer: SHA-256 of the kernel's bytecode, the inputs (``Case.inputs_hash``) and the
            output's bytes, hexadecimal.
        kept: whether ``data`` is the output's bytes or a hash for each block of them.
        data: that.
        source: the family's file and what it says of where the answers come from.
    """

    kernel: str
    inputs: str
    answer: str
    kept: Kept
    data: bytes = field(repr=False)
    source: Source

    def difference(self, output: NDArray[Any], undefined: NDArray[np.bool_] | None = None) -> str:
        """How much of ``output`` is not the answer, and what is first; empty if all of it is.

        Args:
            output: what to compare, in the output's format and shape.
            undefined: its elements that have no defined value, if there are any; these are not compared.

        Raises:
            TileError: elements are undefined, and only hashes were kept.
        """
        found = bits_of(output)
        if self.kept == "whole":
            return self._differing_elements(found, None if undefined is None else undefined.ravel())
        if undefined is not None and undefined.any():
            raise TileError("elements without a value need a whole answer", rule="probe-undefined")
        if hashlib.sha256(found.tobytes()).hexdigest() == self.answer:
            return ""
        return self._differing_blocks(found)

    def _differing_elements(self, found: NDArray[Any], undefined: NDArray[np.bool_] | None) -> str:
        expected = np.frombuffer(self.data, found.dtype)
        wrong = found != expected
        if undefined is not None:
            wrong &= ~undefined
        if not wrong.any():
            return ""
        first, digits = np.flatnonzero(wrong)[0], 2 * found.dtype.itemsize
        here, there = (f"{int(bits[first]):0{digits}x}" for bits in (found, expected))
        return f"{wrong.sum()} of {found.size} elements; first {first}: {here}, the GPU {there}"

    def _differing_blocks(self, found: NDArray[Any]) -> str:
        hashes = np.frombuffer(block_hashes(found), f"V{BLOCK_HASH}")
        wrong = np.flatnonzero(hashes != np.frombuffer(self.data, f"V{BLOCK_HASH}"))
        first = wrong[0] * BLOCK
        return (
            f"{len(wrong)} of {len(hashes)} blocks of {BLOCK} elements; first {first} to {first + BLOCK - 1}"
        )


@dataclass(frozen=True)
class Source:
    """Where a family's answers come from: the target, the GPU's name, its driver, the date of the launch
    (``YYYY-MM-DD``), the assembler, and the bytecode version and optimization level that it was given.
    """

    gpu: str
    device: str
    driver: str
    date: str
    assembler: str
    bytecode: str
    opt_level: int


def bits_of(output: NDArray[Any]) -> NDArray[Any]:
    """The patterns of an array, flat."""
    return np.ascontiguousarray(output).view(f"u{output.dtype.itemsize}").ravel()


def block_hashes(bits: NDArray[Any]) -> bytes:
    """The hashes of all blocks, one after the other."""
    blocks = (bits[i : i + BLOCK] for i in range(0, bits.size, BLOCK))
    return b"".join(hashlib.sha256(b.tobytes()).digest()[:BLOCK_HASH] for b in blocks)


class Evidence:
    """The recorded answers of a folder, found by probe."""

    def __init__(self, folder: Path = ANSWERS) -> None:
        self.folder = folder
        self._families: dict[tuple[str, str], dict[str, Answer]] = {}

    @cached_property
    def gpus(self) -> list[str]:
        """The targets that there are answers of."""
        return sorted(p.name for p in self.folder.iterdir() if p.is_dir())

    def answer(self, probe: Probe, gpu: str) -> Answer | None:
        """What ``gpu`` answered to ``probe``; None if there is no record of it.

        Raises:
            TileError: the record is damaged.
        """
        key = (gpu, probe.family)
        if key not in self._families:
            self._families[key] = self._read(*key)
        return self._families[key].get(probe.name)

    def find(self, case: Case, gpu: str) -> list[Record]:
        """The answer as a record like those of the corpus, if it was kept whole and is of these inputs."""
        answer = self.answer(case, gpu)  # type: ignore[arg-type]
        if answer is None or answer.kept != "whole" or not self._fits(answer, case):
            return []
        (position,) = case.outputs
        buffer = case.parameters[position]
        assert isinstance(buffer, Buffer)
        dtype: np.dtype[Any] = FORMATS[buffer.format].dtype
        output = np.frombuffer(answer.data, dtype).reshape(buffer.shape).copy()
        source = answer.source
        return [
            Record(
                gpu=gpu,
                device=source.device,
                driver=source.driver,
                assembler=source.assembler,
                date=source.date,
                opt_levels=(source.opt_level,),
                outputs={position: output},
            )
        ]

    def stale(self, case: Case, gpu: str) -> int:
        """1 if the record of the probe is of another kernel or other inputs, else 0."""
        answer = self.answer(case, gpu)  # type: ignore[arg-type]
        return int(answer is not None and not self._fits(answer, case))

    @staticmethod
    def _fits(answer: Answer, case: Case) -> bool:
        return (answer.kernel, answer.inputs) == (case.kernel_hash, case.inputs_hash)

    def _read(self, gpu: str, family: str) -> dict[str, Answer]:
        paths = sorted(self.folder.glob(f"{gpu}/*/{family}.json"))
        if not paths:
            return {}
        path = paths[-1]
        document = documents.load(path, "record")

        def text(entry: Any, key: str) -> str:
            value: str = documents.get(entry, key, str, path)
            return value

        origin = documents.get(document, "source", dict, path)
        source = Source(
            **{k: text(origin, k) for k in ("gpu", "device", "driver", "date", "assembler", "bytecode")},
            opt_level=documents.get(origin, "opt_level", int, path),
        )
        entries = documents.get(document, "probes", list, path)
        sizes = [documents.get(e, "bytes", int, path) for e in entries]
        data = _unpacked(path.with_suffix(".xz"), sum(sizes))
        answers, start = {}, 0
        for entry, size in zip(entries, sizes, strict=True):
            kept = text(entry, "kept")
            if kept not in ("whole", "blocks"):
                raise TileError("no such way to keep an answer", rule="json-kind", file=str(path), found=kept)
            hashes = {k: text(entry, k) for k in ("kernel", "inputs", "answer")}
            chunk = data[start : start + size]
            if kept == "whole" and hashlib.sha256(chunk).hexdigest() != hashes["answer"]:
                raise TileError("the answer is damaged", rule="record-hash", file=str(path))
            answers[text(entry, "name")] = Answer(**hashes, kept=kept, data=chunk, source=source)  # type: ignore[arg-type]
            start += size
        return answers


def _unpacked(path: Path, size: int) -> bytes:
    """The contents of a compressed file, which must be of ``size`` bytes."""
    if not 0 <= size <= LIMIT:
        raise TileError("the answers are too large", rule="record-size", file=str(path), found=size)
    try:
        data = lzma.LZMADecompressor().decompress(path.read_bytes(), max_length=size + 1)
    except (OSError, lzma.LZMAError, EOFError) as error:
        raise TileError(f"cannot read the answers: {error}", rule="record-file", file=str(path)) from error
    if len(data) != size:
        raise TileError(
            "the answers are of another size",
            rule="record-size",
            file=str(path),
            found=len(data),
            expected=size,
        )
    return data
