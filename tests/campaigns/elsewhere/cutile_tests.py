"""cuTile's own tests on the emulator: a plugin for pytest, to be run in a checkout of NVIDIA/cutile-python.

    cd CUTILE_PYTHON/test
    PYTHONPATH=HERE python -m pytest -p tests.campaigns.elsewhere.cutile_tests test_control_flow.py

Needs torch (a CPU build will do), cuda-tile, pytest and pytest-benchmark. Tests of the text of messages, of
cubins, of what the compiler does by itself or in another process, and of the tuner's measurements fail.
"""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from cuda.tile import _compile
from cuda.tile._bytecode.version import BytecodeVersion

import tileref.cutile

_EMULATING = tileref.cutile.emulating(model=os.environ.get("MODEL", "sm_90"))
LAUNCHES = _EMULATING.__enter__()  # The tests' modules ask for the GPU as soon as they are imported.
REPORTED: list[str] = []
COUNT = 0

torch.cuda.is_available = lambda: True
_private: Any = _compile
_private._find_compiler_bin = lambda: SimpleNamespace(path="none", run=lambda *_args, **_options: None)
_private._get_max_supported_bytecode_version = lambda *_args, **_options: BytecodeVersion.V_13_4


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Note what was undefined."""
    global COUNT
    COUNT += len(LAUNCHES)
    REPORTED.extend(f"{item.nodeid}: {event}" for launch in LAUNCHES for event in launch.undefined)
    LAUNCHES.clear()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say it."""
    terminalreporter.write_line(f"{COUNT} launches, {len(REPORTED)} reports of something undefined")
    for line in REPORTED[:20]:
        terminalreporter.write_line(line)
