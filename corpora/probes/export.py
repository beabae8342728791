"""Probes as a folder of cases, for ``difftest run --corpus``: to launch them again on a GPU."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import arrays
from ..case import Buffer
from ..foreign import FORMAT_OF_DTYPE
from .probe import Probe

DTYPES = {format_name: dtype for dtype, format_name in FORMAT_OF_DTYPE.items()}


def exported_name(probe: Probe) -> str:
    """What the probe is called as a case: a case's name is also its folder's."""
    return probe.name.replace("/", ".")


def export(folder: Path, probes: Sequence[Probe], gpu: str) -> int:
    """Write ``probes`` into ``folder`` (see ``corpora.foreign``), with the answers of ``gpu`` kept whole.

    Returns:
        How many there are.

    Raises:
        TileError: a record is damaged.
    """
    origin: dict[str, Any] = {"device": "", "driver": "", "tileiras": "", "gpu": gpu}
    cases = []
    for probe in probes:
        name = exported_name(probe)
        here = folder / name
        here.mkdir(parents=True, exist_ok=True)
        (here / "kernel.tilebc").write_bytes(probe.kernel)
        records = probe.recorded(gpu)
        stored, parameters = {}, []
        for position, (buffer, array) in enumerate(zip(probe.parameters, probe.arguments(), strict=True)):
            assert isinstance(buffer, Buffer)
            entry: dict[str, Any] = {
                "buffer": buffer.name,
                "dtype": DTYPES[buffer.format],
                "shape": list(buffer.shape),
            }
            stored[buffer.name] = array
            if buffer.output:
                entry["output"] = True
                for record in records[:1]:
                    entry["answer"] = "answer"
                    stored["answer"] = record.outputs[position]
                    origin |= {"device": record.device, "driver": record.driver, "tileiras": record.assembler}
            parameters.append(entry)
        arrays.write(here / "data.npz", stored)
        cases.append({"name": name, "entry": probe.entry, "grid": list(probe.grid), "params": parameters})
    text = json.dumps({**origin, "cases": cases}, indent=1)
    (folder / "manifest.json").write_text(text + "\n", encoding="utf-8")
    return len(cases)
