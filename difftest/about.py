"""What a report says about the run it comes from."""

from __future__ import annotations

import importlib
import platform
from collections.abc import Sequence
from typing import Any

import numpy as np

from .judge.verdict import Verdict


def about(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Title, one sentence, and facts: target, model, device, driver, assembler, where it was judged."""
    gpu = verdicts[0].gpu if verdicts else ""
    facts: list[tuple[str, str]] = []

    def several(name: str, values: Sequence[str]) -> None:
        found = sorted({v for v in values if v})
        if found:
            facts.append((name, ", ".join(found)))

    several("target", [v.gpu for v in verdicts])
    several("model", [v.model for v in verdicts])
    several("answers", [v.source for v in verdicts])
    several("device", [v.device for v in verdicts])
    several("driver", [v.driver for v in verdicts])
    several("tileiras", [v.assembler for v in verdicts])
    several("launched", [v.date for v in verdicts])
    facts.append(
        ("judged with", f"Python {platform.python_version()}, numpy {np.__version__}, {cpu_features()}")
    )
    return {
        "title": f"{gpu} against the reference interpreter",
        "gpu": gpu,
        "summary": sentence(verdicts),
        "facts": facts,
    }


def sentence(verdicts: Sequence[Verdict]) -> str:
    """What the run found, in words."""
    sources = {v.source for v in verdicts}
    if not verdicts:
        return "There were no cases."
    if sources == {"none"}:
        results = {v.result for v in verdicts}
        which = "Every kernel" if results <= {"not-compared", "unsupported"} else "Not every kernel"
        if "unsupported" in results:
            which += " that is for this target"
        return (
            "No values were compared: there is no GPU of this target here and no recorded answer. "
            f"{which} could be assembled and interpreted."
        )
    text = (
        "Answers of a GPU that were recorded earlier, compared with what the model says, bit by bit."
        if "launched" not in sources
        else "What the GPU answered in this run, compared with what the model says, bit by bit."
    )
    if "launched" in sources and "recorded" in sources:
        text += " Some answers were recorded earlier; each line says which."
    return text + " Lanes without a defined value are never compared."


def cpu_features() -> str:
    """The processor's vector extensions that numpy uses: an interpreter must not depend on them."""
    # The only place that numpy says it in; a private one, so it may be gone one day.
    try:
        core = importlib.import_module("numpy._core._multiarray_umath")
        features = core.__cpu_features__
    except (ImportError, AttributeError):
        return "processor features unknown"
    there = [
        name
        for name in ("AVX2", "FMA3", "AVX512F", "AVX512_SKX", "AVX512_SPR", "ASIMD", "SVE")
        if features.get(name)
    ]
    return " ".join(there) or "no vector extensions"
