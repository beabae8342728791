"""tilegym's attention kernels, and its recurrences."""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch

from .cases import Case, Cases, Check, like, normal

case = Cases("tilegym")
HALF = torch.float16


def cases() -> list[Case]:
    """The cases; tilegym is installed."""
    import tilegym.ops  # noqa: F401

    return case.all


def attend(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    scale: float,
    allowed: torch.Tensor | None = None,
    cap: float | None = None,
    sinks: torch.Tensor | None = None,
) -> torch.Tensor:
    """Attention in f64: (..., queries, size) of each head, with repeated heads of keys and values."""
    group = q.shape[-3] // k.shape[-3]
    q, k, v = (t.double() for t in (q, k, v))
    k, v = (t.repeat_interleave(group, -3) for t in (k, v))
    logits = q @ k.mT * scale
    if cap is not None:
        logits = cap * torch.tanh(logits / cap)
    if allowed is not None:
        logits = logits.masked_fill(~allowed, -math.inf)
    if sinks is not None:
        extra = sinks.double()[:, None, None].expand(*logits.shape[:-1], 1)
        return torch.softmax(torch.cat((logits, extra), -1), -1)[..., :-1] @ v
    return torch.softmax(logits, -1) @ v


def causal(queries: int, keys: int, window: int | None = None) -> torch.Tensor:
    """Which keys a query may see: those not after it, and at most ``window`` of them."""
    behind = torch.arange(keys - queries, keys)[:, None] - torch.arange(keys)
    return (behind >= 0) & (behind < window) if window else behind >= 0


@case()
def fmha() -> Iterator[Check]:
    import tilegym.ops as ops

    for dtype, is_causal in ((HALF, True), (torch.bfloat16, False)):
        q = normal(1, 4, 150, 64, dtype=dtype)
        k, v = normal(1, 2, 150, 64, dtype=dtype), normal(1, 2, 150, 64, dtype=dtype)
        expected = attend(q, k, v, 0.125, causal(150, 150) if is_causal else None)
        yield like(ops.fmha(q, k, v, 0.125, is_causal), expected, 2)


@case()
def fmha_backward() -> Iterator[Check]:
    from tilegym.ops.cutile.attention import tile_fmha_with_backward as attention

    q, k, v = (normal(1, 2, 128, 64, dtype=HALF).requires_grad_() for _ in range(3))
    found = attention(q, k, v, 0.125, True)
    wide = [t.detach().double().requires_grad_() for t in (q, k, v)]
    expected = attend(*wide, 0.125, causal(128, 128))
    dy = normal(1, 2, 128, 64, dtype=HALF)
    yield like(found, expected, 2)
    ours = torch.autograd.grad(found, (q, k, v), dy)
    for one, other in zip(ours, torch.autograd.grad(expected, wide, dy.double()), strict=True):
        yield like(one, other, 5)


@case()
def fmha_decode() -> Iterator[Check]:
    import tilegym.ops as ops

    q = normal(2, 8, 1, 64, dtype=HALF)
    k, v = normal(2, 2, 200, 64, dtype=HALF), normal(2, 2, 200, 64, dtype=HALF)
    yield like(ops.fmha_decode(q, k, v, 0.125), attend(q, k, v, 0.125), 2)


@case()
def fmha_varlen() -> Iterator[Check]:
    import tilegym.ops as ops

    q, k, v = (normal(2, 2, 128, 64, dtype=HALF) for _ in range(3))
    lengths = torch.tensor([128, 70], dtype=torch.int32)
    found = ops.fmha_varlen(q, k, v, 0.125, True, lengths, lengths)
    for i, n in enumerate(lengths.tolist()):
        expected = attend(q[i, :, :n], k[i, :, :n], v[i, :, :n], 0.125, causal(n, n))
        yield like(found[i, :, :n], expected, 2)


@case()
def fmha_variant() -> Iterator[Check]:
    import tilegym.ops as ops

    q, k, v = (normal(1, 2, 128, 64, dtype=HALF) for _ in range(3))
    yield like(ops.fmha_variant(q, k, v, 0.125), attend(q, k, v, 0.125, causal(128, 128)), 2)


