"""Folds on whole arrays against the same folds with the body run as it is, bit for bit."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.tileref.support import run
from tileref.evaluators import reduction

DTYPES = {
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i32": np.int32,
}
BODIES = {
    "addf": "addf %l, %e",
    "addf up": "addf %l, %e rounding<positive_inf>",
    "mulf": "mulf %l, %e",
    "maxf": "maxf %l, %e",
    "minf": "minf %l, %e",
    "maxf nan": "maxf %l, %e propagate_nan",
    "minf nan": "minf %l, %e propagate_nan",
}
SHAPES = (((2, 64), 1), ((4, 1), 1), ((32, 16), 0), ((2, 8, 4), 1), ((8,), 0), ((1, 256), 1))
"""Shape of the tile, dimension folded."""


def kernel(shape: tuple[int, ...], dim: int, body: str, element: str, *, scan: bool) -> str:
    """One tile a block through pointers, folded."""
    count = int(np.prod(shape))
    whole = "x".join(map(str, shape))
    kept = shape if scan else tuple(e for i, e in enumerate(shape) if i != dim)
    out = "x".join((*map(str, kept), element))
    size = int(np.prod(kept))
    name = "scan" if scan else "reduce"
    more = " reverse=false" if scan else ""
    identity = "0 : i32" if element == "i32" else f"0.0 : {element}"

    def at(pointer: str, extent: int) -> str:
        one, many = f"tile<1xptr<{element}>>", f"tile<{extent}xptr<{element}>>"
        return f"""
      %{pointer}i = iota : tile<{extent}xi32>
      %{pointer}n = constant <i32: {extent}> : tile<i32>
      %{pointer}f = muli %bx, %{pointer}n : tile<i32>
      %{pointer}r = reshape %{pointer}f : tile<i32> -> tile<1xi32>
      %{pointer}b = broadcast %{pointer}r : tile<1xi32> -> tile<{extent}xi32>
      %{pointer}o = addi %{pointer}i, %{pointer}b : tile<{extent}xi32>
      %{pointer}1 = reshape %{pointer} : tile<ptr<{element}>> -> {one}
      %{pointer}2 = broadcast %{pointer}1 : {one} -> {many}
      %{pointer}p = offset %{pointer}2, %{pointer}o : {many}, tile<{extent}xi32> -> {many}
        """

    return f"""
    entry @k(%a: tile<ptr<{element}>>, %b: tile<ptr<{element}>>) {{
      %bx, %by, %bz = get_tile_block_id : tile<i32>
      {at("a", count)}
      {at("b", size)}
      %x, %t0 = load_ptr_tko weak %ap : tile<{count}xptr<{element}>> -> tile<{count}x{element}>, token
      %y = reshape %x : tile<{count}x{element}> -> tile<{whole}x{element}>
      %r = {name} %y dim={dim}{more} identities=[{identity}] : tile<{whole}x{element}> -> tile<{out}>
      (%l: tile<{element}>, %e: tile<{element}>) {{
        %s = {body} : tile<{element}>
        yield %s : tile<{element}>
      }}
      %w = reshape %r : tile<{out}> -> tile<{size}x{element}>
      %t1 = store_ptr_tko weak %bp, %w : tile<{size}xptr<{element}>>, tile<{size}x{element}> -> token
      return
    }}
    """


def inputs(element: str, blocks: int, count: int) -> np.ndarray[Any, Any]:
    """Blocks of plain numbers, of zeros of both signs, and of any bits."""
    rng = np.random.Generator(np.random.PCG64(count))
    dtype = np.dtype(DTYPES[element])
    if element == "i32":
        return rng.integers(-(2**31), 2**31, (blocks, count), dtype=np.int64).astype(np.int32)
    values = rng.standard_normal((blocks, count)).astype(dtype)
    values[1] = np.where(rng.random(count) < 0.5, 0.0, -0.0).astype(dtype)
    values[2, : count // 2] = dtype.type(0)
    patterns = rng.integers(0, 1 << (8 * dtype.itemsize), count, dtype=np.uint64, endpoint=False)
    values[3] = patterns.astype(f"u{dtype.itemsize}").view(dtype)
    values[4, rng.integers(count)] = dtype.type(np.nan)
    values[5] = -np.abs(values[5])
    values[5, 0] = dtype.type(-0.0)
    return values


def launched(text: str, data: Any, size: int, model: str) -> bytes:
    out = np.zeros((len(data), size), data.dtype)
    run(text, len(data), [data.copy(), out], model=model)
    return out.tobytes()


@pytest.mark.parametrize("model", ["spec", "sm_90"])
@pytest.mark.parametrize("scan", [False, True], ids=["reduce", "scan"])
@pytest.mark.parametrize("element", ["f32", "f64", "f16", "bf16"])
@pytest.mark.parametrize("body", BODIES)
def test_floats(body: str, element: str, scan: bool, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for shape, dim in SHAPES:
        if "nan" in body and shape != SHAPES[0][0]:
            continue
        text = kernel(shape, dim, BODIES[body], element, scan=scan)
        count = int(np.prod(shape))
        data = inputs(element, 6, count)
        size = count if scan else count // shape[dim]
        fast = launched(text, data, size, model)
        with monkeypatch.context() as patch:
            patch.setattr(reduction, "fast_fold", lambda *_, **__: None)
            assert fast == launched(text, data, size, model), (shape, dim)


@pytest.mark.parametrize("scan", [False, True], ids=["reduce", "scan"])
@pytest.mark.parametrize(
    "body", ["addi", "maxi signed", "mini signed", "maxi unsigned", "andi", "ori", "xori"]
)
def test_integers(body: str, scan: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    name, _, sign = body.partition(" ")
    for shape, dim in SHAPES[:4]:
        text = kernel(shape, dim, f"{name} %l, %e {sign}", "i32", scan=scan)
        count = int(np.prod(shape))
        data = inputs("i32", 3, count)
        size = count if scan else count // shape[dim]
        fast = launched(text, data, size, "spec")
        with monkeypatch.context() as patch:
            patch.setattr(reduction, "fast_fold", lambda *_, **__: None)
            assert fast == launched(text, data, size, "spec"), (shape, dim)


def test_wide_folds_are_sequential() -> None:
    """A fold along the first dimension of a wide tile takes a way of its own."""
    rng = np.random.Generator(np.random.PCG64(1))
    data = (rng.standard_normal((6, 16 * 1024)) * 2.0 ** rng.integers(0, 20, (6, 16 * 1024))).astype(
        np.float32
    )
    out = np.zeros((6, 1024), np.float32)
    run(kernel((16, 1024), 0, "addf %l, %e", "f32", scan=False), 6, [data, out])
    expected = data.reshape(6, 16, 1024)[:, 0].copy()
    for i in range(1, 16):
        expected += data.reshape(6, 16, 1024)[:, i]
    assert out.tobytes() == expected.tobytes()
