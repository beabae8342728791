"""What this machine has of what the stages need."""

from __future__ import annotations

import platform
import subprocess
import sys
from dataclasses import dataclass

from tileir import toolchain
from tileir.assembler import assembler_defect, targets
from tileir.errors import TileError


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked for; ``needed`` if no stage but ``judge`` works without it."""

    what: str
    good: bool
    found: str
    needed: bool = False


def examine(driver: str, assembler: str | None) -> list[Finding]:
    """Look for the assembler, the driver and a GPU, and name the interpreter's surroundings."""
    import numpy as np

    import tileref

    from .about import cpu_features

    findings = [
        Finding("python", True, f"{platform.python_version()} ({platform.machine()} {platform.system()})"),
        Finding("numpy", True, f"{np.__version__}, {cpu_features()}"),
        Finding("models", True, ", ".join(tileref.models())),
    ]
    try:
        tools = toolchain.find(assembler)
        version = tools.version
        findings.append(Finding("tileiras", True, f"{version} at {tools.tileiras}", needed=True))
        findings.append(Finding("targets", True, ", ".join(targets(version))))
        defects = [d for d in (assembler_defect(version, t) for t in targets(version)) if d]
        findings += [Finding("defect", True, d) for d in defects[:1]]
    except TileError as error:
        findings.append(Finding("tileiras", False, error.message, needed=True))
    return [*findings, *_gpu(driver)]


def _gpu(driver: str) -> list[Finding]:
    """The driver and the GPU; asked in a process of its own, so that a broken driver breaks only that."""
    program = (
        "import sys, json\n"
        "from difftest.launch.driver import Device\n"
        "d = Device(sys.argv[1])\n"
        "print(json.dumps([d.name, d.gpu, d.driver]))\n"
    )
    try:
        done = subprocess.run(
            [sys.executable, "-c", program, driver],
            capture_output=True,
            text=True,
            timeout=120,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return [Finding("gpu", False, "the driver gave no context within 120 s")]
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        return [Finding("gpu", False, lines[-1] if lines else f"exit status {done.returncode}")]
    import json

    name, gpu, version = json.loads(done.stdout)
    return [Finding("gpu", True, f"{name} ({gpu})"), Finding("driver", True, version)]
