"""One hash of what the corpus's kernels answer under every model: ``python -m tests.tileref.digest``."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

import corpora
import tileref

CASES = (
    "unary/*_f32",
    "unary/*_f16",
    "binary/pow_f64",
    "cast/f64_to_floats",
    "reduce/sum_f32_2048",
    "scan/cumsum_f64_256",
    "mma/f16_f32_64x64x64",
    "mma/f8E4M3FN_f32_64x64x64",
    "model/*",
)


def piece(case: corpora.Case, model: str) -> str:
    """The hash of one case under one model; NaNs, signed zeros and what was undefined are part of it."""
    arguments = case.arguments()
    result = tileref.launch(case.kernel, case.grid, arguments, model=model)
    total = hashlib.sha256(f"{case.name} {model} {sorted(result.undefined_elements)}".encode())
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            total.update(argument.tobytes())
    return total.hexdigest()


def pieces(cases: Sequence[str] = CASES) -> list[Callable[[], str]]:
    """What ``digest`` is put together from, to be called in any order and at the same time."""
    return [partial(piece, case, model) for case in corpora.load(cases) for model in tileref.models()]


def digest() -> str:
    """The hash of all."""
    return hashlib.sha256("".join(one() for one in pieces()).encode()).hexdigest()


if __name__ == "__main__":
    print(digest())
