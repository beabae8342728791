"""Kernels answer the same bits whatever vector features numpy finds in the processor."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.tileref.digest import digest
from tests.tileref.numerics.digest import features


def test_without_the_processors_vector_features() -> None:
    found = features()
    if not found:
        pytest.skip("numpy uses no more than its baseline here")
    done = subprocess.run(
        [sys.executable, "-m", "tests.tileref.digest"],
        env={**os.environ, "NPY_DISABLE_CPU_FEATURES": " ".join(found)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split()[0] == digest()
