"""One hash of what the corpus's kernels answer under every model: ``python -m tests.tileref.digest``."""

from __future__ import annotations

import hashlib

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


def digest() -> str:
    """The hash; NaNs, signed zeros and what was undefined are part of it."""
    total = hashlib.sha256()
    for case in corpora.load(CASES):
        for model in tileref.models():
            arguments = case.arguments()
            result = tileref.launch(case.kernel, case.grid, arguments, model=model)
            total.update(f"{case.name} {model} {sorted(result.undefined_elements)}".encode())
            for argument in arguments:
                if isinstance(argument, np.ndarray):
                    total.update(argument.tobytes())
    return total.hexdigest()


if __name__ == "__main__":
    print(digest())