@case()
def gemma_attention() -> Iterator[Check]:
    import tilegym.ops as ops

    q, k, v = (normal(1, 2, 128, 64, dtype=HALF) for _ in range(3))
    found = ops.gemma_attention(q, k, v, 0.125, soft_cap=30.0)
    yield like(found, attend(q, k, v, 0.125, causal(128, 128), 30.0), 2)


@case()
def gemma_attention_decode() -> Iterator[Check]:
    import tilegym.ops as ops

    q = normal(2, 4, 1, 64, dtype=HALF)
    k, v = normal(2, 2, 200, 64, dtype=HALF), normal(2, 2, 200, 64, dtype=HALF)
    found = ops.gemma_attention_decode(q, k, v, 0.125, soft_cap=30.0)
    yield like(found, attend(q, k, v, 0.125, cap=30.0), 2)


@case()
def attention_sink() -> Iterator[Check]:
    import tilegym.ops as ops

    q = normal(1, 128, 2, 2, 64, dtype=torch.bfloat16)
    k, v = normal(1, 128, 2, 64, dtype=torch.bfloat16), normal(1, 128, 2, 64, dtype=torch.bfloat16)
    sinks = normal(4, dtype=torch.bfloat16)
    heads = q.reshape(1, 128, 4, 64).transpose(1, 2)
    for window in (None, 40):
        start = torch.zeros(1, dtype=torch.int32)
        found = ops.attention_sink(q, k, v, sinks, 0.125, window, start)
        allowed = causal(128, 128, window)
        expected = attend(heads, k.transpose(1, 2), v.transpose(1, 2), 0.125, allowed, sinks=sinks)
        yield like(found, expected.transpose(1, 2).reshape(1, 128, -1), 2)


@case()
def attention_sink_decode() -> Iterator[Check]:
    import tilegym.ops as ops

    q = normal(1, 1, 2, 2, 64, dtype=torch.bfloat16)
    k, v = normal(1, 200, 2, 64, dtype=torch.bfloat16), normal(1, 200, 2, 64, dtype=torch.bfloat16)
    sinks = normal(4, dtype=torch.bfloat16)
    start = torch.full((1,), 199, dtype=torch.int32)
    found = ops.attention_sink_decode(q, k, v, sinks, 0.125, None, start)
    heads = q.reshape(1, 1, 4, 64).transpose(1, 2)
    expected = attend(heads, k.transpose(1, 2), v.transpose(1, 2), 0.125, sinks=sinks)
    yield like(found, expected.transpose(1, 2).reshape(1, 1, -1), 2)


@case()
def sliding_window_attention() -> Iterator[Check]:
    import tilegym.ops as ops

    q, k, v = (normal(1, 2, 128, 64, dtype=HALF) for _ in range(3))
    expected = attend(q, k, v, 0.125, causal(128, 128, 40))
    yield like(ops.swa_attention(q, k, v, 40, 0.125), expected, 2)


@case()
def latent_attention() -> Iterator[Check]:
    import tilegym.ops as ops

    q, qpe = normal(1, 2, 128, 64, dtype=HALF), normal(1, 2, 128, 32, dtype=HALF)
    k, v, kpe = (normal(1, h, 128, d, dtype=HALF) for h, d in ((2, 64), (2, 64), (1, 32)))
    found = ops.mla(q, k, v, qpe, kpe, True, 0.1)
    keys = torch.cat((k, kpe.expand(1, 2, 128, 32)), -1)
    yield like(found, attend(torch.cat((q, qpe), -1), keys, v, 0.1, causal(128, 128)), 2)


@case()
def latent_decoding() -> Iterator[Check]:
    import tilegym.ops as ops

    q, qpe = normal(2, 16, 128, dtype=HALF), normal(2, 16, 64, dtype=HALF)
    kv, kpe = normal(2, 200, 128, dtype=HALF), normal(2, 200, 64, dtype=HALF)
    keys = torch.cat((kv, kpe), -1)[:, None]
    expected = attend(torch.cat((q, qpe), -1)[:, :, None], keys, kv[:, None], 0.05)[:, :, 0]
    yield like(ops.mla_decoding(q, qpe, kv, kpe, 0.05)[0], expected, 2)
    yield like(ops.mla_decoding_split_kv(q, qpe, kv, kpe, 0.05), expected, 2)


