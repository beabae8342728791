"""The operations of tilegym itself: activations, normalisation, products, embeddings."""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F

from .cases import TOLERANCE, Case, Cases, Check, exactly, like, normal

case = Cases("tilegym")
HALF = torch.float16


def cases() -> list[Case]:
    """The cases; tilegym is installed."""
    import tilegym.ops  # noqa: F401

    return case.all


@case()
def activations() -> Iterator[Check]:
    import tilegym.ops.activation as ops

    for dtype in (torch.float32, HALF, torch.bfloat16):
        x = normal(6, 500, dtype=dtype)
        yield exactly(ops.relu(x), x.relu())
        left, right = x.double().chunk(2, -1)
        for approximate in ("none", "tanh"):
            # "none" is an approximation in these kernels, too, but another one.
            slack = 1e-3 if approximate == "none" else 0.0
            tolerance = TOLERANCE[dtype] * 3 + slack
            gelu, gated = F.gelu(x.double(), approximate=approximate), F.gelu(right, approximate=approximate)
            yield Check(ops.gelu(x, approximate), gelu, tolerance, tolerance)
            yield Check(ops.geglu(x, -1, approximate), left * gated, tolerance, tolerance * 3)


@case()
def activations_backward() -> Iterator[Check]:
    import tilegym.ops.activation as ops

    x = normal(6, 500).requires_grad_()
    wide = x.detach().double().requires_grad_()
    dy = normal(6, 500)
    for approximate in ("none", "tanh"):
        left, right = wide.chunk(2, -1)
        for found, expected, given in (
            (ops.gelu(x, approximate), F.gelu(wide, approximate=approximate), dy),
            (ops.geglu(x, -1, approximate), left * F.gelu(right, approximate=approximate), dy[:, :250]),
        ):
            [ours] = torch.autograd.grad(found, x, given.contiguous())
            [theirs] = torch.autograd.grad(expected, wide, given.double())
            yield Check(ours, theirs, 2e-3, 2e-3)


@case()
def silu_and_mul() -> Iterator[Check]:
    import tilegym.ops as ops

    for dtype in (torch.float32, torch.bfloat16):
        x = normal(5, 7, 600, dtype=dtype)
        left, right = x.double().chunk(2, -1)
        yield like(ops.silu_and_mul(x), F.silu(left) * right, 3)


@case()
def swiglu() -> Iterator[Check]:
    import tilegym.ops as ops

    a, b = normal(2, 5, 300).requires_grad_(), normal(2, 5, 300).requires_grad_()
    found = ops.get_swiglu()(a, b)
    wide = [t.detach().double().requires_grad_() for t in (a, b)]
    expected = F.silu(wide[0]) * wide[1]
    yield like(found, expected)
    dy = normal(2, 5, 300)
    for ours, theirs in zip(
        torch.autograd.grad(found, (a, b), dy), torch.autograd.grad(expected, wide, dy.double()), strict=True
    ):
        yield like(ours, theirs, 3)


@case()
def softmax() -> Iterator[Check]:
    import tilegym.ops as ops

    for dtype, tma in ((torch.float32, False), (HALF, True), (torch.bfloat16, False)):
        x = normal(30, 500, dtype=dtype, scale=3)
        yield like(ops.softmax(x, use_tma=tma), torch.softmax(x.double(), -1))


@case()
def dropout() -> Iterator[Check]:
    import tilegym.ops as ops

    x = normal(3000).abs() + 1
    found = ops.dropout(x, seed=42, p=0.25)
    kept = found != 0
    yield like(found, torch.where(kept, x.double() / 0.75, 0.0))
    yield Check(kept.double().mean()[None], torch.tensor([0.75], dtype=torch.float64), 0, 0.05)


@case()
def rms_norm() -> Iterator[Check]:
    import tilegym.ops as ops

    for dtype in (torch.float32, torch.bfloat16):
        x, w = normal(20, 512, dtype=dtype), normal(512, dtype=dtype)
        wide = x.double()
        expected = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-6) * w.double()
        for mode in ("static_persistent", "multi_wave_reload", "multi_wave_cached"):
            yield like(ops.rms_norm(x, (512,), w, 1e-6, mode=mode), expected, 2)


