"""The bits depend neither on which of numpy's loops the processor gets nor on how many threads ask at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.tileref.numerics.digest import digest, features, pieces


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


def test_in_one_thread_or_many() -> None:
    alone = [piece() for piece in pieces()]
    assert len(set(alone)) == len(alone)
    # Each piece twice, so that the same tables are asked for at the same time.
    twice = [*pieces(), *pieces()]
    with ThreadPoolExecutor(max_workers=6) as pool:
        together = list(pool.map(lambda piece: piece(), twice))
    assert together == alone * 2


def test_in_many_threads_that_find_nothing_cached() -> None:
    # A program whose first operations are those of several threads at once: tables are made while others wait.
    code = (
        "import hashlib\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from tests.tileref.numerics.digest import pieces\n"
        "with ThreadPoolExecutor(max_workers=9) as pool:\n"
        "    found = list(pool.map(lambda piece: piece(), pieces()))\n"
        "print(hashlib.sha256(''.join(found).encode()).hexdigest())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [digest()]
