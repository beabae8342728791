"""Reductions and scans of several shapes, along each dimension, in several formats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cuda.tile as ct

from ..build.draft import Draft, hard, integers, moderate, output

FLOATS = ("f16", "bf16", "f32", "f64")


def reduction(operation: Any) -> Any:
    """A kernel that reduces a matrix along ``axis``."""

    @ct.kernel
    def reduce(x, y, R: ct.Constant[int], C: ct.Constant[int], axis: ct.Constant[int]):
        tile = ct.load(x, index=(0, 0), shape=(R, C))
        ct.store(y, index=(0,), tile=operation(tile, axis=axis))

    return reduce


def rows(operation: Any) -> Any:
    """A kernel that reduces one row a block."""

    @ct.kernel
    def reduce(x, y, T: ct.Constant[int]):
        i = ct.bid(0)
        row = ct.load(x, index=(i, 0), shape=(1, T))
        ct.store(y, index=(i,), tile=operation(row, axis=1))

    return reduce


@ct.kernel
def extremes(x, outputs, T: ct.Constant[int]):
    """Largest and smallest, and where they are."""
    i = ct.bid(0)
    row = ct.load(x, index=(i, 0), shape=(1, T))
    ct.store(outputs[0], index=(i,), tile=ct.max(row, axis=1))
    ct.store(outputs[1], index=(i,), tile=ct.min(row, axis=1))
    ct.store(outputs[2], index=(i,), tile=ct.argmax(row, axis=1))
    ct.store(outputs[3], index=(i,), tile=ct.argmin(row, axis=1))


def absolute_larger(a, b):
    return ct.where(ct.abs(a) < ct.abs(b), b, a)


@ct.kernel
def own_fold(x, y, T: ct.Constant[int]):
    """A fold written by the user: the element of the largest magnitude, the first of equals."""
    i = ct.bid(0)
    row = ct.load(x, index=(i, 0), shape=(1, T))
    ct.store(y, index=(i,), tile=ct.reduce(row, 1, absolute_larger, 0.0))


def scan(operation: Any, reverse: bool) -> Any:
    """A kernel that scans one row a block."""

    @ct.kernel
    def run(x, y, T: ct.Constant[int]):
        i = ct.bid(0)
        row = ct.load(x, index=(i, 0), shape=(1, T))
        ct.store(y, index=(i, 0), tile=operation(row, axis=1, reverse=reverse))

    return run


@ct.kernel
def scan_columns(x, y, R: ct.Constant[int], C: ct.Constant[int]):
    tile = ct.load(x, index=(0, 0), shape=(R, C))
    ct.store(y, index=(0, 0), tile=ct.cumsum(tile, axis=0))


@ct.kernel
def sum_all(x, y, A: ct.Constant[int], B: ct.Constant[int], C: ct.Constant[int]):
    """The middle dimension of three, then the other two."""
    tile = ct.load(x, index=(0, 0, 0), shape=(A, B, C))
    partial = ct.sum(tile, axis=1)
    total = ct.sum(ct.sum(partial, axis=1), axis=0)
    ct.store(y, index=(0,), tile=ct.reshape(total, (1,)))


def drafts() -> Iterator[Draft]:
    """Sums in every format, other folds in some, scans forwards and backwards."""
    for fmt in FLOATS:
        for length in (8, 128, 512, 2048):
            name = f"reduce/sum_{fmt}_{length}"
            count = 8 if length < 2048 else 2
            source = moderate(fmt, name, (count, length))
            yield Draft(name, rows(ct.sum), (count,), [source, output(fmt, (count,)), length])
        for extents, axis in (((64, 32), 0), ((16, 128), 0), ((32, 64), 1)):
            name = f"reduce/sum_{fmt}_{extents[0]}x{extents[1]}_axis{axis}"
            source = moderate(fmt, name, extents)
            result = output(fmt, (extents[1 - axis],))
            yield Draft(name, reduction(ct.sum), (1,), [source, result, *extents, axis])
    for fmt in ("f16", "f32", "f64"):
        name = f"reduce/prod_{fmt}"
        source = moderate(fmt, name, (8, 64), low=-1, high=0)
        yield Draft(name, rows(ct.prod), (8,), [source, output(fmt, (8,)), 64])
    for fmt in (*FLOATS, "i32", "i8"):
        name = f"reduce/extremes_{fmt}"
        source = hard(fmt, name, lanes=1024)
        source = type(source)(fmt, (8, 128), source.recipe)
        answers = [output(fmt, (8,)), output(fmt, (8,)), output("i32", (8,)), output("i32", (8,))]
        yield Draft(name, extremes, (8,), [source, answers, 128])
    for fmt in ("i32", "i64"):
        for what, operation in (("sum", ct.sum), ("prod", ct.prod)):
            name = f"reduce/{what}_{fmt}"
            source = integers(fmt, name, (8, 256), -1000, 1000)
            yield Draft(name, rows(operation), (8,), [source, output(fmt, (8,)), 256])
    name = "reduce/own_fold_f32"
    yield Draft(name, own_fold, (8,), [moderate("f32", name, (8, 256)), output("f32", (8,)), 256])
    name = "reduce/sum_f32_3d"
    yield Draft(name, sum_all, (1,), [moderate("f32", name, (4, 16, 32)), output("f32", (1,)), 4, 16, 32])
    for fmt in FLOATS:
        for length in (16, 256):
            name = f"scan/cumsum_{fmt}_{length}"
            source, result = moderate(fmt, name, (4, length)), output(fmt, (4, length))
            yield Draft(name, scan(ct.cumsum, False), (4,), [source, result, length])
    for fmt, length in (("f32", 64), ("f64", 256), ("i32", 256)):
        name = f"scan/cumsum_reverse_{fmt}_{length}"
        source = integers if fmt == "i32" else moderate
        array = source(fmt, name, (4, length), *((-99, 100) if fmt == "i32" else ()))
        yield Draft(name, scan(ct.cumsum, True), (4,), [array, output(fmt, (4, length)), length])
    for fmt in ("f32", "i32"):
        name = f"scan/cumprod_{fmt}_32"
        array = (
            integers(fmt, name, (4, 32), 1, 3)
            if fmt == "i32"
            else moderate(fmt, name, (4, 32), low=-1, high=0)
        )
        yield Draft(name, scan(ct.cumprod, False), (4,), [array, output(fmt, (4, 32)), 32])
    name = "scan/cumsum_f32_32x16_axis0"
    yield Draft(name, scan_columns, (1,), [moderate("f32", name, (32, 16)), output("f32", (32, 16)), 32, 16])