@case()
def layer_norm() -> Iterator[Check]:
    import tilegym.ops as ops

    x, w, b = normal(20, 300), normal(300), normal(300)
    expected = F.layer_norm(x.double(), (300,), w.double(), b.double(), 1e-5)
    yield like(ops.layer_norm(x, 1, 2, w, b, 1e-5), expected)


@case()
def layer_norm_legacy() -> Iterator[Check]:
    import tilegym.ops as ops

    x, w, b = (normal(*shape, dtype=torch.bfloat16) for shape in ((20, 256), (256,), (256,)))
    expected = F.layer_norm(x.double(), (256,), w.double(), b.double(), 1e-5)
    yield like(ops.layer_norm_legacy(x, (256,), w, b, 1e-5), expected, 2)
    yield like(ops.persistent_layer_norm(x, (256,), w, b, 1e-5)[0], expected, 2)


@case()
def transpose() -> Iterator[Check]:
    import tilegym.ops as ops

    x = normal(130, 70, dtype=HALF)
    yield exactly(ops.transpose(x), x.T)


@case()
def matmul() -> Iterator[Check]:
    import tilegym.ops as ops

    for dtype in (HALF, torch.bfloat16):
        a, b = normal(100, 200, dtype=dtype), normal(200, 70, dtype=dtype)
        for persistent in (False, True):
            found = ops.matmul(a, b, False, False, static_persistent=persistent)
            yield like(found, a.double() @ b.double(), 5)


@case()
def bmm() -> Iterator[Check]:
    import tilegym.ops as ops

    a, b = normal(2, 100, 150, dtype=HALF), normal(2, 150, 70, dtype=HALF)
    for persistent in (False, True):
        found = ops.bmm(a, b, False, False, static_persistent=persistent)
        yield like(found, a.double() @ b.double(), 5)


@case()
def group_gemm() -> Iterator[Check]:
    import tilegym.ops as ops

    extents = [(40, 96, 64), (70, 64, 32), (128, 32, 128)]
    a = [normal(m, k, dtype=HALF) for m, _, k in extents]
    b = [normal(k, n, dtype=HALF) for _, n, k in extents]
    for found, left, right in zip(ops.group_gemm(a, b), a, b, strict=True):
        yield like(found, left.double() @ right.double(), 5)


@case()
def linear_gluact_linear() -> Iterator[Check]:
    import tilegym.ops as ops

    x = normal(64, 64, dtype=HALF)
    act, noact = normal(128, 64, dtype=HALF, scale=0.1), normal(128, 64, dtype=HALF, scale=0.1)
    last = normal(64, 128, dtype=HALF, scale=0.1)
    found = ops.linear_gluact_linear(x, act, noact, last, "silu")
    inner = F.silu(x.double() @ act.double().T) * (x.double() @ noact.double().T)
    yield like(found, inner @ last.double().T, 2)


@case()
def fp8_matmul() -> Iterator[Check]:
    import tilegym.ops as ops

    a, b = normal(64, 256).to(torch.float8_e4m3fn), normal(128, 256).to(torch.float8_e4m3fn)
    a_scale, b_scale = torch.rand(64, 2) + 0.5, torch.rand(1, 2) + 0.5
    found = ops.w8a8_block_fp8_matmul(
        a, b, a_scale, b_scale, block_size=[128, 128], output_dtype=torch.float32
    )
    left = a.double() * a_scale.double().repeat_interleave(128, 1)
    right = b.double() * b_scale.double().repeat_interleave(128, 0).repeat_interleave(128, 1)
    # Sums of 8-bit products have 13 fraction bits on sm_90.
    yield Check(found, left @ right.T, 2e-3, 0.1)


@case()
def rope() -> Iterator[Check]:
    import tilegym.ops as ops

    q, k = normal(2, 4, 30, 64), normal(2, 2, 30, 64)
    angle = normal(1, 30, 32)
    cos, sin = angle.cos().repeat(1, 1, 2), angle.sin().repeat(1, 1, 2)
    expected = []
    for t in (q, k):
        left, right = t.double().chunk(2, -1)
        turned = torch.cat((-right, left), -1)
        expected.append(t.double() * cos.double()[:, None] + turned * sin.double()[:, None])
    found = ops.apply_rope_base(q.clone(), k.clone(), cos, sin)
    for ours, theirs in zip(found, expected, strict=True):
        yield like(ours, theirs, 2)


