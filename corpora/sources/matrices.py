"""Matrix products: each format, shapes around the borders of the hardware's own, loops over K, batches."""

from __future__ import annotations

from collections.abc import Iterator

import cuda.tile as ct

from ..build.draft import Draft, hard, integers, moderate, output

SHAPES = ((16, 16, 16), (32, 32, 32), (64, 64, 16), (64, 64, 64), (128, 64, 32))
"""M, N, K."""

PAIRS = (
    *(("f16", "f32"), ("f16", "f16"), ("bf16", "f32"), ("f32", "f32"), ("f64", "f64")),
    *(("f8E4M3FN", "f32"), ("f8E5M2", "f32"), ("f8E4M3FN", "f16")),
)
"""Formats of the operands and of the accumulator."""


@ct.kernel
def product(x, y, z, out, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    a = ct.load(x, index=(0, 0), shape=(M, K))
    b = ct.load(y, index=(0, 0), shape=(K, N))
    c = ct.load(z, index=(0, 0), shape=(M, N))
    ct.store(out, index=(0, 0), tile=ct.mma(a, b, c))


@ct.kernel
def product_tf32(x, y, z, out, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    a = ct.astype(ct.load(x, index=(0, 0), shape=(M, K)), ct.tfloat32)
    b = ct.astype(ct.load(y, index=(0, 0), shape=(K, N)), ct.tfloat32)
    c = ct.load(z, index=(0, 0), shape=(M, N))
    ct.store(out, index=(0, 0), tile=ct.mma(a, b, c))


@ct.kernel
def product_fast(x, y, z, out, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    a = ct.load(x, index=(0, 0), shape=(M, K))
    b = ct.load(y, index=(0, 0), shape=(K, N))
    c = ct.load(z, index=(0, 0), shape=(M, N))
    ct.store(out, index=(0, 0), tile=ct.mma(a, b, c, use_fast_acc=True))


@ct.kernel
def product_loop(x, y, out, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    """A matrix product as people write it: a grid of tiles, a loop over K, the sum in f32."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((M, N), dtype=ct.float32)
    for k in range(ct.num_tiles(x, axis=1, shape=(M, K))):
        a = ct.load(x, index=(i, k), shape=(M, K), padding_mode=ct.PaddingMode.ZERO)
        b = ct.load(y, index=(k, j), shape=(K, N), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(a, b, acc)
    ct.store(out, index=(i, j), tile=ct.astype(acc, out.dtype))


@ct.kernel
def product_batched(
    x, y, out, B: ct.Constant[int], M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]
):
    a = ct.load(x, index=(0, 0, 0), shape=(B, M, K))
    b = ct.load(y, index=(0, 0, 0), shape=(B, K, N))
    ct.store(out, index=(0, 0, 0), tile=ct.matmul(a, b))


@ct.kernel
def product_transposed(x, y, out, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    """The second operand is stored the other way round."""
    a = ct.load(x, index=(0, 0), shape=(M, K))
    b = ct.transpose(ct.load(y, index=(0, 0), shape=(N, K)))
    ct.store(out, index=(0, 0), tile=ct.mma(a, b, ct.zeros((M, N), dtype=ct.float32)))


def drafts() -> Iterator[Draft]:
    """Every pair of formats at a few shapes, and the other kernels once or twice."""
    for operand, accumulator in PAIRS:
        shapes = SHAPES if accumulator == "f32" and operand != "f32" else SHAPES[::2]
        for shape in shapes:
            yield _product(f"{operand}_{accumulator}", product, operand, accumulator, shape)
    for shape in SHAPES:
        yield _product("tf32_f32", product_tf32, "f32", "f32", shape)
    yield _product("fast_f8E4M3FN_f32", product_fast, "f8E4M3FN", "f32", (64, 64, 64))
    for unsigned in (False, True):
        for m, n, k in SHAPES[::2]:
            name = f"mma/{'u' if unsigned else ''}i8_i32_{m}x{n}x{k}"
            low, high = (0, 256) if unsigned else (-128, 128)
            x = integers("i8", name + "x", (m, k), low, high, unsigned=unsigned)
            y = integers("i8", name + "y", (k, n), low, high, unsigned=unsigned)
            z = integers("i32", name + "z", (m, n), -(1 << 31), 1 << 31)
            yield Draft(name, product, (1,), [x, y, z, output("i32", (m, n)), m, n, k])
    for operand in ("f16", "bf16", "f32"):
        name = f"mma/hard_{operand}_32x32x16"
        x = hard(operand, name, "lhs", lanes=512)
        y = hard(operand, name, "rhs", lanes=512)
        x, y = type(x)(operand, (32, 16), x.recipe), type(y)(operand, (16, 32), y.recipe)
        z = moderate("f32", name + "z", (32, 32))
        yield Draft(name, product, (1,), [x, y, z, output("f32", (32, 32)), 32, 32, 16])
    for fmt, aligned in (("f16", False), ("f16", True), ("bf16", True), ("f32", False)):
        name = f"matmul/loop_{fmt}{'_aligned' if aligned else ''}"
        x = moderate(fmt, name + "x", (64, 96), aligned=aligned)
        y = moderate(fmt, name + "y", (96, 64), aligned=aligned)
        out = output(fmt, (64, 64), aligned=aligned)
        yield Draft(name, product_loop, (2, 2), [x, y, out, 32, 32, 32])
    name = "matmul/ragged_f16"
    x, y = moderate("f16", name + "x", (50, 40)), moderate("f16", name + "y", (40, 45))
    yield Draft(name, product_loop, (2, 2), [x, y, output("f16", (50, 45)), 32, 32, 16])
    for fmt in ("f16", "f32"):
        name = f"matmul/batched_{fmt}"
        x, y = moderate(fmt, name + "x", (4, 16, 32)), moderate(fmt, name + "y", (4, 32, 16))
        yield Draft(name, product_batched, (1,), [x, y, output(fmt, (4, 16, 16)), 4, 16, 16, 32])
    name = "matmul/transposed_f16"
    x, y = moderate("f16", name + "x", (32, 64)), moderate("f16", name + "y", (32, 64))
    yield Draft(name, product_transposed, (1,), [x, y, output("f32", (32, 32)), 32, 32, 64])


def _product(what, kernel, operand, accumulator, shape) -> Draft:
    m, n, k = shape
    name = f"mma/{what}_{m}x{n}x{k}"
    x, y = moderate(operand, name + "x", (m, k)), moderate(operand, name + "y", (k, n))
    z = moderate(accumulator, name + "z", (m, n))
    return Draft(name, kernel, (1,), [x, y, z, output(accumulator, (m, n)), m, n, k])
