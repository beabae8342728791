"""Matrix products with what models put around them: biases, activations, scales, residuals, gates."""

from __future__ import annotations

from collections.abc import Iterator

import cuda.tile as ct

from ..build.draft import Draft, Number, integers, moderate, output


@ct.kernel
def bias_relu(x, w, bias, out, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((M, N), dtype=ct.float32)
    for k in range(ct.num_tiles(x, axis=1, shape=(M, K))):
        acc = ct.mma(ct.load(x, index=(i, k), shape=(M, K)), ct.load(w, index=(k, j), shape=(K, N)), acc)
    b = ct.astype(ct.reshape(ct.load(bias, index=(j,), shape=(N,)), (1, N)), ct.float32)
    ct.store(out, index=(i, j), tile=ct.astype(ct.maximum(acc + b, 0.0), out.dtype))


@ct.kernel
def bias_gelu(x, w, bias, out, before, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    """The weights are stored row by output; what goes into the activation is kept for the gradient."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((M, N), dtype=ct.float32)
    for k in range(ct.num_tiles(x, axis=1, shape=(M, K))):
        a = ct.load(x, index=(i, k), shape=(M, K))
        b = ct.load(w, index=(j, k), shape=(N, K))
        acc = ct.mma(a, ct.transpose(b), acc)
    acc = acc + ct.astype(ct.reshape(ct.load(bias, index=(j,), shape=(N,)), (1, N)), ct.float32)
    ct.store(before, index=(i, j), tile=ct.astype(acc, before.dtype))
    inner = 0.7978845608 * (acc + 0.044715 * acc * acc * acc)
    ct.store(out, index=(i, j), tile=ct.astype(0.5 * acc * (1.0 + ct.tanh(inner)), out.dtype))


@ct.kernel
def residual_tf32(
    x, w, residual, out, alpha, beta, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]
):
    """Product and residual with a factor each, the factors cut to tf32."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((M, N), dtype=ct.float32)
    for k in range(ct.num_tiles(x, axis=1, shape=(M, K))):
        a = ct.astype(ct.load(x, index=(i, k), shape=(M, K)), ct.tfloat32)
        b = ct.astype(ct.load(w, index=(k, j), shape=(K, N)), ct.tfloat32)
        acc = ct.mma(a, b, acc)
    old = ct.load(residual, index=(i, j), shape=(M, N))
    ct.store(out, index=(i, j), tile=alpha * acc + beta * old)


@ct.kernel
def scaled_rows_columns(
    x, w, rows, columns, out, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]
):
    """8-bit floats with a scale for each row of x and each column of w."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((M, N), dtype=ct.float32)
    for k in range(ct.num_tiles(x, axis=1, shape=(M, K))):
        acc = ct.mma(ct.load(x, index=(i, k), shape=(M, K)), ct.load(w, index=(k, j), shape=(K, N)), acc)
    row = ct.reshape(ct.load(rows, index=(i,), shape=(M,)), (M, 1))
    column = ct.reshape(ct.load(columns, index=(j,), shape=(N,)), (1, N))
    ct.store(out, index=(i, j), tile=ct.astype(acc * row * column, out.dtype))


@ct.kernel
def scaled_blocks(x, w, xscales, wscales, out, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    """8-bit floats with a scale for each tile along K: a tile's product is scaled on its way to the sum."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((M, N), dtype=ct.float32)
    for k in range(ct.num_tiles(x, axis=1, shape=(M, K))):
        a = ct.load(x, index=(i, k), shape=(M, K))
        b = ct.load(w, index=(k, j), shape=(K, N))
        part = ct.mma(a, b, ct.zeros((M, N), dtype=ct.float32))
        row = ct.load(xscales, index=(i, k), shape=(M, 1))
        acc = acc + part * row * ct.load(wscales, index=(k, j), shape=(1, 1))
    ct.store(out, index=(i, j), tile=ct.astype(acc, out.dtype))


@ct.kernel
def weight_gradient(x, dy, dw, dbias, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    """The transposed inputs times the gradient, and the gradient's sum over the batch."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((M, N), dtype=ct.float32)
    total = ct.zeros((1, N), dtype=ct.float32)
    for k in range(ct.num_tiles(x, axis=0, shape=(K, M))):
        a = ct.load(x, index=(k, i), shape=(K, M))
        b = ct.load(dy, index=(k, j), shape=(K, N))
        acc = ct.mma(ct.transpose(a), b, acc)
        total = total + ct.sum(ct.astype(b, ct.float32), axis=0, keepdims=True)
    ct.store(dw, index=(i, j), tile=acc)
    if i == 0:
        ct.store(dbias, index=(0, j), tile=total)


@ct.kernel
def requantised(x, w, bias, multipliers, out, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    """Integers in, integers out: the sums are scaled, rounded and cut to 8 bits."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((M, N), dtype=ct.int32)
    for k in range(ct.num_tiles(x, axis=1, shape=(M, K))):
        acc = ct.mma(ct.load(x, index=(i, k), shape=(M, K)), ct.load(w, index=(k, j), shape=(K, N)), acc)
    acc = acc + ct.reshape(ct.load(bias, index=(j,), shape=(N,)), (1, N))
    scaled = ct.astype(acc, ct.float32) * ct.reshape(ct.load(multipliers, index=(j,), shape=(N,)), (1, N))
    nearest = ct.floor(scaled + 0.5)
    ct.store(out, index=(i, j), tile=ct.astype(ct.minimum(ct.maximum(nearest, -128.0), 127.0), ct.int8))


@ct.kernel
def lower_square(x, out, alpha, M: ct.Constant[int], K: ct.Constant[int]):
    """A matrix times its own transpose: blocks above the diagonal return, those on it write half."""
    i, j = ct.bid(0), ct.bid(1)
    if j > i:
        return
    acc = ct.zeros((M, M), dtype=ct.float64)
    for k in range(ct.num_tiles(x, axis=1, shape=(M, K))):
        a = ct.load(x, index=(i, k), shape=(M, K))
        b = ct.load(x, index=(j, k), shape=(M, K))
        acc = ct.mma(a, ct.transpose(b), acc)
    row = ct.reshape(ct.arange(M, dtype=ct.int32), (M, 1)) + i * M
    column = ct.reshape(ct.arange(M, dtype=ct.int32), (1, M)) + j * M
    ct.scatter(out, (row, column), acc * ct.astype(alpha, ct.float64), mask=column <= row)


@ct.kernel
def in_full_f32(x, w, out, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    """f32 factors as they are, on tiles that hang over all edges."""
    i, j = ct.bid(0), ct.bid(1)
    zero = ct.PaddingMode.ZERO
    acc = ct.zeros((M, N), dtype=ct.float32)
    for k in range(ct.num_tiles(x, axis=1, shape=(M, K))):
        a = ct.load(x, index=(i, k), shape=(M, K), padding_mode=zero)
        acc = ct.mma(a, ct.load(w, index=(k, j), shape=(K, N), padding_mode=zero), acc)
    ct.store(out, index=(i, j), tile=acc)


@ct.kernel
def gated(x, up, gate, out, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    """Two products of the same rows, one of which opens the other (SwiGLU)."""
    i, j = ct.bid(0), ct.bid(1)
    ups = ct.zeros((M, N), dtype=ct.float32)
    gates = ct.zeros((M, N), dtype=ct.float32)
    for k in range(ct.num_tiles(x, axis=1, shape=(M, K))):
        a = ct.load(x, index=(i, k), shape=(M, K))
        ups = ct.mma(a, ct.load(up, index=(k, j), shape=(K, N)), ups)
        gates = ct.mma(a, ct.load(gate, index=(k, j), shape=(K, N)), gates)
    ct.store(out, index=(i, j), tile=ct.astype(gates / (1.0 + ct.exp(-gates)) * ups, out.dtype))


@ct.kernel
def batched(x, w, out, scale, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    """A block a matrix of the batch; the sum is in f16 throughout."""
    b = ct.bid(0)
    acc = ct.zeros((1, M, N), dtype=ct.float16)
    for k in range(ct.num_tiles(x, axis=2, shape=(1, M, K))):
        acc = ct.mma(
            ct.load(x, index=(b, 0, k), shape=(1, M, K)), ct.load(w, index=(b, k, 0), shape=(1, K, N)), acc
        )
    ct.store(out, index=(b, 0, 0), tile=ct.astype(ct.astype(acc, ct.float32) * scale, out.dtype))


@ct.kernel
def matrix_vector(a, x, y, out, alpha, beta, M: ct.Constant[int], K: ct.Constant[int]):
    """A matrix times a vector, and the old vector: a sum a row, and no matrix unit."""
    i = ct.bid(0)
    acc = ct.zeros((M, K), dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(M, K))):
        part = ct.reshape(ct.load(x, index=(k,), shape=(K,)), (1, K))
        acc = acc + ct.load(a, index=(i, k), shape=(M, K)) * part
    old = ct.load(y, index=(i,), shape=(M,))
    ct.store(out, index=(i,), tile=alpha * ct.sum(acc, axis=1) + beta * old)


@ct.kernel
def outer_update(a, x, y, alpha, M: ct.Constant[int], N: ct.Constant[int]):
    """A matrix changed in place by an outer product."""
    i, j = ct.bid(0), ct.bid(1)
    column = ct.reshape(ct.load(x, index=(i,), shape=(M,)), (M, 1))
    row = ct.reshape(ct.load(y, index=(j,), shape=(N,)), (1, N))
    old = ct.load(a, index=(i, j), shape=(M, N))
    ct.store(a, index=(i, j), tile=old + ct.astype(alpha, ct.float64) * column * row)


@ct.kernel
def forward_substitution(lower, b, x, N: ct.Constant[int], C: ct.Constant[int]):
    """Solve a lower triangular system for C right sides: a row is final before the next is begun."""
    j = ct.bid(0)
    rest = ct.load(b, index=(0, j), shape=(N, C))
    row = ct.reshape(ct.arange(N, dtype=ct.int32), (N, 1))
    for k in range(N):
        column = ct.load(lower, index=(0, k), shape=(N, 1))
        here = row == k
        pivot = ct.sum(ct.where(here, column, 0.0), axis=0, keepdims=True)
        solved = ct.sum(ct.where(here, rest, 0.0), axis=0, keepdims=True) / pivot
        rest = ct.where(here, solved, ct.where(row > k, rest - column * solved, rest))
    ct.store(x, index=(0, j), tile=rest)


def drafts() -> Iterator[Draft]:
    """Each kernel once, each in a format of its own."""
    name = "product/bias_relu_f16"
    parts = [moderate("f16", name + "x", (64, 64), high=0), moderate("f16", name + "w", (64, 64), high=0)]
    parts += [moderate("f16", name + "b", (64,)), output("f16", (64, 64))]
    yield Draft(name, bias_relu, (2, 2), [*parts, 32, 32, 32])
    name = "product/bias_gelu_bf16"
    parts = [moderate("bf16", name + "x", (64, 48), high=-1), moderate("bf16", name + "w", (64, 48), high=-1)]
    parts += [moderate("bf16", name + "b", (64,), high=0), output("bf16", (64, 64)), output("bf16", (64, 64))]
    yield Draft(name, bias_gelu, (2, 2), [*parts, 32, 32, 16])
    name = "product/residual_tf32"
    parts = [moderate("f32", name + "x", (64, 64), high=0), moderate("f32", name + "w", (64, 64), high=0)]
    parts += [moderate("f32", name + "r", (64, 64)), output("f32", (64, 64))]
    numbers = [Number("f32", 0.75), Number("f32", -1.5)]
    yield Draft(name, residual_tf32, (2, 2), [*parts, *numbers, 32, 32, 16])
    name = "product/scaled_rows_columns_f8E4M3FN"
    parts = [moderate("f8E4M3FN", name + "x", (64, 128)), moderate("f8E4M3FN", name + "w", (128, 64))]
    parts += [moderate("f32", name + part, (64,), low=-6, high=-3, positive=True) for part in "rc"]
    yield Draft(name, scaled_rows_columns, (1, 1), [*parts, output("bf16", (64, 64)), 64, 64, 64])
    name = "product/scaled_blocks_f8E4M3FN"
    parts = [moderate("f8E4M3FN", name + "x", (64, 128)), moderate("f8E4M3FN", name + "w", (128, 32))]
    parts += [moderate("f32", name + "s", (64, 4), low=-6, high=-3, positive=True)]
    parts += [moderate("f32", name + "t", (4, 2), low=-6, high=-3, positive=True), output("f16", (64, 32))]
    yield Draft(name, scaled_blocks, (2, 2), [*parts, 32, 16, 32])
    name = "product/weight_gradient_f8E5M2"
    parts = [
        moderate("f8E5M2", name + "x", (64, 32), high=1),
        moderate("f8E5M2", name + "g", (64, 64), high=1),
    ]
    parts += [output("f32", (32, 64)), output("f32", (1, 64))]
    yield Draft(name, weight_gradient, (2, 2), [*parts, 16, 32, 32])
    name = "product/requantised_i8"
    parts = [integers("i8", name + "x", (32, 96), -128, 128), integers("i8", name + "w", (96, 64), -128, 128)]
    parts += [integers("i32", name + "b", (64,), -5000, 5000)]
    parts += [moderate("f32", name + "m", (64,), low=-10, high=-9, positive=True), output("i8", (32, 64))]
    yield Draft(name, requantised, (1, 2), [*parts, 32, 32, 32])
    name = "product/lower_square_f64"
    parts = [moderate("f64", name, (32, 32)), output("f64", (32, 32)), Number("f32", 0.5)]
    yield Draft(name, lower_square, (2, 2), [*parts, 16, 16])
    name = "product/in_full_f32"
    parts = [moderate("f32", name + "x", (45, 50)), moderate("f32", name + "w", (50, 37))]
    yield Draft(name, in_full_f32, (3, 3), [*parts, output("f32", (45, 37)), 16, 16, 16])
    name = "product/gated_bf16"
    parts = [moderate("bf16", name + "x", (32, 64), high=-1)]
    parts += [moderate("bf16", name + part, (64, 64), high=-1) for part in "ug"]
    yield Draft(name, gated, (1, 2), [*parts, output("bf16", (32, 64)), 32, 32, 32])
    name = "product/batched_f16"
    parts = [
        moderate("f16", name + "x", (4, 32, 32), high=0),
        moderate("f16", name + "w", (4, 32, 32), high=0),
    ]
    yield Draft(name, batched, (4,), [*parts, output("f16", (4, 32, 32)), Number("f32", 0.25), 32, 32, 16])
    name = "product/matrix_vector_f32"
    parts = [moderate("f32", name + "a", (64, 128)), moderate("f32", name + "x", (128,))]
    parts += [moderate("f32", name + "y", (64,)), output("f32", (64,)), Number("f32", 1.25)]
    yield Draft(name, matrix_vector, (4,), [*parts, Number("f32", -0.5), 16, 64])
    name = "product/outer_update_f64"
    matrix = moderate("f64", name + "a", (32, 48))
    matrix = type(matrix)("f64", (32, 48), matrix.recipe, output=True)
    parts = [matrix, moderate("f64", name + "x", (32,)), moderate("f64", name + "y", (48,))]
    yield Draft(name, outer_update, (2, 3), [*parts, Number("f32", -0.25), 16, 16])
    name = "product/forward_substitution_f64"
    parts = [moderate("f64", name + "l", (16, 16), low=-1, high=0), moderate("f64", name + "b", (16, 16))]
    yield Draft(name, forward_substitution, (2,), [*parts, output("f64", (16, 16)), 16, 8])
