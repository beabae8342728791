"""tilegym's backward passes, and kernels that only other shapes or options lead to."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F

from .cases import Case, Cases, Check, exactly, like, normal
from .tilegym_attention import attend
from .tilegym_more import FP8, flashinfer, pages, unsloth
from .tilegym_suites import both_ways, ops, rms

case = Cases("tilegym")
HALF = torch.float16


def cases() -> list[Case]:
    """The cases; tilegym is installed."""
    return case.all


def own() -> Any:
    """Tilegym's own operations."""
    return importlib.import_module("tilegym.ops")


@case("silu_and_mul backward")
def silu_and_mul() -> Iterator[Check]:
    yield from both_ways(
        own().silu_and_mul, lambda x: F.silu(x[:, :200]) * x[:, 200:], normal(20, 400), times=5
    )


@case("rms_norm backward")
def rms_norm() -> Iterator[Check]:
    yield from both_ways(
        lambda x, w: own().rms_norm(x, (256,), w, 1e-6),
        lambda x, w: rms(x) * w,
        normal(40, 256),
        normal(256),
        times=10,
    )


@case("softmax, other kernels")
def softmax() -> Iterator[Check]:
    x = normal(20, 3000, scale=2)
    for option in ("use_chunked", "use_multi_wave"):
        yield like(own().softmax(x, **{option: True}), torch.softmax(x.double(), -1))


@case("hyper_connections gemm, sinkhorn")
def hyper_connections() -> Iterator[Check]:
    n = 4
    x, w, bias = normal(32, 256), normal(256, 24, scale=0.1), normal(24)
    found, _ = own().mhc_gemm_rms_scale(x, w, n, 0.5, 0.7, 0.9, bias)
    scale = torch.tensor([0.5] * n + [0.7] * n + [0.9] * n * n, dtype=torch.float64)
    linear = x.double() @ w.double() * scale / x.double().square().mean(-1, True).sqrt() + bias.double()
    gate = torch.sigmoid(linear)
    # The products are cut to tf32.
    yield Check(found, torch.cat((gate[:, :n], 2 * gate[:, n : 2 * n], linear[:, 2 * n :]), 1), 3e-3, 3e-3)
    y = normal(10, n * n + 2 * n)
    before = y.double()[:, 2 * n :].reshape(10, n, n).exp()
    for _ in range(20):
        before = before / before.sum(2, keepdim=True)
        before = before / before.sum(1, keepdim=True)
    yield like(own().mhc_sinkhorn(y, n)[:, 2 * n :], before.reshape(10, -1), 5)


@case("moe_actgrad_bwd")
def moe_actgrad_bwd() -> Iterator[Check]:
    counts = torch.tensor([10, 30, 0, 24])
    tokens, width, inner = 32, 64, 64
    gather, scatter = torch.randperm(64) % tokens, torch.randperm(64)
    dout = normal(tokens, width, dtype=torch.bfloat16)
    h, w2 = (
        normal(64, 2 * inner, dtype=torch.bfloat16),
        normal(4, inner, width, dtype=torch.bfloat16, scale=0.2),
    )
    scores = torch.rand(64)
    starts = torch.cat((torch.zeros(1, dtype=torch.int64), counts.cumsum(0))).to(torch.int32)
    dh, ds = torch.zeros_like(h), torch.zeros(64)
    a_prime = torch.zeros(64, inner, dtype=torch.bfloat16)
    own().moe_actgrad_bwd(
        dout, h, w2, dh, ds, None, None, a_prime, scores, starts,
        gather.to(torch.int32), scatter.to(torch.int32), "swiglu",
    )  # fmt: skip
    expert = torch.arange(4).repeat_interleave(counts)
    dy = torch.einsum("th,tih->ti", dout.double()[gather], w2.double()[expert])
    wide = h.double().requires_grad_()
    act = F.silu(wide[:, :inner]) * wide[:, inner:]
    [grad] = torch.autograd.grad(act, wide, dy)
    s = scores.double()[scatter][:, None]
    yield like(dh, grad * s, 3)
    yield like(a_prime, act.detach() * s, 2)
    yield Check(ds, (dy * act.detach()).sum(-1), 2e-2, 5e-2)


