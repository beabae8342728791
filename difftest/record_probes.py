"""Launches of exported probes made into records among the probes' answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from corpora.probes import Probe
from corpora.probes.evidence import Source, read_record
from corpora.probes.recording import record_path, write
from tileir.errors import TileError
from tileir.version import V13_4

from .judge.answers import Answer


class Probed:
    """What a folder's launches answered to probes, until it is written: one record a family and level."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._found: dict[tuple[str, Source], dict[str, tuple[Probe, NDArray[Any]]]] = {}

    def add(self, probe: Probe, gpu: str, given: Iterable[Answer]) -> None:
        """Note the answers to one probe."""
        for answer in given:
            for level in answer.opt_levels:
                source = Source(
                    gpu=gpu,
                    device=answer.device,
                    driver=answer.driver,
                    date=answer.date,
                    assembler=answer.assembler,
                    bytecode=str(V13_4),
                    opt_level=level,
                )
                family = self._found.setdefault((probe.family, source), {})
                family[probe.name] = (probe, answer.outputs[probe.output])

    def write(self, say: Callable[[str], None]) -> Counter[str]:
        """Write the records; how many answers are ``new`` and how many were ``known``."""
        counts: Counter[str] = Counter()
        for (family, source), found in self._found.items():
            path = record_path(self.folder, source, family)
            known = read_record(path).keys() & found.keys() if path.exists() else set()
            outputs = {name: output for name, (_, output) in found.items()}
            try:
                write(self.folder, source, [probe for probe, _ in found.values()], outputs)
            except TileError as error:
                counts["differs from its record"] += len(found)
                say(f"{family}: not recorded, {error}")
                continue
            counts["known"] += len(known)
            counts["new"] += len(found) - len(known)
        return counts
