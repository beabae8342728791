"""The bits do not depend on which of numpy's loops the processor gets."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.tileref.numerics.digest import digest, features


def test_without_the_processors_vector_features() -> None:
    found = features()
    if not found:
        pytest.skip("numpy uses no more than its baseline here")
    environment = {**os.environ, "NPY_DISABLE_CPU_FEATURES": " ".join(found)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.tileref.numerics.digest"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    other, *rest = done.stdout.split()
    assert not set(rest) & set(found), "the features are still on"
    assert other == digest()
