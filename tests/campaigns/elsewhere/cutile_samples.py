"""The samples of NVIDIA/cutile-python, and the kernels that its tests run."""

from __future__ import annotations

import importlib
import math
import sys
import types
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
import torch.nn.functional as F

from .cases import Case, Cases, Check, exactly, like, normal

case = Cases("samples")
HERE: dict[str, Path] = {}


def cases(checkout: Path) -> list[Case]:
    """The cases, for a checkout in this folder."""
    HERE["samples"] = checkout / "samples"
    HERE["test"] = checkout / "test"
    for folder in HERE.values():
        sys.path.insert(0, str(folder))
    # The quick start takes its arrays from cupy, which is of the same face as numpy.
    cupy: Any = types.ModuleType("cupy")
    cupy.random, cupy.zeros_like, cupy.asnumpy = np.random, np.zeros_like, np.asarray
    cupy.cuda = types.SimpleNamespace(get_current_stream=lambda: None)
    sys.modules.setdefault("cupy", cupy)
    return case.all


def sample(name: str) -> Any:
    """A module of the samples' folder, or ``kernels.name`` of the tests'."""
    return importlib.import_module(name)


def launch(grid: tuple[int, ...], kernel: Any, args: tuple[Any, ...]) -> None:
    """Launch a kernel that comes without host code."""
    import cuda.tile as ct

    ct.launch(torch.cuda.current_stream(), grid, kernel, args)


@case()
def vec_add() -> Iterator[Check]:
    module = sample("VectorAddition")
    for shape in ((1000,), (60, 100)):
        for gather in (False, True):
            a, b = normal(*shape), normal(*shape)
            yield exactly(module.vec_add(a, b, gather), a + b)


@case()
def quickstart() -> Iterator[Check]:
    sys.path.insert(0, str(HERE["samples"] / "quickstart"))
    module = sample("VectorAdd_quickstart")
    module.test()
    yield exactly(torch.zeros(1), torch.zeros(1))


@case()
def transpose() -> Iterator[Check]:
    module = sample("Transpose")
    for dtype in (torch.float32, torch.float16):
        x = normal(200, 300, dtype=dtype)
        yield exactly(module.cutile_transpose(x), x.T)


@case()
def matmul() -> Iterator[Check]:
    module = sample("MatMul")
    for dtype, rtol in ((torch.float16, 2e-3), (torch.bfloat16, 1.6e-2), (torch.float32, 2e-3)):
        a, b = normal(150, 200, dtype=dtype), normal(200, 90, dtype=dtype)
        for persistent in (False, True):
            found = module.cutile_matmul(a, b, persistent=persistent)
            # f32 is cut to tf32, whose 11 bits make up for most of this.
            yield Check(found, (a.double() @ b.double()), rtol, 20 * rtol)


@case()
def batch_matmul() -> Iterator[Check]:
    module = sample("BatchMatMul")
    a, b = normal(2, 100, 150, dtype=torch.float16), normal(2, 150, 90, dtype=torch.float16)
    yield like(module.bmm(a, b, torch.float16), a.double() @ b.double(), 5)
    a8, b8 = a.to(torch.float8_e4m3fn), b.to(torch.float8_e4m3fn)
    yield Check(module.bmm(a8, b8, torch.float32), a8.double() @ b8.double(), 1e-3, 5e-2)


