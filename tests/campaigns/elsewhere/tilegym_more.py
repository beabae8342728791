"""tilegym's kernels after Unsloth and FlashInfer, and those of the models that it patches."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F

from .cases import Case, Cases, Check, exactly, like, normal
from .tilegym_attention import attend, causal
from .tilegym_suites import both_ways, rms

case = Cases("tilegym")
HALF = torch.float16
FP8 = torch.float8_e4m3fn


def cases() -> list[Case]:
    """The cases; tilegym is installed."""
    import tilegym.suites.flashinfer.cutile
    import tilegym.suites.unsloth.cutile  # noqa: F401

    return case.all


def unsloth() -> Any:
    """The interface of the suite."""
    return importlib.import_module("tilegym.suites.unsloth.ops")


def flashinfer() -> Any:
    """The interface of the suite."""
    return importlib.import_module("tilegym.suites.flashinfer.ops")


def model(name: str) -> Any:
    """A module of a patched model's kernels, without the package around it, which needs transformers."""
    import tilegym

    path = Path(tilegym.__path__[0], "transformers", *name.split(".")).with_suffix(".py")
    spec = spec_from_file_location(f"elsewhere_{name.replace('.', '_')}", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@case("unsloth.swiglu")
def swiglu() -> Iterator[Check]:
    gate, up = normal(2, 10, 300), normal(2, 10, 300)
    yield like(unsloth().swiglu_fg(gate, up), F.silu(gate.double()) * up.double())
    yield from in_place(unsloth().swiglu_bwd, F.silu)


@case("unsloth.geglu")
def geglu() -> Iterator[Check]:
    gate, up = normal(2, 10, 300), normal(2, 10, 300)
    for forward, backward, approximate in (
        (unsloth().geglu_exact_forward, unsloth().geglu_exact_backward, "none"),
        (unsloth().geglu_approx_forward, unsloth().geglu_approx_backward, "tanh"),
    ):
        yield like(forward(gate, up), F.gelu(gate.double(), approximate=approximate) * up.double())
        yield from in_place(backward, lambda t, a=approximate: F.gelu(t, approximate=a))


def in_place(backward: Any, activation: Any) -> Iterator[Check]:
    """Gradients that take the inputs' place: the product, the factor's, and the gate's."""
    dw, gate, up = (normal(20, 300) for _ in range(3))
    wide = gate.double().requires_grad_()
    factor = activation(wide)
    [slope] = torch.autograd.grad(factor.sum(), wide)
    expected = (factor * up, dw.double() * factor, dw.double() * up.double() * slope)
    for ours, theirs in zip(backward(dw.clone(), gate.clone(), up.clone()), expected, strict=True):
        yield like(ours, theirs.detach(), 5)


@case("unsloth.rms_layernorm")
def rms_layernorm() -> Iterator[Check]:
    x, w = normal(20, 256), normal(256)
    for gemma in (False, True):
        found = unsloth().rms_layernorm(x, w, 1e-6, gemma)
        yield like(found, rms(x.double()) * (w.double() + gemma), 3)


@case("unsloth.layernorm")
def layernorm() -> Iterator[Check]:
    x, w, b = normal(20, 256), normal(256), normal(256)
    found = unsloth().layernorm(x, w, b, 1e-6)
    yield like(found, F.layer_norm(x.double(), (256,), w.double(), b.double(), 1e-6), 3)


@case("unsloth.rope")
def rope() -> Iterator[Check]:
    q, k = normal(1, 4, 30, 64), normal(1, 2, 30, 64)
    cos, sin = (f(normal(30, 32)) for f in (torch.cos, torch.sin))

    def turned(t: torch.Tensor) -> torch.Tensor:
        left, right = t.double().chunk(2, -1)
        c, s = cos.double(), sin.double()
        return torch.cat((left * c - right * s, right * c + left * s), -1)

    for ours, theirs in zip(unsloth().rope_embedding_qk(q.clone(), k.clone(), cos, sin), (q, k), strict=True):
        yield like(ours, turned(theirs), 3)
    found = unsloth().rope_embedding(q.transpose(1, 2).contiguous(), cos, sin)
    yield like(found, turned(q).transpose(1, 2), 3)


@case("unsloth.cross_entropy")
def cross_entropy() -> Iterator[Check]:
    target = torch.randint(0, 300, (2, 10))
    yield from both_ways(
        lambda x: unsloth().cross_entropy_loss(x, target),
        lambda x: F.cross_entropy(x.flatten(0, 1), target.flatten()),
        normal(2, 10, 300),
        times=5,
    )


@case("unsloth.fp8")
def fp8() -> Iterator[Check]:
    x = normal(64, 256)
    found, scale = unsloth().act_quant(x, 128)
    groups = x.reshape(64, 2, 128)
    yield like(scale, groups.double().abs().amax(-1) / 448)
    wide = found.double().reshape(64, 2, 128) * scale.double()[..., None]
    yield Check(wide, groups, 0.07, 1e-3)
    w, blocks = normal(128, 256).to(FP8), torch.rand(1, 2) + 0.5
    big = blocks.double().repeat_interleave(128, 0).repeat_interleave(128, 1)
    yield like(unsloth().weight_dequant(w, blocks, 128, torch.bfloat16), w.double() * big)
    product = unsloth().w8a8_block_fp8_matmul(found, w, scale, blocks, [128, 128], torch.float32)
    yield Check(product, wide.reshape(64, 256) @ (w.double() * big).T, 2e-3, 0.1)


@case("unsloth.grouped_gemm")
def grouped_gemm() -> Iterator[Check]:
    sizes = torch.tensor([10, 0, 25, 5], dtype=torch.int32)
    x, w = normal(40, 64, dtype=HALF), normal(4, 48, 64, dtype=HALF)
    found = unsloth().grouped_gemm(x, w, sizes, 1)
    expert = torch.arange(4).repeat_interleave(sizes.long())
    yield like(found, torch.einsum("tk,tnk->tn", x.double(), w.double()[expert]), 5)


@case("flashinfer.gemm_alpha_beta")
def gemm_alpha_beta() -> Iterator[Check]:
    a, b, c = (normal(*shape, dtype=HALF) for shape in ((64, 96), (128, 96), (64, 128)))
    expected = 0.5 * (a.double() @ b.double().T) + 2.0 * c.double()
    yield like(flashinfer().gemm_alpha_beta(a, b, c.clone(), False, True, 0.5, 2.0), expected, 5)


@case("flashinfer.masked_bmm")
def masked_bmm() -> Iterator[Check]:
    a, b = normal(3, 128, 64, dtype=HALF), normal(3, 64, 128, dtype=HALF)
    rows = torch.tensor([128, 5, 70], dtype=torch.int32)
    found = flashinfer().masked_bmm(a, b, rows)
    for i, n in enumerate(rows.tolist()):
        yield like(found[i, :n], a[i, :n].double() @ b[i].double(), 5)


@case("flashinfer.ragged_bmm")
def ragged_bmm() -> Iterator[Check]:
    starts = torch.tensor([0, 40, 45, 128], dtype=torch.int32)
    a, b = normal(128, 64, dtype=torch.bfloat16), normal(3, 128, 64, dtype=torch.bfloat16)
    found = flashinfer().ragged_bmm(a, b, starts, 83)
    batch = torch.arange(3).repeat_interleave(starts.diff().long())
    yield like(found, torch.einsum("tk,tnk->tn", a.double(), b.double()[batch]), 5)


@case("flashinfer.ragged_block_scaled_bmm")
def ragged_block_scaled_bmm() -> Iterator[Check]:
    starts = torch.tensor([0, 40, 128], dtype=torch.int32)
    a, b = normal(128, 256).to(FP8), normal(2, 128, 256).to(FP8)
    a_scale, b_scale = torch.rand(128, 2) + 0.5, torch.rand(2, 1, 2) + 0.5
    found = flashinfer().ragged_block_scaled_bmm(a, b, a_scale, b_scale, starts, 88)
    left = a.double() * a_scale.double().repeat_interleave(128, 1)
    right = b.double() * b_scale.double().repeat_interleave(128, 1).repeat_interleave(128, 2)
    batch = torch.arange(2).repeat_interleave(starts.diff().long())
    yield like(found, torch.einsum("tk,tnk->tn", left, right[batch]), 5)


@case("flashinfer.per_token_group_quant")
def per_token_group_quant() -> Iterator[Check]:
    x = normal(10, 256)
    groups = x.double().reshape(10, 2, 128)
    for dtype, largest in ((FP8, 448.0), (torch.int8, 127.0)):
        found, scale = flashinfer().per_token_group_quant_8bit(x, 128, dst_dtype=dtype)
        yield like(scale, groups.abs().amax(-1) / largest)
        wide = found.double().reshape(10, 2, 128) * scale.double()[..., None]
        # The integers are cut off, not rounded.
        yield Check(wide, groups, 0.07 if dtype == FP8 else 0.0, 1e-3 if dtype == FP8 else float(scale.max()))


@case("flashinfer.rope_quantize_fp8")
def rope_quantize_fp8() -> Iterator[Check]:
    q, k = normal(20, 4, 64, dtype=HALF), normal(20, 64, dtype=HALF)
    q_rest, k_rest = normal(20, 4, 128, dtype=HALF), normal(20, 128, dtype=HALF)
    angle = normal(32, 32)
    table, at = torch.cat((angle.cos(), angle.sin()), -1), torch.randint(0, 32, (20,), dtype=torch.int32)
    found = flashinfer().rope_quantize_fp8(q, k, q_rest, k_rest, table, at, is_neox=False)
    cos, sin = table.double()[at.long()].chunk(2, -1)
    expected = []
    for t, c, s in ((q, cos[:, None], sin[:, None]), (k, cos, sin)):
        left, right = t.double()[..., 0::2], t.double()[..., 1::2]
        expected.append(torch.stack((left * c - right * s, right * c + left * s), -1).flatten(-2))
    for ours, theirs in zip(found, (*expected, q_rest, k_rest), strict=True):
        yield Check(ours, theirs, 0.07, 2e-3)


def pages(
    lengths: list[int], size: int, *shape: int
) -> tuple[torch.Tensor, torch.Tensor, list[torch.Tensor]]:
    """A cache of pages in any order, the table of whose they are, and the sequences in them."""
    most = max(math.ceil(n / size) for n in lengths)
    order = torch.randperm(most * len(lengths)).reshape(len(lengths), most).to(torch.int32)
    cache = normal(most * len(lengths), size, *shape, dtype=HALF)
    return cache, order, [cache[order[i].long()].flatten(0, 1)[:n] for i, n in enumerate(lengths)]


@case("flashinfer.decode_paged")
def decode_paged() -> Iterator[Check]:
    lengths = [100, 37]
    k_cache, table, keys = pages(lengths, 32, 2, 64)
    v_cache = normal(*k_cache.shape, dtype=HALF)
    values = [v_cache[table[i].long()].flatten(0, 1)[:n] for i, n in enumerate(lengths)]
    q = normal(2, 8, 64, dtype=HALF)
    for split in (False, True):
        found = flashinfer().decode_attention_kv_paged(
            q, k_cache, v_cache, torch.tensor(lengths, dtype=torch.int32), table, 0.125, 1.0, 128,
            force_split_kv=split,
        )  # fmt: skip
        found = found[0] if isinstance(found, tuple) else found
        for i, (k, v) in enumerate(zip(keys, values, strict=True)):
            yield like(found[i], attend(q[i][:, None], k.transpose(0, 1), v.transpose(0, 1), 0.125)[:, 0], 2)


@case("flashinfer.prefill_paged")
def prefill_paged() -> Iterator[Check]:
    lengths = [128, 50]
    k_cache, table, keys = pages(lengths, 32, 2, 64)
    v_cache = normal(*k_cache.shape, dtype=HALF)
    values = [v_cache[table[i].long()].flatten(0, 1)[:n] for i, n in enumerate(lengths)]
    q = normal(178, 4, 64, dtype=HALF)
    counts, starts = torch.tensor(lengths, dtype=torch.int32), torch.tensor([0, 128, 178], dtype=torch.int32)
    for lpt in (True, False):
        found, _ = flashinfer().prefill_attention_kv_paged(
            q, k_cache, v_cache, counts, counts, starts, table, 0.125, 1.0, 2, 128, use_lpt_scheduler=lpt
        )
        for i, (k, v) in enumerate(zip(keys, values, strict=True)):
            part = slice(int(starts[i]), int(starts[i + 1]))
            heads = (q[part].transpose(0, 1), k.transpose(0, 1), v.transpose(0, 1))
            expected = attend(*heads, 0.125, causal(lengths[i], lengths[i]))
            yield like(found[part], expected.transpose(0, 1), 2)


@case("flashinfer.prefill_ragged")
def prefill_ragged() -> Iterator[Check]:
    q, k, v = (normal(178, h, 64, dtype=HALF) for h in (4, 2, 2))
    counts, starts = (
        torch.tensor([128, 50], dtype=torch.int32),
        torch.tensor([0, 128, 178], dtype=torch.int32),
    )
    for lpt in (True, False):
        found, _ = flashinfer().prefill_attention_kv_ragged(
            q, k, v, counts, counts, starts, None, 0.125, 1.0, 2, 128, use_lpt_scheduler=lpt
        )
        for i in range(2):
            part = slice(int(starts[i]), int(starts[i + 1]))
            heads = (t[part].transpose(0, 1) for t in (q, k, v))
            expected = attend(*heads, 0.125, causal(int(counts[i]), int(counts[i])))
            yield like(found[part], expected.transpose(0, 1), 2)


@case("models.norms")
def model_norms() -> Iterator[Check]:
    x, r, w = normal(20, 96), normal(20, 96), normal(96)
    normed = rms(x.double()) * w.double()
    for name, function in (
        ("olmo3.kernels.dual_rms_norm", "dual_rms_norm_cutile"),
        ("olmoe.kernels.dual_rms_norm", "dual_rms_norm_olmoe_cutile"),
    ):
        pair = getattr(model(name), function)(x.clone(), x.clone(), w, w, 1e-6)
        for found in pair:
            yield like(found, normed, 2)
    gated = model("qwen3_5.kernels.rms_norm_gated").rms_norm_gated_cutile(x, r, w, 1e-6)
    yield like(gated, normed * F.silu(r.double()), 2)


@case("models.gates")
def model_gates() -> Iterator[Check]:
    x, g = normal(20, 96), normal(20, 96)
    found = model("qwen3_5.kernels.sigmoid_mul").sigmoid_mul_cutile(x, g)
    yield like(found, x.double() * torch.sigmoid(g.double()))
    found = model("qwen3_5.kernels.silu_and_mul_separate").silu_and_mul_separate_cutile(g, x)
    yield like(found, x.double() * F.silu(g.double()))
    a_log, bias = normal(96), normal(96)
    beta, decay = model("qwen3_5.kernels.gdr_preprocess").gdr_preprocess_cutile(x, g, a_log, bias)
    yield like(beta, torch.sigmoid(x.double()))
    yield like(decay, -a_log.double().exp() * F.softplus(g.double() + bias.double()), 3)


@case("models.convolutions")
def model_convolutions() -> Iterator[Check]:
    x, w = normal(1, 20, 300), normal(20, 3)
    found = model("lfm2_moe.kernels.causal_conv1d_prefill").lfm2_causal_conv1d_fn_cutile(x, w)
    yield like(found, F.conv1d(F.pad(x.double(), (2, 0)), w.double()[:, None], groups=20), 2)
    state, new = normal(1, 20, 3), normal(1, 20)
    window = torch.cat((state[:, :, 1:], new[..., None]), -1)
    update = model("lfm2_moe.kernels.causal_conv1d_update").lfm2_causal_conv1d_update_cutile
    yield like(update(new, state, w), (window.double() * w.double()).sum(-1), 2)
    yield exactly(state, window)
    w4, state, new = normal(20, 4), normal(1, 20, 4), normal(1, 20, 1)
    window = torch.cat((state[:, :, 1:], new), -1)
    module = model("qwen3_5.kernels.causal_conv1d_update_silu")
    found = module.causal_conv1d_update_silu_cutile(new, state, w4)
    yield like(found, F.silu((window.double() * w4.double()).sum(-1, keepdim=True)), 2)
    yield exactly(state, window)