def scan(x: Any, a: Any, b: Any, c: Any, d: Any, dt: Any, state: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Mamba-2's recurrence, step by step."""
    out = []
    for t in range(x.shape[1]):
        decay = (a * dt[:, t]).exp()[..., None, None]
        state = state * decay + (x[:, t] * dt[:, t][..., None])[..., None] * b[:, t][:, :, None]
        out.append((state * c[:, t][:, :, None]).sum(-1) + d[:, None] * x[:, t])
    return torch.stack(out, 1), state


@case("mamba2 backward")
def mamba2() -> Iterator[Check]:
    steps, heads, size, states = 128, 4, 64, 128
    x, dout = (normal(1, steps, heads, size, dtype=torch.bfloat16, scale=0.5) for _ in range(2))
    b, c = (normal(1, steps, 1, states, dtype=torch.bfloat16, scale=0.3) for _ in range(2))
    a, d, dt = -torch.rand(heads), normal(heads), torch.rand(1, steps, heads)
    start, dfinal = normal(1, heads, size, states), normal(1, heads, size, states)
    found = own().mamba2_chunk_backward(x, a, b, c, d, dt, start, dout, dfinal)
    wide = [t.double().requires_grad_() for t in (x, a, b, c, d, dt, start)]
    expected = torch.autograd.grad(scan(*wide), wide, (dout.double(), dfinal.double()))
    for ours, theirs in zip(found, expected, strict=True):
        size_of = float(theirs.abs().max())
        yield Check(ours, theirs, 3e-2, 1e-2 * size_of)


@case("liger.fused_add_rms_norm backward")
def fused_add_rms_norm() -> Iterator[Check]:
    inputs = (normal(20, 256), normal(20, 256), normal(256))
    for first in (True, False):
        yield from both_ways(
            lambda x, r, w, i=first: ops().fused_add_rms_norm(x * 1, r * 1, w, 1e-6)[0 if i else 1],
            lambda x, r, w, i=first: rms(x + r) * w if i else x + r + 0 * w.sum(),
            *inputs,
            times=10,
        )


@case("liger.modulated_rms_norm")
def modulated_rms_norm() -> Iterator[Check]:
    yield from both_ways(
        lambda x, w, s, b: ops().modulated_rms_norm(x, w, s, b, in_place=False),
        lambda x, w, s, b: rms(x) * w * (1 + s) + b,
        normal(20, 256),
        normal(256),
        normal(256),
        normal(256),
        times=10,
    )


@case("liger.neighborhood_attention backward")
def neighborhood_attention() -> Iterator[Check]:
    at = torch.arange(64)
    near = (at[:, None] - at).abs() <= 3

    def reference(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return torch.softmax((q @ k.mT / 32**0.5).masked_fill(~near, -torch.inf), -1) @ v

    # The products are cut to tf32.
    yield from both_ways(
        lambda *t: ops().fused_neighborhood_attention(*t, kernel_size=7),
        reference,
        *(normal(1, 2, 64, 32) for _ in range(3)),
        times=250,
    )


@case("liger.multi_token_attention backward")
def multi_token_attention() -> Iterator[Check]:
    lower = torch.ones(32, 32, dtype=torch.bool).tril()

    def reference(scores: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        seen = torch.softmax(scores.masked_fill(~lower, -torch.inf), -1).masked_fill(~lower, 0.0)
        return F.conv2d(seen, weight, padding=1).masked_fill(~lower, 0.0)

    yield from both_ways(
        lambda s, w: ops().multi_token_attention(s, w, padding=1),
        reference,
        normal(1, 2, 32, 32),
        normal(2, 2, 3, 3, scale=0.3),
        times=10,
    )


@case("liger.grpo_loss backward")
def grpo_loss() -> Iterator[Check]:
    ids, advantages = torch.randint(0, 128, (2, 16)), normal(2)

    def reference(logits: torch.Tensor) -> torch.Tensor:
        logp = torch.log_softmax(logits[:, :-1] / 0.9, -1).gather(-1, ids[..., None])[..., 0]
        return -(logp - logp.detach()).exp() * advantages.double()[:, None]

    yield from both_ways(
        lambda x: ops().grpo_loss(x * 1, None, None, ids, advantages, temperature=0.9, inplace=False)[0],
        reference,
        normal(2, 17, 128),
        times=10,
    )


@case("liger.qwen2vl_mrope")
def qwen2vl_mrope() -> Iterator[Check]:
    q, k = normal(1, 4, 30, 64), normal(1, 2, 30, 64)
    angle, sections = normal(3, 1, 30, 32), [8, 12, 12]
    cos, sin = (f(angle).repeat(1, 1, 1, 2) for f in (torch.cos, torch.sin))
    found = ops().qwen2vl_mrope(q.clone(), k.clone(), cos, sin, sections)
    chosen = torch.cat([part[i] for i, part in enumerate(angle.double().split(sections, -1))], -1)[:, None]
    for ours, t in zip(found, (q, k), strict=True):
        left, right = t.double().chunk(2, -1)
        c, s = chosen.cos(), chosen.sin()
        yield like(ours, torch.cat((left * c - right * s, right * c + left * s), -1), 3)


@case("liger, aligned and long rows")
def liger_shapes() -> Iterator[Check]:
    yield from both_ways(ops().relu_squared, lambda x: x.relu().square(), normal(20, 256))
    yield from both_ways(ops().swiglu, lambda a, b: F.silu(a) * b, normal(20, 256), normal(20, 256))
    yield from both_ways(ops().softmax, lambda x: torch.softmax(x, -1), normal(3, 40000), times=5)
    yield from both_ways(ops().softmax, lambda x: torch.softmax(x, -1), normal(9, 300, dtype=HALF))
    p, q = (torch.softmax(normal(20, 256), -1) for _ in range(2))
    yield like(ops().tvd(p, q).reshape(1), ((p.double() - q.double()).abs().sum() / 40)[None], 5)
    target = torch.softmax(normal(20, 100), -1)
    yield from both_ways(
        lambda y: ops().kl_div(y, target, reduction="none"),
        lambda y: F.kl_div(y, target.double(), reduction="none"),
        torch.log_softmax(normal(20, 100), -1),
        times=5,
    )


@case("unsloth.norms backward")
def unsloth_norms() -> Iterator[Check]:
    w, b = normal(256), normal(256)
    yield from both_ways(
        lambda x: unsloth().rms_layernorm(x, w, 1e-6), lambda x: rms(x) * w, normal(20, 256), times=10
    )
    yield from both_ways(
        lambda x: unsloth().layernorm(x, w, b, 1e-6),
        lambda x: F.layer_norm(x, (256,), w.double(), b.double(), 1e-6),
        normal(20, 256),
        times=10,
    )


@case("unsloth.grouped_gemm backward")
def grouped_gemm() -> Iterator[Check]:
    sizes = torch.tensor([10, 0, 25, 5], dtype=torch.int32)
    expert = torch.arange(4).repeat_interleave(sizes.long())
    yield from both_ways(
        lambda x, w: unsloth().grouped_gemm(x, w, sizes, 1),
        lambda x, w: torch.einsum("tk,tnk->tn", x, w[expert]),
        normal(40, 64, dtype=HALF),
        normal(4, 48, 64, dtype=HALF),
        times=5,
    )


@case("unsloth.cross_entropy, many words")
def chunked_cross_entropy() -> Iterator[Check]:
    target = torch.randint(0, 70000, (1, 3))
    yield from both_ways(
        lambda x: unsloth().cross_entropy_loss(x, target),
        lambda x: F.cross_entropy(x.flatten(0, 1), target.flatten()),
        normal(1, 3, 70000),
        times=10,
    )


@case("flashinfer.decode_mla_paged")
def decode_mla_paged() -> Iterator[Check]:
    lengths = [300, 37]
    cache, table, latents = pages(lengths, 32, 128)
    turned = normal(cache.shape[0], 32, 64, dtype=HALF)
    q, q_turned = normal(2, 16, 128, dtype=HALF), normal(2, 16, 64, dtype=HALF)
    for split in (False, True):
        found = flashinfer().decode_mla_kv_paged(
            q, q_turned, cache, turned, torch.tensor(lengths, dtype=torch.int32), table, 0.05, 1.0,
            force_split_kv=split,
        )  # fmt: skip
        for i, n in enumerate(lengths):
            keys = torch.cat((latents[i], turned[table[i].long()].flatten(0, 1)[:n]), -1)
            query = torch.cat((q[i], q_turned[i]), -1)[:, None]
            yield like(found[i], attend(query, keys[None], latents[i][None], 0.05)[:, 0], 2)


@case("flashinfer.quant by columns")
def quant_by_columns() -> Iterator[Check]:
    x = normal(16, 256)
    found, scale = flashinfer().per_token_group_quant_8bit(x, 128, dst_dtype=FP8, column_major_scales=True)
    groups = x.double().reshape(16, 2, 128)
    by_row = scale if scale.shape == (16, 2) else scale.T
    yield like(by_row, groups.abs().amax(-1) / 448)
    yield exactly(torch.isfinite(found.float()).to(torch.int32), torch.ones(16, 256, dtype=torch.int32))
    yield Check(found.double().reshape(16, 2, 128) * by_row.double()[..., None], groups, 0.07, 1e-3)
