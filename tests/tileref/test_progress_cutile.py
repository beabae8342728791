"""cuda-tile kernels whose blocks wait for each other, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

import tileref.cutile

pytest.importorskip("cuda.tile")

from tests.tileref import waiting_cutile_kernels as kernels


def test_a_lock_guards_a_tile() -> None:
    x = np.arange(200 * 16, dtype=np.int32)
    lock, total = np.zeros(1, np.int32), np.zeros(16, np.int32)
    result = tileref.cutile.launch((200,), kernels.locked_sum, (lock, total, x, 16))
    assert not result.undefined
    np.testing.assert_array_equal(total, x.reshape(200, 16).sum(axis=0))
    assert lock[0] == 0


def test_look_back() -> None:
    x = np.random.default_rng(3).integers(-1000, 1000, 500 * 32).astype(np.int32)
    status, sums, prefixes = (np.zeros(500, np.int32) for _ in range(3))
    y = np.zeros_like(x)
    result = tileref.cutile.launch((500,), kernels.look_back, (x, status, sums, prefixes, y, 32))
    assert not result.undefined
    np.testing.assert_array_equal(y, np.cumsum(x))


@pytest.mark.parametrize(("blocks", "each"), [(48, 1), (16, 3), (7, 7), (5, 11)])
def test_stream_k(blocks: int, each: int) -> None:
    # 3 x 2 tiles of 8 steps.
    random = np.random.default_rng(5)
    a = random.integers(-8, 9, (48, 64)).astype(np.float16)
    b = random.integers(-8, 9, (64, 32)).astype(np.float16)
    c = np.full((48, 32), np.nan, np.float32)
    parts, ready = np.zeros((blocks, 16, 16), np.float32), np.zeros(blocks, np.int32)
    result = tileref.cutile.launch((blocks,), kernels.stream_k, (a, b, c, parts, ready, each, 16, 16, 8))
    assert not result.undefined
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


def test_a_grid_barrier() -> None:
    count, values, out = np.zeros(1, np.int32), np.zeros(400, np.int32), np.zeros(400, np.int32)
    tileref.cutile.launch((400,), kernels.barrier, (count, values, out))
    np.testing.assert_array_equal(out, np.arange(400)[::-1])
