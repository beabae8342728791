"""tilegym's kernels after the interfaces of Liger: losses, normalisation, embeddings."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F

from .cases import Case, Cases, Check, exactly, like, normal

case = Cases("tilegym")


def cases() -> list[Case]:
    """The cases; tilegym is installed."""
    import tilegym.suites.liger.cutile  # noqa: F401

    return case.all


def ops() -> Any:
    """The interface of the suite."""
    return importlib.import_module("tilegym.suites.liger.ops")


def both_ways(
    found: Callable[..., torch.Tensor],
    expected: Callable[..., torch.Tensor],
    *inputs: torch.Tensor,
    times: float = 3,
) -> Iterator[Check]:
    """Forward and backward, against the same formula in f64."""
    ours = [t.clone().requires_grad_() for t in inputs]
    wide = [t.detach().double().requires_grad_() for t in inputs]
    answer, reference = found(*ours), expected(*wide)
    yield like(answer.detach().clone(), reference, times)
    dy = normal(*answer.shape, dtype=answer.dtype)
    gradients = torch.autograd.grad(answer, ours, dy)
    for one, other in zip(gradients, torch.autograd.grad(reference, wide, dy.double()), strict=True):
        yield like(one, other, times)


@case("liger.softmax")
def softmax() -> Iterator[Check]:
    yield from both_ways(ops().softmax, lambda x: torch.softmax(x, -1), normal(20, 300))


@case("liger.relu_squared")
def relu_squared() -> Iterator[Check]:
    yield from both_ways(ops().relu_squared, lambda x: x.relu().square(), normal(20, 300))


@case("liger.dyt")
def dyt() -> Iterator[Check]:
    yield from both_ways(
        ops().dyt,
        lambda x, a, g, b: torch.tanh(a * x) * g + b,
        normal(20, 256),
        torch.tensor([0.7]),
        normal(256),
        normal(256),
        times=5,
    )


@case("liger.swiglu")
def swiglu() -> Iterator[Check]:
    yield from both_ways(ops().swiglu, lambda a, b: F.silu(a) * b, normal(20, 300), normal(20, 300))


@case("liger.geglu")
def geglu() -> Iterator[Check]:
    yield from both_ways(
        ops().geglu,
        lambda a, b: F.gelu(a, approximate="tanh") * b,
        normal(20, 300),
        normal(20, 300),
    )


def rms(x: torch.Tensor) -> torch.Tensor:
    """Each row over its root mean square."""
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)


@case("liger.rms_norm")
def rms_norm() -> Iterator[Check]:
    yield from both_ways(
        lambda x, w: ops().rms_norm(x, w, 1e-6, in_place=False),
        lambda x, w: rms(x) * w,
        normal(40, 256),
        normal(256),
        times=10,
    )


@case("liger.layer_norm")
def layer_norm() -> Iterator[Check]:
    yield from both_ways(
        lambda x, w, b: ops().layer_norm(x, w, b, 1e-5),
        lambda x, w, b: F.layer_norm(x, (256,), w, b, 1e-5),
        normal(40, 256),
        normal(256),
        normal(256),
        times=10,
    )


@case("liger.group_norm")
def group_norm() -> Iterator[Check]:
    yield from both_ways(
        lambda x, w, b: ops().group_norm(x, 8, 2, w, b, 1e-5),
        lambda x, w, b: F.group_norm(x, 2, w, b, 1e-5),
        normal(3, 8, 64),
        normal(8),
        normal(8),
        times=10,
    )


@case("liger.poly_norm")
def poly_norm() -> Iterator[Check]:
    yield from both_ways(
        lambda x, w, b: ops().poly_norm(x, w, b, 1e-6),
        lambda x, w, b: w[0] * rms(x**3) + w[1] * rms(x**2) + w[2] * rms(x) + b,
        normal(20, 200),
        normal(3),
        normal(1),
        times=20,
    )


@case("liger.fused_add_rms_norm")
def fused_add_rms_norm() -> Iterator[Check]:
    x, r, w = normal(20, 256), normal(20, 256), normal(256)
    found, total = ops().fused_add_rms_norm(x.clone(), r.clone(), w, 1e-6)
    yield like(total, x.double() + r.double())
    yield like(found, rms(x.double() + r.double()) * w.double())


@case("liger.sparsemax")
def sparsemax() -> Iterator[Check]:
    def reference(x: torch.Tensor) -> torch.Tensor:
        order = x.sort(-1, descending=True).values
        rank = torch.arange(1, x.shape[-1] + 1)
        above = order.cumsum(-1) - 1
        support = (rank * order > above).sum(-1, keepdim=True)
        return (x - above.gather(-1, support - 1) / support).clamp_min(0)

    yield from both_ways(ops().sparsemax, reference, normal(20, 100), times=10)


@case("liger.cross_entropy")
def cross_entropy() -> Iterator[Check]:
    target = torch.randint(0, 300, (20,))
    target[3] = -100
    for smoothing in (0.0, 0.1):
        yield from both_ways(
            lambda x, s=smoothing: ops().cross_entropy(x, target, label_smoothing=s),
            lambda x, s=smoothing: F.cross_entropy(x, target, label_smoothing=s),
            normal(20, 300),
            times=5,
        )


@case("liger.fused_linear_cross_entropy")
def fused_linear_cross_entropy() -> Iterator[Check]:
    target = torch.randint(0, 100, (40,))
    yield from both_ways(
        lambda x, w: ops().fused_linear_cross_entropy(x, w, target),
        lambda x, w: F.cross_entropy(x @ w.T, target),
        normal(40, 64),
        normal(100, 64, scale=0.2),
        times=20,
    )


@case("liger.jsd")
def jsd() -> Iterator[Check]:
    q, p = (torch.log_softmax(normal(20, 100), -1) for _ in range(2))
    mean = torch.log((q.double().exp() + p.double().exp()) / 2)
    divergence = sum((t.double().exp() * (t.double() - mean)).sum() / 40 for t in (q, p))
    yield like(ops().jsd(q, p).reshape(1), torch.as_tensor(divergence)[None], 5)


@case("liger.kl_div")
def kl_div() -> Iterator[Check]:
    target = torch.softmax(normal(20, 100), -1)
    yield from both_ways(
        lambda y: ops().kl_div(y, target),
        lambda y: F.kl_div(y, target.double(), reduction="batchmean"),
        torch.log_softmax(normal(20, 100), -1),
        times=5,
    )


@case("liger.tvd")
def tvd() -> Iterator[Check]:
    p, q = (torch.softmax(normal(20, 100), -1) for _ in range(2))
    expected = (p.double() - q.double()).abs().sum() / 2 / 20
    yield like(ops().tvd(p, q).reshape(1), expected[None], 5)


@case("liger.rope")
def rope() -> Iterator[Check]:
    q, k = normal(1, 4, 30, 64), normal(1, 2, 30, 64)
    angle = normal(1, 30, 32)
    cos, sin = angle.cos().repeat(1, 1, 2), angle.sin().repeat(1, 1, 2)
    found = ops().rope(q.clone(), k.clone(), cos, sin)
    for ours, t in zip(found, (q, k), strict=True):
        left, right = t.double().chunk(2, -1)
        turned = torch.cat((-right, left), -1)
        yield like(ours, t.double() * cos.double()[:, None] + turned * sin.double()[:, None], 3)


@case("liger.llama4_rope")
def llama4_rope() -> Iterator[Check]:
    q, k = normal(1, 30, 4, 64), normal(1, 30, 2, 64)
    turn = torch.polar(torch.ones(30, 32), normal(30, 32))
    found = ops().llama4_rope(q.clone(), k.clone(), turn)
    for ours, t in zip(found, (q, k), strict=True):
        paired = torch.view_as_complex(t.double().reshape(1, 30, -1, 32, 2))
        turned = torch.view_as_real(paired * turn.to(torch.complex128)[None, :, None])
        yield like(ours, turned.reshape(t.shape), 5)


@case("liger.neighborhood_attention")
def neighborhood_attention() -> Iterator[Check]:
    q, k, v = (normal(1, 2, 64, 32) for _ in range(3))
    found = ops().fused_neighborhood_attention(q, k, v, kernel_size=7)
    at = torch.arange(64)
    near = (at[:, None] - at).abs() <= 3
    logits = (q.double() @ k.double().mT / 32**0.5).masked_fill(~near, -torch.inf)
    yield Check(found, torch.softmax(logits, -1) @ v.double(), 3e-3, 3e-3)


@case("liger.multi_token_attention")
def multi_token_attention() -> Iterator[Check]:
    scores, weight = normal(1, 2, 32, 32), normal(2, 2, 3, 3, scale=0.3)
    found = ops().multi_token_attention(scores, weight, padding=1)
    lower = torch.ones(32, 32, dtype=torch.bool).tril()
    seen = torch.softmax(scores.double().masked_fill(~lower, -torch.inf), -1)
    seen = F.conv2d(seen.masked_fill(~lower, 0.0), weight.double(), padding=1)
    yield like(found, seen.masked_fill(~lower, 0.0), 5)


@case("liger.grpo_loss")
def grpo_loss() -> Iterator[Check]:
    logits = normal(2, 17, 128)
    ids = torch.randint(0, 128, (2, 16))
    advantages = normal(2)
    loss, *_ = ops().grpo_loss(logits.clone(), None, None, ids, advantages, temperature=0.9, beta=0.0)
    # Without an older policy the ratio is 1, and the loss is the advantage with its sign turned.
    yield like(loss.detach(), -advantages.double()[:, None].expand(2, 16), 5)
    yield exactly(torch.isfinite(loss).to(torch.int32), torch.ones(2, 16, dtype=torch.int32))
