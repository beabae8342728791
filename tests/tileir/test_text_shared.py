"""The text of kernels that another compiler wrote, byte for byte as the disassembler prints it."""

from __future__ import annotations

from pathlib import Path

import pytest

import tileir

CASES = Path(__file__).parents[2].parent / "shared" / "device-answers"
FOLDERS = sorted(p.parent for p in CASES.glob("*/kernel.mlir"))

pytestmark = pytest.mark.skipif(not FOLDERS, reason="the shared cases are not here")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda p: p.name)
def test_rendered_as_disassembled(folder: Path) -> None:
    assert tileir.render(tileir.read(folder / "kernel.tilebc")) == (folder / "kernel.mlir").read_text()
