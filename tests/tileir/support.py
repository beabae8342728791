"""What the tests of ``tileir`` share: recorded cases, and the outside programs where they are installed."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path

import pytest

from tileir import toolchain
from tileir.errors import AssemblerError

SHARED = Path(__file__).parents[2].parent / "shared" / "device-answers"


def shared_cases() -> list[Path]:
    """The folders of the recorded cases; none where they are not there."""
    return sorted(p for p in SHARED.glob("*") if p.is_dir())


def shared_case(name: str) -> Path:
    """The folder of one recorded case; skips the test where it is not there."""
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip("the recorded cases are not there")
    return folder


@cache
def tools() -> toolchain.Toolchain | None:
    """The assembler, if it is installed."""
    try:
        return toolchain.find()
    except AssemblerError:
        return None


needs_tileiras = pytest.mark.skipif(tools() is None, reason="tileiras is not installed")
needs_second_writer = pytest.mark.skipif(
    importlib.util.find_spec("cuda") is None or importlib.util.find_spec("cuda.tile") is None,
    reason="cuda-tile is not installed",
)
