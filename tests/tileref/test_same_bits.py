"""Kernels answer the same bits whatever vector features numpy finds, and however many are launched at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.tileref.digest import digest, pieces
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


def test_launches_at_the_same_time() -> None:
    some = pieces(["unary/*_f32", "scan/cumsum_f64_256", "mma/f16_f32_64x64x64", "model/*_f16"])
    alone = [piece() for piece in some]
    assert len(set(alone)) == len(alone)
    with ThreadPoolExecutor(max_workers=6) as pool:
        together = list(pool.map(lambda piece: piece(), [*some, *some]))
    assert together == alone * 2