@case()
def attention() -> Iterator[Check]:
    module = sample("AttentionFMHA")
    for causal, group in ((False, 1), (True, 2)):
        q = normal(1, 2, 200, 64, dtype=torch.float16)
        k = normal(1, 2 // group, 200, 64, dtype=torch.float16)
        v = normal(1, 2 // group, 200, 64, dtype=torch.float16)
        found = module.cutile_fmha(q, k, v, tile_m=64, tile_n=64, causal=causal, query_group_size=group)
        keys, values = (t.double().repeat_interleave(group, 1) for t in (k, v))
        expected = F.scaled_dot_product_attention(q.double(), keys, values, is_causal=causal)
        yield like(found, expected, 2)


@case()
def attention_tuned() -> Iterator[Check]:
    module = sample("AttentionFMHA")
    q, k, v = (normal(1, 1, 128, 32, dtype=torch.float16) for _ in range(3))
    config = module.tune_cutile_fmha(q, k, v, qk_scale=0.125)
    found = module.cutile_fmha(q, k, v, qk_scale=0.125, tile_m=config.TILE_M, tile_n=config.TILE_N)
    yield like(found, F.scaled_dot_product_attention(q.double(), k.double(), v.double(), scale=0.125), 2)


@case()
def fft() -> Iterator[Check]:
    module = sample("FFT")
    x = torch.complex(normal(2, 64), normal(2, 64))
    found = module.cutile_fft(x, factors=(4, 4, 4))
    expected = torch.fft.fft(x.to(torch.complex128))
    # The products are cut to tf32 or not, as the kernel likes.
    yield Check(torch.view_as_real(found), torch.view_as_real(expected), 1e-3, 2e-2)


@case()
def layer_norm() -> Iterator[Check]:
    module = sample("LayerNorm")
    x = (normal(70, 300) * 0.5 - 2.3).requires_grad_()
    weight, bias = normal(300).requires_grad_(), normal(300).requires_grad_()
    dy = normal(70, 300, scale=0.1)
    found = module.cutile_layer_norm(x, weight, bias, 1e-5)
    gradients = torch.autograd.grad(found, (x, weight, bias), dy)
    wide = [t.detach().double().requires_grad_() for t in (x, weight, bias)]
    expected = F.layer_norm(wide[0], (300,), wide[1], wide[2], 1e-5)
    yield like(found, expected)
    for ours, theirs in zip(gradients, torch.autograd.grad(expected, wide, dy.double()), strict=True):
        yield like(ours, theirs, 5)


@case()
def mixture_of_experts() -> Iterator[Check]:
    module = sample("MoE")
    hidden = normal(10, 64, dtype=torch.float16, scale=0.5)
    w1 = normal(4, 96, 64, dtype=torch.float16, scale=0.1)
    w2 = normal(4, 64, 48, dtype=torch.float16, scale=0.1)
    ids = torch.stack([torch.randperm(4)[:2] for _ in range(10)])
    weights = torch.softmax(normal(10, 2), -1).to(torch.float16)
    found = module.cutile_moe(hidden, w1, w2, weights, ids, tile_m=16, tile_n=32, tile_k=32)
    expected = torch.zeros(10, 64, dtype=torch.float64)
    for token in range(10):
        for slot in range(2):
            expert = int(ids[token, slot])
            gate, up = (w1[expert].double() @ hidden[token].double()).chunk(2)
            out = w2[expert].double() @ (F.silu(gate) * up)
            expected[token] += float(weights[token, slot]) * out
    yield like(found, expected)


@case()
def block_scaled_matmul() -> Iterator[Check]:
    module = sample("BlockScaledMatMul")
    a, a_scale = module.block_quantize(torch.rand(256, 128), 32)
    b, b_scale = module.block_quantize(torch.rand(256, 128), 32)
    whole = (t.double() * s.double().repeat_interleave(32, 1) for t, s in ((a, a_scale), (b, b_scale)))
    left, right = whole
    found = module.cutile_block_scaled_matmul(a, a_scale, b.T, b_scale.T)
    yield Check(found, left @ right.T, 1e-3, 1e-3)
    swizzled = [module.swizzle_32_4_4(s.contiguous()) for s in (a_scale, b_scale)]
    yield exactly(module.cutile_block_scaled_matmul(a, swizzled[0], b.T, swizzled[1]), found)


@case()
def gather_matmul() -> Iterator[Check]:
    module = sample("AllGatherMatmul")
    parts, w = [torch.rand(32, 64) for _ in range(3)], torch.rand(64, 32)
    out = torch.empty(96, 32)
    launch((3, 1), module.gather_matmul_kernel, (parts, w, out, 32, 32, 32))
    yield Check(out, torch.cat(parts).double() @ w.double(), 1e-3, 1e-3)


@case()
def group_gemm() -> Iterator[Check]:
    kernel = sample("kernels.group_gemm").grouped_matmul_kernel
    extents = [(2, 4, 4), (8, 6, 6), (12, 16, 8)]
    for dtype in (torch.float32, torch.float16):
        a = [torch.rand(m, k).to(dtype) for m, _, k in extents]
        b = [torch.rand(k, n).to(dtype) for _, n, k in extents]
        c = [torch.empty(m, n, dtype=dtype) for m, n, _ in extents]
        launch((4,), kernel, (a, b, c, 4, 16, 8, 8))
        for left, right, found in zip(a, b, c, strict=True):
            yield like(found, left.double() @ right.double(), 2)


@case()
def split_k_matmul() -> Iterator[Check]:
    kernel = sample("kernels.matmul").matmul_split_k_kernel
    a, b = normal(64, 96, dtype=torch.float16), normal(96, 64, dtype=torch.float16)
    c = torch.zeros(64, 64)
    locks, counts = torch.zeros(4, dtype=torch.int32), torch.zeros(4, dtype=torch.int32)
    launch((4, 3, 1), kernel, (a, b, c, locks, counts, 32, 32, 32, 3))
    yield Check(c, a.double() @ b.double(), 1e-3, 1e-2)


@case()
def rms_norm() -> Iterator[Check]:
    module = sample("kernels.rms_norm")
    x, w = normal(20, 200, dtype=torch.float16), normal(200, dtype=torch.float16)
    wide = x.double()
    rstd = torch.rsqrt(wide.square().mean(-1) + 1e-6)
    expected = wide * rstd[:, None] * w.double()
    out, found_rstd = torch.empty_like(x), torch.empty(20)
    launch((20,), module.rms_norm_kernel, (x, w, out, found_rstd, 200, 1e-6, 64))
    yield like(out, expected, 2)
    yield like(found_rstd, rstd)
    out, found_rstd = torch.empty_like(x), torch.empty(20)
    launch((20,), module.rms_norm_kernel_gather, (x, w, out, found_rstd, 200, 1e-6, 64))
    yield like(out, expected, 2)
    yield like(found_rstd, rstd)
    x, w = normal(20, 256), normal(256)
    out = torch.empty_like(x)
    launch((3,), module.rms_norm_kernel_static_persistent, (x, out, w, 4, 64, 256, 1e-6))
    yield like(out, x.double() * torch.rsqrt(x.double().square().mean(-1, True) + 1e-6) * w.double())


@case()
def fft_reference() -> Iterator[Check]:
    module, host = sample("kernels.fft_ref"), sample("FFT")
    x = torch.complex(normal(1, 64), normal(1, 64))
    out = torch.empty(1, 64, 2)
    twiddles = host.make_twiddles((4, 4, 4), torch.float32, torch.device("cpu"))
    launch((1,), module.fft_kernel, (torch.view_as_real(x).contiguous(), out, *twiddles, 64, 4, 4, 4))
    yield Check(out, torch.view_as_real(torch.fft.fft(x.to(torch.complex128))), 1e-3, 2e-2)


SCALE = 1 / math.sqrt(32)


@case()
def attention_of_the_tests() -> Iterator[Check]:
    kernel = sample("kernels.attention").fmha_kernel
    q, k, v = (normal(1, 2, 100, 32, dtype=torch.bfloat16) for _ in range(3))
    out = torch.empty_like(q)
    launch((4, 2), kernel, (q, k, v, out, SCALE, 0, 32, 2, 32, 32, 1, True, False))
    wide = [t.double() for t in (q, k, v)]
    yield like(out, F.scaled_dot_product_attention(*wide, is_causal=True), 2)


HOSTS = {
    "vec_add": ("VectorAddition", vec_add),
    "transpose": ("Transpose", transpose),
    "matmul": ("MatMul", matmul),
    "matmul batched": ("BatchMatMul", batch_matmul),
    "fft": ("FFT", fft),
    "layer_norm": ("LayerNorm", layer_norm),
    "fused_moe": ("MoE", mixture_of_experts),
    "scaled_matmul": ("BlockScaledMatMul", block_scaled_matmul),
}
"""The kernels of the tests that are launched as the samples launch theirs, and who launches them."""


def under_the_samples_host(name: str) -> Iterator[Check]:
    """Kernels of the tests in the place of the samples' of the same name."""
    host_name, checks = HOSTS[name]
    host, tests = sample(host_name), sample(f"kernels.{name.split()[0]}")
    import cuda.tile as ct

    theirs = {key: value for key, value in vars(tests).items() if isinstance(value, ct.kernel)}
    with patch.multiple(host, **{key: value for key, value in theirs.items() if hasattr(host, key)}):
        yield from checks()


for name_ in HOSTS:
    case(f"{name_} of the tests")(partial(under_the_samples_host, name_))