@case()
def moe_align_block_size() -> Iterator[Check]:
    from tilegym.ops.cutile.moe_align_block import moe_align_block_size as align

    ids = torch.randint(0, 8, (50, 2), dtype=torch.int32)
    order, experts, padded, _, largest = align(ids, 16, 8)
    counts = torch.bincount(ids.flatten(), minlength=8)
    blocks = (counts + 15) // 16
    yield exactly(padded[:1], blocks.sum()[None] * 16)
    yield exactly(largest[:1], counts.max()[None])
    yield exactly(experts[: int(blocks.sum())], torch.arange(8).repeat_interleave(blocks))
    start = 0
    for expert in range(8):
        # The order of an expert's tokens is nobody's promise.
        mine = order[start : start + int(counts[expert])].sort().values
        yield exactly(mine, (ids.flatten() == expert).nonzero().flatten())
        start += int(blocks[expert]) * 16


@case()
def fused_moe() -> Iterator[Check]:
    import cuda.tile as ct
    from tilegym.ops.cutile.moe import invoke_fused_moe_kernel as invoke
    from tilegym.ops.cutile.moe_align_block import moe_align_block_size as align

    x, w = normal(20, 64, dtype=HALF), normal(4, 48, 64, dtype=HALF, scale=0.2)
    ids = torch.stack([torch.randperm(4)[:2] for _ in range(20)]).to(torch.int32)
    weights = torch.rand(20, 2)
    order, experts, padded, *_ = align(ids, 16, 4)
    out = torch.zeros(20, 2, 48, dtype=HALF)
    config = {"TILE_SIZE_M": 16, "TILE_SIZE_N": 32, "TILE_SIZE_K": 32, "GROUP_SIZE_M": 4}
    invoke(
        x, w, out, None, None, weights, ids, order, experts, padded, True, 2, config, ct.float16, False
    )  # fmt: skip
    expected = torch.einsum("th,tkih->tki", x.double(), w.double()[ids.long()]) * weights.double()[..., None]
    yield like(out, expected, 2)


@case()
def fused_linear_cross_entropy() -> Iterator[Check]:
    import tilegym.ops as ops

    x, w = normal(40, 64, dtype=HALF), normal(100, 64, dtype=HALF, scale=0.2)
    target = torch.randint(0, 100, (40,))
    expected = F.cross_entropy(x.double() @ w.double().T, target)
    yield like(ops.fused_linear_cross_entropy(x, w, target).reshape(1), expected[None], 5)


@case()
def hyper_connections() -> Iterator[Check]:
    import tilegym.ops as ops

    n = 4
    x, out = normal(10, n * 1024), normal(10, 1024)
    y = normal(10, n * n + 2 * n)
    mixing = y.double()[:, 2 * n :].reshape(10, n, n)
    post = y.double()[:, n : 2 * n]
    expected = mixing @ x.double().reshape(10, n, 1024) + post[:, :, None] * out.double()[:, None]
    yield like(ops.mhc_apply_residual(x, out, y, n), expected.reshape(10, -1), 5)


@case(capability=(10, 0))
def nvfp4_quantize() -> Iterator[Check]:
    import tilegym.ops as ops

    x = normal(128, 64, dtype=torch.bfloat16)
    packed, scales = ops.nvfp4_quantize(x)
    groups = x.double().reshape(128, 4, 16)
    scale = (groups.abs().amax(-1) / 6).clamp(1.5259e-5, 448).to(torch.float32).to(torch.float8_e4m3fn)
    row, column = torch.meshgrid(torch.arange(128), torch.arange(4), indexing="ij")
    at = (row % 32) * 16 + (row // 32) * 4 + column
    yield exactly(scales.flatten()[at], scale.view(torch.uint8))
    grid = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], dtype=torch.float64)
    codes = torch.stack((packed & 15, packed >> 4), -1).reshape(128, 64).long()
    found = grid[codes & 7] * torch.where(codes >= 8, -1.0, 1.0)
    wanted = (groups / scale.double()[..., None]).reshape(128, 64).clamp(-6, 6)
    # Half of the largest step between two values of the format.
    yield Check(found, wanted, 0.17, 0.26)