@case()
def sparse_latent_attention() -> Iterator[Check]:
    import tilegym.ops as ops

    q, qpe = normal(1, 16, 64, 64, dtype=HALF), normal(1, 16, 64, 32, dtype=HALF)
    k, v, kpe = (normal(1, 1, 128, d, dtype=HALF) for d in (64, 64, 32))
    # A query may always see itself, so that no row is empty.
    chosen = torch.stack([torch.randperm(128)[:64] for _ in range(64)])
    chosen[:, 0] = torch.where((chosen == torch.arange(64)[:, None]).any(1), chosen[:, 0], torch.arange(64))
    found = ops.sparse_mla(q, k, v, chosen[None, :, None].to(torch.int32), qpe, kpe, scaling=0.1)
    allowed = torch.zeros(64, 128, dtype=torch.bool).scatter(1, chosen, True)
    allowed &= torch.arange(128) <= torch.arange(64)[:, None]
    expected = attend(torch.cat((q, qpe), -1), torch.cat((k, kpe), -1), v, 0.1, allowed)
    yield like(found, expected, 2)


@case()
def split_k_reduction() -> Iterator[Check]:
    import tilegym.ops as ops

    parts, logs = normal(2, 4, 8, 64, dtype=torch.float32), normal(2, 4, 8, scale=2)
    out = torch.empty(2, 4, 64, dtype=HALF)
    ops.splitk_reduce(parts, logs, out, 512)
    weights = torch.softmax(logs.double() * math.log(2), -1)
    yield like(out, (parts.double() * weights[..., None]).sum(2))


def delta_rule(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, g: torch.Tensor, beta: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gated delta rule, step by step: (B, T, H, K), and (B, T, H) for the gates."""
    q, k, v, g, beta = (t.double() for t in (q, k, v, g, beta))
    state = torch.zeros(q.shape[0], q.shape[2], q.shape[3], v.shape[3], dtype=torch.float64)
    out = []
    for t in range(q.shape[1]):
        state = state * g[:, t].exp()[..., None, None]
        seen = torch.einsum("bhkv,bhk->bhv", state, k[:, t])
        update = (v[:, t] - seen) * beta[:, t][..., None]
        state = state + k[:, t][..., None] * update[..., None, :]
        out.append(torch.einsum("bhkv,bhk->bhv", state, q[:, t]) / math.sqrt(q.shape[3]))
    return torch.stack(out, 1), state


@case()
def gated_delta_rule() -> Iterator[Check]:
    import tilegym.ops as ops

    q, v = normal(1, 70, 2, 32), normal(1, 70, 2, 32)
    k = torch.nn.functional.normalize(normal(1, 70, 2, 32), dim=-1)
    g, beta = -torch.rand(1, 70, 2), torch.rand(1, 70, 2)
    expected, state = delta_rule(q, k, v, g, beta)
    for rule in (ops.recurrent_gated_delta_rule, ops.chunk_gated_delta_rule):
        found, final = rule(q, k, v, g, beta, output_final_state=True)
        yield Check(found, expected, 3e-3, 3e-3)
        yield Check(final, state, 3e-3, 3e-3)


@case()
def mamba2() -> Iterator[Check]:
    import tilegym.ops as ops

    batch, steps, heads, size, states = 1, 128, 4, 64, 128
    x, d = normal(batch, steps, heads, size, dtype=torch.bfloat16), normal(heads)
    b, c = (normal(batch, steps, 1, states, dtype=torch.bfloat16) for _ in range(2))
    a, dt = -torch.rand(heads), torch.rand(batch, steps, heads)
    start = normal(batch, heads, size, states)
    found, final = ops.mamba2_chunk_forward(x, a, b, c, d, dt, start)
    state, expected = start.double(), []
    for t in range(steps):
        decay = (a.double() * dt[:, t].double()).exp()[..., None, None]
        grown = x[:, t].double() * dt[:, t].double()[..., None]
        state = state * decay + grown[..., None] * b[:, t].double()[:, :, None]
        skipped = d.double()[:, None] * x[:, t].double()
        expected.append((state * c[:, t].double()[:, :, None]).sum(-1) + skipped)
    yield like(found, torch.stack(expected, 1), 8)
    yield like(final.to(torch.bfloat16), state, 4)
