"""Kernels as text, and the answers of a GPU where they are at hand."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tileir
import tileref

SHARED = Path(__file__).resolve().parents[3] / "shared" / "device-answers"

needs_shared = pytest.mark.skipif(not SHARED.exists(), reason="the recorded device answers are not here")

DTYPES = {
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
}


@lru_cache(maxsize=1)
def manifest() -> dict[str, Any]:
    """The cases with answers of an sm_90 GPU, by name."""
    if not SHARED.exists():
        return {}
    cases = json.loads((SHARED / "manifest.json").read_text())["cases"]
    return {case["name"]: case for case in cases}


def arguments(case: dict[str, Any]) -> tuple[list[Any], dict[int, np.ndarray]]:
    """The arguments of a case, and the device's answer for those that have one, by position."""
    data = np.load(SHARED / case["name"] / "data.npz")
    args: list[Any] = []
    answers = {}
    for position, p in enumerate(case["params"]):
        if "buffer" in p:
            dtype = np.dtype(DTYPES.get(p["dtype"], p["dtype"]))
            array = data[p["buffer"]].copy()
            args.append(array if array.dtype == dtype else array.view(dtype))
            if "answer" in p:
                answers[position] = data[p["answer"]]
        else:
            args.append(p["i32"])
    return args, answers


def bits(array: np.ndarray) -> np.ndarray:
    """The bit patterns of an array."""
    return array.view(f"u{array.dtype.itemsize}")


def run(text: str, grid: Any, args: list[Any], **options: Any) -> tileref.LaunchResult:
    """Launch a kernel written as text."""
    return tileref.launch(tileir.parse(text), grid, args, **options)


def pointers(name: str, result: str, element: str, count: int, offsets: str) -> str:
    """Text of pointers ``%result``: parameter ``%name`` advanced by the tile ``%offsets`` of i32."""
    scalar, one = f"tile<ptr<{element}>>", f"tile<1xptr<{element}>>"
    many = f"tile<{count}xptr<{element}>>"
    return f"""
    %{result}_1 = reshape %{name} : {scalar} -> {one}
    %{result}_n = broadcast %{result}_1 : {one} -> {many}
    %{result} = offset %{result}_n, %{offsets} : {many}, tile<{count}xi32> -> {many}
    """
