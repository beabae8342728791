"""The text of kernels that another compiler wrote, byte for byte as the disassembler prints it."""

from __future__ import annotations

from pathlib import Path

import pytest

import tileir

from .support import shared_cases

pytestmark = pytest.mark.skipif(not shared_cases(), reason="the recorded cases are not there")


@pytest.mark.parametrize("folder", shared_cases(), ids=lambda p: p.name)
def test_rendered_as_disassembled_and_read_back(folder: Path) -> None:
    module = tileir.read(folder / "kernel.tilebc")
    text = (folder / "kernel.mlir").read_text()
    assert tileir.render(module) == text
    assert tileir.render(tileir.parse(text)) == text
    # With locations nothing of these modules is lost.
    assert tileir.parse(tileir.render(module, locations=True)) == module
