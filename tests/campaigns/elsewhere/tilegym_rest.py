"""tilegym's kernels that only unusual shapes, options or GPUs lead to, or nothing at all."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import torch
import torch.nn.functional as F

from .cases import Case, Cases, Check, like, normal
from .tilegym_attention import attend, causal
from .tilegym_more import FP8, flashinfer
from .tilegym_suites import both_ways, ops, rms

case = Cases("tilegym")


def cases() -> list[Case]:
    """The cases; tilegym is installed."""
    return case.all


def own() -> Any:
    """Tilegym's own operations."""
    return importlib.import_module("tilegym.ops")


@case("liger.tvd, rows that are not aligned")
def tvd() -> Iterator[Check]:
    p, q = (torch.softmax(normal(20, 101), -1) for _ in range(2))
    yield like(ops().tvd(p, q).reshape(1), ((p.double() - q.double()).abs().sum() / 40)[None], 5)


def turned(t: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Halves of the last axis as real and imaginary parts, turned by an angle."""
    left, right = t.double().chunk(2, -1)
    return torch.cat((left * cos - right * sin, right * cos + left * sin), -1)


@case("liger.rope, three heads")
def rope() -> Iterator[Check]:
    q, k = normal(1, 3, 30, 48), normal(1, 3, 30, 48)
    angle = normal(1, 30, 24)
    cos, sin = (f(angle).repeat(1, 1, 2) for f in (torch.cos, torch.sin))
    found = ops().rope(q.clone(), k.clone(), cos, sin)
    for ours, t in zip(found, (q, k), strict=True):
        yield like(ours, turned(t, angle.double().cos()[:, None], angle.double().sin()[:, None]), 3)


@case("liger.qwen2vl_mrope, three heads")
def qwen2vl_mrope() -> Iterator[Check]:
    q, k = normal(1, 3, 30, 48), normal(1, 3, 30, 48)
    angle, sections = normal(3, 1, 30, 24), [8, 8, 8]
    cos, sin = (f(angle).repeat(1, 1, 1, 2) for f in (torch.cos, torch.sin))
    found = ops().qwen2vl_mrope(q.clone(), k.clone(), cos, sin, sections)
    chosen = torch.cat([part[i] for i, part in enumerate(angle.double().split(sections, -1))], -1)[:, None]
    for ours, t in zip(found, (q, k), strict=True):
        yield like(ours, turned(t, chosen.cos(), chosen.sin()), 3)


@case("liger.layer_norm, the input's gradient alone")
def layer_norm() -> Iterator[Check]:
    w, b = normal(300), normal(300)
    yield from both_ways(
        lambda x: ops().layer_norm(x, w, b, 1e-5),
        lambda x: F.layer_norm(x, (300,), w.double(), b.double(), 1e-5),
        normal(20, 300),
        times=10,
    )


@case("liger.rms_norm, without weights")
def rms_norm() -> Iterator[Check]:
    yield from both_ways(
        lambda x: ops().rms_norm(x, None, 1e-6, in_place=False), rms, normal(20, 300), times=10
    )


@case("liger.modulated_rms_norm, without weights")
def modulated_rms_norm() -> Iterator[Check]:
    yield from both_ways(
        lambda x, s, b: ops().modulated_rms_norm(x, None, s, b, in_place=False),
        lambda x, s, b: rms(x) * (1 + s) + b,
        normal(20, 256),
        normal(256),
        normal(256),
        times=10,
    )


@case("liger.fused_add_rms_norm, long rows")
def fused_add_rms_norm() -> Iterator[Check]:
    yield from both_ways(
        lambda x, r, w: ops().fused_add_rms_norm(x * 1, r * 1, w, 1e-6)[0],
        lambda x, r, w: rms(x + r) * w,
        normal(3, 5000),
        normal(3, 5000),
        normal(5000),
        times=20,
    )


@case("liger.poly_norm, rows too long for a tile")
def poly_norm() -> Iterator[Check]:
    x, w, b = normal(2, 70000), normal(3), normal(1)
    wide, weight = x.double(), w.double()
    expected = weight[0] * rms(wide**3) + weight[1] * rms(wide**2) + weight[2] * rms(wide) + b.double()
    yield like(ops().poly_norm(x, w, b, 1e-6), expected, 20)


@case("liger.grpo_loss, sequences")
def grpo_loss() -> Iterator[Check]:
    logits = normal(2, 17, 128).requires_grad_()
    ids = torch.randint(0, 128, (2, 16))
    advantages = normal(2)
    loss, *_ = ops().grpo_loss(
        logits, None, None, ids, advantages, beta=0.0, inplace=False, importance_sampling_level="sequence"
    )
    # Without an older policy the ratio is 1, and the loss is the advantage with its sign turned.
    yield like(loss.detach(), -advantages.double()[:, None].expand(2, 16), 5)
    [ours] = torch.autograd.grad(loss.sum(), logits)
    wide = logits.detach().double().requires_grad_()
    chosen = torch.log_softmax(wide[:, :-1] / 0.9, -1).gather(-1, ids[..., None])[..., 0]
    ratio = (chosen - chosen.detach()).mean(-1, keepdim=True).exp()
    [theirs] = torch.autograd.grad((-ratio * advantages.double()[:, None]).expand(2, 16).sum(), wide)
    yield like(ours, theirs, 10)


@case("layer_norm, over channels")
def channel_layer_norm() -> Iterator[Check]:
    x, w, b = normal(2, 30, 32), normal(30), normal(30)
    expected = F.layer_norm(x.double().mT, (30,), w.double(), b.double(), 1e-5).mT
    yield like(own().layer_norm(x, 1, 2, w, b, 1e-5), expected, 3)


@case("fmha_variant, heads first")
def fmha_variant() -> Iterator[Check]:
    # It names the axes of K in the order of the array and not of the tile: one tile of as many keys as there
    # are features is all that it reads rightly.
    q, k, v = (normal(2, 64, 1, 64, dtype=torch.float16) for _ in range(3))
    with patch.dict("os.environ", {"TILEGYM_DISABLE_AUTOTUNE": "1"}):
        found = own().fmha_variant(q, k, v, 0.125, layout="nsbd", kernel_configs={"TILE_M": 64, "TILE_N": 64})
    heads = [t.permute(2, 0, 1, 3) for t in (q, k, v)]
    yield like(found.permute(2, 0, 1, 3), attend(*heads, 0.125, causal(64, 64)), 2)


@case("flashinfer.ragged_bmm, operands swapped")
def ragged_bmm() -> Iterator[Check]:
    starts = torch.tensor([0, 40, 45, 128], dtype=torch.int32)
    a, b = normal(128, 64, dtype=torch.bfloat16), normal(3, 128, 64, dtype=torch.bfloat16)
    tiles = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64, "swap_ab": True}
    with patch.dict("os.environ", {"TILEGYM_DISABLE_AUTOTUNE": "1"}):
        found = flashinfer().ragged_bmm(a, b, starts, 83, kernel_configs=tiles)
    batch = torch.arange(3).repeat_interleave(starts.diff().long())
    yield like(found, torch.einsum("tk,tnk->tn", a.double(), b.double()[batch]), 5)


@case("unsloth.w8a8, by gathers")
def w8a8() -> Iterator[Check]:
    import cuda.tile as ct

    kernel = importlib.import_module("tilegym.suites.unsloth.cutile.fp8").w8a8_block_fp8_matmul_kernel_ct
    m, n, k, group = 40, 48, 64, 32
    a, b = normal(m, k).to(FP8), normal(n, k).to(FP8)
    a_scale, b_scale = torch.rand(m, k // group), torch.rand(-(-n // group), k // group)
    out = torch.zeros(m, n)
    sizes = (m, n, k, group, group, 32, 32, 32, 1, 0)
    ct.launch(torch.cuda.current_stream(), (4,), kernel, (a, b, out, a_scale, b_scale, *sizes))
    left = a.double() * a_scale.double().repeat_interleave(group, 1)
    right = b.double() * b_scale.double().repeat_interleave(group, 1).repeat_interleave(group, 0)[:n]
    yield Check(out, left @ right.T, 1e-3, 1e-3)
