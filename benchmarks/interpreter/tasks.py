"""What is timed: each task's arrays, and the same work for each of the sides.

A side is prepared once and answers a function that runs it: what comes before is the cold part.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import tileref
from tileref.cutile.compiling import arguments_of, compile_kernel
from tileref.inspection.profiling import Cost

from . import cutile_kernels

Arrays = list[np.ndarray[Any, Any]]
Runner = Callable[[], object]


@dataclass(frozen=True)
class Task:
    """One row's work.

    Attributes:
        name: what the table calls it.
        arrays: makes fresh inputs and the output, which is last.
        kernel: name of the kernel, in either language.
        grid: blocks.
        constants: of the cuda-tile kernel, after its arrays.
        scalars: of the Triton kernel, after its arrays.
        plain: the same work in plain numpy.
        models: our models to time it under.
        goals: how many times faster than Triton's interpreter it must be, by model.
        tolerance: relative and absolute, against numpy.
        large: belongs to the longer list.
    """

    name: str
    arrays: Callable[[], Arrays]
    kernel: str
    grid: tuple[int, ...]
    constants: tuple[Any, ...]
    scalars: tuple[Any, ...]
    plain: Callable[..., object]
    models: tuple[str, ...] = ("spec", "sm_90")
    goals: tuple[tuple[str, float], ...] = ()
    tolerance: tuple[float, float] = (1e-5, 1e-6)
    large: bool = False


def ours(task: Task, arrays: Arrays, model: str) -> tuple[Callable[..., tileref.LaunchResult], float]:
    """A function that emulates the task, and the seconds its front end took to compile it."""
    kernel = getattr(cutile_kernels, task.kernel)
    given = [*arrays, *task.constants]
    start = time.perf_counter()
    data = compile_kernel(kernel, given).bytecode
    seconds = time.perf_counter() - start
    arguments = [value for each in arguments_of(kernel, given) for value in each.passed()]
    loaded: list[tileref.Loaded] = []

    def run(**options: Any) -> tileref.LaunchResult:
        if not loaded:
            loaded.append(tileref.load(data))
        return loaded[0].launch(task.grid, arguments, model=model, **options)

    return run, seconds


def profiled(task: Task, model: str) -> list[Cost]:
    """What the operations of a task cost when it is emulated a second time, on one thread."""
    run, _ = ours(task, task.arrays(), model)
    run()
    return run(threads=1, profile=True).profile


def triton(task: Task, arrays: Arrays) -> Runner:
    """A function that interprets the task with Triton."""
    from . import triton_kernels

    kernel = getattr(triton_kernels, task.kernel + "_kernel")
    arguments = [*triton_kernels.tensors(arrays), *task.scalars]
    return lambda: kernel[task.grid](*arguments)


def numpy(task: Task, arrays: Arrays) -> Runner:
    """A function that does the task in numpy, without tiles."""
    return lambda: task.plain(*arrays)


def _normal(seed: int, *shape: int, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).standard_normal(shape, np.float32).astype(dtype)


def _add(n: int, **more: Any) -> Task:
    def plain(x: Any, y: Any, z: Any) -> None:
        np.add(x, y, out=z)

    return Task(
        f"add, 2^{n.bit_length() - 1} f32 in tiles of 1024",
        lambda: [_normal(1, n), _normal(2, n), np.empty(n, np.float32)],
        "add", (n // 1024,), (1024,), (1024,), plain, **more,
    )  # fmt: skip


def _softmax(rows: int, columns: int, **more: Any) -> Task:
    def plain(x: Any, y: Any) -> None:
        np.exp(x - x.max(axis=1, keepdims=True), out=y)
        y /= y.sum(axis=1, keepdims=True)

    return Task(
        f"softmax, {rows}x{columns} f32, a row a block",
        lambda: [_normal(3, rows, columns), np.empty((rows, columns), np.float32)],
        "softmax", (rows,), (columns,), (columns,), plain, **more,
    )  # fmt: skip


def _layer_norm(rows: int, columns: int, **more: Any) -> Task:
    def plain(x: Any, w: Any, b: Any, y: Any) -> None:
        centred = x - x.mean(axis=1, keepdims=True)
        variance = np.square(centred).mean(axis=1, keepdims=True)
        np.add(centred / np.sqrt(variance + np.float32(1e-5)) * w, b, out=y)

    return Task(
        f"layer norm, {rows}x{columns} f32, a row a block",
        lambda: [
            _normal(4, rows, columns),
            _normal(5, columns),
            _normal(6, columns),
            np.empty((rows, columns), np.float32),
        ],
        "layer_norm", (rows,), (columns,), (columns,), plain, tolerance=(1e-4, 1e-5), **more,
    )  # fmt: skip


def _product(n: int, **more: Any) -> Task:
    def plain(x: Any, y: Any, z: Any) -> None:
        np.matmul(x.astype(np.float32), y.astype(np.float32), out=z)

    return Task(
        f"product, {n}x{n}x{n} f16 into f32, tiles 64x64x32",
        lambda: [_normal(7, n, n, dtype="f2"), _normal(8, n, n, dtype="f2"), np.empty((n, n), np.float32)],
        "product", (n // 64, n // 64), (64, 64, 32), (n, n, 64, 64, 32), plain,
        tolerance=(1e-4, 1e-3), **more,
    )  # fmt: skip


def _attention(heads: int, length: int, width: int, tile: int, **more: Any) -> Task:
    shape = (heads, length, width)
    scale = float(np.float32(1.4426950408889634 / width**0.5))

    def plain(q: Any, k: Any, v: Any, out: Any) -> None:
        q, k, v = (a.astype(np.float32) for a in (q, k, v))
        scores = np.matmul(q, k.transpose(0, 2, 1)) * np.float32(scale)
        weights = np.exp2(scores - scores.max(axis=2, keepdims=True))
        np.matmul(weights / weights.sum(axis=2, keepdims=True), v, out=out)

    return Task(
        f"flash attention, {heads} heads, {length} positions, head {width}, f16 into f32",
        lambda: [*(_normal(9 + i, *shape, dtype="f2") for i in range(3)), np.empty(shape, np.float32)],
        "attention", (length // tile, heads), (scale, tile, tile, width), (scale, length, tile, tile, width),
        plain, tolerance=(2e-3, 2e-3), **more,
    )  # fmt: skip


TASKS = (
    _add(1 << 20, goals=(("spec", 100), ("sm_90", 100))),
    _softmax(1024, 1024, goals=(("spec", 50), ("sm_90", 50))),
    _product(512, goals=(("sm_90", 1),)),
    _add(1 << 22, large=True, goals=(("spec", 200), ("sm_90", 200))),
    _softmax(4096, 1024, large=True, goals=(("spec", 100), ("sm_90", 100))),
    _layer_norm(4096, 1024, large=True, goals=(("spec", 50), ("sm_90", 50))),
    _attention(4, 1024, 64, 64, large=True, goals=(("spec", 20),)),
    _product(1024, large=True, goals=(("sm_90", 2),)),
)
