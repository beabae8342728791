"""The timed work as Triton kernels; imported with ``TRITON_INTERPRET=1`` set."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x, y, z, TILE: tl.constexpr):
    """One tile a program."""
    at = tl.program_id(0) * TILE + tl.arange(0, TILE)
    tl.store(z + at, tl.load(x + at) + tl.load(y + at))


@triton.jit
def softmax_kernel(x, y, N: tl.constexpr):
    """One row a program."""
    at = tl.program_id(0) * N + tl.arange(0, N)
    row = tl.load(x + at)
    e = tl.exp(row - tl.max(row, axis=0))
    tl.store(y + at, e / tl.sum(e, axis=0))


@triton.jit
def layer_norm_kernel(x, w, b, y, N: tl.constexpr):
    """One row a program."""
    column = tl.arange(0, N)
    at = tl.program_id(0) * N + column
    row = tl.load(x + at)
    centred = row - tl.sum(row, axis=0) / N
    variance = tl.sum(centred * centred, axis=0) / N
    normal = centred / tl.sqrt(variance + 1e-5)
    tl.store(y + at, normal * tl.load(w + column) + tl.load(b + column))


@triton.jit
def product_kernel(x, y, z, K, N, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr):
    """One tile of the result a program."""
    i = tl.program_id(0) * TM + tl.arange(0, TM)
    j = tl.program_id(1) * TN + tl.arange(0, TN)
    acc = tl.zeros((TM, TN), dtype=tl.float32)
    for first in range(0, K, TK):
        k = first + tl.arange(0, TK)
        a = tl.load(x + i[:, None] * K + k[None, :])
        b = tl.load(y + k[:, None] * N + j[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(z + i[:, None] * N + j[None, :], acc)


@triton.jit
def attention_kernel(q, k, v, out, scale, L, TM: tl.constexpr, TN: tl.constexpr, D: tl.constexpr):
    """Flash attention forward: TM queries of one head a program."""
    head = tl.program_id(1) * L * D
    i = tl.program_id(0) * TM + tl.arange(0, TM)
    d = tl.arange(0, D)
    queries = tl.load(q + head + i[:, None] * D + d[None, :])
    largest = tl.full((TM,), float("-inf"), dtype=tl.float32)
    total = tl.zeros((TM,), dtype=tl.float32)
    acc = tl.zeros((TM, D), dtype=tl.float32)
    for first in range(0, L, TN):
        j = first + tl.arange(0, TN)
        keys = tl.load(k + head + j[:, None] * D + d[None, :])
        scores = tl.dot(queries, tl.trans(keys)) * scale
        new = tl.maximum(largest, tl.max(scores, axis=1))
        weights = tl.exp2(scores - new[:, None])
        factor = tl.exp2(largest - new)
        total = total * factor + tl.sum(weights, axis=1)
        values = tl.load(v + head + j[:, None] * D + d[None, :])
        acc = tl.dot(weights.to(tl.float16), values, acc * factor[:, None])
        largest = new
    tl.store(out + head + i[:, None] * D + d[None, :], acc / total[:, None])


def tensors(arrays: list[Any]) -> list[Any]:
    """The same memory as torch tensors."""
    return [torch.from_numpy(a) for a in arrays]
