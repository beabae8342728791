"""Fixtures of the difftest tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from .fake_assembler import FakeAssembler


@pytest.fixture
def assembler(tmp_path: Path) -> FakeAssembler:
    """A fake assembler of its own for each test."""
    return FakeAssembler(tmp_path / "assembler")
