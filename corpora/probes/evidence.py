"""What GPUs answered to the probes, with where it comes from.

``answers/<gpu>/<assembler>-O<level>/<family>.json`` tells device, driver, date and, for each probe, the
hashes of its kernel, its inputs and its answer; ``<family>.xz`` beside it holds the answers in the same
order. An answer is kept whole where it is small compressed, or where some of its elements have no defined
value; of the others there is a hash for each block of elements; one that another optimization level gave as
well is not kept again. Answers are written by ``recording`` alone, and never edited.
"""

from __future__ import annotations

import hashlib
import lzma
from dataclasses import dataclass, field, replace
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
Kept = Literal["whole", "blocks", "level"]
KEPT = ("whole", "blocks", "level")


@dataclass(frozen=True)
class Answer:
    """What a GPU answered to one probe.

    Attributes:
        kernel, inputs, answer: SHA-256 of the kernel's bytecode, the inputs (``Case.inputs_hash``) and the
            output's bytes, hexadecimal.
        kept: whether ``data`` is the output's bytes or a hash for each block of them; or nothing, because
            another level's record keeps the same answer.
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
        self._families: dict[tuple[str, str], list[dict[str, Answer]]] = {}

    @cached_property
    def gpus(self) -> list[str]:
        """The targets that there are answers of."""
        return sorted(p.name for p in self.folder.iterdir() if p.is_dir())

    def answers(self, probe: Probe, gpu: str) -> list[Answer]:
        """What ``gpu`` answered to ``probe``, one for each assembler and level, the lowest level first.

        Raises:
            TileError: a record is damaged.
        """
        key = (gpu, probe.family)
        if key not in self._families:
            paths = sorted(self.folder.glob(f"{gpu}/*/{probe.family}.json"))
            self._families[key] = [read_record(path) for path in paths]
        found = [family[probe.name] for family in self._families[key] if probe.name in family]
        return [answer if answer.kept != "level" else _kept_elsewhere(answer, found) for answer in found]

    def answer(self, probe: Probe, gpu: str) -> Answer | None:
        """What ``gpu`` answered to ``probe`` at the lowest level; None if there is no record of it.

        Raises:
            TileError: a record is damaged.
        """
        return next(iter(self.answers(probe, gpu)), None)

    def find(self, case: Case, gpu: str) -> list[Record]:
        """The answers to these inputs that were kept whole, as records like those of the corpus: one for each
        group of levels that answered alike, the highest level first.
        """
        whole = [a for a in self._answers_of(case, gpu) if a.kept == "whole" and self._fits(a, case)]
        (position,) = case.outputs
        buffer = case.parameters[position]
        assert isinstance(buffer, Buffer)
        dtype: np.dtype[Any] = FORMATS[buffer.format].dtype
        found = []
        for digest in dict.fromkeys(a.answer for a in reversed(whole)):
            alike = [a for a in whole if a.answer == digest]
            output = np.frombuffer(alike[0].data, dtype).reshape(buffer.shape).copy()
            source = alike[0].source
            found.append(
                Record(
                    gpu=gpu,
                    device=source.device,
                    driver=source.driver,
                    assembler=source.assembler,
                    date=source.date,
                    opt_levels=tuple(a.source.opt_level for a in alike),
                    outputs={position: output},
                )
            )
        return found

    def stale(self, case: Case, gpu: str) -> int:
        """How many records of the probe are of another kernel or other inputs."""
        return sum(not self._fits(answer, case) for answer in self._answers_of(case, gpu))

    def _answers_of(self, case: Case, gpu: str) -> list[Answer]:
        return self.answers(case, gpu)  # type: ignore[arg-type]

    @staticmethod
    def _fits(answer: Answer, case: Case) -> bool:
        return (answer.kernel, answer.inputs) == (case.kernel_hash, case.inputs_hash)


def _kept_elsewhere(answer: Answer, found: list[Answer]) -> Answer:
    for other in found:
        if other.kept != "level" and other.answer == answer.answer:
            return replace(other, kernel=answer.kernel, inputs=answer.inputs, source=answer.source)
    raise TileError("no other level's record keeps the answer", rule="record-level", found=answer.answer)


def read_record(path: Path) -> dict[str, Answer]:
    """The answers of one record, by probe.

    Raises:
        TileError: the record is damaged.
    """
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
        if kept not in KEPT:
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
